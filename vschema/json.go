package vschema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"unicode/utf8"
)

// node is one JSON value with its place in the file. encoding/json's own decoding into structs gives neither the
// places nor the duplicate keys.
type node struct {
	value  any    // object, array, string, bool, json.Number or nil
	offset int    // of the first byte
	end    int    // behind the last byte
	path   string // such as keyspaces.main.tables.users
}

type (
	object []member // in file order, duplicates included
	array  []node
)

type member struct {
	key    string
	offset int // of the key's opening quote
	value  node
}

// syntaxError says why bytes are not one JSON value, and at which byte.
type syntaxError struct {
	offset  int
	message string
}

func (e *syntaxError) Error() string { return e.message }

// parse reads data as one JSON value. Its error is a *syntaxError where the text is at fault.
func parse(data []byte) (node, error) {
	if err := checkSyntax(data); err != nil {
		return node{}, err
	}
	p := treeParser{data: data, dec: json.NewDecoder(bytes.NewReader(data))}
	p.dec.UseNumber()
	return p.parseValue("")
}

// checkSyntax checks the whole text first, so that the tree is built of valid JSON only, nested at most as deeply as
// encoding/json allows.
func checkSyntax(data []byte) error {
	if !utf8.Valid(data) {
		return &syntaxError{offset: invalidUTF8(data), message: "invalid UTF-8: save the file as UTF-8"}
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	var raw json.RawMessage
	err := dec.Decode(&raw)
	var syntax *json.SyntaxError
	switch {
	case err == io.EOF:
		return &syntaxError{message: `the file is empty: write {"keyspaces": {"NAME": {"tables": {}}}}`}
	case err == io.ErrUnexpectedEOF:
		return &syntaxError{offset: len(data), message: "the file ends too early: a closing brace, bracket or quote is missing"}
	case errors.As(err, &syntax):
		offset := max(int(syntax.Offset)-1, 0)
		return &syntaxError{offset: offset, message: syntax.Error() + syntaxHint(data, offset)}
	case err != nil:
		return err
	}
	end := int(dec.InputOffset())
	if rest := bytes.TrimLeft(data[end:], " \t\r\n"); len(rest) > 0 {
		return &syntaxError{offset: len(data) - len(rest), message: "the JSON value ended before this: remove what follows it"}
	}
	return nil
}

func invalidUTF8(data []byte) int {
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return len(data)
}

// syntaxHint says what to write instead for the slips that people make in JSON.
func syntaxHint(data []byte, offset int) string {
	if offset == 0 && bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) {
		return ": remove the byte order mark"
	}
	afterComma := bytes.HasSuffix(bytes.TrimRight(data[:offset], " \t\r\n"), []byte(","))
	switch c := data[offset]; {
	case (c == '}' || c == ']') && afterComma:
		return fmt.Sprintf(": remove the comma before the %c", c)
	case c == '/' || c == '#':
		return ": JSON has no comments, remove it"
	case c == '\'':
		return `: write "double quotes"`
	case c == '"' && !afterComma:
		return ": write a comma before it"
	}
	return ""
}

// maxDepth is far more than a vschema has, and keeps the paths of the values short.
const maxDepth = 64

type treeParser struct {
	data  []byte
	dec   *json.Decoder
	depth int
}

func (p *treeParser) parseValue(path string) (node, error) {
	n := node{offset: p.nextOffset(), path: path}
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxDepth {
		return n, &syntaxError{offset: n.offset, message: fmt.Sprintf("nested more than %d deep: no vschema is", maxDepth)}
	}
	token, err := p.dec.Token()
	if err != nil {
		return n, err
	}
	switch token {
	case json.Delim('{'):
		n.value, err = p.parseObject(path)
	case json.Delim('['):
		n.value, err = p.parseArray(path)
	default:
		n.value = token
	}
	n.end = int(p.dec.InputOffset())
	return n, err
}

func (p *treeParser) parseObject(path string) (object, error) {
	members := object{}
	for p.dec.More() {
		m := member{offset: p.nextOffset()}
		token, err := p.dec.Token()
		if err != nil {
			return nil, err
		}
		m.key = token.(string) // the keys of valid JSON are strings
		if m.value, err = p.parseValue(joinPath(path, m.key)); err != nil {
			return nil, err
		}
		members = append(members, m)
	}
	_, err := p.dec.Token()
	return members, err
}

func (p *treeParser) parseArray(path string) (array, error) {
	items := array{}
	for p.dec.More() {
		item, err := p.parseValue(path + "[" + strconv.Itoa(len(items)) + "]")
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	_, err := p.dec.Token()
	return items, err
}

// nextOffset is where the next token begins: the decoder's own offset is where the last one ended.
func (p *treeParser) nextOffset() int {
	offset := int(p.dec.InputOffset())
	for offset < len(p.data) && bytes.IndexByte([]byte(" \t\r\n,:"), p.data[offset]) >= 0 {
		offset++
	}
	return offset
}

var plainKey = regexp.MustCompile(`^[A-Za-z0-9_$-]+$`)

func joinPath(path, key string) string {
	switch {
	case !plainKey.MatchString(key):
		return path + "[" + strconv.Quote(key) + "]"
	case path == "":
		return key
	}
	return path + "." + key
}
