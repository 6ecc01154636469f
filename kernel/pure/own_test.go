package pure

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel/blocks"
	"github.com/gauze-dp/gauze/kernel/internal/core"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// asLine is a line as somebody else would bring it.
type asLine struct{ Line }

func (m asLine) Distance(a, b []blocks.Component) float64 { return math.Abs(m.read(a) - m.read(b)) }

func (m asLine) Mask(y []blocks.Component, gaussian func(float64) int64) []blocks.Component {
	k := int64(m.read(y)) + gaussian(privacy.DivUp(float64(m.Reach), m.Mu))
	return []blocks.Component{{Weight: 1, Mean: []float64{float64(k)}, Root: []float64{1}}}
}

// brought is a line as a space of one's own.
func brought(h Line) OwnSpace {
	return OwnSpace{Metric: asLine{h}, Components: 1, Columns: 1, Friends: float64(h.Reach / 2), Covers: h.Reach, Mu: h.Mu}
}

func ownPlan() core.Plan {
	plan := linePlan()
	plan.Steps[0].Query = PopularOwnKind
	return plan
}

// TestOwnIsLine: a line that somebody brings releases and costs to the last bit what the kernel's
// does, whose proof it is the twin of, on tables that agree, nearly do, and do not.
func TestOwnIsLine(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 9))
	released := 0
	if want := (StatedSpace{Reach: 8, Mu: 1}); brought(onLine).asked() != asked(want) {
		t.Fatalf("certificates have %+v, want %+v", brought(onLine).asked(), want)
	}
	for run := range 60 {
		relation := []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne}[run%2]
		values := make([]float64, 400)
		for i := range values {
			values[i] = float64(run%5) * .07 * rng.NormFloat64()
			if rng.IntN(400) == 0 {
				values[i] = kerneltest.Fail
			}
		}
		ask := func(plan core.Plan, how Space) ([]blocks.Component, bool, []core.Measurement, any) {
			s := kerneltest.OpenColumn(t, relation, values, kerneltest.Seeded(t, uint64(run)), plan)
			y, ok, err := ReleasePopular(s.SubBudget(), "number", blocks.Blocks{OfTerms: kerneltest.Place(number()), Count: 40}, how, testPure)
			if err != nil {
				t.Fatal(err)
			}
			return y, ok, s.Measurements(), s.Loss()
		}
		y, ok, lines, loss := ask(linePlan(), onLine)
		y2, ok2, lines2, loss2 := ask(ownPlan(), brought(onLine))
		if ok != ok2 || loss != loss2 || ok && y[0].Mean[0] != y2[0].Mean[0] {
			t.Fatalf("run %d: %v %v, %v %v; %+v, %+v", run, y, ok, y2, ok2, loss, loss2)
		}
		for i := range lines {
			if lines2[i].Query != PopularOwnKind {
				t.Errorf("certificates say %q", lines2[i].Query)
			}
			if lines2[i].Query = lines[i].Query; lines[i].Sensitivity != lines2[i].Sensitivity || lines[i].Noise != lines2[i].Noise || lines[i].Mu != lines2[i].Mu || lines[i].Law != lines2[i].Law {
				t.Errorf("run %d: %+v, %+v", run, lines[i], lines2[i])
			}
		}
		if ok {
			released++
		}
	}
	if released < 6 || released > 54 {
		t.Errorf("%d of 60 released: the test sees one outcome", released)
	}
}

// plane has whole numbers in two columns, at their Euclidean distance.
type plane struct{}

func (plane) Distance(a, b []blocks.Component) float64 {
	return math.Hypot(a[0].Mean[0]-b[0].Mean[0], a[0].Mean[1]-b[0].Mean[1])
}

func (plane) Mask(y []blocks.Component, _ func(float64) int64) []blocks.Component { return y }

// lopsided is a plane whose distance is halved in one order.
type lopsided struct{ plane }

func (m lopsided) Distance(a, b []blocks.Component) float64 {
	d := m.plane.Distance(a, b)
	if a[0].Mean[0] < b[0].Mean[0] {
		d /= 2
	}
	return d
}

// TestOwnAnchors searches neighbours, any value of the one block that differs, failed ones among
// them: the count moves by at most 2(t-1), and where neither side is below 4t^2/5 the two anchors
// are within Covers, also where a distance is not symmetric. What the space states is what it is
// asked: with Friends beyond half of Covers they are not.
func TestOwnAnchors(t *testing.T) {
	const covers = 4
	rng := rand.New(rand.NewPCG(1, 1))
	worst, wide, moved := 0., 0., 0
	for run := range 100_000 {
		count := 5 + rng.IntN(6)
		draw := func(fails int) []blocks.Component {
			if rng.IntN(fails) == 0 {
				return nil
			}
			return []blocks.Component{{Weight: 1, Mean: []float64{float64(rng.IntN(5)), float64(rng.IntN(5))}, Root: []float64{1, 0, 0, 1}}}
		}
		all := make([][]blocks.Component, count)
		for i := range all {
			all[i] = draw(20)
		}
		other := append([][]blocks.Component(nil), all...)
		other[rng.IntN(count)] = draw(5)
		anchor := func(h OwnSpace, values [][]blocks.Component) (sum int, y []blocks.Component) {
			for i, q := range h.friends(values) {
				sum += max(q, 1)
				if y == nil && 5*q > 3*len(values) {
					y = values[i]
				}
			}
			return sum, y
		}
		metric := Metric(plane{})
		if run%2 == 1 {
			metric = lopsided{}
		}
		for _, friends := range []float64{covers / 2, covers} {
			h := OwnSpace{Metric: metric, Components: 1, Columns: 2, Friends: friends, Covers: covers, Mu: 1}
			if run == 0 && h.asked() != asked(StatedSpace{covers, 1}) {
				t.Fatalf("%+v is not what is searched", h.asked())
			}
			c, y := anchor(h, all)
			c2, y2 := anchor(h, other)
			if moved = max(moved, max(c-c2, c2-c)*100/(2*(count-1))); moved > 100 {
				t.Fatalf("counts %d and %d of %d blocks", c, c2, count)
			}
			if 5*min(c, c2) < 4*count*count {
				continue
			}
			apart := plane{}.Distance(y, y2)
			if friends == covers {
				wide = math.Max(wide, apart)
			} else if worst = math.Max(worst, apart); worst > covers {
				t.Fatalf("anchors %v and %v are more than %d apart", y, y2, covers)
			}
		}
	}
	t.Logf("anchors at most %v apart, %v with twice the friends; the count moves by %d %% of its bound", worst, wide, moved)
	if wide <= covers || moved < 90 {
		t.Errorf("anchors at most %v apart with twice the friends, count moves by %d %%: the search sees too little", wide, moved)
	}
}

// broken fails in some way.
type broken struct {
	asLine
	how string
}

func (m broken) Distance(a, b []blocks.Component) float64 {
	switch m.how {
	case "panics":
		panic(a[0].Mean[0])
	case "not a number":
		return math.NaN()
	}
	return m.asLine.Distance(a, b)
}

func (m broken) Mask(y []blocks.Component, gaussian func(float64) int64) []blocks.Component {
	switch m.how {
	case "mask panics":
		panic(y[0].Mean[0])
	case "two":
		return append(y, y...)
	case "infinite":
		return []blocks.Component{{Weight: 1, Mean: []float64{math.Inf(1)}, Root: []float64{1}}}
	}
	return m.asLine.Mask(y, gaussian)
}

// TestOwnFails: whatever a metric does wrong is no release, paid for like any other, and no panic
// carries a number out.
func TestOwnFails(t *testing.T) {
	for how, passes := range map[string]bool{"panics": false, "not a number": false, "mask panics": true, "two": true, "infinite": true} {
		var exact [][]int64
		s := kerneltest.OpenColumn(t, privacy.ReplaceOne, make([]float64, 400), kerneltest.Quiet(t, 1, &exact), ownPlan())
		h := brought(onLine)
		h.Metric = broken{asLine{onLine}, how}
		y, ok, err := ReleasePopular(s.SubBudget(), "number", blocks.Blocks{OfTerms: kerneltest.Place(number()), Count: 40}, h, testPure)
		if ok || y != nil || err != nil || len(s.Measurements()) != 2 || s.Loss().Mu != onLine.Mu {
			t.Errorf("%s: %v, %v, %v, %+v", how, y, ok, err, s.Measurements())
		}
		if want := map[bool]int64{true: 1600, false: 40}[passes]; exact[0][0] != want {
			t.Errorf("%s: %d pairs are close, want %d", how, exact[0][0], want)
		}
	}
}

// TestOwnRefuses: what a space cannot state, before anything is spent.
func TestOwnRefuses(t *testing.T) {
	s := kerneltest.OpenColumn(t, privacy.AddRemoveOne, kerneltest.Zeros(40), kerneltest.Seeded(t, 1), ownPlan())
	for _, c := range []struct {
		want   string
		change func(*OwnSpace)
	}{
		{"a Metric", func(h *OwnSpace) { h.Metric = nil }},
		{"at most half of Covers", func(h *OwnSpace) { h.Friends = 4.1 }},
		{"at most half of Covers", func(h *OwnSpace) { h.Friends = math.NaN() }},
		{"at most half of Covers", func(h *OwnSpace) { h.Friends = 0 }},
		{"Covers of 2", func(h *OwnSpace) { h.Covers, h.Friends = 1, .5 }},
		{"a positive mu", func(h *OwnSpace) { h.Mu = math.NaN() }},
		{"would exceed", func(h *OwnSpace) { h.Mu = 100 }},
		{"components of 2 columns", func(h *OwnSpace) { h.Columns = 2 }},
	} {
		h := brought(onLine)
		c.change(&h)
		_, ok, err := ReleasePopular(s.SubBudget(), "number", blocks.Blocks{OfTerms: kerneltest.Place(number()), Count: 40}, h, testPure)
		if err == nil || !strings.Contains(err.Error(), c.want) || ok {
			t.Errorf("want an error with %q, got %v", c.want, err)
		}
	}
	own, line := brought(onLine), onLine
	for _, how := range []Space{&own, &line, &Popularity{fortyMask}, struct{ Space }{line}, struct{ *Line }{&line}, nil} {
		_, ok, err := ReleasePopular(s.SubBudget(), "number", blocks.Blocks{OfTerms: kerneltest.Place(number()), Count: 40}, how, testPure)
		if err == nil || !strings.Contains(err.Error(), "by value") || ok {
			t.Errorf("a %T, which can change after it was charged: want an error, got %v", how, err)
		}
	}
	if s.Loss().Mu != 0 || len(s.Measurements()) != 0 {
		t.Error("refusals cost something")
	}
}
