package single

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/parts/moments"
)

// naive releases the moments of the rows within the stated bounds at once, and spends the whole
// budget on that: what there is to beat. It is for comparison, and no method of gauze fit.
//
// Source: [TYLERPRESS] Section 3.
// Differs: the mean is released along with the second moment, so that it need not be the origin.
type naive struct{}

const (
	naiveName = "naive truncation"
	// naiveReach: rows are counted within the ball of the mean and this many times the root of the
	// trace beyond.
	naiveReach = 3
	naiveStep  = "moments"
)

func (naive) Name() string    { return naiveName }
func (naive) Summary() string { return "one truncated release of all moments within stated bounds" }
func (naive) Source() string  { return "TYLERPRESS Section 3" }

func (naive) Plan(p estimate.Problem) (kernel.Plan, error) {
	if !p.Facts.KnowsMean || !p.Facts.KnowsEigenvalues() {
		return kernel.Plan{}, &estimate.Refusal{Reason: naiveName + " needs bounds on the mean and the eigenvalues", Advice: "state them"}
	}
	return kernel.Plan{Method: naiveName, Steps: []kernel.Step{{Name: naiveStep, Query: query.ClippedMoments{}.Kind(), Share: 1, Most: 1, Source: "TYLERPRESS Section 3"}}}, nil
}

func (naive) Fit(_ context.Context, s *kernel.Session, p estimate.Problem) (estimate.Outcome, error) {
	a, d := s.Allotment(), s.Columns()
	frame := query.Affine{Center: make([]float64, d)}
	for i := range d {
		frame.W = append(frame.W, make([]float64, d))
		frame.W[i][i] = 1
	}
	reach := p.Facts.MeanWithin + naiveReach*math.Sqrt(float64(d)*p.Facts.Eigenvalues[1])
	q := query.ClippedMoments{Form: query.FullForm, Lift: .5, Components: []query.Component{{Frame: frame, Radius: reach, Truncate: true}}}
	answer, err := a.Sum(naiveStep, q, a.LeftMu())
	if err != nil {
		return estimate.Outcome{}, err
	}
	got := moments.Unpack(q, answer)[0]
	count, mean := math.Max(1, got.Count), got.Sum
	floats.Scale(1/count, mean)
	got.Second.ScaleSym(1/count, got.Second)
	got.Second.SymRankOne(got.Second, -1, mat.NewVecDense(d, mean))
	cov, err := model.NewFull(symmetric.Floored(got.Second, p.Facts.Eigenvalues[0], math.Inf(1)))
	if err != nil {
		return estimate.Outcome{}, err
	}
	m, err := model.New(nil, nil, []model.Gaussian{{Mean: mean, Cov: cov}})
	return estimate.Outcome{Model: m}, err
}

func (naive) Expect(estimate.Problem) estimate.Expectation { return estimate.Expectation{} }
