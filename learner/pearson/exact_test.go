package pearson

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"
	"testing"
)

// line is a random mixture of two on a line, its mean 0.
func line(rng *rand.Rand) []gauss {
	w, gap := .1+.8*rng.Float64(), 1+5*rng.Float64()
	return []gauss{{w, []float64{-(1 - w) * gap}, []float64{.4 + rng.Float64()}}, {1 - w, []float64{w * gap}, []float64{.4 + rng.Float64()}}}
}

// momentsOf are the exact ones of a mixture on a line about 0.
func momentsOf(line []gauss) moments {
	var out moments
	for _, g := range line {
		m, v := g.mean[0], g.root[0]*g.root[0]
		before, now := 0., 1.
		for r := range out {
			out[r] += g.weight * now
			before, now = now, m*now+float64(r)*v*before
		}
	}
	return out
}

// TestPearson: of a mixture's exact moments, p = m1 m2 is a root of the nonic, and s = m1 + m2
// follows from it.
func TestPearson(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		l := line(rng)
		m := momentsOf(l)
		p, s := l[0].mean[0]*l[1].mean[0], l[0].mean[0]+l[1].mean[0]
		value, size, power := 0., 0., 1.
		for _, c := range m.nonic() {
			value += c * power
			size += math.Abs(c * power)
			power *= p
		}
		if math.Abs(value) > 1e-12*size {
			t.Errorf("%+v: the nonic is %g at p, its terms %g", l, value, size)
		}
		// What s is divided by may be small against its terms.
		k4 := m[4] - 3*m[2]*m[2]
		terms := 4*m[3]*m[3] + math.Abs(3*k4*p) + math.Abs(2*p*p*p)
		slack := 1e-12 * (1 + math.Abs(s)) * max(1, terms/math.Abs(4*m[3]*m[3]+3*k4*p+2*p*p*p))
		if got := m.sum(p); math.Abs(got-s) > slack {
			t.Errorf("%+v: s is %g, the formula gives %g", l, s, got)
		}
		if got := sixth(l); math.Abs(got-m[6]) > 1e-12*m[6] {
			t.Errorf("%+v: the sixth moment is %g, the formula gives %g", l, m[6], got)
		}
	}
}

// TestSolve: exact moments give the mixture back, with common means too.
func TestSolve(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range 1000 {
		l := line(rng)
		if i%4 == 0 {
			l[0].mean[0], l[1].mean[0] = 0, 0
			l[1].root[0] = l[0].root[0] * (1.5 + rng.Float64())
		}
		got, ok := momentsOf(l).solve()
		if !ok {
			t.Errorf("%+v: no mixture", l)
			continue
		}
		if i%4 == 0 {
			slices.SortFunc(got, func(a, b gauss) int { return int(math.Copysign(1, a.root[0]-b.root[0])) })
		}
		if e := math.Sqrt(distance(got, l)) + math.Abs(got[0].weight-l[0].weight); e > 1e-5 {
			t.Errorf("%+v: solved for %+v", l, got)
		}
	}
}

// TestRoots: polynomials with known roots, single, double, at 0, and far from each other.
func TestRoots(t *testing.T) {
	for _, want := range [][]complex128{{1, 2, 3}, {-1, -1, 2}, {complex(1, 2), complex(1, -2), -3}, {1e-6, 1, 1e6}, {0, 0, 5},
		{-.5, -.5001, 7, 8, 9}} {
		c := []complex128{1}
		for _, r := range want {
			next := make([]complex128, len(c)+1)
			for i, v := range c {
				next[i] -= r * v
				next[i+1] += v
			}
			c = next
		}
		var coefficients []float64
		for _, v := range c {
			coefficients = append(coefficients, real(v))
		}
		got := roots(append(coefficients, 0, 0))
		for _, r := range want {
			least := math.Inf(1)
			for _, z := range got {
				least = min(least, cmplx.Abs(z-r))
			}
			if r != 0 && least > 1e-6*cmplx.Abs(r) {
				t.Errorf("%v: the roots are %v", want, got)
			}
		}
	}
	for _, c := range [][]float64{nil, {0}, {3}, {0, 0, 2}, {0, 0, 0}} {
		if z := roots(c); len(z) != 0 {
			t.Errorf("%v has roots %v", c, z)
		}
	}
}

// population is a table whose conditional moments along u = e_1 are those of the mixture: quantiles
// of y, and points on either side of where x is on average given y, as far as their conditional
// covariance wants. What is missing of the second moment in the tails is of order 1/n.
func population(mixture []gauss, d, n int) table {
	t := table{0, d, nil}
	for _, g := range mixture {
		m := int(g.weight * float64(n))
		for i := range m {
			z := math.Sqrt2 * math.Erfinv((2*float64(i)+1)/float64(m)-1)
			for c := 1; c < d; c++ {
				for _, sign := range []float64{-1, 1} {
					x := slices.Clone(g.mean)
					for j := range d {
						x[j] += g.root[j*d]*z + sign*math.Sqrt(float64(d-1))*g.root[j*d+c]
					}
					t.x = append(t.x, x...)
					t.n++
				}
			}
		}
	}
	return t
}

// TestLiftExact: in the limit of many rows, the lift of the line is the mixture, for two components
// and for four, told apart on the line or hardly so.
func TestLiftExact(t *testing.T) {
	for _, c := range []struct {
		k, d int
		gap  float64
	}{{2, 2, 6}, {2, 5, 6}, {2, 3, 2}, {3, 3, 4}, {4, 2, 4}} {
		before := 0.
		for _, n := range []int{2000, 40000} {
			rng := rand.New(rand.NewPCG(5, 6))
			truth := make([]gauss, c.k)
			for a := range truth {
				g := gauss{1 / float64(c.k), make([]float64, c.d), make([]float64, c.d*c.d)}
				for i := range c.d {
					g.mean[i] = rng.NormFloat64()
					for j := range i {
						g.root[i*c.d+j] = .3 * rng.NormFloat64()
					}
					g.root[i*c.d+i] = .7 + .6*rng.Float64()
				}
				g.mean[0] = c.gap * float64(a)
				truth[a] = g
			}
			u := make([]float64, c.d)
			u[0] = 1
			got, ok := lift(population(truth, c.d, n), u, along(truth, u))
			if !ok {
				t.Fatalf("%+v: no lift", c)
			}
			worst := 0.
			for a, g := range got {
				for i, v := range g.mean {
					worst = max(worst, math.Abs(v-truth[a].mean[i]))
				}
				for i, v := range g.root {
					worst = max(worst, math.Abs(v-truth[a].root[i]))
				}
			}
			if n == 2000 {
				before = worst
				continue
			}
			if worst > 2e-3 || worst > before/5 && worst > 1e-6 {
				t.Errorf("%+v: the lift errs by %g, and by %g with a twentieth of the rows", c, worst, before)
			}
		}
	}
}

// TestScores: they are the derivative of the log-density, and a step along them goes up to where
// their mean is 0.
func TestScores(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	const d, k = 3, 2
	mixture := make([]gauss, k)
	for a := range mixture {
		mixture[a] = gauss{.3 + .4*float64(a), []float64{float64(a), 0, 1}, []float64{1, 0, 0, .3, .8, 0, -.2, .1, 1.2}}
	}
	wide := table{1000, d, nil} // so that no component is too small
	x := []float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
	v := view(mixture, d)
	p := k*parameters(d) - 1
	s := make([]float64, p+1)
	before := v.at(x)
	v.score(s)
	for i := range p {
		const h = 1e-6
		delta := make([]float64, p+1)
		delta[i] = h
		moved, ok := move(mixture, delta, wide, 1)
		if !ok {
			t.Fatal("no move")
		}
		if slope := (view(moved, d).at(x) - before) / h; math.Abs(slope-s[i]) > 1e-4 {
			t.Errorf("score %d is %g, the slope %g", i, s[i], slope)
		}
	}
}
