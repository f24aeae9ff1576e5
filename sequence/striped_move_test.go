package sequence_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/sequencetest"
)

func TestStripedMove(t *testing.T) {
	s := newStriping(t, sequence.StripeLayout{Stripes: 4, Chunk: 100}).seeded(t, 1, 10)
	admin := s.open(t, sequence.StrategyCAS)
	store := sequence.Patient(s.open(t, sequence.StrategyIncrement))
	res, err := store.Reserve(t.Context(), s.request(1))
	if err != nil {
		t.Fatal(err)
	}
	home := int(res.First/100) + 1
	away := []string{"b", "a"}[(home-1)%2]
	last := res.Last()
	for _, to := range []string{away, away, []string{"a", "b"}[(home-1)%2], away} {
		if err := admin.Move(t.Context(), s.database, "s", home, to); err != nil {
			t.Fatal(err)
		}
		if got := s.stripes(t); !strings.Contains(got, string(rune('0'+home))+" "+to) || strings.Count(got, ",") != 3 {
			t.Errorf("got the stripes %s, want stripe %d on server %s", got, home, to)
		}
		// The process follows its stripe. Each move leaves out one id.
		q := s.request(1)
		q.After, q.Cache = last, res.Cache
		next, err := store.Reserve(t.Context(), q)
		if err != nil || next.First <= last || next.First > last+3 || next.Raised {
			t.Errorf("after the move to %s: got %+v, %v, want ids right after %d", to, next, err, last)
		}
		last = next.Last()
	}
	for _, tt := range []struct {
		stripe int
		to     string
		text   string
	}{
		{0, "a", "there are the stripes 1 to 4"}, {5, "a", "there are the stripes 1 to 4"}, {1, "nowhere", "a, b"},
	} {
		if err := admin.Move(t.Context(), s.database, "s", tt.stripe, tt.to); err == nil || !strings.Contains(err.Error(), tt.text) {
			t.Errorf("move %d to %s: got %v, want an error with %q", tt.stripe, tt.to, err, tt.text)
		}
	}
}

// Stripes go to and fro while processes take ids, some of which know only the server where one of them stays.
func TestStripedMoveUnderLoad(t *testing.T) {
	s := newStriping(t, sequence.StripeLayout{Stripes: 4, Chunk: 50}).seeded(t, 1, 10)
	admin := s.open(t, sequence.StrategyCAS)
	var c crowd
	for _, strategy := range strategies {
		c.join(t, 2, s.sequence(t, s.open(t, strategy), sequence.Config{MaxStep: 40, Timeout: time.Minute}))
	}
	alone := newStriped(t, []sequence.StripeServer{{Name: "a", DB: openPool(t, s.servers[0].DSN(""))}}, sequence.StrategyForUpdate, s.layout)
	c.join(t, 2, s.sequence(t, alone, sequence.Config{MaxStep: 40, Timeout: time.Minute}))
	for i := range 40 {
		stripe, to := 2+i%3, serverName(rand.IntN(2))
		if err := admin.Move(t.Context(), s.database, "s", stripe, to); err != nil {
			t.Error(err)
		}
		c.goOn(t, 2)
	}
	c.leave(t)
}

// A move that is cut off at any statement leaves the stripe on one server or on none, and the next move ends it.
func TestStripedMoveCutOff(t *testing.T) {
	s := newStriping(t, sequence.StripeLayout{Stripes: 2, Chunk: 1000})
	proxies, addrs := s.proxies(t)
	s.seeded(t, 1, 10)
	admin := s.open(t, sequence.StrategyCAS, addrs...)
	seq := s.sequence(t, s.open(t, sequence.StrategyIncrement), sequence.Config{Timeout: time.Minute})
	var ids sequencetest.IDs
	take := func() {
		t.Helper()
		if err := ids.Take(func() (sequence.Range, error) { return seq.Next(t.Context(), 10) }); err != nil {
			t.Error(err)
		}
	}
	at := 0
	for name, when := range map[string]sequencetest.Cut{"unsent": sequencetest.CutUnsent, "unanswered": sequencetest.CutUnanswered} {
		for _, statement := range []string{"SELECT", "CREATE", "START", "DELETE", "UPDATE", "COMMIT", "INSERT"} {
			for from := range 2 { // which of the servers' connections breaks
				take()
				proxies[(at+from)%2].CutNext(when, statement)
				aim := serverName(1 - at)
				err := admin.Move(t.Context(), s.database, "s", 1, aim)
				found := s.stripes(t)
				if strings.Count(found, "1 ") != 1 {
					t.Errorf("%s %s: got the stripes %s, want one stripe 1", statement, name, found)
				}
				take()
				if err != nil { // the next one may have another aim
					aim = serverName(rand.IntN(2))
					if err := s.open(t, sequence.StrategyCAS).Move(t.Context(), s.database, "s", 1, aim); err != nil {
						t.Errorf("%s %s: once more: %v", statement, name, err)
					}
				}
				if found := s.stripes(t); found != "1 "+aim+", 2 b" {
					t.Errorf("%s %s: got the stripes %s, want stripe 1 on server %s", statement, name, found, aim)
				}
				at = int(aim[0] - 'a')
				proxies[0].CutAll() // and what is armed still
				for _, p := range proxies {
					p.CutNext(when, "no such statement")
				}
			}
		}
	}
	take()
	ids.NoDuplicates(t)
	ids.Increasing(t)
	if cuts := proxies[0].Cuts() + proxies[1].Cuts(); cuts < 14 {
		t.Errorf("got %d cuts, want 14 at least: each statement on each server that runs it, unsent and unanswered", cuts)
	}
}

// A stripe on its way is shown, is not raised without a word, and goes where it was to go before it goes elsewhere.
func TestStripedMovePending(t *testing.T) {
	s := newStriping(t, sequence.StripeLayout{Stripes: 2, Chunk: 1000}).seeded(t, 1, 10)
	p := sequencetest.NewProxy(t, s.servers[1].Addr)
	p.CutNext(sequencetest.CutUnsent, "INSERT")
	if err := s.open(t, sequence.StrategyCAS, s.servers[0].Addr, p.Addr()).Move(t.Context(), s.database, "s", 1, "b"); err == nil {
		t.Fatal("got no error of a cut connection")
	}
	admin := s.open(t, sequence.StrategyCAS)
	if got, want := s.stripes(t), "1 a to b, 2 b"; got != want {
		t.Errorf("got the stripes %s, want %s", got, want)
	}
	if _, err := admin.Raise(t.Context(), sequence.Request{Database: s.database, Table: "s", After: 5000}); err == nil || !strings.Contains(err.Error(), "seqgate seq move") {
		t.Errorf("raise: got %v, want an error that says what to do", err)
	}
	alone := newStriped(t, []sequence.StripeServer{{Name: "a", DB: openPool(t, s.servers[0].DSN(""))}}, sequence.StrategyCAS, s.layout)
	if err := alone.Move(t.Context(), s.database, "s", 1, "a"); err == nil || !strings.Contains(err.Error(), "from server a to server b") {
		t.Errorf("move by somebody who does not know server b: got %v, want an error that names it", err)
	}
	unreachable := s.open(t, sequence.StrategyCAS, s.servers[0].Addr, "127.0.0.1:1")
	if err := unreachable.Move(t.Context(), s.database, "s", 1, "a"); err == nil || !strings.Contains(err.Error(), "server b: ") {
		t.Errorf("move without server b: got %v, want an error that names it", err)
	}
	if err := unreachable.Move(t.Context(), s.database, "s", 2, "a"); !errors.Is(err, sequence.ErrNoRow) || !strings.Contains(err.Error(), "server b: ") {
		t.Errorf("move of a stripe that is out of reach: got %v, want ErrNoRow with the server that does not answer", err)
	}
	if err := admin.Move(t.Context(), s.database, "s", 1, "a"); err != nil {
		t.Error(err)
	}
	if got, want := s.stripes(t), "1 a, 2 b"; got != want {
		t.Errorf("got the stripes %s, want %s", got, want)
	}
	if _, err := admin.Raise(t.Context(), sequence.Request{Database: s.database, Table: "s", After: 5000}); err != nil {
		t.Error(err)
	}
}
