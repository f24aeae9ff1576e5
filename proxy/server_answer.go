package proxy

import (
	"bytes"
	"fmt"

	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/seqgate/seqgate/proxy/wire"
)

// answerCut tells a failure before the first packet of an answer from one in
// its middle.
func (c *serverSocket) answerCut(err error) error {
	if c.answer.Phase == wire.PhaseFirst || c.answer.Phase == wire.PhaseSingle || c.answer.Phase == wire.PhasePrepare {
		return &backendError{err}
	}
	return &backendError{fmt.Errorf("%w: %w", errAnswerBegun, err)}
}

// drop reads the backend's answer to a statement of seqgate's own and shows it
// to nobody. An error packet is a *wire.ServerError.
func (c *serverSocket) drop(as wire.Shape) error {
	before := c.answer
	c.startAnswer(as)
	err := c.dropRest()
	before.Status = c.answer.Status
	c.answer = before
	return err
}

// dropRest reads what is left of an answer and shows it to nobody.
func (c *serverSocket) dropRest() error {
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
func (c *serverSocket) follow() (payload []byte, size int, err error) {
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
func (c *serverSocket) startAnswer(as wire.Shape) {
	if c.back.Queries != nil {
		c.back.Queries.Add(1)
	}
	c.answer.Start(as, c.capabilities)
	c.call.answered = true
}

// quietly runs a statement of seqgate's own in the client's backend session. An
// error of the server's is a *wire.ServerError.
func (c *serverSocket) quietly(sql string) error {
	if err := c.sendText(sql); err != nil {
		return err
	}
	return c.drop(wire.ShapeResults)
}

// queryRow runs a statement of seqgate's own in the client's backend session
// and gives its only row; NULL is the empty string.
func (c *serverSocket) queryRow(sql string, columns int) ([]string, error) {
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
func (c *serverSocket) readRow() (row []byte, err error) {
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
func (c *serverSocket) readOwn(column, row func(payload []byte) error) error {
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
func (c *serverSocket) queryRows(sql string, columns int) (rows [][]string, err error) {
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

// leaveUnnoticed has the session look for its client's end itself, until the
// returned function is called.
func (c *serverSocket) leaveUnnoticed() (end func()) {
	noticed := c.back.Interrupted
	c.back.Interrupted = nil
	return func() { c.back.Interrupted = noticed }
}

// answersRows reports whether the server's answer to a statement with RETURNING is
// rows: else it is an error, or fails to come.
func (c *serverSocket) answersRows() bool {
	err := c.back.Need(wire.HeaderSize + 1)
	return err == nil && c.back.Unread()[wire.HeaderSize] != mysql.ERR_HEADER
}

// readPrepared reads the answer to a COM_STMT_PREPARE of seqgate's own.
func (c *serverSocket) readPrepared() (preparedOK, error) {
	payload, _, _, err := c.back.Packet(maxStatement)
	if err != nil {
		return preparedOK{}, &backendError{err}
	}
	ok, _ := parsePrepared(payload)
	return ok, c.drop(wire.ShapePrepare)
}

// peekPrepared looks at the beginning of an answer to COM_STMT_PREPARE.
func (c *serverSocket) peekPrepared() (ok preparedOK, accepted bool, err error) {
	payload, _, _, err := c.back.Packet(maxStatement)
	if err != nil {
		return ok, false, &backendError{err}
	}
	ok, accepted = parsePrepared(payload)
	return ok, accepted, nil
}
