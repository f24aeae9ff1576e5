package admin

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seqgate/seqgate/proxy/health"
	"github.com/seqgate/seqgate/proxy/meter"
	"github.com/seqgate/seqgate/sequence"
)

// overviewPage is how seqgate stands.
type overviewPage struct {
	frame
	Tiles      []tile
	Charts     []chart
	Sequences  []sequenceRow
	More       string // sequences that are not shown; "" for none
	Generators []generatorRow
	Keyed      []keyedRow
	Backends   []backendRow
}

// tile is a number that is seen at once.
type tile struct{ Name, Value, Detail, Level string }

// chart is drawn by the script, from series of the history.
type chart struct{ Title, Unit, Series, Labels string }

// charts are those of the whole process; the lists are separated by commas.
var charts = []chart{
	{"Statements", "/ s", seriesQueries + "," + seriesErrors, "statements,errors"},
	{"Ids given", "/ s", seriesIDs, "ids"},
	{"Latency", "ms", seriesLatency + "," + seriesP99, "mean,p99"},
	{"Connections", "", seriesConnections, "sessions"},
	{"Worst runway", "seconds", seriesRunway, "runway"},
}

func (p *pages) overview(now time.Time) overviewPage {
	traffic, sequences, rates := p.cfg.Traffic(), p.cfg.Sequences(), p.cfg.History.now()
	page := overviewPage{frame: p.frame("overview", now), Charts: charts}
	page.Tiles = []tile{
		p.stateTile(now, traffic, sequences, rates), connectionsTile(traffic),
		{Name: "Statements / s", Value: perSecond(rates.queries), Detail: latency(rates)},
		errorsTile(rates, traffic),
		{Name: "Ids / s", Value: perSecond(rates.ids), Detail: grouped(given(sequences)) + " since the start"},
		p.runwayTile(sequences),
	}
	page.Sequences, page.More = p.sequenceRows(now, sequences)
	for _, g := range p.cfg.Generators() {
		page.Generators = append(page.Generators, newGeneratorRow(now, g))
	}
	for _, k := range p.cfg.Keyed() {
		page.Keyed = append(page.Keyed, newKeyedRow(k.Name.String(), k))
	}
	page.Backends = backendRows(now, p.cfg.Servers, p.cfg.Health(), traffic)
	return page
}

// sequenceRows shows the sequences, those first whose database is away, of as many as [maxSequences].
func (p *pages) sequenceRows(now time.Time, all []sequence.Status) (rows []sequenceRow, more string) {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b sequence.Status) int {
		return -cmp.Compare(truth(!a.AwaySince.IsZero()), truth(!b.AwaySince.IsZero()))
	})
	if len(all) > maxSequences {
		more = grouped(int64(len(all) - maxSequences))
		all = all[:maxSequences]
	}
	columns := p.cfg.ColumnMax()
	for _, st := range all {
		last := st.Last
		if p.named.keeps(st.Name) {
			if held := p.named.holds(st.Name, columns[st.Name]); held > 0 {
				last = min(last, held)
			}
		}
		rate, known := p.cfg.History.mean(seriesOf(st.Name))
		if !known {
			rate = st.Rate
		}
		rows = append(rows, newSequenceRow(now, st.Name.String(), st, last, rate))
	}
	return rows, more
}

// stateTile tells whether clients are taken, the servers that do not answer, the sequences whose database is away, and whether
// logins are refused at present.
func (p *pages) stateTile(now time.Time, t meter.Snapshot, sequences []sequence.Status, r rates) tile {
	away := 0
	for _, st := range sequences {
		if !st.AwaySince.IsZero() {
			away++
		}
	}
	var down []string
	for _, h := range p.cfg.Health() {
		if h.State == health.Down {
			down = append(down, shardName(h))
		}
	}
	s := tile{Name: "State", Value: "ready", Detail: "up " + about(max(now.Sub(t.Started), 0)), Level: "good"}
	switch {
	case !p.cfg.Ready():
		s.Value, s.Level = "draining", warn
	case len(down) > 0:
		s.Value, s.Detail, s.Level = "server down", strings.Join(down, ", "), bad
	case away > 0:
		s.Value, s.Detail, s.Level = "no ids", strconv.Itoa(away)+" of "+strconv.Itoa(len(sequences))+" sequences get none", bad
	case r.refused > 0:
		s.Value, s.Detail, s.Level = "logins refused", perSecond(r.refused)+" / s: "+strings.ReplaceAll(r.refusal.String(), "_", " "), warn
	}
	return s
}

func connectionsTile(t meter.Snapshot) tile {
	s := tile{Name: "Connections", Value: grouped(int64(t.Sessions)), Detail: grouped(int64(t.Pinned)) + " pinned"}
	if t.Limit > 0 {
		s.Detail = "of " + grouped(int64(t.Limit)) + ", " + s.Detail
		if full := share(int64(t.Sessions), int64(t.Limit)); full >= 0.95 {
			s.Level = bad
		} else if full >= 0.8 {
			s.Level = warn
		}
	}
	return s
}

func latency(r rates) string {
	if math.IsNaN(r.latency) {
		return "none at present"
	}
	return strconv.FormatFloat(r.latency*1000, 'g', 3, 64) + " ms each, p99 " + strconv.FormatFloat(r.p99*1000, 'g', 3, 64) + " ms"
}

// errorsTile tells of statements that were answered with an error, of whatever kind: many are the clients' own.
func errorsTile(r rates, t meter.Snapshot) tile {
	s := tile{Name: "Errors / s", Value: perSecond(r.errors), Detail: percent(r.failing) + " of statements"}
	var most meter.Class
	for _, c := range meter.Classes() {
		if t.Errors[c] > t.Errors[most] {
			most = c
		}
	}
	if most != meter.NoError {
		s.Detail += "; most: " + strings.ReplaceAll(most.String(), "_", " ")
	}
	if r.failing >= 0.05 { // not of NaN
		s.Level = warn
	}
	return s
}

func given(sequences []sequence.Status) (n int64) {
	for _, st := range sequences {
		n += st.Values
	}
	return n
}

// hasRunway reports whether ids of the sequence are in memory ahead of need.
func hasRunway(st sequence.Status) bool { return st.Refills > 0 && !st.Ordered }

// worstRunway gives the sequence that runs out first while the databases are away.
func worstRunway(all []sequence.Status) (worst sequence.Status, ok bool) {
	for _, st := range all {
		if hasRunway(st) && (!ok || st.Runway < worst.Runway) {
			worst, ok = st, true
		}
	}
	return worst, ok
}

func (p *pages) runwayTile(all []sequence.Status) tile {
	st, ok := worstRunway(all)
	if !ok {
		return tile{Name: "Worst runway", Value: none, Detail: "no ids in memory"}
	}
	return tile{Name: "Worst runway", Value: runway(st), Detail: st.Name.String(), Level: runwayLevel(st)}
}

// runway is how long the ids in memory last.
func runway(st sequence.Status) string {
	switch {
	case !hasRunway(st):
		return none
	case st.Runway >= sequence.MaxRunway:
		return "over a year"
	}
	return seconds(st.Runway)
}

// runwayLevel minds callers that wait more than a short runway, which a sequence has that is in its first minutes.
func runwayLevel(st sequence.Status) string {
	switch {
	case !st.AwaySince.IsZero():
		return bad
	case st.Waiting > 0 && !st.Ordered, hasRunway(st) && st.Runway < 10*time.Second: // callers of an ordered one always wait
		return warn
	}
	return fine
}
