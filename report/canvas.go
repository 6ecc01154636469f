package report

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Sizes in points, which are the page's pixels when a picture is shown at its own width.
const (
	textSize  = 11
	thin      = 0.6
	lineWidth = 1.3
	boldWidth = 2
)

// newPlot returns an empty plot that draws in roles: no background, sans-serif text, quiet axes.
func newPlot() *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Color, a.Width, a.Padding = solid(roleAxis), thin, 0
		a.Tick.Color, a.Tick.Width, a.Tick.Length = solid(roleAxis), thin, 4
		a.Tick.Label = restyled(a.Tick.Label, roleInk)
		a.Label.TextStyle = restyled(a.Label.TextStyle, roleInk)
		a.Label.Padding = 2
	}
	return p
}

func restyled(s text.Style, r role) text.Style {
	s.Font = font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, textSize)
	s.Color = solid(r)
	return s
}

// show puts column axes on one of p's axes.
func (a axis) show(on *plot.Axis, name string) {
	on.Min, on.Max = a.lo, a.hi
	on.Tick.Marker = plot.ConstantTicks(a.ticks)
	on.Label.Text = a.label(name)
}

// dashes of component i: solid for the first paletteSize, then dashed, then dotted.
func dashes(i int) []vg.Length {
	switch i / paletteSize % 3 {
	case 1:
		return []vg.Length{5, 2.5}
	case 2:
		return []vg.Length{1.5, 2}
	}
	return nil
}

func lineStyle(c paint, width vg.Length, dash []vg.Length) draw.LineStyle {
	return draw.LineStyle{Color: c, Width: width, Dashes: dash}
}

// A region is the area between a line and the axis, or inside a closed curve; without an outline
// unless given.
type region struct {
	rings [][]plotter.XY
	fill  paint
	line  draw.LineStyle
}

// Plot draws r; it makes r a plot.Plotter.
func (r region) Plot(c draw.Canvas, p *plot.Plot) {
	trX, trY := p.Transforms(&c)
	var path vg.Path
	for _, ring := range r.rings {
		for i, pt := range ring {
			at := vg.Point{X: trX(pt.X), Y: trY(pt.Y)}
			if i == 0 {
				path.Move(at)
				continue
			}
			path.Line(at)
		}
		path.Close()
	}
	if len(path) == 0 {
		return
	}
	if r.fill.alpha > 0 {
		c.SetColor(r.fill)
		c.Fill(path)
	}
	if r.line.Width > 0 {
		c.SetLineStyle(r.line)
		c.Stroke(path)
	}
}

// A curve is a line through points, thinned to what can be seen.
type curve struct {
	points []plotter.XY
	line   draw.LineStyle
}

// Plot draws l; it makes l a plot.Plotter.
func (l curve) Plot(c draw.Canvas, p *plot.Plot) {
	trX, trY := p.Transforms(&c)
	var path vg.Path
	for i, pt := range l.points {
		at := vg.Point{X: trX(pt.X), Y: trY(pt.Y)}
		if i == 0 {
			path.Move(at)
			continue
		}
		path.Line(at)
	}
	if len(path) == 0 {
		return
	}
	c.SetLineStyle(l.line)
	c.Stroke(path)
}

// A dot is a filled circle.
type dot struct {
	at     plotter.XY
	radius vg.Length
	fill   paint
}

// Plot draws d; it makes d a plot.Plotter.
func (d dot) Plot(c draw.Canvas, p *plot.Plot) {
	trX, trY := p.Transforms(&c)
	c.DrawGlyph(draw.GlyphStyle{Color: d.fill, Radius: d.radius, Shape: draw.CircleGlyph{}},
		vg.Point{X: trX(d.at.X), Y: trY(d.at.Y)})
}

// numerals are short texts beside places: above if there is room, else to the right, below or to
// the left. A text for which none of these is free is left out.
type numerals struct {
	at   []plotter.XY
	text []string
	lift vg.Length // how far from its place the centre of a text stands
}

// add puts q's number beside a place.
func (n *numerals) add(at plotter.XY, q part) {
	n.at = append(n.at, at)
	n.text = append(n.text, strconv.Itoa(q.index+1))
}

// Plot draws n; it makes n a plot.Plotter.
func (n numerals) Plot(c draw.Canvas, p *plot.Plot) {
	style := restyled(p.X.Tick.Label, roleLabel)
	style.XAlign, style.YAlign = draw.XCenter, draw.YCenter
	descent := style.FontExtents().Descent
	trX, trY := p.Transforms(&c)
	var placed []vg.Point
	for i, pt := range n.at {
		at := vg.Point{X: trX(pt.X), Y: trY(pt.Y)}
		for _, side := range []vg.Point{{Y: n.lift}, {X: n.lift + 2}, {Y: -n.lift}, {X: -n.lift - 2}} {
			spot := at.Add(side)
			if !free(spot, placed) {
				continue
			}
			placed = append(placed, spot)
			c.FillText(style, vg.Point{X: spot.X, Y: spot.Y + descent}, n.text[i])
			break
		}
	}
}

func free(spot vg.Point, placed []vg.Point) bool {
	for _, q := range placed {
		if math.Abs(float64(spot.X-q.X)) < textSize*1.2 && math.Abs(float64(spot.Y-q.Y)) < textSize*0.9 {
			return false
		}
	}
	return true
}
