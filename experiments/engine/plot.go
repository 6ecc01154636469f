package engine

import (
	"image/color"
	"io"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// A Curve is one line of a picture; points that its axes cannot show are left out.
type Curve struct {
	Name string
	X, Y []float64
	// Low and High, if not nil, are the ends of an interval around each Y.
	Low, High []float64
	// Thin lines without marks are for guidance: a slope of a theorem.
	Thin bool
}

// A Picture is a line plot.
type Picture struct {
	Title, X, Y string
	LogX, LogY  bool
	// YMin and YMax, if not equal, are the ends of the y axis.
	YMin, YMax float64
	Lines      []Curve
}

// The size of a picture.
const (
	pictureWidth  = 7.5 * vg.Inch
	pictureHeight = 4.6 * vg.Inch
)

// colours can be told apart by the colour-blind (Okabe and Ito), and dashes by everybody.
var (
	colours = []color.RGBA{
		{0, 114, 178, 255}, {213, 94, 0, 255}, {0, 158, 115, 255}, {204, 121, 167, 255}, {230, 159, 0, 255}, {86, 180, 233, 255}, {60, 60, 60, 255},
	}
	dashes = [][]vg.Length{nil, {6, 3}, {2, 2}, {8, 3, 2, 3}}
	shapes = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.RingGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.CrossGlyph{}}
)

// writeSVG draws the picture.
func (p Picture) writeSVG(w io.Writer) error {
	out, err := p.compile()
	if err != nil {
		return err
	}
	canvas := vgsvg.New(pictureWidth, pictureHeight)
	drawOn(canvas, out)
	_, err = canvas.WriteTo(w)
	return err
}

// drawOn leaves a column free right of the plot, where the legend stands.
func drawOn(canvas vg.CanvasSizer, out *plot.Plot) {
	out.Legend.XOffs = legendWidth - legendMargin
	out.Draw(draw.Crop(draw.New(canvas), 0, -legendWidth, 0, 0))
}

// compile lays the plot out.
func (p Picture) compile() (*plot.Plot, error) {
	out := plot.New()
	out.Title.Text, out.X.Label.Text, out.Y.Label.Text = p.Title, p.X, p.Y
	out.Title.Padding, out.X.Padding, out.Y.Padding = 6, 4, 4
	out.BackgroundColor = color.White
	out.Legend.Top, out.Legend.Left = true, false
	out.Legend.Padding = 2
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = color.Gray{225}, color.Gray{225}
	out.Add(grid)
	style := 0
	for _, l := range p.Lines {
		points := p.visible(l)
		if len(points.at) == 0 {
			continue
		}
		if err := add(out, l, points, style); err != nil {
			return nil, err
		}
		if !l.Thin {
			style++
		}
	}
	if p.YMin != p.YMax {
		out.Y.Min, out.Y.Max = p.YMin, p.YMax
	}
	if p.LogX {
		out.X.Scale, out.X.Tick.Marker = plot.LogScale{}, logTicks{rows: true}
		out.X.Min, out.X.Max = out.X.Min/1.1, out.X.Max*1.1
	}
	if p.LogY {
		out.Y.Scale, out.Y.Tick.Marker = plot.LogScale{}, logTicks{}
		out.Y.Min, out.Y.Max = out.Y.Min/1.2, out.Y.Max*1.2
	}
	return out, nil
}

// points are what is drawn of a line.
type points struct {
	at        plotter.XYs
	intervals plotter.YErrors
}

// visible drops points that are not finite, or not positive where the axis is logarithmic; ends of
// intervals are cut there.
func (p Picture) visible(l Curve) points {
	var out points
	bad := func(v float64, log bool) bool { return math.IsNaN(v) || math.IsInf(v, 0) || log && v <= 0 }
	for i, x := range l.X {
		y := l.Y[i]
		if bad(x, p.LogX) || bad(y, p.LogY) {
			continue
		}
		out.at = append(out.at, plotter.XY{X: x, Y: y})
		if l.Low == nil || l.High == nil {
			continue
		}
		low, high := l.Low[i], l.High[i]
		if bad(low, p.LogY) {
			low = y
		}
		if bad(high, p.LogY) {
			high = y
		}
		out.intervals = append(out.intervals, struct{ Low, High float64 }{y - low, high - y})
	}
	return out
}

// add draws one line.
func add(out *plot.Plot, l Curve, p points, style int) error {
	line, err := plotter.NewLine(p.at)
	if err != nil {
		return err
	}
	if l.Thin {
		line.Width, line.Color, line.Dashes = .7, color.Gray{120}, []vg.Length{3, 3}
		out.Add(line)
		if l.Name != "" {
			out.Legend.Add(l.Name, line)
		}
		return nil
	}
	c := colours[style%len(colours)]
	line.Width, line.Color, line.Dashes = 1.4, c, dashes[style/len(colours)%len(dashes)]
	marks, err := plotter.NewScatter(p.at)
	if err != nil {
		return err
	}
	marks.Color, marks.Shape, marks.Radius = c, shapes[style%len(shapes)], 2.5
	if p.intervals != nil {
		bars, err := plotter.NewYErrorBars(struct {
			plotter.XYs
			plotter.YErrors
		}{p.at, p.intervals})
		if err != nil {
			return err
		}
		bars.Color, bars.Width, bars.CapWidth = c, .7, 4
		out.Add(bars)
	}
	out.Add(line, marks)
	out.Legend.Add(l.Name, line, marks)
	return nil
}

// Add adds a point with its interval; without one, both ends are NaN.
func (c *Curve) Add(x, y, low, high float64) {
	c.X, c.Y, c.Low, c.High = append(c.X, x), append(c.Y, y), append(c.Low, low), append(c.High, high)
}

// AddMedian adds the median of some values, with their deciles.
func (c *Curve) AddMedian(x float64, v []float64) {
	c.Add(x, Median(v), Quantile(v, .1), Quantile(v, .9))
}

// AddRate adds the success rate of some runs, with Wilson's interval.
func (c *Curve) AddRate(x float64, runs []Result) {
	low, high := wilson(Count(runs), len(runs))
	c.Add(x, float64(Count(runs))/float64(len(runs)), low, high)
}

// Slope is the exponent of y in x.
func (c Curve) Slope() string { return Slope(LogLogSlope(c.X, c.Y)) }

// Guide is a thin line of a slope through (from, y).
func Guide(name string, from, to, y, slope float64) Curve {
	return Curve{Name: name, X: []float64{from, to}, Y: []float64{y, y * math.Pow(to/from, slope)}, Thin: true}
}
