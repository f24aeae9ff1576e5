package proxy

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// max is the largest id that a column holds, and its neighbours with it: ids are
// signed 64-bit numbers, as Vitess's are, and FLOAT and DOUBLE have 24 and 53 bits
// of precision.
func (c *columnInfo) max() int64 {
	typ := strings.ToLower(c.columnType)
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

// isInteger reports whether the column is of an integer type.
func (c *columnInfo) isInteger() bool {
	name, _, _ := strings.Cut(strings.Fields(strings.ToLower(c.columnType) + " ")[0], "(")
	return slices.Contains([]string{"tinyint", "smallint", "mediumint", "int", "integer", "bigint"}, name)
}

// isApproximate reports whether the column is a FLOAT or DOUBLE.
func (c *columnInfo) isApproximate() bool {
	typ := strings.ToLower(c.columnType)
	return strings.HasPrefix(typ, "float") || strings.HasPrefix(typ, "double")
}
