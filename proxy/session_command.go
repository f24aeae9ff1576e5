package proxy

import (
	"errors"
	"io"

	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/handshake"
	"github.com/seqgate/seqgate/proxy/wire"
)

// command handles the command at the front of the client's bytes. length is
// that of its first packet.
func (s *session) command(code byte, length int) error {
	s.noteCommand(code)
	s.Used = s.Used || code != mysql.COM_PING && code != mysql.COM_QUIT
	if cutSilent(code, length) {
		return s.refuseSilent()
	}
	if code != mysql.COM_QUERY && code != mysql.COM_STMT_CLOSE {
		s.left, s.failedBy = nil, nil
	}
	s.Intervened = false
	if s.router != nil {
		return s.router.command(code, length)
	}
	if err := s.awaitServer(code, length); err != nil {
		return err
	}
	switch code {
	case mysql.COM_QUIT:
		s.Boundary = true
		return io.EOF
	case mysql.COM_QUERY:
		return s.query(length)
	case mysql.COM_STMT_PREPARE:
		return s.prepare()
	case mysql.COM_STMT_EXECUTE, comStmtBulkExecute:
		s.sentAhead = false
		return s.execute()
	case mysql.COM_STMT_SEND_LONG_DATA:
		s.sentAhead = true
		return s.sendLongData()
	case mysql.COM_STMT_CLOSE:
		return s.closeStmt()
	case mysql.COM_STMT_RESET:
		return s.resetStmt()
	case mysql.COM_STMT_FETCH:
		return s.pass(wire.ShapeRows)
	case mysql.COM_INIT_DB:
		return s.initDB()
	case mysql.COM_FIELD_LIST:
		return s.pass(wire.ShapeFieldList)
	case mysql.COM_PROCESS_INFO:
		return s.pass(wire.ShapeResults)
	case mysql.COM_SET_OPTION:
		return s.setOption()
	case comResetConnection:
		return s.resetConnection()
	case mysql.COM_PROCESS_KILL:
		return s.processKill()
	case mysql.COM_CHANGE_USER:
		return s.changeUser()
	case mysql.COM_PING, mysql.COM_STATISTICS, mysql.COM_DEBUG:
		return s.pass(wire.ShapeSingle)
	case mysql.COM_BINLOG_DUMP, mysql.COM_BINLOG_DUMP_GTID:
		s.Unpoolable.Store(true)
		return s.stream()
	case comClone, comGroupReplStream:
		return s.leavesProtocol()
	case mysql.COM_SHUTDOWN:
		return s.refuseShutdown()
	default:
		s.Unpoolable.Store(true)
		return s.pass(wire.ShapeSingle)
	}
}

// query handles a COM_QUERY whose first packet has the given length.
func (s *session) query(length int) error {
	if err := s.front.Need(wire.HeaderSize + min(length, sniffLength)); err != nil {
		return &frontError{err}
	}
	unread := s.front.Unread()
	if wire.HeaderSize+length > max(len(unread), wire.SmallBuffer) && !s.Has(mysql.CLIENT_MULTI_STATEMENTS) && !s.lastIDLost {
		begin := s.TextBegin(unread[wire.HeaderSize:])
		if begin > 0 && passesUnread(unread[wire.HeaderSize+begin:]) && s.updatesUnread(unread[wire.HeaderSize+begin:]) {
			s.noteText(unread[wire.HeaderSize+begin:])
			return s.passLong(begin)
		}
	}
	payload, size, err := s.frontPacket()
	if err != nil {
		return err
	}
	begin := s.TextBegin(payload)
	if begin == 0 {
		s.front.Skip(size)
		return mysql.NewError(mysql.ER_MALFORMED_PACKET, "Malformed communication packet.")
	}
	sql := payload[begin:]
	if err := s.refuseLostID(sql); err != nil {
		s.front.Skip(size)
		return err
	}
	s.noteText(sql)
	if s.Has(mysql.CLIENT_MULTI_STATEMENTS) && !parser.Single(sql) {
		return s.queryParts(payload, begin, size)
	}
	return s.queryOne(payload, begin, size)
}

// prepare handles a COM_STMT_PREPARE.
func (s *session) prepare() error {
	payload, size, err := s.frontPacket()
	if err != nil {
		return err
	}
	s.lastStmt = 0
	if err := s.refuseLostID(payload[1:]); err != nil {
		s.front.Skip(size)
		return err
	}
	s.noteText(payload[1:])
	_, err = s.preparePacket(payload, size)
	return err
}

// resetConnection is COM_RESET_CONNECTION: the session begins anew.
func (s *session) resetConnection() error {
	if err := s.pass(wire.ShapeSingle); err != nil || s.Answer.Failed {
		return err
	}
	s.beginAnew(backend.State{Database: s.State.Database, DatabaseKnown: s.State.DatabaseKnown})
	s.statistics.kinds = nil
	return nil
}

// changeUser is COM_CHANGE_USER: another login on the same connection. As at the
// login, the server judges it, or with a list of users seqgate does.
func (s *session) changeUser() error {
	payload, size, err := s.shortPacket()
	if err != nil {
		return err
	}
	sequence := s.front.Unread()[wire.HeaderSize-1]
	command := append([]byte(nil), payload...)
	s.front.Skip(size)
	change, malformed := handshake.ParseChangeUser(command, s.Capabilities)
	keyspace, whole, database, err := s.srv.placeFor(change.Database)
	switch {
	case err != nil:
		s.out.sequence = sequence + 1
		return errors.Join(errLoginFailed, err, s.report(err))
	case s.pool() != nil: // another connection is taken, of whichever server
	case change.Database == "":
		keyspace, database = s.keyspace, "" // as with the server itself
	case malformed == nil && keyspace.Backend.Addr != s.keyspace.Backend.Addr:
		s.out.sequence = sequence + 1
		return elsewhere(s.keyspace.Name, change.Database)
	}
	switch {
	case s.pool() == nil:
		err = s.relayChange(handshake.Packet{Sequence: sequence, Payload: change.Rewrite(command, database)}, change, malformed)
	case malformed != nil:
		err = mysql.NewDefaultError(mysql.ER_UNKNOWN_COM_ERROR) // as MySQL says it
	default:
		err = s.verifyChange(change, sequence, keyspace, database)
	}
	var refused *handshake.Refused
	if errors.As(err, &refused) {
		// The client was told. MySQL ends the connection now, MariaDB goes on with the
		// former user in a session that has begun anew.
		s.beginAnew(backend.State{Database: s.State.Database, DatabaseKnown: s.State.DatabaseKnown})
		return nil
	}
	if err != nil {
		return errors.Join(errLoginFailed, err, s.report(err))
	}
	s.peer, s.provenPeer = peerOf(change.Attributes, keyspace)
	s.srv.mu.Lock() // who kills it looks at these
	s.keyspace, s.user = keyspace, change.User
	s.routeTo(whole, database)
	s.srv.mu.Unlock()
	s.beginAnew(backend.State{Database: database, DatabaseKnown: backend.IsPlainName(database), LastIDKnown: true})
	return nil
}

// routeTo has a session that has begun anew be routed from a keyspace on, or not at all
// when that is nil.
func (s *session) routeTo(whole *catalog.Keyspace, database string) {
	s.Ends.Mu.Lock() // who interrupts it looks at the router
	defer s.Ends.Mu.Unlock()
	if s.router = nil; whole != nil {
		s.router = newRouter(s, whole, database)
	}
}

// beginAnew forgets all that was known of the session, but for state.
func (s *session) beginAnew(state backend.State) {
	s.values = lastValues{}
	s.stmts, s.named, s.temporary, s.lastStmt = nil, nil, nil, 0
	s.prepared, s.hasSessionState, s.keeps, s.lastIDLost = false, false, false, false
	s.State = state
}
