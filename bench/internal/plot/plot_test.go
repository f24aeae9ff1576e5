package plot_test

import (
	"encoding/xml"
	"io"
	"strings"
	"testing"

	"github.com/seqgate/seqgate/bench/internal/plot"
)

func TestSVG(t *testing.T) {
	svg, err := plot.Figure{Title: "point select", X: "connections", Y: "statements/s", Curves: []plot.Curve{
		{Name: "direct", X: []float64{1, 16, 256}, Y: []float64{9000, 30000, 25000}},
		{Name: "seqgate", X: []float64{1, 16, 256}, Y: []float64{5000, 20000, 1.2e6}}}}.SVG()
	if err != nil {
		t.Fatal(err)
	}
	for d := xml.NewDecoder(strings.NewReader(string(svg))); ; {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("no XML: %v", err)
		}
	}
	for _, text := range []string{"point select", "connections", "statements/s", "direct", "seqgate", ">1<", ">16<", ">256<", ">20 k<", ">1 M<"} {
		if !strings.Contains(string(svg), text) {
			t.Errorf("the figure lacks %q", text)
		}
	}
	if white := "fill:#FFFFFF"; !strings.Contains(string(svg), white) {
		t.Errorf("the figure has no white ground (%s): it could not be read on dark pages", white)
	}
}

// One point, as of a curve cut short, is drawn; none, and values without a place on a logarithmic axis, are errors.
func TestFewPoints(t *testing.T) {
	for _, tt := range []struct {
		x, y []float64
		ok   bool
	}{{[]float64{1}, []float64{5}, true}, {nil, nil, false}, {[]float64{1}, []float64{0}, false}, {[]float64{-1}, []float64{5}, false}} {
		_, err := plot.Figure{Curves: []plot.Curve{{Name: "a", X: tt.x, Y: tt.y}}}.SVG()
		if (err == nil) != tt.ok {
			t.Errorf("%v, %v: got error %v, want one: %v", tt.x, tt.y, err, !tt.ok)
		}
	}
}
