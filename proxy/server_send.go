package proxy

import (
	"encoding/binary"

	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/seqgate/seqgate/proxy/wire"
)

// sendPacket sends a command that was built in packetBuffer.
func (c *serverSocket) sendPacket(b []byte) error {
	if len(b)-wire.HeaderSize >= wire.MaxPayload {
		return c.send(b[wire.HeaderSize:])
	}
	putHeader(b, 0)
	return c.writeBack(b)
}

// writeBack sends bytes to the backend. A server that stopped listening may
// have said why before: that is the answer then.
func (c *serverSocket) writeBack(b []byte) error {
	if c.trace != nil {
		c.beginCall()
	}
	if c.lost {
		if err := c.connected(); err != nil {
			return err
		}
		if c.trace != nil {
			c.beginCall() // what was asked of the other connection was a call of its own
		}
	}
	if _, err := c.back.Write(b); err != nil {
		if c.lastWords() {
			return nil
		}
		return &backendError{err}
	}
	return nil
}

// lastWords reports whether the backend has sent something to be read.
func (c *serverSocket) lastWords() bool {
	if len(c.back.Unread()) > 0 {
		return true
	}
	c.back.ReadLimit = wire.LastWordsLimit
	return c.back.Fill() == nil
}

// send sends a command of seqgate's own making.
func (c *serverSocket) send(payload []byte) error {
	if len(payload) >= wire.MaxPayload {
		return c.sendLong(payload)
	}
	b, _ := wire.AppendPacket(nil, 0, payload)
	return c.writeBack(b)
}

// sendLong sends a command of these parts.
func (c *serverSocket) sendLong(parts ...[]byte) error {
	w := packetWriter{conn: c}
	for _, part := range parts {
		w.left += len(part)
	}
	for _, part := range parts {
		w.write(part)
	}
	return w.end()
}

// sendText sends a statement in the place of the client's.
func (c *serverSocket) sendText(text string) error {
	return c.send(append([]byte{mysql.COM_QUERY}, c.noAttributes()+text...))
}

func (c *serverSocket) sendClose(id uint32) error {
	return c.send(binary.LittleEndian.AppendUint32([]byte{mysql.COM_STMT_CLOSE}, id))
}

func (c *serverSocket) resetBackend(id uint32) error {
	if err := c.send(binary.LittleEndian.AppendUint32([]byte{mysql.COM_STMT_RESET}, id)); err != nil {
		return err
	}
	return c.drop(wire.ShapeSingle)
}

// prepareBackend prepares a text of seqgate's own.
func (c *serverSocket) prepareBackend(text []byte) (preparedOK, error) {
	if err := c.sendPrepare(text); err != nil {
		return preparedOK{}, err
	}
	return c.readPrepared()
}

func (c *serverSocket) sendPrepare(text []byte) error {
	return c.sendLong([]byte{mysql.COM_STMT_PREPARE}, text)
}

// noAttributes stands before the text of a COM_QUERY that has no query
// attributes, where the server expects some.
func (c *serverSocket) noAttributes() string {
	if c.has(mysql.CLIENT_QUERY_ATTRIBUTES) {
		return "\x00\x01"
	}
	return ""
}

// textBegin gives where the SQL text begins in the payload of a COM_QUERY: after
// the query attributes, where client and server have agreed on those ("COM_QUERY"
// page of the MySQL manual). It is 0 when they are malformed or cut.
func (c *serverSocket) textBegin(payload []byte) int {
	if !c.has(mysql.CLIENT_QUERY_ATTRIBUTES) {
		return 1
	}
	r := wire.ParamReader{Data: payload, At: 1}
	count := r.Number()
	if sets := r.Number(); sets != 1 {
		return 0
	}
	if count > 0 {
		r.ReadParams(count, true, nil, nil)
	}
	if r.Bad {
		return 0
	}
	return r.At
}

// ping makes sure that the server awaits a command.
func (c *serverSocket) ping() error {
	if err := c.send([]byte{mysql.COM_PING}); err != nil {
		return err
	}
	return c.drop(wire.ShapeSingle)
}

func (c *serverSocket) writeFile(b []byte) error {
	if _, err := c.back.Write(b); err != nil {
		return &backendError{err}
	}
	return nil
}
