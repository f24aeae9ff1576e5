package proxy

import (
	"bytes"
	"io"
	"net"
	"testing"
)

// A long command comes and goes in the same packets, whatever its size and
// however it is written.
func TestLongPackets(t *testing.T) {
	for _, size := range []int{maxPayload, maxPayload + 1, 2*maxPayload - 1, 2 * maxPayload} {
		payload := bytes.Repeat([]byte("0123456789abcde"), size/15+1)[:size]
		want, _ := appendPacket(nil, 0, payload)
		next := []byte("the next command")
		client, front := net.Pipe()
		back, server := net.Pipe()
		s := &session{front: newWire(front), back: newWire(back)}
		go func() {
			_, _ = client.Write(append(bytes.Clone(want), next...)) // reading tells
		}()
		got := make(chan []byte)
		go func() {
			b, _ := io.ReadAll(server)
			got <- b
		}()
		taken, _, err := s.front.takeLong(size)
		if err != nil || !bytes.Equal(taken, payload) {
			t.Fatalf("took %d bytes of %d: %v", len(taken), size, err)
		}
		if err := s.front.need(len(next)); err != nil || !bytes.Equal(s.front.unread(), next) {
			t.Errorf("behind %d bytes there is %q (%v)", size, s.front.unread(), err)
		}
		if err := s.sendLong(taken[:10], taken[10:10], taken[10:]); err != nil {
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
	first, _ := appendPacket(nil, 0, make([]byte, maxPayload))
	for _, test := range []struct {
		name   string
		second []byte
		limit  int
		want   error
	}{
		{"too large", []byte{1, 0, 0, 1}, maxPayload, errPacketTooLarge},
		{"out of order", []byte{1, 0, 0, 2}, maxStatement, &orderError{want: 1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			client, front := net.Pipe()
			defer client.Close()
			defer front.Close()
			go func() {
				_, _ = client.Write(append(first[:headerSize+maxPayload:headerSize+maxPayload], test.second...)) // reading tells
			}()
			_, _, err := newWire(front).takeLong(test.limit)
			if err == nil || err.Error() != test.want.Error() {
				t.Errorf("takeLong: %v, want %v", err, test.want)
			}
		})
	}
}
