package km21

import (
	"testing"

	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// A demand is a setting in which the rows that it takes are measured.
type demand struct {
	constants          Constants
	d                  int
	kappa, eps, within float64
}

func demands() (out []demand) {
	dims, kappas, epsilons := []int{2}, []float64{1, 100}, []float64{10}
	if estimatetest.Long() {
		dims, kappas, epsilons = []int{1, 2, 5}, []float64{1, 10, 100}, []float64{1, 10}
	}
	for _, constants := range []Constants{Practical(), Printed()} {
		for _, within := range []float64{0, 10} {
			for _, d := range dims {
				for _, kappa := range kappas {
					for _, eps := range epsilons {
						out = append(out, demand{constants, d, kappa, eps, within})
					}
				}
			}
		}
	}
	return out
}

// TestRows measures from how many rows on the method releases a covariance, Gaussian rows,
// eigenvalues geometric within the bounds stated: with the rows that the analysis asks for it does
// so in every run, and with an eighth of them in none.
//
// False alarms: a run ends without a release with the probability FailureProb at most, and as the
// bounds are loose, far below that.
func TestRows(t *testing.T) {
	rng := newRand(t)
	runs := 2
	if estimatetest.Long() {
		runs = 5
	}
	for _, s := range demands() {
		c := estimatetest.Case{Columns: s.d, Mu: privacy.MuOf(s.eps, 1e-6), Components: 1, Facts: knowing(s.kappa, 1, s.within)}
		e := New(s.constants)
		needed := e.needed(c.Problem())
		truth := truthOf(t, rng, s.d, s.kappa, 1, s.within)
		all := rowsOf(rng, truth, int(needed), gaussian)
		try := func(n float64) (released int, cov float64) {
			for range runs {
				c.Rows, c.Noise = all[:int(n)], kerneltest.Options{Seed: rng.Uint64()}
				if f := estimatetest.Run(t, e, c); f.Model != nil {
					_, err := errorsOf(truth, f)
					released, cov = released+1, cov+err/float64(runs)
				}
			}
			return released, cov
		}
		released, cov := try(needed)
		if few, _ := try(needed / 8); released < runs || few > 0 {
			t.Errorf("%+v: %d of %d runs released at n = %.0f, %d at an eighth of it", s, released, runs, needed, few)
		}
		first := needed
		for released == runs && first > 10 {
			if released, _ = try(first / 1.1); released == runs {
				first /= 1.1
			}
		}
		t.Logf("printed %v, mean within %2v, d %d, kappa %3v, epsilon %2v: analysis %.2g, released from %.2g; error %.3f at %.2g",
			s.constants.AsPrinted, s.within, s.d, s.kappa, s.eps, needed, first, cov, needed)
	}
}
