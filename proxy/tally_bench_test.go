package proxy

import (
	"testing"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/meter"
)

// BenchmarkTally is what counting adds to a relayed statement: the session's notes, and the bytes and commands of both
// sides. The same in several goroutines is what they cost each other.
func BenchmarkTally(b *testing.B) {
	m, server := meter.New(), meter.NewBackend()
	newSession := func(id uint32) *session {
		s := newSession(&clientConn{id: id, front: &wire{}}, &serverConn{back: &wire{}})
		s.tally.stripe = m.Stripe(id)
		s.front.read, s.front.written = s.tally.stripe.Bytes()
		stripe := server.Stripe(id)
		s.back.read, s.back.written, s.back.queries = &stripe.In, &stripe.Out, &stripe.Queries
		return s
	}
	statement := func(s *session) {
		s.front.read.Add(40)
		s.beginTally()
		s.noteCommand(3)
		s.noteKind(kindOf(parser.Select))
		s.back.wrote(40)
		s.back.queries.Add(1)
		s.back.read.Add(80)
		s.front.wrote(80)
		s.endTally()
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
