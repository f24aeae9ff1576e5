package main

import (
	"time"

	"github.com/seqgate/seqgate/internal/adaptive"
	"github.com/seqgate/seqgate/sequence"
)

// What package sequence has as constants: how long the wait for a turn, that for a connection, an attempt that has one, and in
// it the wait for a row's lock may take.
const (
	waitTimeout    = 4 * time.Second
	connectTimeout = 3 * time.Second
	attemptTimeout = 3 * time.Second
	lockWait       = 2 * time.Second

	lastShare = 8
)

// Statements of an attempt that begins with a new connection, and of the others.
const (
	connects = -1
	reads    = 0 // cas: SELECT; for_update: BEGIN
	locks    = 1 // for_update: SELECT ... FOR UPDATE
)

// job is a refill that has not got its block yet.
type job struct {
	holder, row int32
	since       int64 // when it began to wait for a connection; in the future while it pauses
	failures    int32
	heldUp      bool // an attempt of it had a connection, and got no block
}

// attempt is a job that has a connection.
type attempt struct {
	job
	gen      uint32
	began    int64  // when it got its turn
	lowered  int    // see adaptive.Limit
	at       int8   // the statement that is under way
	tries    int8   // of cas
	version  uint32 // of the row, as cas read it
	locked   bool   // the row's lock is its
	queues   bool   // it waits for that
	given    bool   // nobody waits for its answer any more
	occupied bool
}

// rowState is one row of a sequence table.
type rowState struct {
	version uint32
	locked  bool
	waiting []int32 // attempts that wait for the lock, in the order they came
}

// pool is what one seqgate has at one server.
type pool struct {
	waiting     []job
	busy, conns int
	limit       adaptive.Limit
	silent      int  // attempts that were not answered since one was
	looking     bool // a poolLooks is to come
}

// server is a sequence server: it works at one statement after the other, in the order they come.
type server struct {
	w        *world
	index    int32
	costs    []time.Duration
	connect  time.Duration
	free     int64 // when it has done all it was given
	down     bool
	admitted int // seqgates that it answers
	pools    []pool
	attempts []attempt
	unused   []int32 // places in attempts
	rows     map[int32]*rowState
	pending  int // jobs in pools and attempts
	open     int // connections
	load     load
}

// load is what a server did since the load was last looked at.
type load struct {
	refills, statements, conflicts, lockWaits, failed, lost int64 // lost: ids of blocks that came too late
	busiest                                                 int64 // refills of the busiest sequence
	work                                                    time.Duration
}

func newServer(w *world) *server {
	s := &server{w: w, index: int32(len(w.servers)), costs: w.costs.refill(w.strategy), connect: w.costs.connect(),
		pools: make([]pool, w.gates), admitted: w.gates, rows: map[int32]*rowState{}}
	for gate := range s.pools {
		s.pools[gate].limit = adaptive.NewLimit(w.pool)
	}
	return s
}

// submit has a row refilled for holder i, at the server that has the row.
func (w *world) submit(i, row int32) {
	s := w.servers[w.place(i, row)]
	s.pending++
	s.put(job{holder: i, row: row, since: w.now})
}

// place returns the server of a row. A stripe whose server is away is left for one of another server.
func (w *world) place(i, row int32) int {
	if w.stripes == 0 {
		return int(row) % len(w.servers)
	}
	h := &w.holders[i]
	if w.servers[int(h.home)%len(w.servers)].down {
		var up []int16
		for stripe := range int16(w.stripes) {
			if !w.servers[int(stripe)%len(w.servers)].down {
				up = append(up, stripe)
			}
		}
		if len(up) > 0 {
			h.home = up[w.rng.IntN(len(up))]
		}
	}
	return int(h.home) % len(w.servers)
}

func (s *server) gate(j job) int { return int(j.holder) % s.w.gates }

// put has a job wait for a connection of its seqgate.
func (s *server) put(j job) {
	gate := s.gate(j)
	s.pools[gate].waiting = append(s.pools[gate].waiting, j)
	s.connectJobs(gate)
}

// connectJobs gives the free connections of a seqgate to jobs that wait.
func (s *server) connectJobs(gate int) {
	p := &s.pools[gate]
	for !s.down && gate < s.admitted && p.busy < p.limit.N() && len(p.waiting) > 0 {
		j, ok := s.pick(p)
		if !ok {
			if p.looking {
				return
			}
			p.looking = true
			s.w.after(10*time.Millisecond, event{kind: poolLooks, who: int32(gate), row: s.index})
			return
		}
		s.begin(p, j)
	}
}

// pick takes one of the jobs that wait, at random; one that was held up where it finds no other, or in its share of turns. One
// that has waited for too long has paused and waits again, perhaps many times since. It reports false when those it looked at
// pause.
func (s *server) pick(p *pool) (j job, ok bool) {
	at, own := -1, s.w.rng.IntN(lastShare) == 0
	for range 4 {
		i := s.w.rng.IntN(len(p.waiting))
		cycle := waitTimeout + s.pause(100)
		waited := time.Duration(s.w.now - p.waiting[i].since)
		if waited < 0 || waited%cycle >= waitTimeout {
			continue
		}
		at = i
		if p.waiting[i].heldUp == own {
			break
		}
	}
	if at < 0 {
		return job{}, false
	}
	j = p.waiting[at]
	last := len(p.waiting) - 1
	p.waiting[at] = p.waiting[last]
	p.waiting = p.waiting[:last]
	return j, true
}

// pause is sequence.Backoff with the run's own random numbers.
func (s *server) pause(failures int) time.Duration {
	d := adaptive.Pause(failures)
	return d - time.Duration(s.w.rng.Int64N(int64(d/2)))
}

// begin sends a job's first statement.
func (s *server) begin(p *pool, j job) {
	a := s.slot()
	at := &s.attempts[a]
	*at = attempt{job: j, gen: at.gen + 1, began: s.w.now, lowered: p.limit.Lowered(), at: reads, occupied: true}
	p.busy++
	left := attemptTimeout
	if p.conns < p.busy {
		p.conns++
		at.at, left = connects, connectTimeout
	}
	s.event(left, attemptEnds, a)
	s.event(roundTrip/2, statementIn, a)
}

// slot returns a free place for an attempt.
func (s *server) slot() int32 {
	if n := len(s.unused); n > 0 {
		a := s.unused[n-1]
		s.unused = s.unused[:n-1]
		return a
	}
	s.attempts = append(s.attempts, attempt{})
	return int32(len(s.attempts) - 1)
}

func (s *server) event(d time.Duration, k kind, a int32) {
	s.w.after(d, event{kind: k, who: a, row: s.index, gen: s.attempts[a].gen})
}

// happens takes in an event of a server.
func (s *server) happens(e event) {
	if e.kind == poolLooks {
		s.pools[e.who].looking = false
		s.connectJobs(int(e.who))
		return
	}
	a := &s.attempts[e.who]
	if !a.occupied || a.gen != e.gen {
		return
	}
	switch e.kind {
	case statementIn:
		s.enqueue(e.who)
	case statementRun:
		s.executed(e.who)
	case attemptEnds:
		s.giveUp(e.who)
	case lockEnds:
		if a.queues {
			s.giveUp(e.who)
		}
	}
}

// enqueue has the server work at the next statement of an attempt when it has done what came before.
func (s *server) enqueue(i int32) {
	a := &s.attempts[i]
	if a.given {
		s.drop(i)
		return
	}
	cost := s.connect
	if a.at >= 0 {
		cost = s.costs[a.at]
		s.load.statements++
	}
	s.free = max(s.free, s.w.now) + int64(cost)
	s.load.work += cost
	s.event(time.Duration(s.free-s.w.now), statementRun, i)
}

// executed does what a statement does to its row, and goes on to the next one.
func (s *server) executed(i int32) {
	a := &s.attempts[i]
	row := s.row(a.row)
	last := a.at == int8(len(s.costs)-1)
	switch {
	case a.at == connects && s.open >= s.w.most:
		s.refuse(i)
		return
	case a.at == connects:
		s.open++
		a.gen++ // the time to connect does not end it any more
		s.event(attemptTimeout, attemptEnds, i)
	case s.w.strategy == sequence.StrategyForUpdate && a.at == locks && row.locked:
		s.load.lockWaits++
		a.queues = true
		row.waiting = append(row.waiting, i)
		s.event(lockWait, lockEnds, i)
		return
	case s.w.strategy == sequence.StrategyForUpdate && a.at == locks:
		row.locked, a.locked = true, true
	case s.w.strategy == sequence.StrategyCAS && a.at == reads:
		a.version = row.version
	case s.w.strategy == sequence.StrategyCAS && a.version != row.version:
		s.conflicted(i)
		return
	case last:
		row.version++
		s.commit(i)
		return
	}
	a.at++
	s.event(roundTrip, statementIn, i)
}

func (s *server) row(number int32) *rowState {
	row := s.rows[number]
	if row == nil {
		row = &rowState{}
		s.rows[number] = row
	}
	return row
}

// conflicted has cas begin anew after a pause, as its function pause has it.
func (s *server) conflicted(i int32) {
	a := &s.attempts[i]
	s.load.conflicts++
	longest := min(100*time.Microsecond<<min(a.tries, 10), 5*time.Millisecond)
	a.at = reads
	if a.tries++; a.tries == 100 {
		s.giveUp(i)
		s.drop(i)
		return
	}
	s.event(roundTrip+time.Duration(s.w.rng.Int64N(int64(longest))), statementIn, i)
}

// commit has the attempt's block reserved, and given to its holder if that still waits for it.
func (s *server) commit(i int32) {
	a := s.attempts[i]
	w := s.w
	s.load.refills++
	if a.row == 0 {
		s.load.busiest++
	}
	own := int(a.row) == w.class[int(a.holder)/w.gates].own
	if a.given {
		s.load.lost += w.holders[a.holder].step
		s.drop(i)
		return
	}
	s.drop(i)
	s.pending--
	gate := s.gate(a.job)
	p := &s.pools[gate]
	p.busy--
	p.silent = 0
	p.limit.Answered(time.Duration(w.now-a.began), attemptTimeout)
	if p.busy+len(p.waiting) == 0 {
		p.limit.Restore()
	}
	if own {
		w.arrive(a.holder, w.reserve(a.holder))
	}
	s.connectJobs(gate)
}

// giveUp ends an attempt without a block: its connection is closed, and the job waits for another.
func (s *server) giveUp(i int32) {
	a := &s.attempts[i]
	if a.given {
		return
	}
	a.given = true
	s.load.failed++
	j := a.job
	j.failures++
	j.since = s.w.now + int64(s.pause(int(j.failures)))
	p := &s.pools[s.gate(j)]
	p.busy--
	p.conns--
	switch {
	case a.queues: // the server says that it waited for a lock
		p.silent = 0
	case a.at == connects:
		p.limit.Unanswered(a.lowered)
	default:
		if p.silent++; !j.heldUp || p.silent > p.limit.N() {
			p.limit.Unanswered(a.lowered)
		}
	}
	j.heldUp = j.heldUp || a.at != connects
	if a.queues {
		s.drop(i) // the server takes it out of the row's queue
	}
	s.put(j)
}

// refuse ends an attempt for which there is no connection: the server has as many as it may.
func (s *server) refuse(i int32) {
	s.giveUp(i)
	s.drop(i)
}

// drop forgets an attempt, and gives its lock to who waits for it.
func (s *server) drop(i int32) {
	a := &s.attempts[i]
	row, locked := s.row(a.row), a.locked
	a.occupied = false
	if a.given && a.at != connects {
		s.open--
	}
	if a.queues {
		return // its place is free when the row's queue comes to it
	}
	s.unused = append(s.unused, i)
	if locked {
		s.unlock(row)
	}
}

// unlock gives a row's lock to the first who waits for it.
func (s *server) unlock(row *rowState) {
	row.locked = false
	for len(row.waiting) > 0 {
		i := row.waiting[0]
		row.waiting = row.waiting[1:]
		a := &s.attempts[i]
		a.queues = false
		if !a.occupied {
			s.unused = append(s.unused, i)
			continue
		}
		row.locked, a.locked = true, true
		a.at++
		s.event(roundTrip, statementIn, i)
		return
	}
	row.waiting = nil
}

// goAway ends all that is under way: those refills wait from now on.
func (s *server) goAway() {
	s.down = true
	for i := range s.attempts {
		if a := &s.attempts[i]; a.occupied && !a.given {
			s.pools[s.gate(a.job)].waiting = append(s.pools[s.gate(a.job)].waiting, a.job)
		}
	}
	s.unused = nil
	for i := range s.attempts {
		s.attempts[i].occupied = false // but its generation goes on: events of it may still come
		s.unused = append(s.unused, int32(i))
	}
	clear(s.rows)
	s.open = 0
	for gate := range s.pools {
		p := &s.pools[gate]
		p.busy, p.conns = 0, 0
		if s.w.stripes > 0 {
			s.send(p)
		}
	}
}

// send has the jobs of a pool tried at other servers, if there are any.
func (s *server) send(p *pool) {
	waiting := p.waiting
	p.waiting = nil
	s.pending -= len(waiting)
	for _, j := range waiting {
		s.w.submit(j.holder, j.row)
	}
}

// comeBack has a server that was away answer, to so many seqgates at first.
func (s *server) comeBack(gates int) {
	s.down, s.free, s.admitted = false, s.w.now, 0
	s.admit(gates)
}

// admit has the server answer so many seqgates more. All that waited there try again, at the end of the pause that each is
// in. The pauses have their full length by now, and the limits are at their least.
func (s *server) admit(more int) {
	from := s.admitted
	s.admitted = min(from+more, len(s.pools))
	for gate := from; gate < s.admitted; gate++ {
		p := &s.pools[gate]
		for p.limit.N() > 1 {
			p.limit.Unanswered(p.limit.Lowered())
		}
		for i := range p.waiting {
			p.waiting[i].since = s.w.now + s.w.rng.Int64N(int64(s.pause(100)))
		}
		s.connectJobs(gate)
	}
}

// isDone reports whether less than a hundredth of a job, in the mean, waits in the seqgates that are admitted.
func (s *server) isDone() bool {
	n := 0
	for gate := range s.admitted {
		n += len(s.pools[gate].waiting)
	}
	return n*100 <= s.admitted
}
