package main

import (
	"fmt"

	"github.com/seqgate/seqgate/bench/internal/report"
)

func (c *config) describe() string {
	return fmt.Sprintf("- %d rows each, %d a statement, then %d one by one, by %d writers at once; %d slices of each table, tables in turn\n"+
		"- a row: key, DATETIME(6) with a secondary index, %d bytes. Snowflakes are of the twitter layout, a worker id for each\n"+
		"  writer; blocks are %d ids of one sequence, for each writer its own\n"+
		"- rates are of the inserts alone; pages are those read and written for 1000 rows until all was in the file\n",
		c.rows, c.statement, c.single, c.writers, parts, payloadBytes, seqgateBlock)
}

// report is the section of a server and a size of its buffer pool.
func (s *server) report(tables []*table) string {
	head := []string{"primary key", "rows/s, first tenth", "last tenth", "all", "of sequential",
		"one by one, of sequential", "pages read", "pages written", "data MiB", "index MiB", "file MiB", "data and index of sequential"}
	base := tables[0]
	var rows [][]string
	for _, t := range tables {
		p := perThousand(t.load)
		last := len(t.load) - 1
		rows = append(rows, []string{t.name,
			fmt.Sprintf("%.0f", t.load[0].rate()), fmt.Sprintf("%.0f", t.load[last].rate()), fmt.Sprintf("%.0f", total(t.load).rate()),
			fmt.Sprintf("%.2f", ratio(t.load, base.load)), fmt.Sprintf("%.2f", ratio(t.single, base.single)),
			fmt.Sprintf("%.1f", p[0]), fmt.Sprintf("%.1f", p[1]),
			mebibytes(t.size.data), mebibytes(t.size.index), mebibytes(t.size.file),
			fmt.Sprintf("%.2f", float64(t.size.data+t.size.index)/float64(base.size.data+base.size.index))})
	}
	return fmt.Sprintf("\n%s, buffer pool %d MiB:\n\n%s", s.version, s.poolSize>>20, report.Table(head, rows))
}

func mebibytes(n int64) string {
	f := float64(n) / (1 << 20)
	if f < 10 {
		return fmt.Sprintf("%.2f", f)
	}
	return fmt.Sprintf("%.0f", f)
}

func total(parts []slice) (sum slice) {
	for _, p := range parts {
		sum.rows += p.rows
		sum.elapsed += p.elapsed
		sum.pages.read += p.pages.read
		sum.pages.written += p.pages.written
	}
	return sum
}

// perThousand returns the pages read and written for 1000 rows.
func perThousand(parts []slice) [2]float64 {
	sum := total(parts)
	thousands := float64(sum.rows) / 1000
	return [2]float64{float64(sum.pages.read) / thousands, float64(sum.pages.written) / thousands}
}

// ratio is the median of the slices' own ratios of rows/s.
func ratio(a, b []slice) float64 {
	ratios := make([]float64, len(a))
	for i := range a {
		ratios[i] = a[i].rate() / b[i].rate()
	}
	return report.Median(ratios)
}
