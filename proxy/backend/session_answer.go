package backend

import (
	"bytes"
	"fmt"

	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/seqgate/seqgate/proxy/wire"
)

// AnswerCut tells a failure before the first packet of an answer from one in
// its middle.
func (c *Session) AnswerCut(err error) error {
	if c.Answer.Phase == wire.PhaseFirst || c.Answer.Phase == wire.PhaseSingle || c.Answer.Phase == wire.PhasePrepare {
		return &LostError{Err: err}
	}
	return &LostError{Err: fmt.Errorf("%w: %w", ErrAnswerBegun, err)}
}

// Drop reads the backend's answer to a statement of seqgate's own and shows it
// to nobody. An error packet is a *wire.ServerError.
func (c *Session) Drop(as wire.Shape) error {
	before := c.Answer
	c.StartAnswer(as)
	err := c.dropRest()
	before.Status = c.Answer.Status
	c.Answer = before
	return err
}

// dropRest reads what is left of an answer and shows it to nobody.
func (c *Session) dropRest() error {
	var failed *wire.ServerError
	for !c.Answer.Done() {
		payload, size, err := c.Follow()
		if err != nil {
			return &LostError{Err: err}
		}
		if c.Answer.Failed {
			failed = &wire.ServerError{Packet: append([]byte(nil), payload...)}
		}
		c.Wire.Skip(size)
	}
	if failed != nil {
		return failed
	}
	return nil
}

// Follow reads the answer's next packet whole, which the caller skips.
func (c *Session) Follow() (payload []byte, size int, err error) {
	payload, size, _, err = c.Wire.Packet(MaxStatement)
	if err != nil {
		return nil, 0, err
	}
	c.Answer.Scan(c.Wire.Unread()[:size])
	if c.Answer.Malformed {
		return nil, 0, ErrMalformedAnswer
	}
	if c.Call.End != nil && c.Answer.Done() {
		c.EndAnswer()
	}
	return payload, size, nil
}

// StartAnswer begins to follow the server's answer to a command that was sent to it.
func (c *Session) StartAnswer(as wire.Shape) {
	if c.Wire.Queries != nil {
		c.Wire.Queries.Add(1)
	}
	c.Answer.Start(as, c.Capabilities)
	c.Call.answered = true
}

// Quietly runs a statement of seqgate's own in the client's backend session. An
// error of the server's is a *wire.ServerError.
func (c *Session) Quietly(sql string) error {
	c.Intervened = true
	if err := c.SendText(sql); err != nil {
		return err
	}
	return c.Drop(wire.ShapeResults)
}

// QueryRow runs a statement of seqgate's own in the client's backend session
// and gives its only row; NULL is the empty string.
func (c *Session) QueryRow(sql string, columns int) ([]string, error) {
	if err := c.Send(append([]byte{mysql.COM_QUERY}, c.NoAttributes()+sql...)); err != nil {
		return nil, err
	}
	rows := c.Answer.Rows
	payload, err := c.ReadRow()
	c.Answer.Rows = rows // this one was not for the client
	if err != nil {
		return nil, err
	}
	row := textRow(payload, columns)
	if row == nil {
		return nil, fmt.Errorf("%s: the server's answer has no row of %d columns", sql, columns)
	}
	return row, nil
}

// ReadRow reads the answer to a query of seqgate's own, and gives its last row as
// it came; nil when there is none.
func (c *Session) ReadRow() (row []byte, err error) {
	err = c.ReadOwn(nil, func(payload []byte) error {
		row = bytes.Clone(payload)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return row, nil
}

// ReadOwn reads the answer to a query of seqgate's own to its end: column, if not nil,
// gets each definition, and row each row. An error of the server's is a *wire.ServerError,
// and leaves the session's status as it was.
func (c *Session) ReadOwn(column, row func(payload []byte) error) error {
	c.Intervened = true
	status, rows := c.Answer.Status, c.Answer.Rows
	defer func() { c.Answer.Rows = rows }()
	c.StartAnswer(wire.ShapeResults)
	var failed error
	for !c.Answer.Done() {
		phase := c.Answer.Phase
		payload, size, err := c.Follow()
		if err != nil {
			return &LostError{Err: err}
		}
		switch {
		case c.Answer.Failed:
			failed = &wire.ServerError{Packet: bytes.Clone(payload)}
		case phase == wire.PhaseColumns && column != nil:
			err = column(payload)
		case phase == wire.PhaseRows && !c.Answer.Done():
			err = row(payload)
		}
		if err != nil {
			return err
		}
		c.Wire.Skip(size)
	}
	if failed != nil {
		c.Answer.Status = status
	}
	return failed
}

// QueryRows runs a statement of seqgate's own and gives its rows; NULL is the empty
// string.
func (c *Session) QueryRows(sql string, columns int) (rows [][]string, err error) {
	if err := c.SendText(sql); err != nil {
		return nil, err
	}
	status := c.Answer.Status
	err = c.ReadOwn(nil, func(payload []byte) error {
		row := textRow(payload, columns)
		if row == nil {
			return ErrMalformedAnswer
		}
		rows = append(rows, row)
		return nil
	})
	c.Answer.Status = status
	return rows, err
}

// LeaveUnnoticed has the session look for its client's end itself, until the
// returned function is called.
func (c *Session) LeaveUnnoticed() (end func()) {
	noticed := c.Wire.Interrupted
	c.Wire.Interrupted = nil
	return func() { c.Wire.Interrupted = noticed }
}

// AnswersRows reports whether the server's answer to a statement with RETURNING is
// rows: else it is an error, or fails to come.
func (c *Session) AnswersRows() bool {
	err := c.Wire.Need(wire.HeaderSize + 1)
	return err == nil && c.Wire.Unread()[wire.HeaderSize] != mysql.ERR_HEADER
}
