package aal21

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/pure"
	"github.com/gauze-dp/gauze/kernel/query"

	"github.com/gauze-dp/gauze/literal/paper"
)

// A line is a mixture on the line: weight, mean and sd of every component.
type line [][3]float64

func (m line) at(x float64) (f float64) {
	for _, c := range m {
		z := (x - c[1]) / c[2]
		f += c[0] * math.Exp(-z*z/2) / (c[2] * math.Sqrt(2*math.Pi))
	}
	return f
}

// apart is the total variation of two mixtures, by sums over a grid that is fine where either is
// narrow: components have sds beyond .05 and live within 60 of 0.
func apart(a, b line) (v float64) {
	const step = .01
	for x := -60.0; x < 60; x += step {
		v += math.Abs(a.at(x)-b.at(x)) / 2 * step
	}
	return v
}

func randomLine(rng *rand.Rand, k int) (m line) {
	sum := 0.0
	for range k {
		w := rng.ExpFloat64()
		m, sum = append(m, [3]float64{w, 10 * rng.NormFloat64(), math.Exp(rng.NormFloat64() / 2)}), sum+w
	}
	for i := range m {
		m[i][0] /= sum
	}
	return m
}

// Weights that are multiples of 1/N are a net of the simplex: of any weights one is within 1/N in
// every coordinate, and they are at most (3/alpha)^k for alpha = 1/N.
//
// Shows: [AAL21] Proposition 2.2.
func TestProposition22(t *testing.T) {
	rng := newRand(t)
	for k := 1; k <= 4; k++ {
		for _, n := range []int{1, 3, 10, 30} {
			for range 100 {
				if off := furthest(randomLine(rng, k), n); off > 1/float64(n)+1e-12 {
					t.Errorf("k %d, N %d: %v away", k, n, off)
				}
			}
			size := 1.0 // C(N+k-1, k-1)
			for i := 1; i < k; i++ {
				size *= float64(n+i) / float64(i)
			}
			if size > math.Pow(3*float64(n), float64(k)) {
				t.Errorf("k %d, N %d: %v weights", k, n, size)
			}
		}
	}
}

// furthest rounds the weights to multiples of 1/n that sum to 1, the largest remainders up, and
// says how far the furthest moves.
func furthest(m line, n int) (off float64) {
	for i, w := range rounded(m, n) {
		off = math.Max(off, math.Abs(w-m[i][0]))
	}
	return off
}

func rounded(m line, n int) []float64 {
	weights, left := make([]float64, len(m)), n
	for i, c := range m {
		weights[i] = math.Floor(c[0] * float64(n))
		left -= int(weights[i])
	}
	for ; left > 0; left-- {
		most := 0
		for i, c := range m {
			if c[0]*float64(n)-weights[i] > m[most][0]*float64(n)-weights[most] {
				most = i
			}
		}
		weights[most]++
	}
	for i := range weights {
		weights[i] /= float64(n)
	}
	return weights
}

// Mixtures differ by no more than their components, by weight, and half of what the weights do.
//
// Shows: [AAL21] Proposition C.1.
func TestPropositionC1(t *testing.T) {
	rng := newRand(t)
	for range 20 {
		a, b := randomLine(rng, 3), randomLine(rng, 3)
		bound := 0.0
		for i := range a {
			b[i][1], b[i][2] = a[i][1]+rng.NormFloat64()/3, a[i][2]*math.Exp(rng.NormFloat64()/5)
			bound += math.Abs(a[i][0]-b[i][0])/2 + a[i][0]*apart(line{{1, a[i][1], a[i][2]}}, line{{1, b[i][1], b[i][2]}})
		}
		if got := apart(a, b); got > bound+1e-6 {
			t.Errorf("%v apart, at most %v", got, bound)
		}
	}
}

// If all components of weight alpha/(9k) or more have one of the list within alpha/9, some mixture
// of the list with weights in multiples of 1/N, N = 9k/alpha, is within alpha/3 of the truth; and
// the mixtures are no more than those of k-tuples.
//
// Shows: [AAL21] Claim 3.4.
func TestClaim34(t *testing.T) {
	rng := newRand(t)
	for range 20 {
		k, alpha := 1+rng.IntN(4), .1+.4*rng.Float64()
		truth, lost := randomLine(rng, k), 0
		near := append(line(nil), truth...)
		for i, c := range truth {
			if c[0] < alpha/9/float64(k) { // nothing like it is in the list
				near[i][1], lost = 55, lost+1
				continue
			}
			// total variation 2 Phi(shift/2) - 1 = alpha/9
			near[i][1] += 2 * math.Sqrt2 * math.Erfinv(alpha/9) * c[2]
		}
		for i, w := range rounded(truth, int(math.Ceil(9*float64(k)/alpha))) {
			near[i][0] = w
		}
		if got := apart(truth, near); got > alpha/3+1e-6 {
			t.Errorf("k %d, alpha %v, %d lost: %v from the truth", k, alpha, lost, got)
		}
	}
	for l := 1; l < 20; l++ {
		for k := 1; k <= 3; k++ {
			const n = 9
			tuples := math.Pow(float64(l), float64(k))
			for i := 1; i < k; i++ {
				tuples *= float64(n+i) / float64(i)
			}
			if got := paper.CountMixtures(l, k, n); got > tuples {
				t.Errorf("%v mixtures of %d Gaussians, %v tuples", got, l, tuples)
			}
		}
	}
}

// Truncated Laplace noise is off by no more than its support in any bin, surely, no empty bin is
// released, and no bin of twice the support is missing.
//
// Shows: [AAL21] Lemma 4.1.
func TestLemma41(t *testing.T) {
	rng := newRand(t)
	for _, rel := range relations {
		for _, eps := range []float64{.5, 4} {
			counts, rows := map[float64]int{}, [][]float64(nil)
			for bin := range 40 {
				for range rng.IntN(1 << (bin % 12)) {
					rows = append(rows, []float64{float64(bin * bin)})
					counts[float64(bin*bin)]++
				}
			}
			c := trial{rows: rows, d: 1, k: 1, eps: eps, relation: rel, noise: kerneltest.Options{Seed: rng.Uint64()}}
			r, mu2 := c.alone(t, Printed(1))
			grid := query.Grid{Map: query.Affine{Center: []float64{0}, W: [][]float64{{1}}}, Side: []float64{1}, Offset: []float64{-.5}}
			found, support, err := pure.TruncatedHistogram(r.a, stepMeans, query.BoxKeys{Grids: []query.Grid{grid}}, paper.PureEpsilon(mu2))
			if err != nil {
				t.Fatal(err)
			}
			for _, cell := range found {
				n := counts[cell.Key[0]]
				delete(counts, cell.Key[0])
				if n == 0 || math.Abs(cell.Count-float64(n)) > support {
					t.Errorf("%v: bin %v has %d rows, released %v of support %v", rel, cell.Key, n, cell.Count, support)
				}
			}
			for bin, n := range counts {
				if float64(n) > 2*support {
					t.Errorf("%v: bin %v with %d rows is missing, twice the support is %v", rel, bin, n, 2*support)
				}
			}
		}
	}
}

// Of N(mu, sigma^2), sigma~/2 < sigma <= sigma~, the bin of mu, which is sigma~ wide, holds at
// least a third, and .34; that is the constant of Practical. In a (1-w)-corruption it holds w/3.
//
// Shows: [AAL21] Proposition D.1; Claim 4.3.
func TestPropositionD1(t *testing.T) {
	least := 1.0
	for ratio := 1.0; ratio < 2; ratio += .01 { // sigma~ / sigma
		for at := 0.0; at <= .5; at += .01 { // of mu in the bin, in bins, from its centre
			least = math.Min(least, normalCDF((.5-at)*ratio)-normalCDF((-.5-at)*ratio))
		}
	}
	if least < 1./3 || least < meanMass || least > meanMass+.01 {
		t.Errorf("the bin of the mean holds %v, said to be %v", least, meanMass)
	}
}

// The octave of sigma holds .27 > 1/4 of |N(0, sigma^2)|, whatever sigma is in it.
//
// Shows: [AAL21] Algorithm 3.
func TestScaleMass(t *testing.T) {
	least := 1.0
	for u := 1.0; u <= 2; u += .001 {
		least = math.Min(least, math.Erf(u/math.Sqrt2)-math.Erf(u/2/math.Sqrt2))
	}
	if least < scaleMass || least > scaleMass+.01 || least < .25 {
		t.Errorf("the octave holds %v, said to be %v", least, scaleMass)
	}
}

// Of frequencies that sum to 1 and are known to (1-gamma)/24, at most 12/(1-gamma) are above
// (1-gamma)/8; and a bin of (1-gamma)/6 is.
//
// Shows: [AAL21] Claim 4.4.
func TestClaim44(t *testing.T) {
	rng := newRand(t)
	for range 300 {
		w := math.Exp(-5 * rng.Float64())
		frequencies, left := []float64(nil), 1.0
		for left > 0 {
			p := math.Min(left, w*(.02+.3*rng.Float64()))
			if rng.IntN(2) == 0 {
				p = math.Min(left, w/12*(1+1e-9)) // the worst there can be
			}
			frequencies, left = append(frequencies, p), left-p
		}
		listed := 0
		for _, p := range frequencies {
			if noisy := p + w/24; noisy > w/8 {
				listed++
			}
			if noisy := p - w/24; p >= w/6 && !(noisy > w/8*(1-1e-9)) {
				t.Errorf("a bin of %v is not listed", p)
			}
		}
		if c := Printed(1); listed > int(math.Ceil(12/w)) || c.mostMeans(w) != int(math.Ceil(12/w)) {
			t.Errorf("%d bins are listed, at most %v", listed, 12/w)
		}
	}
}

// The nets of the printed constants are as fine as the source says: of a Gaussian with its sd and
// bin in the list one member is within alpha in total variation; where the variance is known, too.
//
// Shows: [AAL21] Corollary 4.5; Algorithm 4.
func TestCorollary45(t *testing.T) {
	rng := newRand(t)
	c := Printed(1)
	for _, alpha := range []float64{1. / 9, .3} {
		for _, isKnown := range []bool{false, true} {
			l := c.product([][]rough{{{4, -2}, {4, -1}, {8, 0}}})
			if isKnown {
				l = known{c, knownCovariance([][]float64{{1}}, 1)}.list([][]rough{{{1, -2}, {1, 0}, {1, 3}}})
			}
			net := l.Net(l.Step(alpha))
			if size := l.Size(l.Step(alpha)); float64(len(net)) > size || len(net) == 0 {
				t.Fatalf("%d members, said to be %v at most", len(net), size)
			}
			for range 6 {
				at := l.coordinates[0][rng.IntN(3)]
				sd, mean := at.scale*(1-rng.Float64()/2), at.scale*(at.bin+rng.Float64()-.5)
				if isKnown {
					sd = 1
				}
				best := 1.0
				for _, g := range net {
					if math.Abs(g.Mean[0]-mean) < sd && math.Abs(math.Log(g.L.At(0, 0)/sd)) < .3 {
						best = math.Min(best, apart(line{{1, mean, sd}}, line{{1, g.Mean[0], g.L.At(0, 0)}}))
					}
				}
				if best > alpha {
					t.Errorf("known %v, alpha %v: N(%v, %v^2) is %v from the net", isKnown, alpha, mean, sd, best)
				}
			}
		}
	}
}

// No cover of mixtures of two Gaussians is locally small: arbitrarily many of them lie within gamma
// of N(0, 1) and gamma from one another.
//
// Shows: [AAL21] Proposition B.6; Proposition 1.3.
func TestPropositionB6(t *testing.T) {
	const gamma = .1
	var far []line
	for i := range 5 {
		far = append(far, line{{1 - gamma, 0, 1}, {gamma, 10 * float64(i+1), 1}})
	}
	for i, a := range far {
		if d := apart(a, line{{1, 0, 1}}); d > gamma+1e-6 {
			t.Errorf("%v from N(0, 1)", d)
		}
		for _, b := range far[:i] {
			if d := apart(a, b); d < gamma-1e-5 {
				t.Errorf("%v from another", d)
			}
		}
	}
}

// With the printed constants the one problem that can be enumerated, a known variance, is learned
// to its alpha: on all pairs, with truncated Laplace noise.
//
// Shows: [AAL21] Theorem 4.6; Algorithm 2; Corollary 4.5; Lemma 3.1.
func TestTheorem46(t *testing.T) {
	rng := newRand(t)
	for _, rel := range relations {
		truth := knowing(t, [][]float64{{4}}, []float64{1}, []float64{1e5 * rng.NormFloat64()})
		c := trial{d: 1, k: 1, eps: 20, relation: rel, known: [][]float64{{4}}, noise: kerneltest.Options{Seed: rng.Uint64()}}
		e := NewUnivariate(Practical()).Printed().(Estimator)
		c.rows = sample(t, rng, truth, int(e.Expect(c.problem()).RowsNeeded))
		f := c.fit(t, e)
		if f.Model == nil {
			t.Fatalf("%v: %v %v", rel, f.Refused, f.NoRelease)
		}
		if tv := variation(t, truth, f.Model); !(tv < printedError/9+.05) {
			t.Errorf("%v, %d rows: total variation %v, %v", rel, len(c.rows), tv, f.Diagnostics.Flags)
		}
	}
}

// The printed lists of any variance have a member within alpha/9 of the component they are of: the
// list decoders run as printed, and it is the mixtures that are too many.
//
// Shows: [AAL21] Algorithm 3; Algorithm 4; Algorithm 5; Definition 2.13.
func TestPrintedLists(t *testing.T) {
	rng := newRand(t)
	constants := Printed(1)
	for _, rel := range relations {
		c := trial{rows: sample(t, rng, lineOf(t, [3]float64{1, 30, 2}), 40000), d: 1, k: 1, eps: 20, relation: rel, noise: kerneltest.Options{Seed: rng.Uint64()}}
		r, mu2 := c.alone(t, constants)
		l, err := axisAligned{constants}.decode(c.sample(r, mu2))
		if err != nil {
			t.Fatal(err)
		}
		good := false
		for _, at := range l.coordinates[0] {
			good = good || 2 <= at.scale && at.scale < 4 && math.Abs(at.bin*at.scale-30) <= at.scale/2
		}
		if step := l.Step(1. / 9); !good || math.Abs(step-1./18) > 1e-12 {
			t.Errorf("%v: a list of %d has no rough N(30, 4), or a step of %v", rel, len(l.coordinates[0]), step)
		}
		t.Logf("%v: %d rough Gaussians, a net of at most %.3g", rel, len(l.coordinates[0]), l.Size(l.Step(1./9)))
	}
}
