package tyler

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
)

// alarm is the false-alarm rate of one statistical check; there are fewer than 100 of them.
const alarm = 1e-8

// TestLevels: the certificate can hold at its noise level and hardly above it; steps far from the
// target are the noisier the fewer eigenvalues were seen, and never noisier than farMost.
func TestLevels(t *testing.T) {
	last := 0.0
	for d := 1; d <= 300; d++ {
		s := certainLevel(d)
		sd := s / math.Sqrt(2*float64(d+1))
		if !(s > last && s < 1) {
			t.Errorf("d=%d: level %v after %v, want more in more dimensions, below 1", d, s, last)
		}
		if left := 1 - s - certainSDs*sd; left < .1 || left > .2 {
			t.Errorf("d=%d: a spectrum of ones is %v above what the certificate asks for at the edge of the noise", d, left)
		}
		last = s
		far := math.Inf(1)
		for resolved := 0; resolved <= d; resolved++ {
			f := farLevel(d, resolved)
			if !(f > 0 && f <= farMost && f <= far) {
				t.Errorf("d=%d: far level %v with %d resolved after %v", d, f, resolved, far)
			}
			// resolved eigenvalues of about D/resolved each are what such a step can see.
			if top := float64(d+1) / float64(resolved+1); f > farShareOfTop*top*(1+1e-12) {
				t.Errorf("d=%d: far level %v hides %d eigenvalues of %v", d, f, resolved, top)
			}
			far = f
		}
		if f := farLevel(d, d+1); f != 0 {
			t.Errorf("d=%d: far level %v with all resolved", d, f)
		}
	}
}

// TestCertificateFalsePass: with a direction that no row fills, the least eigenvalue of a noisy
// step passes the certificate by chance only: at most the normal's tail beyond certainSDs, 1.35e-3,
// whatever the others do. The bar is 2e-3.
//
// Shows: [TYLERPRESS] Section 4.2.
func TestCertificateFalsePass(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 4))
	for _, d := range []int{1, 2, 5, 10} {
		size := d + 1
		s := certainLevel(d)
		others := map[string]float64{"as large as the trace allows": float64(size) / float64(d), "huge": 1e6}
		for name, v := range others {
			truth := append([]float64{0}, repeated(v, d)...)
			const runs = 15000
			passed := 0
			for range runs {
				if noisy(t, rng, truth, s)[0] > certainSDs*s/math.Sqrt(2*float64(size)) {
					passed++
				}
			}
			stattest.GoodAtMost(t, passed, runs, 2e-3, alarm)
			if passed > 55 { // a mean of 20 at 1.35e-3: more than 55 have a chance below 1e-9
				t.Errorf("d=%d, others %s: %d of %d passed", d, name, passed, runs)
			}
		}
		// And it does hold, nearly always, where the spectrum is what it should be.
		held := 0
		for range 500 {
			if noisy(t, rng, repeated(1, size), s)[0] > certainSDs*s/math.Sqrt(2*float64(size)) {
				held++
			}
		}
		stattest.GoodAtLeast(t, held, 500, .9, alarm)
	}
}
