package report

import (
	"fmt"
	"html/template"
	"math"
	"sort"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/gauze-dp/gauze/release"
)

// weightsPicture draws one bar for each component, background included, the first on top.
func weightsPicture(r *release.Release) (template.HTML, error) {
	m := r.Model
	k := m.K()
	p := newPlot()
	largest := 0.0
	var ticks []plot.Tick
	var said []string
	for i, w := range m.Weights {
		y := float64(k - i)
		largest = math.Max(largest, w)
		name := strconv.Itoa(i + 1)
		if note(r, i).Background {
			name += " bg"
		}
		ticks = append(ticks, plot.Tick{Value: y, Label: name})
		said = append(said, fmt.Sprintf("component %d: %s", i+1, percent(w)))
		bar := []plotter.XY{{X: 0, Y: y - 0.36}, {X: w, Y: y - 0.36}, {X: w, Y: y + 0.36}, {X: 0, Y: y + 0.36}}
		fill := faint(partRole(i), 0.75)
		if note(r, i).Background {
			fill = faint(roleAxis, 0.5)
		}
		p.Add(region{rings: [][]plotter.XY{bar}, fill: fill})
	}
	largest = math.Max(largest, 1e-9)
	p.X.Min, p.X.Max = 0, largest*1.22
	p.Y.Min, p.Y.Max = 0.4, float64(k)+0.6
	p.Y.Tick.Marker = plot.ConstantTicks(ticks)
	p.Y.Tick.Length, p.Y.Width = 0, 0
	p.HideX()
	p.Add(barEnds{m.Weights})
	return render(p, 360, float64(19*k+8), caption{"weights", "Weights of the components", strings.Join(said, ", ") + "."})
}

// barEnds writes each weight behind its bar.
type barEnds struct{ weights []float64 }

func sortedByWeight(parts []part) []part {
	out := append([]part(nil), parts...)
	sort.SliceStable(out, func(a, b int) bool { return out[a].weight > out[b].weight })
	return out
}

// Plot draws b; it makes b a plot.Plotter.
func (b barEnds) Plot(c draw.Canvas, p *plot.Plot) {
	style := restyled(p.X.Tick.Label, roleInk)
	style.XAlign, style.YAlign = draw.XLeft, draw.YCenter
	trX, trY := p.Transforms(&c)
	for i, w := range b.weights {
		c.FillText(style, vg.Point{X: trX(w) + 5, Y: trY(float64(len(b.weights)-i)) + style.FontExtents().Descent}, percent(w))
	}
}
