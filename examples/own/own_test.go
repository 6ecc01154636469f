package own_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/examples/own"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/literal/aal21"
	"github.com/gauze-dp/gauze/source"
)

// table has n rows of half N(-5, 1), half N(7, 1), or of the second alone.
func table(t *testing.T, n int, both bool) *kernel.Table {
	t.Helper()
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = []float64{7 + rand.NormFloat64()}
		if both && i%2 == 0 {
			rows[i][0] -= 12
		}
	}
	in, err := gauze.FromRows(rows, source.Column{Name: "x"})
	if err != nil {
		t.Fatal(err)
	}
	out, err := in.Load(privacy.ReplaceOne, nil)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func request(e estimate.Estimator, components int) gauze.Request {
	return gauze.Request{Relation: privacy.ReplaceOne, Budget: privacy.Budget{Epsilon: 2, Delta: 1e-6}, Columns: gauze.Named("x"), Components: components, Estimator: e,
		Facts: estimate.Facts{KnowsMean: true, MeanWithin: 10, Eigenvalues: [2]float64{.25, 4}}}
}

// TestEstimators: what is not part of Gauze is planned, reserved, charged and certified as any
// method, its releases say so, and Verify lists it as an exception; who has the estimator can make
// its plan again.
func TestEstimators(t *testing.T) {
	grid := aal21.NewLearner("own:grid", own.Grid{Most: 20}, aal21.Practical())
	for _, c := range []struct {
		e          estimate.Estimator
		components int
		means      []float64
	}{{own.Histogram{Bins: 64}, 1, []float64{7}}, {grid, 2, []float64{-5, 7}}} {
		r := request(c.e, c.components)
		reserved := 0.0
		r.Reserve = func(_ kernel.Plan, total privacy.Calibration) error { reserved = total.Mu; return nil }
		result, err := gauze.Fit(context.Background(), table(t, 20000, len(c.means) == 2), r)
		if err != nil || result.Release == nil {
			t.Fatalf("%s: %v, %+v", c.e.Name(), err, result)
		}
		for _, want := range c.means {
			off := math.Inf(1)
			for _, g := range result.Release.Model.Components {
				off = math.Min(off, math.Abs(g.Mean[0]-want))
			}
			if off > .2 {
				t.Errorf("%s: no component within .2 of %v: %+v", c.e.Name(), want, result.Release.Model.Components)
			}
		}
		if cert := result.Certificate; cert.Method != c.e.Name() || !(reserved > 0) || !(cert.Spent.Mu <= reserved*(1+1e-9)) || len(cert.Plan) == 0 {
			t.Errorf("%s: reserved %v, %+v", c.e.Name(), reserved, cert)
		}
		v := gauze.Verify(result.Release)
		if v.Faults != nil || v.Replanned || !strings.Contains(strings.Join(v.Exceptions, "; "), "is not part of Gauze") {
			t.Errorf("%s: %+v", c.e.Name(), v)
		}
		if v := gauze.VerifyOwn(result.Release, c.e); v.Faults != nil || !v.Replanned {
			t.Errorf("%s, with its estimator: %+v", c.e.Name(), v)
		}
		spent := result.Release.Certificate.Plan
		spent[0].Noise /= 2
		if v := gauze.Verify(result.Release); v.Faults == nil {
			t.Errorf("%s: half the noise is believed", c.e.Name())
		}
	}
}

// named is an estimator with another name.
type named struct {
	own.Histogram
	name string
}

func (n named) Name() string { return n.name }

// greedy asks twice what its plan says.
type greedy struct{ own.Histogram }

func (greedy) Name() string { return "own:greedy" }

func (g greedy) Fit(ctx context.Context, s *kernel.Session, p estimate.Problem) (estimate.Outcome, error) {
	if _, err := g.Histogram.Fit(ctx, s, p); err != nil {
		return estimate.Outcome{}, err
	}
	return g.Histogram.Fit(ctx, s, p)
}

// TestRefused: an estimator that would pass for one of Gauze's, or beside a method, is refused
// before anything is measured, and one that asks more than its plan is stopped by the kernel.
func TestRefused(t *testing.T) {
	rows := table(t, 5000, false)
	for name, c := range map[string]func(*gauze.Request){
		"gaussian":          func(r *gauze.Request) { r.Estimator = named{own.Histogram{Bins: 64}, "gaussian"} },
		"own:":              func(r *gauze.Request) { r.Estimator = named{own.Histogram{Bins: 64}, "own:"} },
		"own:a\nb":          func(r *gauze.Request) { r.Estimator = named{own.Histogram{Bins: 64}, "own:a\nb"} },
		"beside a method":   func(r *gauze.Request) { r.Method = "gaussian" },
		"beside a learner":  func(r *gauze.Request) { r.Learner = "em" },
		"printed constants": func(r *gauze.Request) { r.Printed = true },
	} {
		r := request(own.Histogram{Bins: 64}, 1)
		c(&r)
		var field *privacy.FieldError
		if _, err := gauze.Fit(context.Background(), rows, r); !errors.As(err, &field) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var stopped *gauze.RunError
	if _, err := gauze.Fit(context.Background(), rows, request(greedy{own.Histogram{Bins: 64}}, 1)); !errors.As(err, &stopped) {
		t.Errorf("twice its plan: %v", err)
	}
}
