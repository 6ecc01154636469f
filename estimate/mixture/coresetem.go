package mixture

import (
	"math"
	"math/rand/v2"
	"sync"

	"gonum.org/v1/gonum/mat"
)

// Utility constants of EM on the coreset ([KSSU19] Section C.4 of the restatement).
const (
	lloydSteps   = 12
	emSteps      = 40
	emStepsShort = 8
	poolWeight   = .05 // pull of each covariance towards the pooled one, in components
	cellFloor    = .15 // floor of each variance, in mean cell variances
)

// lowMixture is a Gaussian mixture in the coreset's few coordinates.
type lowMixture struct {
	w      []float64
	mean   [][]float64
	cov    []*mat.SymDense
	loglik float64 // of the coreset, in rows
}

// fitCoreset fits k Gaussians to the coreset by weighted EM from several k-means++ starts. The starts are public randomness: the
// generator is seeded with k, so that the same released coreset gives the same fit.
func fitCoreset(c *coreset, k, starts int) *lowMixture {
	fits := make([]*lowMixture, starts)
	parallel(starts, func(i int) {
		rng := rand.New(rand.NewPCG(uint64(i), uint64(k)))
		fits[i] = emFrom(c, kmeans(c, seedPoints(c, k, rng)), emStepsShort)
	})
	best := topBy(fits, max(1, starts/4))
	parallel(len(best), func(i int) { best[i] = best[i].em(c, emSteps) })
	return topBy(best, 1)[0]
}

// topBy returns the n fits of largest likelihood.
func topBy(fits []*lowMixture, n int) []*lowMixture {
	out := append([]*lowMixture(nil), fits...)
	for i := range out {
		for j := i + 1; j < len(out); j++ {
			if out[j].loglik > out[i].loglik {
				out[i], out[j] = out[j], out[i]
			}
		}
	}
	return out[:n]
}

// parallel runs f(0..n-1) on all cores.
func parallel(n int, f func(int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}

func dist2(a, b []float64) float64 {
	s := 0.0
	for i, x := range a {
		s += (x - b[i]) * (x - b[i])
	}
	return s
}

// seedPoints draws k centres by k-means++ on the weighted points.
func seedPoints(c *coreset, k int, rng *rand.Rand) [][]float64 {
	pick := func(mass []float64) int {
		total := 0.0
		for _, m := range mass {
			total += m
		}
		u := rng.Float64() * total
		for i, m := range mass {
			if u -= m; u < 0 {
				return i
			}
		}
		return len(mass) - 1
	}
	near := make([]float64, len(c.points))
	mass := append([]float64(nil), c.weight...)
	for i := range near {
		near[i] = math.Inf(1)
	}
	var centers [][]float64
	for range k {
		p := c.points[pick(mass)]
		centers = append(centers, append([]float64(nil), p...))
		for i, x := range c.points {
			near[i] = math.Min(near[i], dist2(x, p))
			mass[i] = c.weight[i] * near[i]
		}
	}
	return centers
}

// kmeans runs Lloyd's iteration and returns the hard assignment.
func kmeans(c *coreset, centers [][]float64) []int {
	assign := make([]int, len(c.points))
	for range lloydSteps {
		sum := make([][]float64, len(centers))
		mass := make([]float64, len(centers))
		for j := range sum {
			sum[j] = make([]float64, c.dim)
		}
		for i, x := range c.points {
			best, at := math.Inf(1), 0
			for j, m := range centers {
				if d := dist2(x, m); d < best {
					best, at = d, j
				}
			}
			assign[i] = at
			mass[at] += c.weight[i]
			for l, v := range x {
				sum[at][l] += c.weight[i] * v
			}
		}
		for j := range centers {
			for l := range sum[j] {
				if mass[j] > 0 {
					centers[j][l] = sum[j][l] / mass[j]
				}
			}
		}
	}
	return assign
}

// emFrom starts EM from a hard assignment.
func emFrom(c *coreset, assign []int, steps int) *lowMixture {
	k := 0
	for _, a := range assign {
		k = max(k, a+1)
	}
	resp := make([][]float64, len(c.points))
	for i, a := range assign {
		resp[i] = make([]float64, k)
		resp[i][a] = 1
	}
	m := maximise(c, resp, k)
	return m.em(c, steps)
}

// em runs weighted EM steps.
func (m *lowMixture) em(c *coreset, steps int) *lowMixture {
	for range steps {
		resp, loglik := m.expect(c)
		next := maximise(c, resp, len(m.w))
		next.loglik = loglik
		m = next
	}
	_, m.loglik = m.expect(c)
	return m
}

// expect returns the responsibilities and the log-likelihood of the coreset; a leaf counts as its centre.
func (m *lowMixture) expect(c *coreset) ([][]float64, float64) {
	k, q := len(m.w), c.dim
	inv := make([][]float64, k) // row-major lower inverse factors
	logw := make([]float64, k)
	for j := range k {
		var ch mat.Cholesky
		if !ch.Factorize(m.cov[j]) {
			logw[j] = math.Inf(-1)
			continue
		}
		var l mat.TriDense
		ch.LTo(&l)
		_ = l.InverseTri(&l)
		inv[j] = make([]float64, q*q)
		for a := range q {
			for b := 0; b <= a; b++ {
				inv[j][a*q+b] = l.At(a, b)
			}
		}
		logw[j] = math.Log(m.w[j]+1e-300) - ch.LogDet()/2 - float64(q)/2*math.Log(2*math.Pi)
	}
	flat := make([]float64, len(c.points)*k)
	resp := make([][]float64, len(c.points))
	loglik := 0.0
	for i, x := range c.points {
		r := flat[i*k : (i+1)*k]
		resp[i] = r
		best := math.Inf(-1)
		for j := range r {
			r[j] = logw[j]
			if inv[j] == nil {
				continue
			}
			for a := range q {
				z := 0.0
				for b := 0; b <= a; b++ {
					z += inv[j][a*q+b] * (x[b] - m.mean[j][b])
				}
				r[j] -= z * z / 2
			}
			best = math.Max(best, r[j])
		}
		total := 0.0
		for j := range r {
			r[j] = math.Exp(r[j] - best)
			total += r[j]
		}
		for j := range r {
			r[j] /= total
		}
		loglik += c.weight[i] * (best + math.Log(total))
	}
	return resp, loglik
}

// maximise is the M-step, with the regularisation of the restatement: a pull towards the pooled covariance and a floor of a part
// of the mean cell variance.
func maximise(c *coreset, resp [][]float64, k int) *lowMixture {
	q := c.dim
	_, all := c.moments()
	cell := c.meanCell()
	m := &lowMixture{w: make([]float64, k), mean: make([][]float64, k), cov: make([]*mat.SymDense, k)}
	pool := mat.NewSymDense(q, nil)
	mass := make([]float64, k)
	second := make([]*mat.SymDense, k)
	for j := range k {
		m.mean[j] = make([]float64, q)
		second[j] = mat.NewSymDense(q, nil)
		for i, x := range c.points {
			g := resp[i][j] * c.weight[i]
			mass[j] += g
			for l, v := range x {
				m.mean[j][l] += g * v
			}
		}
		for l := range m.mean[j] {
			m.mean[j][l] /= mass[j] + 1e-12
		}
		scatter(second[j], c, resp, j, m.mean[j])
		pool.AddSym(pool, second[j])
	}
	for j := range k {
		w := poolWeight * c.total / float64(k)
		cov := mat.NewSymDense(q, nil)
		for a := range q {
			for b := a; b < q; b++ {
				v := second[j].At(a, b) + w*pool.At(a, b)/c.total
				cov.SetSym(a, b, v/(mass[j]+w))
			}
			cov.SetSym(a, a, cov.At(a, a)+cellFloor*cell[a]+1e-9*all.At(a, a))
		}
		m.cov[j] = cov
		m.w[j] = mass[j] / c.total
	}
	return m
}

func scatter(dst *mat.SymDense, c *coreset, resp [][]float64, j int, mean []float64) {
	q := c.dim
	raw := dst.RawSymmetric()
	for i, x := range c.points {
		g := resp[i][j] * c.weight[i]
		if g == 0 {
			continue
		}
		for a := range q {
			da := g * (x[a] - mean[a])
			row := raw.Data[a*raw.Stride:]
			for b := a; b < q; b++ {
				row[b] += da * (x[b] - mean[b])
			}
		}
	}
}
