package proxy

import (
	"bytes"
	"io"
	"net"
	"testing"

	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/wire"
)

// connected returns both ends of a connection, through the kernel's buffers: on a busy machine a [net.Pipe], whose every
// read waits for the other side's goroutine, takes many times as long for long packets.
func connected(t *testing.T) (near, far net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if near, err = net.Dial("tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if far, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	return near, far
}

// A long command comes and goes in the same packets, whatever its size and
// however it is written.
func TestLongPackets(t *testing.T) {
	for _, size := range []int{wire.MaxPayload, wire.MaxPayload + 1, 2*wire.MaxPayload - 1, 2 * wire.MaxPayload} {
		payload := bytes.Repeat([]byte("0123456789abcde"), size/15+1)[:size]
		want, _ := wire.AppendPacket(nil, 0, payload)
		next := []byte("the next command")
		client, front := connected(t)
		back, server := connected(t)
		s := newSession(&clientConn{front: wire.NewConn(front)}, &serverConn{serverState: serverState{Session: backend.Session{Wire: wire.NewConn(back)}}})
		go func() {
			_, _ = client.Write(append(bytes.Clone(want), next...)) // reading tells
		}()
		got := make(chan []byte)
		go func() {
			b, _ := io.ReadAll(server)
			got <- b
		}()
		taken, _, err := s.front.TakeLong(size)
		if err != nil || !bytes.Equal(taken, payload) {
			t.Fatalf("took %d bytes of %d: %v", len(taken), size, err)
		}
		if err := s.front.Need(len(next)); err != nil || !bytes.Equal(s.front.Unread(), next) {
			t.Errorf("behind %d bytes there is %q (%v)", size, s.front.Unread(), err)
		}
		if err := s.SendLong(taken[:10], taken[10:10], taken[10:]); err != nil {
			t.Fatal(err)
		}
		if err := back.Close(); err != nil {
			t.Fatal(err)
		}
		if sent := <-got; !bytes.Equal(sent, want) {
			t.Errorf("a payload of %d bytes is sent in %d, want %d", size, len(sent), len(want))
		}
		_, _, _ = client.Close(), front.Close(), server.Close()
	}
}

func TestTakeLongRefuses(t *testing.T) {
	first, _ := wire.AppendPacket(nil, 0, make([]byte, wire.MaxPayload))
	for _, test := range []struct {
		name   string
		second []byte
		limit  int
		want   error
	}{
		{"too large", []byte{1, 0, 0, 1}, wire.MaxPayload, wire.ErrTooLarge},
		{"out of order", []byte{1, 0, 0, 2}, backend.MaxStatement, &wire.OrderError{Want: 1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			client, front := connected(t)
			defer client.Close()
			defer front.Close()
			go func() {
				_, _ = client.Write(append(first[:wire.HeaderSize+wire.MaxPayload:wire.HeaderSize+wire.MaxPayload], test.second...)) // reading tells
			}()
			_, _, err := wire.NewConn(front).TakeLong(test.limit)
			if err == nil || err.Error() != test.want.Error() {
				t.Errorf("takeLong: %v, want %v", err, test.want)
			}
		})
	}
}
