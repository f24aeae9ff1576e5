package proxy

import (
	"errors"

	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/seqgate/seqgate/proxy/wire"
)

// Commands that go-mysql does not name.
const (
	comResetConnection = 0x1f
	comClone           = 0x20
	comGroupReplStream = 0x21
)

// cutSilent reports whether a command that has no answer is too short to be one.
func cutSilent(code byte, length int) bool {
	const closeLength, longDataLength = 5, 7
	return code == mysql.COM_STMT_CLOSE && length < closeLength || code == mysql.COM_STMT_SEND_LONG_DATA && length < longDataLength
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
