package proxy

import (
	"context"
	"errors"
	"io"
	"sync/atomic"

	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/wire"
)

// session is one client, with the connection to a server that is its own for as
// long as it lives: so transactions, variables, locks, temporary tables and
// prepared statements behave as without a proxy. One goroutine runs it.
type session struct {
	observedSession

	knewLastID bool                               // LAST_INSERT_ID() was known before the statement under way
	lastIDLost bool                               // it was not, and has gone with a connection; see refuseLostID
	pauseWait  atomic.Pointer[context.CancelFunc] // of a wait for a paused shard; nil: there is none
	clientGone atomic.Bool
	sentAhead  bool // parameters came by COM_STMT_SEND_LONG_DATA since the latest execution
}

// observedSession tells what a client's statements did: statistics, counts by their shapes, the slow log, spans.
type observedSession struct {
	*executor

	router *router // of a client in front of sharded keyspaces; nil for others
}

// newSession has a client work on a server. The caller fills in where both belong.
func newSession(client *clientConn, server *serverConn) *session {
	s := &session{observedSession: observedSession{executor: newExecutor(client, server)}}
	o := owningSession{s, server}
	server.owner, server.Host, server.Traced = o, o, server.trace != nil
	return s
}

// maxScratch is the largest buffer kept from one statement to the next, in bytes,
// and maxSlots the most rows that memory is kept for.
const (
	maxScratch = 64 << 10
	maxSlots   = 2 << 10
)

// run serves commands until the client or the server goes away.
func (s *session) run() error {
	for {
		length, sequence, err := s.await()
		if err != nil {
			return err
		}
		s.Boundary, s.Sent = false, false
		s.out = sender{sequence: 1}
		slow := s.srv.settings().SlowStatement
		if slow > 0 {
			s.beginSlow()
		}
		s.beginShape()
		s.beginStatistics()
		err = s.nextCommand(length, sequence)
		s.noteCursor()
		if slow > 0 {
			s.endSlow(slow, err)
		}
		s.letGo()
		if err != nil {
			err = s.report(err)
		}
		s.endStatistics()
		s.endShape()
		if s.trace != nil {
			s.endStatement(err)
		}
		if err != nil {
			return err
		}
		s.Boundary = !s.HalfClosed
	}
}

// nextCommand handles the command at the front of the client's bytes, whose
// first packet has this length and number.
func (s *session) nextCommand(length int, sequence byte) error {
	switch {
	case sequence != 0 && !s.renumber(length):
		return &wire.OrderError{Want: 0}
	case length == 0:
		return s.pass(wire.ShapeSingle) // no command: the server says so
	}
	if err := s.front.Need(wire.HeaderSize + min(length, statementIDEnd)); err != nil {
		return &frontError{err}
	}
	s.noteStatementID()
	s.noteKnown()
	if s.trace != nil {
		if err := s.beginStatement(s.lastCommand, length); err != nil {
			return err
		}
	}
	return s.command(s.lastCommand, length)
}

// await waits for the client's next command, and gives the length and the
// number of its first packet. The server's end, or a stop of seqgate, ends the wait.
func (s *session) await() (length int, sequence byte, err error) {
	for {
		if err := s.idle(); err != nil {
			return 0, 0, err
		}
		s.beforeWait()
		s.beginWait()
		length, sequence, err := s.front.Await()
		if !s.endWait() {
			return 0, 0, s.sayInactive()
		}
		switch {
		case err == nil && !s.Ends.BackEnded.Load():
			s.busy.Store(true)
			s.quiet.Store(0)
			s.beforeCommand()
			return length, sequence, nil
		case err == nil, errors.Is(err, wire.ErrInterrupted):
		case errors.Is(err, io.EOF):
			return 0, 0, io.EOF
		default:
			return 0, 0, &frontError{err}
		}
	}
}

// idle marks the session as one that may be closed when the server drains. It
// comes after an interruption too, whose reason it finds.
func (s *session) idle() error {
	draining := s.srv.draining.Load()
	hasCome := draining && s.commandHasCome()
	switch {
	case s.loseUnseen():
	case s.Ends.BackEnded.Load():
		return s.passServerError()
	case s.Lost && s.killed.Load():
		return io.EOF
	}
	if s.router != nil && s.router.lostOwn() {
		return errOwnLost
	}
	if s.inTransaction() {
		return nil
	}
	s.busy.Store(false) // from here on a drain that begins interrupts it
	switch {
	case !draining && s.srv.draining.Load(): // it has begun meanwhile
		return s.idle()
	case draining && !hasCome && s.mayEnd():
		return s.sayShutdown()
	}
	return nil
}

// loseUnseen gives up a connection that the server has closed while it was asked nothing, if another one does as well.
func (s *session) loseUnseen() bool {
	if !s.Ends.BackEnded.Load() || !s.nothingToLose(false) {
		return false
	}
	s.Lose()
	s.lostUnseen = true
	return true
}

func (s *session) inTransaction() bool {
	if s.router != nil {
		return s.router.inTransaction()
	}
	return s.Answer.Status&mysql.SERVER_STATUS_IN_TRANS != 0
}

// report answers the command under way with err, and gives the error that ends
// the session, if it has to end.
func (s *session) report(err error) error {
	var front *frontError
	var lost *backend.LostError
	var server *wire.ServerError
	var order *wire.OrderError
	switch {
	case errors.Is(err, io.EOF) && !errors.As(err, &lost), errors.As(err, &front), s.out.silent:
		s.noteError(errLost)
		return err
	case errors.As(err, &order) && !errors.As(err, &lost):
		s.noteError(mysql.ER_NET_PACKETS_OUT_OF_ORDER)
		return errors.Join(err, s.replyOutOfOrder(order.Want))
	case errors.Is(err, backend.ErrAnswerBegun), errors.Is(err, errLoginFailed):
		s.noteError(errLost)
		return err
	case errors.Is(err, wire.ErrTooLarge):
		s.noteError(mysql.ER_NET_PACKET_TOO_LARGE)
		return errors.Join(err, s.reply(wire.AppendError(nil, tooLarge())))
	case errors.As(err, &server):
		s.noteError(server.Code())
		if s.router != nil && s.router.last == nil {
			s.router.failed(server.Code(), server.Text())
		}
		return s.reply(server.Packet)
	case errors.As(err, &lost) && s.pool() == nil:
		s.noteError(errLost)
		return err // the client sees its connection end, as it would without seqgate
	}
	told := clientError(err)
	s.noteError(told.Code)
	if s.router != nil {
		s.router.failed(told.Code, told.Message)
	}
	if replyErr := s.reply(wire.AppendError(nil, told)); replyErr != nil {
		return replyErr
	}
	switch {
	case !errors.As(err, &lost) && s.router != nil:
		return nil
	case !errors.As(err, &lost):
		s.failedBy = told
		return nil
	case s.router != nil:
		return s.router.recover(err)
	case errors.Is(err, errCommandCut), errors.Is(err, backend.ErrMalformedAnswer), errors.Is(err, errLastIDLost), !s.nothingToLose(true):
		return err
	}
	s.loseLastID(s.serverConn)
	s.Lose()
	return nil
}

// close ends the client's connection, and the use of the backend's.
func (s *session) close() error {
	err := errors.Join(s.endConns(), s.unwatch(), s.front.Close())
	err = errors.Join(err, s.GiveBack())
	s.front.Release()
	return err
}

// noteCursor follows which prepared statements have a cursor whose rows the client may
// still fetch: they would end with the session.
func (s *session) noteCursor() {
	switch s.lastCommand {
	case mysql.COM_STMT_EXECUTE:
		if s.answered(mysql.SERVER_STATUS_CURSOR_EXISTS) {
			if s.cursors == nil {
				s.cursors = make(map[uint32]struct{})
			}
			s.cursors[s.lastPrepared] = struct{}{}
			return
		}
		delete(s.cursors, s.lastPrepared)
	case mysql.COM_STMT_FETCH:
		if s.answered(mysql.SERVER_STATUS_LAST_ROW_SEND) {
			delete(s.cursors, s.lastPrepared)
		}
	case mysql.COM_STMT_CLOSE, mysql.COM_STMT_RESET:
		delete(s.cursors, s.lastPrepared)
	case comResetConnection, mysql.COM_CHANGE_USER:
		s.cursors = nil
	}
}

// answered reports whether the server's latest answer has this flag of its status. Of a
// client in front of shards it is that of any of them: then a cursor may count for too long.
func (s *session) answered(flag uint16) bool {
	for _, conn := range s.allConns() {
		if conn.Answer.Status&flag != 0 {
			return true
		}
	}
	return false
}

// endConns is dropConns of a client's session.
func (s *session) endConns() error {
	if s.router == nil {
		return nil
	}
	return s.router.dropConns()
}
