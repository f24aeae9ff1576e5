package admin

import (
	"context"
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/seqgate/seqgate/internal/buckets"
	"github.com/seqgate/seqgate/proxy/meter"
	"github.com/seqgate/seqgate/sequence"
)

// What a History keeps: an hour. With [maxCharted] sequences that is 70 series of 360 points of 4 bytes, about 100 KB.
const (
	historyStep   = 10 * time.Second
	historyPoints = 360
	maxCharted    = 64 // sequences that have a chart of their own: the first that were seen
)

// The series of the whole process. A sequence's has the name that [seriesOf] gives.
const (
	seriesQueries     = "queries"     // per second
	seriesErrors      = "errors"      // per second
	seriesIDs         = "ids"         // per second
	seriesConnections = "connections" // sessions
	seriesLatency     = "latency"     // mean of the step, in milliseconds
	seriesP99         = "p99"         // what 99 of 100 statements of the step took at most, in milliseconds
	seriesRunway      = "runway"      // the worst, in seconds
)

// seriesOf names the series of the ids per second of a sequence.
func seriesOf(name sequence.Name) string { return "ids of " + name.String() }

// History is the last hour of a seqgate, for the charts of the status page: in memory of a fixed size. Make one by
// NewHistory; all methods may be called at the same time.
type History struct {
	traffic   func() meter.Snapshot
	sequences func() []sequence.Status

	mu             sync.Mutex
	before, latest counts // the last two samples; at first both are of the beginning
	series         map[string]*ring
	charted        map[sequence.Name]bool // have a series
}

// NewHistory returns a History without points. Run fills it.
func NewHistory(traffic func() meter.Snapshot, sequences func() []sequence.Status) *History {
	h := &History{traffic: traffic, sequences: sequences, series: make(map[string]*ring), charted: make(map[sequence.Name]bool)}
	h.latest = count(time.Now(), traffic(), sequences())
	h.before = h.latest
	return h
}

// Run takes a point every ten seconds until ctx is done.
func (h *History) Run(ctx context.Context) {
	ticker := time.NewTicker(historyStep)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			h.sample(now)
		}
	}
}

// sample takes a point of each series.
func (h *History) sample(now time.Time) {
	traffic, sequences := h.traffic(), h.sequences()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.before, h.latest = h.latest, count(now, traffic, sequences)
	r := h.latest.since(h.before)
	runway := math.NaN()
	if st, ok := worstRunway(sequences); ok {
		runway = st.Runway.Seconds()
	}
	h.push(seriesQueries, r.queries)
	h.push(seriesErrors, r.errors)
	h.push(seriesIDs, r.ids)
	h.push(seriesLatency, r.latency*1000)
	h.push(seriesP99, r.p99*1000)
	h.push(seriesConnections, float64(traffic.Sessions))
	h.push(seriesRunway, runway)
	h.pushSequences(r.sequences, sequences)
}

// push adds a point to a series. h.mu is held.
func (h *History) push(series string, value float64) {
	if h.series[series] == nil {
		h.series[series] = &ring{}
	}
	h.series[series].push(float32(value))
}

// pushSequences adds a point to the series of each sequence that has one, forgets those of sequences that are gone, and
// begins new ones while there is room. h.mu is held.
func (h *History) pushSequences(rates map[sequence.Name]float64, sequences []sequence.Status) {
	for name := range h.charted {
		if _, ok := rates[name]; !ok {
			delete(h.charted, name)
			delete(h.series, seriesOf(name))
		}
	}
	for _, st := range sequences {
		if !h.charted[st.Name] {
			if len(h.charted) >= maxCharted {
				continue
			}
			h.charted[st.Name] = true
		}
		h.push(seriesOf(st.Name), rates[st.Name])
	}
}

// now returns the rates since the sample before the latest: over ten to twenty seconds, and less at the beginning.
func (h *History) now() rates {
	present := count(time.Now(), h.traffic(), h.sequences())
	h.mu.Lock()
	defer h.mu.Unlock()
	return present.since(h.before)
}

// mean is the mean of a series over the hour, or the part of it that there is.
func (h *History) mean(series string) (mean float64, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := h.series[series]
	if r == nil {
		return 0, false
	}
	var sum float64
	var n int
	for _, v := range r.points() {
		if v == v { // no NaN
			sum, n = sum+float64(v), n+1
		}
	}
	return sum / float64(max(n, 1)), n > 0
}

// ServeHTTP answers with the series as JSON: {"step": seconds, "points": the most, "series": {name: [oldest, ...]}}. Each
// ends with the latest sample; null is a point without a value.
func (h *History) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	h.mu.Lock()
	series := make(map[string]points, len(h.series))
	for name, r := range h.series {
		series[name] = r.points()
	}
	h.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{ // the client has gone, if anything
		"step": historyStep.Seconds(), "points": historyPoints, "series": series,
	})
}

// counts are the counters of one time.
type counts struct {
	at                   time.Time
	queries, failed, ids int64
	took                 buckets.Snapshot
	refused              []int64 // by meter.Refusal
	values               map[sequence.Name]int64
}

func count(now time.Time, t meter.Snapshot, sequences []sequence.Status) counts {
	c := counts{at: now, values: make(map[sequence.Name]int64, len(sequences))}
	for _, q := range t.Queries {
		c.queries += q.Took.Count()
		c.failed += q.Failed
		c.took.Add(q.Took)
	}
	c.refused = append(c.refused, t.Refused[:]...)
	for _, st := range sequences {
		c.values[st.Name] = st.Values
		c.ids += st.Values
	}
	return c
}

// rates are per second.
type rates struct {
	queries, errors, ids float64
	latency, p99         float64       // the mean and the 99th percentile, in seconds; NaN without queries
	refused              float64       // clients that were not let in, but for those that left by themselves
	refusal              meter.Refusal // why most of these were not
	failing              float64       // the share of queries that failed; NaN without
	sequences            map[sequence.Name]float64
}

// since returns the rates between two times. A counter that fell began anew.
func (c counts) since(then counts) rates {
	seconds := c.at.Sub(then.at).Seconds()
	per := func(now, then int64) float64 {
		if seconds <= 0 || now < then {
			return 0
		}
		return float64(now-then) / seconds
	}
	n := float64(c.queries - then.queries)
	r := rates{
		queries: per(c.queries, then.queries), errors: per(c.failed, then.failed), latency: math.NaN(), p99: math.NaN(), failing: math.NaN(),
		sequences: make(map[sequence.Name]float64, len(c.values)),
	}
	if n > 0 {
		took := c.took.Since(then.took)
		r.latency, r.p99, r.failing = took.Sum.Seconds()/n, took.Quantile(0.99).Seconds(), float64(c.failed-then.failed)/n
	}
	most := 0.0
	for i, now := range c.refused {
		reason := meter.Refusal(i)
		if n := per(now, then.refused[i]); reason != meter.RefusedLeft && n > 0 {
			if r.refused += n; n > most {
				most, r.refusal = n, reason
			}
		}
	}
	for name, values := range c.values {
		r.sequences[name] = per(values, then.values[name])
		r.ids += r.sequences[name]
	}
	return r
}

// ring has the latest points of a series.
type ring struct {
	values [historyPoints]float32
	n      int // how many there were ever
}

func (r *ring) push(v float32) {
	r.values[r.n%historyPoints] = v
	r.n++
}

// points returns them, the oldest first.
func (r *ring) points() points {
	if r.n <= historyPoints {
		return append(points(nil), r.values[:r.n]...)
	}
	next := r.n % historyPoints
	return append(append(points(nil), r.values[next:]...), r.values[:next]...)
}

// points are values as JSON: four digits are more than a chart shows, and NaN is null.
type points []float32

// MarshalJSON implements [json.Marshaler].
func (p points) MarshalJSON() ([]byte, error) {
	text := append(make([]byte, 0, 6*len(p)+2), '[')
	for i, v := range p {
		if i > 0 {
			text = append(text, ',')
		}
		if v != v || math.IsInf(float64(v), 0) {
			text = append(text, "null"...)
			continue
		}
		text = strconv.AppendFloat(text, float64(v), 'g', 4, 32)
	}
	return append(text, ']'), nil
}
