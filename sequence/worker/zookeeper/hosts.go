package zookeeper

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/go-zookeeper/zk"
)

// hosts has the library connect to the servers by their names, one after the other. With its own way, names are looked up
// once, which must work at the start, and no certificate can be compared with a name.
type hosts struct {
	mu         sync.Mutex // guards what follows
	servers    []string
	curr, last int // the last one tried, and the one after which all have been
}

var _ zk.HostProvider = (*hosts)(nil)

// Init implements [zk.HostProvider].
func (h *hosts) Init(servers []string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.servers, h.curr, h.last = servers, -1, -1
	return nil
}

// Len implements [zk.HostProvider].
func (h *hosts) Len() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.servers)
}

// Next implements [zk.HostProvider].
func (h *hosts) Next() (server string, retryStart bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.curr = (h.curr + 1) % len(h.servers)
	retryStart = h.curr == h.last
	if h.last < 0 {
		h.last = 0
	}
	return h.servers[h.curr], retryStart
}

// Connected implements [zk.HostProvider].
func (h *hosts) Connected() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last = h.curr
}

// diary keeps why the library could not connect, which it tells to its logger only.
type diary struct{ text atomic.Pointer[string] }

// Printf implements [zk.Logger].
func (d *diary) Printf(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	d.text.Store(&text)
}

// event forgets it when there is a connection.
func (d *diary) event(e zk.Event) {
	if e.State == zk.StateHasSession {
		d.text.Store(nil)
	}
}

// last is the last reason, "" while there is a connection.
func (d *diary) last() string {
	if text := d.text.Load(); text != nil {
		return *text
	}
	return ""
}
