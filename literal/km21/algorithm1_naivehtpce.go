package km21

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/kernel/query/papers"
	"github.com/gauze-dp/gauze/parts/component"
)

// A sample is whom the algorithms ask: the rows of a sub-budget's table, of mean 0, or secret pairs
// (x-x')/sqrt2 of them.
type sample struct {
	design
	a *kernel.SubBudget
}

// naiveHTPCE releases, with loss mu (rho = mu^2/2), the second moment of the vectors w = A x of the
// sample that lie within gamma, the others counting as zero:
//
//	M = (1/m) sum w w^T 1{|w| <= gamma} + GOE(sigma), sigma = sqrt2 gamma^2/(m mu),
//	projected to the positive semidefinite matrices.
//
// Privacy holds for any rows and any A that is public or was released: what a row adds is a
// function of the row, of norm gamma^2 at most.
//
// Source: [KM21] Algorithm 1; Theorem 3.1.
// Differs: of pairs, m is the released number of those within gamma, so that truncation can raise a
// second moment too, by P(|w| > gamma) <= (a/2) d/gamma^2 of it; the noise of rows is 1+lift^2
// times as large, because the kernel releases sums along with second moments.
func naiveHTPCE(x sample, step string, a *mat.Dense, gamma, mu float64) (*mat.SymDense, error) {
	frame := frameOf(a)
	var m *mat.SymDense
	count := x.rows
	if x.pairs {
		q := papers.PairMoments{Map: frame, Radius: gamma, Truncate: true}
		ans, err := kernel.SumPairs(x.a, step, query.Pairs{Queries: []query.PairSum{q}, Buckets: []int{buckets(x.rows)}}, mu)
		if err != nil {
			return nil, err
		}
		pairs, second := q.Read(ans.Values)
		count, m = pairs, component.Symmetric(second, x.d)
	} else {
		q := query.ClippedMoments{Form: query.FullForm, Lift: lift, Components: []query.Component{{Map: frame, Radius: gamma, Truncate: true}}}
		ans, err := x.a.Sum(step, q, mu)
		if err != nil {
			return nil, err
		}
		m = component.UnpackSums(q, ans)[0].Second
	}
	m.ScaleSym(1/math.Max(1, count), m)
	return symmetric.Floored(m, 0, math.Inf(1)), nil
}

// frameOf returns the map x -> A x.
func frameOf(a *mat.Dense) query.Affine {
	r, d := a.Dims()
	f := query.Affine{Center: make([]float64, d)}
	for i := range r {
		f.W = append(f.W, mat.Row(nil, i, a))
	}
	return f
}

// buckets returns into how many buckets rows are put to be paired.
func buckets(rows float64) int {
	return int(math.Max(1, math.Min(1<<26, rows/2)))
}
