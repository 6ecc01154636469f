package recursive

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts/component"
	"github.com/gauze-dp/gauze/parts/coreset"
)

func randomCov(rng *rand.Rand, d int) *mat.SymDense {
	return symmetric.Congruence(randomMap(rng, d), symmetric.Identity(d))
}

// randomMap is a random matrix that is far from singular.
func randomMap(rng *rand.Rand, d int) *mat.Dense {
	m := mat.NewDense(d, d, nil)
	for i := range d {
		for j := range d {
			m.Set(i, j, .5*rng.NormFloat64()/math.Sqrt(float64(d)))
		}
		m.Set(i, i, m.At(i, i)+1.5)
	}
	return m
}

func randomPoint(rng *rand.Rand, d int) []float64 {
	p := make([]float64, d)
	for i := range p {
		p[i] = 3 * rng.NormFloat64()
	}
	return p
}

func agree(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-8*(1+math.Abs(want))) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// TestSeparationClosedForms: |a-b|/(sd_a+sd_b) on a line and for spheres, half the Mahalanobis
// distance for equal covariances.
func TestSeparationClosedForms(t *testing.T) {
	rng := newRand(t)
	for range 100 {
		d := 1 + rng.IntN(6)
		a, b := randomPoint(rng, d), randomPoint(rng, d)
		diff := 0.0
		for i := range a {
			diff += sq(a[i] - b[i])
		}
		sphere := func(sd float64) *mat.SymDense {
			s := mat.NewSymDense(d, nil)
			s.ScaleSym(sd*sd, symmetric.Identity(d))
			return s
		}
		u, v := math.Exp(3*rng.NormFloat64()), math.Exp(3*rng.NormFloat64())
		agree(t, "spheres", separation(a, b, sphere(u), sphere(v)), math.Sqrt(diff)/(u+v))
		s := randomCov(rng, d)
		_, inv, _ := symmetric.Factor(s)
		z := mat.NewVecDense(d, nil)
		for i := range a {
			z.SetVec(i, a[i]-b[i])
		}
		z.MulVec(inv, z)
		agree(t, "one covariance", separation(a, b, s, s), mat.Norm(z, 2)/2)
		agree(t, "itself", separation(a, a, s, sphere(u)), 0)
	}
}

// TestSeparationAffine: the separation does not change when both Gaussians are mapped by one affine
// map or exchanged; no direction shows more than sqrt2 times as much, for sd_a + sd_b is at most
// sqrt2 times the sd of a-b.
func TestSeparationAffine(t *testing.T) {
	rng := newRand(t)
	for range 200 {
		d := 1 + rng.IntN(5)
		a, b, sa, sb := randomPoint(rng, d), randomPoint(rng, d), randomCov(rng, d), randomCov(rng, d)
		sa.ScaleSym(math.Exp(3*rng.NormFloat64()), sa)
		want := separation(a, b, sa, sb)
		m, shift := randomMap(rng, d), randomPoint(rng, d)
		move := func(p []float64) []float64 {
			v := mat.NewVecDense(d, append([]float64(nil), p...))
			v.MulVec(m, v)
			v.AddVec(v, mat.NewVecDense(d, shift))
			return v.RawVector().Data
		}
		agree(t, "mapped", separation(move(a), move(b), symmetric.Congruence(m, sa), symmetric.Congruence(m, sb)), want)
		agree(t, "exchanged", separation(b, a, sb, sa), want)
		for range 50 {
			u := mat.NewVecDense(d, randomPoint(rng, d))
			along := 0.0
			for i := range a {
				along += u.AtVec(i) * (a[i] - b[i])
			}
			along = math.Abs(along) / (math.Sqrt(mat.Inner(u, sa, u)) + math.Sqrt(mat.Inner(u, sb, u)))
			if along > math.Sqrt2*want*(1+1e-9) {
				t.Fatalf("a direction shows %v, the separation is %v", along, want)
			}
		}
	}
}

// hand is a mixture of one-dimensional components of cells of width 1.
func hand(loglik float64, weights, means, sds []float64) *coreset.Mixture {
	m := &coreset.Mixture{LogLik: loglik, Weights: weights}
	for j, x := range means {
		m.Means = append(m.Means, []float64{x})
		m.Covs = append(m.Covs, mat.NewSymDense(1, []float64{sq(sds[j])}))
		m.Cells = append(m.Cells, []float64{1. / 12})
	}
	return m
}

// TestClosest is the least pair, with the cells added that the covariances are short of.
func TestClosest(t *testing.T) {
	m := hand(0, []float64{.2, .3, .5}, []float64{0, 10, 14}, []float64{1, 1, 1})
	agree(t, "closest", closest(m, 0), 2)
	agree(t, "short of 36 cells", closest(m, 36), 1)
	if one := hand(0, []float64{1}, []float64{0}, []float64{1}); !math.IsInf(closest(one, 2), 1) {
		t.Error("one component has no closest pair")
	}
}

// TestKeep: the likeliest mixture whose components of enough weight are apart is kept, under their
// number.
func TestKeep(t *testing.T) {
	var best [maxTried]*coreset.Mixture
	keep(&best, hand(-9, []float64{.5, .5}, []float64{0, 2}, []float64{1, 1}), 0, .1)
	if best != [maxTried]*coreset.Mixture{} {
		t.Error("components that are not apart were kept")
	}
	first := hand(-9, []float64{.5, .5}, []float64{0, 9}, []float64{1, 1})
	keep(&best, first, 0, .1)
	keep(&best, hand(-10, []float64{.5, .5}, []float64{0, 8}, []float64{1, 1}), 0, .1)
	if best[1] == nil || best[1].Means[1][0] != 9 {
		t.Errorf("got %+v, want the likelier of two", best[1])
	}
	keep(&best, hand(-8, []float64{.5, .05, .45}, []float64{0, .5, 7}, []float64{1, 1, 1}), 0, .1)
	if best[2] != nil || best[1].LogLik != -8 || best[1].Means[1][0] != 7 || len(best[1].Weights) != 2 {
		t.Errorf("got %+v, want the likeliest without its light component", best[1])
	}
	keep(&best, hand(0, []float64{.05, .05}, []float64{0, 9}, []float64{1, 1}), 0, .1)
	if best[0] != nil || best[1].LogLik != -8 {
		t.Error("a mixture of light components changed what is kept")
	}
}

// flatFrame is the identity.
func flatFrame(q int) query.Affine {
	return component.Flat(q).Affine(make([]float64, q), mat.DenseCopyOf(symmetric.Identity(q)))
}

// leavesOf are the leaves of an exact dropping tree of rows, with the thresholds of a count of
// noise sd.
func leavesOf(t testing.TB, rows [][]float64, half, sd float64) *coreset.Coreset {
	t.Helper()
	q := len(rows[0])
	box := make([]float64, q)
	for i := range box {
		box[i] = half
	}
	var flat []float64
	for _, r := range rows {
		flat = append(flat, r...)
	}
	first, last := coreset.Levels(q, q > flatTree)
	tree := coreset.NewDroppingTree(flatFrame(q), box, first, last, 0, drops)
	for {
		c, ok := tree.Next()
		if !ok {
			return tree.Coreset()
		}
		sums := make([]int64, c.Size())
		c.Compile(q).Add(sums, flat)
		counts := make([]float64, len(sums))
		for i, v := range sums {
			counts[i] = float64(v)
		}
		tree.Take(counts, sd)
	}
}

// blobs are n rows for each of some round groups.
func blobs(rng *rand.Rand, n int, sd float64, centers ...[]float64) (rows [][]float64) {
	for _, c := range centers {
		for range n {
			x := append([]float64(nil), c...)
			for i := range x {
				x[i] += sd * rng.NormFloat64()
			}
			rows = append(rows, x)
		}
	}
	return rows
}

func fitsOf(t testing.TB, rows [][]float64, half, sd float64) *fits {
	f := &fits{set: leavesOf(t, rows, half, sd), rows: float64(len(rows))}
	f.clumps = f.set.Clumps(f.least())
	return f
}

// TestChoose: as many components as there are separated groups, and no more than allowed; one where
// groups overlap or nothing is there.
func TestChoose(t *testing.T) {
	rng := newRand(t)
	three := fitsOf(t, blobs(rng, 800, .4, []float64{-5, -5}, []float64{0, 5}, []float64{5, -4}), 8, 3)
	for most, want := range map[int]int{1: 1, 3: 3, 9: 3} {
		m := three.choose(t.Context(), most)
		if got := len(m.Weights); got != want {
			t.Errorf("at most %d: %d components, want %d", most, got, want)
		}
		if want == 3 {
			for _, w := range m.Weights {
				if math.Abs(w-1./3) > .02 {
					t.Errorf("weights %v, want thirds", m.Weights)
				}
			}
		}
	}
	if m := three.choose(t.Context(), 2); len(m.Weights) > 2 {
		t.Errorf("at most 2: got %d", len(m.Weights))
	}
	if m := fitsOf(t, blobs(rng, 1500, 1, []float64{0, 0}, []float64{1.5, 0}), 8, 3).choose(t.Context(), 5); len(m.Weights) != 1 {
		t.Errorf("groups that overlap: %d components, want 1", len(m.Weights))
	}
	nothing := &fits{set: &coreset.Coreset{Dim: 2}, rows: 100}
	if nothing.choose(t.Context(), 3) != nil {
		t.Error("an empty coreset has a mixture")
	}
	if m := three.asked(t.Context(), 5); m == nil || len(m.Weights) != 5 {
		t.Errorf("asked for 5: got %+v", m)
	}
	if m := nothing.asked(t.Context(), 2); m != nil {
		t.Errorf("an empty coreset, asked for 2: got %+v", m)
	}
}

// TestChooseBeyondTheMost: more groups than a coreset is ever asked for do not lead out of its
// lists.
func TestChooseBeyondTheMost(t *testing.T) {
	c := &coreset.Coreset{Dim: 1, SD: 1}
	for i := range maxTried + 10 {
		c.Points, c.Cells = append(c.Points, []float64{10 * float64(i)}), append(c.Cells, []float64{1. / 12})
		c.Weights, c.Total = append(c.Weights, 100), c.Total+100
	}
	f := &fits{set: c, rows: c.Total}
	f.clumps = c.Clumps(50)
	f.likeliest = make([]*coreset.Mixture, maxTried) // as if tried before
	for k := range f.likeliest {
		f.likeliest[k] = hand(0, []float64{1}, []float64{0}, []float64{1})
	}
	if m := f.choose(t.Context(), maxTried+10); m == nil {
		t.Error("no mixture")
	}
}

// TestSmallCoresets: coresets of a few leaves in any places, of any weights, can be asked for any
// number of components.
func TestSmallCoresets(t *testing.T) {
	rng := newRand(t)
	for range 25 {
		q := 1 + rng.IntN(3)
		c := &coreset.Coreset{Dim: q, SD: 10}
		for range 1 + rng.IntN(9) {
			p, cell := make([]float64, q), make([]float64, q)
			side := math.Ldexp(1, -rng.IntN(3))
			for i := range p {
				p[i], cell[i] = float64(rng.IntN(4)), side*side/12
			}
			w := 25 * math.Exp(2*rng.Float64())
			c.Points, c.Cells, c.Weights, c.Total = append(c.Points, p), append(c.Cells, cell), append(c.Weights, w), c.Total+w
		}
		f := &fits{set: c, rows: 2 * c.Total}
		f.clumps = c.Clumps(f.least())
		if m := f.choose(t.Context(), 1+rng.IntN(12)); m == nil || len(m.Weights) > len(c.Points) {
			t.Fatalf("chose %+v", m)
		}
		for k := 1; k <= len(c.Points)+2; k++ {
			m := f.asked(t.Context(), k)
			if m != nil && len(m.Weights) != k || m != nil && !dense.Finite(m.LogLik) {
				t.Fatalf("asked for %d of %d points: %+v", k, len(c.Points), m)
			}
		}
	}
}
