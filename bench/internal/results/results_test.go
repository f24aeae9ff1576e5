package results_test

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/bench/internal/results"
)

var update = flag.Bool("update", false, "write the golden files")

// point has three rounds of their own speed each; the median is 1000 statements a second times speed.
func point(statement, target string, x int, speed float64) results.Point {
	p := results.Point{Statement: statement, Target: target, X: x, Per: 1}
	for _, round := range []float64{1, 10, 0.1} {
		p.Samples = append(p.Samples, results.Sample{Queries: int(1000 * speed * round), Elapsed: time.Second,
			P50: time.Duration(float64(100*time.Microsecond) / speed), P99: time.Duration(float64(2*time.Millisecond) / speed)})
	}
	return p
}

func hopPoint(statement, target string, x int, speed float64, cpu time.Duration) results.Point {
	p := point(statement, target, x, speed)
	for i := range p.Samples {
		p.Samples[i].CPU = cpu * time.Duration(p.Samples[i].Queries)
	}
	return p
}

// small has each kind of table: hops beside direct, curves with and without facts, and another program's.
func small() *results.Run {
	gates := point("NEXT VALUE", "cas", 2, 3)
	gates.Facts = map[string]float64{"conflicts per 1,000 refills": 12.34}
	rows := point("INSERT", "direct", 10, 1)
	rows.Per = 10
	return &results.Run{ID: "abc", Machine: "- Machine: one\n", Rounds: 3, Slice: time.Second, Parts: []results.Part{
		{Name: results.IDs, Text: "| generator |\n|---|\n"},
		{Name: results.Rows, Server: "MySQL 9.7.4", Points: []results.Point{point("INSERT", "direct", 1, 1), point("INSERT", "seqgate", 1, 0.5), rows}},
		{Name: results.Relaying, Server: "MariaDB 10.11", Notes: []string{"MySQL Router: not here"},
			Memory: map[string]float64{"HAProxy": 2048, "seqgate": 12345},
			Points: []results.Point{
				point("point select", "direct", 8, 2), hopPoint("point select", "HAProxy", 8, 1, 20*time.Microsecond), hopPoint("point select", "seqgate", 8, 0.8, 25*time.Microsecond),
				point("1-row INSERT", "direct", 8, 1), hopPoint("1-row INSERT", "seqgate", 8, 0.7, 30*time.Microsecond)}},
		{Name: results.Seqgates, Server: "MySQL 9.7.4", Points: []results.Point{
			point("NEXT VALUE", "for_update", 1, 2), point("NEXT VALUE", "cas", 1, 4), point("NEXT VALUE", "for_update", 2, 2), gates}},
	}}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got; -update writes it):\n%s", file, diff)
	}
}

func TestMarkdown(t *testing.T) {
	golden(t, "report.md", small().Markdown("images"))
}

// Every figure that the report links is written, and no other.
func TestWriteFigures(t *testing.T) {
	dir := t.TempDir()
	if err := small().WriteFigures(dir); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	report := small().Markdown(dir)
	for _, file := range files {
		if !strings.Contains(report, "]("+file+")") {
			t.Errorf("%s is not in the report", file)
		}
	}
	if want := strings.Count(report, ".svg)"); len(files) != want || want != 2 {
		t.Errorf("got %d files and %d links, want 2 of both", len(files), want)
	}
	svg, err := os.ReadFile(filepath.Join(dir, "bench-seqgates-mysql-next-value.svg"))
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "figure.svg", string(svg))
}

func TestSaveAndLoad(t *testing.T) {
	file := filepath.Join(t.TempDir(), "new", "run.json")
	want := small()
	if err := want.Save(file); err != nil {
		t.Fatal(err)
	}
	got, err := results.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what was saved and loaded (-want +got):\n%s", diff)
	}
	if _, err := results.Load(file + "x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: got %v, want fs.ErrNotExist", err)
	}
}

// Files come together only if they are of one run.
func TestLoadAll(t *testing.T) {
	dir := t.TempDir()
	save := func(name string, change func(*results.Run)) string {
		r := small()
		change(r)
		file := filepath.Join(dir, name)
		if err := r.Save(file); err != nil {
			t.Fatal(err)
		}
		return file
	}
	first := save("first", func(r *results.Run) { r.Parts = r.Parts[:1] })
	rest := save("rest", func(r *results.Run) { r.Parts = r.Parts[1:] })
	all, err := results.LoadAll(first, rest)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(small(), all); diff != "" {
		t.Errorf("two halves (-want +got):\n%s", diff)
	}
	for name, change := range map[string]func(*results.Run){
		"is not run abc":      func(r *results.Run) { r.ID, r.Parts = "other", r.Parts[1:] },
		"(2 rounds of 1s)":    func(r *results.Run) { r.Rounds, r.Parts = 2, r.Parts[1:] },
		"is there already":    func(*results.Run) {},
		"(3 rounds of 200ms)": func(r *results.Run) { r.Slice, r.Parts = 200*time.Millisecond, nil },
	} {
		if _, err := results.LoadAll(first, save("other", change)); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v, want an error with %q", err, name)
		}
	}
	if _, err := results.LoadAll(); err == nil {
		t.Error("no file: got no error")
	}
}

// A run goes on with its own settings only.
func TestResume(t *testing.T) {
	file := filepath.Join(t.TempDir(), "run.json")
	fresh := &results.Run{ID: "fresh", Rounds: 3, Slice: time.Second}
	if got, err := results.Resume(file, fresh); got != fresh || err != nil {
		t.Errorf("without a file: got %v, %v, want the fresh run", got, err)
	}
	if err := small().Save(file); err != nil {
		t.Fatal(err)
	}
	if got, err := results.Resume(file, fresh); err != nil || got.ID != "abc" || got.Part(results.Rows, "MySQL 9.7.4") == nil {
		t.Errorf("with a file: got %v, %v, want run abc with its parts", got, err)
	}
	if got, err := results.Resume(file, &results.Run{Rounds: 4, Slice: time.Second}); err == nil {
		t.Errorf("with other settings: got %v, want an error", got)
	}
}

// The report tells how far rounds lie apart: here the ratios are 1, 2, 3, 4 and 5, and their middle half spans 2 of 3.
func TestSpread(t *testing.T) {
	var base, hop results.Point
	base.Target, hop.Target = "direct", "relay"
	for i := range 5 {
		base.Samples = append(base.Samples, results.Sample{Queries: 10, Elapsed: time.Second})
		hop.Samples = append(hop.Samples, results.Sample{Queries: 10 * (1 + i*2%5), Elapsed: time.Second})
	}
	for _, p := range []*results.Point{&base, &hop} {
		p.Statement, p.X, p.Per = "s", 1, 1
	}
	r := results.Run{Parts: []results.Part{{Name: results.Relaying, Points: []results.Point{base, hop}}}}
	if want, got := "the middle half spans 67 % of it in the median cell, 67 % in the widest", r.Markdown(""); !strings.Contains(got, want) {
		t.Errorf("got\n%s\nwant it to say that %s", got, want)
	}
}
