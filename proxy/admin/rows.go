package admin

import (
	"cmp"
	"strconv"
	"time"

	"github.com/seqgate/seqgate/proxy/health"
	"github.com/seqgate/seqgate/proxy/meter"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/keyed"
)

// sequenceRow is a sequence as the page shows it.
type sequenceRow struct {
	Name, Strategy             string
	Bar                        segmentBar
	Current, Next, NextID      string
	Step, Cache, Rate          string
	Series                     string // of the ids per second, in the history
	Runway, RunwayLevel        string
	Waiting, Waits             string
	Refills, Failures          string
	Used                       float64 // of the last id, in percent
	UsedText, Last             string
	Forecast, ForecastLevel    string
	Error, ErrorAt, AwaySince  string
	Dropped, Skipped, Raised   string
	Server                     string
	HasGaps, Ordered, HasWaits bool
}

// newSequenceRow shows a sequence of that name whose last id is last, and which gave rate ids per second during the last hour.
func newSequenceRow(now time.Time, name string, st sequence.Status, last int64, rate float64) sequenceRow {
	row := sequenceRow{
		Name: name, Strategy: cmp.Or(st.Strategy, "unknown"),
		Bar: newSegmentBar(st.Current.N, st.Next.N, st.Step), Current: grouped(st.Current.N), Next: grouped(st.Next.N), NextID: none,
		Step: grouped(st.Step), Cache: grouped(st.Cache), Rate: perSecond(st.Rate), Series: seriesOf(st.Name),
		Runway: runway(st), RunwayLevel: runwayLevel(st), Waiting: grouped(int64(st.Waiting)), Waits: grouped(st.Waits),
		Refills: grouped(st.Refills), Failures: grouped(st.Failures), UsedText: none, Last: none, Forecast: none,
		Dropped: grouped(st.Dropped), Skipped: grouped(st.Skipped), Raised: grouped(st.Raised), Server: st.Server,
		HasGaps: st.Dropped+st.Skipped+st.Raised > 0, Ordered: st.Ordered, HasWaits: st.Waits > 0 || st.Waiting > 0,
	}
	if st.Current.N > 0 {
		row.NextID = grouped(st.Current.First)
	}
	if last > 0 {
		row.Last = grouped(last)
	}
	if last > 0 && st.Given > 0 {
		row.Used = 100 * share(st.Given, last)
		row.UsedText = percent(float64(st.Given) / float64(last))
		row.Forecast, row.ForecastLevel = forecast(now, last-st.Given, rate)
	}
	row.Error, row.ErrorAt = lastError(st.LastError, st.LastErrorAt)
	if !st.AwaySince.IsZero() {
		row.AwaySince = moment(st.AwaySince)
	}
	return row
}

func lastError(err error, at time.Time) (text, when string) {
	if err == nil {
		return "", ""
	}
	return err.Error(), moment(at)
}

// generatorRow is a generator as the page shows it.
type generatorRow struct {
	Keyspace, Name, Layout string
	Worker, From           string
	Lease, LeaseLevel      string
	Clock, Ends, EndsLevel string
	IDs, Waits, Steps      string
	Losses, Error          string
}

func newGeneratorRow(now time.Time, g GeneratorStatus) generatorRow {
	row := generatorRow{
		Keyspace: g.Keyspace, Name: g.Name, Layout: g.Layout, Worker: none, From: g.From, Lease: none, Clock: none,
		Ends: g.Ends.UTC().Format("2006-01-02"), IDs: grouped(g.IDs), Waits: grouped(g.Waits), Steps: grouped(g.ClockSteps),
		Losses: grouped(g.LeaseLosses),
	}
	if g.Held {
		row.Worker = strconv.FormatInt(g.Worker, 10)
	}
	switch {
	case g.Held && !g.Leased:
		row.Lease = "for good"
	case g.Held:
		row.Lease = seconds(g.LeaseLeft)
		if g.LeaseErrors > 0 || g.LeaseLeft <= 0 {
			row.LeaseLevel = bad
		}
	}
	if g.ClockKnown {
		row.Clock = strconv.FormatInt(g.ClockOffset.Milliseconds(), 10) + " ms"
	}
	if left := g.Ends.Sub(now); left < year {
		row.EndsLevel = bad
	} else if left < 5*year {
		row.EndsLevel = warn
	}
	if g.Err != nil {
		row.Error = g.Err.Error()
	}
	return row
}

// keyedRow is a keyed sequence as the page shows it.
type keyedRow struct {
	Name, Sections, Held, Keys, Opened, Lost, Forwards, ForwardErrors, Failures string
	Error, ErrorAt, AwaySince                                                   string
}

func newKeyedRow(name string, st keyed.Status) keyedRow {
	row := keyedRow{
		Name: name, Sections: grouped(int64(st.Sections)), Held: grouped(int64(st.Held)),
		Keys: grouped(int64(st.Keys)), Opened: grouped(st.Opened), Lost: grouped(st.Lost),
		Forwards: grouped(st.Forwards), ForwardErrors: grouped(st.ForwardErrors), Failures: grouped(st.Failures),
	}
	row.Error, row.ErrorAt = lastError(st.LastError, st.LastErrorAt)
	if !st.AwaySince.IsZero() {
		row.AwaySince = moment(st.AwaySince)
	}
	return row
}

// backendRow is a server as the page shows it.
type backendRow struct {
	Keyspace, Shard, Addr, Database, Busy, Idle, Queries, In, Out string
	State, StateLevel, Latency, Version, Error                    string
	Paused                                                        string // since when, and how many wait; "" for not
}

// backendRows joins where servers are to how they stand and to what was counted of them.
func backendRows(now time.Time, servers []Server, healths []health.Status, t meter.Snapshot) (rows []backendRow) {
	where := make(map[[2]string]Server, len(servers))
	for _, s := range servers {
		where[[2]string{s.Keyspace, s.Shard}] = s
	}
	for _, b := range t.Backends {
		s := where[[2]string{b.Keyspace, b.Shard}]
		row := backendRow{
			Keyspace: b.Keyspace, Shard: b.Shard, Addr: cmp.Or(s.Addr, none), Database: cmp.Or(s.Database, none),
			Busy: grouped(b.Busy), Idle: grouped(int64(b.Idle)), Queries: grouped(b.Queries), In: size(b.In), Out: size(b.Out),
			State: none, Latency: none,
		}
		for _, h := range healths {
			if h.Keyspace == b.Keyspace && h.Shard == b.Shard {
				row.tell(now, h)
			}
		}
		if !b.Paused.IsZero() {
			row.Paused = "paused for " + about(max(now.Sub(b.Paused), 0)) + ", " + grouped(b.Waiting) + " waiting"
		}
		rows = append(rows, row)
	}
	return rows
}

// tell takes in how the server stands.
func (r *backendRow) tell(now time.Time, h health.Status) {
	r.State, r.Version = string(h.State)+" for "+about(max(now.Sub(h.Since), 0)), h.Version
	switch h.State {
	case health.Down:
		r.StateLevel = bad
	case health.ReadOnly:
		r.StateLevel = warn
	}
	if h.Latency > 0 {
		r.Latency = strconv.FormatFloat(h.Latency.Seconds()*1000, 'g', 3, 64) + " ms"
	}
	if h.Err != nil {
		r.Error = h.Err.Error()
	}
}
