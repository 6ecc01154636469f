package km21

import (
	"fmt"
	"math"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/literal/paper"
)

// The range of numbers of rows that enough are sought in.
const (
	fewestRows = 100
	mostRows   = 1e13
)

// A forecast is what the analysis says of a number of rows.
type forecast struct {
	t     int
	least float64 // the lambda_min(L) that t-1 one-steps guarantee
	alpha float64 // of the last release
	ratio float64 // of the expected error to the sampling error of all rows
}

// forecast says what the analysis promises for n rows; ok is false if it ends before the last
// release.
func (e Estimator) forecast(p estimate.Problem, n float64) (f forecast, ok bool) {
	x := e.design(p, n)
	mu2 := p.Mu * p.Mu * (1 - e.c.CountShare)
	if x.pairs {
		mu2 *= 1 - e.c.MeanShare
	}
	if f.t, f.least, ok = x.steps(p.Facts.Eigenvalues, mu2*x.PreconditionShare); !ok {
		return f, false
	}
	if f.t > 1 {
		mu2 *= 1 - x.PreconditionShare
	}
	gamma, alpha := x.frobenius(math.Sqrt(mu2), x.FailureProb/2)
	f.alpha = alpha
	// In coordinates where the covariance is about I: noise of mean square sigma^2 d(d+1)/2,
	// sampling (kurtosis of a Gaussian) d(d+1)/m.
	d := float64(x.d)
	sampling := d * (d + 1) / x.size()
	noise := math.Pow(x.sigma(gamma*gamma, math.Sqrt(mu2)), 2) * d * (d + 1) / 2
	f.ratio = math.Sqrt((sampling + noise) / (d * (d + 1) / n))
	return f, true
}

// hopeless returns the reason why n rows are too few whatever they hold; "" if they are not.
func (e Estimator) hopeless(p estimate.Problem, n float64) string {
	f, ok := e.forecast(p, n)
	switch {
	case !ok:
		return e.tooFar(p, n)
	case !(f.alpha < 1):
		return fmt.Sprintf("with about %.0f rows the bound on the error of the last release is %.2g of the widest variance, less than 1 is wanted",
			n, f.alpha)
	case !e.startable(p, n, p.Facts.Eigenvalues[1]):
		return fmt.Sprintf("with about %.0f rows the noise of a first mean within %g of the origin is too large", n, p.Facts.MeanWithin)
	}
	return ""
}

// tooFar returns the reason where no number of one-steps is enough.
func (e Estimator) tooFar(p estimate.Problem, n float64) string {
	return fmt.Sprintf("with about %.0f rows no number of steps brings eigenvalues within %g and %g to within a factor %g of each other: noise and "+
		"sampling error of a step are too large", n, p.Facts.Eigenvalues[0], p.Facts.Eigenvalues[1], 1/e.c.Target)
}

// startable reports that the mean can be found by heavyTailedMean if all variances are the one
// given.
func (e Estimator) startable(p estimate.Problem, n, variance float64) bool {
	x := e.design(p, n)
	root := math.Sqrt(float64(x.d))
	r := p.Facts.MeanWithin / math.Sqrt(variance)
	mu := p.Mu * math.Sqrt((1-x.CountShare)*x.MeanShare*x.StartShare)
	return r <= root || x.startError(r, mu) <= root
}

// underrated: the released variance that rows are whitened by may be smaller than the true one by
// this factor, and the mean so much farther away.
const underrated = 1.5

// enough reports that n rows are enough in every case that the facts allow.
func (e Estimator) enough(p estimate.Problem, n float64) bool {
	f, ok := e.forecast(p, n)
	return ok && f.alpha < f.least && e.startable(p, n, p.Facts.Eigenvalues[0]/underrated)
}

// needed returns the least number of rows, about, that enough holds for; 0 if none does.
func (e Estimator) needed(p estimate.Problem) float64 {
	for n := float64(fewestRows); n < mostRows; n *= 1.1 {
		if e.enough(p, n) {
			return n
		}
	}
	return 0
}

// advice says what would help, with a number of rows if one is known.
func (e Estimator) advice(p estimate.Problem) string {
	help := "needs many more rows or a larger epsilon"
	if p.Mu > 0 {
		if n := e.needed(p); n > 0 {
			help = fmt.Sprintf("needs about %s rows at this epsilon", paper.RowsText(n))
		}
	}
	return help + "; or closer bounds; --method gaussian needs far fewer rows, and no bounds"
}

// Expect says how many rows the analysis asks for, from public facts: those from which on a
// covariance is released, and more where that makes its error at most twice the non-private one;
// for fourth moments and more than a few columns nothing does.
func (e Estimator) Expect(p estimate.Problem) estimate.Expectation {
	if p.Budget.Pure() {
		return e.pureExpect(p)
	}
	if !(p.Mu > 0) || p.Columns < 1 || refused(p) != nil {
		return estimate.Expectation{}
	}
	out := estimate.Expectation{Notes: []string{"a literal algorithm, to compare with: --method gaussian needs far fewer rows, and no bounds"}}
	n := e.needed(p)
	if n == 0 {
		out.Notes = append(out.Notes, "no table is long enough at this epsilon within these bounds")
		return out
	}
	out.Notes = append(out.Notes, fmt.Sprintf("it releases a covariance from about %s rows on", paper.RowsText(n)))
	first := n
	for ; n < mostRows && out.RowsNeeded == 0; n *= 1.1 {
		if f, ok := e.forecast(p, n); ok && f.ratio <= 2 {
			out.RowsNeeded = n
		}
	}
	if out.RowsNeeded == 0 {
		out.RowsNeeded = first
		out.Notes = append(out.Notes, "its error stays more than twice the non-private one: the more rows, the larger is the radius that the theorem asks for")
	}
	if f, ok := e.forecast(p, float64(p.Rows)); ok && p.Relation == privacy.ReplaceOne {
		out.RelativeError = f.ratio
	}
	return out
}
