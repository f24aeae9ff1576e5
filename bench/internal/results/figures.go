package results

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/seqgate/seqgate/bench/internal/plot"
)

// WriteFigures writes a figure for each statement of the parts that have some, into a folder, which is made.
func (r *Run) WriteFigures(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for i := range Kinds {
		k := &Kinds[i]
		for j := range r.Parts {
			p := &r.Parts[j]
			if p.Name != k.Name || k.Y == "" {
				continue
			}
			for _, statement := range p.statements() {
				svg, err := p.figure(k, statement).SVG()
				if err != nil {
					return fmt.Errorf("figure of %s, %s: %w", p.Name, statement, err)
				}
				if err := os.WriteFile(filepath.Join(folder, p.figureName(statement)), svg, 0o644); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (p *Part) figure(k *Kind, statement string) plot.Figure {
	f := plot.Figure{Title: statement + ", " + p.Server, X: k.X, Y: k.Y}
	for _, t := range p.targetsOf(statement) {
		c := plot.Curve{Name: t}
		for i := range p.Points {
			if at := &p.Points[i]; at.Statement == statement && at.Target == t {
				c.X, c.Y = append(c.X, float64(at.X)), append(c.Y, at.Rate())
			}
		}
		f.Curves = append(f.Curves, c)
	}
	return f
}

var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// figureName is the name of the statement's file: part, server without its version, and statement.
func (p *Part) figureName(statement string) string {
	server, _, _ := strings.Cut(p.Server, " ")
	return "bench-" + strings.Trim(notInNames.ReplaceAllString(strings.ToLower(p.Name+" "+server+" "+statement), "-"), "-") + ".svg"
}
