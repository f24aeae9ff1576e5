package proxy

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/handshake"
	"github.com/seqgate/seqgate/proxy/meter"
	"github.com/seqgate/seqgate/proxy/wire"
)

// statistics is what a client's session notes of the command under way, and where it counts it afterwards.
type statistics struct {
	stripe  *meter.Stripe // nil: nothing is counted
	began   time.Time
	kind    meter.Kind
	class   meter.Class
	code    uint16                // of the error that the client was told
	several []*executor           // those of the router when the command began
	planned meter.Kind            // of the statement being prepared
	kinds   map[uint32]meter.Kind // of prepared statements, by id
}

// beginStatistics begins the count of a command that has just come.
func (s *observedSession) beginStatistics() {
	t := &s.statistics
	t.began, t.kind, t.class, t.code = time.Now(), meter.None, meter.NoError, 0
	s.Answer.Fails = 0
	if s.router != nil {
		t.several = s.router.several
	}
}

// endStatistics counts a command that has been answered.
func (s *observedSession) endStatistics() {
	t := &s.statistics
	if t.kind == meter.None || t.stripe == nil {
		return
	}
	if s.router == nil && s.Answer.Fails > 0 {
		t.class = meter.ClassOf(s.Answer.Code)
	}
	t.stripe.Command(t.kind, time.Since(t.began), t.class, s.routeTaken())
}

// routeTaken says where the statement under way ran.
func (s *observedSession) routeTaken() meter.Route {
	r := s.router
	switch {
	case r == nil || s.statistics.kind == meter.Command || s.statistics.kind == meter.Prepare:
		return meter.NoRoute
	case r.last != nil:
		return meter.Single
	case len(r.several) > 1 && (len(s.statistics.several) == 0 || &r.several[0] != &s.statistics.several[0]):
		return meter.Scatter
	case len(r.several) == 1 && (len(s.statistics.several) == 0 || &r.several[0] != &s.statistics.several[0]):
		return meter.Single
	}
	return meter.Local
}

// noteCommand notes of which kind a command is by its code; statements are told apart later.
func (c *clientConn) noteCommand(code byte) {
	switch code {
	case mysql.COM_QUIT, mysql.COM_STMT_CLOSE, mysql.COM_STMT_SEND_LONG_DATA:
	case mysql.COM_QUERY, mysql.COM_STMT_EXECUTE, comStmtBulkExecute:
		c.statistics.kind = meter.Other
	case mysql.COM_STMT_PREPARE:
		c.statistics.kind = meter.Prepare
	default:
		c.statistics.kind = meter.Command
	}
}

// noteKind notes of which kind the statement under way is. A text of several statements stays that, and what is
// prepared is kept for its executions.
func (c *clientConn) noteKind(k meter.Kind) {
	switch t := &c.statistics; {
	case t.kind == meter.Several, t.kind == meter.InsertFilled && k == meter.Insert:
	case t.kind == meter.Prepare:
		t.planned = k
	default:
		t.kind = k
	}
}

// noteFilled notes that the statement under way got ids.
func (c *clientConn) noteFilled() {
	if t := &c.statistics; t.kind == meter.Insert || t.kind == meter.Other {
		t.kind = meter.InsertFilled
	}
}

// noteError notes with which error the command under way is answered.
func (c *clientConn) noteError(code uint16) {
	t := &c.statistics
	t.class, t.code = meter.ClassOf(code), code
}

// keepKind keeps the kind of a statement that was prepared under this id.
func (x *relayer) keepKind(id uint32) {
	t := &x.statistics
	if t.planned == meter.None || x.clientStatementID != 0 { // those of a routed session have other ids
		return
	}
	if t.kinds == nil {
		t.kinds = make(map[uint32]meter.Kind)
	}
	t.kinds[id], t.planned = t.planned, meter.None
}

// forgetKind forgets the kind of the statement that the command under way closes.
func (c *clientConn) forgetKind() error {
	length, _, err := c.front.Header()
	if err == nil && len(c.statistics.kinds) > 0 && length >= executeFlags {
		if err = c.front.Need(wire.HeaderSize + executeFlags); err == nil {
			delete(c.statistics.kinds, binary.LittleEndian.Uint32(c.front.Unread()[wire.HeaderSize+1:]))
		}
	}
	if err != nil {
		return &frontError{err}
	}
	return nil
}

// noteExecuted notes that the prepared statement with this id is executed.
func (c *clientConn) noteExecuted(id uint32) {
	if k, ok := c.statistics.kinds[id]; ok {
		c.noteKind(k)
	}
}

// kindOf returns the kind of a statement with these first keywords.
func kindOf(k parser.Kind) meter.Kind {
	switch k {
	case parser.Select, parser.With:
		return meter.Select
	case parser.Insert, parser.Replace, parser.Load:
		return meter.Insert
	case parser.Update:
		return meter.Update
	case parser.Delete:
		return meter.Delete
	case parser.Next:
		return meter.Next
	case parser.Begin, parser.Commit, parser.Rollback:
		return meter.Transaction
	case parser.Set, parser.Use:
		return meter.Set
	case parser.Show:
		return meter.Show
	case parser.DDL:
		return meter.DDL
	case parser.Kill:
		return meter.Admin
	case parser.Prepare, parser.Deallocate:
		return meter.Prepare
	}
	return meter.Other
}

// countFront has the client's bytes counted.
func (c *clientConn) countFront() {
	if c.srv.meter == nil {
		return
	}
	c.statistics.stripe = c.srv.meter.Stripe(c.id)
	c.front.BytesRead, c.front.BytesWritten = c.statistics.stripe.Bytes()
}

// uncountBacks is UncountBack of the session and its connections, after a fault.
func (s *observedSession) uncountBacks() {
	if s.router != nil {
		s.router.conns.others(s.executor, (*executor).UncountBack)
	}
	s.UncountBack()
}

// refusalOf says why a client was not let in, by the error of that.
func refusalOf(err error) meter.Refusal {
	var header *proxyHeaderError
	var connect *backend.ConnectError
	var lost *backend.LostError
	var own *mysql.MyError
	var relayed *handshake.Refused
	var front *frontError
	var atLogin *handshake.FrontError
	var network net.Error
	switch {
	case errors.As(err, &header):
		return meter.RefusedHeader
	case errors.As(err, &connect), errors.As(err, &lost):
		return meter.RefusedBackend
	case errors.As(err, &own):
		return refusalFor(own.Code)
	case errors.As(err, &relayed):
		return refusalFor(relayed.MySQL().Code)
	case errors.As(err, &front), errors.As(err, &atLogin), errors.As(err, &network), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return meter.RefusedLeft
	}
	return meter.RefusedOther
}

func refusalFor(code uint16) meter.Refusal {
	switch code {
	case mysql.ER_CON_COUNT_ERROR:
		return meter.RefusedLimit
	case mysql.ER_USER_LIMIT_REACHED, mysql.ER_TOO_MANY_USER_CONNECTIONS:
		return meter.RefusedUser
	case erSecureTransportRequired:
		return meter.RefusedTLS
	case errUnreachable:
		return meter.RefusedBackend
	}
	if meter.ClassOf(code) == meter.Access {
		return meter.RefusedLogin
	}
	return meter.RefusedOther
}

// routed reports whether the session is in front of sharded keyspaces.
func (s *observedSession) routed() bool { return s.router != nil }

// connecting returns the time that a connection of the session's may take to be made,
// which a KILL ends.
func (s *observedSession) connecting() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(s.ctx, s.srv.settings().HandshakeTimeout)
	r := s.router
	if r == nil {
		return ctx, cancel
	}
	r.conns.setConnecting(cancel)
	return ctx, func() {
		r.conns.setConnecting(nil)
		cancel()
	}
}

// noteStatementID notes which prepared statement a command is about.
func (c *clientConn) noteStatementID() {
	body := c.front.Unread()[wire.HeaderSize:]
	c.lastCommand, c.lastPrepared, c.looked = body[0], 0, false
	switch body[0] {
	case mysql.COM_STMT_EXECUTE, comStmtBulkExecute, mysql.COM_STMT_FETCH, mysql.COM_STMT_CLOSE, mysql.COM_STMT_RESET:
		if len(body) >= statementIDEnd {
			c.lastPrepared = binary.LittleEndian.Uint32(body[1:])
		}
	}
	switch body[0] {
	case mysql.COM_STMT_CLOSE:
		delete(c.slow.prepared, c.lastPrepared)
		delete(c.slow.shapes, c.lastPrepared)
	case comResetConnection, mysql.COM_CHANGE_USER:
		c.slow.prepared, c.slow.shapes = nil, nil
	}
}
