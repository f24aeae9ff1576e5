package catalog

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// MaxID is the largest id that a column holds, and its neighbours with it: ids are
// signed 64-bit numbers, as Vitess's are, and FLOAT and DOUBLE have 24 and 53 bits
// of precision.
func (c *Column) MaxID() int64 {
	typ := strings.ToLower(c.Type)
	name, arguments, _ := strings.Cut(strings.Fields(typ + " ")[0], "(")
	bits := 0
	switch name {
	case "tinyint":
		bits = 8
	case "smallint":
		bits = 16
	case "mediumint":
		bits = 24
	case "int", "integer":
		bits = 32
	case "float":
		return 1 << 24
	case "double":
		return 1 << 53
	case "decimal", "char", "varchar", "binary", "varbinary":
		return maxOfDigits(arguments)
	default:
		return math.MaxInt64
	}
	if !strings.Contains(typ, "unsigned") {
		bits--
	}
	return 1<<bits - 1
}

// maxOfDigits is the largest number of a column with these arguments of its type, as
// in DECIMAL(20,2) or VARCHAR(20), or else the largest id.
func maxOfDigits(arguments string) int64 {
	length, scale, _ := strings.Cut(strings.TrimSuffix(arguments, ")"), ",")
	digits, err := strconv.Atoi(length)
	if err != nil {
		return math.MaxInt64
	}
	if fraction, err := strconv.Atoi(scale); err == nil {
		digits -= fraction
	}
	most := int64(1)
	for range digits {
		if most > math.MaxInt64/10 {
			return math.MaxInt64
		}
		most *= 10
	}
	return most - 1
}

// TakesIDs reports whether the column is of a type that can hold a sequence's ids: numbers, and characters
// or bytes that spell them.
func (c *Column) TakesIDs() bool {
	name, _, _ := strings.Cut(strings.Fields(strings.ToLower(c.Type) + " ")[0], "(")
	switch name {
	case "float", "double", "decimal", "char", "varchar", "binary", "varbinary":
		return true
	}
	return c.IsInteger() || strings.HasSuffix(name, "text") || strings.HasSuffix(name, "blob")
}

// IsInteger reports whether the column is of an integer type.
func (c *Column) IsInteger() bool {
	name, _, _ := strings.Cut(strings.Fields(strings.ToLower(c.Type) + " ")[0], "(")
	return slices.Contains([]string{"tinyint", "smallint", "mediumint", "int", "integer", "bigint"}, name)
}

// IsApproximate reports whether the column is a FLOAT or DOUBLE.
func (c *Column) IsApproximate() bool {
	typ := strings.ToLower(c.Type)
	return strings.HasPrefix(typ, "float") || strings.HasPrefix(typ, "double")
}

// MaxCharacters returns how many characters, or bytes, a column with a length holds.
func (c *Column) MaxCharacters() (n int, ok bool) {
	name, arguments, _ := strings.Cut(strings.Fields(strings.ToLower(c.Type) + " ")[0], "(")
	if name != "char" && name != "varchar" && name != "binary" && name != "varbinary" {
		return 0, false
	}
	n, err := strconv.Atoi(strings.TrimSuffix(arguments, ")"))
	return n, err == nil
}

// Holds reports whether an integer column can store a number, given as one of 64 bits
// with sign and without; a column of another type can.
func (c *Column) Holds(signed int64, unsigned uint64) bool {
	bits := c.integerBits()
	switch {
	case bits == 0:
		return true
	case strings.Contains(strings.ToLower(c.Type), "unsigned"):
		return signed >= 0 && unsigned>>(bits-1)>>1 == 0
	}
	return (signed < 0 || unsigned <= math.MaxInt64) && signed>>(bits-1) == signed>>63
}

// HoldsText is Holds for a number in decimal; false for text that is none.
func (c *Column) HoldsText(text string) bool {
	text = strings.TrimSpace(text)
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return c.Holds(n, uint64(n))
	}
	n, err := strconv.ParseUint(text, 10, 64)
	return err == nil && c.Holds(math.MaxInt64, n)
}

// integerBits returns how many bits an integer column has, 0 for another.
func (c *Column) integerBits() int {
	name, _, _ := strings.Cut(strings.Fields(strings.ToLower(c.Type) + " ")[0], "(")
	return map[string]int{"tinyint": 8, "smallint": 16, "mediumint": 24, "int": 32, "integer": 32, "bigint": 64}[name]
}

// DataType returns the column's type in small letters, without length and attributes: bigint.
func (c *Column) DataType() string {
	name, _ := c.TypeName()
	return name
}

// ShortType returns the column's type, of integers without their display width: bigint, int unsigned, decimal(20,0).
func (c *Column) ShortType() string {
	if !c.IsInteger() {
		return c.Definition()
	}
	if strings.Contains(strings.ToLower(c.Type), "unsigned") {
		return c.DataType() + " unsigned"
	}
	return c.DataType()
}

// Definition returns the column's type as it is written in a table's definition, without the display width of integers:
// MySQL 8.0.19 and later do not tell it, and it says nothing of what the column holds (MySQL manual, "Numeric Type
// Attributes").
func (c *Column) Definition() string {
	typ := strings.ToLower(c.Type)
	name, rest, ok := strings.Cut(typ, "(")
	if !ok || c.integerBits() == 0 {
		return typ
	}
	_, rest, _ = strings.Cut(rest, ")")
	return name + rest
}
