package sequence

import (
	"container/list"
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"sync"
	"time"

	"github.com/seqgate/seqgate/internal/adaptive"
)

// turns has the attempts at one server wait in line. An [adaptive.Limit] says how many are under way together. After a
// connection that could not be made or was cut, and after the answer that the server is read-only, nobody has a turn for the
// time of a [Backoff], and then one at a time, until one is served. So a server that serves nobody is asked a few times a
// second by each process, not by each of its sequences; and one that is back gets no more work than it can do, however many
// sequences of however many processes need ids by then.
//
// A row may be held up on its own, as by somebody's lock. Attempts on it get one turn in lastShare while others wait, and lower
// the limit once, or when nobody else is answered either.
type turns struct {
	mu       sync.Mutex
	limit    adaptive.Limit
	taken    int
	given    uint64       // turns so far
	silent   int          // attempts that were not answered since one was
	line     [2]list.List // of *inLine: of rows that are held up the second
	heldUp   map[rowName]bool
	failures int // attempts in a row that the server served nobody by
	pauses   int // because of them, ever
	paused   bool
	cause    error // what the latest of them ended with; nil when an attempt was answered since
}

// lastShare: see turns.
const lastShare = 8

// rowName names a sequence's row.
type rowName struct {
	database, table, tag string
	row                  int64
}

// inLine is an attempt that waits for its turn.
type inLine struct {
	row  rowName
	came chan turn
}

// turn is one attempt's, from when it asks for a connection to its end. Whoever has one calls one of its methods, once.
type turn struct {
	of      *turns // nil: there is no line
	row     rowName
	began   time.Time
	lowered int // see adaptive.Limit
	pauses  int // see turns
}

func newTurns(most int) *turns {
	return &turns{limit: adaptive.NewLimit(most), heldUp: map[rowName]bool{}}
}

// take waits for a turn. In a line that is nil it is everybody's.
func (t *turns) take(ctx context.Context, q Request) (turn, error) {
	if t == nil {
		return turn{}, nil
	}
	p := &inLine{rowName{q.Database, q.Table, q.Tag, q.Row}, make(chan turn, 1)}
	t.mu.Lock()
	line := &t.line[0]
	if t.heldUp[p.row] {
		line = &t.line[1]
	}
	at := line.PushBack(p)
	t.advance()
	t.mu.Unlock()
	select {
	case own := <-p.came:
		return own, nil
	case <-ctx.Done():
		t.mu.Lock()
		defer t.mu.Unlock()
		select {
		case <-p.came:
			t.taken--
			t.advance()
		default:
			line.Remove(at)
		}
		if t.cause != nil {
			return turn{}, fmt.Errorf("%w; the server served nobody before: %w", ctx.Err(), t.cause)
		}
		return turn{}, ctx.Err()
	}
}

// advance gives turns to the first in the line. t.mu is held.
func (t *turns) advance() {
	for !t.paused && t.taken < t.most() {
		line, other := &t.line[0], &t.line[1]
		if t.given%lastShare == lastShare-1 {
			line, other = other, line
		}
		if line.Len() == 0 {
			line = other
		}
		if line.Len() == 0 {
			return
		}
		t.taken++
		t.given++
		p := line.Remove(line.Front()).(*inLine)
		p.came <- turn{t, p.row, time.Now(), t.limit.Lowered(), t.pauses}
	}
}

// most is how many attempts may be under way. t.mu is held.
func (t *turns) most() int {
	if t.failures > 0 {
		return 1
	}
	return t.limit.N()
}

// end ends the turn, after what f sees to. f is called with the line's lock held.
func (own turn) end(f func(t *turns)) {
	if own.of == nil {
		return
	}
	own.of.mu.Lock()
	defer own.of.mu.Unlock()
	own.of.taken--
	f(own.of)
	own.of.advance()
}

// handBack ends the turn of an attempt that was not made.
func (own turn) handBack() { own.end(func(*turns) {}) }

// answered ends the turn of an attempt that ended with err before its time was over.
func (own turn) answered(err error) {
	own.end(func(t *turns) {
		t.silent = 0
		if servesNobody(err) {
			t.pause(own, err)
			return
		}
		t.failures, t.cause = 0, nil
		if err != nil && IsTemporary(err) { // as a wait for somebody's lock, which says nothing of what the server can do
			t.heldUp[own.row] = true
		} else {
			delete(t.heldUp, own.row)
			t.limit.Answered(time.Since(own.began), attemptTimeout)
		}
		if t.taken+t.line[0].Len()+t.line[1].Len() == 0 {
			t.limit.Restore()
		}
	})
}

// unanswered ends the turn of an attempt whose time was over.
func (own turn) unanswered() {
	own.end(func(t *turns) {
		t.silent++
		if !t.heldUp[own.row] || t.silent > t.limit.N() {
			t.limit.Unanswered(own.lowered)
		}
		t.heldUp[own.row] = true
	})
}

// unconnected ends the turn of an attempt for which no connection could be made. A server that has none left, and says so,
// is asked too much as well; one that refuses for another reason has answered.
func (own turn) unconnected(why error) {
	if !IsTemporary(why) {
		own.answered(why)
		return
	}
	own.end(func(t *turns) {
		t.pause(own, why)
		t.limit.Unanswered(own.lowered)
	})
}

// pause gives nobody a turn for some time. t.mu is held.
func (t *turns) pause(own turn, why error) {
	t.cause = why
	if own.pauses == t.pauses { // of those under way together, one pause for all
		t.failures++
		t.pauses++
		t.paused = true
		time.AfterFunc(Backoff(t.failures), t.resume)
	}
}

// resume ends a pause.
func (t *turns) resume() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.paused = false
	t.advance()
}

// withTurns is the connector of a pool whose attempts take turns. database/sql has no other place for what belongs to a pool
// than the driver that its connector names.
type withTurns struct {
	driver.Connector
	turns *turns
}

// Driver implements [driver.Connector].
func (c withTurns) Driver() driver.Driver { return turnsDriver{c.Connector.Driver(), c.turns} }

type turnsDriver struct {
	driver.Driver
	turns *turns
}

// turnsOf returns the line for attempts on db; nil for a pool that is not from [NewPool].
func turnsOf(db *sql.DB) *turns {
	d, _ := db.Driver().(turnsDriver)
	return d.turns
}
