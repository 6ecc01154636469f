package component

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

func newRand(t testing.TB) *rand.Rand {
	seed := stattest.Seed(t)
	return rand.New(rand.NewPCG(seed, seed>>32))
}

func randomGauss(rng *rand.Rand, d int) Gaussian {
	f := mat.NewDense(d, d, nil)
	mean := make([]float64, d)
	for i := range d {
		mean[i] = 3 * rng.NormFloat64()
		for j := range d {
			f.Set(i, j, rng.NormFloat64())
		}
		f.Set(i, i, f.At(i, i)+1)
	}
	return Gaussian{Weight: .1 + rng.Float64(), Mean: mean, Cov: symmetric.Congruence(f, symmetric.Identity(d)), Rows: 100, Uncertainty: StartUncertainty()}
}

// TestGain: a measurement counts less the noisier it is, fully without noise and not at all in
// infinite noise; what is left in doubt is less than before the measurement, and than its noise
// but for what follows a move.
func TestGain(t *testing.T) {
	rng := newRand(t)
	for range 500 {
		prior, dist2, entries := math.Pow(10, 4*rng.Float64()-3), math.Pow(10, 4*rng.Float64()-3), 1+rng.IntN(50)
		lastK := 1.0
		for noise2 := 1e-9; noise2 < 1e9; noise2 *= 3 {
			k, left := gain(prior, dist2, noise2, entries)
			if !(k >= 0 && k <= lastK) {
				t.Fatalf("gain %v after %v at noise %v", k, lastK, noise2)
			}
			if !(left >= 0 && left <= math.Max(prior, dist2/float64(entries))*(1+1e-12)) || left > (noise2+moved*dist2/float64(entries))*(1+1e-6) {
				t.Fatalf("doubt %v left of %v, distance %v, noise %v", left, prior, dist2, noise2)
			}
			lastK = k
		}
		if k, _ := gain(prior, dist2, 0, entries); k != 1 {
			t.Errorf("without noise the gain is %v", k)
		}
		if k, _ := gain(prior, 0, 1e12, entries); k > 1e-8 {
			t.Errorf("in huge noise the gain is %v", k)
		}
	}
}

// TestJoinedMatchesMoments: the joined component has the weight, the mean and the second moment of
// the two.
func TestJoinedMatchesMoments(t *testing.T) {
	rng := newRand(t)
	for range 200 {
		d := 1 + rng.IntN(6)
		a, b := randomGauss(rng, d), randomGauss(rng, d)
		m := Joined(a, b)
		near := func(what string, got, want float64) {
			if math.Abs(got-want) > 1e-9*(1+math.Abs(want)) {
				t.Fatalf("%s: got %v, want %v", what, got, want)
			}
		}
		near("weight", m.Weight, a.Weight+b.Weight)
		for i := range d {
			near("mean", m.Weight*m.Mean[i], a.Weight*a.Mean[i]+b.Weight*b.Mean[i])
			for j := range d {
				second := func(g Gaussian) float64 { return g.Weight * (g.Cov.At(i, j) + g.Mean[i]*g.Mean[j]) }
				near("second moment", second(m), second(a)+second(b))
			}
		}
	}
}

// TestApplyUndoesClipping: from a component a little off the truth one update without noise removes
// nearly all of what is off, in every form: what is left is of second order, and falls by more than
// half where what is off is halved.
//
// The means are over 300000 public rows; their sampling error, about .004, is what the tolerances
// allow for.
func TestApplyUndoesClipping(t *testing.T) {
	const d, n = 2, 300000
	rng := newRand(t)
	z := make([][]float64, n)
	for i := range z {
		z[i] = []float64{rng.NormFloat64(), rng.NormFloat64()}
	}
	frame := query.Affine{Center: make([]float64, d), W: [][]float64{{1, 0}, {0, 1}}}
	for _, form := range []query.Form{query.FullForm, query.DiagonalForm, query.SphericalForm} {
		for _, off := range []float64{.1, .2} {
			scale := []float64{1 + off, 1 + off}
			if form != query.SphericalForm {
				scale[1] = 1 - off/2
			}
			rows := make([][]float64, n)
			for i := range rows {
				rows[i] = []float64{off + math.Sqrt(scale[0])*z[i][0], math.Sqrt(scale[1]) * z[i][1]}
			}
			// clips a seventh of the rows
			how := Clipping{L: mat.DenseCopyOf(symmetric.Identity(d)), Law: ClippedGaussian(d, 4)}
			q := query.ClippedMoments{Form: form, Lift: Lift, Components: []query.Component{{Map: frame, Radius: 2}}}
			plan := kernel.Plan{Method: "m", Steps: []kernel.Step{{Name: "m", Query: q.Kind(), Share: 1, Most: 1}}}
			s := kerneltest.Open(t, kerneltest.Table(rows, d, privacy.AddRemoveOne), plan, kernel.Terms{Relation: privacy.AddRemoveOne, Budget: privacy.Budget{Rho: 1e4}},
				kerneltest.Options{Exact: true})
			ans, err := s.SubBudget().Sum("m", q, s.SubBudget().LeftMu())
			if err != nil {
				t.Fatal(err)
			}
			start := Gaussian{Weight: 1, Mean: make([]float64, d), Cov: symmetric.Identity(d), Uncertainty: Uncertainty{4, 4, 4, 1}}
			got := Update{Form: form, Rows: n, Floor: 1e-4}.Apply(start, UnpackSums(q, ans)[0], how)
			limit := .012 + 1.5*off*off
			for i := range d {
				want := 0.0
				if i == 0 {
					want = off
				}
				if e := got.Mean[i] - want; math.Abs(e) > limit {
					t.Errorf("%v off by %v: mean %d is wrong by %.4f", form, off, i, e)
				}
				if e := got.Cov.At(i, i) - scale[i]; math.Abs(e) > limit {
					t.Errorf("%v off by %v: variance %d is wrong by %.4f", form, off, i, e)
				}
			}
			if form == query.FullForm && math.Abs(got.Cov.At(0, 1)) > limit {
				t.Errorf("off by %v: covariance %.4f, want 0", off, got.Cov.At(0, 1))
			}
		}
	}
}

// TestFrame: a frame takes the rows of the table where the map of the working coordinates takes
// theirs; columns that are left out do not matter.
func TestFrame(t *testing.T) {
	rng := newRand(t)
	s := Space{Columns: []int{2, 0}, Center: []float64{5, -1}, Scale: []float64{.25, 8}}
	w := mat.NewDense(1, 2, []float64{3, -2})
	mean := []float64{rng.NormFloat64(), rng.NormFloat64()}
	frame := s.Affine(mean, w)
	for range 50 {
		x := []float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
		y := []float64{(x[2] - 5) / .25, (x[0] + 1) / 8}
		want := 3*(y[0]-mean[0]) - 2*(y[1]-mean[1])
		got := 0.0
		for i, c := range frame.Columns {
			got += frame.W[0][i] * (x[c] - frame.Center[i])
		}
		if math.Abs(got-want) > 1e-9*(1+math.Abs(want)) {
			t.Fatalf("got %v, want %v", got, want)
		}
	}
}

// TestClipped: the query's frame whitens the component, the law is that of its radius, and
// LogWeight is the logarithm of the weight over the root of the determinant.
func TestClipped(t *testing.T) {
	rng := newRand(t)
	for range 50 {
		d := 1 + rng.IntN(5)
		s := Space{Center: make([]float64, d)}
		for l := range d {
			s.Columns, s.Scale = append(s.Columns, l), append(s.Scale, 1)
		}
		c := randomGauss(rng, d)
		q, how := s.Clipped(c, c.Weight, 1000, NoiseOf(query.FullForm, d, 1, 1), 1)
		w := mat.NewDense(d, d, nil)
		for i, row := range q.Map.W {
			w.SetRow(i, row)
		}
		if !mat.EqualApprox(symmetric.Congruence(w, c.Cov), symmetric.Identity(d), 1e-6) {
			t.Fatalf("the frame does not whiten: %v", mat.Formatted(symmetric.Congruence(w, c.Cov)))
		}
		if want := symmetric.Congruence(how.L, symmetric.Identity(d)); !mat.EqualApprox(want, c.Cov, 1e-9) {
			t.Fatalf("L L^T = %v", mat.Formatted(want))
		}
		if math.Abs(q.Radius*q.Radius-how.Law.R2) > 1e-9*how.Law.R2 || how.Law.D != d {
			t.Fatalf("radius %v, law of radius^2 %v", q.Radius, how.Law.R2)
		}
		if want := math.Log(c.Weight / math.Sqrt(mat.Det(c.Cov))); math.Abs(q.LogWeight-want) > 1e-6*(1+math.Abs(want)) {
			t.Fatalf("LogWeight %v, want %v", q.LogWeight, want)
		}
	}
}

// TestNoise: what Noise says is the noise sd of a second moment on a unit ball that the kernel's
// answer has, in every form and under both relations.
func TestNoise(t *testing.T) {
	frame := query.Affine{Center: make([]float64, 2), W: [][]float64{{1, 0}, {0, 1}}}
	const mu = .7
	for _, form := range []query.Form{query.FullForm, query.DiagonalForm, query.SphericalForm} {
		for relation, factor := range map[privacy.Relation]float64{privacy.ReplaceOne: math.Sqrt2, privacy.AddRemoveOne: 1} {
			q := query.ClippedMoments{Form: form, Lift: Lift, Components: []query.Component{{Map: frame, Radius: 1}}}
			plan := kernel.Plan{Method: "m", Steps: []kernel.Step{{Name: "m", Query: q.Kind(), Share: 1, Most: 1}}}
			s := kerneltest.Open(t, kerneltest.Table([][]float64{{1, 2}, {3, 4}}, 2, relation), plan, kernel.Terms{Relation: relation, Budget: privacy.Budget{Rho: 1}}, kerneltest.Options{})
			ans, err := s.SubBudget().Sum("m", q, mu)
			if err != nil {
				t.Fatal(err)
			}
			sums := UnpackSums(q, ans)[0]
			got := sums.SecondSD
			if form == query.SphericalForm {
				got = sums.TraceSD
			}
			if want := NoiseOf(form, 2, factor, mu); math.Abs(got-want.Second) > 1e-3*want.Second {
				t.Errorf("%v, %v: the answer's noise is %v, Noise says %v", form, relation, got, want)
			}
		}
	}
}

// TestFramed: what a coreset says of a shape is not enough in many columns, and what rounds leave
// in doubt is.
func TestFramed(t *testing.T) {
	known := Uncertainty{Shape: 1e-4, Scale: 1e-4}
	for _, d := range []int{1, 2, 5, 30} {
		if !known.Framed(d) {
			t.Errorf("%d columns: %+v is not enough", d, known)
		}
		if d >= 5 && StartUncertainty().Framed(d) {
			t.Errorf("%d columns: %+v is enough", d, StartUncertainty())
		}
	}
}

// TestNoiseOfForms: the noise of a mean, and the radius chosen, are those of the form: one that
// measures fewer numbers clips less, and its mean has the noise of its own sums.
func TestNoiseOfForms(t *testing.T) {
	d, n := 60, 2000.0
	full, diagonal, spherical := NoiseOf(query.FullForm, d, 1, .1), NoiseOf(query.DiagonalForm, d, 1, .1), NoiseOf(query.SphericalForm, d, 1, .1)
	if r, s := ClippingRadius2(d, n, full, 1), ClippingRadius2(d, n, spherical, 1); !(r < s) {
		t.Errorf("squared radius %v with all second moments, %v with one", r, s)
	}
	law := ClippedGaussian(d, 80)
	for _, c := range []struct {
		noise Noise
		sum   float64 // noise of a coordinate of the sum, per unit of the radius
	}{{diagonal, math.Sqrt(3) / .1}, {spherical, 1.5 / .1}} {
		if got, want := law.MeanNoise(n, c.noise), c.sum*math.Sqrt(80)/n/law.A1; math.Abs(got/want-1) > 1e-9 {
			t.Errorf("%+v: noise of a mean %v, want %v", c.noise, got, want)
		}
	}
}
