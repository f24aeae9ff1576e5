package wire

import (
	"bytes"
	"fmt"
	"testing"
)

// A payload in several packets is read only when their numbers follow each other.
func TestContinuedInOrder(t *testing.T) {
	whole, _ := AppendPacket(nil, 0, make([]byte, MaxPayload+10))
	for number, want := range map[byte]error{1: nil, 0: &OrderError{Want: 1}, 2: &OrderError{Want: 1}} {
		whole[HeaderSize+MaxPayload+3] = number
		s := new(stream)
		s.in.Reset(whole)
		payload, _, _, err := NewConn(s).Packet(64 << 20)
		if fmt.Sprint(err) != fmt.Sprint(want) || err == nil && len(payload) != MaxPayload+10 {
			t.Errorf("second packet with number %d: %d bytes, %v, want %v", number, len(payload), err, want)
		}
	}
}

// Packets of 2^24-1 bytes are followed by another one, which may be empty, and are numbered.
func TestAppendPacket(t *testing.T) {
	for _, size := range []int{0, 1, MaxPayload - 1, MaxPayload, MaxPayload + 1, 2 * MaxPayload} {
		b, next := AppendPacket(nil, 255, make([]byte, size))
		number := byte(255)
		for left, last := size, false; !last; number++ {
			n := min(left, MaxPayload)
			last = n < MaxPayload
			want := []byte{byte(n), byte(n >> 8), byte(n >> 16), number}
			if len(b) < HeaderSize+n || !bytes.Equal(b[:HeaderSize], want) {
				t.Fatalf("%d bytes: packet %x of %d bytes, want header %x", size, b[:min(len(b), HeaderSize)], len(b), want)
			}
			b, left = b[HeaderSize+n:], left-n
		}
		if len(b) != 0 || next != number {
			t.Errorf("%d bytes: %d more behind the last packet, next number %d, want 0 and %d", size, len(b), next, number)
		}
	}
}
