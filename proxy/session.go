package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/backend"
)

// session is one client, with the backend connection that is its own for as
// long as it lives: so transactions, variables, locks, temporary tables and
// prepared statements behave as without a proxy. One goroutine runs it.
type session struct {
	srv      *Server
	ctx      context.Context // ends when the server is closed for good
	log      *slog.Logger
	keyspace *Keyspace
	user     string

	front, back  *wire
	id           uint32 // as the client knows its connection
	threadID     uint32 // the backend's own id of it
	capabilities uint32 // what both sides have
	mariaDB      bool
	peer         bool // the client is another seqgate

	answer   response // of the command under way
	out      sender
	state    sessionState
	stmts    map[uint32]*statement
	lastStmt uint32 // the statement that the client prepared last
	localID  uint32 // of the latest statement that seqgate answers by itself

	insert parser.InsertStmt // reused from statement to statement
	slots  []parser.Slot

	temporary map[string]bool // tables by schema.name, asked when the session may have temporary ones; nil: it has none
	scratch   []byte

	// boundary says that the backend has got whole commands only, so that another
	// may be sent.
	boundary bool

	busy atomic.Bool // a statement is under way, or a transaction is open
}

// sender writes packets of seqgate's own making in answer to one command. In a
// text of several statements that seqgate takes apart, each result but the last
// says that more results follow, and sequence numbers run through.
type sender struct {
	sequence byte
	parts    bool // statements are sent one by one
	more     bool // this is not the last of them
}

func (s *session) has(capability uint32) bool { return s.capabilities&capability != 0 }

func (s *session) deprecateEOF() bool { return s.has(mysql.CLIENT_DEPRECATE_EOF) }

// maxScratch is the largest buffer kept from one statement to the next.
const maxScratch = 64 << 10

// begin sets what the server sets at the login of an interactive client; the
// library cannot ask for it in the handshake.
func (s *session) begin() error {
	if !s.has(mysql.CLIENT_INTERACTIVE) {
		return nil
	}
	if err := s.send(append([]byte{mysql.COM_QUERY}, s.noAttributes()+"SET SESSION wait_timeout = @@interactive_timeout"...)); err != nil {
		return err
	}
	var refused *serverError
	if err := s.drop(shapeResults); err != nil && !errors.As(err, &refused) {
		return err
	}
	return nil
}

// run serves commands until the client or the server goes away.
func (s *session) run() error {
	for {
		if err := s.idle(); err != nil {
			return err
		}
		length, _, err := s.front.header()
		if err != nil {
			return s.waitEnded(err)
		}
		s.busy.Store(true)
		s.boundary = false
		if length == 0 {
			return s.protocolError("a command packet without a command")
		}
		if err := s.front.need(headerSize + 1); err != nil {
			return &frontError{err}
		}
		s.out = sender{sequence: 1}
		err = s.command(s.front.unread()[headerSize], length)
		if cap(s.scratch) > maxScratch {
			s.scratch = nil
		}
		if err != nil {
			err = s.report(err)
		}
		if err != nil {
			return err
		}
		s.boundary = true
	}
}

// idle marks the session as one that may be closed when the server drains.
func (s *session) idle() error {
	if s.inTransaction() {
		return nil
	}
	s.busy.Store(false)
	if s.srv.draining.Load() {
		return s.sayShutdown()
	}
	return nil
}

func (s *session) inTransaction() bool { return s.answer.status&mysql.SERVER_STATUS_IN_TRANS != 0 }

// waitEnded tells why waiting for the client's next command ended.
func (s *session) waitEnded(err error) error {
	if s.srv.draining.Load() {
		return s.sayShutdown()
	}
	if errors.Is(err, io.EOF) {
		return io.EOF
	}
	return &frontError{err}
}

// sayShutdown tells an idle client why its connection ends.
func (s *session) sayShutdown() error {
	s.out = sender{}
	_ = s.reply(appendError(nil, errShutdown())) // the client may be gone already
	return io.EOF
}

// report answers the command under way with err, and gives the error that ends
// the session, if it has to end.
func (s *session) report(err error) error {
	var front *frontError
	var lost *backendError
	var server *serverError
	switch {
	case errors.Is(err, io.EOF) && !errors.As(err, &lost), errors.As(err, &front):
		return err
	case errors.Is(err, errAnswerBegun):
		return err
	case errors.Is(err, errPacketTooLarge):
		tooLarge := mysql.NewError(mysql.ER_NET_PACKET_TOO_LARGE, "Got a packet bigger than 'max_allowed_packet' bytes")
		return errors.Join(err, s.reply(appendError(nil, tooLarge)))
	case errors.As(err, &server):
		return s.reply(server.packet)
	}
	if replyErr := s.reply(appendError(nil, clientError(err))); replyErr != nil {
		return replyErr
	}
	if errors.As(err, &lost) {
		return err
	}
	return nil
}

// errAnswerBegun ends a session whose answer was cut in the middle: no error
// packet can be put there without being taken for a row.
var errAnswerBegun = errors.New("the server went away in the middle of an answer")

func (s *session) protocolError(text string) error {
	s.out = sender{sequence: 1}
	if err := s.reply(appendError(nil, mysql.NewError(mysql.ER_MALFORMED_PACKET, text))); err != nil {
		return err
	}
	return &frontError{errors.New(text)}
}

// reply sends one packet of seqgate's own making to the client.
func (s *session) reply(payload []byte) error {
	b, next := appendPacket(nil, s.out.sequence, payload)
	s.out.sequence = next
	return s.writeFront(b)
}

// packetBuffer gives the session's own buffer, with room for a header.
func (s *session) packetBuffer() []byte { return append(s.scratch[:0], 0, 0, 0, 0) }

// replyPacket sends a packet that was built in packetBuffer.
func (s *session) replyPacket(b []byte) error {
	if len(b)-headerSize >= maxPayload {
		return s.reply(b[headerSize:])
	}
	putHeader(b, s.out.sequence)
	s.out.sequence++
	return s.writeFront(b)
}

func putHeader(b []byte, sequence byte) {
	n := len(b) - headerSize
	b[0], b[1], b[2], b[3] = byte(n), byte(n>>8), byte(n>>16), sequence
}

// sendPacket sends a command that was built in packetBuffer.
func (s *session) sendPacket(b []byte) error {
	if len(b)-headerSize >= maxPayload {
		return s.send(b[headerSize:])
	}
	putHeader(b, 0)
	return s.writeBack(b)
}

func (s *session) writeFront(b []byte) error {
	if _, err := s.front.Write(b); err != nil {
		return &frontError{err}
	}
	return nil
}

// writeBack sends bytes to the backend. A server that stopped listening may
// have said why before: that is the answer then.
func (s *session) writeBack(b []byte) error {
	if _, err := s.back.Write(b); err != nil {
		if s.lastWords() {
			return nil
		}
		return &backendError{err}
	}
	return nil
}

// lastWords reports whether the backend has sent something to be read.
func (s *session) lastWords() bool {
	if len(s.back.unread()) > 0 {
		return true
	}
	if err := s.back.SetReadDeadline(time.Now().Add(time.Second)); err != nil {
		return false
	}
	return s.back.fill() == nil
}

// forward sends the command at the front of the client's bytes to the backend
// as it came, of any length, and takes it.
func (s *session) forward() error {
	for {
		length, _, err := s.front.header()
		if err != nil {
			return &frontError{err}
		}
		if err := s.forwardPacket(headerSize + length); err != nil {
			return err
		}
		if length < maxPayload {
			return nil
		}
	}
}

// send sends a command of seqgate's own making.
func (s *session) send(payload []byte) error {
	b, _ := appendPacket(nil, 0, payload)
	return s.writeBack(b)
}

// relay passes the backend's answer on as it comes.
func (s *session) relay(as shape) error {
	s.answer.start(as, s.deprecateEOF())
	return s.relayRest()
}

// relayRest passes on what is left of an answer.
func (s *session) relayRest() error {
	passed := 0
	for !s.answer.done() {
		n := s.answer.scan(s.back.unread())
		if n > 0 {
			chunk := s.back.unread()[:n]
			passed += n
			s.back.bulk = passed > smallBuffer/2 // as this answer, so the next
			if err := s.writeFront(chunk); err != nil {
				return err
			}
			s.back.skip(n)
			s.out.sequence = s.answer.sequence + 1
		}
		switch {
		case s.answer.infile && s.answer.skip == 0:
			s.answer.infile = false
			if err := s.forwardFile(); err != nil {
				return err
			}
		case !s.answer.done():
			if err := s.back.fill(); err != nil {
				return s.answerCut(err)
			}
		}
	}
	return nil
}

// answerCut tells a failure before the first packet of an answer from one in
// its middle.
func (s *session) answerCut(err error) error {
	if s.answer.phase == phaseFirst || s.answer.phase == phaseSingle || s.answer.phase == phasePrepare {
		return &backendError{err}
	}
	return &backendError{fmt.Errorf("%w: %w", errAnswerBegun, err)}
}

// forwardFile passes the client's local file to the backend: packets up to an
// empty one.
func (s *session) forwardFile() error {
	for {
		length, _, err := s.front.header()
		if err != nil {
			return &frontError{err}
		}
		if err := s.forwardPacket(headerSize + length); err != nil {
			return err
		}
		if length == 0 {
			return nil
		}
	}
}

func (s *session) forwardPacket(left int) error {
	if err := s.front.need(headerSize); err != nil {
		return &frontError{err}
	}
	s.out.sequence = s.front.unread()[headerSize-1] + 1
	for left > 0 {
		if len(s.front.unread()) == 0 {
			if err := s.front.fill(); err != nil {
				return &frontError{err}
			}
		}
		n := min(left, len(s.front.unread()))
		if err := s.writeBack(s.front.unread()[:n]); err != nil {
			return err
		}
		s.front.skip(n)
		left -= n
	}
	return nil
}

// drop reads the backend's answer to a statement of seqgate's own and shows it
// to nobody. An error packet is a *serverError.
func (s *session) drop(as shape) error {
	before := s.answer
	s.answer.start(as, s.deprecateEOF())
	err := s.dropRest()
	before.status = s.answer.status
	s.answer = before
	return err
}

// dropRest reads what is left of an answer and shows it to nobody.
func (s *session) dropRest() error {
	var failed *serverError
	for !s.answer.done() {
		payload, size, _, err := s.back.packet(maxStatement)
		if err != nil {
			return &backendError{err}
		}
		if first(payload) == mysql.ERR_HEADER && s.answer.phase != phaseColumns && s.answer.phase != phaseDefinitions {
			failed = &serverError{append([]byte(nil), payload...)}
		}
		s.answer.scan(s.back.unread()[:size])
		s.back.skip(size)
	}
	if failed != nil {
		return failed
	}
	return nil
}

// close ends both connections.
func (s *session) close() error {
	err := s.front.Close()
	if s.boundary {
		err = errors.Join(err, (&backend.Conn{Conn: s.back.Conn}).Quit())
	} else {
		// Bytes of a QUIT could complete a command that was cut.
		err = errors.Join(err, s.back.Close())
	}
	s.back.release()
	s.front.release()
	return err
}
