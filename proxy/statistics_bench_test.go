package proxy

import (
	"testing"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/meter"
	"github.com/seqgate/seqgate/proxy/wire"
)

// BenchmarkTally is what counting adds to a relayed statement: the session's notes, and the bytes and commands of both
// sides. The same in several goroutines is what they cost each other.
func BenchmarkTally(b *testing.B) {
	m, server := meter.New(), meter.NewBackend()
	newSession := func(id uint32) *session {
		s := newSession(&clientConn{id: id, front: &wire.Conn{}}, &serverConn{serverState: serverState{Session: backend.Session{Wire: &wire.Conn{}}}})
		s.statistics.stripe = m.Stripe(id)
		s.front.BytesRead, s.front.BytesWritten = s.statistics.stripe.Bytes()
		stripe := server.Stripe(id)
		s.Wire.BytesRead, s.Wire.BytesWritten, s.Wire.Queries = &stripe.In, &stripe.Out, &stripe.Queries
		return s
	}
	statement := func(s *session) {
		s.front.BytesRead.Add(40)
		s.beginStatistics()
		s.noteCommand(3)
		s.noteKind(kindOf(parser.Select))
		s.Wire.Wrote(40)
		s.Wire.Queries.Add(1)
		s.Wire.BytesRead.Add(80)
		s.front.Wrote(80)
		s.endStatistics()
	}
	b.Run("one session", func(b *testing.B) {
		s := newSession(0)
		b.ReportAllocs()
		for b.Loop() {
			statement(s)
		}
	})
	b.Run("parallel", func(b *testing.B) {
		id := uint32(0)
		sessions := make(chan *session, 64)
		for range cap(sessions) {
			id++
			sessions <- newSession(id)
		}
		b.RunParallel(func(pb *testing.PB) {
			s := <-sessions
			for pb.Next() {
				statement(s)
			}
		})
	})
}
