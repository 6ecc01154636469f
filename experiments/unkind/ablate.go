package unkind

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/axisaligned"
	"github.com/gauze-dp/gauze/estimate/blackbox"
	"github.com/gauze-dp/gauze/estimate/catalog"
	"github.com/gauze-dp/gauze/estimate/gaussian"
	"github.com/gauze-dp/gauze/estimate/general"
	"github.com/gauze-dp/gauze/estimate/knowncov"
	"github.com/gauze-dp/gauze/estimate/univariate"
	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/experiments/families"
	"github.com/gauze-dp/gauze/kernel"
)

// A tunable is a method whose constants tests and experiments may set: a struct of them as they
// run, and the method with others.
type tunable struct {
	name, method string // of the experiment, and of the method in variants
	known        bool   // only where the covariance is known, and not only where it is not
	usual        any
	with         func(constants any) estimate.Estimator
}

// tunables are all.
var tunables = []tunable{
	{"gaussian", "gaussian", false, gaussian.Usual(), func(c any) estimate.Estimator { return gaussian.With(c.(gaussian.Tuning)) }},
	{"heavy-tailed", "heavy-tailed", false, gaussian.UsualMoments(), func(c any) estimate.Estimator { return gaussian.NewHeavyTailed().With(c.(gaussian.MomentsTuning)) }},
	{"univariate", "univariate", false, univariate.Usual(), func(c any) estimate.Estimator { return univariate.New().With(c.(univariate.Tuning)) }},
	{"axis-aligned", "axis-aligned", false, axisaligned.Usual(), func(c any) estimate.Estimator {
		return method[axisaligned.Estimator]().With(c.(axisaligned.Tuning))
	}},
	{"general", "auto", false, general.Usual(), func(c any) estimate.Estimator { return method[general.Estimator]().With(c.(general.Tuning)) }},
	{"known-covariance", "axis-aligned", true, knowncov.Usual(), func(c any) estimate.Estimator { return knowncov.New().With(c.(knowncov.Tuning)) }},
	{"black-box", "black-box", false, blackbox.Usual(), func(c any) estimate.Estimator { return blackbox.New().With(c.(blackbox.Tuning)) }},
}

// method returns the catalogue's method of a type.
func method[E estimate.Estimator]() (e E) {
	for _, m := range catalog.Methods().All() {
		if own, is := m.(E); is {
			return own
		}
	}
	return e
}

// factors are what each constant is multiplied by, one at a time.
var factors = []float64{.5, 2}

// asItRuns is the contender whose constants are those that run.
const asItRuns = "as it runs"

// Ablations are studies of what each constant of a method is worth: an experiment for each method,
// on the half of the families on which constants may be chosen.
var Ablations = &engine.Study[cell]{
	Name: "ablate", About: "what each constant of a method is worth: one varied at a time, on families for choosing",
	PassRate: 1, Experiments: ablations(),
	Lead:    lead,
	Columns: perVerdict(),
	Printed: []string{columns, rowsUsed, ratio, meanError, correlationError},
	Prints:  func(r engine.Result) bool { return r.Values[fine] == 0 },
}

func ablations() (out []engine.Experiment[cell]) {
	for _, t := range tunables {
		out = append(out, engine.Experiment[cell]{Name: t.name, Title: "What the constants of " + t.name + " are worth", Runs: 1, Lines: t.lines, Summary: worths,
			About: "Every constant by itself at half and at twice its value, on the same tables as the constants that run, with fresh noise."})
	}
	return out
}

// An own estimator is a method with constants of its own, which the front door takes as a caller's.
type own struct{ estimate.Estimator }

// Name returns a name that the front door takes.
func (o own) Name() string { return "own:" + o.Estimator.Name() }

// Plan returns the method's plan under that name.
func (o own) Plan(p estimate.Problem) (kernel.Plan, error) {
	plan, err := o.Estimator.Plan(p)
	plan.Method = o.Name()
	return plan, err
}

// A setting is constants, all but one of which are those that run.
type setting struct {
	name      string
	constants any
}

// constantsOf returns the fields of a struct of constants, those of structs in it among them and
// not these themselves, with the names of the structs that are no embedded ones.
func constantsOf(of reflect.Type) (out []reflect.StructField) {
	for i := range of.NumField() {
		f := of.Field(i)
		if f.Type.Kind() != reflect.Struct {
			out = append(out, f)
			continue
		}
		for _, inner := range constantsOf(f.Type) {
			if inner.Index = slices.Insert(slices.Clone(inner.Index), 0, i); !f.Anonymous {
				inner.Name = f.Name + "." + inner.Name
			}
			out = append(out, inner)
		}
	}
	return out
}

// settings returns the constants that run, twice, which shows what noise alone does, every number
// among them at half and at twice its value, and every mechanism left out by itself.
func (t tunable) settings() []setting {
	out := []setting{{asItRuns, t.usual}, {asItRuns + ", again", t.usual}}
	of := reflect.TypeOf(t.usual)
	for _, constant := range constantsOf(of) {
		for _, factor := range factors {
			changed := reflect.New(of).Elem()
			changed.Set(reflect.ValueOf(t.usual))
			field := changed.FieldByIndex(constant.Index)
			switch {
			case field.CanFloat():
				field.SetFloat(factor * field.Float())
			case field.CanInt():
				field.SetInt(int64(factor * float64(field.Int())))
			case field.Kind() == reflect.Bool && factor == factors[0]:
				field.SetBool(!field.Bool())
			default:
				continue
			}
			if !field.Equal(reflect.ValueOf(t.usual).FieldByIndex(constant.Index)) {
				format := "%s = %.3g"
				if field.CanInt() {
					format = "%s = %d"
				} else if !field.CanFloat() {
					format = "%s = %v"
				}
				out = append(out, setting{fmt.Sprintf(format, constant.Name, field.Interface()), changed.Interface()})
			}
		}
	}
	return out
}

// lines returns the families for choosing by every setting, in all ways in which the method is
// asked: with a known covariance if that is what it is for, and else without.
func (t tunable) lines(o engine.Options) (out []*line, note string) {
	for _, f := range families.Families() {
		for _, v := range variants {
			if f.Held || v.method != t.method || !v.fits(f) || slices.Contains(v.uses, families.UseKnown) != t.known {
				continue
			}
			for _, s := range t.settings() {
				c := cell{family: f, variant: v, own: own{t.with(s.constants)}}
				l := lineOf(o, c)
				l.Name, l.By, l.Runs, l.Params = f.Name()+" by "+v.name, s.name, 0, fmt.Sprintf("%+v", s.constants)
				l.Make = func(ctx context.Context, n int, seed uint64) (engine.Outcome, error) {
					seed = engine.SeedOf(l.Name, seed) // one table for all settings
					rng := rand.New(rand.NewPCG(seed, 1))
					return c.run(ctx, o, c.rowsOf(o, n, rng), seed, rng)
				}
				out = append(out, l)
			}
		}
	}
	return out, ""
}

// errorOf returns the distance of a mixture, and otherwise the worst error of a run's moments: of a
// mean in standard deviations, of a logarithm of a standard deviation, of a correlation.
func errorOf(v engine.Values) float64 {
	if d, mixture := v[distance]; mixture {
		return d
	}
	return max(v[meanError], math.Abs(math.Log(v[ratio])), v[correlationError])
}

// worths writes the table of what constants are worth: the verdicts, and errors relative to those
// of the constants that run on the same tables.
func worths(p *engine.Page, r *results) {
	p.Text("Errors are the worst of a table's means (in standard deviations), standard deviations (their logarithm) and correlations, of a mixture its distance from the rows' law; beside the constants that run: the geometric mean, table by table, " +
		"of the ratio, with its standard error, over the tables of which both have a model. A constant neither of whose changes moves anything by more than two standard errors is worth nothing here.")
	t := engine.Table{Head: append([]string{"constant", "tables"}, append(slices.Clone(verdicts), "error, as it runs = 1")...)}
	for _, by := range r.Contenders() {
		var runs []engine.Result
		var ratios []float64
		for _, l := range r.By(by) {
			usual := r.Of(l.Name, asItRuns)
			for i, run := range l.First() {
				runs = append(runs, run)
				a, b := errorOf(run.Values), 0.
				if usual != nil && i < len(usual.First()) {
					b = errorOf(usual.First()[i].Values)
				}
				if q := math.Log(a / b); a > 0 && b > 0 && !math.IsInf(q, 0) && !math.IsNaN(q) {
					ratios = append(ratios, q)
				}
			}
		}
		row := []any{by, len(runs)}
		for _, v := range verdicts {
			row = append(row, count(runs, v))
		}
		t.Add(append(row, relative(ratios))...)
	}
	p.Table(t)
}

// relative writes the geometric mean of ratios, given their logarithms, with its standard error.
func relative(logs []float64) string {
	if len(logs) < 2 {
		return "-"
	}
	mean, square := engine.Mean(logs), 0.
	for _, q := range logs {
		square += (q - mean) * (q - mean)
	}
	return fmt.Sprintf("%.3f ± %.3f", math.Exp(mean), math.Exp(mean)*math.Sqrt(square/float64(len(logs)-1)/float64(len(logs))))
}
