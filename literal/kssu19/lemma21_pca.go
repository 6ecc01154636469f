package kssu19

import (
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts"
	"github.com/gauze-dp/gauze/parts/component"
)

// pcaLift is what PCA pays for the sums that come with second moments. A utility constant.
const pcaLift = .1

func pcaStep(name string, share float64, most int) kernel.Step {
	return kernel.Step{Name: name, Query: query.PartsOf(query.ClippedMoments{}.Kind()), Share: share, Most: most, Source: "KSSU19 Section B.5"}
}

// pca finds, for every part, the l directions in which its rows lie farthest from the centre of its
// ball, rows clipped to the ball: the frame of the projection, centred there.
//
// Source: [KSSU19] Lemma 2.1 (its utility); Section B.5 of the restatement.
// Differs: noise calibrated to the relation, 1+pcaLift^2 times the least.
func (r *run) pca(step string, of []part, balls []*ball, l int, mu2 float64) ([]query.Affine, error) {
	if len(of) == 0 {
		return nil, nil
	}
	q := query.Parts{Partition: partition(of)}
	for _, b := range balls {
		q.Queries = append(q.Queries, query.ClippedMoments{Form: query.FullForm, Lift: pcaLift,
			Components: []query.Component{{Map: b.frame, Radius: b.radius}}})
	}
	ans, err := r.a.Sum(step, q, parts.Mu(mu2))
	if err != nil {
		return nil, err
	}
	frames := make([]query.Affine, len(of))
	answers, sigmas := q.Split(ans.Values, ans.Sigma)
	for i, b := range balls {
		m := component.UnpackSums(q.Queries[i].(query.ClippedMoments), kernel.Answer{Values: answers[i], Sigma: sigmas[i]})[0]
		// The answer in units of the ball: second moments of tiny balls would underflow.
		unit := mat.NewSymDense(b.frame.Out(), nil)
		unit.ScaleSym(1/b.radius, m.Second)
		frames[i] = turned(principal(unit, l), b.frame)
	}
	return frames, nil
}

// principal returns the l orthonormal directions of the largest eigenvalues, as rows; the first
// axes if s has none.
func principal(s *mat.SymDense, l int) *mat.Dense {
	d := s.SymmetricDim()
	l = min(l, d)
	out := mat.NewDense(l, d, nil)
	_, v, ok := symmetric.Eigen(s)
	if !ok {
		for i := range l {
			out.Set(i, i, 1)
		}
		return out
	}
	for i := range l {
		for j := range d {
			out.Set(i, j, v.At(j, d-1-i))
		}
	}
	return out
}
