package sequence

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Options are what CREATE SEQUENCE says of a sequence and its row has no place for. They stand in the comment of its
// table, behind 'vitess_sequence', where Vitess does not look.
type Options struct {
	Start, Min, Max int64 // 0: not given
	Ordered         bool  // see [Settings]: a word of its own
}

// orderedWord is Options.Ordered in a comment.
const orderedWord = "ordered"

// Comment returns the comment of the table of a sequence with these options.
func (o Options) Comment() string {
	text := comment
	for _, option := range o.list() {
		if *option.value != 0 {
			text += fmt.Sprintf(" %s=%d", option.name, *option.value)
		}
	}
	if o.Ordered {
		text += " " + orderedWord
	}
	return text
}

// In returns the comment of a table, changed to say these options. Other words stay.
func (o Options) In(text string) string {
	var words []string
	for _, word := range strings.Fields(text) {
		if word == orderedWord {
			continue
		}
		if name, _, _ := strings.Cut(word, "="); !slices.ContainsFunc(o.list(), func(option option) bool { return option.name == name }) {
			words = append(words, word)
		}
	}
	return strings.Join(words, " ") + strings.TrimPrefix(o.Comment(), comment)
}

// ParseComment returns the options in the comment of a table; false when it is not that of a sequence of one row, which
// is counted from there.
func ParseComment(text string) (o Options, ok bool) {
	if !strings.Contains(text, comment) || strings.HasPrefix(text, KeyedComment) || strings.HasPrefix(text, stripedComment) {
		return o, false
	}
	for _, word := range strings.Fields(text) {
		o.Ordered = o.Ordered || word == orderedWord
		name, value, _ := strings.Cut(word, "=")
		for _, option := range o.list() {
			if n, err := strconv.ParseInt(value, 10, 64); err == nil && name == option.name {
				*option.value = n
			}
		}
	}
	return o, true
}

type option struct {
	name  string
	value *int64
}

func (o *Options) list() []option {
	return []option{{"start", &o.Start}, {"minvalue", &o.Min}, {"maxvalue", &o.Max}}
}
