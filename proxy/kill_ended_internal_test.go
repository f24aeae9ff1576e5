package proxy

import (
	"database/sql"
	"errors"
	"net"
	"testing"

	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/threads"
	"github.com/seqgate/seqgate/proxy/threads/threadstest"
	"github.com/seqgate/seqgate/proxy/wire"
)

// A KILL QUERY may find a session whose thread has just ended: where that is certain the answer is the servers' own.
func TestKillOfEndedThread(t *testing.T) {
	for _, tt := range []struct {
		name  string
		id    uint32 // of the thread; the server has one connection, 7, which is another's
		ended func(s *session)
		early bool // it ends before the server is asked
		want  error
	}{
		{"nothing is known", 8, func(*session) {}, false, threads.ErrUnsure},
		{"the session was killed", 8, func(s *session) { s.killed.Store(true) }, false, errSessionEnded},
		{"the session was killed, and the server has closed the connection", 8, func(s *session) { s.killed.Store(true); s.Ends.BackEnded.Store(true) }, false, errSessionEnded},
		{"the session has ended", 8, func(s *session) { s.Ends.Over = true }, false, errSessionEnded},
		{"the session has ended, and its connection is another's", 7, func(s *session) { s.Ends.Over = true }, true, errSessionEnded},
		{"the server has closed the connection", 8, func(s *session) { s.Ends.BackEnded.Store(true) }, false, nil},
		{"there is no connection now", 8, func(s *session) { s.ThreadID.Store(0) }, false, nil},
		{"there is another connection now, on which it may run", 8, func(s *session) { s.ThreadID.Store(9) }, false, threads.ErrUnsure},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			c, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			server := &threadstest.Server{Host: "10.0.0.9:5000", Command: "Query"}
			db := sql.OpenDB(server)
			defer db.Close()
			s := newSession(new(clientConn), &serverConn{serverState: serverState{keyspace: &catalog.Keyspace{Name: "main", DB: db},
				Session: backend.Session{Wire: wire.NewConn(c)}}})
			s.ThreadID.Store(tt.id)
			if tt.early {
				tt.ended(s)
			} else {
				server.Asked = func() { tt.ended(s) }
			}
			srv := &Server{}
			if err := srv.end(t.Context(), killTarget{session: s, keyspace: s.keyspace}, true); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
			if len(server.Killed) > 0 {
				t.Errorf("another's statement was ended: %q", server.Killed)
			}
		})
	}
}
