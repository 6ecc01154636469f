package query

import (
	"math"
	"math/bits"

	"github.com/gauze-dp/gauze/kernel/internal/rowkernels"
)

// Densities computes exp(LogWeight - |z|^2/2) of each component at the rows of a panel.
type Densities struct {
	Share       []rowkernels.Column // of every component, see rowkernels.Shares
	Best, Total rowkernels.Column
	norm2       []rowkernels.Column // |z|^2
	z           [][]rowkernels.Column
	frames      []*rowkernels.Map
	logWeight   []float64
}

// DensitiesOf compiles components for panels that are loaded into x; for alone see
// rowkernels.Compile.
func DensitiesOf(components []Component, x []rowkernels.Column, alone bool) *Densities {
	n := len(components)
	p := &Densities{Share: make([]rowkernels.Column, n), norm2: make([]rowkernels.Column, n)}
	for _, c := range components {
		p.z = append(p.z, make([]rowkernels.Column, c.Map.Out()))
		p.frames, p.logWeight = append(p.frames, c.Map.Compile(x, alone)), append(p.logWeight, c.LogWeight)
	}
	return p
}

// Apply computes the densities at the rows in x. If divided is set, Share holds the posterior
// shares.
func (p *Densities) Apply(x []rowkernels.Column, divided bool) {
	for j, f := range p.frames {
		f.Apply(p.z[j], &p.norm2[j], x)
	}
	if p.frames != nil { // the assembly expects at least one
		rowkernels.Shares(p.Share, p.norm2, p.logWeight, &p.Best, &p.Total, divided)
	}
}

// MomentsMap is the compiled row map of ClippedMoments.
type MomentsMap struct {
	*Densities
	form  Form
	Parts []*momentsPart
	x     []rowkernels.Column
}

// momentsPart is the state of the map for one component.
type momentsPart struct {
	Component
	z            []rowkernels.Column
	norm2, share *rowkernels.Column
	completed    bool                 // the form is CompletedForm
	Scale        float64              // headroom over the length of f (FullForm, CompletedForm); headroom (linear forms)
	lift         float64              // b, or a of ColumnForm
	gram         *rowkernels.Gram     // FullForm, CompletedForm
	slope, base  float64              // of the smallest and the largest |h|^2 allowed, see roundFull
	waiting      int                  // number of rows waiting to be added
	from, to     []*rowkernels.Column // of waiting rows: share, |z|^2, bound, and z in the gram
	h            []int64              // linear forms
	s            []float64            // ColumnForm
	offset       int                  // start of the component's block in the answer
}

// Compile returns a row map for one worker.
func (q ClippedMoments) Compile(d int) RowMap {
	x, alone := make([]rowkernels.Column, d), len(q.Components) == 1
	m := &MomentsMap{form: q.Form, x: x, Densities: DensitiesOf(q.Components, x, alone)}
	if alone { // its share of every row with a finite image is 1, whatever its weight
		m.logWeight[0] = 0
	}
	at := 0
	for j, c := range q.Components {
		out := c.Map.Out()
		p := &momentsPart{Component: c, norm2: &m.norm2[j], share: &m.Share[j], Scale: q.Headroom(), offset: at}
		m.Parts = append(m.Parts, p)
		if q.Form.gram() {
			p.lift, p.completed = q.Lift*c.Radius, q.Form == CompletedForm
			p.Scale /= c.Radius * math.Sqrt(1+float64(q.Lift*q.Lift))
			p.slope, p.base = wholeNorm*(q.Headroom()+1), wholeNorm*float64(q.Form.entries(out))/4/(wholeNorm-1-q.Headroom())
			p.gram, p.from, p.to = rowkernels.NewGram(q.Form.entries(out)), []*rowkernels.Column{p.share, p.norm2, {}}, []*rowkernels.Column{{}, {}, {}}
			if alone { // rounded in place
				m.z[j] = p.gram.H[1 : 1+out]
			}
			for i := range out {
				p.from, p.to = append(p.from, &m.z[j][i]), append(p.to, &p.gram.H[1+i])
			}
		} else {
			p.h = make([]int64, q.Form.Size(out))
		}
		if q.Form == ColumnForm {
			p.lift, p.s = q.Lift, make([]float64, 2*out)
		}
		p.z = m.z[j]
		if !c.GateOnly {
			at += q.Form.Size(out)
		}
	}
	return m
}

// Add maps rows panel by panel.
func (m *MomentsMap) Add(sum []int64, rows []float64) {
	for d := len(m.x); len(rows) >= d; {
		n := rowkernels.Load(m.x, rows, m.frames[0].Shift)
		rows = rows[n*d:]
		m.Apply(m.x, true)
		for _, p := range m.Parts {
			for r, n2 := range p.norm2 {
				if !p.GateOnly && !p.Truncate {
					break
				}
				if p.GateOnly || n2 > float64(p.Radius*p.Radius) {
					p.share[r] = 0
				}
			}
		}
		if m.form.gram() {
			m.roundFull(sum)
			continue
		}
		for r := range n {
			m.addLinear(sum, r)
		}
	}
	if m.form.gram() {
		for _, p := range m.Parts {
			p.addWaiting(sum)
			p.gram.Flush(sum[p.offset:])
		}
	}
}

// wholeNorm is T of roundFull.
const wholeNorm = 1<<rowkernels.GramBits - 3

// roundFull puts the panel's rows in the queue of each component that they have a share of, and
// adds a queue when it fills a panel: few rows have a share of many components.
//
// Privacy. Two facts about integers, each checked for every row, are the whole proof that what a
// row adds has sum_j |h_j|^2 <= 2^(2B):
//
//  1. rowkernels.Live gives a row a bound m_j in each component that it leaves in, and leaves it in
//     only while the sum of its bounds so far is at most 2^(2B).
//  2. rowkernels.Gram.RoundAll adds h_j only if |h_j|^2 <= m_j.
//
// Shares, norms, factors and the rounding of floating point may be anything. A row that fails 1
// adds nothing to the remaining components; one that fails 2 adds nothing to that component.
func (m *MomentsMap) roundFull(sum []int64) {
	// Utility only: no honest row fails. With the share R of a component, m_j is T (u R + e/(4s)),
	// rounded. Here e is the number of its entries, u is one more than the headroom, s is at least
	// sqrt(e)/2 summed over the entries of all components, and T = u + s. A vector of norm u
	// sqrt(R) is rounded to one no longer than that, as (u sqrt(R) + sqrt(e)/2)^2 <= m_j by 2
	// sqrt(R) sqrt(e)/2 <= s R + e/(4s). All m_j together are at most T u + T s = T^2 < 2^(2B), as
	// shares sum to at most 1.
	if p := m.Parts[0]; len(m.Parts) == 1 {
		p.add(sum, p.share, p.norm2, &rowkernels.Column{})
		return
	}
	var total rowkernels.Column
	for _, p := range m.Parts {
		for live := rowkernels.Live(p.share, &total, p.from[2], p.slope, p.base, MinShare); live != 0; {
			rest := rowkernels.Keep(p.to, p.from, p.waiting, live)
			p.waiting += bits.OnesCount64(live ^ rest)
			if live = rest; p.waiting == rowkernels.Rows {
				p.addWaiting(sum)
			}
		}
	}
}

// addWaiting adds the waiting rows and empties the queue.
func (p *momentsPart) addWaiting(sum []int64) {
	if p.waiting > 0 {
		clear(p.to[0][p.waiting:]) // no share
		p.add(sum, p.to[0], p.to[1], p.to[2])
		p.waiting = 0
	}
}

// add rounds and adds the rows whose z is in the gram's panel; for less see
// rowkernels.Gram.RoundAll.
func (p *momentsPart) add(sum []int64, share, norm2, less *rowkernels.Column) {
	var factor rowkernels.Column
	rowkernels.Weigh(&p.gram.H[0], &factor, share, norm2, p.Scale, p.lift, p.Radius, MinShare)
	if p.completed {
		p.complete(norm2)
	}
	p.gram.RoundAll(&factor, less)
	p.gram.Add(sum[p.offset:])
}

// complete writes sqrt(r^2 - |z|^2), or 0 beyond the radius, to the last entry, which is rounded
// with z. RoundAll checks the length of the result.
func (p *momentsPart) complete(norm2 *rowkernels.Column) {
	last, r2 := &p.gram.H[p.gram.Dim-1], float64(p.Radius*p.Radius)
	for r, n2 := range norm2 {
		last[r] = 0
		if rest := r2 - n2; rest > 0 { // not NaN
			last[r] = math.Sqrt(rest)
		}
	}
}

// addLinear does what roundFull does, for the linear forms, whose vectors are added at once.
func (m *MomentsMap) addLinear(sum []int64, r int) {
	total := int64(0)
	for _, p := range m.Parts {
		if !(p.share[r] >= MinShare) { // NaN
			continue
		}
		if m.form == ColumnForm {
			p.marginal(r)
		} else {
			p.linear(m.form, r)
		}
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
	for _, p := range m.Parts {
		if p.share[r] >= MinShare {
			for i, v := range p.h {
				sum[p.offset+i] += v
			}
		}
	}
}

// NonNegative reports whether h has the invariant that makes inner products of two vectors of a
// linear form non-negative. The caller has bounded |h|^2, so nothing overflows.
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
	// |<h_z,h_z'>| <= 2 sqrt(h_0 h_2 h_0' h_2') <= h_0 h_0' + h_2 h_2'; s in the place of z
	return h[0] >= 0 && sum <= 2*h[0]*h[last]
}

// integer converts an integral v. A value that does not fit, or is not a number, becomes one that
// fails the checks on every machine.
func integer(v float64) int64 {
	if !(math.Abs(v) < 1<<51) {
		return 1 << 40
	}
	return int64(v)
}

// CeilGuard keeps h_0 above the length of h_z although clip and scale were computed in floating
// point.
const CeilGuard = 1 + 1e-9

// linear writes round(scale (r, z, z^2/r)/(sqrt3 r)) of row r to h (DiagonalForm), or round(scale
// (r/2, z, |z|^2/r)/(3/2 r)): h_0 up, h_z towards zero, squares to nearest, their sum up.
func (p *momentsPart) linear(form Form, row int) {
	h, d, clip, r := p.h, len(p.z), 1.0, p.Radius
	if n2 := p.norm2[row]; n2 > float64(r*r) { // clip to the ball of the radius
		clip = r / math.Sqrt(n2)
	}
	first, norm := r, math.Sqrt(3)
	if form == SphericalForm {
		first, norm = r/2, 1.5
	}
	unit, sum := p.Scale*p.share[row]/(norm*r), 0.0
	h[0] = integer(math.Ceil(first * unit * CeilGuard))
	for i := range p.z {
		v := float64(p.z[i][row] * clip)
		h[1+i] = integer(math.Trunc(v * unit))
		if form == DiagonalForm {
			h[1+d+i] = integer(rowkernels.Nearest(float64(v * v / r * unit)))
		}
		sum += float64(v * v)
	}
	if form == SphericalForm {
		h[1+d] = integer(math.Ceil(sum / r * unit * CeilGuard))
	}
}

// marginal writes round(scale (r/sqrt2, s, |s|^2/(sqrt2 r))/(sqrt2 r)) of row r to h: h_0 up, h_s
// towards zero, its square up.
func (p *momentsPart) marginal(row int) {
	d, r, norm2 := len(p.z), p.Radius, 0.0
	for i := range p.z {
		z := p.z[i][row]
		p.s[i], p.s[d+i] = z, p.lift*(float64(z*z)-1)
	}
	for _, v := range p.s {
		norm2 += float64(v * v)
	}
	clip, sum, unit := 1.0, 0.0, p.Scale/(math.Sqrt2*r)
	if norm2 > float64(r*r) {
		clip = r / math.Sqrt(norm2)
	}
	p.h[0] = integer(math.Ceil(r / math.Sqrt2 * unit * CeilGuard))
	for i, v := range p.s {
		v = float64(v * clip)
		p.h[1+i] = integer(math.Trunc(v * unit))
		sum += float64(v * v)
	}
	p.h[1+2*d] = integer(math.Ceil(sum / (math.Sqrt2 * r) * unit * CeilGuard))
}

// directionsMap is the compiled row map of Directions.
type directionsMap struct {
	*rowkernels.View
	lift     float64
	headroom float64
	gram     *rowkernels.Gram
}

// Compile returns a row map for one worker.
func (q Directions) Compile(d int) RowMap {
	dim := q.Map.Out() + 1
	m := &directionsMap{View: q.Map.View(d), lift: q.Lift, headroom: rowkernels.Headroom(rowkernels.GramBits, dim, false), gram: rowkernels.NewGram(dim)}
	m.Z = m.gram.H[1:dim] // rounded in place
	return m
}

// Add maps rows panel by panel: h = round(q f/|f|).
func (m *directionsMap) Add(sum []int64, rows []float64) {
	var factor rowkernels.Column
	m.Each(rows, func(int) {
		for odd := rowkernels.Unit(&m.gram.H[0], &factor, &m.Norm2, m.lift, m.headroom); odd != 0; odd &= odd - 1 {
			r := bits.TrailingZeros64(odd)
			lift, n := m.rescale(r)
			factor[r] = m.headroom / math.Sqrt(n)
			m.gram.H[0][r] = rowkernels.Nearest(float64(lift * factor[r]))
		}
		m.gram.RoundAll(&factor, &rowkernels.Column{})
		m.gram.Add(sum)
	})
	m.gram.Flush(sum)
}

// rescale divides row r and the lift by the largest entry, before squaring, and returns the lift
// and the new |f|^2: NaN if the row is null or an entry is not finite.
func (m *directionsMap) rescale(r int) (lift, n float64) {
	big := m.lift
	for i := range m.Z {
		// NaN replaces big, and any number replaces NaN: the sum below is NaN all the same
		if v := math.Abs(m.Z[i][r]); !(v <= big) {
			big = v
		}
	}
	if m.Null(r) || !rowkernels.Finite(big) {
		return m.lift, math.NaN()
	}
	for i := range m.Z {
		m.Z[i][r] /= big
		n += float64(m.Z[i][r] * m.Z[i][r])
	}
	lift = m.lift / big
	return lift, n + float64(lift*lift)
}
