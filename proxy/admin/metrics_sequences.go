package admin

import (
	"cmp"
	"sync"

	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/keyed"
)

// maxSequences bounds the labels: sequences beyond so many are told of together.
const maxSequences = 500

// other is the name of those.
const other = "other"

var (
	sequenceValues    = counter("sequence_values_total", "Ids that callers got.", "keyspace", "sequence")
	sequenceRefills   = counter("sequence_refills_total", "Attempts to reserve a block: ok, failed, and conflict for each time that the row was changed by others between reading and writing it.", "keyspace", "sequence", "strategy", "result")
	sequenceRefilling = histogram("sequence_refill_duration_seconds", "How long attempts to reserve a block took.", "keyspace", "sequence")
	sequenceWaited    = histogram("sequence_wait_duration_seconds", "How long callers waited that found no ids in memory.", "keyspace", "sequence")
	sequenceWaiting   = gauge("sequence_waiting", "Callers that wait for ids.", "keyspace", "sequence")
	sequenceRemaining = gauge("sequence_remaining_ids", "Ids in memory.", "keyspace", "sequence")
	sequenceStep      = gauge("sequence_step_ids", "Ids of the latest block.", "keyspace", "sequence")
	sequenceRunway    = gauge("sequence_runway_seconds", "How long the ids in memory last at the present rate, a year at most; absent for ordered sequences, which keep none, and before the first block.", "keyspace", "sequence")
	sequenceAway      = gauge("sequence_away", "1 while the database gives no blocks.", "keyspace", "sequence")
	sequenceRaised    = counter("sequence_raised_total", "How often the row was found behind the ids given, and raised.", "keyspace", "sequence")
	sequenceDropped   = counter("sequence_dropped_ids_total", "Ids reserved that were left out.", "keyspace", "sequence")
	sequenceSkipped   = counter("sequence_skipped_ids_total", "Ids left out because another server had served the row.", "keyspace", "sequence")
	sequenceHighest   = gauge("sequence_highest_id", "The largest id that was reserved; absent before the first block.", "keyspace", "sequence")
	sequenceLast      = gauge("sequence_last_id", "The last id that there may be: by the table's comment, and by the types of the columns that are known.", "keyspace", "sequence")
	sequenceUsed      = gauge("sequence_used_ratio", "The largest id reserved as a share of the last one that there may be.", "keyspace", "sequence")

	sequenceMetrics = []*metric{sequenceValues, sequenceRefills, sequenceRefilling, sequenceWaited, sequenceWaiting, sequenceRemaining,
		sequenceStep, sequenceRunway, sequenceAway, sequenceRaised, sequenceDropped, sequenceSkipped, sequenceHighest, sequenceLast, sequenceUsed}
)

// names are the sequences that have labels of their own. One that has them keeps them; all methods may be called at the
// same time.
type names struct {
	most int

	mu   sync.Mutex
	last map[sequence.Name]int64 // of each, the largest id that the columns hold which it fills; 0: not known
}

// keeps reports whether a sequence has labels of its own.
func (n *names) keeps(name sequence.Name) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, ok := n.last[name]; ok {
		return true
	}
	if len(n.last) >= n.most {
		return false
	}
	if n.last == nil {
		n.last = make(map[sequence.Name]int64)
	}
	n.last[name] = 0
	return true
}

// holds notes what the columns of a sequence hold, if they are known, and gives what was known last: descriptions of
// tables are kept for as long as the tables are in use.
func (n *names) holds(name sequence.Name, known int64) int64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, ok := n.last[name]; ok && known > 0 {
		n.last[name] = known
	}
	return n.last[name]
}

// sequences tells of each sequence, and of those beyond the most as one.
func (c *collector) sequences(s sink) {
	var rest sequence.Status
	columns, more := c.cfg.ColumnMax(), false
	for _, st := range c.cfg.Sequences() {
		if !c.named.keeps(st.Name) {
			more = true
			add(&rest, st)
			continue
		}
		last := st.Last
		if held := c.named.holds(st.Name, columns[st.Name]); held > 0 {
			last = min(last, held)
		}
		s.sequence(st, st.Name.Keyspace, st.Name.String())
		s.ends(st, last)
	}
	if more {
		s.sequence(rest, other, other)
	}
}

// add adds what can be added up.
func add(sum *sequence.Status, st sequence.Status) {
	sum.Strategy = other
	sum.Values += st.Values
	sum.Refills += st.Refills
	sum.Failures += st.Failures
	sum.Conflicts += st.Conflicts
	sum.RefillTimes.Add(st.RefillTimes)
	sum.WaitTimes.Add(st.WaitTimes)
	sum.Waiting += st.Waiting
	sum.Current.N += st.Current.N + st.Next.N
	sum.Step = max(sum.Step, st.Step)
	if st.Refills > 0 && !st.Ordered && (sum.Runway == 0 || st.Runway < sum.Runway) {
		sum.Runway = st.Runway
	}
	if sum.AwaySince.IsZero() {
		sum.AwaySince = st.AwaySince
	}
	sum.Raised += st.Raised
	sum.Dropped += st.Dropped
	sum.Skipped += st.Skipped
}

func (s sink) sequence(st sequence.Status, keyspace, name string) {
	strategy := cmp.Or(st.Strategy, other)
	s.put(sequenceValues, float64(st.Values), keyspace, name)
	s.put(sequenceRefills, float64(st.Refills), keyspace, name, strategy, "ok")
	s.put(sequenceRefills, float64(st.Failures), keyspace, name, strategy, "failed")
	s.put(sequenceRefills, float64(st.Conflicts), keyspace, name, strategy, "conflict")
	s.putAll(sequenceRefilling, st.RefillTimes, keyspace, name)
	s.putAll(sequenceWaited, st.WaitTimes, keyspace, name)
	s.put(sequenceWaiting, float64(st.Waiting), keyspace, name)
	s.put(sequenceRemaining, float64(st.Current.N+st.Next.N), keyspace, name)
	s.put(sequenceStep, float64(st.Step), keyspace, name)
	if st.Refills > 0 && !st.Ordered {
		s.put(sequenceRunway, st.Runway.Seconds(), keyspace, name)
	}
	s.put(sequenceAway, truth(!st.AwaySince.IsZero()), keyspace, name)
	s.put(sequenceRaised, float64(st.Raised), keyspace, name)
	s.put(sequenceDropped, float64(st.Dropped), keyspace, name)
	s.put(sequenceSkipped, float64(st.Skipped), keyspace, name)
}

// ends tells how near a sequence is to its last id.
func (s sink) ends(st sequence.Status, last int64) {
	keyspace, name := st.Name.Keyspace, st.Name.String()
	if last > 0 {
		s.put(sequenceLast, float64(last), keyspace, name)
	}
	if st.Given > 0 && last > 0 {
		s.put(sequenceHighest, float64(st.Given), keyspace, name)
		s.put(sequenceUsed, float64(st.Given)/float64(last), keyspace, name)
	}
}

var (
	keyedSections = gauge("keyed_sections", "Sections that the keys are divided into.", "keyspace", "sequence")
	keyedHeld     = gauge("keyed_sections_held", "Sections that this process counts.", "keyspace", "sequence")
	keyedKeys     = gauge("keyed_keys", "Keys in memory.", "keyspace", "sequence")
	keyedOpened   = counter("keyed_opened_total", "Sections taken over.", "keyspace", "sequence")
	keyedLost     = counter("keyed_lost_total", "Sections that another process took.", "keyspace", "sequence")
	keyedRaised   = counter("keyed_raised_total", "How often a row was found below the values given, and raised.", "keyspace", "sequence")
	keyedForwards = counter("keyed_forwards_total", "Requests to other processes, by whether they answered (ok, error).", "keyspace", "sequence", "result")
	keyedFailures = counter("keyed_failures_total", "Statements without a confirmed end.", "keyspace", "sequence")
	keyedAway     = gauge("keyed_away", "1 while the database does not answer.", "keyspace", "sequence")

	keyedMetrics = []*metric{keyedSections, keyedHeld, keyedKeys, keyedOpened, keyedLost, keyedRaised, keyedForwards, keyedFailures, keyedAway}
)

// keyed tells of each keyed sequence, of as many as [maxSequences].
func (c *collector) keyed(s sink) {
	all := c.cfg.Keyed()
	for _, st := range all[:min(len(all), maxSequences)] {
		s.keyed(st)
	}
}

func (s sink) keyed(st keyed.Status) {
	keyspace, name := st.Name.Keyspace, st.Name.String()
	s.put(keyedSections, float64(st.Sections), keyspace, name)
	s.put(keyedHeld, float64(st.Held), keyspace, name)
	s.put(keyedKeys, float64(st.Keys), keyspace, name)
	s.put(keyedOpened, float64(st.Opened), keyspace, name)
	s.put(keyedLost, float64(st.Lost), keyspace, name)
	s.put(keyedRaised, float64(st.Behind), keyspace, name)
	s.put(keyedForwards, float64(st.Forwards-st.ForwardErrors), keyspace, name, "ok")
	s.put(keyedForwards, float64(st.ForwardErrors), keyspace, name, "error")
	s.put(keyedFailures, float64(st.Failures), keyspace, name)
	s.put(keyedAway, truth(!st.AwaySince.IsZero()), keyspace, name)
}
