package proxy

import (
	"crypto/tls"
	"io"
	"net"
	"testing"
	"time"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/proxy/handshake"
)

// What TLS makes room for counts among the memory of logins, in its handshake and behind it, as soon as the header of a
// record says how long that is.
func TestHalfSentRecord(t *testing.T) {
	t.Parallel()
	certificates := servertest.NewCertificates(t)
	pair, err := tls.LoadX509KeyPair(certificates.Cert, certificates.Key)
	if err != nil {
		t.Fatal(err)
	}
	const length = 16 << 10
	for _, shaken := range []bool{false, true} {
		client, server := net.Pipe()
		memory := &loginMemory{}
		h := &hold{of: memory, client: server}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			counted := &countedConn{Conn: server, take: h.take}
			secure := tls.Server(counted, &tls.Config{Certificates: []tls.Certificate{pair}, SessionTicketsDisabled: true})
			if secure.Handshake() == nil {
				counted.shaken = true
				_, _ = (&handshake.Conn{Conn: secure}).ReceiveIn(h.take)
			}
		}()
		first := byte(22) // handshake
		if shaken {
			first = 23 // application data
			if err := tls.Client(client, &tls.Config{InsecureSkipVerify: true}).Handshake(); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := client.Write([]byte{first, 3, 3, length >> 8, 0, 1}); err != nil {
			t.Fatal(err)
		}
		taken := func() int {
			memory.mu.Lock()
			defer memory.mu.Unlock()
			return memory.taken
		}
		for end := time.Now().Add(30 * time.Second); taken() < length-freeLoginMemory && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
		if got := taken(); got < length-freeLoginMemory {
			t.Errorf("behind the handshake %v: a half-sent record of %d bytes counts as %d", shaken, length, got)
		}
		_ = client.Close()
		<-ended
		if h.release(); taken() != 0 {
			t.Errorf("%d bytes are left behind the login", taken())
		}
	}
}

// Records are counted in whatever pieces they come, and behind the handshake only those that are larger than all before.
func TestCountedRecords(t *testing.T) {
	stream := []byte{22, 3, 1, 0, 3, 1, 2, 3, 22, 3, 3, 0, 2, 1, 2}
	behind := []byte{23, 3, 3, 0, 2, 9, 9, 23, 3, 3, 0, 5, 9, 9, 9, 9, 9}
	for size := 1; size <= len(stream); size++ {
		total := 0
		r, w := io.Pipe()
		c := &countedConn{Conn: piped{r: r}, take: func(n int) { total += n }}
		read := func(b []byte) {
			go func() { _, _ = w.Write(b) }()
			for n := 0; n < len(b); {
				k, err := c.Read(make([]byte, min(size, len(b)-n)))
				if err != nil {
					t.Fatal(err)
				}
				n += k
			}
		}
		if read(stream); total != 5 {
			t.Errorf("pieces of %d: the handshake counts as %d, want 5", size, total)
		}
		c.shaken = true
		if read(behind); total != 5+2 {
			t.Errorf("pieces of %d: with what is behind it %d, want 7", size, total)
		}
	}
}

type piped struct {
	net.Conn
	r io.Reader
}

func (p piped) Read(b []byte) (int, error) { return p.r.Read(b) }
