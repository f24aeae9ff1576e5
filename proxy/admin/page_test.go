package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/proxy/meter"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/vschema"
)

func TestGuard(t *testing.T) {
	h := Guard("secret", New(Config{}))
	for _, test := range []struct {
		path, password string
		given          bool
		want           int
	}{
		{"/", "", false, 401}, {"/", "wrong", true, 401}, {"/", "", true, 401}, {"/", "secret", true, 200}, {"/", "secret ", true, 401},
		{"/metrics", "", false, 401}, {"/metrics", "secret", true, 200}, {"/sequences", "", false, 401}, {"/history.json", "", false, 401},
		{"/app.js", "", false, 401}, {"/sessions", "secret", true, 200}, {"/vschema", "secret", true, 200}, {"/nowhere", "", false, 401},
		{"/livez", "", false, 200}, {"/readyz", "wrong", true, 200}, {"/livez/", "", false, 401}, {"//livez", "", false, 401},
	} {
		r := httptest.NewRequest(http.MethodGet, "http://x"+test.path, nil)
		if test.given {
			r.SetBasicAuth("anybody", test.password)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != test.want {
			t.Errorf("%s with %q: got %d, want %d", test.path, test.password, w.Code, test.want)
		}
		if challenge := w.Header().Get("WWW-Authenticate"); (challenge != "") != (test.want == 401) {
			t.Errorf("%s with %q: got the challenge %q", test.path, test.password, challenge)
		}
		if w.Header().Get("X-Frame-Options") != "DENY" || w.Header().Get("Cache-Control") != "no-store" ||
			!strings.Contains(w.Header().Get("Content-Security-Policy"), "default-src 'none'; script-src 'self';") {
			t.Errorf("%s: got the headers %v", test.path, w.Header())
		}
	}
	if got := get(t, Guard("", New(Config{})), "/").Code; got != http.StatusOK {
		t.Errorf("without a password: got %d", got)
	}
}

// Whatever a user's name has in it, a page has no control characters, and is UTF-8.
func TestPagesHaveNoControlCharacters(t *testing.T) {
	cfg := Config{Sessions: func(context.Context, int) ([]Session, int, error) {
		return []Session{{ID: 1, User: "a\x1b[31m\x00\x7f\u0085\u202e\xff\nb"}}, 1, nil
	}}
	body := get(t, New(cfg), "/sessions").Body.String()
	if want := "a\ufffd[31m\ufffd\ufffd\ufffd\ufffd\ufffd\nb"; !strings.Contains(body, want) {
		t.Errorf("the page has no %q:\n%q", want, body)
	}
}

// A page is whole and well-formed in each state, also at the start when there is nothing to tell.
func TestPagesWellFormed(t *testing.T) {
	failing := Config{Sessions: func(context.Context, int) ([]Session, int, error) {
		return []Session{{ID: 1, User: "<b>"}}, 12_345, errors.New("gone & away")
	}}
	for name, cfg := range map[string]Config{"empty": {}, "busy": busy(), "made up": (&shop{}).config(t), "failing": failing} {
		h := New(cfg)
		for _, path := range []string{"/", "/sessions", "/vschema"} {
			w := get(t, h, path)
			if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "text/html; charset=utf-8" {
				t.Errorf("%s %s: got %d, %s", name, path, w.Code, w.Header().Get("Content-Type"))
			}
			body := w.Body.String()
			if strings.Contains(body, "ZgotmplZ") || strings.Contains(body, "<no value>") {
				t.Errorf("%s %s has what the template could not place:\n%s", name, path, body)
			}
			checkNesting(t, name+path, w.Body.Bytes())
		}
	}
	body := get(t, New(failing), "/sessions").Body.String()
	for _, want := range []string{"gone &amp; away", "&lt;b&gt;", "12\u202f345", "12\u202f344 more"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page of sessions has no %q", want)
		}
	}
}

// notXML is what HTML has and XML has not: the document's type, elements without an end, attributes without a value.
var notXML = regexp.MustCompile(`<!DOCTYPE html>|<(meta|link)[^>]*>|( (defer|hidden|data-live))+>`)

// checkNesting holds that every element is closed in its place.
func checkNesting(t *testing.T, name string, page []byte) {
	t.Helper()
	page = notXML.ReplaceAllFunc(page, func(found []byte) []byte {
		if found[0] == '<' {
			return nil
		}
		return []byte(">")
	})
	d := xml.NewDecoder(bytes.NewReader(page))
	d.Entity = xml.HTMLEntity
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
	}
}

func TestSegmentBar(t *testing.T) {
	for _, test := range []struct {
		current, next, step int64
		want                segmentBar
	}{
		{0, 0, 0, segmentBar{Left: 50, Next: 50, Middle: 50}},
		{1000, 1000, 1000, segmentBar{Left: 0, LeftWidth: 50, Next: 50, NextWidth: 50, Middle: 50}},
		{250, 0, 1000, segmentBar{Left: 37.5, LeftWidth: 12.5, Next: 50, Middle: 50}},
		{100, 1000, 500, segmentBar{Left: 45, LeftWidth: 5, Next: 50, NextWidth: 50, Middle: 50}}, // the step was halved
		{math.MaxInt64, 1, 1, segmentBar{Left: 0, LeftWidth: 50, Next: 50, NextWidth: 50 / float64(math.MaxInt64), Middle: 50}},
	} {
		if diff := cmp.Diff(test.want, newSegmentBar(test.current, test.next, test.step)); diff != "" {
			t.Errorf("%d, %d of %d (-want +got):\n%s", test.current, test.next, test.step, diff)
		}
	}
}

func TestForecast(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		left        int64
		rate        float64
		want, level string
	}{
		{0, 5, "used up", bad}, {-1, 5, "used up", bad}, {100, 0, none, fine}, {100, math.NaN(), none, fine},
		{3600 * 5, 1, "in 5 h 0 min", bad}, {10 * 86400, 1, "2026-03-11", bad}, {365 * 86400, 1, "2027-03-01", warn},
		{3 * 365 * 86400, 1, "2029-02", fine}, {400 * 365 * 86400, 1, "2425-11", fine}, {math.MaxInt64, 1, "in over 1000 years", fine},
		{math.MaxInt64, 1e9, "2318-06", fine}, {math.MaxInt64, 1e-9, "in over 1000 years", fine},
	} {
		got, level := forecast(now, test.left, test.rate)
		if got != test.want || level != test.level {
			t.Errorf("%d ids at %v per second: got %q, %q, want %q, %q", test.left, test.rate, got, level, test.want, test.level)
		}
	}
}

func TestFormats(t *testing.T) {
	for _, test := range []struct{ got, want string }{
		{grouped(0), "0"}, {grouped(999), "999"}, {grouped(-1000), "-1\u202f000"}, {grouped(1234567), "1\u202f234\u202f567"},
		{grouped(math.MinInt64), "-9\u202f223\u202f372\u202f036\u202f854\u202f775\u202f808"},
		{perSecond(0), "0"}, {perSecond(0.001), "< 0.01"}, {perSecond(0.25), "0.25"}, {perSecond(9.96), "10"}, {perSecond(1234.4), "1\u202f234"}, {perSecond(math.NaN()), none},
		{percent(0), "0 %"}, {percent(1e-9), "< 0.001 %"}, {percent(0.0004), "0.04 %"}, {percent(0.9999), "99.9 %"}, {percent(1), "100 %"}, {percent(math.NaN()), none},
		{seconds(90 * time.Second), "90 s"}, {seconds(4 * time.Hour), "14\u202f400 s (4 h 0 min)"},
		{about(59 * time.Second), "59 s"}, {about(61 * time.Second), "1 min 1 s"}, {about(49 * time.Hour), "2 d 1 h"}, {about(800 * day), "2 y 70 d"},
		{size(1023), "1023 B"}, {size(1536), "1.5 KiB"}, {size(math.MaxInt64), "8.0 EiB"},
	} {
		if test.got != test.want {
			t.Errorf("got %q, want %q", test.got, test.want)
		}
	}
}

func TestSequenceRow(t *testing.T) {
	st := sequence.Status{Name: sequence.Name{Keyspace: "main", Database: "shop", Table: "a_seq"}, Refills: 1, Given: 50, Runway: 5 * time.Second}
	row := newSequenceRow(time.Now(), "main.a_seq", st, 100, 0)
	if row.Used != 50 || row.UsedText != "50 %" || row.Forecast != none || row.RunwayLevel != warn || row.NextID != none || row.Strategy != "unknown" {
		t.Errorf("got %+v", row)
	}
	st.AwaySince = time.Now()
	if row = newSequenceRow(time.Now(), "main.a_seq", st, 0, 1); row.RunwayLevel != bad || row.UsedText != none || row.AwaySince == "" {
		t.Errorf("away, the last id not known: got %+v", row)
	}
	st.Ordered = true
	if row = newSequenceRow(time.Now(), "main.a_seq", st, 50, 1); row.Runway != none || row.Forecast != "used up" || row.ForecastLevel != bad {
		t.Errorf("ordered and used up: got %+v", row)
	}
}

// However many sequences there are, the page stays one that a browser can show, and those in need come first.
func TestManySequencesOnPage(t *testing.T) {
	p := pages{cfg: Config{}, named: names{most: maxSequences}}
	p.cfg.fill()
	all := make([]sequence.Status, maxSequences+1200)
	for i := range all {
		all[i].Name.Table = fmt.Sprint("s", i)
	}
	all[len(all)-1].AwaySince = time.Now()
	rows, more := p.sequenceRows(time.Now(), all)
	if len(rows) != maxSequences || more != "1\u202f200" || rows[0].Name != all[len(all)-1].Name.String() || rows[1].Name != all[0].Name.String() {
		t.Errorf("got %d rows and %q more, the first %s and %s", len(rows), more, rows[0].Name, rows[1].Name)
	}
}

func TestGeneratorRow(t *testing.T) {
	now := time.Now()
	row := newGeneratorRow(now, GeneratorStatus{Ends: now.Add(100 * day)})
	if row.Worker != none || row.Lease != none || row.Clock != none || row.EndsLevel != bad {
		t.Errorf("before the first id: got %+v", row)
	}
	row = newGeneratorRow(now, GeneratorStatus{Held: true, Leased: true, LeaseErrors: 2, LeaseLeft: 9 * time.Second, ClockKnown: true, ClockOffset: -time.Second, Ends: now.Add(2 * year)})
	if row.Worker != "0" || row.Lease != "9 s" || row.LeaseLevel != bad || row.Clock != "-1000 ms" || row.EndsLevel != warn {
		t.Errorf("with a lease: got %+v", row)
	}
	if row = newGeneratorRow(now, GeneratorStatus{Held: true, Ends: now.Add(50 * year)}); row.Lease != "for good" || row.EndsLevel != fine {
		t.Errorf("with a static worker id: got %+v", row)
	}
}

func TestRing(t *testing.T) {
	var r ring
	if got := r.points(); len(got) != 0 {
		t.Errorf("got %v of an empty ring", got)
	}
	for i := range historyPoints + 5 {
		r.push(float32(i))
		if got := r.points(); len(got) != min(i+1, historyPoints) || got[len(got)-1] != float32(i) || got[0] != float32(max(0, i+1-historyPoints)) {
			t.Fatalf("after %d: got %d points, %v to %v", i+1, len(got), got[0], got[len(got)-1])
		}
	}
	text, err := json.Marshal(points{1, float32(math.NaN()), 12345.678, float32(math.Inf(1)), 0})
	if err != nil || string(text) != "[1,null,1.235e+04,null,0]" {
		t.Errorf("got %s, %v", text, err)
	}
}

// The history takes a point every ten seconds, knows the rates, and ends with its context.
func TestHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		name := sequence.Name{Keyspace: "main", Database: "main", Table: "a_seq"}
		began := time.Now()
		values := func() int64 { return int64(time.Since(began) / time.Second * 7) } // seven ids a second
		h := NewHistory(func() (s meter.Snapshot) {
			s.Sessions = 3
			s.Queries[meter.Select].Took.Counts[0] = 2 * values()
			s.Queries[meter.Select].Took.Sum = time.Duration(values()) * 2 * time.Millisecond
			s.Queries[meter.Select].Failed = values()
			return s
		}, func() []sequence.Status {
			return []sequence.Status{{Name: name, Values: values(), Refills: 1, Runway: time.Minute}}
		})
		ctx, cancel := context.WithCancel(t.Context())
		go h.Run(ctx)
		time.Sleep(5 * time.Second)
		if r := h.now(); r.queries != 14 || r.ids != 7 || r.errors != 7 || r.failing != 0.5 || r.latency != 0.001 {
			t.Errorf("before the first point: got %+v", r)
		}
		time.Sleep(30 * time.Second)
		if r := h.now(); r.queries != 14 || r.sequences[name] != 7 {
			t.Errorf("got %+v", r)
		}
		if mean, ok := h.mean(seriesOf(name)); !ok || mean != 7 {
			t.Errorf("got a mean of %v, %v", mean, ok)
		}
		cancel()
		synctest.Wait()
		var got struct {
			Step, Points int
			Series       map[string][]float64
		}
		if err := json.Unmarshal(get(t, h, "/history.json").Body.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		want := map[string][]float64{"queries": {14, 14, 14}, "errors": {7, 7, 7}, "ids": {7, 7, 7}, "latency": {1, 1, 1}, "p99": {0.099, 0.099, 0.099}, "connections": {3, 3, 3},
			"runway": {60, 60, 60}, "ids of main.a_seq": {7, 7, 7}}
		if diff := cmp.Diff(want, got.Series); diff != "" || got.Step != 10 || got.Points != 360 {
			t.Errorf("every %d s, %d points (-want +got):\n%s", got.Step, got.Points, diff)
		}
	})
}

// However many sequences come and go, only so many have a series, and the rest of the memory is that of the hour.
func TestHistoryIsBounded(t *testing.T) {
	round := 0
	h := NewHistory(func() meter.Snapshot { return meter.Snapshot{} }, func() (all []sequence.Status) {
		for i := range 2 * maxCharted {
			all = append(all, sequence.Status{Name: sequence.Name{Table: fmt.Sprintf("s%d_%d", round/3, i)}, Values: 5})
		}
		return all
	})
	for ; round < 9; round++ {
		h.sample(h.latest.at.Add(historyStep))
		if len(h.series) != 7+maxCharted {
			t.Fatalf("round %d: got %d series, want %d", round, len(h.series), 7+maxCharted)
		}
		for _, name := range []string{seriesQueries, seriesErrors, seriesIDs, seriesConnections, seriesLatency, seriesP99, seriesRunway} {
			if h.series[name] == nil || h.series[name].n != round+1 {
				t.Errorf("round %d: the series %s has not all points", round, name)
			}
		}
	}
}

func TestPicture(t *testing.T) {
	v, err := vschema.Load("vschema.json", []byte(shopVSchema))
	if err != nil {
		t.Fatal(err)
	}
	servers := []Server{{"main", "-", "", ""}, {"other", "-", "", ""}}
	for i := range 40 {
		servers = append(servers, Server{Keyspace: "customer", Shard: fmt.Sprintf("%02x-%02x", i, i+1)})
	}
	p := draw(v, servers)
	kinds := map[string]int{}
	for i, box := range p.Boxes {
		kinds[box.Kind]++
		if box.X < 0 || box.X+box.W > p.Width || box.Y < 0 || box.Y+box.H > p.Height {
			t.Errorf("box %s is outside of the picture: %+v", box.Name, box)
		}
		for _, c := range box.Chips {
			if c.X < box.X || c.X+c.W > box.X+box.W || c.Y+c.H > box.Y+box.H {
				t.Errorf("shard %s is outside of its keyspace", c.Name)
			}
		}
		for _, r := range box.Rows {
			if r.Y+rowHeight > box.Y+box.H {
				t.Errorf("table %s is outside of its keyspace", r.Name)
			}
		}
		for _, other := range p.Boxes[:i] {
			if box.X < other.X+other.W && other.X < box.X+box.W && box.Y < other.Y+other.H && other.Y < box.Y+box.H {
				t.Errorf("%s and %s overlap", box.Name, other.Name)
			}
		}
	}
	if diff := cmp.Diff(map[string]int{"keyspace": 3, "sequence": 4, "generator": 1}, kinds); diff != "" || len(p.Lines) != 5 {
		t.Errorf("got %d lines, want 5; boxes (-want +got):\n%s", len(p.Lines), diff)
	}
	if p := draw(nil, servers[:2]); len(p.Boxes) != 2 || len(p.Lines) != 0 {
		t.Errorf("without a vschema: got %d keyspaces and %d lines", len(p.Boxes), len(p.Lines))
	}
}

func TestPictureOfManyTables(t *testing.T) {
	var tables []string
	for i := range maxDrawn + 3 {
		tables = append(tables, fmt.Sprintf(`"t%d": {}`, i))
	}
	v, err := vschema.Load("vschema.json", []byte(`{"keyspaces": {"main": {"tables": {`+strings.Join(tables, ",")+`}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	rows := draw(v, nil).Boxes[0].Rows
	if len(rows) != maxDrawn+1 || rows[maxDrawn].Name != "and 3 more" {
		t.Errorf("got %d rows, the last %q", len(rows), rows[len(rows)-1].Name)
	}
}
