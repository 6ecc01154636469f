package query

import "math"

// momentsMap is the compiled row map of ClippedMoments.
type momentsMap struct {
	form  Form
	parts []*momentsPart
	x     []column
	z     []float64 // one row's coordinates, for the linear forms
}

// momentsPart is what the map keeps for one component.
type momentsPart struct {
	Component
	frame  *affine
	z      []column
	norm2  column  // |z|^2
	share  float64 // of the current row
	scale  float64 // headroom over the length of f (FullForm); headroom (linear forms)
	lift   float64 // b
	gram   *gram   // FullForm
	h      []int64 // linear forms
	offset int     // where the component's block starts in the answer
}

// Compile returns a row map for one worker.
func (q ClippedMoments) Compile(d int) RowMap {
	m := &momentsMap{form: q.Form, x: make([]column, d)}
	at := 0
	for _, c := range q.Components {
		out := c.Frame.Out()
		p := &momentsPart{Component: c, frame: c.Frame.compile(m.x, len(q.Components) == 1), scale: q.headroom(), offset: at}
		m.parts = append(m.parts, p)
		switch {
		case q.Form != FullForm:
			p.z = make([]column, out)
			p.h = make([]int64, q.Form.size(out))
		case len(q.Components) == 1:
			p.gram = newGram(out + 1)
			p.z = p.gram.h[1 : 1+out] // rounded in place
		default:
			p.gram = newGram(out + 1)
			p.z = make([]column, out)
		}
		if q.Form == FullForm {
			p.lift = q.Lift * c.Radius
			p.scale /= c.Radius * math.Sqrt(1+float64(q.Lift*q.Lift))
		}
		if !c.GateOnly {
			at += q.Form.size(out)
		}
		m.z = append(m.z, make([]float64, max(0, out-len(m.z)))...)
	}
	return m
}

// Add maps rows panel by panel.
func (m *momentsMap) Add(sum []int64, rows []float64) {
	for d := len(m.x); len(rows) >= d; {
		n := load(m.x, rows, m.parts[0].frame.shift)
		rows = rows[n*d:]
		for _, p := range m.parts {
			p.frame.apply(p.z, &p.norm2, m.x)
		}
		if len(m.parts) == 1 && m.form == FullForm {
			m.parts[0].addPanel(sum)
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
		for _, p := range m.parts {
			p.gram.addWaiting(sum[p.offset:])
			p.gram.flush(sum[p.offset:])
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
	var factor column
	h0 := nearest(float64(p.lift * p.scale))
	for r, n2 := range &p.norm2 {
		p.gram.h[0][r] = h0
		factor[r] = float64(p.clip(r) * p.scale)
		if !finite(n2) || p.truncated(r) {
			factor[r] = math.NaN()
			p.gram.h[0][r] = math.NaN()
		}
	}
	p.gram.roundAll(&factor)
	p.gram.add(sum)
}

// far: exp(far) and less counts as zero in a sum of posterior weights whose largest is 1.
const far = -25

// shares fills share for row r; false if the row has no finite image in any frame, or is truncated
// in the only one.
func (m *momentsMap) shares(r int) bool {
	if p := m.parts[0]; len(m.parts) == 1 {
		p.share = 1
		return finite(p.norm2[r]) && !p.truncated(r)
	}
	best := math.Inf(-1)
	for _, p := range m.parts {
		p.share = math.Inf(-1)
		if n2 := p.norm2[r]; finite(n2) {
			p.share = p.LogWeight - n2/2
			if p.share > best {
				best = p.share
			}
		}
	}
	if math.IsInf(best, -1) {
		return false
	}
	total := 0.0
	for _, p := range m.parts {
		if l := p.share - best; l > far {
			p.share = expNegative(l)
			total += p.share
		} else {
			p.share = 0
		}
	}
	for _, p := range m.parts {
		if p.share = p.share / total; p.share < minShare || p.truncated(r) {
			p.share = 0
		}
	}
	return true
}

// expNegative is e^x for far <= x <= 0, to 1e-12, by the same operations on every machine (math.Exp
// is assembly on some): 2^k times the Taylor series of the rest, |rest| <= ln2/2.
func expNegative(x float64) float64 {
	if x == 0 {
		return 1
	}
	k := nearest(float64(x * (1 / math.Ln2)))
	y := x - float64(k*math.Ln2)
	s := 1.0
	for _, c := range [...]float64{1. / 11, 1. / 10, 1. / 9, 1. / 8, 1. / 7, 1. / 6, 1. / 5, 1. / 4, 1. / 3, 1. / 2, 1} {
		s = 1 + float64(float64(y*c)*s)
	}
	return s * math.Float64frombits(uint64(1023+int64(k))<<52)
}

// roundFull rounds row r for all components that have a share, checks the invariant that the
// sensitivity rests on, and lets the row wait in all of them or in none.
func (m *momentsMap) roundFull(sum []int64, r int) {
	total := 0.0
	for _, p := range m.parts {
		if p.share == 0 || p.GateOnly {
			continue
		}
		g := p.gram
		scale := float64(p.scale * math.Sqrt(p.share))
		v := nearest(float64(p.lift * scale))
		g.h[0][g.n] = v
		total += float64(v * v)
		scale = float64(p.clip(r) * scale)
		for i := range p.z {
			v = nearest(float64(p.z[i][r] * scale))
			g.h[1+i][g.n] = v
			total += float64(v * v)
		}
	}
	if !(total <= gramBound) { // exact: see roundAll
		return // n stays, so the next row overwrites this one
	}
	for _, p := range m.parts {
		if p.share == 0 || p.GateOnly {
			continue
		}
		if p.gram.n++; p.gram.n == panelRows {
			p.gram.addWaiting(sum[p.offset:])
		}
	}
}

// addLinear is roundFull for the linear forms, whose vectors are added at once.
func (m *momentsMap) addLinear(sum []int64, r int) {
	total := int64(0)
	for _, p := range m.parts {
		if p.share == 0 || p.GateOnly {
			continue
		}
		z := m.z[:len(p.z)]
		for i := range z {
			z[i] = p.z[i][r]
		}
		if m.form == DiagonalForm {
			diagonalVector(p.h, z, p.clip(r), p.Radius, p.scale*p.share)
		} else {
			sphericalVector(p.h, z, p.clip(r), p.Radius, p.scale*p.share)
		}
		for _, v := range p.h {
			if v > 1<<linearBits || v < -1<<linearBits {
				return
			}
			if total += v * v; total > 1<<(2*linearBits) {
				return
			}
		}
		if !m.form.nonNegative(p.h) {
			return
		}
	}
	for _, p := range m.parts {
		if p.share == 0 || p.GateOnly {
			continue
		}
		for i, v := range p.h {
			sum[p.offset+i] += v
		}
	}
}

// nonNegative reports the invariant that makes inner products of two vectors of a linear form
// non-negative. The caller has bounded |h|^2, so nothing overflows.
func (f Form) nonNegative(h []int64) bool {
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
const ceilGuard = 1 + 1e-9

// diagonalVector writes round(scale (r, z, z^2/r)/(sqrt3 r)): h_0 up, h_z towards zero, squares to
// nearest.
func diagonalVector(h []int64, z []float64, clip, r, scale float64) {
	d := len(z)
	unit := scale / (math.Sqrt(3) * r)
	h[0] = integer(math.Ceil(r * unit * ceilGuard))
	for i, v := range z {
		v = float64(v * clip)
		h[1+i] = integer(math.Trunc(v * unit))
		h[1+d+i] = integer(nearest(float64(v * v / r * unit)))
	}
}

// sphericalVector writes round(scale (r/2, z, |z|^2/r)/(3/2 r)): first and last up, h_z towards
// zero.
func sphericalVector(h []int64, z []float64, clip, r, scale float64) {
	d := len(z)
	unit := scale / (1.5 * r)
	h[0] = integer(math.Ceil(r / 2 * unit * ceilGuard))
	exact := 0.0
	for i, v := range z {
		v = float64(v * clip)
		h[1+i] = integer(math.Trunc(v * unit))
		exact += float64(v * v)
	}
	h[1+d] = integer(math.Ceil(exact / r * unit * ceilGuard))
}

// directionsMap is the compiled row map of Directions.
type directionsMap struct {
	*view
	lift     float64
	headroom float64
	gram     *gram
}

// Compile returns a row map for one worker.
func (q Directions) Compile(d int) RowMap {
	dim := q.Frame.Out() + 1
	m := &directionsMap{view: q.Frame.view(d), lift: q.Lift, headroom: headroom(gramBits, dim, false), gram: newGram(dim)}
	m.z = m.gram.h[1:dim] // rounded in place
	return m
}

// Add maps rows panel by panel: h = round(q f/|f|).
func (m *directionsMap) Add(sum []int64, rows []float64) {
	var factor column
	m.each(rows, func(int) {
		for r, n := range &m.norm2 {
			lift := m.lift
			n += float64(lift * lift)
			if !(n < math.MaxFloat64) || n < 1e-280 {
				lift, n = m.rescale(r)
			}
			factor[r] = m.headroom / math.Sqrt(n)
			m.gram.h[0][r] = nearest(float64(lift * factor[r]))
		}
		m.gram.roundAll(&factor)
		m.gram.add(sum)
	})
	m.gram.flush(sum)
}

// rescale divides row r and the lift by the largest entry, before squaring, and returns the lift
// and the new |f|^2: NaN if the row is null or an entry is not finite.
func (m *directionsMap) rescale(r int) (lift, n float64) {
	big := m.lift
	for i := range m.z {
		// NaN replaces big, and any number replaces NaN: the sum below sees it all the same
		if v := math.Abs(m.z[i][r]); !(v <= big) {
			big = v
		}
	}
	if m.null(r) || !finite(big) {
		return m.lift, math.NaN()
	}
	for i := range m.z {
		m.z[i][r] /= big
		n += float64(m.z[i][r] * m.z[i][r])
	}
	lift = m.lift / big
	return lift, n + float64(lift*lift)
}
