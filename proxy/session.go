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

	front, back *wire
	conn        *backend.Conn // that back reads from and writes to
	id          uint32        // as the client knows its connection
	threadID    atomic.Uint32 // the backend's own id of it
	salt        []byte        // that proofs of a password begin with, for COM_CHANGE_USER
	// frontSecure and backSecure say on which of both connections a password may be
	// sent as it is.
	frontSecure, backSecure bool
	login                   backend.Login           // at the backend, where it is seqgate's own
	account                 atomic.Pointer[Account] // of login, for other sessions; nil without a list of users
	capabilities            uint64                  // what both sides have; MariaDB's extended ones in the upper half
	mariaDB                 bool
	peer                    bool // the client is another seqgate

	answer   response // of the command under way
	tally    tally
	trace    *tracing // nil: nobody is told
	call     call     // of the server, for the statement under way
	out      sender
	state    sessionState
	values   lastValues
	left     *left          // what the client's latest statement has left, if seqgate has asked something since
	failedBy *mysql.MyError // the error that seqgate has answered it with
	stmts    map[uint32]*statement
	lastStmt uint32                // the statement that the client prepared last, 0 when that failed
	prepared bool                  // there was one that did not
	localID  uint32                // of the latest statement that seqgate answers by itself
	named    map[string]*namedStmt // those of SQL's PREPARE, by name

	insert parser.InsertStmt // reused from statement to statement
	idsAt  []int             // where in scratch the ids of a statement are, or among its parameters
	slots  []parser.Slot     // of a text, what its rows say of the id; empty when they leave it out

	unfilled  *catalogEntry   // the table of an INSERT that passes without ids, where its answer is to have no insert id; nil: nothing is to be checked
	temporary map[string]bool // tables by schema.name that no temporary one hides, asked when the session may have such; nil: it has none
	scratch   []byte

	// boundary says that the backend has got whole commands only, so that another
	// may be sent.
	boundary bool
	// sent says that nothing is left to be sent for the command under way.
	sent       bool
	halfClosed bool // the backend was told that no more commands come

	lost       bool        // the backend connection has ended, and another is due
	lostUnseen bool        // ... while the client waited for nothing
	knewLastID bool        // LAST_INSERT_ID() was known before the statement under way
	lastIDLost bool        // it was not, and has gone with a connection; see refuseLostID
	keeps      bool        // a SELECT may have set a variable of the user's or taken a lock
	settled    bool        // a statement may have made settings, locks or tables of the session's own
	used       bool        // some command other than COM_PING was sent
	unpoolable atomic.Bool // ... and one of those that no reset undoes

	ends ends

	leave func() // gives the user's place back

	router  *router // of a client in front of sharded keyspaces; nil for others
	legOf   *router // of a connection that the router has opened; nil for a client's own session
	begun   bool    // of a leg: the router's transaction has begun on it
	xid     string  // of a leg: its part of an XA transaction, as SQL has it; empty for none
	applied int     // of a leg: how many changes of the router's settings it has
	told    uint32  // of a leg: the id that the client is told of the statement being prepared; 0 for none
	locked  bool    // of a leg: it may hold a lock of GET_LOCK()
	// preceded says that a leg got what is of the next transaction alone.
	preceded bool

	loggedIn     time.Time           // when the client had logged in
	lastCommand  byte                // that the client sent; 0 for none yet
	lastPrepared uint32              // the prepared statement that it is about; 0 for none
	looked       bool                // it was a pool's look at the connection; noted while the server drains
	cursors      map[uint32]struct{} // prepared statements with rows left to be fetched
	slow         slowLog

	quiet     atomic.Int32 // how many looks of a Shutdown have seen no command since the latest one
	corked    atomic.Bool  // what is written may wait for more
	holds     bool         // the latest answer was corked from its begin, and is
	busy      atomic.Bool  // a statement is under way, or a transaction is open
	idleSince atomic.Int64 // it waits for a command since this time of the server's clock; 0: it does not
}

// sender writes packets of seqgate's own making in answer to one command. In a
// text of several statements that seqgate takes apart, each result but the last
// says that more results follow, and sequence numbers run through.
type sender struct {
	sequence byte
	silent   bool   // the client awaits no packet: its command has no answer, or has it
	composed bool   // the command that is answered is seqgate's own
	parts    bool   // statements are sent one by one
	more     bool   // this is not the last of them
	part     []byte // the one under way
	rest     []byte // the text behind it
	shift    byte   // by how much the client is ahead of the backend's sequence numbers
}

func (s *session) has(capability uint32) bool { return s.capabilities&uint64(capability) != 0 }

func (s *session) deprecateEOF() bool { return s.has(mysql.CLIENT_DEPRECATE_EOF) }

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
		s.beginTally()
		err = s.nextCommand(length, sequence)
		s.noteCursor()
		if slow > 0 {
			s.endSlow(slow, err)
		}
		s.letGo()
		if err != nil {
			err = s.report(err)
		}
		s.endTally()
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
		return &orderError{want: 0}
	case length == 0:
		return s.pass(shapeSingle) // no command: the server says so
	}
	if err := s.front.need(headerSize + min(length, statementIDEnd)); err != nil {
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
		length, sequence, err := s.front.await()
		if !s.endWait() {
			return 0, 0, s.sayInactive()
		}
		switch {
		case err == nil && !s.ends.backEnded.Load():
			s.busy.Store(true)
			s.quiet.Store(0)
			s.beforeCommand()
			return length, sequence, nil
		case err == nil, errors.Is(err, errInterrupted):
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
		return s.passLastWords()
	case s.lost && s.ends.killed.Load():
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
	return s.answer.status&mysql.SERVER_STATUS_IN_TRANS != 0
}

// report answers the command under way with err, and gives the error that ends
// the session, if it has to end.
func (s *session) report(err error) error {
	var front *frontError
	var lost *backendError
	var server *serverError
	var order *orderError
	switch {
	case errors.Is(err, io.EOF) && !errors.As(err, &lost), errors.As(err, &front), s.out.silent:
		s.noteError(errLost)
		return err
	case errors.As(err, &order) && !errors.As(err, &lost):
		s.noteError(mysql.ER_NET_PACKETS_OUT_OF_ORDER)
		return errors.Join(err, s.replyOutOfOrder(order.want))
	case errors.Is(err, errAnswerBegun), errors.Is(err, errLoginFailed):
		s.noteError(errLost)
		return err
	case errors.Is(err, errPacketTooLarge):
		s.noteError(mysql.ER_NET_PACKET_TOO_LARGE)
		return errors.Join(err, s.reply(appendError(nil, tooLarge())))
	case errors.As(err, &server):
		s.noteError(server.code())
		if s.router != nil && s.router.last == nil {
			s.router.failed(server.code(), server.text())
		}
		return s.reply(server.packet)
	case errors.As(err, &lost) && s.pool() == nil:
		s.noteError(errLost)
		return err // the client sees its connection end, as it would without seqgate
	}
	told := clientError(err)
	s.noteError(told.Code)
	if s.router != nil {
		s.router.failed(told.Code, told.Message)
	}
	if replyErr := s.reply(appendError(nil, told)); replyErr != nil {
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
	s.loseLastID(s)
	s.lose()
	return nil
}

// errAnswerBegun ends a session whose answer was cut in the middle: no error
// packet can be put there without being taken for a row.
var errAnswerBegun = errors.New("the server went away in the middle of an answer")

// replyOutOfOrder says that the packet with this number was expected in the
// place of what the client sent, which both servers say under that number.
func (s *session) replyOutOfOrder(want byte) error {
	s.out.sequence = want
	return s.reply(appendError(nil, mysql.NewDefaultError(mysql.ER_NET_PACKETS_OUT_OF_ORDER)))
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
func (s *session) lastWords() bool {
	if len(s.back.unread()) > 0 {
		return true
	}
	s.back.readLimit = lastWordsLimit
	return s.back.fill() == nil
}

// send sends a command of seqgate's own making.
func (s *session) send(payload []byte) error {
	if len(payload) >= maxPayload {
		return s.sendLong(payload)
	}
	b, _ := appendPacket(nil, 0, payload)
	return s.writeBack(b)
}

// relay passes the backend's answer on as it comes.
func (s *session) relay(as shape) error {
	s.sent = true
	if s.besideTransaction() {
		return s.relayNumbered(as)
	}
	s.startAnswer(as)
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
		case s.answer.malformed:
			return s.answerCut(errMalformedAnswer)
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
	if s.call.end != nil {
		s.endAnswer()
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

// drop reads the backend's answer to a statement of seqgate's own and shows it
// to nobody. An error packet is a *serverError.
func (s *session) drop(as shape) error {
	before := s.answer
	s.startAnswer(as)
	err := s.dropRest()
	before.status = s.answer.status
	s.answer = before
	return err
}

// dropRest reads what is left of an answer and shows it to nobody.
func (s *session) dropRest() error {
	var failed *serverError
	for !s.answer.done() {
		payload, size, err := s.follow()
		if err != nil {
			return &backendError{err}
		}
		if s.answer.failed {
			failed = &serverError{append([]byte(nil), payload...)}
		}
		s.back.skip(size)
	}
	if failed != nil {
		return failed
	}
	return nil
}

// follow reads the answer's next packet whole, which the caller skips.
func (s *session) follow() (payload []byte, size int, err error) {
	payload, size, _, err = s.back.packet(maxStatement)
	if err != nil {
		return nil, 0, err
	}
	s.answer.scan(s.back.unread()[:size])
	if s.answer.malformed {
		return nil, 0, errMalformedAnswer
	}
	if s.call.end != nil && s.answer.done() {
		s.endAnswer()
	}
	return payload, size, nil
}

// followSingle reads an answer of one packet. Reports of progress that come before
// it are passed on.
func (s *session) followSingle() (payload []byte, size int, err error) {
	s.startAnswer(shapeSingle)
	for {
		payload, size, err = s.follow()
		if err != nil {
			return nil, 0, &backendError{err}
		}
		if s.answer.done() {
			return payload, size, nil
		}
		if err := s.reply(payload); err != nil {
			return nil, 0, err
		}
		s.back.skip(size)
	}
}

// close ends the client's connection, and the use of the backend's.
func (s *session) close() error {
	err := errors.Join(s.endLegs(), s.disregard(), s.front.Close())
	err = errors.Join(err, s.giveBack())
	s.front.release()
	return err
}
