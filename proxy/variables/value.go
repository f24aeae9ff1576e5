package variables

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/wire"
)

// Value is what a variable of a session holds.
type Value struct {
	typ      byte // mysql.MYSQL_TYPE_..., of the column that it makes
	unsigned bool
	null     bool
	value    []byte // of a text its bytes in its own character set, of a number its digits
	charset  string
	collate  string
}

// readValue returns the columns that tell all of an expression: one of its type, whose
// value is not sent, and its bytes.
const readValue = "IF(FALSE, %[1]s, NULL), CAST(%[1]s AS BINARY), CAST(CONVERT(CHARSET(%[1]s) USING utf8mb4) AS BINARY), CAST(CONVERT(COLLATION(%[1]s) USING utf8mb4) AS BINARY)"

// columnsOfValue is how many those are.
const columnsOfValue = 4

// read reads the value's columns at the front of a row, and gives what is behind them.
func (v *Value) read(d wire.Definition, row []byte) (rest []byte) {
	v.typ, v.unsigned = d.Type, d.Flags&mysql.UNSIGNED_FLAG != 0
	var fields [columnsOfValue][]byte
	for i := range fields {
		text, null, rest, ok := wire.Text(row)
		if !ok {
			return nil
		}
		v.null = v.null || null && i == 1
		fields[i], row = text, rest
	}
	v.value, v.charset, v.collate = bytes.Clone(fields[1]), string(fields[2]), string(fields[3])
	return row[:len(row):len(row)]
}

// Literal returns the value as an expression of SET that reads alike in every sql_mode
// and character set, with its type; of a text with its collation if that is wanted.
func (v *Value) Literal(collate bool) string {
	if v.null {
		return v.nullLiteral(collate)
	}
	digits := v.Digits()
	switch v.typ {
	case mysql.MYSQL_TYPE_TINY, mysql.MYSQL_TYPE_SHORT, mysql.MYSQL_TYPE_LONG, mysql.MYSQL_TYPE_INT24, mysql.MYSQL_TYPE_LONGLONG:
		switch digits { // MariaDB says so of its own variables
		case "ON":
			return "1"
		case "OFF":
			return "0"
		}
		if v.unsigned {
			return "CAST('" + digits + "' AS UNSIGNED)"
		}
		return "CAST('" + digits + "' AS SIGNED)"
	case mysql.MYSQL_TYPE_FLOAT, mysql.MYSQL_TYPE_DOUBLE:
		if !strings.ContainsAny(digits, "eE") {
			digits += "e0"
		}
		return digits
	case mysql.MYSQL_TYPE_DECIMAL, mysql.MYSQL_TYPE_NEWDECIMAL:
		whole, fraction, _ := strings.Cut(strings.TrimPrefix(digits, "-"), ".")
		return fmt.Sprintf("CAST('%s' AS DECIMAL(%d,%d))", digits, len(whole)+len(fraction), len(fraction))
	}
	text := fmt.Sprintf("_%s X'%x'", v.charset, v.value)
	if collate && v.charset != "binary" {
		text += " COLLATE " + v.collate
	}
	return text
}

// Digits returns a number's digits, which have zero bytes between them in a wide
// character set.
func (v *Value) Digits() string { return string(bytes.ReplaceAll(v.value, []byte{0}, nil)) }

// nullLiteral returns a NULL, of the type that the variable has: what is assigned to it
// without one keeps that.
func (v *Value) nullLiteral(typed bool) string {
	switch v.typ {
	case mysql.MYSQL_TYPE_LONGLONG, mysql.MYSQL_TYPE_LONG:
		if typed && v.unsigned {
			return "CAST(NULL AS UNSIGNED)"
		} else if typed {
			return "CAST(NULL AS SIGNED)"
		}
	case mysql.MYSQL_TYPE_DOUBLE:
		if typed {
			return "NULL + 0e0"
		}
	case mysql.MYSQL_TYPE_NEWDECIMAL:
		if typed {
			return "CAST(NULL AS DECIMAL)"
		}
	}
	return "NULL"
}

// quoteVariable returns a user variable's name as it reads in every sql_mode.
func quoteVariable(name string) string { return "@" + catalog.Quote(name) }

// Read asks a session what expressions give.
func Read(c *backend.Session, expressions []string) ([]Value, error) {
	columns := make([]string, len(expressions))
	for i, e := range expressions {
		columns[i] = fmt.Sprintf(readValue, e)
	}
	if err := c.SendText("SELECT " + strings.Join(columns, ", ") + " LIMIT 1"); err != nil {
		return nil, err
	}
	types, row, err := readTypedRow(c)
	if err != nil {
		return nil, err
	}
	if len(types) != columnsOfValue*len(expressions) || row == nil {
		return nil, mysql.NewError(mysql.ER_NOT_SUPPORTED_YET, "seqgate cannot read the variables of the session, whose results have no metadata; SET resultset_metadata = FULL")
	}
	values := make([]Value, len(expressions))
	for i := range values {
		if row = values[i].read(types[columnsOfValue*i], row); row == nil {
			return nil, backend.ErrMalformedAnswer
		}
	}
	return values, nil
}

// readTypedRow reads the answer to a query of seqgate's own: the types of its columns
// and its last row.
func readTypedRow(c *backend.Session) (types []wire.Definition, row []byte, err error) {
	err = c.ReadOwn(func(definition []byte) error {
		d, ok := wire.ReadDefinition(definition)
		if !ok {
			return backend.ErrMalformedAnswer
		}
		d.Name = nil // of a packet that is not kept
		types = append(types, d)
		return nil
	}, func(payload []byte) error {
		row = bytes.Clone(payload)
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	return types, row, nil
}
