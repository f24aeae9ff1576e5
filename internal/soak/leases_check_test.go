package soak

import (
	"strings"
	"testing"
	"time"
)

// began is when the histories in these tests begin.
var began = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func msAt(ms int) time.Time { return began.Add(time.Duration(ms) * time.Millisecond) }

// story is what a process has told.
type story struct {
	process string
	LeaseEvent
}

func took(process, token string, done, after, until int) story {
	return story{process, LeaseEvent{Kind: Take, Token: token, Worker: 1, Sent: msAt(done), Done: msAt(done), Lease: lease, Quarantine: lease,
		After: msAt(after), Until: msAt(until)}}
}

// tookLate is told only when the answer comes, a long time after it was asked for.
func tookLate(process, token string, sent, done, after, until int) story {
	s := took(process, token, done, after, until)
	s.Sent = msAt(sent)
	return s
}

func held(process, token string, sent, until int) story {
	return story{process, LeaseEvent{Kind: Hold, Token: token, Worker: 1, Sent: msAt(sent), Lease: lease, Quarantine: lease, Until: msAt(until)}}
}

func dropped(process, token string, sent int) story {
	return story{process, LeaseEvent{Kind: Drop, Token: token, Worker: 1, Sent: msAt(sent), Quarantine: lease}}
}

// gave is n ids of worker 1 from a sequence on.
func gave(process string, ms, sequence, n int) story {
	l := layout()
	tick := msAt(ms).Sub(time.UnixMilli(l.Epoch)) / l.Unit
	return story{process, LeaseEvent{Kind: Give, Runs: [][2]int64{{int64(tick)<<14 | 1<<9 | int64(sequence), int64(n)}}}}
}

func TestLeaseChecker(t *testing.T) {
	first := []story{took("a", "x", 0, -1000, 1000), gave("a", 0, 0, 512), gave("a", 10, 0, 100), held("a", "x", 500, 1500), gave("a", 1500, 3, 1)}
	tests := []struct {
		name string
		then []story
		want string // "": nothing is wrong
	}{
		{"one holder", nil, ""},
		{"the next one", []story{took("b", "y", 2500, 1500, 3500), gave("b", 1510, 0, 10)}, ""},
		{"the next one after a release", []story{dropped("a", "x", 600), took("b", "y", 1600, 1500, 2600)}, ""},
		{"the next one after a release that was lost", []story{dropped("a", "x", 2400), took("b", "y", 2500, 1500, 3500)}, ""},
		{"told late", []story{took("b", "y", 2500, 1500, 3500), gave("a", 1490, 0, 10)}, ""},
		{"told when it is another's", []story{took("b", "y", 2500, 2600, 3500), tookLate("c", "z", 2100, 4200, 1500, 2600), held("b", "y", 3400, 4000)}, ""},
		{"told when it is another's, and held", []story{took("b", "y", 2500, 2600, 3500), tookLate("c", "z", 2100, 4200, 1500, 2600), took("c", "z", 4210, 1500, 2700)},
			"exclusive: worker id 1 is b's"},
		{"asked again", []story{took("a", "x", 700, -1000, 1700), gave("a", 1700, 0, 1)}, ""},

		{"an id twice", []story{gave("a", 10, 99, 2)}, "unique: a gave the id"},
		{"an id twice, by another", []story{took("b", "y", 2500, 1000, 3500), gave("b", 1500, 3, 1)}, "unique: b gave the id"},
		{"after what is reserved", []story{gave("a", 1510, 0, 1)}, "reserved: a gave the id"},
		{"before what is reserved", []story{took("b", "y", 2500, 1500, 3500), gave("b", 1500, 9, 1)}, "reserved: b gave the id"},
		{"without a lease", []story{gave("b", 20, 0, 1)}, "reserved: b gave the id"},
		{"ids of two ticks", []story{gave("a", 20, 500, 13)}, "not of one tick"},
		{"no lease to extend", []story{held("b", "y", 600, 1600)}, "exclusive: b extends"},
		{"before the lease has ended", []story{took("b", "y", 1400, 1500, 2400)}, "exclusive: worker id 1 is a's"},
		{"in quarantine", []story{took("b", "y", 2400, 1500, 3400)}, "exclusive: worker id 1 is a's"},
		{"in the quarantine after a release", []story{dropped("a", "x", 600), took("b", "y", 1500, 1500, 2500)}, "exclusive: worker id 1 is a's"},
		{"extended when it is another's", []story{took("b", "y", 2500, 2600, 3500), held("a", "x", 2600, 2600)}, "exclusive: worker id 1 is b's"},
		{"not told the time", []story{took("b", "y", 2500, 1490, 3500)}, "apart: of worker id 1, a may give ids up to"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := NewLeaseChecker(layout())
			for _, s := range append(first[:len(first):len(first)], tt.then...) {
				c.Add(s.process, s.LeaseEvent)
			}
			wantBreach(t, c, tt.want)
		})
	}
}

func wantBreach(t *testing.T, c *LeaseChecker, want string) {
	t.Helper()
	switch some, all := c.Breaches(); {
	case want == "" && all > 0:
		t.Errorf("got %q, want nothing", some)
	case want != "" && !strings.Contains(strings.Join(some, "\n"), want):
		t.Errorf("got %q, want one with %q", some, want)
	}
}

// What is kept must be no earlier than what was told before it was read.
func TestLeaseCheckerKept(t *testing.T) {
	for ms, want := range map[int]string{1000: "", 1500: "", 999: "kept: ids of worker id 1"} {
		c := NewLeaseChecker(layout())
		s := took("a", "x", 0, -1000, 1000)
		c.Add(s.process, s.LeaseEvent)
		c.Kept(c.Expect(), map[int64]time.Time{1: msAt(ms)})
		wantBreach(t, c, want)
	}
	c := NewLeaseChecker(layout())
	s := gave("a", 1000, 0, 1) // whatever it said of a lease
	c.Add(s.process, s.LeaseEvent)
	c.Kept(c.Expect(), map[int64]time.Time{1: msAt(990)})
	wantBreach(t, c, "kept: ids of worker id 1")
}
