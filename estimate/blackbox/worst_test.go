package blackbox

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/learner"
	"github.com/gauze-dp/gauze/model/flags"
)

// tables are those beyond estimatetest.Hard.
var tables = []estimatetest.Table{
	of("zeros", func(*rand.Rand, int, int) float64 { return 0 }),
	of("all 1e308", func(*rand.Rand, int, int) float64 { return 1e308 }),
	of("all null", func(*rand.Rand, int, int) float64 { return math.NaN() }),
	of("a constant column", func(rng *rand.Rand, i, j int) float64 {
		return float64(j%2) + float64((j+1)%2)*(12*float64(i%2)+rng.NormFloat64())
	}),
	of("a column of two values", func(rng *rand.Rand, i, j int) float64 { return float64(i%2) + float64((j+1)%2)*rng.NormFloat64() }),
	of("neighbouring numbers", func(_ *rand.Rand, i, _ int) float64 { return math.Float64frombits(math.Float64bits(1) + uint64(i%2)) }),
	of("integers of sd 1", func(rng *rand.Rand, i, _ int) float64 { return math.Round(12*float64(i%2) + rng.NormFloat64()) }),
	of("counting", func(_ *rand.Rand, i, _ int) float64 { return float64(i) }),
	of("Cauchy", func(rng *rand.Rand, _, _ int) float64 { return rng.NormFloat64() / rng.NormFloat64() }),
	of("tiny numbers far away", func(rng *rand.Rand, i, _ int) float64 { return 1e12 + 1e-3*(12*float64(i%2)+rng.NormFloat64()) }),
	of("small", func(rng *rand.Rand, i, _ int) float64 { return 1e-140 * (12*float64(i%2) + rng.NormFloat64()) }),
	of("large", func(rng *rand.Rand, i, _ int) float64 { return 1e140 * (12*float64(i%2) + rng.NormFloat64()) }),
}

func of(name string, cell func(rng *rand.Rand, i, j int) float64) estimatetest.Table {
	return estimatetest.Table{Name: name, Rows: func(rng *rand.Rand, n, d int) [][]float64 {
		rows := make([][]float64, n)
		for i := range rows {
			rows[i] = make([]float64, d)
			for j := range rows[i] {
				rows[i][j] = cell(rng, i, j)
			}
		}
		return rows
	}}
}

// TestEveryTable: whatever the rows, a fit ends in a sound model or in a reason, within its plan
// and its budget.
func TestEveryTable(t *testing.T) {
	rng := newRand(t)
	ends := map[bool]int{}
	try := func(name string, c estimatetest.Case) {
		c.Delta, c.Covariance, c.Noise.Seed = delta, shapes[rng.IntN(3)], rng.Uint64()
		f := estimatetest.RunChecked(t, everyLearner, c)
		if ends[f.Model != nil]++; t.Failed() {
			t.Fatalf("%s: n %d, d %d, k %d, %v, %v, epsilon %v, learner %q", name, len(c.Rows), c.Columns, c.Components, c.Relation, c.Covariance, c.Epsilon, c.Learner)
		}
	}
	for i, table := range append(estimatetest.Hard(), tables...) {
		for j, rel := range relations {
			if i%2 == j || estimatetest.Long() {
				try(table.Name, estimatetest.Case{Rows: table.Rows(rng, 1500, 1), Columns: 1, Relation: rel, Epsilon: 8, Components: 1})
			}
			if i%2 != j || estimatetest.Long() {
				try(table.Name, estimatetest.Case{Rows: table.Rows(rng, 1000, 2), Columns: 2, Relation: rel, Epsilon: 20, Components: 2,
					Learner: everyLearner.Learners()[rng.IntN(3)]})
			}
			for _, n := range []int{0, 1, 70, 600, 3000} {
				if rng.IntN(12) > 0 && !estimatetest.Long() {
					continue
				}
				d := 1 + rng.IntN(3)
				try(table.Name, estimatetest.Case{Rows: table.Rows(rng, n, d), Columns: d, Relation: rel, Epsilon: []float64{.01, 1, 10, 40}[rng.IntN(4)],
					Components: 1 + rng.IntN(4), Learner: everyLearner.Learners()[rng.IntN(3)], Trim: .03 * float64(rng.IntN(2))})
			}
		}
	}
	t.Logf("%d models, %d none", ends[true], ends[false])
	if ends[true] < 10 || ends[false] < 30 {
		t.Errorf("%d models, %d none: the tables do not reach every end", ends[true], ends[false])
	}
}

// TestHardlyAnyRows: of no, one or two rows there is never a model: no block has an estimate, and a
// count that is all noise does not reach the rows that a choice needs.
func TestHardlyAnyRows(t *testing.T) {
	rng := newRand(t)
	for _, rel := range relations {
		for n := range 3 {
			for _, eps := range []float64{.1, 1, 40} {
				f := estimatetest.RunChecked(t, New(), estimatetest.Case{Rows: twoGroups(rng, n, 2), Columns: 2, Relation: rel, Epsilon: eps, Delta: delta,
					Components: 1 + n, Noise: fresh})
				if f.Model != nil {
					t.Errorf("%v, epsilon %v: a model of %d rows", rel, eps, n)
				}
			}
		}
	}
}

// TestExtremeUnits: units, and places, of any size that float64 has room for are recovered as well
// as others; larger ones end in a reason.
func TestExtremeUnits(t *testing.T) {
	rng := newRand(t)
	for i, c := range []struct{ unit, place float64 }{{1e-140, 0}, {1e140, 0}, {1e-3, 1e9}, {1e-140, 1e-131}, {1e155, 0}, {1e-300, 0}} {
		rows := twoGroups(rng, 5000, 2)
		for _, x := range rows {
			x[0], x[1] = c.place+c.unit*x[0], c.unit*x[1]-c.place
		}
		f := estimatetest.RunChecked(t, New(), estimatetest.Case{Rows: rows, Columns: 2, Relation: relations[i%2], Epsilon: 8, Delta: delta, Components: 2,
			Noise: kerneltest.Options{Seed: rng.Uint64()}})
		if f.Model == nil && c.unit <= 1e140 && c.unit >= 1e-140 {
			t.Errorf("unit %v at %v: %+v", c.unit, c.place, f.NoRelease)
		}
		if f.Model == nil {
			continue
		}
		for _, g := range f.Model.Components {
			x, y := (g.Mean[0]-c.place)/c.unit, (g.Mean[1]+c.place)/c.unit
			sd := math.Sqrt(g.Cov.At(0, 0)) / c.unit
			if len(f.Model.Components) != 2 || math.Abs(math.Abs(x)-6) > .2 || math.Abs(y) > .2 || math.Abs(sd-1) > .2 {
				t.Errorf("unit %v at %v: mean %v, %v, sd %v", c.unit, c.place, x, y, sd)
			}
		}
	}
}

// TestMissingRows: rows with a null count in no block; what they have counts once blocks agree,
// and is told of.
func TestMissingRows(t *testing.T) {
	rng := newRand(t)
	for _, rel := range relations {
		rows := twoGroups(rng, 12000, 2)
		for i, x := range rows {
			if i%4 < 2 && i%3 == 0 { // a third of both groups
				x[i%2] = []float64{math.NaN(), math.Inf(1), math.Inf(-1)}[i%3]
			}
		}
		f := estimatetest.RunChecked(t, New(), estimatetest.Case{Rows: rows, Columns: 2, Relation: rel, Epsilon: 4, Delta: delta, Components: 2,
			Noise: kerneltest.Options{Seed: rng.Uint64()}})
		if f.Model == nil || len(f.Model.Components) != 2 {
			t.Errorf("%v: %+v", rel, f.Outcome)
			continue
		}
		total := 0.0
		for i, g := range f.Model.Components {
			total += f.Diagnostics.Components[i].EffectiveRows
			if math.Abs(math.Abs(g.Mean[0])-6) > .2 || math.Abs(g.Mean[1]) > .2 || math.Abs(f.Model.Weights[i]-.5) > .05 {
				t.Errorf("%v: weight %v at %v", rel, f.Model.Weights[i], g.Mean)
			}
		}
		if math.Abs(total-12000) > 300 {
			t.Errorf("%v: components of %v rows of 12000", rel, total)
		}
		var flagged []flags.Code
		for _, flag := range f.Diagnostics.Flags {
			flagged = append(flagged, flag.Code)
		}
		if !slices.Equal(flagged, []flags.Code{flags.MissingCells}) {
			t.Errorf("%v: flags %q", rel, f.Diagnostics.Flags)
		}
	}
}

// rude is a learner that does what no learner should.
type rude struct{ how string }

func (r rude) LearnMixture(rows [][]float64, k int, seed uint64) ([]learner.Component, error) {
	c := learner.Component{Weight: 1 / float64(k), Mean: make([]float64, 2), Root: [][]float64{{1, 0}, {0, 1}}}
	switch r.how {
	case "panics":
		panic("rude")
	case "errs":
		return nil, errors.New("rude")
	case "too few":
		return []learner.Component{c}, nil
	case "singular":
		c.Root[1][1] = 0
	case "not finite":
		c.Mean[1] = math.NaN()
	case "no weight":
		c.Weight = 0
	case "no root":
		c.Root = nil
	case "spoils its rows":
		for _, x := range rows {
			x[0], x[1] = math.NaN(), 1e308
		}
	case "nearly singular":
		c.Root[1] = []float64{1, 1e-9}
	}
	return slices.Repeat([]learner.Component{c}, k), nil
}

// TestRudeLearners: a learner of one's own can do what it likes: the fit ends in a reason, or in a
// sound model.
func TestRudeLearners(t *testing.T) {
	rng := newRand(t)
	rows := twoGroups(rng, 4000, 2)
	for i, how := range []string{"panics", "errs", "too few", "singular", "not finite", "no root", "no weight", "equal components", "nearly singular"} {
		f := estimatetest.RunChecked(t, New(), estimatetest.Case{Rows: rows, Columns: 2, Relation: relations[i%2], Epsilon: 8, Delta: delta, Components: 2,
			Own: rude{how}, Noise: kerneltest.Options{Seed: rng.Uint64()}})
		if f.NoRelease == nil || !strings.Contains(f.NoRelease.Reason, "do not agree") {
			t.Errorf("%s: %+v", how, f)
		}
	}
	// One that does not look at the rows agrees with itself, far from them or not.
	for i, how := range []string{"one component", "spoils its rows"} {
		f := estimatetest.RunChecked(t, New(), estimatetest.Case{Rows: rows, Columns: 2, Relation: relations[i%2], Epsilon: 8, Delta: delta, Components: 1,
			Own: rude{how}, Noise: kerneltest.Options{Seed: rng.Uint64()}})
		if f.Model == nil {
			t.Errorf("%s: %+v", how, f.NoRelease)
		} else if g := f.Model.Components[0]; math.Abs(g.Mean[0]) > .5 || math.Abs(math.Sqrt(g.Cov.At(0, 0))/math.Sqrt(37)-1) > .2 {
			t.Errorf("%s: mean %v, sd %v of rows of mean 0 and sd 6.1", how, g.Mean, math.Sqrt(g.Cov.At(0, 0)))
		}
	}
}

// late is a context that is canceled when it has been looked at so often.
type late struct {
	context.Context
	left int
}

func (l *late) Err() error {
	if l.left--; l.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestInterrupted: an interruption is an error, before anything is spent or between rounds, and
// nothing more is measured.
func TestInterrupted(t *testing.T) {
	rng := newRand(t)
	c := estimatetest.Case{Rows: twoGroups(rng, 4000, 2), Columns: 2, Epsilon: 8, Delta: delta, Components: 2}
	measured := -1
	for looks := range 30 {
		s, p := open(t, c, 1)
		out, err := New().Fit(&late{context.Background(), looks}, s, p)
		n := len(s.Measurements())
		if err == nil {
			if out.Model == nil || looks < 3 || n <= measured {
				t.Errorf("%d looks at the context, %d measurements: %+v", looks, n, out)
			}
			return
		}
		if !errors.Is(err, context.Canceled) || out.Model != nil || looks == 0 && n > 0 || n < measured {
			t.Errorf("interrupted at look %d: %v after %d measurements, %+v", looks, err, n, out)
		}
		measured = n
	}
	t.Error("a fit that is never done")
}

// TestShapes: the model has the shape that was asked for, and truths of that shape are recovered.
func TestShapes(t *testing.T) {
	rng := newRand(t)
	for i, shape := range []estimate.CovarianceType{estimate.Diagonal, estimate.Spherical, estimate.Diagonal, estimate.Spherical} {
		rows := twoGroups(rng, 9000, 3)
		want := []float64{1, 1, 1}
		if shape == estimate.Diagonal {
			want = []float64{1, 100, .01}
		}
		for _, x := range rows {
			for j := range x {
				x[j] *= want[j]
			}
		}
		f := estimatetest.RunChecked(t, New(), estimatetest.Case{Rows: rows, Columns: 3, Relation: relations[i/2], Epsilon: 8, Delta: delta, Components: 2,
			Covariance: shape, Noise: kerneltest.Options{Seed: rng.Uint64()}})
		if f.Model == nil || len(f.Model.Components) != 2 || f.Model.CovarianceType() != shape.String() {
			t.Errorf("%v, %v: %+v", shape, relations[i/2], f.Outcome)
			continue
		}
		for _, g := range f.Model.Components {
			for j, w := range want {
				if sd := math.Sqrt(g.Cov.At(j, j)); math.Abs(sd/w-1) > .1 {
					t.Errorf("%v, %v: sd %v in column %d, want %v", shape, relations[i/2], sd, j, w)
				}
			}
		}
	}
}

// TestRoundedTo: a column's variance is at least that of rounding to its unit, whatever the noise
// says.
func TestRoundedTo(t *testing.T) {
	rng := newRand(t)
	for _, shape := range shapes {
		c := estimatetest.Case{Rows: twoGroups(rng, 5000, 2), Columns: 2, Epsilon: 8, Delta: delta, Components: 2, Covariance: shape, RoundedTo: []float64{0, 6},
			Noise: kerneltest.Options{Seed: rng.Uint64()}}
		if shape == estimate.Spherical {
			c.RoundedTo[0] = 6
		}
		f := estimatetest.RunChecked(t, New(), c)
		if f.Model == nil {
			t.Errorf("%v: %+v", shape, f.NoRelease)
			continue
		}
		for _, g := range f.Model.Components {
			v, w := g.Cov.At(0, 0), g.Cov.At(1, 1)
			if !(w > 3*.999) || shape == estimate.Full && math.Abs(v-1) > .3 {
				t.Errorf("%v: variances %v and %v; that of rounding to 6 is 3", shape, v, w)
			}
		}
		c.RoundedTo = []float64{.01, .01}
		if f = estimatetest.RunChecked(t, New(), c); f.Model == nil || math.Abs(f.Model.Components[0].Cov.At(1, 1)-1) > .3 {
			t.Errorf("%v: a small unit: %+v", shape, f.Outcome)
		}
	}
}

// TestOutsize: a masked mean that float64 has no room for around it ends in a reason, not in a
// model.
func TestOutsize(t *testing.T) {
	rng := newRand(t)
	for _, unit := range []float64{1e200, 1e-200} {
		rows := twoGroups(rng, 4000, 2)
		for _, x := range rows {
			x[0], x[1] = unit*x[0], unit*x[1]
		}
		f := estimatetest.RunChecked(t, New(), estimatetest.Case{Rows: rows, Columns: 2, Epsilon: 8, Delta: delta, Components: 2, Own: estimatetest.Signs{}})
		if f.NoRelease == nil {
			t.Errorf("unit %v: %+v", unit, f.Model)
		}
	}
}
