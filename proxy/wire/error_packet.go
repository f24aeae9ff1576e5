package wire

import (
	"encoding/binary"
	"fmt"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// OrderError is a packet that does not have the number that was to come. Where
// the next packet begins is not known any more: the connection ends.
type OrderError struct{ Want byte }

func (e *OrderError) Error() string {
	return fmt.Sprintf("packet out of order: number %d was to come", e.Want)
}

// ServerError is an error packet that the backend sent in answer to a
// statement of seqgate's own; it is passed to the client unchanged.
type ServerError struct{ Packet []byte }

// Code returns MySQL's number of the error, 0 when the packet is too short for one.
func (e *ServerError) Code() uint16 {
	if len(e.Packet) < 3 {
		return 0
	}
	return binary.LittleEndian.Uint16(e.Packet[1:])
}

// State returns the SQLSTATE, of five characters; fewer where the packet is cut.
func (e *ServerError) State() string {
	return string(e.Packet[min(len(e.Packet), 4):min(len(e.Packet), 9)])
}

// Text returns the error's message.
func (e *ServerError) Text() string { return string(e.Packet[min(len(e.Packet), 9):]) }

func (e *ServerError) Error() string { return fmt.Sprintf("server error %d: %s", e.Code(), e.Text()) }

// AppendError appends the payload of an ERR packet to dst.
func AppendError(dst []byte, e *mysql.MyError) []byte {
	dst = append(dst, mysql.ERR_HEADER, byte(e.Code), byte(e.Code>>8), '#')
	dst = append(dst, (e.State + mysql.DEFAULT_MYSQL_STATE)[:5]...)
	return append(dst, e.Message...)
}
