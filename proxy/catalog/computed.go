package catalog

import (
	"strings"

	"github.com/seqgate/seqgate/parser"
)

// ComputesDefault reports whether the column's default may differ from server to
// server: an expression, or the current time.
func (c *Column) ComputesDefault() bool {
	if !c.valueIsSQL {
		return strings.HasPrefix(strings.ToUpper(c.value), "CURRENT_TIMESTAMP") // MySQL 5.7 has no mark for it
	}
	return c.value != "" && !parser.IsConstant([]byte(c.value), parser.Mode{})
}

// ComputesUpdate reports whether a server sets the column in rows that are changed.
func (c *Column) ComputesUpdate() bool {
	return strings.Contains(strings.ToLower(c.Extra), "on update")
}

// LeavesOpen reports whether a server may compute the column's value itself where a row
// says this of it.
func (c *Column) LeavesOpen(v parser.Cell) bool {
	switch v.Kind {
	case parser.CellAbsent, parser.CellDefault:
		return true
	case parser.CellNull: // a TIMESTAMP may take it for the current time
		return c.AutoIncrement() || strings.HasPrefix(strings.ToLower(c.Type), "timestamp")
	case parser.CellSigned:
		return c.AutoIncrement() && v.Number == 0
	case parser.CellUnsigned:
		return false
	}
	return c.AutoIncrement()
}
