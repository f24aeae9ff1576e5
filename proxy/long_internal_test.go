package proxy

import (
	"bytes"
	"fmt"
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
		s := newSession(&clientConn{front: newWire(front)}, &serverConn{back: newWire(back)})
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

// A payload in several packets is read only when their numbers follow each other.
func TestContinuedInOrder(t *testing.T) {
	whole, _ := appendPacket(nil, 0, make([]byte, maxPayload+10))
	for number, want := range map[byte]error{1: nil, 0: &orderError{want: 1}, 2: &orderError{want: 1}} {
		whole[headerSize+maxPayload+3] = number
		s := new(stream)
		s.in.Reset(whole)
		payload, _, _, err := newWire(s).packet(maxStatement)
		if fmt.Sprint(err) != fmt.Sprint(want) || err == nil && len(payload) != maxPayload+10 {
			t.Errorf("second packet with number %d: %d bytes, %v, want %v", number, len(payload), err, want)
		}
	}
}

// Packets of 2^24-1 bytes are followed by another one, which may be empty, and are numbered.
func TestAppendPacket(t *testing.T) {
	for _, size := range []int{0, 1, maxPayload - 1, maxPayload, maxPayload + 1, 2 * maxPayload} {
		b, next := appendPacket(nil, 255, make([]byte, size))
		number := byte(255)
		for left, last := size, false; !last; number++ {
			n := min(left, maxPayload)
			last = n < maxPayload
			want := []byte{byte(n), byte(n >> 8), byte(n >> 16), number}
			if len(b) < headerSize+n || !bytes.Equal(b[:headerSize], want) {
				t.Fatalf("%d bytes: packet %x of %d bytes, want header %x", size, b[:min(len(b), headerSize)], len(b), want)
			}
			b, left = b[headerSize+n:], left-n
		}
		if len(b) != 0 || next != number {
			t.Errorf("%d bytes: %d more behind the last packet, next number %d, want 0 and %d", size, len(b), next, number)
		}
	}
}
