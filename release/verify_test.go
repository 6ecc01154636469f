package release

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/model/flags"
	"github.com/gauze-dp/gauze/release/check"
)

// TestVerifyCatches: every alteration of one field of a consistent release is found, and named.
func TestVerifyCatches(t *testing.T) {
	three := 3
	for _, c := range []struct {
		name  string
		make  func(testing.TB) *Release
		alter func(r *Release)
		want  string
	}{
		{"format", gaussian, func(r *Release) { r.Format = "gauze/release/v2" }, "format"},
		{"no model", gaussian, func(r *Release) { r.Model = nil }, "model: want a mixture"},
		{"weights", gaussian, func(r *Release) { r.Model.Weights[0] = 0.9 }, "weights"},
		{"NaN in a mean", gaussian, func(r *Release) { r.Model.Components[0].Mean[0] = math.NaN() }, "means[0]"},
		{"relation", gaussian, func(r *Release) { r.Certificate.Relation = "none" }, "certificate.relation"},
		{"rows told", gaussian, func(r *Release) { r.Certificate.Rows = &three }, "certificate.rows: want null"},
		{"rows not told", concentrated, func(r *Release) { r.Certificate.Rows = nil }, "certificate.rows: want the number"},
		{"relation swapped", gaussian, func(r *Release) { r.Certificate.Relation = ReplaceOne }, "certificate.rows"},
		{"schema", gaussian, func(r *Release) { r.Certificate.Schema = "" }, "certificate.schema"},
		{"method", gaussian, func(r *Release) { r.Certificate.Method = "" }, "certificate.method"},
		{"no facts", known, func(r *Release) { r.Certificate.Facts = &Facts{} }, "certificate.facts: want at least one"},
		{"mean within a negative radius", known, func(r *Release) { *r.Certificate.Facts.MeanWithin = -1 }, "certificate.facts.mean_within"},
		{"one eigenvalue", known, func(r *Release) { r.Certificate.Facts.EigenvaluesWithin = []float64{1} }, "certificate.facts.eigenvalues_within"},
		{"eigenvalues swapped", known, func(r *Release) { r.Certificate.Facts.EigenvaluesWithin = []float64{2, 1} }, "certificate.facts.eigenvalues_within"},
		{"eigenvalue infinite", known, func(r *Release) { r.Certificate.Facts.EigenvaluesWithin[1] = math.Inf(1) }, "certificate.facts.eigenvalues_within"},
		{"eigenvalue zero", known, func(r *Release) { r.Certificate.Facts.EigenvaluesWithin[0] = 0 }, "certificate.facts.eigenvalues_within"},
		{"odd moments", known, func(r *Release) { r.Certificate.Facts.Moments = 5 }, "certificate.facts.moments"},
		{"known covariance that is not square", known, func(r *Release) { r.Certificate.Facts.KnownCovariance = [][]float64{{1, 2}} }, "certificate.facts.known_covariance"},
		{"known covariance without a variance", known, func(r *Release) { r.Certificate.Facts.KnownCovariance = [][]float64{{0}} }, "certificate.facts.known_covariance"},
		{"bound below one", known, func(r *Release) { r.Certificate.Facts.MomentBound = .5 }, "certificate.facts.moment_bound"},
		{"weights above one", known, func(r *Release) { r.Certificate.Facts.LeastWeight = 1.5 }, "certificate.facts.least_weight"},
		{"constants of nobody", gaussian, func(r *Release) { r.Certificate.Constants = "mine" }, "certificate.constants"},
		{"few moments", known, func(r *Release) { r.Certificate.Facts.Moments = 2 }, "certificate.facts.moments"},
		{"more than all rows left out", gaussian, func(r *Release) { r.Diagnostics.Undescribed = &Undescribed{Share: 1.1} }, "diagnostics.undescribed.share"},
		{"noise of a column's rows", gaussian, func(r *Release) {
			r.Diagnostics.Undescribed = &Undescribed{Columns: []UndescribedColumn{{Noise: math.NaN()}}}
		}, "diagnostics.undescribed.columns[0].noise"},
		{"bounds swapped", gaussian, func(r *Release) {
			r.Diagnostics.Undescribed = &Undescribed{Columns: []UndescribedColumn{{Beyond: []float64{2, 1}}}}
		}, "diagnostics.undescribed.columns[0].beyond"},
		{"a number that is not the model's", gaussian, func(r *Release) { r.Diagnostics.Number = &Number{Found: 3, Confidence: .9, Or: 1} }, "diagnostics.number.found"},
		{"more than sure", gaussian, func(r *Release) { r.Diagnostics.Number = &Number{Found: 2, Confidence: 1.1, Or: 3} }, "diagnostics.number.confidence"},
		{"a confidence that is no number", gaussian, func(r *Release) { r.Diagnostics.Number = &Number{Found: 2, Confidence: math.NaN(), Or: 3} }, "diagnostics.number.confidence"},
		{"no other number", gaussian, func(r *Release) { r.Diagnostics.Number = &Number{Found: 2, Confidence: .9, Or: 2} }, "diagnostics.number.or"},
		{"misfit", gaussian, func(r *Release) { r.Diagnostics.Components = []ComponentNote{{Misfit: -1}} }, "diagnostics.components[0].misfit"},
		{"a flag of no code", gaussian, func(r *Release) { r.Diagnostics.Flags = []Flag{{Code: "odd", Text: "odd"}} }, "diagnostics.flags[0].code: want one of [left-out "},
		{"a flag without a text", gaussian, func(r *Release) { r.Diagnostics.Flags = []Flag{{Code: flags.FewRows}} }, "diagnostics.flags[0].text"},
		{"a flag of more than all rows", gaussian, func(r *Release) {
			r.Diagnostics.Components = []ComponentNote{{Flags: []Flag{{Code: flags.LeftOut, Share: 1.5, Text: "out"}}}}
		}, "diagnostics.components[0].flags[0].share"},
		{"a flag of no column", gaussian, func(r *Release) {
			r.Diagnostics.Flags = []Flag{{Code: flags.FewRows, Columns: []string{"nobody"}, Text: "few"}}
		}, "diagnostics.flags[0].columns"},
		{"a code for missing that is none", gaussian, func(r *Release) {
			r.Columns = []Column{{Name: r.Model.Columns[0], Missing: []any{999., "n/a", true}}, {Name: r.Model.Columns[1]}}
		}, "columns[0].missing[2]: want a finite number or text"},
		{"a kind of column that is none", gaussian, func(r *Release) {
			r.Columns = []Column{{Name: r.Model.Columns[0], Kind: "odd"}, {Name: r.Model.Columns[1]}}
		}, "columns[0].kind"},
		{"an infinite code", gaussian, func(r *Release) {
			r.Columns = []Column{{Name: r.Model.Columns[0], Missing: []any{math.Inf(1)}}, {Name: r.Model.Columns[1]}}
		}, "columns[0].missing[0]"},
		{"no plan", gaussian, func(r *Release) { r.Certificate.Plan = nil }, "certificate.plan"},
		{"nothing asked", gaussian, func(r *Release) { r.Certificate.Epsilon = 0 }, "certificate.epsilon"},
		{"epsilon lowered", gaussian, func(r *Release) { r.Certificate.Epsilon = 0.999999 }, "spent.epsilon: want at most"},
		{"epsilon lowered in both places", gaussian, func(r *Release) { r.Certificate.Epsilon, r.Certificate.Spent.Epsilon = 0.99, 0.99 }, "spent.delta: want at least"},
		{"delta lowered", gaussian, func(r *Release) { r.Certificate.Delta = 9.99e-7 }, "spent.delta: want at most"},
		{"delta lowered in both places", gaussian, func(r *Release) { r.Certificate.Delta, r.Certificate.Spent.Delta = 9e-7, 9e-7 }, "spent.delta: want at least"},
		{"delta negative", gaussian, func(r *Release) { r.Certificate.Spent.Delta = -1 }, "spent.delta: want a number in [0, 1]"},
		{"spent NaN", gaussian, func(r *Release) { r.Certificate.Spent.Epsilon = math.NaN() }, "spent.epsilon"},
		{"spent mu, last digits", gaussian, func(r *Release) { r.Certificate.Spent.Mu *= 1 - 1e-8 }, "spent.mu: want √"},
		{"spent rho", gaussian, func(r *Release) { r.Certificate.Spent.Rho /= 2 }, "spent.rho: want at least"},
		{"a measurement taken out", gaussian, func(r *Release) { r.Certificate.Plan = r.Certificate.Plan[1:] }, "spent.mu"},
		{"count raised", gaussian, func(r *Release) { r.Certificate.Plan[2].Count++ }, "spent.mu"},
		{"count zero", gaussian, func(r *Release) { r.Certificate.Plan[2].Count = 0 }, "count: want at least 1"},
		{"noise lowered", gaussian, func(r *Release) { r.Certificate.Plan[0].Noise /= 2 }, `step "count", mu: want that of Gaussian noise`},
		{"sensitivity lowered", gaussian, func(r *Release) { r.Certificate.Plan[0].Sensitivity /= 2 }, `step "count", mu`},
		{"no noise", gaussian, func(r *Release) { r.Certificate.Plan[0].Noise = 0 }, `step "count", mu`},
		{"laplace noise lowered", pure, func(r *Release) { r.Certificate.Plan[0].Noise /= 2 }, `mu: want that of laplace noise`},
		{"exponential noise lowered", pure, func(r *Release) { r.Certificate.Plan[1].Noise *= 1 - 1e-8 }, `mu: want that of exponential noise`},
		{"noise of the threshold lowered", pure, func(r *Release) { r.Certificate.Plan[2].Noise = 0 }, `mu: want that of above threshold noise`},
		{"law swapped", pure, func(r *Release) { r.Certificate.Plan[2].Law = "laplace" }, "mu: want that of laplace noise"},
		{"law of no selection", pure, func(r *Release) { r.Certificate.Plan[1].Query = "count" }, `one that noise of "count" can have`},
		{"selection without a law", pure, func(r *Release) {
			r.Certificate.Plan[0].Query, r.Certificate.Plan[0].Law = "of blocks: select: good radius", ""
		}, `one that noise of "of blocks: select: good radius" can have`},
		{"law with a threshold", pure, func(r *Release) { r.Certificate.Plan[0].Delta = 1e-9 }, "delta: want one above 0 where"},
		{"cut law without a delta", pure, func(r *Release) { r.Certificate.Plan[0].Law = "truncated laplace" }, `one that noise of "select: good radius" can have`},
		{"cut choice without a delta", pure, func(r *Release) { r.Certificate.Plan[0].Law = "local exponential" }, "delta: want one above 0 where"},
		{"cut choice that is no selection", cut, func(r *Release) { r.Certificate.Plan[1].Query = "stability histogram" }, `one that noise of "stability histogram" can have`},
		{"cut noise lowered", cut, func(r *Release) { r.Certificate.Plan[0].Noise /= 2 }, `mu: want that of truncated laplace noise`},
		{"law without a scale", pure, func(r *Release) { r.Certificate.Plan[0].Sensitivity, r.Certificate.Plan[0].Noise = 0, 0 }, "sensitivity/noise = NaN"},
		{"law left out", pure, func(r *Release) { r.Certificate.Plan[0].Law = "" }, "one that noise of"},
		{"law unknown", pure, func(r *Release) { r.Certificate.Plan[0].Law = "cauchy" }, `one that noise of`},
		{"pure, with Gaussian noise", noDelta, func(r *Release) {
			s := &r.Certificate.Plan[0]
			s.Law, s.Query, s.Noise = "", "count", s.Sensitivity/s.Mu
		}, "spent.epsilon: want at least +Inf"},
		{"pure, with a mu of its own", noDelta, func(r *Release) {
			s := &r.Certificate.Plan[0]
			s.Law, s.Query, s.Sensitivity, s.Noise = "", "count", 0, 0
		}, `mu: want that of Gaussian noise`},
		{"delta taken away from a mask", masked, func(r *Release) {
			r.Certificate.Delta, r.Certificate.Spent.Delta = 0, 0
		}, "spent.epsilon: want at least +Inf"},
		{"pure, with cut noise", noDelta, func(r *Release) {
			s := &r.Certificate.Plan[0]
			s.Law, s.Query, s.Delta = "truncated laplace", "stability histogram", 1e-9
		}, "spent.epsilon: want at least +Inf"},
		{"pure, with a delta spent", noDelta, func(r *Release) { r.Certificate.Spent.Delta = 1e-9 }, "spent.delta: want at most the 0"},
		{"pure, epsilon lowered", noDelta, func(r *Release) { r.Certificate.Spent.Epsilon = 1.99 }, "spent.epsilon: want at least"},
		{"pure, epsilon asked lowered", noDelta, func(r *Release) { r.Certificate.Epsilon, r.Certificate.Spent.Epsilon = 1.99, 1.99 }, "spent.epsilon: want at least"},
		{"pure, one more", noDelta, func(r *Release) { r.Certificate.Plan[0].Count++ }, "spent.epsilon: want at least"},
		{"pure, mu left out", noDelta, func(r *Release) { r.Certificate.Spent.Mu = 0 }, "spent.mu"},
		{"delta taken away", gaussian, func(r *Release) { r.Certificate.Delta, r.Certificate.Spent.Delta = 0, 0 }, "spent.epsilon: want at least +Inf"},
		{"mu lowered with its noise", gaussian, func(r *Release) { r.Certificate.Plan[0].Mu /= 2; r.Certificate.Plan[0].Noise *= 2 }, "spent.mu"},
		{"mu huge everywhere", gaussian, func(r *Release) {
			r.Certificate.Plan[0] = PlanStep{Step: "a", Query: "count", Count: 1, Sensitivity: 1e200, Noise: 1, Mu: 1e200}
			r.Certificate.Spent.Mu = 1e200
		}, "spent.mu"},
		{"threshold counted twice", gaussian, func(r *Release) {
			cells := &r.Certificate.Plan[1]
			cells.Count, cells.Mu, cells.Noise = 2, cells.Mu/math.Sqrt2, cells.Noise*math.Sqrt2
		}, "spent.delta: want at least"},
		{"rho lowered, last digits", concentrated, func(r *Release) { r.Certificate.Spent.Rho *= 1 - 1e-8 }, "spent.rho: want at least"},
		{"threshold's delta raised", gaussian, func(r *Release) { r.Certificate.Plan[1].Delta *= 3 }, "spent.delta: want at least"},
		{"step without a name", gaussian, func(r *Release) { r.Certificate.Plan[0].Step = "" }, "a name for every step"},
		{"step without a query", gaussian, func(r *Release) { r.Certificate.Plan[0].Query = "" }, "query"},
		{"rho lowered", concentrated, func(r *Release) { r.Certificate.Rho = 0.0999 }, "spent.rho: want at most"},
		{"rho lowered in both places", concentrated, func(r *Release) { r.Certificate.Rho, r.Certificate.Spent.Rho = 0.09, 0.09 }, "spent.rho: want at least"},
		{"rho with a curve", published, func(r *Release) { r.Certificate.Rho, r.Certificate.Epsilon, r.Certificate.Delta = 1, 0, 0 }, "certificate.rho"},
		{"rho with a threshold", concentrated, func(r *Release) { r.Certificate.Plan[0].Query, r.Certificate.Plan[0].Delta = "gaps", 1e-9 }, "spent.delta"},
		{"rho with a threshold that is told", concentrated, func(r *Release) {
			r.Certificate.Plan[0].Query, r.Certificate.Plan[0].Delta = "gaps", .3
			r.Certificate.Spent.Delta, r.Certificate.Spent.Epsilon = .95, 50
		}, "certificate.rho: want measurements without a delta"},
		{"rho beside epsilon", gaussian, func(r *Release) { r.Certificate.Rho = 10 }, "certificate.epsilon: want a budget that can be asked"},
		{"rho beside delta", concentrated, func(r *Release) { r.Certificate.Delta = .5 }, "certificate.epsilon: want a budget that can be asked"},
		{"delta of one", gaussian, func(r *Release) {
			r.Certificate.Delta, r.Certificate.Spent.Delta, r.Certificate.Epsilon, r.Certificate.Spent.Epsilon = 1, 1, 1e-3, 1e-3
		}, "certificate.epsilon: want a budget that can be asked"},
		{"epsilon beyond all that is counted", gaussian, func(r *Release) { r.Certificate.Epsilon, r.Certificate.Spent.Epsilon = 1e300, 1e300 }, "certificate.epsilon"},
		{"unit beyond float64", shaped, func(r *Release) {
			s := &r.Certificate.Plan[0]
			s.Query, s.Shape = "clipped moments", &check.Shape{Of: 1, Unit: 1e308}
			s.Sensitivity, s.Noise = s.Sensitivity/1e6, s.Noise/1e6
		}, "sensitivity: want that of its query and shape, +Inf"},
		{"shapes left out", shaped, func(r *Release) {
			r.Identity = &Identity{Program: "gauze"}
			r.Certificate.Plan[0].Shape, r.Certificate.Plan[1].Shape = nil, nil
		}, "certificate.plan: want the shapes of its queries"},
		{"a group without groups", shaped, func(r *Release) { r.Certificate.Plan[0].Group = 7 }, "group: want none"},
		{"columns of groups without groups", shaped, func(r *Release) { r.Certificate.By = []string{"sex"} }, "certificate.by"},
		{"curve in the place of sums", published, func(r *Release) {
			s := &r.Certificate.Plan[len(r.Certificate.Plan)-1]
			s.Pure, s.Sensitivity, s.Noise, s.Mu, s.Shape = 1e-9, 0, 0, 0, nil
			r.Certificate.Spent.Mu = r.Certificate.Plan[0].Mu
			if err := r.Certificate.Complete(); err != nil {
				panic(err)
			}
		}, `renyi: want no curve for "clipped moments"`},
		{"curve beside a law", published, func(r *Release) { r.Certificate.Plan[1].Law = "laplace" }, "renyi: want either it, or law"},
		{"curve of nothing", published, func(r *Release) { r.Certificate.Plan[1].Pure = 0 }, "the mask or the pure loss that it follows from"},
		{"curve raised", published, func(r *Release) {
			for order := range r.Certificate.Plan[1].Renyi {
				r.Certificate.Plan[1].Renyi[order] *= 3
			}
		}, "that of its mask or pure loss"},
		{"curve empty", published, func(r *Release) { r.Certificate.Plan[1].Renyi = map[string]float64{} }, "at least one order"},
		{"order 1", published, func(r *Release) { r.Certificate.Plan[1].Renyi["1"] = 0 }, "an order at which its curve is known"},
		{"order in words", published, func(r *Release) { r.Certificate.Plan[1].Renyi["two"] = 0 }, "an order at which its curve is known"},
		{"curve negative", published, func(r *Release) { r.Certificate.Plan[1].Renyi["2"] = -1 }, "that of its mask or pure loss"},
		{"curve and mu", published, func(r *Release) { r.Certificate.Plan[1].Mu = 0.1 }, "either it, or"},
		{"query that is none", gaussian, func(r *Release) { r.Certificate.Plan[0].Query = "banana" }, `a kind of measurement that Gauze makes, got "banana"`},
		{"step without noise", gaussian, func(r *Release) {
			r.Certificate.Plan[0].Sensitivity, r.Certificate.Plan[0].Noise, r.Certificate.Plan[0].Mu = 0, 0, 1e-6
		}, "sensitivity/noise = NaN"},
		{"threshold without a delta", gaussian, func(r *Release) { r.Certificate.Plan[1].Delta = 0 }, "delta: want one above 0"},
		{"relation flipped, with its rows", shaped, func(r *Release) { r.Certificate.Relation, r.Certificate.Rows = ReplaceOne, &three }, "that of its query and shape"},
		{"sensitivity and noise halved", shaped, func(r *Release) {
			r.Certificate.Plan[0].Sensitivity /= 2
			r.Certificate.Plan[0].Noise /= 2
		}, "sensitivity: want that of its query and shape"},
		{"more edges", shaped, func(r *Release) { r.Certificate.Plan[0].Shape.Of = 3 }, `"of" from 1 to 2`},
		{"fewer edges", shaped, func(r *Release) { r.Certificate.Plan[0].Shape.Of = 1 }, "sensitivity: want that of"},
		{"a shape left out", shaped, func(r *Release) { r.Certificate.Plan[1].Shape = nil }, "a shape in every line, or in none"},
		{"notes for other components", gaussian, func(r *Release) { r.Diagnostics.Components = make([]ComponentNote, 3) }, "diagnostics.components"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := c.make(t)
			c.alter(r)
			faults := Verify(r)
			if text := errors.Join(faults...); text == nil || !strings.Contains(text.Error(), c.want) {
				t.Errorf("got %v, want %q in it", text, c.want)
			}
		})
	}
}

// TestVerifyOfZero: nothing panics on a release with nothing in it.
func TestVerifyOfZero(t *testing.T) {
	if faults := Verify(&Release{}); len(faults) < 6 {
		t.Errorf("got %v", faults)
	}
	for _, c := range []Certificate{{}, {Rho: -1}, {Epsilon: -1}, {Epsilon: 1e300, Delta: 1}, {Epsilon: 1e300, Delta: 1e-6}, {Rho: 1e300}, {Epsilon: 1e-300, Delta: 1e-320}, {Epsilon: math.NaN()},
		{Epsilon: math.Inf(1), Delta: math.NaN(), Rho: math.Inf(1)}} {
		if said(c) == "" {
			t.Error("no words")
		}
		Verify(&Release{Certificate: c})
	}
}

// TestMeasuredInAllColumns: a model that lacks a column, which the profile held out after a method
// had measured in all, stands on these measurements.
func TestMeasuredInAllColumns(t *testing.T) {
	r := shaped(t)
	s := &r.Certificate.Plan[0]
	s.Shape.Of, s.Sensitivity, s.Noise = 3, math.Sqrt(3), s.Noise*math.Sqrt(1.5)
	if err := errors.Join(Verify(r)...); err == nil || !strings.Contains(err.Error(), `"of" from 1 to 2`) {
		t.Errorf("more columns than there are: %v", err)
	}
	r.Columns = []Column{{Name: r.Model.Columns[0]}, {Name: r.Model.Columns[1]}, {Name: "third"}}
	for _, c := range r.Columns {
		r.Profile = append(r.Profile, ColumnProfile{Name: c.Name, Cells: 1, HeldOut: "too few rows"})
	}
	if err := errors.Join(Verify(r)...); err != nil {
		t.Error(err)
	}
}
