package proxy

import (
	"net"
	"testing"
	"time"
)

// endedConn notes that its reader was interrupted.
type endedConn struct {
	net.Conn
	ended bool
}

func (c *endedConn) SetReadDeadline(time.Time) error { c.ended = true; return nil }

// All logins together hold no more than their limit: those that have held some for longest end, whoever holds only what is free for
// each, or has ended, goes on.
func TestLoginMemory(t *testing.T) {
	var m loginMemory
	const each = 64 << 10
	conns := make([]*endedConn, mostLoginMemory/each+100)
	small := &endedConn{}
	(&hold{of: &m, client: small}).take(freeLoginMemory)
	holds := make([]hold, len(conns))
	for i := range holds {
		conns[i] = &endedConn{}
		holds[i] = hold{of: &m, client: conns[i]}
		if i == 1 {
			holds[1].take(each)
			holds[1].release()
			continue
		}
		for range each / 1024 {
			holds[i].take(1024)
		}
		if m.taken > mostLoginMemory {
			t.Fatalf("%d logins hold %d bytes, want %d at most", i+1, m.taken, mostLoginMemory)
		}
	}
	if small.ended || conns[1].ended || conns[len(conns)-1].ended {
		t.Error("a login ended that holds nothing, or the latest one")
	}
	if !conns[0].ended || !conns[2].ended {
		t.Error("the oldest ones go on")
	}
	for i := range holds {
		holds[i].release()
		holds[i].release() // again, as where the client proved who it is
	}
	if m.taken != 0 || m.holders.Len() != 0 {
		t.Errorf("%d bytes of %d logins are left", m.taken, m.holders.Len())
	}
}
