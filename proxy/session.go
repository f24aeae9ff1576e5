package proxy

import (
	"errors"
	"fmt"
	"io"

	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/seqgate/seqgate/proxy/wire"
)

// session is one client, with the connection to a server that is its own for as
// long as it lives: so transactions, variables, locks, temporary tables and
// prepared statements behave as without a proxy. One goroutine runs it.
type session struct {
	*executor

	knewLastID bool // LAST_INSERT_ID() was known before the statement under way
	lastIDLost bool // it was not, and has gone with a connection; see refuseLostID

	router *router // of a client in front of sharded keyspaces; nil for others
}

func (s *serverConn) has(capability uint32) bool { return s.capabilities&uint64(capability) != 0 }

func (s *serverConn) deprecateEOF() bool { return s.has(mysql.CLIENT_DEPRECATE_EOF) }

// newSession has a client work on a server. The caller fills in where both belong.
func newSession(client *clientConn, server *serverConn) *session {
	s := &session{executor: newExecutor(client, server)}
	server.owner = s
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
		s.boundary, s.sent = false, false
		s.out = sender{sequence: 1}
		slow := s.srv.settings().SlowStatement
		if slow > 0 {
			s.beginSlow()
		}
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
		if s.trace != nil {
			s.endStatement(err)
		}
		if err != nil {
			return err
		}
		s.boundary = !s.halfClosed
	}
}

// nextCommand deals with the command at the front of the client's bytes, whose
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
		case err == nil && !s.ends.backEnded.Load():
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
	case s.ends.backEnded.Load() && s.nothingToLose(false):
		s.lose()
		s.lostUnseen = true
	case s.ends.backEnded.Load():
		return s.passServerError()
	case s.lost && s.killed.Load():
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

func (s *session) inTransaction() bool {
	if s.router != nil {
		return s.router.inTransaction()
	}
	return s.answer.Status&mysql.SERVER_STATUS_IN_TRANS != 0
}

// report answers the command under way with err, and gives the error that ends
// the session, if it has to end.
func (s *session) report(err error) error {
	var front *frontError
	var lost *backendError
	var server *wire.ServerError
	var order *wire.OrderError
	switch {
	case errors.Is(err, io.EOF) && !errors.As(err, &lost), errors.As(err, &front), s.out.silent:
		s.noteError(errLost)
		return err
	case errors.As(err, &order) && !errors.As(err, &lost):
		s.noteError(mysql.ER_NET_PACKETS_OUT_OF_ORDER)
		return errors.Join(err, s.replyOutOfOrder(order.Want))
	case errors.Is(err, errAnswerBegun), errors.Is(err, errLoginFailed):
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
	case errors.Is(err, errCommandCut), errors.Is(err, errMalformedAnswer), errors.Is(err, errLastIDLost), !s.nothingToLose(true):
		return err
	}
	s.loseLastID(s.serverConn)
	s.lose()
	return nil
}

// errAnswerBegun ends a session whose answer was cut in the middle: no error
// packet can be put there without being taken for a row.
var errAnswerBegun = errors.New("the server went away in the middle of an answer")

// replyOutOfOrder says that the packet with this number was expected in the
// place of what the client sent, which both servers say under that number.
func (c *clientConn) replyOutOfOrder(want byte) error {
	c.out.sequence = want
	return c.reply(wire.AppendError(nil, mysql.NewDefaultError(mysql.ER_NET_PACKETS_OUT_OF_ORDER)))
}

// reply sends one packet of seqgate's own making to the client.
func (c *clientConn) reply(payload []byte) error {
	b, next := wire.AppendPacket(nil, c.out.sequence, payload)
	c.out.sequence = next
	return c.writeFront(b)
}

// packetBuffer gives the buffer for a command to the server, with room for a header.
func (f *filler) packetBuffer() []byte { return append(f.scratch[:0], 0, 0, 0, 0) }

// replyBuffer gives the buffer for an answer to the client, with room for a header.
func (c *clientConn) replyBuffer() []byte { return append(c.packet[:0], 0, 0, 0, 0) }

// replyPacket sends a packet that was built in replyBuffer.
func (c *clientConn) replyPacket(b []byte) error {
	if len(b)-wire.HeaderSize >= wire.MaxPayload {
		return c.reply(b[wire.HeaderSize:])
	}
	putHeader(b, c.out.sequence)
	c.out.sequence++
	return c.writeFront(b)
}

func putHeader(b []byte, sequence byte) {
	n := len(b) - wire.HeaderSize
	b[0], b[1], b[2], b[3] = byte(n), byte(n>>8), byte(n>>16), sequence
}

// sendPacket sends a command that was built in packetBuffer.
func (c *serverConn) sendPacket(b []byte) error {
	if len(b)-wire.HeaderSize >= wire.MaxPayload {
		return c.send(b[wire.HeaderSize:])
	}
	putHeader(b, 0)
	return c.writeBack(b)
}

func (c *clientConn) writeFront(b []byte) error {
	if _, err := c.front.Write(b); err != nil {
		return &frontError{err}
	}
	return nil
}

// writeBack sends bytes to the backend. A server that stopped listening may
// have said why before: that is the answer then.
func (s *serverConn) writeBack(b []byte) error {
	if s.trace != nil {
		s.beginCall()
	}
	if s.lost {
		if err := s.connected(); err != nil {
			return err
		}
		if s.trace != nil {
			s.beginCall() // what was asked of the other connection was a call of its own
		}
	}
	if _, err := s.back.Write(b); err != nil {
		if s.lastWords() {
			return nil
		}
		return &backendError{err}
	}
	return nil
}

// lastWords reports whether the backend has sent something to be read.
func (s *serverConn) lastWords() bool {
	if len(s.back.Unread()) > 0 {
		return true
	}
	s.back.ReadLimit = wire.LastWordsLimit
	return s.back.Fill() == nil
}

// send sends a command of seqgate's own making.
func (c *serverConn) send(payload []byte) error {
	if len(payload) >= wire.MaxPayload {
		return c.sendLong(payload)
	}
	b, _ := wire.AppendPacket(nil, 0, payload)
	return c.writeBack(b)
}

// relay passes the backend's answer on as it comes.
func (x *executor) relay(as wire.Shape) error {
	x.sent = true
	if x.owner.inTransactionWithout(x.serverConn) {
		return x.relayNumbered(as)
	}
	x.startAnswer(as)
	return x.relayRest()
}

// relayRest passes on what is left of an answer.
func (x *executor) relayRest() error {
	passed := 0
	for !x.answer.Done() {
		n := x.answer.Scan(x.back.Unread())
		if n > 0 {
			chunk := x.back.Unread()[:n]
			passed += n
			x.back.Bulk = passed > wire.SmallBuffer/2 // as this answer, so the next
			if err := x.writeFront(chunk); err != nil {
				return err
			}
			x.back.Skip(n)
			x.out.sequence = x.answer.Sequence + 1
		}
		switch {
		case x.answer.Malformed:
			return x.answerCut(errMalformedAnswer)
		case x.answer.InFile && x.answer.Skip == 0:
			x.answer.InFile = false
			if err := x.forwardFile(); err != nil {
				return err
			}
		case !x.answer.Done():
			if err := x.back.Fill(); err != nil {
				return x.answerCut(err)
			}
		}
	}
	if x.call.end != nil {
		x.endAnswer()
	}
	return nil
}

// answerCut tells a failure before the first packet of an answer from one in
// its middle.
func (c *serverConn) answerCut(err error) error {
	if c.answer.Phase == wire.PhaseFirst || c.answer.Phase == wire.PhaseSingle || c.answer.Phase == wire.PhasePrepare {
		return &backendError{err}
	}
	return &backendError{fmt.Errorf("%w: %w", errAnswerBegun, err)}
}

// drop reads the backend's answer to a statement of seqgate's own and shows it
// to nobody. An error packet is a *serverError.
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

// followSingle reads an answer of one packet. Reports of progress that come before
// it are passed on.
func (f *filler) followSingle() (payload []byte, size int, err error) {
	f.startAnswer(wire.ShapeSingle)
	for {
		payload, size, err = f.follow()
		if err != nil {
			return nil, 0, &backendError{err}
		}
		if f.answer.Done() {
			return payload, size, nil
		}
		if err := f.owner.reply(payload); err != nil {
			return nil, 0, err
		}
		f.back.Skip(size)
	}
}

// close ends the client's connection, and the use of the backend's.
func (s *session) close() error {
	err := errors.Join(s.endConns(), s.unwatch(), s.front.Close())
	err = errors.Join(err, s.giveBack())
	s.front.Release()
	return err
}
