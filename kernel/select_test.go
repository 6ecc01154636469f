package kernel_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/internal/engine"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/pure"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/kernel/query/papers"
)

// The tests of this file make fewer than 60 statistical decisions at stattest.FalseAlarm = 1e-9
// each.

// runsOf is a number of runs that takes a moment, ten times as many with GAUZE_LONG.
func runsOf(few int) int {
	if os.Getenv("GAUZE_LONG") != "" {
		return 10 * few
	}
	return few
}

var selectPlan = kernel.Plan{Method: "select", Steps: []kernel.Step{
	{Name: "boxes", Query: "select: max box count", Share: 1, Most: 1 << 30},
	{Name: "balls", Query: "select: ball counts", Share: 1, Most: 1 << 30},
	{Name: "count", Query: "count", Share: 1, Most: 1 << 30},
	{Name: "parts", Query: "in parts: count", Share: 1, Most: 1 << 30},
	{Name: "directions", Query: "in parts: directions", Share: 1, Most: 1 << 30},
	{Name: "bins", Query: "distance counts", Share: 1, Most: 1 << 30},
	{Name: "little", Query: "count", Share: 1e-6, Most: 1},
}}

func line() query.Affine { return query.Affine{Center: []float64{0}, W: [][]float64{{1}}} }

// around is a region of the line.
func around(center, radius float64) query.Region {
	return query.Region{Conditions: []query.Condition{{Map: query.Affine{Center: []float64{center}, W: [][]float64{{1}}}, Radius: radius}}}
}

func boxesAt(offsets ...float64) papers.MaxBoxCount {
	q := papers.MaxBoxCount{Map: line(), Side: 1}
	for _, o := range offsets {
		q.Offsets = append(q.Offsets, []float64{o})
	}
	return q
}

func openSelect(t *testing.T, relation privacy.Relation, values []float64, o kerneltest.Options) *kernel.Session {
	t.Helper()
	return kerneltest.Open(t, kerneltest.Table(columnOf(values), 1, relation), selectPlan,
		kernel.Terms{Relation: relation, Budget: privacy.Budget{Rho: 1e6}}, o)
}

// scoresOf computes the scores of every leaf with the public methods of the query alone.
func scoresOf(q papers.Selection, values []float64) (all [][]int64) {
	for j, leaf := range pure.Gather(engine.Local{}, rawTable(values), q.Partition, nil) {
		all = append(all, q.Scores[j].Scores(leaf, 1))
	}
	return all
}

// exponentialLaw is P(i) ~ exp(rate score_i).
func exponentialLaw(rate float64, scores []int64) (p []float64) {
	sum, most := 0.0, slices.Max(scores)
	for _, q := range scores {
		p = append(p, math.Exp(rate*float64(q-most)))
		sum += p[len(p)-1]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}

// laplaceCDF is P(j <= x) of the discrete Laplace law.
func laplaceCDF(rate float64, x int64) float64 {
	if x < 0 {
		return math.Exp(rate*float64(x)) / (1 + math.Exp(-rate))
	}
	return 1 - math.Exp(-rate*float64(x+1))/(1+math.Exp(-rate))
}

func laplaceMass(rate float64, j int64) float64 {
	return math.Tanh(rate/2) * math.Exp(-rate*math.Abs(float64(j)))
}

// aboveLaw is the law of the first option whose score plus noise of the given rate reaches the
// threshold plus noise of twice the rate (none if infinite); the last entry is that of no option.
func aboveLaw(rate float64, scores []int64, threshold int64) []float64 {
	p, reach := make([]float64, len(scores)+1), int64(45/rate)
	for r := -reach; r <= reach; r++ {
		left := laplaceMass(2*rate, r)
		for i, q := range scores {
			below := laplaceCDF(rate, threshold+r-q-1)
			p[i] += left * (1 - below)
			left *= below
		}
		p[len(scores)] += left
	}
	return p
}

// product is the law of independent draws, as one number.
func product(laws [][]float64) []float64 {
	p := []float64{1}
	for _, law := range laws {
		var next []float64
		for _, a := range p {
			for _, b := range law {
				next = append(next, a*b)
			}
		}
		p = next
	}
	return p
}

// code is the number of a draw in product.
func code(chosen []int, laws [][]float64) (c int) {
	for j, law := range laws {
		i := chosen[j]
		if i < 0 {
			i = len(law) - 1
		}
		c = c*len(law) + i
	}
	return c
}

func selections() map[string]papers.Selection {
	two := query.Partition{Regions: []query.Region{around(0, .6), around(1.5, 1)}}
	return map[string]papers.Selection{
		"boxes":      {Scores: []papers.Score{boxesAt(0, .5, .5, .25)}},
		"in leaves":  {Partition: two, Scores: []papers.Score{boxesAt(0, .5, -.3), boxesAt(.7, .2)}},
		"ball count": {Scores: []papers.Score{papers.BallCounts{Map: line(), Radii: []float64{0, .5, 2}, T: 2}}},
		"balls in leaves": {Partition: two, Scores: []papers.Score{papers.BallCounts{Map: line(), Radii: []float64{0, .5, 2}, T: 2},
			papers.BallCounts{Map: line(), Radii: []float64{.5, .2}, T: 3}}},
	}
}

func stepOf(q papers.Selection) string {
	if _, ok := q.Scores[0].(papers.MaxBoxCount); ok {
		return "boxes"
	}
	return "balls"
}

// lawsOf returns the laws of the leaves of Select, and of AboveThreshold with the thresholds, at
// epsilon.
func lawsOf(q papers.Selection, relation privacy.Relation, values []float64, thresholds []int64, epsilon float64) (selected, above [][]float64) {
	for j, scores := range scoresOf(q, values) {
		s := float64(q.Sensitivity(relation, j))
		selected = append(selected, exponentialLaw(epsilon/2/s, scores))
		above = append(above, aboveLaw(epsilon/4/s, scores, thresholds[j]))
	}
	return selected, above
}

// TestSelectLaw: what sessions release has the law that the doc comments state, computed by
// formula; four times the rate is rejected.
func TestSelectLaw(t *testing.T) {
	t.Parallel()
	const epsilon = 1.5
	runs := runsOf(3000)
	values := []float64{0, .1, .4, .55, 1.2, 1.3, 2.1, 2.2, math.NaN(), 1e308, .3}
	for name, q := range selections() {
		for _, relation := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
			t.Run(fmt.Sprint(name, relation), func(t *testing.T) {
				thresholds := []int64{3, 2}[:q.Leaves()]
				s := openSelect(t, relation, values, kerneltest.Options{Seed: stattest.Seed(t)})
				selected, above := lawsOf(q, relation, values, thresholds, epsilon)
				counts, aboveCounts := make([]int, len(product(selected))), make([]int, len(product(above)))
				for range runs {
					i, err := pure.Select(s.SubBudget(), stepOf(q), q, epsilon)
					if err != nil {
						t.Fatal(err)
					}
					k, err := pure.AboveThreshold(s.SubBudget(), stepOf(q), q, thresholds, epsilon)
					if err != nil {
						t.Fatal(err)
					}
					counts[code(i, selected)]++
					aboveCounts[code(k, above)]++
				}
				stattest.GoodFit(t, counts, product(selected), stattest.FalseAlarm)
				stattest.GoodFit(t, aboveCounts, product(above), stattest.FalseAlarm)
				wrong, wrongAbove := lawsOf(q, relation, values, thresholds, 4*epsilon)
				if name != "ball count" { // its scores are too close
					stattest.BadFit(t, counts, product(wrong), stattest.FalseAlarm)
				}
				stattest.BadFit(t, aboveCounts, product(wrongAbove), stattest.FalseAlarm)
			})
		}
	}
}

// ratio is the largest |ln(a_i/b_i)|, and spread that of the differences of these logarithms.
func ratio(a, b []float64) (most, spread float64) {
	low, high := math.Inf(1), math.Inf(-1)
	for i := range a {
		l := math.Log(a[i] / b[i])
		low, high = math.Min(low, l), math.Max(high, l)
	}
	return math.Max(high, -low), high - low
}

// TestSelectIsPrivate computes the laws of neighbours exactly, by formula, on random small tables
// with ties, duplicates, null and far rows: the ratios never exceed epsilon, the range of Select's
// neither, and come near it where one option stands against many. (Scores that only grow when a row
// is added, as all here do in leaves, can reach half of it.)
func TestSelectIsPrivate(t *testing.T) {
	spots := []float64{0, 0, .3, .5, .55, .8, 1, 1.2, 1.7, 2.3, 1e3, 1.7e308, -1.7e308, math.NaN()}
	const epsilon = 1.5
	many := boxesAt(0, .5) // an option against many makes the ratio of Select approach epsilon
	for range 100 {
		many.Offsets = append(many.Offsets, []float64{.5})
	}
	cases := selections()
	cases["one against many"] = papers.Selection{Scores: []papers.Score{many}}
	for name, q := range cases {
		for _, relation := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
			rng := rand.New(rand.NewPCG(4, 4))
			far, range_, farAbove := 0.0, 0.0, 0.0
			for range runsOf(300) {
				var x []float64
				for range 1 + rng.IntN(6) {
					x = append(x, spots[rng.IntN(len(spots))])
				}
				y, at := slices.Clone(x), rng.IntN(len(x))
				if relation == privacy.ReplaceOne {
					y[at] = spots[rng.IntN(len(spots))]
				} else {
					y = slices.Delete(y, at, at+1)
				}
				thresholds := []int64{rng.Int64N(8) - 2, rng.Int64N(8) - 2}[:q.Leaves()]
				a, aAbove := lawsOf(q, relation, x, thresholds, epsilon)
				b, bAbove := lawsOf(q, relation, y, thresholds, epsilon)
				most, spread := ratio(product(a), product(b))
				above, _ := ratio(product(aAbove), product(bAbove))
				far, range_, farAbove = max(far, most), max(range_, spread), max(farAbove, above)
			}
			t.Logf("%s, %v: of epsilon: Select %.3f (range %.3f), AboveThreshold %.3f", name, relation, far/epsilon, range_/epsilon, farAbove/epsilon)
			if most := epsilon * (1 + 1e-9); far > most || range_ > most || farAbove > most {
				t.Errorf("%s, %v: ratios e^%v (range %v) and e^%v, more than e^%v", name, relation, far, range_, farAbove, epsilon)
			}
			if range_ < .2*epsilon || farAbove < .2*epsilon || name == "one against many" && relation == privacy.ReplaceOne && far < .98*epsilon {
				t.Errorf("%s: the search reaches e^%v (range %v) and e^%v only: it shows nothing", name, far, range_, farAbove)
			}
		}
	}
}

// TestSelectAudit runs Select on two neighbours and certifies an epsilon from counts: at most what
// is claimed, and more if the noise is half of it.
func TestSelectAudit(t *testing.T) {
	const epsilon = 1.0
	runs := runsOf(10_000)
	many := boxesAt(0)
	for range 20 {
		many.Offsets = append(many.Offsets, []float64{.5})
	}
	q := papers.Selection{Scores: []papers.Score{many}}
	for _, factor := range []float64{1, .5} {
		first := [2]int{}
		for side, x := range [][]float64{{.7, .1}, {.7, 1.2}} { // together at offset 0, or at .5
			s := openSelect(t, privacy.ReplaceOne, x, kerneltest.Options{Seed: stattest.Seed(t) + uint64(side), NoiseFactor: factor})
			for range runs {
				i, err := pure.Select(s.SubBudget(), "boxes", q, epsilon)
				if err != nil {
					t.Fatal(err)
				}
				if i[0] == 0 {
					first[side]++
				}
			}
		}
		low, _ := stattest.ProportionBounds(t, first[0], runs, 2*stattest.FalseAlarm)
		_, high := stattest.ProportionBounds(t, first[1], runs, 2*stattest.FalseAlarm)
		certified := math.Log(low / high)
		t.Logf("noise x %v: %d and %d of %d: epsilon >= %.3f", factor, first[0], first[1], runs, certified)
		if certified > epsilon != (factor < 1) || certified < .4*epsilon {
			t.Errorf("noise x %v: certified epsilon %v, claimed %v", factor, certified, epsilon)
		}
	}
}

// TestLaplaceRelease: counts with Laplace noise have the law of their claim, in parts with the
// sensitivity of moving between leaves.
func TestLaplaceRelease(t *testing.T) {
	const epsilon = .8
	runs := runsOf(3000)
	values := []float64{0, .1, 1.2, 1.3, 2.1, math.NaN()}
	cut := query.Partition{Regions: []query.Region{around(0, .6), around(1.5, 1)}}
	for _, c := range []struct {
		step     string
		q        query.Sum
		exact    []float64
		relation privacy.Relation
		l1       float64
	}{
		{"count", query.Count{}, []float64{5}, privacy.ReplaceOne, 1},
		{"bins", query.Counts{Map: line(), Edges: [][]float64{{1}}}, []float64{2, 3}, privacy.ReplaceOne, 2},
		{"bins", query.Counts{Map: line(), Edges: [][]float64{{1}}}, []float64{2, 3}, privacy.AddRemoveOne, 1},
		{"parts", query.Parts{Partition: cut, Queries: []query.Sum{query.Count{}, query.Count{}}}, []float64{2, 3}, privacy.ReplaceOne, 2},
		{"parts", query.Parts{Partition: cut, Queries: []query.Sum{query.Count{}, query.Count{}}}, []float64{2, 3}, privacy.AddRemoveOne, 1},
	} {
		t.Run(fmt.Sprint(c.step, c.relation), func(t *testing.T) {
			s := openSelect(t, c.relation, values, kerneltest.Options{Seed: stattest.Seed(t)})
			noise, squares := []int64(nil), 0.0
			var a kernel.Answer
			for range runs {
				var err error
				if a, err = pure.Laplace(s.SubBudget(), c.step, c.q, epsilon); err != nil {
					t.Fatal(err)
				}
				for i, v := range a.Values {
					j := v - c.exact[i]
					noise, squares = append(noise, int64(j)), squares+j*j
				}
			}
			const reach = 10
			law := func(rate float64) (p []float64) {
				p = append(p, laplaceCDF(rate, -reach-1))
				for j := int64(-reach); j <= reach; j++ {
					p = append(p, laplaceMass(rate, j))
				}
				return append(p, 1-laplaceCDF(rate, reach))
			}
			counts := stattest.Tally(noise, -reach, reach)
			stattest.GoodFit(t, counts, law(epsilon/c.l1), stattest.FalseAlarm)
			stattest.BadFit(t, counts, law(1.3*epsilon/c.l1), stattest.FalseAlarm)
			if sd := math.Sqrt(squares / float64(len(noise))); math.Abs(sd/a.Sigma-1) > .08 {
				t.Errorf("sd %v, claimed %v", sd, a.Sigma)
			}
			m := s.Measurements()[0]
			if m.Pure != epsilon || m.Law != pure.LawLaplace || m.Count != runs || m.Sensitivity != c.l1 || math.Abs(m.Sensitivity/m.Noise/epsilon-1) > 1e-15 ||
				m.Mu != privacy.MuOfPure(epsilon) {
				t.Errorf("certificate %+v", m)
			}
		})
	}
}

// TestSelectCertificate: the lines of Select and AboveThreshold, and that what is charged is the mu
// of the law.
func TestSelectCertificate(t *testing.T) {
	q := selections()["balls in leaves"] // S = 2(2t-1): 6 and 10
	s := openSelect(t, privacy.ReplaceOne, []float64{0, 1}, kerneltest.Options{})
	ask := func(_ []int, err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	ask(pure.Select(s.SubBudget(), "balls", q, 2))
	ask(pure.AboveThreshold(s.SubBudget(), "balls", q, []int64{0, 0}, 2))
	one := papers.Selection{Scores: []papers.Score{papers.BallCounts{Map: line(), Radii: []float64{0}, T: 3}}}
	ask(pure.AboveThreshold(s.SubBudget(), "balls", one, []int64{9}, 2))
	mu2 := 0.0
	for i, want := range []kernel.Measurement{
		{Law: pure.LawExponential, Sensitivity: 10, Noise: 10, Mu: privacy.MuOfBoundedRange(2), Pure: 2},
		{Law: pure.LawAboveThreshold, Sensitivity: 10, Noise: 20, Mu: privacy.MuOfPure(2), Pure: 2},
		{Law: pure.LawLaplace, Sensitivity: 5, Noise: 2.5, Mu: privacy.MuOfPure(2), Pure: 2},
	} {
		want.Step, want.Query, want.Count = "balls", q.Kind(), 1
		if m := s.Measurements()[i]; m.Noise < want.Noise || m.Noise > want.Noise*(1+1e-15) {
			t.Errorf("%+v, want %+v", m, want)
		} else if want.Noise = m.Noise; m != want {
			t.Errorf("%+v, want %+v", m, want)
		}
		mu2 += want.Mu * want.Mu
	}
	if got := s.Loss().Mu; math.Abs(got/math.Sqrt(mu2)-1) > 1e-12 {
		t.Errorf("spent mu = %v, want %v", got, math.Sqrt(mu2))
	}
}

// TestKeep: every row is kept by itself with the probability asked, afresh in every measurement.
func TestKeep(t *testing.T) {
	const runs, n, keep = 20_000, 5, .3
	var tr kerneltest.Transcript
	s := openSelect(t, privacy.AddRemoveOne, []float64{.1, .2, .3, .4, .5}, kerneltest.Options{Seed: stattest.Seed(t), Record: &tr})
	q := papers.Selection{Scores: []papers.Score{boxesAt(0)}, Keep: keep}
	for range runs {
		if _, err := pure.Select(s.SubBudget(), "boxes", q, 1); err != nil {
			t.Fatal(err)
		}
	}
	counts, again := make([]int, n+1), 0
	for i, sums := range tr.Sums {
		counts[sums[0]]++
		if i%2 == 1 && sums[0] == tr.Sums[i-1][0] {
			again++
		}
	}
	binomial := func(p float64) (law []float64, same float64) {
		c := 1.0
		for k := range n + 1 {
			law = append(law, c*math.Pow(p, float64(k))*math.Pow(1-p, float64(n-k)))
			same += law[k] * law[k]
			c = c * float64(n-k) / float64(k+1)
		}
		return law, same
	}
	law, same := binomial(keep)
	stattest.GoodFit(t, counts, law, stattest.FalseAlarm)
	wrong, _ := binomial(keep + .03)
	stattest.BadFit(t, counts, wrong, stattest.FalseAlarm)
	stattest.GoodProportion(t, again, runs/2, same, stattest.FalseAlarm)
}

// TestSelectExact: without noise the first best option, and the first that reaches its threshold; a
// recorded run replays.
func TestSelectExact(t *testing.T) {
	values := []float64{0, .1, .4, .55, 1.2, 1.3}
	q := selections()["boxes"]
	var tr kerneltest.Transcript
	s := openSelect(t, privacy.ReplaceOne, values, kerneltest.Options{Exact: true, Record: &tr})
	scores := scoresOf(q, values)[0]
	ask := func(s *kernel.Session) (answers []int) {
		i, err := pure.Select(s.SubBudget(), "boxes", q, 1)
		if err != nil {
			t.Fatal(err)
		}
		answers = append(answers, i...)
		for _, threshold := range []int64{0, scores[0] + 1, slices.Max(scores), slices.Max(scores) + 1} {
			if i, err = pure.AboveThreshold(s.SubBudget(), "boxes", q, []int64{threshold}, 1); err != nil {
				t.Fatal(err)
			}
			answers = append(answers, i...)
		}
		return answers
	}
	best := slices.Index(scores, slices.Max(scores))
	want := []int{best, 0, slices.IndexFunc(scores, func(q int64) bool { return q > scores[0] }), best, -1}
	if got := ask(s); !slices.Equal(got, want) || !slices.Equal(tr.Sums[0], scores) {
		t.Errorf("%v, want %v; scores %v, want %v", got, want, tr.Sums[0], scores)
	}
	if got := ask(openSelect(t, privacy.ReplaceOne, values, kerneltest.Options{Seed: 5, Replay: &tr})); !slices.Equal(got, want) {
		t.Errorf("replayed as %v, want %v", got, want)
	}
}

type spyScore struct{ papers.BallCounts }

func (spyScore) Scores([]float64, int) []int64 { panic("read rows") }

// TestSelectRefusals: nothing is spent, no row is read, and the texts are the same whatever the
// rows.
func TestSelectRefusals(t *testing.T) {
	run := func(values []float64) (texts []string) {
		s := openSelect(t, privacy.ReplaceOne, values, kerneltest.Options{})
		a, q := s.SubBudget(), selections()["boxes"]
		refused := func(name string, err error) {
			if err == nil || s.Loss().Mu != 0 || len(s.Measurements()) != 0 {
				t.Errorf("%s: %v, spent %+v", name, err, s.Loss())
			}
			texts = append(texts, fmt.Sprint(err))
		}
		for _, epsilon := range []float64{0, -1, math.NaN(), math.Inf(1), 1e8, 1e-300, 1e-16} {
			_, err := pure.Select(a, "boxes", q, epsilon)
			refused("select", err)
			if errors.Is(err, kernel.ErrExhausted) != (epsilon == 0) {
				t.Errorf("epsilon = %v: %v", epsilon, err)
			}
			_, err = pure.AboveThreshold(a, "boxes", q, []int64{0}, epsilon)
			refused("above", err)
			_, err = pure.Laplace(a, "count", query.Count{}, epsilon)
			refused("laplace", err)
		}
		_, err := pure.Select(a, "?", q, 1)
		refused("unknown step", err)
		_, err = pure.Select(a, "balls", q, 1)
		refused("wrong kind", err)
		_, err = pure.Select(a, "boxes", papers.Selection{}, 1)
		refused("no score", err)
		_, err = pure.Select(a, "balls", papers.Selection{Scores: []papers.Score{spyScore{}}}, 1)
		refused("foreign score", err)
		_, err = pure.Select(a, "balls", papers.Selection{Scores: []papers.Score{nil}}, 1)
		refused("nil score", err)
		_, err = pure.AboveThreshold(a, "boxes", q, nil, 1)
		refused("no thresholds", err)
		_, err = pure.AboveThreshold(a, "boxes", q, []int64{math.MinInt64}, 1)
		refused("threshold", err)
		_, err = pure.Laplace(a, "little", query.Count{}, 100)
		refused("over share", err)
		_, err = pure.Laplace(a, "count", nil, 1)
		refused("no query", err)
		cut := query.Partition{Regions: []query.Region{around(0, .6)}}
		_, err = pure.Laplace(a, "directions", query.Parts{Partition: cut, Queries: []query.Sum{query.Count{}}}, 1)
		refused("another kind", err)
		return texts
	}
	want := run(nil)
	for _, values := range [][]float64{{1e308, -1e308, math.NaN()}, {0, 0, 0, 0}} {
		if got := run(values); !slices.Equal(got, want) {
			t.Errorf("the errors depend on the rows:\n%q\n%q", got, want)
		}
	}
}

// TestSelectEmpty: a table without rows, or without a row in a leaf, is like any other.
func TestSelectEmpty(t *testing.T) {
	for _, values := range [][]float64{nil, {math.NaN()}, {1e9}} {
		for name, q := range selections() {
			for _, keep := range []float64{0, .5} {
				q.Keep = keep
				s := openSelect(t, privacy.AddRemoveOne, values, kerneltest.Options{})
				if i, err := pure.Select(s.SubBudget(), stepOf(q), q, 1); err != nil || len(i) != q.Leaves() {
					t.Errorf("%s: %v, %v", name, i, err)
				}
			}
		}
	}
}

// TestPureSpending: steps of every law draw on one account; what is left can always be spent, and
// the lines sum to what was spent.
func TestPureSpending(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	q := selections()["boxes"]
	for range 30 {
		s := kerneltest.Open(t, kerneltest.Table(columnOf([]float64{0, 1}), 1, privacy.ReplaceOne), selectPlan,
			kernel.Terms{Relation: privacy.ReplaceOne, Budget: privacy.Budget{Epsilon: math.Exp(rng.NormFloat64()), Delta: 1e-6}}, kerneltest.Options{})
		ask := func(a *kernel.SubBudget, mu float64) (err error) {
			switch rng.IntN(4) {
			case 0:
				_, err = pure.Laplace(a, "count", query.Count{}, privacy.PureOfMu(mu))
			case 1:
				_, err = pure.Select(a, "boxes", q, privacy.BoundedRangeOfMu(mu))
			case 2:
				_, err = pure.AboveThreshold(a, "boxes", q, []int64{1}, privacy.PureOfMu(mu))
			default:
				_, err = a.Sum("count", query.Count{}, mu)
			}
			return err
		}
		for range 5 {
			if err := ask(s.SubBudget(), .3*s.Mu()); err != nil {
				t.Fatal(err)
			}
		}
		if err := ask(s.SubBudget(), s.SubBudget().LeftMu()); err != nil {
			t.Errorf("what is left cannot be spent: %v", err)
		}
		if err := ask(s.SubBudget(), .1*s.Mu()); !errors.Is(err, kernel.ErrExhausted) {
			t.Errorf("more than all was spent: %v", err)
		}
		sum := 0.0
		for _, m := range s.Measurements() {
			sum += float64(m.Count) * m.Mu * m.Mu
		}
		if total := s.Mu() * s.Mu(); sum > total*(1+1e-13) || sum < total*(1-1e-8) {
			t.Errorf("lines sum to mu^2 = %v of %v", sum, total)
		}
	}
}
