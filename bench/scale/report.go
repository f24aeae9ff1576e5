package main

import (
	"fmt"
	"strings"
	"time"
)

// table is a Markdown table. The first row is its head.
type table [][]string

func (t table) String() string {
	var b strings.Builder
	for i, row := range t {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
		if i == 0 {
			b.WriteString("|---|" + strings.Repeat("---:|", len(row)-1) + "\n")
		}
	}
	return b.String()
}

// settings names what the policy of a fleet is.
func (f fleet) settings() string {
	return fmt.Sprintf("%s seqgates, cache %s, max_step %s, min_lifetime %s, prefetch %.0f %%", whole(float64(f.gates)), whole(float64(f.cache)),
		whole(float64(f.cfg.MaxStep)), short(f.cfg.MinLifetime), 100*f.cfg.PrefetchShare)
}

// policyTable says what the step does, day by day and in an outage.
func policyTable(all []steady) table {
	t := table{{"", "refills/s", "busiest row, refills/s", "runway: min", "p1", "median", "p1 by use", "median by use", "ids in memory of a seqgate", "first dry after",
		"refused at 15 min", "30", "45", "60", "refills waiting then"}}
	for _, r := range all {
		m := r.memory
		row := []string{r.settings(), perSecond(r.load.refills), fmt.Sprintf("%.3f", float64(r.load.busiest)/measured.Seconds()),
			short(m.least), short(m.p1), short(m.median), short(m.byUse[0]), short(m.byUse[1]), whole(float64(m.ids) / float64(r.gates)), orNever(r.firstDry, 0)}
		for _, share := range r.refusedAt {
			row = append(row, percent(share))
		}
		t = append(t, append(row, whole(float64(r.pending))))
	}
	return t
}

// gapTable says which ids are never used.
func gapTable(all []steady) table {
	t := table{{"", "lost by a crash of a seqgate", "of all seqgates, in time of the fleet's inserts", "given back by clean stops"}}
	for _, r := range all {
		t = append(t, []string{r.settings(), whole(float64(r.memory.ids) / float64(r.gates)),
			short(time.Duration(float64(r.memory.ids) / r.inserts * float64(time.Second))), fmt.Sprintf("%.2f %%", 100*float64(r.memory.last)/float64(r.memory.ids))})
	}
	return t
}

// refillTable says what the strategies cost the server when nothing is wrong.
func refillTable(all []steady) table {
	t := table{{"", "refills/s", "statements/s", "server busy", "conflicts per 1,000 refills", "waits for the row's lock per 1,000 refills", "refills/s it could do"}}
	for _, r := range all {
		cost := time.Duration(0)
		for _, c := range r.costs.refill(r.strategy) {
			cost += c
		}
		each := 1000 / float64(r.load.refills)
		t = append(t, []string{fmt.Sprintf("%s, `%s`", r.costs.name, r.strategy), perSecond(r.load.refills), perSecond(r.load.statements),
			percent(r.load.work.Seconds() / measured.Seconds()), fmt.Sprintf("%.2f", float64(r.load.conflicts)*each),
			fmt.Sprintf("%.2f", float64(r.load.lockWaits)*each), whole(1 / cost.Seconds())})
	}
	return t
}

// variant names how a fleet refills.
func (f fleet) variant() string {
	s := fmt.Sprintf("%s, `%s`, %s", f.costs.name, f.strategy, count(f.servers, "server"))
	if f.most != maxConnections {
		s += fmt.Sprintf(", max_connections %s", whole(float64(f.most)))
	}
	if f.group > 0 {
		s += fmt.Sprintf(", opened for %d seqgates at a time", f.group)
	}
	return s
}

// herdTable says how it goes on after an outage.
func herdTable(name func(fleet) string, all []recovery) table {
	t := table{{"", "half of the dry pairs have ids after", "all", "backlog gone after", "refills still waiting", "attempts that ended in vain", "ids lost in those"}}
	for _, r := range all {
		half, end := orNever(r.half, -1), orNever(r.all, -1)
		if r.dry == 0 {
			half, end = "none was dry", "none was dry"
		}
		t = append(t, []string{name(r.fleet), half, end, orNever(r.backlog, -1), whole(float64(r.left)),
			whole(float64(r.load.failed)), whole(float64(r.load.lost))})
	}
	return t
}

// storeTable compares striped stores with others while one server is away.
func storeTable(all []steady, after []recovery) table {
	t := table{{"", "refills/s", "busiest row, refills/s", "runway: min", "ids in memory of a seqgate", "pairs dry at the end of the hour", "inserts refused then", "refills waiting then",
		"busiest server meanwhile", "backlog gone after"}}
	for i, r := range all {
		kind := "whole sequences"
		rows := 1.0
		if r.stripes > 0 {
			kind, rows = fmt.Sprintf("%d stripes", r.stripes), float64(r.stripes)
		}
		backlog := "none"
		if r.pending > 0 {
			backlog = orNever(after[i].backlog, -1)
		}
		t = append(t, []string{fmt.Sprintf("%s on %d servers, min_lifetime %s", kind, r.servers, short(r.cfg.MinLifetime)), perSecond(r.load.refills),
			fmt.Sprintf("%.3f", float64(r.load.busiest)/measured.Seconds()/rows), short(r.memory.least), whole(float64(r.memory.ids) / float64(r.gates)),
			whole(float64(r.dryPairs)), percent(r.refusedAt[3]), whole(float64(r.pending)), percent(r.herd.work.Seconds() / r.outage.Seconds()), backlog})
	}
	return t
}

func perSecond(n int64) string { return whole(float64(n) / measured.Seconds()) }
func percent(f float64) string { return fmt.Sprintf("%.1f %%", 100*f) }

func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// whole writes a number with commas.
func whole(f float64) string {
	s := fmt.Sprintf("%.0f", f)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// short writes a time as people say it.
func short(d time.Duration) string {
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%.1f min", d.Minutes())
	}
	return fmt.Sprintf("%.1f h", d.Hours())
}

// orNever is short, for times of which one means that it never came.
func orNever(d, never time.Duration) string {
	if d == never {
		return "not seen"
	}
	return short(d)
}
