package backend

import (
	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/seqgate/seqgate/proxy/wire"
)

// SendPacket sends a command that was built in packetBuffer.
func (c *Session) SendPacket(b []byte) error {
	if len(b)-wire.HeaderSize >= wire.MaxPayload {
		return c.Send(b[wire.HeaderSize:])
	}
	PutHeader(b, 0)
	return c.WriteBack(b)
}

// WriteBack sends bytes to the backend. A server that stopped listening may
// have said why before: that is the answer then.
func (c *Session) WriteBack(b []byte) error {
	if c.Traced {
		c.beginCall()
	}
	if c.Lost {
		if err := c.Connected(); err != nil {
			return err
		}
		if c.Traced {
			c.beginCall() // what was asked of the other connection was a call of its own
		}
	}
	if _, err := c.Wire.Write(b); err != nil {
		if c.pendingError() {
			return nil
		}
		return &LostError{Err: err}
	}
	return nil
}

// pendingError reports whether the backend has sent something to be read.
func (c *Session) pendingError() bool {
	if len(c.Wire.Unread()) > 0 {
		return true
	}
	c.Wire.ReadLimit = wire.PendingErrorLimit
	return c.Wire.Fill() == nil
}

// Send sends a command of seqgate's own making.
func (c *Session) Send(payload []byte) error {
	if len(payload) >= wire.MaxPayload {
		return c.SendLong(payload)
	}
	b, _ := wire.AppendPacket(nil, 0, payload)
	return c.WriteBack(b)
}

// SendLong sends a command of these parts.
func (c *Session) SendLong(parts ...[]byte) error {
	w := PacketWriter{Conn: c}
	for _, part := range parts {
		w.Left += len(part)
	}
	for _, part := range parts {
		w.Write(part)
	}
	return w.End()
}

// SendText sends a statement in the place of the client's.
func (c *Session) SendText(text string) error {
	return c.Send(append([]byte{mysql.COM_QUERY}, c.NoAttributes()+text...))
}

// NoAttributes stands before the text of a COM_QUERY that has no query
// attributes, where the server expects some.
func (c *Session) NoAttributes() string {
	if c.Has(mysql.CLIENT_QUERY_ATTRIBUTES) {
		return "\x00\x01"
	}
	return ""
}

// TextBegin returns where the SQL text begins in the payload of a COM_QUERY: after
// the query attributes, where client and server have agreed on those ("COM_QUERY"
// page of the MySQL manual). It is 0 when they are malformed or cut.
func (c *Session) TextBegin(payload []byte) int {
	if !c.Has(mysql.CLIENT_QUERY_ATTRIBUTES) {
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

// Ping makes sure that the server awaits a command.
func (c *Session) Ping() error {
	if err := c.Send([]byte{mysql.COM_PING}); err != nil {
		return err
	}
	return c.Drop(wire.ShapeSingle)
}

func (c *Session) WriteFile(b []byte) error {
	if _, err := c.Wire.Write(b); err != nil {
		return &LostError{Err: err}
	}
	return nil
}
