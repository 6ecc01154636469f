package report

import (
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"

	"github.com/gauze-dp/gauze/release"
)

const (
	// pairWidth and pairHeight are in points.
	pairWidth, pairHeight = 360, 300
	// pairReach is the number of standard deviations of every component that a picture of two
	// columns shows.
	pairReach = 2.7
	// allPairs is the largest number of columns of which every pair is drawn.
	allPairs = 5
	// nameCells is the longest name of a column within a picture; the words under it have the whole
	// name.
	nameCells = 26
)

// A pair of columns, with how much its picture shows.
type pair struct {
	a, b       int
	telling    float64 // the larger of the next two
	related    float64 // |correlation| of the drawn mixture
	separation float64 // share of the spread that lies between the components' means
}

// pairsOf returns the pairs to draw: all of up to allPairs columns, above that the most telling, at
// most most. Columns without any spread are left out.
func pairsOf(parts []part, d, most int) (chosen []pair, of int) {
	var live []int
	for j := range d {
		if !newAxis(parts, j, 1, 1).constant {
			live = append(live, j)
		}
	}
	for x, a := range live {
		for _, b := range live[x+1:] {
			chosen = append(chosen, newPair(parts, a, b))
		}
	}
	of = len(chosen)
	if d > allPairs && of > most {
		sort.SliceStable(chosen, func(i, j int) bool { return chosen[i].telling > chosen[j].telling })
		chosen = chosen[:most]
	}
	return chosen, of
}

// newPair measures a pair. With T the covariance of the drawn mixture over the two columns and W
// the mean of the components' own, the correlation is T's and the separation is 1 - det W / det T
// (Wilks' lambda).
func newPair(parts []part, a, b int) pair {
	x, y := newAxis(parts, a, 1, 1), newAxis(parts, b, 1, 1)
	var total, waa, wab, wbb, taa, tab, tbb float64
	for _, q := range parts {
		total += q.weight
	}
	for _, q := range parts {
		w := 1 / float64(len(parts))
		if total > 0 {
			w = q.weight / total
		}
		su, sv, du, dv := q.sd[a]/x.unit, q.sd[b]/y.unit, x.u(q.mean[a]), y.u(q.mean[b])
		waa, wbb, wab = waa+w*su*su, wbb+w*sv*sv, wab+w*q.correlation(a, b)*su*sv
		taa, tbb, tab = taa+w*du*du, tbb+w*dv*dv, tab+w*du*dv
	}
	taa, tbb, tab = taa+waa, tbb+wbb, tab+wab
	p := pair{a: a, b: b}
	if taa > 0 && tbb > 0 {
		p.related = math.Min(1, math.Abs(tab)/math.Sqrt(taa)/math.Sqrt(tbb))
	}
	p.separation = separation(waa, wab, wbb, taa, tab, tbb)
	p.telling = math.Max(p.related, p.separation)
	return p
}

// separation returns 1 - det W / det T, and at least what either column has by itself. A hair of
// T's spread is added to both matrices, because two exactly related columns would otherwise divide
// zero by zero.
func separation(waa, wab, wbb, taa, tab, tbb float64) float64 {
	const hair = 1e-9
	out := 0.0
	for _, share := range []float64{
		((waa+hair*taa)*(wbb+hair*tbb) - wab*wab) / (taa*tbb*(1+hair)*(1+hair) - tab*tab), waa / taa, wbb / tbb,
	} {
		if share >= 0 { // false for 0/0
			out = math.Max(out, 1-share)
		}
	}
	return out
}

// pairPicture draws two columns, every part as its ellipses of half a sigma to two, the whole ones
// with a line; correlation is that of all rows.
func pairPicture(r *release.Release, parts []part, at pair, correlation float64) figure {
	nameA, nameB := columnName(scaled(r, at.a), at.a), columnName(scaled(r, at.b), at.b)
	x, y := newAxis(parts, at.a, pairReach, 7), newAxis(parts, at.b, pairReach, 7)
	p := newPicture(pairWidth, pairHeight, x, y, shorten(nameA, nameCells), shorten(nameB, nameCells))
	p.ID, p.Title, p.Desc = fmt.Sprintf("pair-%d-%d", at.a+1, at.b+1), "Density of "+nameA+" and "+nameB, describePair(parts, at)
	top := largestWeight(parts)
	sorted := sortedByWeight(parts)
	for i := len(sorted) - 1; i >= 0; i-- { // heavy ones last, on top
		q := sorted[i]
		strength := tenth(0.3 + 0.7*math.Sqrt(q.weight/top))
		for _, z := range []float64{2, 1.5, 1, .5} {
			p.area(partClass(q.index), 0.12*strength, ellipse(q, at, x, y, z))
		}
		p.line(partClass(q.index), lineWidth, dashes(q.index), strength, ellipse(q, at, x, y, 2))
		p.line(partClass(q.index), boldWidth, dashes(q.index), strength, ellipse(q, at, x, y, 1))
	}
	for _, q := range sorted {
		centre := point{x.u(q.mean[at.a]), y.u(q.mean[at.b])}
		p.dot(partClass(q.index), 2, centre)
		if len(parts) > 1 {
			p.number(q, centre, 10)
		}
	}
	return figure{Name: nameA + " × " + nameB, SVG: p, Note: pairNote(parts, at, correlation)}
}

// ellipse returns the curve of all points z standard deviations from q's mean; a line or a point if
// q is degenerate.
func ellipse(q part, at pair, x, y axis, z float64) []point {
	const points = 72
	su, sv, r := z*q.sd[at.a]/x.unit, z*q.sd[at.b]/y.unit, q.correlation(at.a, at.b)
	rest := math.Sqrt(math.Max(0, 1-r*r))
	out := make([]point, points+1)
	for i := range out {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / points)
		out[i] = point{X: x.u(q.mean[at.a]) + su*cos, Y: y.u(q.mean[at.b]) + sv*(r*cos+rest*sin)}
	}
	return out
}

// pairNote states the correlation of all rows, as the table of the whole has it.
func pairNote(parts []part, at pair, correlation float64) string {
	note := "correlation " + withMinus(strconv.FormatFloat(math.Round(100*correlation)/100, 'f', 2, 64))
	if len(parts) > 1 {
		note += fmt.Sprintf(", separation %.2f", at.separation)
	}
	for _, q := range parts {
		if q.sd[at.a] == 0 || q.sd[at.b] == 0 || math.Abs(q.correlation(at.a, at.b)) > 1-1e-9 {
			return note + ". A component without spread in some direction shows as a line or a point."
		}
	}
	return note
}

func describePair(parts []part, at pair) string {
	said := make([]string, len(parts))
	for i, q := range parts {
		said[i] = fmt.Sprintf("component %d: weight %s, centred at %s and %s, correlation %s", q.index+1, percent(q.weight),
			number(q.mean[at.a], 4), number(q.mean[at.b], 4), number(q.correlation(at.a, at.b), 2))
	}
	return strings.Join(said, "; ") + "."
}
