package soak

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Violation is a promise that was broken.
type Violation struct {
	Rule  string // the promise
	What  string
	Calls []Call // those that broke it
}

func (v Violation) String() string {
	s := v.Rule + ": " + v.What
	for _, c := range v.Calls {
		s += "\n    " + c.String()
	}
	return s
}

// Check returns every broken promise:
//
//   - an answer: each call ends in time, with its ids or an error; without an error in [History.Calm];
//   - explained: each call that failed has a fault at its seqgate or a server that causes such an error, beside it or not long before;
//   - rows: those that were committed are there, with the ids that their client was told; no others are;
//   - atomic: a transaction whose commit was not answered has all of its rows or none, unless it says [Call.Parts];
//   - placed: each row of a sharded table is in the shard that its id says;
//   - unique: no two calls were given the same id, whether or not a client heard of it;
//   - increasing: of two calls to one process, the one that began after the other had ended has the larger ids; of an
//     ordered sequence of any two calls that were answered;
//   - ahead: next_id is above every id that was given;
//   - gaps: the ids that were reserved and not given are no more than the faults and the calls explain: see [Fault.Lost];
//   - resources: without clients a seqgate uses as much as before the load, but for MostGoroutines and MostMemory.
//
// Calls that take ids of no sequence of the History, as of a generator, need only be unique.
func (h *History) Check() []Violation {
	taken, vs := h.taken()
	vs = slices.Concat(vs, h.answers(), h.explained(), h.atomic(), h.resources())
	for _, name := range slices.Sorted(maps.Keys(taken)) {
		vs = append(vs, unique(taken[name])...)
		if s, ok := h.Sequences[name]; ok {
			vs = append(vs, increasing(taken[name])...)
			if s.Ordered {
				vs = append(vs, ordered(taken[name])...)
			}
			vs = append(vs, ahead(s, taken[name])...)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(h.Sequences)) {
		if h.Bounded {
			vs = append(vs, h.gaps(name, taken[name])...)
		}
	}
	return vs
}

// answers checks how calls ended.
func (h *History) answers() (vs []Violation) {
	for _, c := range h.Calls {
		switch {
		case c.Outcome == Hung, c.Outcome == Unexpected:
			vs = append(vs, Violation{"an answer", c.Outcome.String(), []Call{c}})
		case c.Outcome != Done && c.Opened > h.Calm.Begin && c.End < h.Calm.End:
			vs = append(vs, Violation{"an answer", "an error without a fault", []Call{c}})
		case c.Outcome == Done && c.Sequence != "" && c.First < 1:
			vs = append(vs, Violation{"an answer", "no id", []Call{c}})
		}
	}
	return vs
}

// name is what a call and its rows have in common.
type name struct{ client, number int }

// taken returns, by sequence and in the order of their ids, the calls whose ids are known: those that were acknowledged,
// and those whose rows tell of them. It judges the rows on the way.
func (h *History) taken() (map[string][]Call, []Violation) {
	rows := map[name][]Row{}
	var vs []Violation
	for _, r := range h.Rows {
		n := name{r.Client, r.Number}
		rows[n] = append(rows[n], r)
		if r.Shard != r.Want {
			vs = append(vs, Violation{Rule: "placed", What: fmt.Sprintf("%v is in shard %d, want %d", r, r.Shard, r.Want)})
		}
	}
	taken := map[string][]Call{}
	for _, c := range h.Calls {
		n := name{c.Client, c.Number}
		own := rows[n]
		delete(rows, n)
		if what := misplaced(c, own); what != "" {
			vs = append(vs, Violation{"rows", what, []Call{c}})
		}
		if c.First == 0 && len(own) > 0 {
			c.First = own[0].ID - own[0].Pos
		}
		if c.First != 0 {
			taken[c.Sequence] = append(taken[c.Sequence], c)
		}
	}
	for _, strangers := range rows {
		vs = append(vs, Violation{Rule: "rows", What: strangers[0].String() + " is of no call"})
	}
	for _, calls := range taken {
		slices.SortFunc(calls, func(a, b Call) int { return cmp.Compare(a.First, b.First) })
	}
	return taken, vs
}

// misplaced says what is wrong with the rows of a call; "" when nothing is.
func misplaced(c Call, rows []Row) string {
	got := int64(len(rows))
	switch {
	case c.Rows == Undone && got > 0:
		return fmt.Sprintf("%v is there, but was not committed", rows[0])
	case c.Rows == Kept && got != c.N, c.Rows == Unknown && !c.Parts && got != c.N && got != 0:
		return fmt.Sprintf("%d rows are there, want %d", got, c.N)
	case got == 0:
		return ""
	}
	first := cmp.Or(c.First, rows[0].ID-rows[0].Pos)
	seen := map[int64]bool{}
	for _, r := range rows {
		if r.Sequence != c.Sequence || r.ID != first+r.Pos || r.Pos < 0 || r.Pos >= c.N || seen[r.Pos] {
			return fmt.Sprintf("%v is not where it belongs", r)
		}
		seen[r.Pos] = true
	}
	return ""
}

// unique finds ids given twice.
func unique(calls []Call) (vs []Violation) {
	var before Call // of the calls so far, the one whose ids reach farthest
	for i, c := range calls {
		if i > 0 && before.last() >= c.First {
			vs = append(vs, Violation{"unique", fmt.Sprintf("id %d of %s was given twice", c.First, c.Sequence), []Call{before, c}})
		}
		if i == 0 || c.last() > before.last() {
			before = c
		}
	}
	return vs
}

// increasing finds ids of one process that went backwards. A statement whose connection was lost may have been on its way
// for longer than its client waited.
func increasing(calls []Call) (vs []Violation) {
	earliest := map[string]Call{} // by process: of the calls with larger ids, the one that ended first
	for _, c := range slices.Backward(calls) {
		e, ok := earliest[c.Process]
		if ok && e.End < c.Begin {
			vs = append(vs, Violation{"increasing", fmt.Sprintf("ids of %s went backwards", c.Sequence), []Call{e, c}})
		}
		if c.Outcome != Lost && (!ok || c.End < e.End) {
			earliest[c.Process] = c
		}
	}
	return vs
}

// ordered finds ids that went backwards from one process to another. A call without an answer may have been given its
// ids after it ended for the client.
func ordered(calls []Call) (vs []Violation) {
	var earliest *Call // of the calls with larger ids, the one that ended first
	for _, c := range slices.Backward(calls) {
		if earliest != nil && earliest.End < c.Begin && earliest.Process != c.Process {
			vs = append(vs, Violation{"increasing", fmt.Sprintf("ids of the ordered %s went backwards", c.Sequence), []Call{*earliest, c}})
		}
		if c.Outcome == Done && (earliest == nil || c.End < earliest.End) {
			earliest = &c
		}
	}
	return vs
}

// ahead finds a row that is not above every id that was given.
func ahead(s Sequence, calls []Call) []Violation {
	for _, c := range calls {
		if c.last() >= s.End {
			return []Violation{{"ahead", fmt.Sprintf("next_id of %s is %d", c.Sequence, s.End), []Call{c}}}
		}
	}
	return nil
}

// gaps finds more lost ids than there are reasons for.
func (h *History) gaps(name string, calls []Call) []Violation {
	lost, most := h.lost(name, calls), h.mayLose(name, calls)
	if lost <= most {
		return nil
	}
	return []Violation{{Rule: "gaps", What: fmt.Sprintf("%d ids of %s were lost, at most %d of them for a reason", lost, name, most)}}
}

// lost returns how many ids of a sequence were reserved and given to nobody.
func (h *History) lost(name string, calls []Call) int64 {
	n := h.Sequences[name].End - h.Sequences[name].Begin
	for _, c := range calls {
		n -= c.N
	}
	return n
}

// mayLose returns how many ids of a sequence may be lost: those that faults account for; those of calls that failed; and
// what is left in memory when the next call wants more contiguous ids than that, in the current segment and the next one.
func (h *History) mayLose(name string, calls []Call) (n int64) {
	for _, f := range h.Faults {
		if f.Sequence == "" || f.Sequence == name {
			n += f.Lost
		}
	}
	var largest int64
	for _, c := range h.Calls {
		if c.Sequence == name {
			largest = max(largest, c.N)
		}
		if c.Sequence == name && c.Outcome != Done {
			n += c.N
		}
	}
	return n + blocks(calls)*2*(largest-1)
}

// blocks returns how often the ids of a process did not go on where they had been.
func blocks(calls []Call) (n int64) {
	ends := map[string]int64{}
	for _, c := range calls {
		if end, ok := ends[c.Process]; !ok || c.First != end+1 {
			n++
		}
		ends[c.Process] = c.last()
	}
	return n
}

// atomic finds transactions of which a part is there.
func (h *History) atomic() (vs []Violation) {
	there := map[name]bool{}
	for _, r := range h.Rows {
		there[name{r.Client, r.Number}] = true
	}
	open := map[name]Call{} // the first of each transaction
	for _, c := range h.Calls {
		if c.Tx == 0 || c.Rows != Unknown || c.Parts {
			continue
		}
		tx := name{c.Client, c.Tx}
		if first, ok := open[tx]; !ok {
			open[tx] = c
		} else if there[name{c.Client, c.Number}] != there[name{c.Client, first.Number}] {
			vs = append(vs, Violation{"atomic", "half of a transaction is there", []Call{first, c}})
		}
	}
	return vs
}

// explained finds errors without a fault.
func (h *History) explained() (vs []Violation) {
	for _, c := range h.Calls {
		failed := c.Outcome == Refused || c.Outcome == Lost
		if failed && !slices.ContainsFunc(h.Faults, func(f Fault) bool { return f.explains(c) }) {
			vs = append(vs, Violation{"explained", "an error with no fault beside it", []Call{c}})
		}
	}
	return vs
}

// explains reports whether the fault can have made c fail.
func (f Fault) explains(c Call) bool {
	var gate, life int
	if _, err := fmt.Sscanf(c.Process, "%d.%d", &gate, &life); err != nil {
		return false // no process that this test names
	}
	if f.Gate != 0 && f.Gate != gate || f.Begin > c.End {
		return false
	}
	if c.Outcome == Lost {
		return f.Causes.Lost && f.End+Linger >= c.Opened
	}
	number := c.errorNumber()
	return f.End >= c.Begin && slices.Contains(f.Causes.During, number) || f.End+Linger >= c.Begin && slices.Contains(f.Causes.Linger, number)
}

// errorNumber returns the number of the MySQL error that refused c; 0 when it was not one.
func (c Call) errorNumber() (number uint16) {
	if _, err := fmt.Sscanf(c.Error, "Error %d", &number); err != nil || c.Outcome != Refused {
		return 0
	}
	return number
}

func (h *History) resources() (vs []Violation) {
	for _, g := range h.Gates {
		if !g.recovered() {
			vs = append(vs, Violation{Rule: "resources", What: fmt.Sprintf("process %s: %+v before the load, %+v after it", g.Process, g.Before, g.After)})
		}
	}
	return vs
}

// recovered reports whether it uses as little again as it may.
func (g Gate) recovered() bool {
	memory := int64(MostMemory)
	if g.Race {
		memory = MostRaceMemory
	}
	return g.After.Goroutines <= g.Before.Goroutines+MostGoroutines && g.After.Memory <= g.Before.Memory+memory
}

// Summary counts what happened, for people.
func (h *History) Summary() string {
	counts := map[string]int{}
	last := time.Second
	for _, c := range h.Calls {
		last = max(last, c.End)
		key := c.Outcome.String()
		if number := c.errorNumber(); number != 0 {
			key = fmt.Sprintf("error %d", number)
		}
		counts[key]++
	}
	s := fmt.Sprintf("%d calls in %v (%.0f a second), %d rows, %d faults; calls",
		len(h.Calls), ms(last), float64(len(h.Calls))/last.Seconds(), len(h.Rows), len(h.Faults))
	for _, key := range slices.Sorted(maps.Keys(counts)) {
		s += fmt.Sprintf(" %s %d", key, counts[key])
	}
	taken, _ := h.taken()
	s += "; ids lost"
	for _, name := range slices.Sorted(maps.Keys(h.Sequences)) {
		s += fmt.Sprintf(" %s %d (of %d)", name, h.lost(name, taken[name]), h.mayLose(name, taken[name]))
	}
	return s
}
