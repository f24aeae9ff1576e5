package backend

import (
	"encoding/binary"

	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/seqgate/seqgate/proxy/wire"
)

// PreparedOK is the fixed part of a COM_STMT_PREPARE_OK.
type PreparedOK struct {
	ID              uint32
	Columns, Params int
}

// ParsePrepared reads the first packet of the answer to a COM_STMT_PREPARE. It reports
// false for an error packet.
func ParsePrepared(payload []byte) (ok PreparedOK, accepted bool) {
	if wire.First(payload) != mysql.OK_HEADER || len(payload) < 9 {
		return ok, false
	}
	ok.ID = binary.LittleEndian.Uint32(payload[1:])
	ok.Columns = int(binary.LittleEndian.Uint16(payload[5:]))
	ok.Params = int(binary.LittleEndian.Uint16(payload[7:]))
	return ok, true
}

// ReadPrepared reads the answer to a COM_STMT_PREPARE of seqgate's own.
func (c *Session) ReadPrepared() (PreparedOK, error) {
	payload, _, _, err := c.Wire.Packet(MaxStatement)
	if err != nil {
		return PreparedOK{}, &LostError{Err: err}
	}
	ok, _ := ParsePrepared(payload)
	return ok, c.Drop(wire.ShapePrepare)
}

// PeekPrepared looks at the beginning of an answer to COM_STMT_PREPARE.
func (c *Session) PeekPrepared() (ok PreparedOK, accepted bool, err error) {
	payload, _, _, err := c.Wire.Packet(MaxStatement)
	if err != nil {
		return ok, false, &LostError{Err: err}
	}
	ok, accepted = ParsePrepared(payload)
	return ok, accepted, nil
}

func (c *Session) ResetBackend(id uint32) error {
	if err := c.Send(binary.LittleEndian.AppendUint32([]byte{mysql.COM_STMT_RESET}, id)); err != nil {
		return err
	}
	return c.Drop(wire.ShapeSingle)
}

// PrepareBackend prepares a text of seqgate's own.
func (c *Session) PrepareBackend(text []byte) (PreparedOK, error) {
	if err := c.SendPrepare(text); err != nil {
		return PreparedOK{}, err
	}
	return c.ReadPrepared()
}

func (c *Session) SendPrepare(text []byte) error {
	return c.SendLong([]byte{mysql.COM_STMT_PREPARE}, text)
}

func (c *Session) SendClose(id uint32) error {
	return c.Send(binary.LittleEndian.AppendUint32([]byte{mysql.COM_STMT_CLOSE}, id))
}
