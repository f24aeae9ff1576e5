package generate

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seqgate/seqgate/sequence/snowflake"
	"github.com/seqgate/seqgate/vschema"
)

// Explained is an id as one layout sees it.
type Explained struct {
	Generator string // keyspace.name; empty for a preset that no generator has
	Layout    snowflake.Layout
	snowflake.Decoded
}

// Explain takes an id apart by the layout of each snowflake among the generators, and by each preset, of which it may be: the
// time that it has there lies between the layout's epoch and tomorrow. The error is that of [Layout].
func Explain(id int64, generators []*vschema.Generator, now time.Time) (list []Explained, err error) {
	for _, g := range generators {
		if g.Type != vschema.Snowflake {
			continue
		}
		l, _, err := Layout(g)
		if err != nil {
			return nil, err
		}
		if d, err := l.Decode(id); err == nil && d.Time.Before(now.Add(maxAhead(g))) && d.Time.UnixMilli() >= l.Epoch {
			list = append(list, Explained{g.Keyspace + "." + g.Name, l, d})
		}
	}
	for _, d := range snowflake.Explain(id, now) {
		known := slices.ContainsFunc(list, func(e Explained) bool { return e.Layout.Name == d.Layout && e.Time.Equal(d.Time) })
		if l, _ := snowflake.Preset(d.Layout); !known {
			list = append(list, Explained{"", l, d})
		}
	}
	return list, nil
}

// daySlack is how far the clocks of others may be ahead.
const daySlack = 24 * time.Hour

// maxAhead is how far ahead of the clock the time of an id may be, with the clocks of other processes considered.
func maxAhead(g *vschema.Generator) time.Duration {
	return daySlack + max(g.Snowflake.MaxBorrow, snowflake.DefaultMaxBorrow)
}

// ParseID reads an id: a decimal number, whose leading zeros mean nothing, or a hexadecimal one after 0x. It reports false
// for what is no number from 1 to 2^63-1, and for the signs, underscores and other bases of Go and of C.
func ParseID(text string) (int64, bool) {
	digits, base := text, 10
	if hex, ok := strings.CutPrefix(strings.ToLower(text), "0x"); ok {
		digits, base = hex, 16
	}
	id, err := strconv.ParseUint(digits, base, 63)
	return int64(id), err == nil && id > 0
}
