package estimate

import (
	"context"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

func TestFactsValidate(t *testing.T) {
	for _, good := range []Facts{
		{}, {KnowsMean: true}, {KnowsMean: true, MeanWithin: 1e300}, {Eigenvalues: [2]float64{1, 1}}, {Eigenvalues: [2]float64{1e-300, 1e300}},
		{Moments: 4}, {Moments: 100}, {Moments: 4, MomentBound: 3}, {LeastWeight: 1}, {LeastWeight: .01},
	} {
		if err := good.Validate(); err != nil {
			t.Errorf("%+v: %v", good, err)
		}
	}
	for _, c := range []struct {
		facts Facts
		field string
	}{
		{Facts{KnowsMean: true, MeanWithin: -1}, "mean_within"},
		{Facts{KnowsMean: true, MeanWithin: math.NaN()}, "mean_within"},
		{Facts{KnowsMean: true, MeanWithin: math.Inf(1)}, "mean_within"},
		{Facts{MeanWithin: 1}, "mean_within"},
		{Facts{Eigenvalues: [2]float64{0, 1}}, "eigenvalues_within"},
		{Facts{Eigenvalues: [2]float64{-1, 1}}, "eigenvalues_within"},
		{Facts{Eigenvalues: [2]float64{2, 1}}, "eigenvalues_within"},
		{Facts{Eigenvalues: [2]float64{1, 0}}, "eigenvalues_within"},
		{Facts{Eigenvalues: [2]float64{math.NaN(), 1}}, "eigenvalues_within"},
		{Facts{Eigenvalues: [2]float64{1, math.NaN()}}, "eigenvalues_within"},
		{Facts{Eigenvalues: [2]float64{1, math.Inf(1)}}, "eigenvalues_within"},
		{Facts{MomentBound: 3}, "moment_bound"}, {Facts{Moments: 4, MomentBound: .5}, "moment_bound"},
		{Facts{Moments: 4, MomentBound: math.Inf(1)}, "moment_bound"}, {Facts{Moments: 4, MomentBound: math.NaN()}, "moment_bound"},
		{Facts{LeastWeight: 1.1}, "least_weight"}, {Facts{LeastWeight: -.1}, "least_weight"}, {Facts{LeastWeight: math.NaN()}, "least_weight"},
		{Facts{Moments: 2}, "moments"}, {Facts{Moments: 5}, "moments"}, {Facts{Moments: -4}, "moments"},
	} {
		var field *privacy.FieldError
		if err := c.facts.Validate(); !errors.As(err, &field) || field.Field != c.field || field.Fix == "" {
			t.Errorf("%+v: got %v, want a fault of %q with a way to fix it", c.facts, err, c.field)
		}
	}
	all := Facts{KnowsMean: true, MeanWithin: -1, Eigenvalues: [2]float64{2, 1}, Moments: 3}.Validate()
	for _, field := range []string{"mean_within", "eigenvalues_within", "moments"} {
		if all == nil || !strings.Contains(all.Error(), field) {
			t.Errorf("%s is wrong too, got %v", field, all)
		}
	}
}

// ignorant makes use of nothing, user of what it says.
type ignorant struct{}

func (ignorant) Name() string                                                         { return "ignorant" }
func (ignorant) Summary() string                                                      { return "" }
func (ignorant) Source() string                                                       { return "" }
func (ignorant) Plan(Problem) (kernel.Plan, error)                                    { return kernel.Plan{}, nil }
func (ignorant) Fit(context.Context, *kernel.Session, Problem) (out Outcome, e error) { return }
func (ignorant) Expect(Problem) Expectation                                           { return Expectation{} }

type user struct {
	ignorant
	uses Uses
}

func (u user) Uses(Problem) Uses { return u.uses }

func TestUnusedFactsAreNamed(t *testing.T) {
	p := Problem{Facts: Facts{KnowsMean: true, MeanWithin: 3, Eigenvalues: [2]float64{1, 9}, Moments: 6, MomentBound: 20, LeastWeight: .1}}
	words := p.Facts.Words()
	for _, c := range []struct {
		e    Estimator
		want []string
	}{
		{ignorant{}, words},
		{user{uses: Uses{Mean: true}}, words[1:]},
		{user{uses: Uses{Eigenvalues: true}}, []string{words[0], words[2], words[3]}},
		{user{uses: Uses{Moments: true}}, []string{words[0], words[1], words[3]}},
		{user{uses: Uses{LeastWeight: true}}, words[:3]},
		{user{uses: Uses{true, true, true, true, true}}, nil},
	} {
		if got := Unused(c.e, p); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%+v: got %q, want %q", c.e, got, c.want)
		}
	}
	if got := Unused(ignorant{}, Problem{}); got != nil {
		t.Errorf("nothing was stated, and %q is unused", got)
	}
}
