package tyler

import (
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/parts/component"
)

// A past is a true Gaussian N(delta, cov) in the last release's coordinates z, and the steps that
// led there.
type past struct {
	t     testing.TB
	d     int
	st    *State
	root  float64
	delta []float64
	cov   *mat.SymDense
	run   Rounder
}

// newPast has a final state of its own (random, so that coordinates matter) and no steps yet.
func newPast(t testing.TB, rng *rand.Rand, d int, nu float64, delta []float64, cov *mat.SymDense) *past {
	st := &State{M: make([]float64, d), Nu: nu}
	st.W, st.Wi = randomMap(t, rng, d, 10)
	for j := range d {
		st.M[j] = rng.NormFloat64()
	}
	return &past{t: t, d: d, st: st, root: st.Root(), delta: delta, cov: cov}
}

// randomMap is a random rotation of a geometric spectrum with that condition number, and its
// inverse.
func randomMap(t testing.TB, rng *rand.Rand, d int, condition float64) (w, wi *mat.Dense) {
	t.Helper()
	rotation := func() *mat.Dense {
		g := mat.NewDense(d, d, nil)
		for i := range d {
			for j := range d {
				g.Set(i, j, rng.NormFloat64())
			}
		}
		var qr mat.QR
		qr.Factorize(g)
		var q mat.Dense
		qr.QTo(&q)
		return &q
	}
	a, b := rotation(), rotation()
	w, wi = mat.NewDense(d, d, nil), mat.NewDense(d, d, nil)
	for k := range d {
		s := 1.0
		if d > 1 {
			s = math.Pow(condition, float64(k)/float64(d-1)-.5)
		}
		for i := range d {
			for j := range d {
				w.Set(i, j, w.At(i, j)+s*a.At(i, k)*b.At(j, k))
				wi.Set(j, i, wi.At(j, i)+a.At(i, k)*b.At(j, k)/s)
			}
		}
	}
	return w, wi
}

// frameNear is a state whose coordinates are w = B z + shift for the given B.
func (p *past) frameNear(b *mat.Dense, shift []float64) *State {
	f := p.st.clone()
	var w, bi mat.Dense
	if err := bi.Inverse(b); err != nil {
		if _, ill := err.(mat.Condition); !ill {
			p.t.Fatal(err)
		}
	}
	w.Mul(b, p.st.W)
	w.Scale(p.root, &w) // z = root W (y - m)
	f.W = &w
	var wi mat.Dense
	wi.Mul(p.st.Wi, &bi)
	wi.Scale(1/p.root, &wi)
	f.Wi = &wi
	for j := range p.d {
		for i, v := range shift {
			f.M[j] -= f.Wi.At(j, i) * v
		}
	}
	return f
}

// step adds the measurement of a step in a frame: its exact expectation, with noise of sd sigma if
// rng is set.
func (p *past) step(b *mat.Dense, shift []float64, sigma float64, rng *rand.Rand) {
	p.t.Helper()
	f := p.frameNear(b, shift)
	eta := append([]float64(nil), shift...)
	for i := range p.d {
		for j, v := range p.delta {
			eta[i] += b.At(i, j) * v
		}
	}
	law, ok := NewAngularLaw(eta, symmetric.Congruence(b, p.cov), f.Nu)
	if !ok {
		p.t.Fatal("no law")
	}
	mean, w0 := mat.NewSymDense(p.d+1, nil), make([]float64, p.d)
	symmetric.AddMul(w0, law.Vectors, law.W0)
	var half, ww mat.Dense
	half.Mul(law.Vectors, law.WW)
	ww.Mul(&half, law.Vectors.T())
	mean.SetSym(0, 0, law.Zero)
	for i := range p.d {
		mean.SetSym(0, i+1, w0[i])
		for j := i; j < p.d; j++ {
			mean.SetSym(i+1, j+1, ww.At(i, j))
		}
	}
	if rng != nil {
		mean.AddSym(mean, goe(rng, p.d+1, sigma))
	}
	p.run.history = append(p.run.history, measurement{f, mean, sigma})
}

// last is the last release at radius^2 r2: its exact expectation, by the same points as invert,
// with noise of sd sd if rng is set.
func (p *past) last(r2, lift, sd float64, rng *rand.Rand) component.ClippedRelease {
	d := p.d
	_, root := symmetric.FlooredRoot(p.cov, component.LeastEigen)
	points, law := component.NewPoints(d), component.ClippedGaussian(d, r2)
	mean, second := points.Moments(p.delta, root, r2)
	zeroMean, zeroSecond := points.Moments(make([]float64, d), symmetric.Identity(d), r2)
	for i := range d {
		mean[i] -= zeroMean[i]
		for j := i; j < d; j++ {
			v := second.At(i, j) - zeroSecond.At(i, j)
			if i == j {
				v += law.A
			}
			second.SetSym(i, j, v)
		}
	}
	meanSD := sd / math.Sqrt(2*lift*r2)
	if rng != nil {
		for i := range mean {
			mean[i] += meanSD * rng.NormFloat64()
		}
		second.AddSym(second, goe(rng, d, sd))
	}
	return component.ClippedRelease{Mean: mean, Second: second, R2: r2, MeanSD: meanSD, SecondSD: sd}
}

// off is how far an estimate is from the truth, as Frobenius norms.
func (p *past) off(delta []float64, root *mat.SymDense) (mean, cov float64) {
	var got mat.Dense
	got.Mul(root, root)
	got.Sub(&got, p.cov)
	for i, v := range delta {
		mean = math.Hypot(mean, v-p.delta[i])
	}
	return mean, mat.Norm(&got, 2)
}

// moderate is a covariance with eigenvalues in [.6, 1.6] and a mean near 0.
func moderate(t testing.TB, rng *rand.Rand, d int) (delta []float64, cov *mat.SymDense) {
	w, _ := randomMap(t, rng, d, 1.6)
	cov = mat.NewSymDense(d, nil)
	cov.SymOuterK(1, w)
	for range d {
		delta = append(delta, .1*rng.NormFloat64())
	}
	return delta, cov
}

// TestInvertExact: without noise, the truth is found from the last release and steps in frames near
// and far, with condition numbers up to 1e4 and far means: the steps pull to the truth and nowhere
// else.
//
// Shows: [TYLERPRESS] Section 4.6.
func TestInvertExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 5))
	for _, d := range []int{1, 2, 5, 10} {
		for _, nu := range []float64{1, float64(d)} {
			for _, condition := range []float64{1, 10, 1e4} {
				delta, cov := moderate(t, rng, d)
				p := newPast(t, rng, d, nu, delta, cov)
				for range 4 {
					b, _ := randomMap(t, rng, d, condition)
					shift := make([]float64, d)
					for i := range shift {
						shift[i] = .3 * rng.NormFloat64()
					}
					p.step(b, shift, 1e-3, nil)
				}
				views := p.run.Views(p.st, p.root, 0)
				if len(views) != 4 {
					t.Fatalf("%d views of 4", len(views))
				}
				// The last release is so noisy that the steps decide everything but the scale.
				delta, root, _ := component.InvertClipping(t.Context(), p.last(1.2*float64(d), .2, 1e-2, nil), views)
				mean, off := p.off(delta, root)
				if mean > 1e-3 || off > 1e-3 {
					t.Errorf("d=%d nu=%g condition %g: mean off by %.2g, covariance by %.2g", d, nu, condition, mean, off)
				}
			}
		}
	}
}

// TestInformation: the sum over steps of the state's rank and kind alone, and views leave out the
// others and what says next to nothing.
func TestInformation(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 6))
	const d = 3
	delta, cov := moderate(t, rng, d)
	p := newPast(t, rng, d, 1, delta, cov)
	one := mat.DenseCopyOf(symmetric.Identity(d))
	if got := p.run.Information(p.st); got != 0 || len(p.run.Views(p.st, p.root, 0)) != 0 {
		t.Errorf("information %v without steps", got)
	}
	p.step(one, make([]float64, d), .02, nil)
	p.step(one, make([]float64, d), .01, nil)
	want := (1/(.02*.02) + 1/(.01*.01)) / ((1 + d + 2) * (1 + d + 2))
	if got := p.run.Information(p.st); math.Abs(got/want-1) > 1e-12 {
		t.Errorf("information %v, want %v", got, want)
	}
	p.step(one, make([]float64, d), .2, nil) // 1/400 of the other
	if got := len(p.run.Views(p.st, p.root, 0)); got != 2 {
		t.Errorf("%d views, want the 2 that say something", got)
	}
	p.step(one, make([]float64, d), .001, nil)
	p.run.history[3].frame.Nu = d
	p.step(one, make([]float64, d), .001, nil)
	narrow := p.run.history[4].frame
	narrow.W = mat.DenseCopyOf(narrow.W.Slice(0, d-1, 0, d))
	narrow.Wi = mat.DenseCopyOf(narrow.Wi.Slice(0, d, 0, d-1))
	want += 1 / (.2 * .2) / ((1 + d + 2) * (1 + d + 2))
	if got := p.run.Information(p.st); math.Abs(got/want-1) > 1e-12 {
		t.Errorf("information %v, want %v: steps of another rank or kind count for nothing", got, want)
	}
	views := p.run.Views(p.st, p.root, 0)
	if len(views) != 2 {
		t.Errorf("%d views, want 2: steps of another rank or kind are left out", len(views))
	}
	// Sampling that limits the steps takes weight from all of them alike.
	weighed := p.run.Views(p.st, p.root, 3/(want*(1+d+2)*(1+d+2)))
	for i, v := range weighed {
		if with, without := v.(*view).weight, views[i].(*view).weight; math.Abs(with*4/without-1) > 1e-12 {
			t.Errorf("weight %v with sampling, %v without, want a quarter", with, without)
		}
	}
}

// TestScaleIsTheLastReleases: steps that saw another scale, however sure they are, leave it alone.
func TestScaleIsTheLastReleases(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 7))
	for _, d := range []int{2, 5, 10} {
		cov := mat.NewSymDense(d, nil)
		for i := range d {
			cov.SetSym(i, i, 1.25)
		}
		p := newPast(t, rng, d, 1, make([]float64, d), cov)
		l := p.last(1.2*float64(d), .2, 1e-2, nil)
		b := identity(d)
		b.Scale(1/p.root, b)
		p.cov.ScaleSym(.64, p.cov) // what the steps see
		for range 3 {
			p.step(b, make([]float64, d), 1e-4, nil)
		}
		p.cov.ScaleSym(1/.64, p.cov)
		delta, root, _ := component.InvertClipping(t.Context(), l, p.run.Views(p.st, p.root, 0))
		if mean, off := p.off(delta, root); mean > 1e-6 || off > .01*math.Sqrt(float64(d)) {
			t.Errorf("d=%d: mean off by %v, covariance by %v", d, mean, off)
		}
	}
}

// TestFusion: with noise, the steps lower the squared error of the covariance, but for its scale,
// as far as their information says, and that of the mean. A mean over runs of squares with f
// degrees of freedom in all has the relative sd sqrt(2/f); 6 of them are allowed, a false alarm of
// 2e-9, beside 8 % for what the linear prediction leaves out.
//
// Shows: [TYLERPRESS] Section 4.6.
func TestFusion(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 8))
	dims, runs := []int{5}, 25
	if os.Getenv("GAUZE_LONG") != "" {
		dims, runs = []int{1, 2, 5, 10}, 300
	}
	for _, d := range dims {
		k := float64(d)
		const lift = .2
		r2, nu := 1.2*k, 1.0
		law := component.ClippedGaussian(d, r2)
		sd, sigma := .02, .02*law.B1
		// three steps that know as much as the last release
		sigma *= math.Sqrt(3) / ((nu + k + 2) * law.B1 * law.B1)
		var alone, fused, meanAlone, meanFused, information float64
		for range runs {
			p := newPast(t, rng, d, nu, make([]float64, d), symmetric.Identity(d))
			b := identity(d)
			b.Scale(1/p.root, b)
			for range 3 {
				p.step(b, make([]float64, d), sigma, rng)
			}
			information = p.run.Information(p.st)
			l := p.last(r2, lift, sd, rng)
			for i, views := range [][]component.View{nil, p.run.Views(p.st, p.root, 0)} {
				delta, root, _ := component.InvertClipping(t.Context(), l, views)
				var got mat.Dense
				got.Mul(root, root)
				got.Sub(&got, p.cov)
				trace := mat.Trace(&got)
				for i := range d {
					got.Set(i, i, got.At(i, i)-trace/k)
				}
				cov, mean := math.Pow(mat.Norm(&got, 2), 2)/float64(runs), dense.Norm2(delta)/float64(runs)
				if i == 0 {
					alone, meanAlone = alone+cov, meanAlone+mean
				} else {
					fused, meanFused = fused+cov, meanFused+mean
				}
			}
		}
		coordinates := k*(k+1)/2 - 1
		own := law.B1 * law.B1 / (sd * sd)
		ownMean := law.A1 * law.A1 * 2 * lift * r2 / (sd * sd)
		check := func(name string, got, want, degrees float64) {
			t.Logf("d=%d %s: squared error %.3g, predicted %.3g", d, name, got, want)
			if slack := .08 + 6*math.Sqrt(2/(float64(runs)*degrees)); math.Abs(got/want-1) > slack {
				t.Errorf("d=%d %s: squared error %.3g, predicted %.3g", d, name, got, want)
			}
		}
		if d > 1 { // in one dimension there is nothing but the scale
			check("last release alone", alone, coordinates/own, coordinates)
			check("with the steps", fused, coordinates/(own+information), coordinates)
		}
		check("mean, last release alone", meanAlone, k/ownMean, k)
		check("mean, with the steps", meanFused, k/(ownMean+2*information), k)
	}
}
