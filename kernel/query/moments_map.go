package query

import (
	"math"

	"github.com/gauze-dp/gauze/kernel/internal/panel"
)

// momentsMap is the compiled row map of ClippedMoments.
type MomentsMap struct {
	form  Form
	Parts []*momentsPart
	live  []*momentsPart // those that the current row has a share of
	x     []panel.Column
}

// momentsPart is what the map keeps for one component.
type momentsPart struct {
	Component
	frame  *panel.Map
	z      []panel.Column
	norm2  panel.Column // |z|^2
	share  float64      // of the current row
	Scale  float64      // headroom over the length of f (FullForm); headroom (linear forms)
	lift   float64      // b
	gram   *panel.Gram  // FullForm
	h      []int64      // linear forms
	offset int          // where the component's block starts in the answer
}

// Compile returns a row map for one worker.
func (q ClippedMoments) Compile(d int) RowMap {
	m := &MomentsMap{form: q.Form, x: make([]panel.Column, d)}
	at := 0
	for _, c := range q.Components {
		out := c.Frame.Out()
		alone := len(q.Components) == 1
		p := &momentsPart{Component: c, frame: c.Frame.Compile(m.x, alone), z: make([]panel.Column, out), Scale: q.Headroom(), offset: at}
		m.Parts = append(m.Parts, p)
		if q.Form == FullForm {
			p.lift = q.Lift * c.Radius
			p.Scale /= c.Radius * math.Sqrt(1+float64(q.Lift*q.Lift))
			if p.gram = panel.NewGram(out + 1); alone {
				p.z = p.gram.H[1 : 1+out] // rounded in place
			}
		} else {
			p.h = make([]int64, q.Form.Size(out))
		}
		if !c.GateOnly {
			at += q.Form.Size(out)
		}
	}
	return m
}

// Add maps rows panel by panel.
func (m *MomentsMap) Add(sum []int64, rows []float64) {
	for d := len(m.x); len(rows) >= d; {
		n := panel.Load(m.x, rows, m.Parts[0].frame.Shift)
		rows = rows[n*d:]
		for _, p := range m.Parts {
			p.frame.Apply(p.z, &p.norm2, m.x)
		}
		if len(m.Parts) == 1 && m.form == FullForm {
			m.Parts[0].addPanel(sum)
			continue
		}
		for r := range n {
			if !m.shares(r) {
				continue
			}
			if m.form == FullForm {
				m.roundFull(sum, r)
			} else {
				m.addLinear(sum, r)
			}
		}
	}
	if m.form == FullForm {
		for _, p := range m.Parts {
			p.gram.AddWaiting(sum[p.offset:])
			p.gram.Flush(sum[p.offset:])
		}
	}
}

// truncated reports that row r lies beyond the radius of a component that truncates.
func (p *momentsPart) truncated(r int) bool {
	return p.Truncate && p.norm2[r] > float64(p.Radius*p.Radius)
}

// clip is the factor that brings row r into the ball of the component's radius.
func (p *momentsPart) clip(r int) float64 {
	if n2 := p.norm2[r]; n2 > float64(p.Radius*p.Radius) {
		return p.Radius / math.Sqrt(n2)
	}
	return 1
}

// addPanel is FullForm with one component: all shares are 1.
func (p *momentsPart) addPanel(sum []int64) {
	var factor panel.Column
	h0 := panel.Nearest(float64(p.lift * p.Scale))
	for r, n2 := range &p.norm2 {
		p.gram.H[0][r] = h0
		factor[r] = float64(p.clip(r) * p.Scale)
		if !panel.Finite(n2) || p.truncated(r) {
			factor[r] = math.NaN()
			p.gram.H[0][r] = math.NaN()
		}
	}
	p.gram.RoundAll(&factor)
	p.gram.Add(sum)
}

// shares lists in live the parts that row r has a share of, and fills these; false if the row has
// no finite image in any frame, or is truncated in the only one.
func (m *MomentsMap) shares(r int) bool {
	if p := m.Parts[0]; len(m.Parts) == 1 {
		p.share, m.live = 1, m.Parts
		return panel.Finite(p.norm2[r]) && !p.truncated(r)
	}
	best := math.Inf(-1)
	for _, p := range m.Parts {
		p.share = p.LogWeight - p.norm2[r]/2 // no finite image: -Inf or NaN, never best
		if p.share > best {
			best = p.share
		}
	}
	if math.IsInf(best, -1) {
		return false
	}
	total, seen := 0.0, m.live[:0]
	for _, p := range m.Parts {
		if l := p.share - best; l > panel.Far { // false for NaN
			p.share = panel.ExpNegative(l)
			total += p.share
			seen = append(seen, p)
		}
	}
	m.live = seen[:0]
	for _, p := range seen {
		if p.share /= total; p.share >= MinShare && !p.GateOnly && !p.truncated(r) {
			m.live = append(m.live, p)
		}
	}
	return true
}

// roundFull rounds row r for all components that have a share, checks the invariant that the
// sensitivity rests on, and lets the row wait in all of them or in none.
func (m *MomentsMap) roundFull(sum []int64, r int) {
	total := 0.0
	for _, p := range m.live {
		g := p.gram
		scale := float64(p.Scale * math.Sqrt(p.share))
		v := panel.Nearest(float64(p.lift * scale))
		g.H[0][g.Waiting] = v
		own := float64(v * v) // apart from the others', so that the processor need not wait for them
		scale = float64(p.clip(r) * scale)
		for i := range p.z {
			v = panel.Nearest(float64(p.z[i][r] * scale))
			g.H[1+i][g.Waiting] = v
			own += float64(v * v)
		}
		total += own
	}
	if !(total <= panel.GramBound) { // exact in any order: see panel.Gram.RoundAll
		return // n stays, so the next row overwrites this one
	}
	for _, p := range m.live {
		if p.gram.Waiting++; p.gram.Waiting == panel.Rows {
			p.gram.AddWaiting(sum[p.offset:])
		}
	}
}

// addLinear is roundFull for the linear forms, whose vectors are added at once.
func (m *MomentsMap) addLinear(sum []int64, r int) {
	total := int64(0)
	for _, p := range m.live {
		p.linear(m.form, r)
		for _, v := range p.h {
			if v > 1<<LinearBits || v < -1<<LinearBits {
				return
			}
			if total += v * v; total > 1<<(2*LinearBits) {
				return
			}
		}
		if !m.form.NonNegative(p.h) {
			return
		}
	}
	for _, p := range m.live {
		for i, v := range p.h {
			sum[p.offset+i] += v
		}
	}
}

// nonNegative reports the invariant that makes inner products of two vectors of a linear form
// non-negative. The caller has bounded |h|^2, so nothing overflows.
func (f Form) NonNegative(h []int64) bool {
	last := len(h) - 1
	d := last - 1
	if f == DiagonalForm {
		d = last / 2
	}
	sum := int64(0)
	for _, v := range h[1 : 1+d] {
		sum += v * v
	}
	for _, v := range h[1+d:] {
		if v < 0 {
			return false
		}
	}
	if f == DiagonalForm {
		// <h,h'> >= h_0 h_0' - |h_z||h_z'| + (terms >= 0)
		return h[0] >= 0 && sum <= h[0]*h[0]
	}
	// |<h_z,h_z'>| <= 2 sqrt(h_0 h_2 h_0' h_2') <= h_0 h_0' + h_2 h_2'
	return h[0] >= 0 && sum <= 2*h[0]*h[last]
}

// integer converts an integral v; what does not fit, or is not a number, becomes one that fails the
// checks on every machine.
func integer(v float64) int64 {
	if !(math.Abs(v) < 1<<51) {
		return 1 << 40
	}
	return int64(v)
}

// ceilGuard keeps h_0 above the length of h_z although clip and scale were computed in floating
// point.
const CeilGuard = 1 + 1e-9

// linear writes round(scale (r, z, z^2/r)/(sqrt3 r)) of row r to h (DiagonalForm), or round(scale
// (r/2, z, |z|^2/r)/(3/2 r)): h_0 up, h_z towards zero, squares to nearest, their sum up.
func (p *momentsPart) linear(form Form, row int) {
	h, d, clip, r := p.h, len(p.z), p.clip(row), p.Radius
	first, norm := r, math.Sqrt(3)
	if form == SphericalForm {
		first, norm = r/2, 1.5
	}
	unit, sum := p.Scale*p.share/(norm*r), 0.0
	h[0] = integer(math.Ceil(first * unit * CeilGuard))
	for i := range p.z {
		v := float64(p.z[i][row] * clip)
		h[1+i] = integer(math.Trunc(v * unit))
		if form == DiagonalForm {
			h[1+d+i] = integer(panel.Nearest(float64(v * v / r * unit)))
		}
		sum += float64(v * v)
	}
	if form == SphericalForm {
		h[1+d] = integer(math.Ceil(sum / r * unit * CeilGuard))
	}
}

// directionsMap is the compiled row map of Directions.
type directionsMap struct {
	*panel.View
	lift     float64
	headroom float64
	gram     *panel.Gram
}

// Compile returns a row map for one worker.
func (q Directions) Compile(d int) RowMap {
	dim := q.Frame.Out() + 1
	m := &directionsMap{View: q.Frame.View(d), lift: q.Lift, headroom: panel.Headroom(panel.GramBits, dim, false), gram: panel.NewGram(dim)}
	m.Z = m.gram.H[1:dim] // rounded in place
	return m
}

// Add maps rows panel by panel: h = round(q f/|f|).
func (m *directionsMap) Add(sum []int64, rows []float64) {
	var factor panel.Column
	m.Each(rows, func(int) {
		for r, n := range &m.Norm2 {
			lift := m.lift
			n += float64(lift * lift)
			if !(n < math.MaxFloat64) || n < 1e-280 {
				lift, n = m.rescale(r)
			}
			factor[r] = m.headroom / math.Sqrt(n)
			m.gram.H[0][r] = panel.Nearest(float64(lift * factor[r]))
		}
		m.gram.RoundAll(&factor)
		m.gram.Add(sum)
	})
	m.gram.Flush(sum)
}

// rescale divides row r and the lift by the largest entry, before squaring, and returns the lift
// and the new |f|^2: NaN if the row is null or an entry is not finite.
func (m *directionsMap) rescale(r int) (lift, n float64) {
	big := m.lift
	for i := range m.Z {
		// NaN replaces big, and any number replaces NaN: the sum below sees it all the same
		if v := math.Abs(m.Z[i][r]); !(v <= big) {
			big = v
		}
	}
	if m.Null(r) || !panel.Finite(big) {
		return m.lift, math.NaN()
	}
	for i := range m.Z {
		m.Z[i][r] /= big
		n += float64(m.Z[i][r] * m.Z[i][r])
	}
	lift = m.lift / big
	return lift, n + float64(lift*lift)
}
