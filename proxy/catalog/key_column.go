package catalog

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/seqgate/seqgate/parser"
)

// keyColumn is the column that chooses the counter of a keyed sequence.
type keyColumn struct {
	Name string // empty: the sequence counts the whole table
	kind keyKind
}

type keyKind uint8

const (
	keyText keyKind = iota
	keyInteger
	keyBinary
)

// newKeyColumn returns a column as one of keys, by its type.
func newKeyColumn(c *Column) (keyColumn, error) {
	if c.IsInteger() {
		return keyColumn{c.Name, keyInteger}, nil
	}
	switch kind, _, _ := strings.Cut(strings.ToLower(c.Type), "("); kind {
	case "char", "varchar":
		return keyColumn{c.Name, keyText}, nil
	case "binary", "varbinary":
		return keyColumn{c.Name, keyBinary}, nil
	}
	return keyColumn{}, fmt.Errorf("the key column '%s' is a %s; use an integer, CHAR, VARCHAR, BINARY or VARBINARY column", c.Name, c.Type)
}

// Bytes returns the key that a value of the column stands for, false when it is
// not known what the server makes of it. Values that are stored as equal ones
// must give equal keys, however they are written. In strict mode, which the
// caller sees to, no value is stored cut off or otherwise changed.
func (c keyColumn) Bytes(k parser.Key) ([]byte, bool) {
	switch {
	case k.State != parser.Explicit, k.Hex && c.kind != keyBinary:
		return nil, false
	case c.kind == keyText:
		return []byte(k.Text), true
	case c.kind == keyBinary:
		return []byte(strings.TrimRight(k.Raw, "\x00")), true // with which BINARY fills up
	}
	text := strings.TrimSpace(k.Text)
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return strconv.AppendInt(nil, n, 10), true
	}
	n, err := strconv.ParseUint(text, 10, 64)
	return strconv.AppendUint(nil, n, 10), err == nil
}
