package pages

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"

	"github.com/gauze-dp/gauze/server/ask"
	"github.com/gauze-dp/gauze/server/service"
	"github.com/gauze-dp/gauze/source"
)

// A curve is the expected error against one number of a plan: a picture, and its numbers.
type curve struct {
	ID, Title, Says string
	X               string // the quantity on the horizontal axis
	Lines           []*line
	Marks           []mark
	At              []float64 // where there is a point
	Width, Height   float64
}

// A line is one line of a curve.
type line struct {
	Name   string
	Class  string
	Points map[float64]float64
	Path   string
}

// A mark is a tick with its label, or the place of the plan.
type mark struct {
	X, Y, X2, Y2 float64
	Text, Kind   string // x, y, or here
}

// The numbers at which a curve is drawn, as multiples of the plan's own, and its size in pixels.
// Guesses.
var multiples = []float64{.125, .25, .5, 1, 2, 4, 8}

const (
	curveWidth, curveHeight            = 440, 260
	leftOf, rightOf, topOf, bottomOf   = 56, 14, 12, 40
	mostLines, mostSpread, leastSpread = 4, 1e4, 2
)

// curves returns the expected error of a plan against epsilon, and against the number of rows.
func (p *Pages) curves(v *visit, a ask.Ask, d *service.Dataset, now *service.Plan) []*curve {
	byEpsilon := p.drawn(v, now, a.Epsilon, func(x float64) ask.Ask {
		b := a
		b.Epsilon = x
		return b
	})
	if byEpsilon == nil {
		return nil
	}
	byEpsilon.name("epsilon", "ε")
	out := []*curve{byEpsilon}
	if grouped := len(a.By) > 0 && a.By[0] != source.NoGroups; grouped || now.Rows == 0 {
		return out
	}
	if byRows := p.drawn(v, now, float64(now.Rows), func(x float64) ask.Ask { return spokenOf(a, d, int(x)) }); byRows != nil {
		byRows.name("rows", "rows n")
		out = append(out, byRows)
	}
	return out
}

// spokenOf returns the same request for another number of rows, without the data set if its number
// differs.
func spokenOf(a ask.Ask, d *service.Dataset, rows int) ask.Ask {
	a.Rows = rows
	if !replaceOne(d) {
		return a
	}
	a.Relation, a.Dataset, a.By = d.Relation, "", nil
	if a.Columns == nil {
		a.Dim = len(d.Columns)
	}
	return a
}

// drawn plans at multiples of a number, and draws the expected error; nil if nothing is known.
func (p *Pages) drawn(v *visit, now *service.Plan, at float64, of func(x float64) ask.Ask) *curve {
	c := &curve{Width: curveWidth, Height: curveHeight}
	for _, m := range multiples {
		x, known := at*m, now
		if m != 1 {
			var err error
			if known, err = p.Service.Plan(v.Context(), v.Person, of(x)); err != nil {
				var fault *service.Problem
				if errors.As(err, &fault) && fault.Status == http.StatusTooManyRequests {
					break // leave capacity for others' plans
				}
				continue // no such plan exists
			}
		}
		if c.add(x, known) {
			c.At = append(c.At, x)
		}
	}
	if len(c.At) < 2 || len(c.Lines) == 0 {
		return nil
	}
	c.draw(at)
	return c
}

// add adds the errors that a plan expects, and reports whether there are any.
func (c *curve) add(x float64, plan *service.Plan) bool {
	any := false
	point := func(class, name string, y float64) {
		if !(y > 0) || math.IsInf(y, 0) {
			return
		}
		any = true
		for _, l := range c.Lines {
			if l.Name == name {
				l.Points[x] = y
				return
			}
		}
		if len(c.Lines) < mostLines+2 {
			c.Lines = append(c.Lines, &line{Name: name, Class: class, Points: map[float64]float64{x: y}})
		}
	}
	if bound := plan.LowerBound; bound != nil {
		c.Title = "Error of the covariance"
		// in few columns a median is below a root mean square, and so may these lines be
		point("c0", "expected, a median", plan.Expect.CovarianceError)
		point("bound", "no method can promise less, a root mean square", bound.Covariance)
		point("plain", "nor without privacy", bound.PlainCovariance)
	}
	for i, m := range plan.Mixtures {
		if i < mostLines {
			point(fmt.Sprintf("c%d", i), fmt.Sprintf("%d groups, %g sd apart", m.Components, m.Separation), m.TotalVariation)
		}
	}
	if bound := plan.MixtureBound; bound != nil {
		c.Title = "Total variation from the truth"
		point("bound", "no method can promise less", bound.TotalVariation)
	}
	return any
}

// name names the quantity on the horizontal axis.
func (c *curve) name(id, x string) {
	c.ID, c.X = "curve-"+id, x
	var says []string
	first, last := c.At[0], c.At[len(c.At)-1]
	for _, l := range c.Lines {
		a, ok := l.Points[first]
		b, also := l.Points[last]
		if ok && also {
			says = append(says, fmt.Sprintf("%s: from %s to %s", l.Name, number(a, 2), number(b, 2)))
		}
	}
	c.Title += " against " + x
	c.Says = fmt.Sprintf("%s, from %s to %s. %s.", c.Title, number(first, 3), number(last, 3), strings.Join(says, "; "))
}

// draw places lines and ticks; both axes are logarithmic.
func (c *curve) draw(at float64) {
	low, high := math.Inf(1), 0.
	for _, l := range c.Lines {
		for _, y := range l.Points {
			low, high = min(low, y), max(high, y)
		}
	}
	low = max(low, high/mostSpread)
	if high < low*leastSpread {
		low, high = low/math.Sqrt2, high*math.Sqrt2
	}
	first, last := c.At[0], c.At[len(c.At)-1]
	place := func(v, from, to, a, b float64) float64 {
		return math.Round(10*(a+(b-a)*math.Log(v/from)/math.Log(to/from))) / 10
	}
	x := func(v float64) float64 { return place(v, first, last, leftOf, curveWidth-rightOf) }
	y := func(v float64) float64 { return place(max(v, low), low, high, curveHeight-bottomOf, topOf) }
	for _, l := range c.Lines {
		pen := "M"
		for _, v := range c.At {
			if value, ok := l.Points[v]; ok {
				l.Path += fmt.Sprintf("%s%g %g", pen, x(v), y(value))
				pen = "L"
			}
		}
	}
	for _, v := range c.At {
		c.Marks = append(c.Marks, mark{X: x(v), Y: curveHeight - bottomOf, X2: x(v), Y2: topOf, Text: short(v), Kind: "x"})
	}
	for _, v := range ticks(low, high) {
		c.Marks = append(c.Marks, mark{X: leftOf, Y: y(v), X2: curveWidth - rightOf, Y2: y(v), Text: short(v), Kind: "y"})
	}
	if value, ok := c.Lines[0].Points[at]; ok {
		c.Marks = append(c.Marks, mark{X: x(at), Y: y(value), Kind: "here"})
	}
}

// ticks returns round numbers from low to high.
func ticks(low, high float64) (out []float64) {
	for _, digits := range [][]float64{{1}, {1, 3}, {1, 2, 5}, {1, 1.5, 2, 3, 4, 5, 6, 8}} {
		out = nil
		for e := math.Floor(math.Log10(low)); e <= math.Log10(high); e++ {
			for _, d := range digits {
				if v := d * math.Pow(10, e); v >= low*.999 && v <= high*1.001 {
					out = append(out, v)
				}
			}
		}
		if len(out) >= 3 {
			return out
		}
	}
	return out
}
