package catalog

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/vschema"
)

// A row is found by what its vindex column stores. So it is placed by that, and not by
// what the statement says, where the two may differ. Where it is not certain what a
// column stores, the value is refused (MySQL manual, "Data Types").

// TypeName returns the column's type without its length and attributes, and its arguments.
func (c *Column) TypeName() (name, arguments string) {
	name, arguments, _ = strings.Cut(strings.ToLower(c.Type), "(")
	arguments, _, _ = strings.Cut(arguments, ")")
	name, _, _ = strings.Cut(name, " ")
	return name, arguments
}

// Stored returns what the column stores of a value, as its vindex takes it; false where
// that is not certain. The value is none that the server has to compute.
func (c *Column) Stored(v *parser.Cell) (vschema.Value, bool) {
	name, arguments := c.TypeName()
	switch name {
	case "tinyint", "smallint", "mediumint", "int", "integer", "bigint":
		if v.Kind == parser.CellString {
			return wholeNumber(v)
		}
		return integerOf(v)
	case "bit", "float", "double":
		n := int64(v.Number)
		return vschema.Int(n), v.Kind == parser.CellSigned && (name == "bit" || -c.MaxID() <= n && n <= c.MaxID())
	case "year":
		return inForm(v, fourDigits)
	case "decimal":
		return storedDecimal(v, arguments)
	case "char", "varchar", "tinytext", "text", "mediumtext", "longtext":
		return c.storedText(v)
	case "binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob":
		return c.storedBytes(v)
	case "enum", "set":
		member := "'" + string(v.Text) + "'"
		return vschema.Text(v.Text), v.Kind == parser.CellString && !bytes.ContainsAny(v.Text, `',\`) && strings.Contains(c.Type, member)
	case "date":
		return storedDate(v, "2006-01-02")
	case "datetime":
		layout := "2006-01-02 15:04:05"
		if digits, err := strconv.Atoi(arguments); err == nil && digits > 0 {
			layout += "." + strings.Repeat("0", digits)
		}
		return storedDate(v, layout)
	case "uuid":
		return inForm(v, lowerUUID)
	}
	return vschema.Value{}, false
}

var (
	fourDigits = regexp.MustCompile(`^[0-9]{4}$`)
	lowerUUID  = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	plainTenth = regexp.MustCompile(`^(-?)(0|[1-9][0-9]*)(?:\.([0-9]*))?$`)
)

// integerOf returns a whole number.
func integerOf(v *parser.Cell) (vschema.Value, bool) {
	if v.Kind == parser.CellUnsigned {
		return vschema.Uint(v.Number), true
	}
	return vschema.Int(int64(v.Number)), v.Kind == parser.CellSigned
}

// written returns the characters of a string or of a number.
func written(v *parser.Cell) ([]byte, bool) {
	switch v.Kind {
	case parser.CellSigned:
		return strconv.AppendInt(nil, int64(v.Number), 10), true
	case parser.CellUnsigned:
		return strconv.AppendUint(nil, v.Number, 10), true
	case parser.CellString, parser.CellDecimal:
		return v.Text, true
	}
	return nil, false
}

// inForm returns a value whose characters are in the one form that is stored as it is.
func inForm(v *parser.Cell, form *regexp.Regexp) (vschema.Value, bool) {
	text, ok := written(v)
	return vschema.Text(text), ok && form.Match(text)
}

// storedDate returns a date in the form in which it is read again.
func storedDate(v *parser.Cell, layout string) (vschema.Value, bool) {
	_, err := time.Parse(layout, string(v.Text))
	return vschema.Text(v.Text), v.Kind == parser.CellString && err == nil && len(v.Text) == len(layout)
}

// storedDecimal returns a number with as many digits behind its point as the column has.
func storedDecimal(v *parser.Cell, arguments string) (vschema.Value, bool) {
	text, ok := written(v)
	parts := plainTenth.FindSubmatch(text)
	all, places, _ := strings.Cut(arguments, ",")
	precision, _ := strconv.Atoi(all) // 0 leaves no room
	scale, err := strconv.Atoi(strings.TrimSpace(places))
	switch {
	case !ok, parts == nil, err != nil, len(parts[3]) > scale, len(bytes.TrimLeft(parts[2], "0")) > precision-scale, len(parts[1]) > 0 && len(bytes.Trim(text, "-0.")) == 0:
		return vschema.Value{}, false
	case scale == 0 && v.Kind != parser.CellString && v.Kind != parser.CellDecimal:
		return integerOf(v)
	case scale == 0:
		return vschema.Text(append(parts[1], parts[2]...)), true
	}
	return vschema.Text(fmt.Appendf(nil, "%s%s.%s%s", parts[1], parts[2], parts[3], strings.Repeat("0", scale-len(parts[3])))), true
}

// storedText returns what a column of characters stores: CHAR no spaces at the end, and
// VARCHAR none beyond its length.
func (c *Column) storedText(v *parser.Cell) (vschema.Value, bool) {
	length, limited := c.MaxCharacters()
	switch text := v.Text; v.Kind {
	case parser.CellSigned, parser.CellUnsigned:
		return integerOf(v)
	case parser.CellBits: // the bytes are those of the column's character set
		ascii := parser.IsASCII(text)
		fits := !limited || len(text) <= length
		return vschema.Bits(text), ascii && fits && !(strings.HasPrefix(strings.ToLower(c.Type), "char") && bytes.HasSuffix(text, []byte(" ")))
	case parser.CellString:
		if strings.HasPrefix(strings.ToLower(c.Type), "char") {
			text = bytes.TrimRight(text, " ")
		}
		for limited && bytes.HasSuffix(text, []byte(" ")) && utf8.RuneCount(text) > length {
			text = text[:len(text)-1]
		}
		return vschema.Text(text), true
	}
	text, ok := written(v)
	return vschema.Text(text), ok
}

// HasCharacters reports whether the column holds text, of any character set.
func (c *Column) HasCharacters() bool {
	name, _ := c.TypeName()
	return strings.HasSuffix(name, "char") || strings.HasSuffix(name, "text")
}

// MaxBytes returns how many bytes a TEXT or BLOB holds.
func (c *Column) MaxBytes() int {
	switch name, _ := c.TypeName(); name {
	case "tinytext", "tinyblob":
		return math.MaxUint8
	case "text", "blob":
		return math.MaxUint16
	case "mediumtext", "mediumblob":
		return 1<<24 - 1
	}
	return math.MaxInt
}

// storedBytes gives what a column of bytes stores: BINARY fills up with zeros.
func (c *Column) storedBytes(v *parser.Cell) (vschema.Value, bool) {
	var text []byte
	switch v.Kind {
	case parser.CellString:
		text = v.Raw
	case parser.CellBits:
		text = v.Text
	default:
		var ok bool
		if text, ok = written(v); !ok {
			return vschema.Value{}, false
		}
	}
	length, limited := c.MaxCharacters()
	if limited && len(text) > length {
		return vschema.Value{}, false
	}
	if name, _ := c.TypeName(); name == "binary" && len(text) < length {
		text = append(bytes.Clone(text), make([]byte, length-len(text))...)
	}
	if v.Kind == parser.CellBits {
		return vschema.Bits(text), true
	}
	return vschema.Text(text), true
}

// wholeNumber reads a string as an integer column does.
func wholeNumber(c *parser.Cell) (vschema.Value, bool) {
	if c.Kind != parser.CellString {
		return vschema.Value{}, false
	}
	text := strings.TrimSpace(string(c.Text))
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return vschema.Int(n), true
	}
	n, err := strconv.ParseUint(text, 10, 64)
	return vschema.Uint(n), err == nil
}
