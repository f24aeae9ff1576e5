package config

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/seqgate/seqgate/vschema"
)

// value is one value of the configuration and where it comes from: a place in a file, or a name and no line.
type value struct {
	file string // or "environment", or a flag
	path string // of the key, or the name of the variable
	node *yaml.Node
}

// textValue is a value from outside of a file.
func textValue(source, text string) value {
	return value{file: source, node: &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}}
}

// withText is a text in the place of v.
func (v value) withText(text string) value {
	v.node = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text, Line: v.node.Line, Column: v.node.Column}
	return v
}

func (v value) isMapping() bool { return v.node.Kind == yaml.MappingNode }
func (v value) isList() bool    { return v.node.Kind == yaml.SequenceNode }
func (v value) isNull() bool    { return v.node.Kind == yaml.ScalarNode && v.node.Tag == "!!null" }

// isText says that a value is there and neither a list nor a mapping.
func (v value) isText() bool { return v.node.Kind == yaml.ScalarNode && !v.isNull() }

// isEmpty says that a list or a mapping has nothing in it.
func (v value) isEmpty() bool { return len(v.node.Content) == 0 }

// written is a scalar as it is written, be it a number or a word; "" for others.
func (v value) written() string { return v.node.Value }

// child is a value below v at a key, or at an item's number in brackets.
func (v value) child(key string, node *yaml.Node) value {
	for node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	if v.path != "" && !strings.HasPrefix(key, "[") {
		key = "." + key
	}
	return value{v.file, v.path + key, node}
}

// eachKey calls do for each key of a mapping, and fails the keys given twice. A key is a text that has its value's path.
func (r *reader) eachKey(v value, do func(key, v value)) {
	if !v.isMapping() {
		r.fail(v, "write a mapping, key: value")
		return
	}
	first := map[string]int{}
	for i := 0; i+1 < len(v.node.Content); i += 2 {
		node := v.node.Content[i]
		child := v.child(node.Value, v.node.Content[i+1])
		key := value{v.file, child.path, node}
		if line, again := first[node.Value]; again {
			r.fail(key, "duplicate key: the same key stands on line %d, remove one", line)
			continue
		}
		first[node.Value] = node.Line
		do(key, child)
	}
}

// eachItem calls do for each item of a list; form shows one.
func (r *reader) eachItem(v value, form string, do func(value)) {
	if !v.isList() {
		r.fail(v, "write a list, %s", form)
		return
	}
	for i, item := range v.node.Content {
		do(v.child(fmt.Sprintf("[%d]", i), item))
	}
}

func (r *reader) fail(v value, format string, args ...any) {
	r.errs = append(r.errs, vschema.Error{
		File: v.file, Line: v.node.Line, Column: v.node.Column, Path: v.path, Message: fmt.Sprintf(format, args...),
	})
}

// yaml writes the value as YAML; an alias as what it has.
func (v value) yaml() string {
	text, err := yaml.Marshal(v.node)
	if err != nil {
		return v.node.Value
	}
	return string(text)
}

// parseYAML reads a file's only document. A file without any is an empty mapping.
func parseYAML(file string, data []byte) (root value, errs vschema.Errors) {
	start := vschema.Error{File: file, Line: 1, Column: 1}
	if bytes.IndexByte(data, 0) >= 0 {
		start.Message = "not a text file"
		return root, vschema.Errors{start}
	}
	var document yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(data))
	switch err := dec.Decode(&document); {
	case err == io.EOF:
		document.Content = []*yaml.Node{{Kind: yaml.MappingNode, Line: 1, Column: 1}}
	case err != nil:
		return root, vschema.Errors{syntaxError(file, data, err)}
	}
	if err := dec.Decode(&yaml.Node{}); err != nil && err != io.EOF {
		return root, vschema.Errors{syntaxError(file, data, err)}
	} else if err == nil {
		start.Message = "more than one YAML document: remove what follows the second ---"
		errs = vschema.Errors{start}
	}
	return value{file: file}.child("", document.Content[0]), errs
}

var yamlErrorLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// syntaxError takes the line out of the text of an error of yaml.v3, which has it nowhere else.
func syntaxError(file string, data []byte, err error) vschema.Error {
	e := vschema.Error{File: file, Message: yamlErrorLine.ReplaceAllString(err.Error(), "")}
	if m := yamlErrorLine.FindStringSubmatch(err.Error()); m != nil && m[1] != "" {
		e.Line, _ = strconv.Atoi(m[1]) // digits by the pattern; 0 is no line
	}
	if bytes.Contains(data, []byte("\n\t")) {
		e.Message += ": YAML indents with spaces, not tabs"
	}
	return e
}
