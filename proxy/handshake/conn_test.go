package handshake

import (
	"bytes"
	"io"
	"net"
	"testing"
)

// stored is a connection that has all that comes from the start.
type stored struct {
	net.Conn
	r io.Reader
}

func (c stored) Read(b []byte) (int, error) { return c.r.Read(b) }

// A packet takes as many bytes as have come of it, and a piece more.
func TestReceiveIn(t *testing.T) {
	whole := make([]byte, MaxPayload)
	for i := range whole {
		whole[i] = byte(i * 7)
	}
	for _, size := range []int{0, 1, piece - 1, piece, piece + 1, 10*piece + 5, MaxPayload} {
		for _, came := range []int{0, 1, size / 2, size} {
			came = min(came, size)
			stream := append([]byte{byte(size), byte(size >> 8), byte(size >> 16), 9}, whole[:came]...)
			taken := 0
			p, err := (&Conn{stored{r: bytes.NewReader(stream)}}).ReceiveIn(func(n int) { taken += n })
			if most := min(came/piece*piece+piece, size); taken > most {
				t.Errorf("%d of %d bytes take %d, want at most %d", came, size, taken, most)
			}
			if came == size && (err != nil || p.Sequence != 9 || !bytes.Equal(p.Payload, whole[:size])) {
				t.Errorf("%d bytes: packet %d of %d bytes, %v", size, p.Sequence, len(p.Payload), err)
			}
			if came < size && (err == nil || p.Sequence != 9) {
				t.Errorf("%d of %d bytes: packet %d, %v", came, size, p.Sequence, err)
			}
		}
	}
}
