package proxy

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/plan"
	"github.com/seqgate/seqgate/proxy/wire"
)

// readValues asks the session what expressions give.
func (c *serverState) readValues(expressions []string) ([]heldValue, error) {
	columns := make([]string, len(expressions))
	for i, e := range expressions {
		columns[i] = fmt.Sprintf(readValue, e)
	}
	if err := c.SendText("SELECT " + strings.Join(columns, ", ") + " LIMIT 1"); err != nil {
		return nil, err
	}
	types, row, err := c.readTypedRow()
	if err != nil {
		return nil, err
	}
	if len(types) != columnsOfValue*len(expressions) || row == nil {
		return nil, mysql.NewError(mysql.ER_NOT_SUPPORTED_YET, "seqgate cannot read the variables of the session, whose results have no metadata; SET resultset_metadata = FULL")
	}
	values := make([]heldValue, len(expressions))
	for i := range values {
		if row = values[i].read(types[columnsOfValue*i], row); row == nil {
			return nil, backend.ErrMalformedAnswer
		}
	}
	return values, nil
}

// readTypedRow reads the answer to a query of seqgate's own: the types of its columns
// and its last row.
func (c *serverState) readTypedRow() (types []columnType, row []byte, err error) {
	err = c.ReadOwn(func(definition []byte) error {
		typ, ok := c.readColumnType(definition)
		if !ok {
			return backend.ErrMalformedAnswer
		}
		types = append(types, typ)
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

// readColumnType reads a column definition (Protocol::ColumnDefinition41 of the MySQL
// manual; MariaDB may have further type names behind the column's).
func (c *serverState) readColumnType(b []byte) (t columnType, ok bool) {
	texts := 6
	if c.Has64(wire.ClientExtendedMetadata) {
		texts++
	}
	for range texts {
		n, _, size := wire.LengthEncoded(b)
		if size == 0 || uint64(len(b)-size) < n {
			return t, false
		}
		b = b[size+int(n):]
	}
	if len(b) < 10 {
		return t, false
	}
	return columnType{typ: b[7], flags: binary.LittleEndian.Uint16(b[8:])}, true
}

// readSettings gives the assignments of SET that make on another connection what the session
// has.
func (c *serverState) readSettings(keys []string, changed map[string]parser.Assignment) ([]string, error) {
	texts := make([]string, len(keys))
	var expressions []string
	for _, key := range keys {
		expressions = append(expressions, c.expressionsOf(key)...)
	}
	values, err := c.readValues(expressions)
	if err != nil {
		return nil, err
	}
	for i, key := range keys {
		n := len(c.expressionsOf(key))
		switch {
		case key[0] == '@':
			texts[i] = quoteVariable(key[1:]) + " = " + values[0].literal(true)
		case changed[key].Default && key == "timestamp":
			texts[i] = "timestamp = DEFAULT" // which goes on, while its value stands still
		case key == settingCharsets:
			texts[i] = fmt.Sprintf("character_set_client = %s, character_set_results = %s, collation_connection = %s",
				values[0].literal(false), values[1].literal(false), values[2].literal(false))
		default:
			texts[i] = "SESSION " + key + " = " + values[0].literal(false)
		}
		values = values[n:]
	}
	return texts, nil
}

// expressionsOf gives what has to be read for a setting.
func (c *serverState) expressionsOf(key string) []string {
	switch {
	case key[0] == '@':
		return []string{quoteVariable(key[1:])}
	case key == settingCharsets:
		return []string{"@@SESSION.character_set_client", "@@SESSION.character_set_results", "@@SESSION.collation_connection"}
	}
	return []string{"@@SESSION." + key}
}

// readDefinition reads an answer to its end: an OK, or rows of a report.
func (c *serverState) readDefinition() (d shardResult) {
	e := plan.Effect(plan.ChangesSchema)
	defer c.after(e)
	c.StartAnswer(wire.ShapeResults)
	for first := true; !c.Answer.Done() || first; first = false {
		at := c.Answer.Phase
		payload, size, err := c.Follow()
		if err != nil {
			d.err = &backend.LostError{Err: err}
			return d
		}
		switch {
		case c.Answer.Failed:
			d.err = &wire.ServerError{Packet: append([]byte(nil), payload...)}
		case first && c.Answer.Done():
			d.ok, _ = wire.ParseOK(payload)
			d.ok.Rest = append([]byte(nil), d.ok.Rest...)
		case at == wire.PhaseColumns:
			d.columns = append(d.columns, append([]byte(nil), payload...))
		case at == wire.PhaseRows && !c.Answer.Done():
			d.rows = append(d.rows, append([]byte(nil), payload...))
		}
		c.Wire.Skip(size)
	}
	c.Boundary = true
	return d
}
