package socket

import (
	"crypto/tls"
	"net"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

func newTestWatcher(t *testing.T) *Watcher {
	t.Helper()
	h, err := NewWatcher()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// pair gives the two sides of a connection.
func pair(t *testing.T, network, address string) (ours, theirs net.Conn) {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if theirs, err = net.Dial(network, l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if ours, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = ours.Close(), theirs.Close() })
	return ours, theirs
}

// watched gives a channel that gets a value for each call of gone.
func watched(t *testing.T, h *Watcher, c net.Conn) (gone chan struct{}, stop func()) {
	t.Helper()
	gone = make(chan struct{}, 10)
	stop, err := h.Watch(c, func() { gone <- struct{}{} })
	if err != nil {
		t.Fatal(err)
	}
	return gone, stop
}

func wantGone(t *testing.T, gone <-chan struct{}) {
	t.Helper()
	select {
	case <-gone:
	case <-time.After(30 * time.Second):
		t.Fatal("the peer's end was not told in 30 s")
	}
}

// pass lets the watcher deal with all that happened before.
func pass(t *testing.T, h *Watcher) {
	t.Helper()
	ours, theirs := pair(t, "tcp", "127.0.0.1:0")
	gone, _ := watched(t, h, ours)
	_ = theirs.Close()
	wantGone(t, gone)
}

func TestHangups(t *testing.T) {
	ends := map[string]func(c net.Conn) error{
		"close":      net.Conn.Close,
		"half close": func(c net.Conn) error { return c.(interface{ CloseWrite() error }).CloseWrite() },
	}
	addresses := map[string]string{"tcp": "127.0.0.1:0", "unix": filepath.Join(t.TempDir(), "s")}
	for network, address := range addresses {
		for name, end := range ends {
			t.Run(network+" "+name, func(t *testing.T) {
				h := newTestWatcher(t)
				ours, theirs := pair(t, network, address)
				gone, stop := watched(t, h, tls.Client(ours, nil)) // its socket is found underneath
				defer stop()
				if _, err := theirs.Write([]byte("bytes are no end")); err != nil {
					t.Fatal(err)
				}
				pass(t, h)
				if len(gone) > 0 {
					t.Fatal("bytes were taken for the end")
				}
				if err := end(theirs); err != nil {
					t.Fatal(err)
				}
				wantGone(t, gone)
				_ = theirs.Close() // a second event, after a half close
				pass(t, h)
				if len(gone) > 0 {
					t.Error("the end was told twice")
				}
			})
		}
	}
}

// A reset is an end, and so is one that came before the watch.
func TestHangupsReset(t *testing.T) {
	h := newTestWatcher(t)
	ours, theirs := pair(t, "tcp", "127.0.0.1:0")
	if err := theirs.(*net.TCPConn).SetLinger(0); err != nil {
		t.Fatal(err)
	}
	_ = theirs.Close()
	gone, _ := watched(t, h, ours)
	wantGone(t, gone)
}

// After stop nothing is told, also when the descriptor is another connection's.
func TestHangupsStop(t *testing.T) {
	h := newTestWatcher(t)
	ours, theirs := pair(t, "tcp", "127.0.0.1:0")
	gone, stop := watched(t, h, ours)
	stop()
	again, _ := watched(t, h, ours) // a connection may be watched anew
	_ = ours.Close()
	stop() // of a closed connection, and once more
	for range 20 {
		other, peer := pair(t, "tcp", "127.0.0.1:0")
		reused, _ := watched(t, h, other)
		_ = peer.Close()
		wantGone(t, reused)
	}
	_ = theirs.Close()
	pass(t, h)
	if len(gone)+len(again) > 0 {
		t.Error("an end was told of a connection that is closed")
	}
}

// What has no socket is not watched.
func TestHangupsWithoutSocket(t *testing.T) {
	h := newTestWatcher(t)
	a, b := net.Pipe()
	gone, stop := watched(t, h, a)
	_ = b.Close()
	pass(t, h)
	stop()
	if len(gone) > 0 || len(h.gone) > 0 {
		t.Error("a pipe was watched")
	}
}

func TestHangupsMemory(t *testing.T) {
	h := newTestWatcher(t)
	const connections = 2000
	var conns []net.Conn
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for range connections {
		theirs, err := net.Dial("unix", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		ours, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, ours)
		t.Cleanup(func() { _, _ = ours.Close(), theirs.Close() })
	}
	inUse := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	stops := make([]func(), 0, connections)
	before := inUse()
	for _, c := range conns {
		stop, err := h.Watch(c, func() {})
		if err != nil {
			t.Fatal(err)
		}
		stops = append(stops, stop)
	}
	per := (int64(inUse()) - int64(before)) / connections
	t.Logf("%d bytes for each watched connection", per)
	if per > 300 {
		t.Errorf("%d bytes for each watched connection, want at most 300", per)
	}
	for _, stop := range stops {
		stop()
	}
	if len(h.gone) > 0 {
		t.Errorf("%d connections are left", len(h.gone))
	}
}
