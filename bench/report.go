package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/seqgate/seqgate/bench/internal/report"
	"github.com/seqgate/seqgate/bench/internal/results"
)

// result is what was measured of a workload at a number of connections.
type result struct {
	workload string
	conns    int
	rounds   []round
}

// header describes the run in Markdown.
func header(cfg *config) string {
	return report.Machine() + fmt.Sprintf("- %d rounds of %v per target and load, targets in turn; client, hop and server share the machine.\n"+
		"  Ratios are medians of the rounds' own ratios; times are medians of the rounds' percentiles, in microseconds;\n"+
		"  CPU is the hop's, user and kernel, in microseconds per statement.\n"+
		"- INSERT: AUTO_INCREMENT direct and through the relay, filled from a sequence (cache 1000) through seqgate.\n"+
		"- sharded: two shards, databases of the one server, through seqgate; the tables undivided direct and through the relay.\n"+
		"- NEXT VALUE: `SELECT NEXT VALUE` through seqgate, `UPDATE ... LAST_INSERT_ID(next_id + 1)` direct and through the relay.\n",
		cfg.rounds, cfg.slice)
}

// serverReport is a server's section of the report.
func serverReport(version string, targets []string, results []result, idle map[string]float64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n## %s\n\n", version)
	columns := columns(targets)
	b.WriteString("| " + strings.Join(columns, " | ") + " |\n")
	b.WriteString("|---|" + strings.Repeat("---:|", len(columns)-1) + "\n")
	for _, r := range results {
		b.WriteString(r.row(targets) + "\n")
	}
	var memory []string
	for _, name := range targets {
		if bytes, ok := idle[name]; ok {
			memory = append(memory, fmt.Sprintf("%s %.1f KiB", name, bytes/1024))
		}
	}
	if len(memory) > 0 {
		fmt.Fprintf(&b, "\nMemory per idle session: %s.\n", strings.Join(memory, ", "))
	}
	return b.String()
}

func columns(targets []string) []string {
	columns := []string{"statement", "connections", "direct/s"}
	hops := targets[1:]
	for _, name := range hops {
		columns = append(columns, name+"/direct")
	}
	if len(hops) == 2 {
		columns = append(columns, hops[1]+"/"+hops[0])
	}
	all := strings.Join(targets, "/")
	columns = append(columns, "p50 "+all, "p99 "+all)
	if len(hops) > 0 {
		columns = append(columns, "CPU "+strings.Join(hops, "/"))
	}
	return columns
}

// row is the result as a line of the table that columns heads.
func (r result) row(targets []string) string {
	cells := []string{r.workload, fmt.Sprint(r.conns),
		fmt.Sprintf("%.0f", r.median(func(s round) float64 { return s[direct].Rate() }))}
	hops := targets[1:]
	for _, name := range hops {
		cells = append(cells, r.ratio(name, direct))
	}
	if len(hops) == 2 {
		cells = append(cells, r.ratio(hops[1], hops[0]))
	}
	cells = append(cells,
		r.times(targets, func(s results.Sample) time.Duration { return s.P50 }),
		r.times(targets, func(s results.Sample) time.Duration { return s.P99 }))
	if len(hops) > 0 {
		cells = append(cells, r.cpu(hops))
	}
	return "| " + strings.Join(cells, " | ") + " |"
}

func (r result) median(of func(round) float64) float64 {
	values := make([]float64, len(r.rounds))
	for i, s := range r.rounds {
		values[i] = of(s)
	}
	return report.Median(values)
}

func (r result) ratio(a, b string) string {
	return fmt.Sprintf("%.2f", r.median(func(s round) float64 { return s[a].Rate() / s[b].Rate() }))
}

func (r result) times(targets []string, of func(results.Sample) time.Duration) string {
	cells := make([]string, len(targets))
	for i, name := range targets {
		cells[i] = fmt.Sprintf("%.0f", r.median(func(s round) float64 { return float64(of(s[name])) / float64(time.Microsecond) }))
	}
	return strings.Join(cells, "/")
}

// cpu is over all rounds together: CPU times come in steps of 10 ms.
func (r result) cpu(hops []string) string {
	cells := make([]string, len(hops))
	for i, name := range hops {
		var cpu time.Duration
		var queries int
		for _, s := range r.rounds {
			cpu += s[name].CPU
			queries += s[name].Queries
		}
		cells[i] = fmt.Sprintf("%.1f", float64(cpu)/float64(time.Microsecond)/float64(queries))
	}
	return strings.Join(cells, "/")
}
