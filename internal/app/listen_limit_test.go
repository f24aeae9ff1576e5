package app

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// limitedServer serves /slow, which ends when the test does, and all else at once, over so many connections at once.
func limitedServer(t *testing.T, most int, secure bool) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Path == "/slow" {
			<-q.Context().Done()
		}
		fmt.Fprint(w, "ok")
	}))
	s.Config.IdleTimeout = 10 * time.Minute
	s.Listener = limitListener(s.Listener, most, s.Config)
	start := s.Start
	if secure {
		start = s.StartTLS
	}
	start()
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

func dialHTTP(t *testing.T, addr string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if err := c.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	return c
}

func request(t *testing.T, c net.Conn, path string) {
	t.Helper()
	if _, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", path); err != nil {
		t.Fatal(err)
	}
}

// isClosed reports whether the other side closes a connection that it has not answered.
func isClosed(c net.Conn) bool {
	_, err := c.Read(make([]byte, 1))
	var timeout net.Error
	return err != nil && !(errors.As(err, &timeout) && timeout.Timeout())
}

// Clients that hold all connections and ask nothing, or have asked and hold theirs, do not keep another one out.
func TestIdleHTTPClientsKeepNobodyOut(t *testing.T) {
	const most = 5
	for _, secure := range []bool{false, true} {
		s := limitedServer(t, most, secure)
		addr := s.Listener.Addr().String()
		idle := make([]net.Conn, most)
		for i := range idle {
			idle[i] = dialHTTP(t, addr)
			if i%2 == 0 && !secure { // one that has had an answer
				request(t, idle[i], "/")
				if answer, err := bufio.NewReader(idle[i]).ReadString('\n'); err != nil || !strings.Contains(answer, "200") {
					t.Fatalf("%q, %v", answer, err)
				}
			}
		}
		time.Sleep(idleLeast) // younger ones may still be about to ask
		answer, err := s.Client().Get(s.URL)
		if err != nil {
			t.Fatalf("TLS %v: a client that comes later: %v", secure, err)
		}
		_ = answer.Body.Close()
		if secure && !isClosed(idle[0]) {
			t.Error("the client that was idle for longest goes on")
		}
	}
}

// Where each connection has a request under way one more is closed, and one that ends makes room.
func TestLimitListener(t *testing.T) {
	const most = 3
	h := &http.Server{}
	if l := limitListener(nil, 0, h); l != nil || h.ConnContext != nil {
		t.Error("no limit is one")
	}
	s := limitedServer(t, most, false)
	addr := s.Listener.Addr().String()
	l := s.Listener.(*limitedListener)
	counts := func() (taken, idle int) {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.taken, l.idle.Len()
	}
	busy := make([]net.Conn, most)
	for i := range busy {
		busy[i] = dialHTTP(t, addr)
		request(t, busy[i], "/slow")
	}
	waitThat(t, "all requests to be under way", func() bool { taken, idle := counts(); return taken == most && idle == 0 })
	if !isClosed(dialHTTP(t, addr)) {
		t.Error("one too many is served")
	}
	_ = busy[0].Close()
	waitThat(t, "a place to be free", func() bool { taken, _ := counts(); return taken == most-1 })
	c := dialHTTP(t, addr)
	request(t, c, "/")
	if answer, err := bufio.NewReader(c).ReadString('\n'); err != nil || !strings.Contains(answer, "200") {
		t.Errorf("in its place: %q, %v", answer, err)
	}
	s.CloseClientConnections()
	waitThat(t, "all places to be free", func() bool { taken, idle := counts(); return taken == 0 && idle == 0 })
}
