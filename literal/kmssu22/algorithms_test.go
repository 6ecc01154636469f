package kmssu22

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/learner/spectral"
	"github.com/gauze-dp/gauze/literal/paper"
)

// both runs a test under both relations.
func both(t *testing.T, test func(t *testing.T, r privacy.Relation)) {
	for _, r := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
		t.Run(r.String(), func(t *testing.T) { test(t, r) })
	}
}

// Theorem 3.1: every estimate is within a factor sqrt2 of the eigenvalue, and zeros are zeros. Rows
// and noise are seeded: no false alarms.
//
// Shows: [KMSSU22] Algorithm 1; Theorem 3.1.
func TestEigenvalueEstimator(t *testing.T) {
	both(t, func(t *testing.T, r privacy.Relation) {
		for seed, sds := range [][]float64{{3}, {1, 1}, {1e9, 1}, {1e-100, 0}, {5, 5, 5, 5, 5}, {1e60, 1, 1, 1e-50, 0}, {0, 0, 0}} {
			rng := rand.New(rand.NewPCG(uint64(seed), 4))
			g := newTruth(rng, 10*slices.Max(sds), sds...)
			if len(sds) == 5 {
				g.axes = whole(5).w // rotated, what is 1e-50 of the largest is rounded away
			}
			c := trial{rows: g.draw(rng, 30000), d: len(sds), eps: 10, relation: r, noise: kerneltest.Options{Seed: 1}}
			if slices.Min(sds) < 1e-20 { // an offset would round away the small ones
				for _, x := range c.rows {
					for j := range x {
						x[j] -= g.mean[j]
					}
				}
				g.mean = make([]float64, len(sds))
				c.rows = g.draw(rng, 30000)
			}
			got, err := c.alone(t, Practical()).eigenvalueEstimator()
			if err != nil {
				t.Errorf("%v: %v", sds, err)
				continue
			}
			slices.Sort(sds)
			slices.Reverse(sds)
			for i, want := range sds {
				if ratio := math.Pow(got[i]/want, 2); want == 0 && got[i] != 0 || want > 0 && !(ratio > 1/math.Sqrt2 && ratio < math.Sqrt2) {
					t.Errorf("%v: sd %d is %v", sds, i, got[i])
				}
			}
		}
	})
}

// The radius of subspaceRecovery, with the constant that runs, is one in which the cells along an
// axis, twice the radius over sqrt d wide, hold CenterMass of the blocks' projections at least, and
// the clip is one that hardly any is beyond. A share of 400 blocks has an sd of .025, and the least
// of the shares is .43 or so: the bound is 5 of these away, and 320 shares are looked at, a false
// alarm in 1e4 runs.
//
// Shows: [KMSSU22] Algorithm 2.
func TestSubspaceRadius(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 3))
	const blocks, m = 400, 60
	for _, k := range []struct{ k, d int }{{1, 2}, {1, 5}, {3, 5}, {4, 5}} {
		for _, gap := range []float64{.3, 1e-4} {
			c := Practical()
			r := c.subspaceRadius(k.d, k.k, blocks, m, gap)
			l := spectral.Subspace{Dimensions: k.k, Points: 8}
			var found [][]float64
			for range blocks {
				rows := make([][]float64, m)
				for i := range rows {
					rows[i] = make([]float64, k.d)
					for j := range rows[i] {
						rows[i][j] = rng.NormFloat64()
						if j >= k.k {
							rows[i][j] *= gap
						}
					}
				}
				p, err := l.Learn(rows, 5)
				if err != nil {
					t.Fatal(err)
				}
				found = append(found, p[0])
			}
			least, beyond := 1.0, 0
			for a := range l.Coordinates(k.d) {
				least = math.Min(least, densest(found, a, 2*r/math.Sqrt(float64(k.d))))
			}
			middle := medians(found)
			for p := range l.Points {
				for _, f := range found {
					far := 0.0
					for j := p * k.d; j < (p+1)*k.d; j++ {
						far += math.Pow(f[j]-middle[j], 2)
					}
					if math.Sqrt(far) > c.Clip*r*math.Sqrt(math.Log(blocks)) {
						beyond++
					}
				}
			}
			t.Logf("k=%d d=%d gap %v: cells hold %.2f, %d beyond the clip", k.k, k.d, gap, least, beyond)
			if least < c.CenterMass-.1 || beyond > blocks*l.Points/100 {
				t.Errorf("k=%d d=%d gap %v: cells hold %.2f, %d beyond the clip", k.k, k.d, gap, least, beyond)
			}
		}
	}
}

// densest is the largest share of rows in a cell along an axis, for the worst of eight shifts of
// the cells.
func densest(rows [][]float64, a int, width float64) float64 {
	worst := 1.0
	for shift := range 8 {
		counts, most := map[float64]int{}, 0
		for _, r := range rows {
			k := math.Floor(r[a]/width + float64(shift)/8)
			counts[k]++
			most = max(most, counts[k])
		}
		worst = math.Min(worst, float64(most)/float64(len(rows)))
	}
	return worst
}

func medians(rows [][]float64) []float64 {
	out := make([]float64, len(rows[0]))
	for a := range out {
		v := make([]float64, len(rows))
		for i, r := range rows {
			v[i] = r[a]
		}
		slices.Sort(v)
		out[a] = v[len(v)/2]
	}
	return out
}

// The subspace errs by a small part of the gap, however wide the gap is, with the same number of
// rows.
//
// Shows: [KMSSU22] Algorithm 2.
func TestSubspaceRecovery(t *testing.T) {
	both(t, func(t *testing.T, rel privacy.Relation) {
		for i, gap := range []float64{.2, 1e-2, 1e-5, 1e-8} {
			rng := rand.New(rand.NewPCG(uint64(i), 8))
			g := newTruth(rng, 3, 1, 1, gap, gap)
			r := trial{rows: g.draw(rng, 60000), d: 4, eps: 10, relation: rel, noise: kerneltest.Options{Seed: 2}}.alone(t, Practical())
			basis, err := r.subspaceRecovery(whole(4), 2, gap, 0, preconditionShare*r.mu2)
			if err != nil {
				t.Errorf("gap %v: %v", gap, err)
				continue
			}
			var across mat.Dense
			across.Mul(g.axes.Slice(0, 4, 2, 4).T(), basis.Slice(0, 4, 0, 2))
			if off := mat.Norm(&across, 2); !(off < gap/4) {
				t.Errorf("gap %v: the subspace is off by the sine %v", gap, off)
			}
		}
	})
}

// Theorem 5.1: lambda_{k+1}/lambda_1 is at least gamma^2/40 afterwards, where gamma^2 was
// lambda_k/lambda_1.
//
// Shows: [KMSSU22] Algorithm 3; Theorem 5.1.
func TestCoarsePreconditioner(t *testing.T) {
	for i, sds := range [][]float64{{1e6, 1}, {3e4, 1e4, 1, 1}, {1e5, 1, 1}} {
		k := []int{1, 2, 1}[i]
		rng := rand.New(rand.NewPCG(uint64(i), 2))
		g := newTruth(rng, 1e5, sds...)
		r := trial{rows: g.draw(rng, 60000), d: len(sds), eps: 10, noise: kerneltest.Options{Seed: 2}}.alone(t, Practical())
		s, err := r.coarsePreconditioner(whole(len(sds)), k, sds[k]/sds[k-1], preconditionShare*r.mu2)
		if err != nil {
			t.Fatal(err)
		}
		before := math.Pow(sds[k-1]/sds[0], 2)
		after := g.spectrum(t, s)
		if !(after[k]/after[0] >= before/40) {
			t.Errorf("%v: the spectrum is %v afterwards", sds, after)
		}
	}
}

// Theorem 5.2: lambda_{k+1}/lambda_1 is at least gamma^2 afterwards; and nothing was widened.
//
// Shows: [KMSSU22] Algorithm 4; Theorem 5.2.
func TestFinePreconditioner(t *testing.T) {
	for i, c := range []struct {
		sds []float64
		k   int
	}{{[]float64{3, 1}, 1}, {[]float64{9, 5, 2, 1}, 2}, {[]float64{9, 5, 2, 1}, 3}} {
		rng := rand.New(rand.NewPCG(uint64(i), 2))
		g := newTruth(rng, 1e3, c.sds...)
		r := trial{rows: g.draw(rng, 200000), d: len(c.sds), eps: 10, noise: kerneltest.Options{Seed: 2}}.alone(t, Practical())
		s, err := r.finePreconditioner(whole(len(c.sds)), c.k, 2*c.sds[0]*c.sds[0], preconditionShare*r.mu2)
		if err != nil {
			t.Fatal(err)
		}
		after := g.spectrum(t, s)
		gamma2 := r.c.Remaining * r.c.Remaining
		// axes beyond next/(16 gamma^2) are narrowed to that, within what noise does to it
		most := math.Min(c.sds[0]*c.sds[0], c.sds[c.k]*c.sds[c.k]/(16*gamma2))
		if !(after[c.k]/after[0] >= gamma2) || after[0] > math.Min(2*most, c.sds[0]*c.sds[0]*1.001) || after[0] < most/2 {
			t.Errorf("%v: the spectrum is %v afterwards", c.sds, after)
		}
	}
}

// NaiveEstimator: g^2 bounds all of n rows with probability 1-b, the answer is right around any
// mean, and a bound that is wrong shows. (n = 2000 rows, 200 times: at most 20 runs may exceed g; a
// union bound's true rate is far below, 40 would be 4.7 sds above .1.)
//
// Shows: [KMSSU22] NaiveEstimator.
func TestNaiveEstimator(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 1))
	for _, d := range []int{1, 4} {
		over := 0
		for range 200 {
			most := 0.0
			for range 2000 {
				n2 := 0.0
				for range d {
					z := rng.NormFloat64()
					n2 += z * z
				}
				most = math.Max(most, n2)
			}
			if most > Practical().clip2(d, 2000) {
				over++
			}
		}
		if over > 40 {
			t.Errorf("d=%d: %d of 200 tables have a row beyond g", d, over)
		}
	}
	rng = rand.New(rand.NewPCG(1, 1))
	g := newTruth(rng, 1e6, 1, 1, .5)
	c := trial{rows: g.draw(rng, 50000), d: 3, eps: 10, noise: kerneltest.Options{Seed: 3}}
	for bound, good := range map[float64]bool{1: true, 2: true, .01: false} {
		r := c.alone(t, Practical())
		z, err := r.naiveEstimator(prefixFinal, whole(3), bound, r.a.Take(finalLocationShare*r.mu2), r.a)
		if (err == nil) != good || err != nil && !isBottom(err) {
			t.Errorf("bound %v: %v", bound, err)
		}
		if err == nil && math.Abs(mat.Trace(z.cov)-2.25) > .1 {
			t.Errorf("bound %v: covariance %v", bound, mat.Formatted(z.cov))
		}
	}
}

// The loop's calls follow from the eigenvalues: what is called, for which k, with which gap, and
// the largest sd before it and in the end.
//
// Shows: [KMSSU22] The loop.
func TestCalls(t *testing.T) {
	c := Practical()
	c.EigenvalueRatio, c.Cumulative = 100, 50
	for _, test := range []struct {
		sds  []float64
		want []call
		top  float64
	}{
		{[]float64{7}, nil, 7},
		{[]float64{6, 3, 1}, nil, 6},
		{[]float64{1000, 1}, []call{{1, 1e-3, 1000}}, 1},
		{[]float64{9, 4, 1}, []call{{2, 0, 9}}, 1},
		{[]float64{2000, 1000, 10, 1}, []call{{2, .01, 2000}, {3, 0, 20}}, 1},
		{[]float64{1e6, 1000, 1, 1}, []call{{1, 1e-3, 1e6}, {2, 1e-3, 1000}}, 1},
		{[]float64{6, 6, 1e-9, 1e-9}, []call{{2, 1e-9 / 6, 6}}, 1e-9},
	} {
		got, top := c.calls(test.sds)
		same := len(got) == len(test.want)
		for i := range test.want {
			same = same && got[i].k == test.want[i].k && math.Abs(got[i].gap-test.want[i].gap) < 1e-12 && math.Abs(got[i].top/test.want[i].top-1) < 1e-12
		}
		if !same || math.Abs(top/test.top-1) > 1e-12 {
			t.Errorf("%v: got %+v and %v, want %+v and %v", test.sds, got, top, test.want, test.top)
		}
	}
}

// A space keeps its inverse through every change.
func TestSpace(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 1))
	s := whole(4).scaled(paper.Rotation(rng, 4), []float64{1e-3, 2, 1, 5}).at([]float64{1, 2, 3, 4}).along(paper.Rotation(rng, 4), 1, 4)
	s = s.scaled(paper.Rotation(rng, 3), []float64{1, 1e4, 1})
	var product mat.Dense
	product.Mul(s.w, s.wi)
	for i := range 3 {
		for j := range 3 {
			want := 0.0
			if i == j {
				want = 1
			}
			if math.Abs(product.At(i, j)-want) > 1e-6 {
				t.Errorf("W times its inverse has %v at %d, %d", product.At(i, j), i, j)
			}
		}
	}
	z := []float64{.5, -1, 2}
	moved := s.at(z)
	for i, w := range s.frame().W {
		got := 0.0
		for j, v := range w {
			got += v * (moved.center[j] - s.center[j])
		}
		if math.Abs(got-z[i]) > 1e-6 {
			t.Errorf("coordinate %d of the new centre is %v", i, got)
		}
	}
}
