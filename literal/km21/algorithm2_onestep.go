package km21

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/estimate"
)

// A preconditioner is A and L with lambda_min(L) I <= A Sigma A^T <= I, if the analysis holds; L <=
// A Sigma A^T too, as long as no eigenvalue was raised. Invariant: Inverse is A^-1.
type preconditioner struct {
	A, Inverse *mat.Dense
	L          *mat.SymDense
}

// begin returns A_0 = I/sqrt(high) and L_0 = (low/high) I for a covariance with eigenvalues in
// [low, high].
func begin(d int, within [2]float64) preconditioner {
	p := preconditioner{A: mat.NewDense(d, d, nil), Inverse: mat.NewDense(d, d, nil), L: symmetric.Identity(d)}
	for i := range d {
		p.A.Set(i, i, 1/math.Sqrt(within[1]))
		p.Inverse.Set(i, i, math.Sqrt(within[1]))
	}
	p.L.ScaleSym(math.Min(1, within[0]/within[1]), p.L)
	return p
}

// least returns lambda_min(L); 0 if L has no eigenvalues.
func (p preconditioner) least() float64 {
	values, _, ok := symmetric.Eigen(p.L)
	if !ok {
		return 0
	}
	return values[0]
}

// spectrum returns v f(lambda) v^T.
func spectrum(values []float64, v *mat.Dense, f func(lambda float64) float64) *mat.SymDense {
	s := mat.NewSymDense(len(values), nil)
	for i, l := range values {
		s.SymRankOne(s, f(l), v.ColView(i))
	}
	return s
}

// oneStepHTPPCE brings the widest directions into line, with loss mu: it releases M of the sample
// in the coordinates A x, raises its eigenvalues to lambda_min(L)+s at least, where s bounds |M - A
// Sigma A^T| but with probability beta, and returns, with U = M_1 + sI,
//
//	A' = U^-1/2 A, L' = U^-1/2 (M_1 - sI) U^-1/2.
//
// none is not nil where the analysis ends: s > (1-lambda_min(L))/2, or M contradicts L <= A Sigma
// A^T <= I. Where nothing is raised, M_1 - sI <= A Sigma A^T <= U and everything is as printed.
// Raising an eigenvalue keeps A Sigma A^T <= U, so A' Sigma A'^T <= I is exact.
//
// Cutting eigenvalues at 1-s, as printed, can break it, because the eigenvectors of M are not those
// of A Sigma A^T; by s/2 or so, not in second order. It is not needed: A Sigma A^T <= M + sI. By
// the same token M_1 - sI <= A Sigma A^T can fail where an eigenvalue was raised. What holds: of a
// unit vector with the part p in the directions that were kept, which have the mean eigenvalue m >=
// l+s there, l = lambda_min(L), the variance is at least l and at least p(m-s) + (1-p)(l-2s), and
// it is at most p(m+s) + (1-p)(l+2s) under U. The quotient is least where the two lower bounds
// agree, p = 2s/(m-l+s), and then l over l+2s+2s(m-l-s)/(m-l+s) <= l+4s. Hence lambda_min(A' Sigma
// A'^T) >= l/(l+4s), where the printed L' claims l/(l+2s); it doubles if l+4s <= 1/2.
//
// Source: [KM21] Algorithm 2; Theorem 3.2.
// Differs: no cut at 1-s, and L' times (l+2s)/(l+4s) where an eigenvalue was raised (as printed
// with Constants.AsPrinted); A' is not symmetric, so A Sigma A^T where the text has A Sigma A; no
// further step from an M that contradicts the facts.
func oneStepHTPPCE(x sample, step string, p preconditioner, mu, beta float64) (preconditioner, *estimate.NoRelease, error) {
	gamma, s := x.spectral(mu, beta)
	l := p.least()
	if !(s <= (1-l)/2) {
		return p, &estimate.NoRelease{Reason: fmt.Sprintf("the bound on the error of a step is %.2g of the widest variance that is possible, "+
			"at most %.2g is wanted", s, (1-l)/2)}, nil
	}
	m, err := naiveHTPCE(x, step, p.A, gamma, mu)
	if err != nil {
		return p, nil, err
	}
	values, v, ok := symmetric.Eigen(m)
	if !ok {
		return p, contradiction(), nil
	}
	if least, most := values[0], values[len(values)-1]; !x.AsPrinted && (most > 1+s || least < l-s) {
		return p, contradiction(), nil
	}
	return p.step(values, v, l, s, x.AsPrinted), nil, nil
}

// step runs the post-processing of a release with eigenvalues and vectors.
func (p preconditioner) step(values []float64, v *mat.Dense, l, s float64, asPrinted bool) preconditioner {
	raised := func(lambda float64) float64 { // those of M_1
		if asPrinted {
			lambda = math.Min(lambda, 1-s)
		}
		return math.Max(lambda, l+s)
	}
	root := spectrum(values, v, func(lambda float64) float64 { return math.Sqrt(raised(lambda) + s) })
	inverse := spectrum(values, v, func(lambda float64) float64 { return 1 / math.Sqrt(raised(lambda)+s) })
	next := preconditioner{A: new(mat.Dense), Inverse: new(mat.Dense)}
	next.A.Mul(inverse, p.A)
	next.Inverse.Mul(p.Inverse, root)
	next.L = spectrum(values, v, func(lambda float64) float64 { return (raised(lambda) - s) / (raised(lambda) + s) })
	if values[0] < l+s && !asPrinted {
		next.L.ScaleSym((l+2*s)/(l+4*s), next.L)
	}
	return next
}

func contradiction() *estimate.NoRelease {
	return &estimate.NoRelease{Reason: "a released second moment contradicts the bounds on the eigenvalues, or the bound on the moments",
		Advice: "check --eigenvalues-within, --mean-within and --moments: the covariance's eigenvalues are squares of standard deviations"}
}
