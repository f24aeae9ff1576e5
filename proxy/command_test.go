package proxy

import (
	"strings"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/seqgate/seqgate/proxy/wire"
)

// commands joins commands, each numbered from 0.
func commands(payloads ...string) []byte {
	var b []byte
	for _, p := range payloads {
		b, _ = wire.AppendPacket(b, 0, []byte(p))
	}
	return b
}

const insertT = "\x03INSERT INTO t (v) VALUES (5)"

// modes gives the capabilities of a fuzzed session, from its mode's bits.
func modes(mode byte) (capabilities uint32, mariaDB bool) {
	for i, capability := range []uint32{mysql.CLIENT_DEPRECATE_EOF, mysql.CLIENT_QUERY_ATTRIBUTES, mysql.CLIENT_MULTI_STATEMENTS} {
		if mode>>i&1 == 1 {
			capabilities |= capability
		}
	}
	return capabilities, mode>>3&1 == 1
}

// Whatever bytes a client sends, the server gets whole packets, in order, and no
// INSERT without its id; and so does the client.
func FuzzCommands(f *testing.F) {
	packet := func(number byte, payload string) string {
		b, _ := wire.AppendPacket(nil, number, []byte(payload))
		return string(b)
	}
	execute := "\x17\x01\x00\x00\x00\x00\x01\x00\x00\x00"
	withParam := execute + "\x00\x01\x08\x00\x05\x00\x00\x00\x00\x00\x00\x00"
	dump := "\x12\x04\x00\x00\x00\x01\x00c\x00\x00\x00bin.000001"
	for _, seed := range []string{
		string(commands("\x03SELECT 1", insertT, "\x0e", "\x09", "\x0a", "\x01")),
		string(commands("\x03\x00\x01SELECT 1", "\x03\x00\x01INSERT INTO t (v) VALUES (5)", "\x03\x01\x01\x00\x01\x03\x00\x01n\x05\x00\x00\x00INSERT INTO t (v) VALUES (5)")),
		string(commands("\x03SELECT 1; INSERT INTO t (v) VALUES (5); SELECT 2", "\x1b\x00\x00", "\x1b\x01\x00", insertT)),
		string(commands("\x16INSERT INTO t (v) VALUES (?)", withParam, "\x1a\x01\x00\x00\x00", "\x18\x01\x00\x00\x00\x00\x00abc", execute, "\x19\x01\x00\x00\x00", execute)),
		string(commands("\x16INSERT INTO t (v) VALUES (5)", execute, "\x17\xff\xff\xff\xff\x00\x01\x00\x00\x00", "\x17\x01", "\x17", "\x18\x01", "\x19", "\x1a\x01\x00", "\x1c\x01\x00\x00\x00\x01\x00\x00\x00")),
		string(commands("\x03LOAD DATA LOCAL INFILE 'f' INTO TABLE x")) + packet(2, "1\ta\n") + packet(3, "") + string(commands(insertT)),
		string(commands("\x03LOAD DATA LOCAL INFILE 'f' INTO TABLE x", insertT)) + packet(2, insertT) + packet(3, ""),
		string(commands(dump, insertT)), string(commands("\x1e\x00\x00")) + packet(0, "\xef\x04\x00\x00\x00\x00\x00\x00\x00bin.000001") + string(commands(insertT)),
		string(commands("\x02main", "\x02other", insertT, "\x04t\x00", "\x0c\x01\x00\x00\x00", "\x1f", insertT, "\x11app\x00", "\x08", "\x20", "\x21", "\xfa\x01\x00\x00\x00")),
		string(commands("\x11app\x00\x00\x00", insertT, "\x02main", insertT)), string(commands("\x11app\x00\x00\x00", "\x16INSERT INTO t (v) VALUES (?)", withParam)),
		string(commands("", insertT, "")), packet(1, insertT[1:]) + string(commands(insertT)), packet(0, "\x03SELECT 1")[:7],
		string(commands("\x03CREATE TEMPORARY TABLE x (a INT)", insertT, "\x03PREPARE p FROM 'INSERT INTO t (v) VALUES (5)'", "\x03SELECT NEXT VALUE FROM t_seq", "\x03KILL 5")),
	} {
		for mode := range byte(16) {
			f.Add(mode|mode<<4, []byte(seed))
		}
	}
	srv := fakeServer(f)
	f.Fuzz(func(t *testing.T, mode byte, stream []byte) {
		capabilities, mariaDB := modes(mode)
		s, front, back := fakeSession(t, srv, capabilities, mariaDB, 1+int(mode>>4)*100, stream)
		err := s.run()
		if err == nil {
			t.Error("a session ended without a reason")
		}
		if held := max(cap(s.front.Buf), cap(s.Wire.Buf)); held > wire.LargeBuffer+4*len(stream) {
			t.Errorf("%d bytes are held for %d that came", held, len(stream))
		}
		if err := s.close(); err != nil {
			t.Errorf("close: %v", err)
		}
		if len(back.in) > 0 && len(front.in) > 0 {
			t.Errorf("the server was left with a part of a packet: %q", back.in)
		}
		checkWhole(t, front.out.Bytes())
	})
}

// A command behind the end of a stream is looked at as any other.
func TestCommandBehindStream(t *testing.T) {
	const dump = "\x12\x04\x00\x00\x00\x01\x00c\x00\x00\x00"
	s, front, back := fakeSession(t, fakeServer(t), 0, false, 7, commands(dump, "\xef\x04\x00\x00\x00\x00\x00\x00\x00f", insertT, "\x01"))
	_ = s.run()
	if len(back.ids) != 1 {
		t.Errorf("the server got the ids %v, want one", back.ids)
	}
	if out := front.out.String(); strings.Count(out, "event") != 2 {
		t.Errorf("the client got %q", out)
	}
}

// A server that lets a client into a plugin's own protocol ends the session.
func TestPluginProtocolEndsSession(t *testing.T) {
	s, front, back := fakeSession(t, fakeServer(t), 0, false, 100, commands("\x20", insertT))
	back.acceptsClone = true
	if err := s.run(); err == nil || !strings.Contains(err.Error(), "cloning") {
		t.Errorf("the session ended with %v", err)
	}
	if out := front.out.String(); !strings.Contains(out, "seqgate does not relay") {
		t.Errorf("the client got %q", out)
	}
	if len(back.ids) != 0 {
		t.Errorf("a command behind it reached the server")
	}
}
