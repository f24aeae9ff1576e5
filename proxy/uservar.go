package proxy

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/plan"
)

// A user variable in the place of an id decides when the statement runs whether
// the id is open. seqgate asks the session for it, which is a statement of its
// own there (docs/sql.md, "Known limits").

// askVariable reads a user variable as bytes, whatever character set the client
// wants its results in: 't' and a string, as it is but for character sets unlike
// ASCII; 'n' and a number as an integer column stores it, which ROUND gives; nothing
// for NULL.
const askVariable = "CAST(CASE WHEN %[1]s IS NULL THEN '' WHEN %[2]s THEN CONCAT(CAST('t' AS BINARY), " +
	"CASE WHEN CHARSET(%[1]s) IN ('ucs2','utf16','utf16le','utf32') THEN CAST(CONVERT(%[1]s USING utf8mb4) AS BINARY) ELSE CAST(%[1]s AS BINARY) END) " +
	"ELSE CONCAT(CAST('n' AS BINARY), CAST(ROUND(%[1]s) AS BINARY)) END AS BINARY)"

// isText returns the condition that a user variable holds a string. No function
// tells its type on both servers.
func (c *serverConn) isText(variable []byte) string {
	if c.MariaDB {
		return fmt.Sprintf("COERCIBILITY(%s) = 2", variable)
	}
	return fmt.Sprintf(`LEFT(JSON_ARRAY(%s), 2) = '["'`, variable)
}

// readVariables checks user variables as values of an integer column, with one
// question to the session.
func (c *serverConn) readVariables(variables [][]byte, m parser.Mode, ignore bool) ([]parser.Slot, error) {
	if len(variables) == 0 {
		return nil, nil
	}
	row, err := c.askVariables(variables)
	if err != nil {
		return nil, err
	}
	slots := make([]parser.Slot, len(row))
	for i, value := range row {
		slots[i] = variableSlot(value, m, ignore)
	}
	return slots, nil
}

// askVariables asks the session what user variables hold: see askVariable.
func (c *serverConn) askVariables(variables [][]byte) ([]string, error) {
	facts := make([]string, len(variables))
	for i, v := range variables {
		facts[i] = fmt.Sprintf(askVariable, v, c.isText(v))
	}
	return c.QueryRow("SELECT "+strings.Join(facts, ", ")+" LIMIT 1", len(facts))
}

// variableSlot checks what askVariable gave.
func variableSlot(value string, m parser.Mode, ignore bool) parser.Slot {
	m.EmptyStringIsNull = false // that is of literals
	switch {
	case value == "":
		return parser.Slot{State: parser.Open}
	case m.OnlyNull:
		return parser.Slot{State: parser.Explicit}
	case value[0] == 't':
		return parser.StringSlot([]byte(value[1:]), m, ignore)
	}
	if n, err := strconv.ParseInt(value[1:], 10, 64); err == nil {
		return parser.IntegerSlot(n, false, m)
	}
	f, err := strconv.ParseFloat(value[1:], 64)
	if err != nil {
		return parser.Slot{State: parser.Unknown}
	}
	return parser.FloatSlot(f, m)
}

// Variables of seqgate's own in a client's session: what no routine or trigger of
// the client's changes while a statement runs.
const (
	copiedVariable = "@`seqgate copied %d`"
	idVariable     = "@`seqgate id %d`"
)

// appendCopied returns the copy of the user variable that is a row's own id.
func (f *statementReader) appendCopied(dst, sql []byte, p *plan.Fill, row int) ([]byte, bool) {
	if !p.Variables || f.planner.Stmt.Variable(sql, row) == nil {
		return dst, false
	}
	return fmt.Appendf(dst, copiedVariable, row), true
}

// copyVariables copies user variables to ones of seqgate's own, and gives those.
func (c *serverConn) copyVariables(names [][]byte) ([][]byte, error) {
	copies, set := make([][]byte, len(names)), make([]string, len(names))
	for i, name := range names {
		copies[i] = fmt.Appendf(nil, copiedVariable, i)
		set[i] = fmt.Sprintf("%s = %s", copies[i], name)
	}
	return copies, c.Quietly("SET " + strings.Join(set, ", "))
}
