package proxy

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/wire"
)

// paramEnd is a reference reader: how many bytes the value of a parameter takes that b
// begins with, as the protocol's documentation has it. It is 0 where servers may differ.
func paramEnd(typ byte, b []byte) int {
	n := map[byte]int{1: 1, 2: 2, 3: 4, 4: 4, 5: 8, 8: 8}[typ]
	switch {
	case n > 0 || len(b) == 0:
	case typ == 7 || typ == 10 || typ == 12:
		n = map[byte]int{0: 1, 4: 5, 7: 8, 11: 12}[b[0]]
	case typ == 11:
		n = map[byte]int{0: 1, 8: 9, 12: 13}[b[0]]
	case typ == 0 || typ == 15 || typ == 242 || typ >= 245 && typ < 255:
		n = stringEnd(b)
	}
	if n > len(b) {
		return 0
	}
	return n
}

// stringEnd is paramEnd for a length-encoded string.
func stringEnd(b []byte) int {
	width := 0
	switch b[0] {
	default:
		return 1 + int(b[0])
	case 0xfb, 0xff:
		return 0
	case 0xfc:
		width = 2
	case 0xfd:
		width = 3
	case 0xfe:
		width = 8
	}
	if len(b) < 1+width {
		return 0
	}
	n := 1 + width
	for i, c := range b[1 : 1+width] {
		if i > 3 && c > 0 || i == 3 && c > 0x7f {
			return 0 // servers read four bytes
		}
		n += int(c) << (8 * i)
	}
	return n
}

func FuzzParamLength(f *testing.F) {
	for _, begin := range []string{"", "\x00", "\x04\xe8\x07\x01\x02", "\xfc\x04\x00text", "\xfd\x04\x00\x00text", "\xfe\x04\x00\x00\x00\x00\x00\x00\x00text", "\xfe\x04\x00\x00\x00\x01\x00\x00\x00text", "\xfb", "\xff\x01"} {
		for _, typ := range []byte{0, 1, 3, 5, 6, 7, 9, 10, 11, 12, 13, 16, 245, 254, 255} {
			f.Add(typ, byte(0), []byte(begin))
		}
	}
	f.Add(byte(1), byte(1), []byte("\x01"))
	f.Fuzz(func(t *testing.T, typ, flags byte, b []byte) {
		for _, bulk := range []bool{false, true} {
			r := wire.ParamReader{Data: append([]byte{0, 1, typ, flags}, b...)}
			head := 4
			if bulk {
				r, head = wire.ParamReader{Data: append([]byte{typ, flags, wire.ValueFollows}, b...)}, 3
				r.Indicated(r.ParamType())
			} else {
				r.ReadParams(1, false, nil, nil)
			}
			want := paramEnd(typ, b)
			if flags&0x7f != 0 {
				want = 0
			}
			if r.Bad != (want == 0) || !r.Bad && r.At-head != want {
				t.Errorf("type %d, flags %x, bulk %v: took %d bytes, bad %v, of %x; want %d", typ, flags, bulk, r.At-head, r.Bad, b, want)
			}
		}
	})
}

// What stands before the types decides where they begin.
func TestParamHeads(t *testing.T) {
	value := []byte("\x01\x02\x03\x04\x05\x06\x07\x08")
	for name, b := range map[string][]byte{
		"types flagged by 2":  append([]byte{0, 2, 8, 0}, value...),
		"a bit in the type":   append([]byte{0, 1, 8, 1}, value...),
		"a bit beside a sign": append([]byte{0, 1, 8, 0xc0}, value...),
	} {
		r := wire.ParamReader{Data: b}
		if r.ReadParams(1, false, []wire.Param{wire.IDParam(1)}, nil); !r.Bad {
			t.Errorf("%s: it is read", name)
		}
	}
	s := newSession(new(clientConn), &serverConn{serverState: serverState{Session: backend.Session{Capabilities: uint64(mysql.CLIENT_QUERY_ATTRIBUTES)}}})
	for _, head := range []string{"\x00\x00", "\x00\x02", "\x00\xfb", "\xfb\x01", "\xff\x01", "\x01\x00\x00\x01\x08\x00\x01n\x01\x02\x03\x04\x05\x06\x07\x08", "\x01\x01\x00\x01\x08\x00\xff\x01\x02\x03\x04\x05\x06\x07\x08"} {
		if begin := s.TextBegin([]byte("\x03" + head + "SELECT 7")); begin != 0 {
			t.Errorf("%q: the text begins at %d", head, begin)
		}
	}
}

// endsClient is a client that asks a server itself where it takes a value to end.
type endsClient struct {
	testing.TB
	net.Conn
	answers []byte // that were read ahead
}

func dialEnds(t testing.TB, s *servertest.Server, flags uint64) *endsClient {
	b := &backend.Backend{Network: "tcp", Addr: s.Addr}
	c, err := b.Dial(t.Context(), backend.Login{User: s.User, Password: s.Password, Charset: 45, Capabilities: flags | uint64(mysql.CLIENT_DEPRECATE_EOF|mysql.CLIENT_TRANSACTIONS)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Quit() })
	return &endsClient{TB: t, Conn: c.Conn}
}

// pipeline sends commands and gives the row that each is answered with, or its error.
func (c *endsClient) pipeline(commands [][]byte) (rows [][]byte, errnos []int) {
	c.Helper()
	var all []byte
	for _, b := range commands {
		all, _ = wire.AppendPacket(all, 0, b)
	}
	sent := make(chan error, 1)
	go func() { _, err := c.Write(all); sent <- err }()
	for range commands {
		row, errno := c.row()
		rows, errnos = append(rows, row), append(errnos, errno)
	}
	if err := <-sent; err != nil {
		c.Fatal(err)
	}
	return rows, errnos
}

func (c *endsClient) receive() []byte {
	c.Helper()
	if err := c.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		c.Fatal(err)
	}
	for {
		if n := len(c.answers); n >= wire.HeaderSize {
			if end := wire.HeaderSize + int(c.answers[0]) + int(c.answers[1])<<8 + int(c.answers[2])<<16; n >= end {
				b := c.answers[wire.HeaderSize:end]
				c.answers = c.answers[end:]
				return b
			}
		}
		b := make([]byte, 64<<10)
		n, err := c.Read(b)
		if err != nil && (n == 0 || err != io.EOF) {
			c.Fatal(err)
		}
		c.answers = append(c.answers, b[:n]...)
	}
}

func (c *endsClient) row() (row []byte, errno int) {
	c.Helper()
	for b := c.receive(); ; b = c.receive() {
		switch {
		case b[0] == mysql.ERR_HEADER:
			return nil, int(binary.LittleEndian.Uint16(b[1:]))
		case b[0] == mysql.OK_HEADER && row == nil && len(b) > 1 && len(b) < 8:
			return nil, 0
		case b[0] == mysql.EOF_HEADER:
			return row, 0
		}
		row = b
	}
}

// prepare prepares a statement with two parameters and two columns.
func (c *endsClient) prepare(sql string) (id []byte) {
	c.Helper()
	if _, err := c.Write(append([]byte{byte(1 + len(sql)), 0, 0, 0, mysql.COM_STMT_PREPARE}, sql...)); err != nil {
		c.Fatal(err)
	}
	id = slices.Clone(c.receive()[1:5])
	for range 4 {
		c.receive()
	}
	return id
}

// valuesOf gives values of a type, NULL left out, that begin with each byte and that
// seqgate reads, as far as it reads them. Of types with a sign some bytes stand for all.
func valuesOf(typ uint16) (values [][]byte) {
	rests := [][]byte{make([]byte, 300), append([]byte{4, 0, 0, 0, 0, 0, 0, 0}, make([]byte, 300)...), append([]byte{4, 0, 0, 0, 1, 0, 0, 0}, make([]byte, 300)...)}
	b := []byte{0, 1, byte(typ), byte(typ >> 8)}
	for begin := range 256 {
		if typ > 0xff && begin > 12 && begin < 249 {
			continue
		}
		for _, rest := range rests {
			if begin < 0xfb && rest[0] > 0 {
				continue
			}
			b = append(append(b[:4], byte(begin)), rest...)
			r := wire.ParamReader{Data: b}
			if r.ReadParams(1, false, nil, nil); !r.Bad {
				values = append(values, slices.Clone(b[4:r.At]))
			}
		}
	}
	return values
}

// typesOfParams are all type codes, with each of the two highest bits.
func typesOfParams() (types []uint16) {
	for code := range 1 << 10 {
		types = append(types, uint16(code&0xff)|uint16(code>>8)<<14)
	}
	return types
}

// Every value that seqgate reads ends for the servers where it ends for seqgate: each
// type with each first byte, as a parameter. What a server refuses it does not read.
func TestParamEndsOnServers(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		c := dialEnds(t, s, 0)
		stmt := c.prepare("SELECT HEX(?), CAST(? AS SIGNED)")
		behind := binary.LittleEndian.AppendUint64(nil, 0x1122334455667788)
		null := []byte("NULL")
		var types []uint16
		var values, commands [][]byte
		for _, typ := range typesOfParams() {
			for _, v := range append(valuesOf(typ), null) {
				head := []byte{0, 1, 0, 0, 0, 0, 1, byte(typ), byte(typ >> 8), 8, 0}
				types, values = append(types, typ), append(values, v)
				if &v[0] == &null[0] {
					head[5], v = 1, nil // no bytes, whatever its type
				}
				commands = append(commands, slices.Concat([]byte{mysql.COM_STMT_EXECUTE}, stmt, head, v, behind))
			}
		}
		read := make(map[uint16]int)
		rows, errnos := c.pipeline(commands)
		for i, row := range rows {
			switch typ := types[i]; {
			case errnos[i] == 0 && !bytes.HasSuffix(row, behind):
				t.Errorf("type %#x: %x ends elsewhere for the server, which answers %x", typ, values[i], row)
			case errnos[i] == 0 && &values[i][0] != &null[0]:
				read[typ]++
				checkText(t, byte(typ), values[i], row)
			}
		}
		for _, typ := range []uint16{0, 1, 2, 3, 4, 5, 7, 8, 10, 11, 12, 15, 246, 249, 250, 251, 252, 253, 254} {
			if read[typ] == 0 || read[typ|wire.UnsignedParam] == 0 {
				t.Errorf("the server took no value of type %d that seqgate reads", typ)
			}
		}
	})
}

// checkText checks that a text arrived as seqgate reads it.
func checkText(t *testing.T, typ byte, value, row []byte) {
	t.Helper()
	if typ != mysql.MYSQL_TYPE_VARCHAR && typ < mysql.MYSQL_TYPE_TINY_BLOB {
		return
	}
	text := (&wire.Param{Value: value}).Text()
	want := []byte(hex.EncodeToString(text))
	if len(text) > 0 && !bytes.Contains(bytes.ToLower(row), want) {
		t.Errorf("type %d: %x is %x for the server", typ, value, row)
	}
}

// The same for query attributes, behind which the text of the statement begins. Only
// MySQL has them.
func TestAttributeEndsOnServers(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		if s.IsMariaDB() {
			t.Skip("MariaDB has no query attributes")
		}
		c := dialEnds(t, s, uint64(mysql.CLIENT_QUERY_ATTRIBUTES))
		front := newSession(new(clientConn), &serverConn{serverState: serverState{Session: backend.Session{Capabilities: uint64(mysql.CLIENT_QUERY_ATTRIBUTES)}}})
		var types []uint16
		var commands [][]byte
		for _, typ := range typesOfParams() {
			add := func(null byte, value []byte) {
				command := slices.Concat([]byte{mysql.COM_QUERY, 1, 1, null, 1, byte(typ), byte(typ >> 8), 1, 'n'}, value)
				text := []byte("SELECT 7")
				command = append(command, text...)
				if begin := front.TextBegin(command); begin > 0 && bytes.Equal(command[begin:], text) {
					types, commands = append(types, typ), append(commands, command)
				}
			}
			for _, v := range valuesOf(typ) {
				add(0, v)
			}
			add(1, nil)
		}
		read := make(map[uint16]int)
		rows, errnos := c.pipeline(commands)
		for i, row := range rows {
			typ := types[i]
			refused := errnos[i] == mysql.ER_MALFORMED_PACKET && byte(typ) == mysql.MYSQL_TYPE_DATE // one with a time
			if string(row) != "\x017" && !refused {
				t.Errorf("type %#x: %x ends elsewhere for the server: error %d, %q", typ, commands[i], errnos[i], row)
			}
			read[typ]++
		}
		if n := len(read); n < 2*19 {
			t.Errorf("seqgate reads %d types", n)
		}
	})
}

// The heads of query attributes that seqgate reads are read alike by MySQL.
func TestAttributeHeadsOnServers(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		if s.IsMariaDB() {
			t.Skip("MariaDB has no query attributes")
		}
		c := dialEnds(t, s, uint64(mysql.CLIENT_QUERY_ATTRIBUTES))
		front := newSession(new(clientConn), &serverConn{serverState: serverState{Session: backend.Session{Capabilities: uint64(mysql.CLIENT_QUERY_ATTRIBUTES)}}})
		numbers := func(n byte) []string {
			return []string{string(n), "\xfb", "\xff", fmt.Sprintf("\xfc%c\x00", n), fmt.Sprintf("\xfd%c\x00\x00", n), fmt.Sprintf("\xfe%c\x00\x00\x00\x00\x00\x00\x00", n), fmt.Sprintf("\xfe%c\x00\x00\x00\x01\x00\x00\x00", n)}
		}
		var commands [][]byte
		add := func(parts ...string) {
			command := []byte{mysql.COM_QUERY}
			for _, p := range parts {
				command = append(command, p...)
			}
			command = append(command, "SELECT 7"...)
			if front.TextBegin(command) == len(command)-len("SELECT 7") {
				commands = append(commands, command)
			}
		}
		value := "\x01\x02\x03\x04\x05\x06\x07\x08"
		for _, sets := range append(numbers(1), numbers(0)...) {
			for _, count := range numbers(0) {
				add(count, sets)
			}
			for _, count := range numbers(1) {
				for _, name := range numbers(1) {
					for _, head := range []string{"\x00\x00", "\x00\x01", "\x00\x02", "\xfe\x01", "\x00\xff"} {
						add(count, sets, head, "\x08\x00", name, "n", value)
					}
				}
			}
			for _, count := range numbers(9) {
				add(count, sets, "\x00\x00\x01", string(bytes.Repeat([]byte("\x08\x80\x00"), 9)), string(bytes.Repeat([]byte(value), 9)))
				add(count, sets, "\x01\xff\x01", string(bytes.Repeat([]byte("\x08\x80\x00"), 9)), string(bytes.Repeat([]byte(value), 7)))
			}
		}
		rows, errnos := c.pipeline(commands)
		for i, row := range rows {
			if string(row) != "\x017" {
				t.Errorf("%q is read otherwise by the server: error %d, %q", commands[i], errnos[i], row)
			}
		}
		if len(commands) < 10 {
			t.Errorf("seqgate reads %d of them", len(commands))
		}
	})
}
