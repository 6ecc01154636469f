package em

import (
	"math"

	"github.com/gauze-dp/gauze/dense"
)

// A Run is EM on the rows of one frame, and the memory that it works in.
type Run struct {
	n, k, d int
	z       []float64 // n x d
	trim    float64   // the share of the rows that every step leaves out
	least   float64   // rows that a component must have
	shapes  float64   // pseudo-rows of every covariance
	weights float64   // pseudo-rows of every weight

	share  []float64 // k x n
	log    []float64 // n if rows are trimmed: their log-densities
	count  []float64 // of every component: rows, ..
	sum    []float64 // .. first moments about its mean, k x d, ..
	square []float64 // .. and second ones, lower triangles
	pooled []float64 // d x d
	work   []float64 // d x d
	y      []float64 // d
	exp    dense.Powers
}

func newRun(z []float64, k, d int) *Run {
	n, t := len(z)/d, d*d
	return &Run{n: n, k: k, d: d, z: z, share: make([]float64, k*n), count: make([]float64, k), sum: make([]float64, k*d),
		square: make([]float64, k*t), pooled: make([]float64, t), work: make([]float64, t), y: make([]float64, d), exp: dense.NewPowers()}
}

// Expect adds up every row's shares in the components of m, and returns the log-likelihood less
// that of the constant (2 pi)^(-d/2).
func (r *Run) Expect(m *Mixture) float64 {
	for j := range r.k {
		r.score(m, j)
	}
	total := r.normalise()
	if r.trim > 0 {
		total = r.leaveOut()
	}
	for j := range r.k {
		r.gather(m, j)
	}
	return total
}

// score writes the logarithm of component j's part of every row's density.
func (r *Run) score(m *Mixture, j int) {
	d, t := r.d, len(r.pooled)
	mean, inv, out := m.Mean[j*d:j*d+d], m.inv[j*t:j*t+t], r.share[j*r.n:j*r.n+r.n]
	top := math.Log(m.Weight[j]) - m.det[j]
	if d == 2 {
		m0, m1, a, b, c := mean[0], mean[1], inv[0], inv[2], inv[3]
		for i := range out {
			z := r.z[2*i : 2*i+2]
			x, y := z[0]-m0, z[1]-m1
			u, v := a*x, b*x+c*y
			out[i] = top - (u*u+v*v)/2
		}
		return
	}
	y := r.y
	for i := range out {
		for c, v := range r.z[i*d : i*d+d] {
			y[c] = v - mean[c]
		}
		q := 0.0
		for c := range y {
			u := dense.Dot(inv[c*d:c*d+c+1], y)
			q += u * u
		}
		out[i] = top - q/2
	}
}

// normalise makes shares of scores and returns the sum of the rows' log-densities.
func (r *Run) normalise() float64 {
	// The logarithms of sums between 1 and k are taken many at a time.
	total, product, n := 0.0, 1.0, r.n
	for i := range n {
		most := math.Inf(-1)
		for at := i; at < len(r.share); at += n {
			most = max(most, r.share[at])
		}
		all := 0.0
		for at := i; at < len(r.share); at += n {
			e := 1.0
			if v := r.share[at]; v != most {
				e = r.exp.Exp(v - most)
			}
			r.share[at] = e
			all += e
		}
		for at := i; at < len(r.share); at += n {
			r.share[at] /= all
		}
		if r.log != nil {
			r.log[i] = most + math.Log(all)
		}
		total += most
		if product *= all; product > 0x1p900 {
			total += math.Log(product)
			product = 1
		}
	}
	return total + math.Log(product)
}

// leaveOut takes the shares from the least likely rows, but not from those that a Gaussian has too,
// and returns the sum of the log-densities, that of such a row being where they begin.
func (r *Run) leaveOut() float64 {
	least, total := min(quantile(r.log, r.trim), quantile(r.log, .5)-stray(r.d)), 0.0
	for i, v := range r.log {
		total += max(v, least)
		if v > least {
			continue
		}
		for at := i; at < len(r.share); at += r.n {
			r.share[at] = 0
		}
	}
	return total
}

// stray returns by how much the log-density of a row must lie below the median of all rows' for the
// row to be an outlier in d columns: as a squared length that one in a thousand has, after Wilson
// and Hilferty, below the median one.
func stray(d int) float64 {
	n := float64(d)
	chi := func(sds float64) float64 { return n * math.Pow(1-2/(9*n)+sds*math.Sqrt(2/(9*n)), 3) }
	return (chi(straySDs) - chi(0)) / 2
}

// straySDs is the quantile of one in a thousand. A utility constant, a guess.
const straySDs = 3.1

// gather adds up the shares of component j, with first and second moments about its mean.
func (r *Run) gather(m *Mixture, j int) {
	d, t := r.d, len(r.pooled)
	mean, sum, square := m.Mean[j*d:j*d+d], r.sum[j*d:j*d+d], r.square[j*t:j*t+t]
	count, share := 0.0, r.share[j*r.n:j*r.n+r.n]
	if d == 2 {
		m0, m1, sx, sy, sxx, sxy, syy := mean[0], mean[1], 0., 0., 0., 0., 0.
		for i, p := range share {
			z := r.z[2*i : 2*i+2]
			x, y := z[0]-m0, z[1]-m1
			px, py := p*x, p*y
			count += p
			sx += px
			sy += py
			sxx += px * x
			sxy += px * y
			syy += py * y
		}
		sum[0], sum[1], square[0], square[2], square[3] = sx, sy, sxx, sxy, syy
		r.count[j] = count
		return
	}
	clear(sum)
	clear(square)
	y := r.y
	for i, p := range share {
		if p == 0 {
			continue
		}
		count += p
		for c, v := range r.z[i*d : i*d+d] {
			v -= mean[c]
			y[c] = v
			sum[c] += p * v
		}
		AddSquare(square, y, d, p)
	}
	r.count[j] = count
}

// maximise moves m to the moments of the last expect and the prior; false if a component has too
// few rows or no covariance.
func (r *Run) maximise(m *Mixture) bool {
	d, t, n := r.d, len(r.pooled), 0.0
	for _, v := range r.count {
		if !(v >= r.least) {
			return false
		}
		n += v
	}
	for j, v := range r.count {
		m.Weight[j] = (v + r.weights) / (n + float64(r.k)*r.weights)
		sum, root := r.sum[j*d:j*d+d], m.Root[j*t:j*t+t]
		copy(root, r.square[j*t:j*t+t])
		AddSquare(root, sum, d, -1/v)
		for c, p := range r.pooled {
			root[c] = (root[c] + r.shapes*p) / (v + r.shapes)
		}
		for c, s := range sum {
			m.Mean[j*d+c] += s / v
		}
	}
	return m.Refactor()
}

// prior prepares pooled for maximise, and returns the logarithm of the prior density of m: a
// component's covariance S counts r.shapes/2 times ln det H - ln det S - tr(H/S) + d, with H the
// harmonic mean of all, so that the traces add up to a constant; its weight r.weights times its
// logarithm.
func (r *Run) prior(m *Mixture) (log float64, ok bool) {
	clear(r.pooled)
	if r.shapes > 0 {
		det, ok := m.pool(r.pooled, r.work)
		if !ok {
			return 0, false
		}
		for _, v := range m.det {
			log += r.shapes * (det - v)
		}
	}
	if r.weights > 0 {
		for _, w := range m.Weight {
			log += r.weights * math.Log(w)
		}
	}
	return log, true
}

// iterate runs at most steps of EM, until one gains less than gain nats; it returns the objective
// before the last one. The objective, the log-likelihood and the logarithm of the prior, never
// falls: the E-step and the mean of the covariances are both maximisers of it for fixed parameters.
func (r *Run) iterate(m *Mixture, steps int, gain float64) (objective float64, ok bool) {
	last := math.Inf(-1)
	for range steps {
		prior, ok := r.prior(m)
		if !ok {
			return 0, false
		}
		v := r.Expect(m) + prior
		if !dense.Finite(v) || !r.maximise(m) {
			return 0, false
		}
		if v-last < gain {
			return v, true
		}
		last = v
	}
	return last, true
}

// AddSquare adds scale times v v' to the lower triangle of the leading block of a, n x n, that is
// as large as v.
func AddSquare(a, v []float64, n int, scale float64) {
	for i, x := range v {
		x *= scale
		row := a[i*n : i*n+i+1]
		for j, y := range v[:i+1] {
			row[j] += x * y
		}
	}
}
