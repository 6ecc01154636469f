package general

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/model/flags"
	"github.com/gauze-dp/gauze/parts/component"
)

// spheres draws rows of k unit spheres in d columns whose centres have coordinates of sd spread.
func spheres(rng *rand.Rand, k, d, n int, spread float64) (rows, centers [][]float64) {
	normal := func(sd float64, at []float64) (x []float64) {
		for j := range d {
			x = append(x, at[j]+sd*rng.NormFloat64())
		}
		return x
	}
	for range k {
		centers = append(centers, normal(spread, make([]float64, d)))
	}
	for range n {
		rows = append(rows, normal(1, centers[rng.IntN(k)]))
	}
	return rows, centers
}

// TestManyClustersInManyColumns: ten clusters in forty columns, too many for full covariances, are
// found whether their number is open or given, and no fit asks for what its plan lacks. Two fits
// find 17 of the 20 and more, and found none without a projection: 10 is a bound with room.
func TestManyClustersInManyColumns(t *testing.T) {
	rng, found := newRand(t), 0
	for _, c := range []estimatetest.Case{{MaxComponents: 20}, {Components: 10, Relation: relations[1]}} {
		rows, centers := spheres(rng, 10, 40, 22_000, 1.6)
		c.Rows, c.Columns, c.Mu, c.Noise = rows, 40, muOne, kerneltest.Options{Fresh: true}
		out := estimatetest.RunChecked(t, tested, c)
		if out.Model == nil {
			t.Fatalf("no model: %+v, %v", out.NoRelease, out.Refused)
		}
		for _, at := range centers {
			if slices.ContainsFunc(out.Model.Components, func(g model.Gaussian) bool {
				return symmetric.HypotNorm(floats.SubTo(make([]float64, len(at)), g.Mean, at)) < 2
			}) {
				found++
			}
		}
	}
	if t.Logf("%d of 20 found", found); found < 10 {
		t.Errorf("%d of 20 clusters were found", found)
	}
}

// TestOneInManyColumns: one Gaussian in a table that a projection looks at is fitted as such,
// within the plan.
func TestOneInManyColumns(t *testing.T) {
	for _, rel := range relations {
		rows, _ := spheres(newRand(t), 1, 50, 20_000, 0)
		out := estimatetest.RunChecked(t, tested, estimatetest.Case{Rows: rows, Columns: 50, Relation: rel, Mu: muOne, MaxComponents: 10, Noise: kerneltest.Options{Fresh: true}})
		if out.Model == nil || len(out.Model.Components) != 1 {
			t.Errorf("%v: want one component, got %+v", rel, out.Outcome)
		}
	}
}

// TestOneInManyColumnsWithGaps: where rows lack cells one Gaussian in a wide table counts what they
// have, and says so.
func TestOneInManyColumnsWithGaps(t *testing.T) {
	rng := newRand(t)
	rows, _ := spheres(rng, 1, 40, 14_000, 0)
	for _, x := range rows {
		for j := range x {
			if rng.Float64() < .05 {
				x[j] = math.NaN()
			}
		}
	}
	out := estimatetest.RunChecked(t, tested, estimatetest.Case{Rows: rows, Columns: 40, Mu: muOne, MaxComponents: 10, Noise: fresh})
	if out.Model == nil || !slices.ContainsFunc(out.Diagnostics.Flags, func(f estimate.Flag) bool { return f.Code == flags.MissingCells }) {
		t.Errorf("nothing is said of missing cells: %+v", out.Outcome)
	}
}

// TestRoundGroups: where rows can pay for one covariance, and not for one of each of eighteen
// clusters, these are found in a projection, and are as wide as they are: thirteen fits found all,
// within .01 of their standard deviations.
func TestRoundGroups(t *testing.T) {
	rng, d := newRand(t), 24
	rows, centers := spheres(rng, 18, d, 34_000, 1.4)
	out := estimatetest.RunChecked(t, tested, estimatetest.Case{Rows: rows, Columns: d, MaxComponents: 24, Mu: muOne, Noise: fresh})
	if out.Model == nil {
		t.Fatalf("no model: %+v, %v", out.NoRelease, out.Refused)
	}
	found, log := 0, 0.0
	for _, at := range centers {
		for _, g := range out.Model.Components {
			if symmetric.HypotNorm(floats.SubTo(make([]float64, d), g.Mean, at)) > 3 {
				continue
			}
			for i := range d {
				log += math.Log(g.Cov.At(i, i)) / float64(2*d)
			}
			found++
			break
		}
	}
	if wider := math.Exp(log / math.Max(float64(found), 1)); found < 15 || math.Abs(wider-1) > .1 {
		t.Errorf("%d of 18 clusters found, their standard deviations %.3f times as large", found, wider)
	}
}

// TestLongGroups: a fit whose groups turn out to be no spheres ends in another start, within the
// plan. Ten fits of ten did so, and found 4 to 8 of the eight.
func TestLongGroups(t *testing.T) {
	rng, d := newRand(t), 24
	rows, centers := spheres(rng, 8, d, 30_000, 1.6)
	along := make([][]float64, len(centers))
	for j := range along {
		for range d {
			along[j] = append(along[j], rng.NormFloat64())
		}
	}
	for _, x := range rows {
		nearest, least := 0, math.Inf(1)
		for j, at := range centers {
			if r := symmetric.HypotNorm(floats.SubTo(make([]float64, d), x, at)); r < least {
				nearest, least = j, r
			}
		}
		floats.AddScaled(x, rng.NormFloat64(), along[nearest])
	}
	out := estimatetest.RunChecked(t, tested, estimatetest.Case{Rows: rows, Columns: d, MaxComponents: 20, Mu: muOne, Noise: fresh})
	if out.Model == nil {
		t.Fatalf("no model: %+v, %v", out.NoRelease, out.Refused)
	}
	found := 0
	for _, at := range centers {
		if slices.ContainsFunc(out.Model.Components, func(g model.Gaussian) bool {
			return symmetric.HypotNorm(floats.SubTo(make([]float64, d), g.Mean, at)) < 3
		}) {
			found++
		}
	}
	again := slices.ContainsFunc(out.Session.Measurements(), func(m kernel.Measurement) bool { return m.Step == prefixApart+"near pairs" })
	if t.Logf("%d of 8 groups found, another start: %v", found, again); found < 5 {
		t.Errorf("%d of 8 groups were found", found)
	}
}

// TestProjection: the axes are orthonormal and depend on the number of columns alone, and a map of
// the projection's coordinates maps the table's rows to what it says.
func TestProjection(t *testing.T) {
	rng, f := newRand(t), &fit{}
	f.space = component.Flat(23)
	for j := range f.space.Scale {
		f.space.Scale[j], f.space.Center[j] = math.Exp(rng.NormFloat64()), rng.NormFloat64()
	}
	s := f.projection()
	var gram mat.Dense
	gram.Mul(s.Of.Axes.T(), s.Of.Axes)
	if !mat.EqualApprox(&gram, symmetric.Identity(projectedTo), 1e-12) || !mat.Equal(s.Of.Axes, f.projection().Of.Axes) {
		t.Errorf("axes: got the Gram matrix %v", mat.Formatted(&gram))
	}
	for l := range s.Scale {
		s.Scale[l], s.Center[l] = math.Exp(rng.NormFloat64()), rng.NormFloat64()
	}
	mean, w := make([]float64, projectedTo), mat.NewDense(2, projectedTo, nil)
	for l := range mean {
		mean[l] = rng.NormFloat64()
		w.Set(0, l, rng.NormFloat64())
		w.Set(1, l, rng.NormFloat64())
	}
	a := s.Affine(mean, w)
	for range 5 {
		unit, y := make([]float64, 23), make([]float64, projectedTo)
		for j := range unit {
			unit[j] = rng.NormFloat64()
		}
		symmetric.AddMulT(y, s.Of.Axes, unit)
		for l := range y {
			y[l] = (y[l]-s.Center[l])/s.Scale[l] - mean[l]
		}
		for i, row := range a.W {
			got, want := 0.0, 0.0
			for j, v := range row {
				got += v * (f.space.Center[j] + f.space.Scale[j]*unit[j] - a.Center[j])
			}
			for l, v := range y {
				want += w.At(i, l) * v
			}
			if math.Abs(got-want) > 1e-9*(1+math.Abs(want)) {
				t.Errorf("coordinate %d: got %v, want %v", i, got, want)
			}
		}
	}
}

// TestLeastWide: from leastWide columns on some number of rows has a projection looked at, and with
// fewer none would, so that no plan has steps that no fit asks.
func TestLeastWide(t *testing.T) {
	for d := 1; d < 60; d++ {
		p := estimate.Problem{Columns: d, Mu: muOne, Covariance: estimate.Diagonal}
		if rows := wideRows * breadth(p, d) / muOne * 1.0001; (strength(p, d, rows) < leastStrength) != (d >= leastWide) {
			t.Errorf("%d columns: %.0f rows have a strength of %.3g", d, rows, strength(p, d, rows))
		}
	}
}

// TestOneFull: a table of rows that give one Gaussian its full covariance, and would not after a
// look at a projection, is not looked at so; with fewer and with more rows it is.
func TestOneFull(t *testing.T) {
	for _, c := range []struct {
		d, n int
		want bool
	}{{30, 9000, true}, {30, 10000, false}, {50, 18000, false}, {50, 30000, true}, {100, 100000, true}} {
		p := estimate.Problem{Columns: c.d, Rows: c.n, Mu: muOne, Covariance: estimate.Full, MaxComponents: 10}
		if got := wide(p, float64(c.n)); got != c.want {
			t.Errorf("%d rows of %d columns: %v", c.n, c.d, got)
		}
		if p.Components = 5; !wide(p, float64(c.n)) {
			t.Errorf("%d rows of %d columns: not for five components", c.n, c.d)
		}
	}
}

// TestSayOne: a model of one group says so if the number was open, once, and one of several does
// not.
func TestSayOne(t *testing.T) {
	for _, c := range []struct {
		p            estimate.Problem
		groups, want int
	}{
		{estimate.Problem{MaxComponents: 10}, 1, 1}, {estimate.Problem{MaxComponents: 10}, 2, 0},
		{estimate.Problem{MaxComponents: 1}, 1, 0}, {estimate.Problem{Components: 3}, 1, 0},
	} {
		f := &fit{Run: program.Run{Problem: c.p, Columns: &program.Columns{}}}
		for range 2 {
			if f.sayOne(c.groups); len(f.Notes.Flags) != c.want {
				t.Errorf("%+v, %d groups: %v", c.p, c.groups, f.Notes.Flags)
			}
		}
		if f.Notes.Flags = []estimate.Flag{oneGroup(0)}; c.groups > 1 {
			if f.sayOne(c.groups); len(f.Notes.Flags) > 0 {
				t.Errorf("%d groups: %v", c.groups, f.Notes.Flags)
			}
		}
	}
}

// TestLookedAtWide: a fit that ends in one group says that it found one only if it has looked for
// several, and then always, whatever noise says of a number of rows that hardly is one for a
// projection. No fit may break this: there are no false alarms.
func TestLookedAtWide(t *testing.T) {
	rows, _ := spheres(newRand(t), 1, 40, int(oneFullAfter*40/muOne)+1, 0)
	for range stattest.Trials(2, 10) {
		out := estimatetest.RunChecked(t, tested, estimatetest.Case{Rows: rows, Columns: 40, Mu: muOne, MaxComponents: 10, Noise: fresh})
		if groups, _ := out.Model.Split(); len(groups) > 1 {
			continue
		}
		found := slices.ContainsFunc(out.Diagnostics.Flags, func(f estimate.Flag) bool { return strings.HasPrefix(f.Text, "One group found") })
		if looked := slices.ContainsFunc(out.Session.Measurements(), func(m kernel.Measurement) bool { return m.Step == stepGlobal.Name }); found != looked {
			t.Errorf("one group found: %v, looked for: %v", found, looked)
		}
	}
}

// TestExpectWide: a plan says that groups in a wide table have no correlations, where there may be
// several and correlations were asked for.
func TestExpectWide(t *testing.T) {
	for _, c := range []struct {
		p    estimate.Problem
		want bool
	}{
		{estimate.Problem{Columns: 40, Rows: 9000, MaxComponents: 10}, true},
		{estimate.Problem{Columns: 40, Rows: 9000, Components: 5}, true},
		{estimate.Problem{Columns: 40, Rows: 9000, Components: 1}, false},
		{estimate.Problem{Columns: 40, Rows: 9000, MaxComponents: 1}, false},
		{estimate.Problem{Columns: 40, Rows: 90_000, MaxComponents: 10}, false},
		{estimate.Problem{Columns: 40, Rows: 9000, Components: 5, Covariance: estimate.Diagonal}, false},
	} {
		c.p.Mu = muOne
		notes := tested.Expect(c.p).Notes
		if said := slices.ContainsFunc(notes, func(s string) bool { return strings.Contains(s, "no correlations") }); said != c.want {
			t.Errorf("%+v: %q", c.p, notes)
		}
	}
}

// TestManyAskedInManyColumns: where as many components as were asked for are tried because the rows
// can pay for them without correlations, they have none, also if no projection shows them.
func TestManyAskedInManyColumns(t *testing.T) {
	rng := newRand(t)
	gaps, _ := spheres(rng, 12, 40, 3500, 1.6)
	for _, x := range gaps {
		if rng.Float64() < .15 {
			x[rng.IntN(40)] = math.NaN()
		}
	}
	one, _ := spheres(rng, 1, 40, 3500, 0)
	for _, rows := range [][][]float64{gaps, one} {
		out := estimatetest.Run(t, tested, estimatetest.Case{Rows: rows, Columns: 40, Mu: .66, Components: 12, Noise: fresh})
		if out.Model == nil || !slices.ContainsFunc(out.Diagnostics.Flags, func(f estimate.Flag) bool { return f.Code == flags.OtherShape }) {
			t.Errorf("want components without correlations, got %+v", out.Outcome)
		}
	}
}

// TestProjectedRounds: the rounds of a projection end within its budget, also after splits that
// have taken all but splitKeep of it.
func TestProjectedRounds(t *testing.T) {
	left := 1.0
	for i := range projectedRounds {
		if i == openRounds {
			left = splitKeep
		}
		cost := projectedRound(i, 1, left)
		if left -= cost; !(cost > 0) || left < -1e-12 {
			t.Errorf("round %d costs %v, and leaves %v", i, cost, left)
		}
	}
}
