package kernel_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/pure"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/kernel/query/papers"
)

// The tests of this file make fewer than 20 statistical decisions at stattest.FalseAlarm = 1e-9
// each.

var localPlan = kernel.Plan{Method: "local", Steps: []kernel.Step{
	{Name: "local", Query: "select: cell deficits", Share: 1, Most: 1 << 20, Slack: 1},
	{Name: "no slack", Query: "select: cell deficits", Share: 1, Most: 1},
}}

// localSession has a slack of about 4e-4 for every measurement, at (2, .9).
func localSession(t *testing.T, relation privacy.Relation, values []float64, most int, o kerneltest.Options) *kernel.Session {
	t.Helper()
	plan := localPlan
	plan.Steps = append([]kernel.Step(nil), plan.Steps...)
	plan.Steps[0].Most = most
	return kerneltest.Open(t, kerneltest.Table(columnOf(values), 1, relation), plan,
		kernel.Terms{Relation: relation, Budget: privacy.Budget{Epsilon: 2, Delta: .9}}, o)
}

// sides scores how many rows are missing on both sides of a point: want on each.
func sides(want int, points ...float64) papers.CellDeficits {
	q := papers.CellDeficits{Targets: []int{want, want}}
	for _, m := range points {
		q.Maps = append(q.Maps, query.Affine{Center: []float64{m}, W: [][]float64{{1}}})
	}
	return q
}

// passes is P(Z > most - g) for the noise of the test, by sums; most is the least with P(Z = most)
// <= slack.
func passes(e1, slack float64, g int64) float64 {
	for most := int64(1); ; most++ {
		sum, pass := 0.0, 0.0
		for z := -most; z <= most; z++ {
			w := math.Exp(-e1 * math.Abs(float64(z)))
			if sum += w; g+z > most {
				pass += w
			}
		}
		if math.Exp(-e1*float64(most))/sum <= slack {
			return pass / sum
		}
	}
}

// TestSelectLocalLaw: what sessions release has the law of the doc comment, computed by formula; at
// other parameters it has not.
func TestSelectLocalLaw(t *testing.T) {
	runs := runsOf(600)
	var values []float64
	for i := range 60 {
		values = append(values, float64(i)-29.5) // 30 on either side of 0
	}
	values = append(values, math.NaN())
	q := sides(30, 0, 1, -2, 3, 1e3)
	// all rows overflow: S = 60
	q.Maps = append(q.Maps, query.Affine{Center: []float64{.25}, W: [][]float64{{1e200}}})
	s := []float64{0, 1, 2, 3, 30, 60}
	const epsilon = 2.2
	l := pure.Local{Eta: 58, Unlisted: 80, Test: .5}
	counts := make([]int, len(s)+1)
	var m kernel.Measurement
	for run := range runs {
		session := localSession(t, privacy.ReplaceOne, values, 1, kerneltest.Options{Seed: stattest.Seed(t) + uint64(run)})
		option, ok, err := pure.SelectLocal(session.SubBudget(), "local", papers.Selection{Scores: []papers.Score{q}}, l, epsilon)
		if err != nil || ok != (option >= 0) {
			t.Fatal(option, ok, err)
		}
		if !ok {
			option = len(s)
		}
		counts[option]++
		m = session.Measurements()[0]
	}
	law := func(epsilon, test float64) (p []float64) {
		d := math.Exp(privacy.LogSlackOf(2, m.Delta)) / 2
		left := epsilon - privacyThreshold(t)
		e1, e0 := test*left, (1-test)*left/2
		g := int64(-1)
		volume := func(t int) (n float64) {
			for _, v := range s {
				if v <= float64(t) {
					n++
				}
			}
			return n
		}
		for t := 0; t <= l.Eta/2; t++ {
			if low := volume(l.Eta/2 - t); low > 0 && int64(l.Eta+1+t) < l.Unlisted && volume(l.Eta+1+t) <= d*math.Exp(e0*float64(l.Eta/2-2*t-1))*low {
				g = int64(t)
			}
		}
		pass, sum := passes(e1, d, g), 0.0
		for _, v := range s {
			w := 0.0
			if v <= float64(l.Eta) {
				w = math.Exp(-e0 * v)
			}
			p, sum = append(p, w), sum+w
		}
		for i := range p {
			p[i] *= pass / sum
		}
		return append(p, 1-pass)
	}
	t.Logf("%d, law %.4f", counts, law(epsilon, .5))
	merged := func(p []float64) []float64 { return []float64{p[0], p[1], p[2], p[3], p[4] + p[5] + p[6]} }
	if counts[5] != 0 {
		t.Error("an option beyond Eta was chosen")
	}
	counts = []int{counts[0], counts[1], counts[2], counts[3], counts[4] + counts[5] + counts[6]}
	stattest.GoodFit(t, counts, merged(law(epsilon, .5)), stattest.FalseAlarm)
	stattest.BadFit(t, counts, merged(law(2*epsilon, .5)), stattest.FalseAlarm)
	if m.Law != pure.LawLocal || m.Mu != privacy.MuOfPure(epsilon) || m.Sensitivity != 1 || math.Abs(m.Noise*epsilon-1) > 1e-12 || !(m.Delta > 0) || m.Count != 1 {
		t.Errorf("certificate %+v", m)
	}
}

// privacyThreshold is the threshold delta of localSession.
func privacyThreshold(t *testing.T) float64 {
	c, err := kernel.Calibrate(localPlan, privacy.ReplaceOne, privacy.Budget{Epsilon: 2, Delta: .9})
	if err != nil {
		t.Fatal(err)
	}
	return c.ThresholdDelta
}

// TestSelectLocalAudit: a test of locality on the edge, on two neighbours: counts certify at most
// what is claimed, and more if the noise is a third of it.
func TestSelectLocalAudit(t *testing.T) {
	const epsilon = 1.2
	runs := runsOf(700)
	l := pure.Local{Eta: 1000, Test: .95}
	q := papers.Selection{Scores: []papers.Score{sides(248, 0)}}
	for _, factor := range []float64{1, 1. / 3} {
		passed := [2]int{}
		for side, relation := range []privacy.Relation{privacy.AddRemoveOne, privacy.AddRemoveOne} {
			values := []float64{-1, 1}[:2-side] // S = 494 or 495: g is 6 or 5 by V_(Eta/2-g) > 0
			for run := range runs {
				s := localSession(t, relation, values, 1, kerneltest.Options{Seed: stattest.Seed(t) + uint64(2*run+side), NoiseFactor: factor})
				if _, ok, err := pure.SelectLocal(s.SubBudget(), "local", q, l, epsilon); err != nil {
					t.Fatal(err)
				} else if ok {
					passed[side]++
				}
			}
		}
		lowIn, highIn := stattest.ProportionBounds(t, passed[0], runs, 2*stattest.FalseAlarm)
		lowOut, highOut := stattest.ProportionBounds(t, passed[1], runs, 2*stattest.FalseAlarm)
		certified := math.Max(math.Log(lowIn/highOut), math.Log((1-highOut)/(1-lowIn)))
		t.Logf("noise x %v: %d and %d of %d pass (bounds %.3f-%.3f, %.3f-%.3f): epsilon >= %.3f", factor, passed[0], passed[1], runs, lowIn, highIn, lowOut, highOut, certified)
		if certified > epsilon != (factor < 1) || certified < .3*epsilon {
			t.Errorf("noise x %v: certified epsilon %v, claimed %v", factor, certified, epsilon)
		}
	}
}

// TestSelectLocalRefuses: what cannot be asked, before anything is spent; a failure is no error,
// and is recorded and charged.
func TestSelectLocalRefuses(t *testing.T) {
	one := papers.Selection{Scores: []papers.Score{sides(3, 0, 1)}}
	two := papers.Selection{Partition: query.Partition{Regions: []query.Region{around(0, 1), around(5, 1)}}, Scores: []papers.Score{sides(3, 0), sides(3, 0)}}
	good := pure.Local{Eta: 4, Test: .5}
	s := localSession(t, privacy.AddRemoveOne, []float64{0, 1}, 2, kerneltest.Options{})
	for _, c := range []struct {
		want    string
		step    string
		q       papers.Selection
		l       pure.Local
		epsilon float64
	}{
		{"one leaf", "local", two, good, 1},
		{"sensitivity 1, got 1 leaves and 5", "local", papers.Selection{Scores: []papers.Score{papers.BallCounts{Map: line(), Radii: []float64{1}, T: 3}}}, good, 1},
		{"an even Eta", "local", one, pure.Local{Eta: 3, Test: .5}, 1},
		{"an even Eta", "local", one, pure.Local{Eta: 0, Test: .5}, 1},
		{"Test in (0, 1)", "local", one, pure.Local{Eta: 4, Test: 1}, 1},
		{"Test in (0, 1)", "local", one, pure.Local{Eta: 4, Test: math.NaN()}, 1},
		{"Unlisted of at least 0", "local", one, pure.Local{Eta: 4, Unlisted: -1, Test: .5}, 1},
		{"leaves the test and the choice", "local", one, good, privacyThreshold(t)},
		{"want an epsilon", "local", one, good, math.NaN()},
		{"gives it no slack", "no slack", one, good, .1},
		{"not in the plan", "else", one, good, .1},
		{"the budget is exhausted", "local", one, good, 0},
		{"would exceed its plan", "local", one, good, 100},
	} {
		if option, ok, err := pure.SelectLocal(s.SubBudget(), c.step, c.q, c.l, c.epsilon); err == nil || !strings.Contains(err.Error(), c.want) || ok || option != -1 {
			t.Errorf("want an error with %q, got %v (%d, %v)", c.want, err, option, ok)
		}
	}
	if s.Loss().Mu != 0 || len(s.Measurements()) != 0 {
		t.Error("refusals cost something")
	}
	option, ok, err := pure.SelectLocal(s.SubBudget(), "local", one, good, .1)
	if err != nil || ok || option != -1 || s.Loss().Mu == 0 || len(s.Measurements()) != 1 {
		t.Errorf("a failure: %d, %v, %v, %+v", option, ok, err, s.Measurements())
	}
	_, _, err = pure.SelectLocal(s.SubBudget(), "local", one, good, 0)
	if !errors.Is(err, kernel.ErrExhausted) {
		t.Errorf("without an epsilon: %v", err)
	}
	var tr kerneltest.Transcript // a recorded outcome is what a run sees
	first := localSession(t, privacy.AddRemoveOne, []float64{0, 1}, 2, kerneltest.Options{Record: &tr})
	if _, _, err := pure.SelectLocal(first.SubBudget(), "local", one, good, .1); err != nil {
		t.Fatal(err)
	}
	tr.Answers[0] = []float64{1}
	again := localSession(t, privacy.AddRemoveOne, []float64{7}, 2, kerneltest.Options{Replay: &tr})
	if option, ok, err := pure.SelectLocal(again.SubBudget(), "local", one, good, .1); option != 1 || !ok || err != nil {
		t.Errorf("replayed: %d, %v, %v", option, ok, err)
	}
}

// TestSelectOnLine: without noise the best pair of the infinite lattice is released, wherever and
// however wide the rows are; with noise a pair close to it; if rows are too few for the cells, or
// in few places, the test fails, which is recorded and charged.
func TestSelectOnLine(t *testing.T) {
	q := papers.Selection{Scores: []papers.Score{papers.LineDeficits{Target: 36, Below: 250}}}
	open := func(values []float64, o kerneltest.Options) *kernel.Session {
		plan := kernel.Plan{Method: "line", Steps: []kernel.Step{{Name: "line", Query: q.Kind(), Share: 1, Most: 1, Slack: 1}}}
		return kerneltest.Open(t, kerneltest.Table(columnOf(values), 1, privacy.AddRemoveOne), plan,
			kernel.Terms{Relation: privacy.AddRemoveOne, Budget: privacy.Budget{Epsilon: 40, Delta: .9}}, o)
	}
	l := pure.Local{Eta: 120, Test: .5}
	for _, c := range []struct {
		name     string
		mean, sd float64
		rows     int
		factor   float64
		ok       bool
	}{
		{"no noise", 0, 1, 400, -1, true}, {"far and narrow", 1e12, .25, 400, -1, true}, {"wide", -3e200, 1e198, 400, -1, true}, {"tiny", 1e-200, 1e-202, 400, -1, true},
		{"noise", -7e5, 3, 400, 1, true}, {"few rows", 0, 1, 100, 1, false}, {"one place", 5, 0, 400, 1, false},
	} {
		var values []float64
		for i := range c.rows {
			values = append(values, c.mean+c.sd*math.Sqrt2*math.Erfinv(2*(float64(i)+.5)/float64(c.rows)-1))
		}
		o := kerneltest.Options{Seed: stattest.Seed(t)}
		if c.factor < 0 {
			o.Exact = true
		}
		s := open(values, o)
		pair, ok, err := pure.SelectOnLine(s.SubBudget(), "line", q, l, 9)
		mean, sd := pair.Gaussian()
		if err != nil || ok != c.ok || ok && !(math.Abs(mean-c.mean) < .5*c.sd && sd < 1.4*c.sd && sd > c.sd/1.4) {
			t.Errorf("%s: %v, %v, %v, %v", c.name, mean, sd, ok, err)
		}
		if m := s.Measurements(); len(m) != 1 || m[0].Law != pure.LawLocal || m[0].Mu != privacy.MuOfPure(9) || m[0].Sensitivity != 1 || !(m[0].Delta > 0) {
			t.Errorf("%s: %+v", c.name, m)
		}
	}
	s := open([]float64{0, 1}, kerneltest.Options{})
	for want, bad := range map[string]papers.Selection{"one leaf": {}, "LineDeficits, got a papers.CellDeficits": {Scores: []papers.Score{sides(3, 0)}}} {
		if _, ok, err := pure.SelectOnLine(s.SubBudget(), "line", bad, l, 1); ok || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q, got %v", want, err)
		}
	}
}
