package vschema

import (
	"bytes"
	"encoding/json"
	"strings"
)

// document is the text of a vschema that is being edited, and its tree. An edit changes the bytes of what it adds and
// removes, and leaves all others as they are: order, indentation and line ends stay.
type document struct {
	text []byte
	root node
}

// newDocument reads data. Its error is an Errors.
func newDocument(file string, data []byte) (*document, error) {
	root, err := parse(data)
	if err != nil {
		return nil, syntaxErrors(file, data, err)
	}
	return &document{text: data, root: root}, nil
}

// splice replaces text[from:to], and reads the text again: the nodes of before are void.
func (d *document) splice(from, to int, with string) error {
	d.text = bytes.Join([][]byte{d.text[:from], d.text[to:]}, []byte(with))
	var err error
	d.root, err = parse(d.text)
	return err
}

// member is the value that an object has under exactly that key; nil when it has none, or n is no object.
func (n *node) member(key string) *node {
	if n == nil {
		return nil
	}
	obj, _ := n.value.(object)
	for i := range obj {
		if obj[i].key == key {
			return &obj[i].value
		}
	}
	return nil
}

// field is the value that an object has under a key of Vitess's, in snake_case or camelCase.
func (n *node) field(key string) *node {
	if n == nil {
		return nil
	}
	obj, _ := n.value.(object)
	return obj.get(key)
}

// text is the string that a value is; empty when it is none.
func (n *node) text() string {
	if n == nil {
		return ""
	}
	s, _ := n.value.(string)
	return s
}

// span is where an object's member or an array's item stands.
type span struct{ from, to int }

func (n *node) spans() (all []span) {
	switch v := n.value.(type) {
	case object:
		for i := range v {
			all = append(all, span{v[i].offset, v[i].value.end})
		}
	case array:
		for i := range v {
			all = append(all, span{v[i].offset, v[i].end})
		}
	}
	return all
}

// insert appends a member to an object, or an item to an array, as text. It goes to a line of its own where the last
// one has that. In an empty one, it gets one when ownLine says so and the file has lines.
func (d *document) insert(into *node, text string, ownLine bool) error {
	all := into.spans()
	if len(all) > 0 {
		last := all[len(all)-1]
		between := ", "
		if indent, first := d.indent(last.from); first {
			between = "," + d.newline() + indent
		}
		return d.splice(last.to, last.to, between+text)
	}
	if indent, _ := d.indent(into.offset); ownLine && d.newline() != "" {
		text = d.newline() + indent + d.unit() + text + d.newline() + indent
	}
	return d.splice(into.offset+1, into.end-1, text)
}

// remove takes out the i-th member or item, and one comma.
func (d *document) remove(from *node, i int) error {
	all := from.spans()
	switch {
	case len(all) == 1:
		return d.splice(from.offset+1, from.end-1, "")
	case i == 0:
		return d.splice(all[0].from, all[1].from, "")
	}
	return d.splice(all[i-1].to, all[i].to, "")
}

// removeKey is remove of the member with that value.
func (d *document) removeKey(from *node, value *node) error {
	for i, s := range from.spans() {
		if s.to == value.end {
			return d.remove(from, i)
		}
	}
	return nil
}

// indent is the white space at the beginning of the line that an offset is in. first says that there is nothing else
// before the offset.
func (d *document) indent(offset int) (indent string, first bool) {
	begin := bytes.LastIndexByte(d.text[:offset], '\n') + 1
	line := d.text[begin:offset]
	blank := line[:len(line)-len(bytes.TrimLeft(line, " \t"))]
	return string(blank), begin > 0 && len(blank) == len(line)
}

// newline is how the file's lines end; empty when it has but one.
func (d *document) newline() string {
	end := bytes.IndexByte(bytes.TrimRight(d.text, "\r\n"), '\n')
	switch {
	case end < 0:
		return ""
	case end > 0 && d.text[end-1] == '\r':
		return "\r\n"
	}
	return "\n"
}

// unit is by how much the file's lines are indented.
func (d *document) unit() string {
	for line := range strings.Lines(string(d.text)) {
		if blank := line[:len(line)-len(strings.TrimLeft(line, " \t"))]; blank != "" {
			return blank
		}
	}
	return "  "
}

// quoteJSON writes a string as JSON, with the characters as they are.
func quoteJSON(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string in memory never fails
	return strings.TrimSuffix(b.String(), "\n")
}
