// Package plot draws the benchmarks' figures: curves on logarithmic axes, as SVG.
package plot

import (
	"bytes"
	"errors"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Curve is one line of a figure. X and Y are of the same length, and positive.
type Curve struct {
	Name string
	X, Y []float64
}

// Figure is what is drawn. Both axes are logarithmic: sizes are multiples, and so are the differences that matter.
type Figure struct {
	Title  string
	X, Y   string // what the axes count, with the unit
	Curves []Curve
}

// The size of a figure.
const (
	width  = 18 * vg.Centimeter
	height = 10 * vg.Centimeter
)

// colours can be told apart with any kind of colour blindness, on white: Okabe and Ito, https://jfly.uni-koeln.de/color/.
var colours = []color.RGBA{
	{0, 0, 0, 255}, {230, 159, 0, 255}, {86, 180, 233, 255}, {0, 158, 115, 255},
	{213, 94, 0, 255}, {0, 114, 178, 255}, {204, 121, 167, 255},
}

var shapes = []draw.GlyphDrawer{
	draw.CircleGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.PyramidGlyph{}, draw.BoxGlyph{}, draw.RingGlyph{}, draw.CrossGlyph{},
}

// SVG draws the figure on white, so that it can be read on dark pages too. A figure without points is an error, and so is a
// point that is not positive.
func (f Figure) SVG() ([]byte, error) {
	p := plot.New()
	p.BackgroundColor = color.White
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = f.Title, f.X, f.Y
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.ConstantTicks(f.measured()), plot.TickerFunc(decades)
	legend := plot.NewLegend()
	legend.Top, legend.Padding = true, vg.Millimeter
	for _, style := range []*text.Style{&p.Title.TextStyle, &p.X.Label.TextStyle, &p.Y.Label.TextStyle, &p.X.Tick.Label, &p.Y.Tick.Label, &legend.TextStyle} {
		style.Font.Variant = "Sans"
	}
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = color.Gray{225}, color.Gray{225}
	p.Add(grid)
	for i, c := range f.Curves {
		if err := add(p, &legend, c, i); err != nil {
			return nil, fmt.Errorf("curve %q: %w", c.Name, err)
		}
	}
	if len(p.X.Tick.Marker.Ticks(0, 0)) == 0 {
		return nil, errors.New("nothing was measured")
	}
	p.Y.Min, p.Y.Max = p.Y.Min/1.5, p.Y.Max*1.5 // so that an axis has a length where all values are equal
	p.X.Min, p.X.Max = p.X.Min/1.1, p.X.Max*1.1
	canvas := vgsvg.New(width, height)
	drawBeside(draw.New(canvas), p, &legend)
	var b bytes.Buffer
	_, err := canvas.WriteTo(&b)
	return bytes.ReplaceAll(b.Bytes(), []byte(family), []byte(family+",Arial,sans-serif")), err
}

// family is the font that texts are measured with; not all who see a figure have it.
const family = "font-family:Liberation Sans"

// drawBeside draws the plot on white, and the legend to its right, where it hides no curve.
func drawBeside(c draw.Canvas, p *plot.Plot, legend *plot.Legend) {
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	inner := draw.Crop(c, margin, -margin, margin, -margin)
	size := legend.Rectangle(inner).Size()
	p.Draw(draw.Crop(inner, 0, -size.X-margin, 0, 0))
	legend.Draw(inner)
}

const margin = 3 * vg.Millimeter

func add(p *plot.Plot, legend *plot.Legend, c Curve, i int) error {
	points := make(plotter.XYs, len(c.X))
	for j := range c.X {
		if points[j].X, points[j].Y = c.X[j], c.Y[j]; c.X[j] <= 0 || c.Y[j] <= 0 {
			return fmt.Errorf("point (%v, %v) has no place on logarithmic axes", c.X[j], c.Y[j])
		}
	}
	line, marks, err := plotter.NewLinePoints(points)
	if err != nil {
		return err
	}
	line.Width, line.Color = vg.Points(1.5), colours[i%len(colours)]
	marks.Color, marks.Shape, marks.Radius = colours[i%len(colours)], shapes[i%len(shapes)], vg.Points(3)
	p.Add(line, marks)
	legend.Add(c.Name, line, marks)
	return nil
}

// measured has a tick at each X that was measured.
func (f Figure) measured() (ticks []plot.Tick) {
	var xs []float64
	for _, c := range f.Curves {
		xs = append(xs, c.X...)
	}
	slices.Sort(xs)
	for _, x := range slices.Compact(xs) {
		ticks = append(ticks, plot.Tick{Value: x, Label: label(x)})
	}
	return ticks
}

// decades has ticks with labels at 1, 2 and 5 of each decade.
func decades(least, most float64) (ticks []plot.Tick) {
	for unit := math.Pow(10, math.Floor(math.Log10(least))); unit <= most; unit *= 10 {
		for _, n := range []float64{1, 2, 5} {
			if v := n * unit; v >= least && v <= most {
				ticks = append(ticks, plot.Tick{Value: v, Label: label(v)})
			}
		}
	}
	return ticks
}

// label writes whole numbers as people do.
func label(v float64) string {
	switch {
	case v >= 1e6:
		return strconv.FormatFloat(v/1e6, 'g', 6, 64) + " M"
	case v >= 1e4:
		return strconv.FormatFloat(v/1e3, 'g', 6, 64) + " k"
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}
