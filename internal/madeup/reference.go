package madeup

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/model"
)

// Reference returns the best estimate without privacy: maximum likelihood by EM started at the
// truth. No start is better, so its error is that of the sample.
func (in *Instance) Reference(steps int) (*model.Mixture, error) {
	var rows [][]float64
	for i := range in.Labels {
		rows = append(rows, in.Rows.RawRowView(i))
	}
	return EM(rows, in.Truth, steps)
}

// EM returns the maximum likelihood estimate by plain EM from m, without privacy: a yardstick that
// shares no code with any estimator. It ends when a step no longer changes an error visibly. A
// diagonal start stays diagonal.
func EM(rows [][]float64, m *model.Mixture, steps int) (*model.Mixture, error) {
	for range steps {
		scorers, err := scorersOf(m)
		if err != nil {
			return nil, err
		}
		sums := newSums(m)
		share := make([]float64, len(m.Components))
		for _, row := range rows {
			for i, s := range scorers {
				share[i] = math.Log(m.Weights[i]) + s.LogDensity(row)
			}
			total := floats.LogSumExp(share)
			for i, l := range share {
				if share[i] = math.Exp(l - total); math.IsInf(total, 0) {
					share[i] = m.Weights[i]
				}
			}
			sums.add(share, row)
		}
		before := m
		if m, err = sums.maximise(); err != nil {
			return nil, err
		}
		if settled(before, m) {
			break
		}
	}
	return m, nil
}

// scorersOf returns the scorers of the components, one by one.
func scorersOf(m *model.Mixture) (scorers []*model.Scorer, err error) {
	for _, g := range m.Components {
		one, err := model.New(nil, nil, []model.Gaussian{g})
		if err != nil {
			return nil, err
		}
		s, err := model.NewScorer(one)
		if err != nil {
			return nil, err
		}
		scorers = append(scorers, s)
	}
	return scorers, nil
}

// settled says that a step of EM has changed nothing that can be seen in an error: means by less
// than that many standard deviations, variances and weights by less than that part.
func settled(a, b *model.Mixture) bool {
	const least = 1e-4
	for i, g := range a.Components {
		h := b.Components[i]
		far := math.Abs(a.Weights[i] - b.Weights[i])
		for j := range g.Mean {
			v := g.Cov.At(j, j)
			far = max(far, math.Abs(g.Mean[j]-h.Mean[j])/math.Sqrt(v), math.Abs(v-h.Cov.At(j, j))/v)
		}
		if !(far < least) {
			return false
		}
	}
	return true
}

// sums are the moments of the rows about the means of a model, shared out among its components.
type sums struct {
	about  *model.Mixture
	total  []float64
	first  [][]float64
	second []*mat.SymDense
	diff   []float64
}

func newSums(m *model.Mixture) *sums {
	s := &sums{about: m, total: make([]float64, len(m.Components)), diff: make([]float64, m.Dim())}
	for range len(m.Components) {
		s.first = append(s.first, make([]float64, m.Dim()))
		s.second = append(s.second, mat.NewSymDense(m.Dim(), nil))
	}
	return s
}

// leastShare is the share of a row below which it is skipped.
const leastShare = 1e-9

func (s *sums) add(share, row []float64) {
	for j, r := range share {
		if r < leastShare {
			continue
		}
		s.total[j] += r
		raw := s.second[j].RawSymmetric()
		for a, c := range s.about.Components[j].Mean {
			s.diff[a] = row[a] - c
			s.first[j][a] += r * s.diff[a]
		}
		for a, v := range s.diff {
			line := raw.Data[a*raw.Stride : a*raw.Stride+len(s.diff)]
			for b := a; b < len(s.diff); b++ {
				line[b] += r * v * s.diff[b]
			}
		}
	}
}

// maximise returns the M-step; a component with too few rows for a covariance keeps its shape.
func (s *sums) maximise() (*model.Mixture, error) {
	d, k := s.about.Dim(), len(s.about.Components)
	all := 0.0
	for _, t := range s.total {
		all += t
	}
	if all == 0 {
		return s.about, nil
	}
	gs, w := make([]model.Gaussian, k), make([]float64, k)
	for j := range gs {
		w[j] = s.total[j] / all
		gs[j] = s.about.Components[j]
		if s.total[j] < float64(d+1) {
			continue
		}
		mean, cov := make([]float64, d), mat.NewSymDense(d, nil)
		for a := range d {
			mean[a] = gs[j].Mean[a] + s.first[j][a]/s.total[j]
			for b := a; b < d; b++ {
				cov.SetSym(a, b, (s.second[j].At(a, b)-s.first[j][a]*s.first[j][b]/s.total[j])/s.total[j])
			}
		}
		shape, err := sameShape(gs[j].Cov, cov)
		if err != nil {
			return nil, err
		}
		gs[j] = model.Gaussian{Mean: mean, Cov: shape}
	}
	return model.New(nil, w, gs)
}

// sameShape returns cov, or its diagonal if the truth's covariance is diagonal: the estimate of
// somebody who knows that much.
func sameShape(truth model.Covariance, cov *mat.SymDense) (model.Covariance, error) {
	if _, ok := truth.(model.Diagonal); !ok {
		return model.NewFull(cov)
	}
	v := make([]float64, cov.SymmetricDim())
	for j := range v {
		v[j] = cov.At(j, j)
	}
	return model.NewDiagonal(v)
}
