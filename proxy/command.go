package proxy

import (
	"encoding/binary"
	"io"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// Commands that go-mysql does not name.
const (
	comResetConnection = 0x1f
	comClone           = 0x20
	comGroupReplStream = 0x21
)

// command deals with the command at the front of the client's bytes. length is
// that of its first packet.
func (s *session) command(code byte, length int) error {
	switch code {
	case mysql.COM_QUIT:
		s.boundary = true
		return io.EOF
	case mysql.COM_QUERY:
		return s.query(length)
	case mysql.COM_STMT_PREPARE:
		return s.prepare()
	case mysql.COM_STMT_EXECUTE:
		return s.execute()
	case mysql.COM_STMT_SEND_LONG_DATA:
		return s.sendLongData()
	case mysql.COM_STMT_CLOSE:
		return s.closeStmt()
	case mysql.COM_STMT_RESET:
		return s.resetStmt()
	case mysql.COM_STMT_FETCH:
		return s.pass(shapeRows)
	case mysql.COM_INIT_DB:
		return s.initDB()
	case mysql.COM_FIELD_LIST:
		return s.pass(shapeFieldList)
	case mysql.COM_PROCESS_INFO:
		return s.pass(shapeResults)
	case mysql.COM_SET_OPTION:
		return s.setOption()
	case comResetConnection:
		return s.resetConnection()
	case mysql.COM_PROCESS_KILL:
		return s.processKill()
	case mysql.COM_CHANGE_USER, mysql.COM_SHUTDOWN, mysql.COM_BINLOG_DUMP, mysql.COM_BINLOG_DUMP_GTID,
		mysql.COM_TABLE_DUMP, mysql.COM_REGISTER_SLAVE, comClone, comGroupReplStream:
		return s.refuse(code)
	default:
		return s.pass(shapeSingle)
	}
}

// pass relays a command and its answer unseen.
func (s *session) pass(as shape) error {
	if err := s.forward(); err != nil {
		return err
	}
	return s.relay(as)
}

// setOption is COM_SET_OPTION, which turns multiple statements in one text on
// and off.
func (s *session) setOption() error {
	body, err := s.takeCommand()
	if err != nil {
		return err
	}
	if err := s.send(append([]byte{mysql.COM_SET_OPTION}, body...)); err != nil {
		return err
	}
	if err := s.relay(shapeSingle); err != nil || s.answer.failed || len(body) < 2 {
		return err
	}
	const on, off = 0, 1
	switch binary.LittleEndian.Uint16(body) {
	case on:
		s.capabilities |= mysql.CLIENT_MULTI_STATEMENTS
	case off:
		s.capabilities &^= mysql.CLIENT_MULTI_STATEMENTS
	}
	return nil
}

// resetConnection is COM_RESET_CONNECTION: the session begins anew.
func (s *session) resetConnection() error {
	if err := s.pass(shapeSingle); err != nil || s.answer.failed {
		return err
	}
	s.stmts, s.temporary = nil, nil
	s.state = sessionState{}
	return nil
}

// refuse answers a command that cannot be relayed: its answer never ends, or
// its authentication is bound to the other connection.
func (s *session) refuse(code byte) error {
	if _, err := s.takeCommand(); err != nil {
		return err
	}
	return mysql.NewError(mysql.ER_UNKNOWN_COM_ERROR, "seqgate does not relay the command "+commandName(code)+
		"; connect to the server itself for it")
}

func commandName(code byte) string {
	switch code {
	case mysql.COM_CHANGE_USER:
		return "COM_CHANGE_USER"
	case mysql.COM_SHUTDOWN:
		return "COM_SHUTDOWN"
	case comClone, comGroupReplStream:
		return "of a server's plugin"
	}
	return "of replication"
}

// maxStatement bounds a statement that seqgate has to look into: what the
// protocol itself allows (max_allowed_packet's maximum). Memory grows with
// what has come, not with what was announced.
const maxStatement = 1 << 30

// takeCommand reads the command whole and takes it; its payload, the command
// byte left out, is valid until the next read from the client.
func (s *session) takeCommand() ([]byte, error) {
	payload, size, err := s.frontPacket()
	if err != nil {
		return nil, err
	}
	body := append([]byte(nil), payload[1:]...)
	s.front.skip(size)
	return body, nil
}

// frontPacket reads a command whole, without taking it. What answers it goes on
// with its sequence number.
func (s *session) frontPacket() (payload []byte, size int, err error) {
	payload, size, sequence, err := s.front.packet(maxStatement)
	if err != nil {
		return nil, 0, frontFailure(err)
	}
	s.out.sequence = sequence + 1
	return payload, size, nil
}

func frontFailure(err error) error {
	if err == errPacketTooLarge {
		return err
	}
	return &frontError{err}
}

// initDB changes the default database, by the name of a keyspace or of any
// database of this session's server.
func (s *session) initDB() error {
	name, err := s.takeCommand()
	if err != nil {
		return err
	}
	database, err := s.srv.databaseFor(s.keyspace, string(name))
	if err != nil {
		return err
	}
	s.state.environmentKnown, s.state.databaseKnown = false, false
	if err := s.send(append([]byte{mysql.COM_INIT_DB}, database...)); err != nil {
		return err
	}
	return s.relay(shapeSingle)
}
