package vschema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// decoder turns the tree into the model and collects every error on the way: nothing stops at the first.
type decoder struct {
	file           string
	lineStarts     []int // offset of each line's first byte
	read           ReadFile
	checkGenerator func(*Generator) []*ParamError
	counter        func(*SegmentParams) string // as Loader.Counter
	errs           Errors
	unserved       Errors // what is right, but needs what this version has not got

	keyspaces  map[string]*Keyspace
	current    *Keyspace // whose tables are being read
	owners     []ownerRef
	vindexRefs []columnVindexRef
	sources    []sourceRef
	sequences  []sequenceRef // to resolve when all tables are known
	generators []generatorRef
	guards     []guardRef
	counters   []counterRef
	used       map[*Table]bool // sequences that fill something
}

func newDecoder(file string, data []byte, read ReadFile) *decoder {
	d := &decoder{file: file, read: read, lineStarts: []int{0}, keyspaces: map[string]*Keyspace{}, used: map[*Table]bool{}}
	for i, c := range data {
		if c == '\n' {
			d.lineStarts = append(d.lineStarts, i+1)
		}
	}
	return d
}

// fail notes an error at the value n.
func (d *decoder) fail(n *node, format string, args ...any) {
	d.failAt(n.offset, n.path, format, args...)
}

func (d *decoder) failAt(offset int, path, format string, args ...any) {
	d.errs = append(d.errs, d.errorAt(offset, path, fmt.Sprintf(format, args...)))
}

// unserve notes that the value n is right, and that this version cannot serve what it asks for.
func (d *decoder) unserve(n *node, message string) {
	d.unserved = append(d.unserved, d.errorAt(n.offset, n.path, message))
}

func (d *decoder) errorAt(offset int, path, message string) Error {
	line, _ := slices.BinarySearch(d.lineStarts, offset+1)
	return Error{File: d.file, Line: line, Column: offset - d.lineStarts[line-1] + 1, Path: path, Message: message}
}

// fields says what to do with the value of each key that an object may have, by the key in snake_case.
type fields map[string]func(*node)

// object reads the members of n by f. Keys are taken in snake_case and in the camelCase of protobuf's JSON.
func (d *decoder) object(n *node, f fields) {
	known := make([]string, 0, len(f))
	for name := range f {
		known = append(known, name)
	}
	d.eachMember(n, snakeCase, func(m *member, name string) {
		if read, ok := f[name]; ok {
			read(&m.value)
			return
		}
		d.failAt(m.offset, m.value.path, "unknown key: %s", Suggest(m.key, known))
	})
}

// names reads the members of n whose keys are names of the writer's own, such as tables.
func (d *decoder) names(n *node, what string, read func(name string, v *node)) {
	d.eachMember(n, func(key string) string { return key }, func(m *member, name string) {
		if name == "" {
			d.failAt(m.offset, m.value.path, "the name of a %s is empty: write a name", what)
			return
		}
		read(name, &m.value)
	})
}

// eachMember calls do for each member of the object n with its normalized key, and fails those given twice.
func (d *decoder) eachMember(n *node, normalize func(string) string, do func(m *member, name string)) {
	obj, ok := n.value.(object)
	if !ok {
		d.wrongType(n, "an object in { }")
		return
	}
	first := map[string]int{}
	for i := range obj {
		m := &obj[i]
		name := normalize(m.key)
		if at, again := first[name]; again {
			line, _ := slices.BinarySearch(d.lineStarts, at+1)
			d.failAt(m.offset, m.value.path, "duplicate key: the same key stands on line %d, remove one", line)
			continue
		}
		first[name] = m.offset
		do(m, name)
	}
}

// snakeCase returns the protobuf field name of a key in lowerCamelCase, and a key in snake_case as it is.
func snakeCase(key string) string {
	var b strings.Builder
	for _, r := range key {
		if unicode.IsUpper(r) {
			b.WriteByte('_')
			r = unicode.ToLower(r)
		}
		b.WriteRune(r)
	}
	return b.String()
}

// list calls read for each item of the array n.
func (d *decoder) list(n *node, read func(*node)) {
	items, ok := n.value.(array)
	if !ok {
		d.wrongType(n, "a list in [ ]")
		return
	}
	for i := range items {
		read(&items[i])
	}
}

func (d *decoder) wrongType(n *node, want string) {
	var got string
	switch v := n.value.(type) {
	case nil:
		d.fail(n, "null is no value here: write %s or leave the key out", want)
		return
	case object:
		got = "an object"
	case array:
		got = "a list"
	case string:
		got = "the string " + strconv.Quote(v)
	default:
		got = fmt.Sprint(v)
	}
	d.fail(n, "write %s, not %s", want, got)
}

func (d *decoder) string(n *node) string {
	s, ok := n.value.(string)
	if !ok {
		d.wrongType(n, "a string")
	}
	return s
}

// name reads a string that must not be empty.
func (d *decoder) name(n *node) string {
	s := d.string(n)
	if s == "" && n.value == "" {
		d.fail(n, "an empty name: write a name or leave the key out")
	}
	return s
}

func (d *decoder) bool(n *node) bool {
	b, ok := n.value.(bool)
	if !ok {
		d.wrongType(n, "true or false")
	}
	return b
}

// oneOf reads a string that must be one of the known.
func (d *decoder) oneOf(n *node, known ...string) string {
	s := d.string(n)
	if _, ok := n.value.(string); ok && !slices.Contains(known, s) {
		d.fail(n, "unknown value %q: %s", s, Suggest(s, known))
	}
	return s
}

// Readers of values that this version only checks.
func (d *decoder) checkString(n *node)  { d.string(n) }
func (d *decoder) checkBool(n *node)    { d.bool(n) }
func (d *decoder) checkStrings(n *node) { d.list(n, d.checkString) }

func (d *decoder) checkInt32(n *node) {
	number, ok := n.value.(json.Number)
	if _, err := strconv.ParseInt(number.String(), 10, 32); !ok || err != nil {
		d.wrongType(n, "a whole number of 32 bits")
	}
}

// later checks a value by check, and says that what it asks for is not built yet.
func (d *decoder) later(what string, check func(*node)) func(*node) {
	return func(n *node) {
		check(n)
		d.notYet(n, what)
	}
}

func (d *decoder) notYet(n *node, what string) {
	d.fail(n, "%s not supported yet in this version: leave the key out", what)
}
