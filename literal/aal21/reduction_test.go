package aal21_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/literal/aal21"
	"github.com/gauze-dp/gauze/literal/paper"
)

// units is a list decoder of N(m, 1), m an integer of magnitude at most most, that asks how many
// rows there are and nothing else: its list is the class.
type units struct{ most int }

const step = "how many"

func (units) Steps(_ estimate.Problem, share float64) []kernel.Step {
	return []kernel.Step{{Name: step, Query: query.Count{}.Kind(), Share: share, Most: 1, Source: "AAL21 Definition 2.13"}}
}

func (units) Rows(estimate.Problem, float64, float64) (enough, least float64) { return 10, 1 }

func (u units) Shortest(estimate.Problem) aal21.List { return u }

func (u units) Decode(s aal21.Sample) (aal21.List, error) {
	if s.LeastWeight <= 0 || s.LeastWeight > 1 || s.Problem.Columns != 1 {
		return nil, errors.New("a sample without its problem")
	}
	answer, err := s.SubBudget.Sum(step, query.Count{}, math.Sqrt(s.Mu2))
	if err != nil {
		return nil, err
	}
	if answer.Values[0] < 0 { // FAIL
		return units{-1}, nil
	}
	return u, nil
}

func (units) Step(alpha float64) float64 { return alpha }

func (u units) Size(float64) float64 { return float64(2*u.most + 1) }

func (u units) Net(float64) (net []paper.Gaussian) {
	for m := -u.most; m <= u.most; m++ {
		net = append(net, paper.Line(float64(m), 1))
	}
	return net
}

func (units) Moves() []paper.Move { return nil }

// TestTheorem14: a class that somebody else decodes is learned by the reduction, with the practical
// constants and with the printed ones, which compare all pairs.
//
// Shows: [AAL21] Theorem 1.4; Theorem 3.2; Definition 2.13; Algorithm 1.
func TestTheorem14(t *testing.T) {
	seed := stattest.Seed(t)
	rng := rand.New(rand.NewPCG(seed, 14))
	for _, rel := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
		for _, c := range []struct {
			constants aal21.Constants
			k         int
		}{{aal21.Practical(), 2}, {aal21.Printed(1), 1}} {
			e := aal21.NewLearner("units", units{9}, c.constants)
			means := []float64{-6, 5}[:c.k]
			var rows [][]float64
			for i := range 4000 {
				rows = append(rows, []float64{means[i%c.k] + rng.NormFloat64()})
			}
			p := estimate.Problem{Columns: 1, Rows: len(rows), Relation: rel, Mu: privacy.MuOf(4, .95e-6), Components: c.k, Covariance: estimate.Diagonal}
			plan, err := e.Plan(p)
			if err != nil {
				t.Fatal(err)
			}
			s := kerneltest.Open(t, kerneltest.Table(rows, 1, rel), plan, kernel.Terms{Relation: rel, Budget: privacy.Budget{Epsilon: 4, Delta: 1e-6},
				Engine: kernel.LocalEngine{Workers: 1}}, kerneltest.Options{Seed: rng.Uint64()})
			out, err := e.Fit(context.Background(), s, p)
			if err != nil || out.Model == nil || e.Name() != "units:aal21" {
				t.Fatalf("%v: %+v, %v", rel, out.NoRelease, err)
			}
			for i, g := range out.Model.Components {
				if out.Model.Weights[i] > .2 && g.Mean[0] != means[0] && g.Mean[0] != means[c.k-1] {
					t.Errorf("%v, k = %d: a component at %v", rel, c.k, g.Mean[0])
				}
			}
		}
	}
}
