package proxy

import (
	"errors"
	"io"

	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/wire"
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
	s.noteCommand(code)
	s.Used = s.Used || code != mysql.COM_PING && code != mysql.COM_QUIT
	if cutSilent(code, length) {
		return s.refuseSilent()
	}
	if code != mysql.COM_QUERY && code != mysql.COM_STMT_CLOSE {
		s.left, s.failedBy = nil, nil
	}
	if s.router != nil {
		return s.router.command(code, length)
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
		return s.execute()
	case mysql.COM_STMT_SEND_LONG_DATA:
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

// cutSilent reports whether a command that has no answer is too short to be one.
func cutSilent(code byte, length int) bool {
	const closeLength, longDataLength = 5, 7
	return code == mysql.COM_STMT_CLOSE && length < closeLength || code == mysql.COM_STMT_SEND_LONG_DATA && length < longDataLength
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

// refuseShutdown answers COM_SHUTDOWN: that is for the server's own operators.
func (c *clientConn) refuseShutdown() error {
	if _, err := c.takeCommand(); err != nil {
		return err
	}
	return mysql.NewError(mysql.ER_UNKNOWN_COM_ERROR, "seqgate does not relay the command COM_SHUTDOWN; connect to the server itself for it")
}

// shortCommand bounds the commands that are no statements, by what a login may
// take: COM_CHANGE_USER is the longest of them.
const shortCommand = maxLoginPacket

// takeCommand reads a short command whole and takes it; its payload, the command
// byte left out, is valid until the next read from the client.
func (c *clientConn) takeCommand() ([]byte, error) {
	payload, size, err := c.shortPacket()
	if err != nil {
		return nil, err
	}
	body := append([]byte(nil), payload[1:]...)
	c.front.Skip(size)
	return body, nil
}

// shortPacket reads a short command whole, without taking it.
func (c *clientConn) shortPacket() (payload []byte, size int, err error) {
	return c.packetUpTo(shortCommand)
}

// packetUpTo reads a command of at most limit bytes. What answers it goes on with
// its sequence number.
func (c *clientConn) packetUpTo(limit int) (payload []byte, size int, err error) {
	payload, size, sequence, err := c.front.Packet(limit)
	if err != nil {
		return nil, 0, frontFailure(err)
	}
	c.out.sequence = sequence + 1
	return payload, size, nil
}

func frontFailure(err error) error {
	var order *wire.OrderError
	if err == wire.ErrTooLarge || errors.As(err, &order) {
		return err
	}
	return &frontError{err}
}

// initDB changes the default database, by the name of a keyspace or of any
// database of this session's server.
func (x *commandRunner) initDB() error {
	name, err := x.takeCommand()
	if err != nil {
		return err
	}
	database, err := x.srv.databaseFor(x.keyspace, string(name))
	if err != nil {
		return err
	}
	if err := x.Send(append([]byte{mysql.COM_INIT_DB}, database...)); err != nil {
		return err
	}
	if err := x.relay(wire.ShapeSingle); err != nil || x.Answer.Failed {
		return err
	}
	x.SetDatabase(database)
	return nil
}
