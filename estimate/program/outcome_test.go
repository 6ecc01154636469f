package program

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/model/flags"
	"github.com/gauze-dp/gauze/parts/component"
	"github.com/gauze-dp/gauze/parts/privateem"
)

// TestNeeds: about so many rows, in two digits but for small numbers, and columns only where some
// can be left out.
func TestNeeds(t *testing.T) {
	for _, c := range []struct {
		columns int
		rows    float64
		or      []string
		want    string
	}{
		{2, 1234, []string{"fewer components"}, "needs about 1300 rows at this epsilon; or fewer columns, or fewer components"},
		{1, 98700, []string{"fewer components"}, "needs about 99000 rows at this epsilon; or fewer components"},
		{1, 3, nil, "needs about 3 rows at this epsilon"},
		{3, 0, nil, "needs more rows; or fewer columns"},
		{1, math.Inf(1), nil, "needs more rows"},
		{1, math.NaN(), nil, "needs more rows"},
	} {
		if got := Needs(estimate.Problem{Columns: c.columns}, c.rows, "", c.or...); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
	// who has as many rows is not told that they would do
	enough := estimate.Problem{Columns: 1, Rows: 1300}
	if got := Needs(enough, 1234, ""); got != "about 1300 rows do as a rule, and these need more, or a larger epsilon" {
		t.Errorf("%q", got)
	}
	if enough.Rows--; Needs(enough, 1234, "") != "needs about 1300 rows at this epsilon" {
		t.Errorf("%q", Needs(enough, 1234, ""))
	}
	if got := Needs(estimate.Problem{}, 800, OfEqualWeight(3)); got != "needs about 800 rows for 3 components of about equal weight at this epsilon" {
		t.Errorf("%q", got)
	}
}

// TestDraftLeavesNoiseOut: a component of more relative noise than 8 is in no release beside
// another, its weight is the others' and counts as left out, and a large one is told with the share
// that the diagnostics have; alone it stays, and so does a background.
func TestDraftLeavesNoiseOut(t *testing.T) {
	cov, err := model.NewDiagonal([]float64{1})
	for _, c := range []struct {
		weights, noise []float64
		counted        float64
		want           []float64
		share          float64
		reported       int
	}{
		{[]float64{.5, .3, .2}, []float64{.1, 9, 0}, .1, []float64{5. / 7, 2. / 7}, .4, 1},
		{[]float64{.5, .3, .2}, []float64{.1, 9, 0}, 0, []float64{5. / 7, 2. / 7}, .3, 1},
		{[]float64{.795, .005, .2}, []float64{.1, 9, 0}, 0, []float64{.795 / .995, .2 / .995}, .005, 0},
		{[]float64{.5, .3, .2}, []float64{.1, 7.9, 0}, .1, []float64{.5, .3, .2}, .1, 1},
		{[]float64{.8, .2}, []float64{9, 0}, .1, []float64{.8, .2}, .1, 1},
	} {
		d := NewDraft(1, estimate.Diagnostics{})
		if c.counted > 0 {
			d.LeavesOut(estimate.Undescribed{Share: c.counted, Noise: .01, Where: "far; a background stands for them"})
		}
		for i, w := range c.weights {
			d.Add(w, []float64{float64(i)}, cov, err, estimate.ComponentNote{EffectiveNoise: c.noise[i], Background: i == len(c.weights)-1})
		}
		out := d.Outcome()
		if out.Model == nil || len(out.Model.Weights) != len(c.want) || len(out.Diagnostics.Components) != len(c.want) || len(out.Diagnostics.Flags) != c.reported {
			t.Errorf("%v of noise %v: %+v, flags %v", c.weights, c.noise, out.Model, out.Diagnostics.Flags)
			continue
		}
		if u := out.Diagnostics.Undescribed; u == nil || math.Abs(u.Share-c.share) > 1e-12 || c.reported > 0 && out.Diagnostics.Flags[0].Share != u.Share ||
			strings.Contains(u.Where, "background") != (c.share == c.counted) {
			t.Errorf("%v of noise %v: %+v is left out, flags %v", c.weights, c.noise, u, out.Diagnostics.Flags)
		}
		for i, w := range out.Model.Weights {
			if math.Abs(w-c.want[i]) > 1e-12 || out.Diagnostics.Components[i].Background != (i == len(c.want)-1) {
				t.Errorf("%v of noise %v: weights %v, want %v", c.weights, c.noise, out.Model.Weights, c.want)
			}
		}
	}
}

// TestOutsideStands: the background is said to stand for the rows outside where it holds about as
// many, and not where it holds a small part of them.
func TestOutsideStands(t *testing.T) {
	cov, err := model.NewDiagonal([]float64{1})
	for share, stands := range map[float64]bool{.11: true, .5: false} {
		d := NewDraft(1, estimate.Diagnostics{})
		d.Add(.9, []float64{0}, cov, err, estimate.ComponentNote{})
		d.Add(.1, []float64{0}, cov, err, estimate.ComponentNote{Background: true})
		(&Run{Columns: &Columns{Rows: 1000}}).AddOutside(d, share, .01)
		if u := d.Outcome().Diagnostics.Undescribed; u == nil || strings.Contains(u.Where, "background") != stands {
			t.Errorf("%v of the rows are outside: %+v", share, u)
		}
	}
}

// TestDraft: components come out as they went in, and one that is none makes an outcome without a
// model and without what was said of components.
func TestDraft(t *testing.T) {
	notes := estimate.Diagnostics{Flags: []estimate.Flag{flags.New(flags.FewRows, "before")}}
	one, err := model.NewSpherical(2, 4)
	if err != nil {
		t.Fatal(err)
	}
	d := NewDraft(2, notes)
	d.Add(.75, []float64{1, 2}, one, nil, Note(30, 2))
	d.Add(.25, []float64{3, 4}, one, nil, Note(10, .5))
	d.Notes.Flag(flags.New(flags.Method, "%d things", 2))
	out := d.Outcome()
	if out.NoRelease != nil || len(out.Model.Components) != 2 || out.Model.Weights[1] != .25 || out.Model.Components[1].Mean[0] != 3 {
		t.Fatalf("%+v", out)
	}
	reported := out.Diagnostics
	if len(reported.Flags) != 2 || len(reported.Components[0].Flags) != 1 || reported.Components[0].Flags[0].Code != flags.FewRows || reported.Components[1].Flags != nil {
		t.Errorf("%+v", reported)
	}
	for _, spoil := range []func(d *Draft){
		func(d *Draft) { d.Add(.5, []float64{1, 2}, nil, errors.New("no number"), estimate.ComponentNote{}) },
		func(d *Draft) { d.Add(.5, []float64{1, math.NaN()}, one, nil, estimate.ComponentNote{}) },
		func(*Draft) {},
	} {
		d := NewDraft(2, notes)
		d.Add(.5, []float64{0, 0}, one, nil, estimate.ComponentNote{})
		d.Notes.Flag(flags.New(flags.Method, "later"))
		spoil(d)
		if out := d.Outcome(); out.Model != nil || out.NoRelease == nil || len(out.Diagnostics.Flags) != 1 || out.Diagnostics.Components != nil {
			t.Errorf("%+v", out)
		}
	}
	if LeftOut(0, 3) != nil || LeftOut(3, 3) != nil || len(LeftOut(3, 1)) != 1 || !strings.HasPrefix(LeftOut(3, 1)[0].Text, "2 of 3 ") {
		t.Error("components that were left out")
	}
}

// TestShaped: a factor and its product have the same covariance in every shape.
func TestShaped(t *testing.T) {
	f := mat.NewDense(2, 2, []float64{2, 0, 1, 3})
	s := mat.NewSymDense(2, []float64{4, 2, 2, 10})
	for shape, want := range map[estimate.CovarianceType][]float64{estimate.Full: {4, 2, 10}, estimate.Diagonal: {4, 0, 10}, estimate.Spherical: {7, 0, 7}} {
		a, err := Shaped(f, shape)
		b, err2 := ShapedMatrix(s, shape)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		for i, w := range want {
			for _, c := range []model.Covariance{a, b} {
				if got := c.At(i/2, (i+1)/2); math.Abs(got-w) > 1e-12 {
					t.Errorf("%v: entry %d of %v is %v, want %v", shape, i, c, got, w)
				}
			}
		}
	}
}

// TestSchedule: as many rounds as the schedule has, then the last with all that is left; components
// beyond those asked for go when they should; a contest only where their number is not asked for;
// and nothing is measured after an interruption.
func TestSchedule(t *testing.T) {
	seed := stattest.Seed(t)
	rng := rand.New(rand.NewPCG(seed, seed>>32))
	rows := make([][]float64, 600)
	for i := range rows {
		rows[i] = []float64{float64(20*(i%2)) + rng.NormFloat64()}
	}
	for _, asked := range []int{0, 2} {
		p := estimate.Problem{Columns: 1, Rows: len(rows), Relation: privacy.ReplaceOne, Components: asked, MaxComponents: 3}
		s := kerneltest.Open(t, kerneltest.Table(rows, 1, privacy.ReplaceOne), kernel.Plan{Method: "schedule", Steps: RoundSteps("", 1, 3, 1)},
			kernel.Terms{Relation: privacy.ReplaceOne, Budget: privacy.Budget{Epsilon: 1, Delta: 1e-6}}, kerneltest.Options{Exact: true})
		r := Begin(s, p, func(estimate.Problem) string { return "advice" })
		cov := mat.NewSymDense(1, []float64{2})
		e := r.Rounds(component.Flat(1), query.FullForm, []component.Gaussian{
			{Weight: .4, Mean: []float64{0}, Cov: cov, Uncertainty: component.StartUncertainty()}, {Weight: .1, Mean: []float64{.1}, Cov: cov, Uncertainty: component.StartUncertainty()},
			{Weight: .5, Mean: []float64{20}, Cov: cov, Uncertainty: component.StartUncertainty()}})
		e.Misfit = 1
		contests, seen := 0, []int{}
		schedule := Schedule{ExtraUntil: 1, Contest: func(context.Context, *privateem.Rounds) error { contests++; return nil }}
		schedule.Next = func(i int) (float64, bool) {
			seen = append(seen, len(e.Components))
			return r.Mu(.2), i < 3
		}
		if err := r.EM(t.Context(), e, schedule); err != nil {
			t.Fatal(err)
		}
		if len(e.Components) != 2 || len(seen) != 4 || asked > 0 && (seen[1] != 3 || seen[2] != 2) {
			t.Errorf("%d asked: components before each round %v, at last %d", asked, seen, len(e.Components))
		}
		if want := map[int]int{0: 1, 2: 0}[asked]; contests != want {
			t.Errorf("%d asked: %d contests", asked, contests)
		}
		counts := map[string]int{}
		for _, m := range s.Measurements() {
			counts[m.Step] += m.Count
		}
		if counts[StepRounds] != 3 || counts[stepLast] != 1 || r.Left() > 1e-9*r.Mu2 {
			t.Errorf("%d asked: measured %v, left %v", asked, counts, r.Left())
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := r.EM(ctx, e, Schedule{Next: Even(1, .1)}); !errors.Is(err, context.Canceled) {
			t.Errorf("interrupted: %v", err)
		}
	}
}

// TestTold: a limit that binds is told where the number was not asked for, and a misfit where it is
// clear.
func TestTold(t *testing.T) {
	for _, c := range []struct{ asked, most, found, flags int }{{0, 10, 9, 1}, {0, 10, 7, 0}, {9, 10, 9, 0}, {0, 1, 1, 0}} {
		if got := AtLimit(estimate.Problem{Components: c.asked, MaxComponents: c.most}, 1000, c.found); len(got) != c.flags {
			t.Errorf("%+v: flags %q", c, got)
		}
	}
	if n := Unlike(estimate.ComponentNote{}, .3); n.Misfit != .3 || len(n.Flags) != 1 {
		t.Errorf("a misfit of .3 is told as %+v", n)
	}
	if n := Unlike(estimate.ComponentNote{}, .02); n.Misfit != 0 || n.Flags != nil {
		t.Errorf("a misfit of .05 is told as %+v", n)
	}
}
