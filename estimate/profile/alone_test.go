package profile

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// lone fits a table beside categories whose rows are too few for more: as public facts say, or as a
// method finds that never has a model.
type lone struct {
	estimate.Named
	found bool
}

func (l lone) Plan(p estimate.Problem) (kernel.Plan, error) {
	if l.found {
		p.Categories, p.Profiled = []int{3}, true
		return Beside(p, kernel.Plan{Method: l.Name()}), nil
	}
	return AlonePlan(l.Name()), nil
}

func (l lone) Fit(ctx context.Context, s *kernel.Session, p estimate.Problem) (estimate.Outcome, error) {
	if p.Categories = []int{3}; l.found {
		return Fit(ctx, never{l.Named}, s, p)
	}
	return Alone(s, p)
}

func (lone) Expect(estimate.Problem) estimate.Expectation { return estimate.Expectation{} }

// never is a method without a model.
type never struct{ estimate.Named }

func (never) Plan(estimate.Problem) (kernel.Plan, error) { return kernel.Plan{}, nil }

func (never) Expect(estimate.Problem) estimate.Expectation { return estimate.Expectation{} }

func (never) Fit(context.Context, *kernel.Session, estimate.Problem) (estimate.Outcome, error) {
	return estimate.Outcome{NoRelease: &estimate.NoRelease{Reason: "never", Advice: "another method"}}, nil
}

// TestAlone: with rows that are too few for how columns depend on each other, as public facts say
// or a method finds, a model has each column by itself: all that was planned is spent, means are
// within a third of an sd, and the same answers lead to the same questions on a neighbouring table,
// on a path that loses no more than mu^2. False alarms: the means' noise is below a tenth of an sd,
// so fewer than one run in a thousand.
func TestAlone(t *testing.T) {
	rng := newRand(t)
	for _, found := range []bool{false, true} {
		e := lone{estimate.Describe("general", "KSSU19 Section A.4", ""), found}
		for _, rel := range relations {
			if rel == privacy.AddRemoveOne && !found {
				continue // where the number of rows is public
			}
			var rows [][]float64
			for range 3000 {
				rows = append(rows, []float64{50 + 9*rng.NormFloat64(), math.Exp(3 + rng.NormFloat64()/2), float64(rng.IntN(4)), 7})
			}
			stray := []float64{1e300, math.NaN(), -5, 7}
			other := append([][]float64{stray}, rows[1:]...)
			if rel == privacy.AddRemoveOne {
				other = append(slices.Clone(rows), stray)
			}
			c := estimatetest.Case{Rows: rows, Columns: 4, Relation: rel, Mu: .4, Noise: kerneltest.Options{Seed: rng.Uint64()}}
			f, loss := estimatetest.Neighbours(t, e, c, other)
			if limit := math.Pow(f.Session.Mu(), 2); loss.Path > limit*(1+1e-9) {
				t.Errorf("%v, found %v: a path loses mu^2 = %v of %v: %v", rel, found, loss.Path, limit, loss.ByStep)
			}
			if f.Model == nil || f.Model.Dim() != 4 || len(f.Diagnostics.Flags) == 0 {
				t.Fatalf("%v, found %v: %+v", rel, found, f.Outcome)
			}
			if left := f.Session.SubBudget().Left(); left > 1e-9*math.Pow(f.Session.Mu(), 2) {
				t.Errorf("%v, found %v: %v of mu^2 is left", rel, found, left)
			}
			g := f.Model.Components[0]
			for j, want := range [][2]float64{{50, 9}, {math.Exp(3.125), 12.1}, {1.5, 1.12}, {7, 0}} {
				if sd := math.Sqrt(g.Cov.At(j, j)); math.Abs(g.Mean[j]-want[0]) > .34*want[1] || sd < .6*want[1] || sd > 1.7*want[1] {
					t.Errorf("%v, found %v, column %d: mean %v, sd %v, want %v", rel, found, j, g.Mean[j], sd, want)
				}
			}
			for j := range 3 {
				if c := f.Profile.Columns[j]; len(c.Counted) == 0 {
					t.Errorf("column %d has no counts", j)
				}
			}
		}
	}
}

// TestOnlyOne: a column of which one value alone was seen is taken for that, and says how many
// cells may have others; not one that has a spread, two values or a reason.
func TestOnlyOne(t *testing.T) {
	zero := column{cells: 900, cellsSD: 8, atoms: []atom{{value: 0, rows: 700, sd: 6}}}
	if one := zero; !one.onlyOne() || one.others != 220 {
		t.Errorf("others are %v, want 220", one.others)
	}
	wide, two, held := zero, zero, zero
	wide.sd, two.atoms, held.reason = 1, append(slices.Clone(zero.atoms), atom{value: 1, rows: 100, sd: 6}), hiddenSpread
	for i, c := range []column{wide, two, held} {
		if c.onlyOne() {
			t.Errorf("column %d is of one value", i)
		}
	}
}

// TestAffords: public facts decide, and numbers alone, several components and private rows are not
// described so.
func TestAffords(t *testing.T) {
	p := estimate.Problem{Columns: 7, Mu: .21, Rows: 1000, Relation: privacy.ReplaceOne, Categories: []int{3}}
	few, private, several, numbers := p, p, p, p
	few.Rows, private.Relation, private.Rows, several.Components, numbers.Categories = 500, privacy.AddRemoveOne, 0, 2, nil
	if !Affords("general", p) || Affords("univariate", p) {
		t.Error("1,000 rows of seven columns")
	}
	for i, p := range []estimate.Problem{few, private, several, numbers} {
		if Affords("general", p) {
			t.Errorf("problem %d", i)
		}
	}
}

// spends is a method that has spent all when it ends without a model.
type spends struct{ never }

func (spends) Plan(estimate.Problem) (kernel.Plan, error) {
	return kernel.Plan{Steps: []kernel.Step{{Name: "all", Query: query.Count{}.Kind(), Share: 1, Most: 1}}}, nil
}

func (e spends) Fit(ctx context.Context, s *kernel.Session, p estimate.Problem) (estimate.Outcome, error) {
	a := s.SubBudget()
	if _, err := a.Sum("all", query.Count{}, a.LeftMu()); err != nil {
		return estimate.Outcome{}, err
	}
	return e.never.Fit(ctx, s, p)
}

// TestNothingLeft: where a method has spent all before it ends without a model, the columns are
// described by what was counted before.
func TestNothingLeft(t *testing.T) {
	rng := newRand(t)
	for _, rel := range relations {
		var rows [][]float64
		for range 3000 {
			rows = append(rows, []float64{50 + 9*rng.NormFloat64(), math.Exp(3 + rng.NormFloat64()/2)})
		}
		e := spent{estimate.Describe("general", "KSSU19 Section A.4", "")}
		f := estimatetest.RunChecked(t, e, estimatetest.Case{Rows: rows, Columns: 2, Relation: rel, Mu: .4, Noise: kerneltest.Options{Fresh: true}})
		if f.Model == nil {
			t.Errorf("%v: %+v", rel, f.Outcome)
		}
	}
}

// spent is a fit by spends beside a profile and categories.
type spent struct{ estimate.Named }

func (e spent) problem(p estimate.Problem) estimate.Problem {
	p.Categories = []int{3}
	p.Profiled = Measured(e.Name(), p)
	return p
}

func (e spent) Plan(p estimate.Problem) (kernel.Plan, error) {
	plan, err := spends{}.Plan(p)
	return Beside(e.problem(p), plan), err
}

func (e spent) Fit(ctx context.Context, s *kernel.Session, p estimate.Problem) (estimate.Outcome, error) {
	return Fit(ctx, spends{never(e)}, s, e.problem(p))
}

func (spent) Expect(estimate.Problem) estimate.Expectation { return estimate.Expectation{} }

// beside is a method without a model beside a full profile.
type beside struct{ never }

func (e beside) problem(p estimate.Problem) estimate.Problem {
	p.Profiled = Measured(e.Name(), p)
	return p
}

func (e beside) Plan(p estimate.Problem) (kernel.Plan, error) {
	return Beside(e.problem(p), kernel.Plan{Method: e.Name()}), nil
}

func (e beside) Fit(ctx context.Context, s *kernel.Session, p estimate.Problem) (estimate.Outcome, error) {
	return Fit(ctx, e.never, s, e.problem(p))
}

// TestNoVariance: a column whose variance does not fit a float64 is held out of the model, and the
// method is asked for the others alone. The noise is seeded: of 200 others 13 hid the quantiles of
// such a column, which is then kept for the method to judge.
func TestNoVariance(t *testing.T) {
	rng := newRand(t)
	var rows [][]float64
	for range 20000 {
		rows = append(rows, []float64{rng.NormFloat64(), 1e200 * rng.NormFloat64(), 1e-200 * (1 + rng.NormFloat64())})
	}
	e := beside{never{estimate.Describe("general", "KSSU19 Section A.4", "")}}
	f := estimatetest.RunChecked(t, e, estimatetest.Case{Rows: rows, Columns: 3, Relation: privacy.ReplaceOne, Mu: .24, Noise: kerneltest.Options{Seed: 1}})
	var held []int
	for _, flag := range f.Aside {
		held = append(held, flag.Columns...)
	}
	if !slices.Equal(f.Kept, []int{0}) || !slices.Equal(held, []int{1, 2}) {
		t.Errorf("kept %v, held out %v", f.Kept, held)
	}
}
