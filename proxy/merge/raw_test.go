package merge_test

import (
	"encoding/binary"
	"fmt"
	"io"
	"testing"

	"github.com/go-mysql-org/go-mysql/client"
	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
)

// answer is a result as a server sent it.
type answer struct {
	columns [][]byte
	rows    [][]byte
}

// source gives the rows from one buffer that the next row overwrites.
type source struct {
	rows [][]byte
	buf  []byte
}

func (s *source) Next() ([]byte, error) {
	for i := range s.buf {
		s.buf[i] = 0xaa
	}
	if len(s.rows) == 0 {
		return nil, io.EOF
	}
	s.buf = append(s.buf[:0], s.rows[0]...)
	s.rows = s.rows[1:]
	return s.buf, nil
}

// rawConn is a connection of which the packets are read as they come.
type rawConn struct{ *client.Conn }

func connect(t testing.TB, s *servertest.Server, db string) *rawConn {
	t.Helper()
	c, err := client.Connect(s.Addr, s.User, s.Password, db, func(c *client.Conn) error {
		c.UnsetCapability(mysql.CLIENT_DEPRECATE_EOF)
		c.UnsetCapability(mysql.CLIENT_QUERY_ATTRIBUTES)
		return nil
	})
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if _, err := c.Execute("SET NAMES utf8mb4"); err != nil {
		t.Fatal(err)
	}
	return &rawConn{c}
}

// command sends a command.
func (c *rawConn) command(code byte, payload []byte) error {
	c.ResetSequence()
	return c.WritePacket(append([]byte{0, 0, 0, 0, code}, payload...))
}

// query gives the answer to a SELECT in the text protocol.
func (c *rawConn) query(sql []byte) (*answer, error) {
	if err := c.command(mysql.COM_QUERY, sql); err != nil {
		return nil, err
	}
	return c.result()
}

// execute gives the answer to a prepared SELECT with whole numbers for parameters.
func (c *rawConn) execute(sql []byte, args ...uint64) (*answer, error) {
	if err := c.command(mysql.COM_STMT_PREPARE, sql); err != nil {
		return nil, err
	}
	head, err := c.packet()
	if err != nil {
		return nil, err
	}
	id, columns, params := head[1:5], binary.LittleEndian.Uint16(head[5:]), binary.LittleEndian.Uint16(head[7:])
	for _, n := range []uint16{params, columns} {
		if n > 0 {
			if _, err := c.untilEOF(); err != nil {
				return nil, err
			}
		}
	}
	payload := append(append([]byte(nil), id...), 0, 1, 0, 0, 0)
	if len(args) > 0 {
		payload = append(payload, make([]byte, (len(args)+7)/8)...)
		payload = append(payload, 1)
		for range args {
			payload = append(payload, mysql.MYSQL_TYPE_LONGLONG, 0x80)
		}
		for _, n := range args {
			payload = binary.LittleEndian.AppendUint64(payload, n)
		}
	}
	if err := c.command(mysql.COM_STMT_EXECUTE, payload); err != nil {
		return nil, err
	}
	a, err := c.result()
	if err := c.command(mysql.COM_STMT_CLOSE, id); err != nil {
		return nil, err
	}
	return a, err
}

func (c *rawConn) result() (*answer, error) {
	if _, err := c.packet(); err != nil {
		return nil, err
	}
	columns, err := c.untilEOF()
	if err != nil {
		return nil, err
	}
	rows, err := c.untilEOF()
	return &answer{columns, rows}, err
}

// packet reads a packet; an ERR packet is an error.
func (c *rawConn) packet() ([]byte, error) {
	p, err := c.ReadPacket()
	if err == nil && len(p) > 9 && p[0] == mysql.ERR_HEADER {
		err = fmt.Errorf("server error: %s", p[9:])
	}
	return p, err
}

// untilEOF reads packets up to an EOF packet.
func (c *rawConn) untilEOF() ([][]byte, error) {
	var packets [][]byte
	for {
		p, err := c.packet()
		if err != nil || p[0] == mysql.EOF_HEADER && len(p) < 9 {
			return packets, err
		}
		packets = append(packets, append([]byte(nil), p...))
	}
}
