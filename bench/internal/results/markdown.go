package results

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seqgate/seqgate/bench/internal/report"
)

// Markdown returns the run's tables and figures, headed by headings of the third level. Figures are linked in folder images.
func (r *Run) Markdown(images string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s- Run %s: %d rounds of %v per target and cell, targets in turn. Ratios are medians of the rounds' own ratios; times are\n"+
		"  medians of the rounds' percentiles, in microseconds; CPU is the hop's, user and kernel, in microseconds per statement.\n",
		r.Machine, r.ID, r.Rounds, r.Slice)
	for i := range Kinds {
		k := &Kinds[i]
		for j := range r.Parts {
			if p := &r.Parts[j]; p.Name == k.Name {
				p.markdown(&b, k, images)
			}
		}
	}
	return b.String()
}

func (p *Part) markdown(b *strings.Builder, k *Kind, images string) {
	title := k.Title
	if p.Server != "" {
		title += ", " + p.Server
	}
	fmt.Fprintf(b, "\n### %s\n\n%s\n", title, k.About)
	for _, note := range p.Notes {
		fmt.Fprintf(b, "\nNot measured: %s.\n", note)
	}
	switch {
	case p.Text != "":
		fmt.Fprintf(b, "\n%s", p.Text)
	case k.Curve:
		for _, statement := range p.statements() {
			fmt.Fprintf(b, "\n%s\n%s", p.figureLink(k, statement, images), p.curveTable(k, statement))
		}
	case len(p.Points) > 0:
		fmt.Fprintf(b, "\n%s", p.statementTable(k))
		for _, statement := range p.statements() {
			if k.Y != "" {
				b.WriteString("\n" + p.figureLink(k, statement, images))
			}
		}
	}
	if half, widest := p.spread(); widest > 0 {
		fmt.Fprintf(b, "\nOf a ratio's rounds the middle half spans %.0f %% of it in the median cell, %.0f %% in the widest.\n", 100*half, 100*widest)
	}
	if len(p.Memory) > 0 {
		fmt.Fprintf(b, "\n%s", p.memoryTable())
	}
}

func (p *Part) figureLink(k *Kind, statement, images string) string {
	return fmt.Sprintf("![%s: %s by %s](%s/%s)\n", statement, k.Y, k.X, images, p.figureName(statement))
}

// statementTable has a row for each statement and X, and the targets side by side.
func (p *Part) statementTable(k *Kind) string {
	targets := p.targets()
	base, hops := targets[0], targets[1:]
	head := []string{"statement", k.X, base + "/s"}
	for _, t := range hops {
		head = append(head, t+"/"+base)
	}
	others := slices.DeleteFunc(slices.Clone(hops), func(t string) bool { return t == Seqgate })
	compared := len(others) > 0 && len(others) < len(hops)
	if compared {
		head = append(head, Seqgate+" of "+strings.Join(others, "/"))
	}
	all := strings.Join(targets, "/")
	head = append(head, "p50 "+all, "p99 "+all, "CPU "+strings.Join(hops, "/"))
	var rows [][]string
	for _, statement := range p.statements() {
		for _, x := range p.xs(statement) {
			cell := p.cell(statement, x)
			row := []string{statement, fmt.Sprint(x), cell.rate(base)}
			for _, t := range hops {
				row = append(row, cell.ratio(t, base))
			}
			if compared {
				row = append(row, cell.join(others, func(p *Point) string { return cell.ratio(Seqgate, p.Target) }))
			}
			rows = append(rows, append(row, cell.join(targets, cell.p50), cell.join(targets, cell.p99), cell.join(hops, cell.cpu)))
		}
	}
	return report.Table(head, rows)
}

// curveTable has a row for each X of a statement: the targets' rates, with their ratios to the first target's, and facts.
func (p *Part) curveTable(k *Kind, statement string) string {
	targets, facts := p.targetsOf(statement), p.facts(statement)
	head := []string{k.X}
	for _, t := range targets {
		head = append(head, t+", "+k.Y)
	}
	for _, fact := range facts {
		for _, t := range targets {
			head = append(head, factHead(fact, t, len(targets)))
		}
	}
	var rows [][]string
	for _, x := range p.xs(statement) {
		cell := p.cell(statement, x)
		row := []string{fmt.Sprint(x)}
		for i, t := range targets {
			value := cell.rate(t)
			if ratio := cell.ratio(t, targets[0]); i > 0 && ratio != "" {
				value += " (" + ratio + ")"
			}
			row = append(row, value)
		}
		for _, fact := range facts {
			for _, t := range targets {
				row = append(row, cell.fact(t, fact))
			}
		}
		rows = append(rows, row)
	}
	return report.Table(head, rows)
}

func factHead(fact, target string, targets int) string {
	if targets == 1 {
		return fact
	}
	return target + ": " + fact
}

func (p *Part) memoryTable() string {
	var rows [][]string
	for _, t := range p.targets() {
		if bytes, ok := p.Memory[t]; ok {
			rows = append(rows, []string{t, fmt.Sprintf("%.1f", bytes/1024)})
		}
	}
	return report.Table([]string{"hop", "KiB of memory for an idle connection"}, rows)
}
