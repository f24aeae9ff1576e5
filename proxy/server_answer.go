package proxy

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/wire"
)

// answerCut tells a failure before the first packet of an answer from one in
// its middle.
func (c *serverConn) answerCut(err error) error {
	if c.answer.Phase == wire.PhaseFirst || c.answer.Phase == wire.PhaseSingle || c.answer.Phase == wire.PhasePrepare {
		return &backendError{err}
	}
	return &backendError{fmt.Errorf("%w: %w", errAnswerBegun, err)}
}

// drop reads the backend's answer to a statement of seqgate's own and shows it
// to nobody. An error packet is a *wire.ServerError.
func (c *serverConn) drop(as wire.Shape) error {
	before := c.answer
	c.startAnswer(as)
	err := c.dropRest()
	before.Status = c.answer.Status
	c.answer = before
	return err
}

// dropRest reads what is left of an answer and shows it to nobody.
func (c *serverConn) dropRest() error {
	var failed *wire.ServerError
	for !c.answer.Done() {
		payload, size, err := c.follow()
		if err != nil {
			return &backendError{err}
		}
		if c.answer.Failed {
			failed = &wire.ServerError{Packet: append([]byte(nil), payload...)}
		}
		c.back.Skip(size)
	}
	if failed != nil {
		return failed
	}
	return nil
}

// follow reads the answer's next packet whole, which the caller skips.
func (c *serverConn) follow() (payload []byte, size int, err error) {
	payload, size, _, err = c.back.Packet(maxStatement)
	if err != nil {
		return nil, 0, err
	}
	c.answer.Scan(c.back.Unread()[:size])
	if c.answer.Malformed {
		return nil, 0, errMalformedAnswer
	}
	if c.call.end != nil && c.answer.Done() {
		c.endAnswer()
	}
	return payload, size, nil
}

// startAnswer begins to follow the server's answer to a command that was sent to it.
func (c *serverConn) startAnswer(as wire.Shape) {
	if c.back.Queries != nil {
		c.back.Queries.Add(1)
	}
	c.answer.Start(as, c.capabilities)
	c.call.answered = true
}

// quietly runs a statement of seqgate's own in the client's backend session. An
// error of the server's is a *wire.ServerError.
func (c *serverConn) quietly(sql string) error {
	if err := c.sendText(sql); err != nil {
		return err
	}
	return c.drop(wire.ShapeResults)
}

// queryRow runs a statement of seqgate's own in the client's backend session
// and gives its only row; NULL is the empty string.
func (c *serverConn) queryRow(sql string, columns int) ([]string, error) {
	if err := c.send(append([]byte{mysql.COM_QUERY}, c.noAttributes()+sql...)); err != nil {
		return nil, err
	}
	rows := c.answer.Rows
	payload, err := c.readRow()
	c.answer.Rows = rows // this one was not for the client
	if err != nil {
		return nil, err
	}
	row := textRow(payload, columns)
	if row == nil {
		return nil, fmt.Errorf("%s: the server's answer has no row of %d columns", sql, columns)
	}
	return row, nil
}

// readRow reads the answer to a query of seqgate's own, and gives its last row as
// it came; nil when there is none.
func (c *serverConn) readRow() (row []byte, err error) {
	err = c.readOwn(nil, func(payload []byte) error {
		row = bytes.Clone(payload)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return row, nil
}

// readOwn reads the answer to a query of seqgate's own to its end: column, if not nil,
// gets each definition, and row each row. An error of the server's is a *wire.ServerError,
// and leaves the session's status as it was.
func (c *serverConn) readOwn(column, row func(payload []byte) error) error {
	status, rows := c.answer.Status, c.answer.Rows
	defer func() { c.answer.Rows = rows }()
	c.startAnswer(wire.ShapeResults)
	var failed error
	for !c.answer.Done() {
		phase := c.answer.Phase
		payload, size, err := c.follow()
		if err != nil {
			return &backendError{err}
		}
		switch {
		case c.answer.Failed:
			failed = &wire.ServerError{Packet: bytes.Clone(payload)}
		case phase == wire.PhaseColumns && column != nil:
			err = column(payload)
		case phase == wire.PhaseRows && !c.answer.Done():
			err = row(payload)
		}
		if err != nil {
			return err
		}
		c.back.Skip(size)
	}
	if failed != nil {
		c.answer.Status = status
	}
	return failed
}

// queryRows runs a statement of seqgate's own and gives its rows; NULL is the empty
// string.
func (c *serverConn) queryRows(sql string, columns int) (rows [][]string, err error) {
	if err := c.sendText(sql); err != nil {
		return nil, err
	}
	status := c.answer.Status
	err = c.readOwn(nil, func(payload []byte) error {
		row := textRow(payload, columns)
		if row == nil {
			return errMalformedAnswer
		}
		rows = append(rows, row)
		return nil
	})
	c.answer.Status = status
	return rows, err
}

// readValues asks the session what expressions give.
func (c *serverConn) readValues(expressions []string) ([]heldValue, error) {
	columns := make([]string, len(expressions))
	for i, e := range expressions {
		columns[i] = fmt.Sprintf(readValue, e)
	}
	if err := c.sendText("SELECT " + strings.Join(columns, ", ") + " LIMIT 1"); err != nil {
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
			return nil, errMalformedAnswer
		}
	}
	return values, nil
}

// readTypedRow reads the answer to a query of seqgate's own: the types of its columns
// and its last row.
func (c *serverConn) readTypedRow() (types []columnType, row []byte, err error) {
	err = c.readOwn(func(definition []byte) error {
		typ, ok := c.readColumnType(definition)
		if !ok {
			return errMalformedAnswer
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
func (s *serverConn) readColumnType(b []byte) (c columnType, ok bool) {
	texts := 6
	if s.has64(wire.ClientExtendedMetadata) {
		texts++
	}
	for range texts {
		n, _, size := wire.LengthEncoded(b)
		if size == 0 || uint64(len(b)-size) < n {
			return c, false
		}
		b = b[size+int(n):]
	}
	if len(b) < 10 {
		return c, false
	}
	return columnType{typ: b[7], flags: binary.LittleEndian.Uint16(b[8:])}, true
}

// readSettings gives the assignments of SET that make on another connection what the session
// has.
func (c *serverConn) readSettings(keys []string, changed map[string]parser.Assignment) ([]string, error) {
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
func (c *serverConn) expressionsOf(key string) []string {
	switch {
	case key[0] == '@':
		return []string{quoteVariable(key[1:])}
	case key == settingCharsets:
		return []string{"@@SESSION.character_set_client", "@@SESSION.character_set_results", "@@SESSION.collation_connection"}
	}
	return []string{"@@SESSION." + key}
}

// askBehind asks for a number in the session, right behind a statement of the client's for which ROW_COUNT() is rows.
func (c *serverConn) askBehind(rows int64, query string) (uint64, error) {
	warnings, err := c.queryRows("SHOW WARNINGS", len(warningColumns)) // which leaves them
	if err != nil {
		return 0, err
	}
	c.left = &left{warnings: warnings, rows: strconv.FormatInt(rows, 10), warned: strconv.Itoa(len(warnings)), failures: "0"}
	row, err := c.queryRow(query, 1)
	if err != nil || row[0] == "" {
		return 0, err
	}
	return strconv.ParseUint(row[0], 10, 64)
}

// askLeft reads what is left but the warnings themselves. MySQL warns of FOUND_ROWS(), which a text that does not name it
// would see among the counts.
func (c *serverConn) askLeft(found bool) (*left, error) {
	query, columns := "SELECT "+bytesOf("ROW_COUNT()")+", @@warning_count, @@error_count", 3
	if found {
		query, columns = query+", "+bytesOf("FOUND_ROWS()"), 4
	}
	row, err := c.queryRow(query+" LIMIT 1", columns) // whatever sql_select_limit says
	if err != nil {
		return nil, err
	}
	l := &left{rows: row[0], warned: row[1], failures: row[2]}
	if found {
		l.found = row[3]
	}
	return l, nil
}
