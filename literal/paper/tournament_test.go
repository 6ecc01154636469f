package paper

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query/papers"
)

// near is a list of Gaussians of the line, and a truth that is within alpha, and not much less, of
// one of them: a Gaussian beside it.
func near(rng *rand.Rand, mixtures int, alpha float64) (l, truth *List) {
	l = randomList(rng, mixtures, 1, 2)
	index, _ := l.Terms(rng.IntN(mixtures))
	g := l.Gaussians[index[0]]
	truth = randomList(rng, 1, 1, 1)
	// total variation 2 Phi(shift/2) - 1 = alpha, shift in standard deviations
	truth.Gaussians[0] = Line(g.Mean[0]-2*normalQuantile((1-alpha)/2)*g.L.At(0, 0), g.L.At(0, 0))
	return l, truth
}

// twins adds two Gaussians near the truth to the list, within a tenth of a standard deviation of
// one another: their contest has no winner, so that without draws neither has a score.
func twins(t *testing.T, l, truth *List) {
	t.Helper()
	g := truth.Gaussians[0]
	for _, shift := range []float64{-.05, .05} {
		l.Gaussians = append(l.Gaussians, Line(g.Mean[0]+shift*g.L.At(0, 0), g.L.At(0, 0)))
		if err := l.Add([]int{len(l.Gaussians) - 1}, []float64{1}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTheoremD2: of so many rows as TournamentRows says, from a distribution within alpha of some
// of the list, the tournament chooses one within 4 alpha in all but 2 beta of the runs, under both
// relations. Two of the list are nearly the same.
//
// Shows: [AMN24] Theorem D.2.
func TestTheoremD2(t *testing.T) {
	const epsilon, beta, alpha, mixtures, runs = .5, .05, .15, 25, 60
	n := int(math.Ceil(TournamentRows(alpha, beta, epsilon, mixtures+2)))
	seed := stattest.Seed(t)
	rng := rand.New(rand.NewPCG(seed, 2))
	for _, rel := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
		good, mean := 0, 0.0
		for range runs {
			l, truth := near(rng, mixtures, alpha)
			twins(t, l, truth)
			i := choose(t, sample(rng, truth, 0, n), 1, rel, l, Options{Form: Tournament, Accuracy: alpha}, epsilon)
			got := tv(func(x float64) float64 { return mixtureDensity(truth, 0, x) }, func(x float64) float64 { return mixtureDensity(l, i, x) })
			if mean += got; got <= (3+zeta)*alpha+1e-3 {
				good++
			}
			if stattest.Enough(good, runs, 1-2*beta, stattest.FalseAlarm) {
				break
			}
		}
		stattest.GoodAtLeast(t, good, runs, 1-2*beta, stattest.FalseAlarm)
		t.Logf("%v, %d rows: %d of %d within %v, mean %.3f", rel, n, good, runs, 4*alpha, mean/runs)
	}
}

// The two inequalities that the theorem stands on, with the masses as shares of the rows moved by
// zeta alpha/4 to the worse: what is within alpha of the truth loses no contest, and what is beyond
// 4 alpha of it loses the one with that.
//
// Shows: [AMN24] Theorem D.2.
func TestContests(t *testing.T) {
	const alpha = .1
	rng := rand.New(rand.NewPCG(7, 1))
	draw, margin := margins(alpha)
	bad := 0
	for range 40 {
		l, truth := near(rng, 8, alpha*(1-1e-6))
		q, err := queryOf(l, Options{Form: Tournament, Accuracy: alpha})
		if err != nil {
			t.Fatal(err)
		}
		s := q.(papers.Tournament)
		truth.Gaussians = append(truth.Gaussians, l.Gaussians...) // masses of the truth in their sets
		all := &List{Gaussians: truth.Gaussians, Parts: 1, index: []int{0}, share: []float64{1}}
		for i := range l.Gaussians {
			if err := all.Add([]int{s.Index[i] + 1}, []float64{1}); err != nil {
				t.Fatal(err)
			}
		}
		var sets [][2]int
		for _, pair := range s.Sets {
			sets = append(sets, [2]int{pair[0] + 1, pair[1] + 1})
		}
		masses, from := all.masses(sets), make([]float64, l.Len())
		for i := range from {
			from[i] = tv(func(x float64) float64 { return mixtureDensity(truth, 0, x) }, func(x float64) float64 { return mixtureDensity(l, i, x) })
		}
		for j, pair := range s.Sets {
			p, r := s.Mass[s.Index[pair[0]]][j], s.Mass[s.Index[pair[1]]][j]
			is := masses[0][j]
			if p-r <= draw {
				continue
			}
			for side, i := range pair {
				share, loser := is, r // what i has of the rows, and what its rival says
				if side == 1 {
					share, loser = 1-is, 1-p
				}
				if d := from[i]; d <= alpha && !(share-zeta*alpha/4 > loser+margin+zeta*alpha/4-1e-3) {
					t.Errorf("within %.3f of the truth, it has %.3f of the rows, of which %.3f and %.3f are wanted", d, share, loser, margin)
				}
				if d := from[pair[1-side]]; d <= alpha && from[i] > (3+zeta)*alpha {
					if bad++; share+zeta*alpha/4 > loser+margin {
						t.Errorf("%.3f from the truth, it wins with %.3f of the rows against %.3f", from[i], share, loser)
					}
				}
			}
		}
	}
	if bad == 0 {
		t.Error("no mixture was far from the truth")
	}
}

// TestPure: the choice alone has delta = 0. On neighbouring tables the exact law of the exponential
// mechanism with the scores that the query gives has no log-ratio beyond epsilon, and reaches more
// than a quarter of it.
//
// Shows: [AAL21] Lemma 3.1.
func TestPure(t *testing.T) {
	const epsilon = .8
	rng := rand.New(rand.NewPCG(11, 1))
	law := func(s papers.Score, rows []float64) (log []float64) {
		sum, v := 0.0, s.Scores(rows, 1)
		for _, x := range v {
			sum += math.Exp(epsilon / 2 * float64(x-v[0]))
		}
		for _, x := range v {
			log = append(log, epsilon/2*float64(x-v[0])-math.Log(sum))
		}
		return log
	}
	for _, form := range []Form{AllPairs, Tournament, anchored} {
		worst := 0.0
		for range 60 {
			l := randomList(rng, 6, 2, 1)
			s, err := queryOf(l, Options{Form: form, Accuracy: .02})
			if err != nil {
				t.Fatal(err)
			}
			var rows []float64
			for range 1 + rng.IntN(30) {
				rows = append(rows, rng.NormFloat64())
			}
			own := law(s, rows)
			for _, v := range []float64{-20, -1, 0, 1, 20, 1e308, math.Inf(1), math.NaN()} {
				replaced := append([]float64{v}, rows[1:]...)
				for _, other := range [][]float64{law(s, replaced), law(s, append(replaced, rows[0]))} {
					for i := range own {
						worst = math.Max(worst, math.Abs(own[i]-other[i]))
					}
				}
			}
		}
		if worst > epsilon*(1+1e-9) || worst < epsilon/4 {
			t.Errorf("form %d: a log-ratio of %v of epsilon %v", form, worst, epsilon)
		}
		t.Logf("form %d: log-ratio %.3f of %v", form, worst, epsilon)
	}
}

// TestCost: what a form says that it costs is what its query has, and where it no longer runs the
// kernel refuses it too.
func TestCost(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 1))
	for _, c := range []struct {
		form     Form
		mixtures int
	}{{AllPairs, 40}, {Tournament, 40}, {Quick, 40}, {Quick, 300}, {anchored, 40}} {
		l := randomList(rng, c.mixtures, 1, 3)
		s, err := queryOf(l, Options{Form: c.form, Accuracy: .1})
		if err != nil {
			t.Fatal(err)
		}
		q, ok := s.(papers.MinimumDistance)
		if !ok {
			q = s.(papers.Tournament).MinimumDistance
		}
		cost := CostOf(c.form, len(l.Gaussians), float64(c.mixtures))
		if cost.Sets != float64(len(q.Sets)) || cost.Masses != float64(len(q.Sets)*len(q.Mass)) || !cost.Runs() || !strings.Contains(cost.String(), "sets for") {
			t.Errorf("%+v: %d sets, %d Gaussians, said to cost %v", c, len(q.Sets), len(q.Mass), cost)
		}
	}
	if CostOf(AllPairs, 1, 1024).Runs() != true || CostOf(AllPairs, 1, 1025).Runs() || CostOf(Tournament, 1, 1e5).Runs() || !CostOf(Quick, 1e4, 1e5).Runs() {
		t.Error("which costs run")
	}
	all, contests := CostOf(AllPairs, 100, 1000), CostOf(Tournament, 100, 1000)
	if all.Compared != 1000*999*500 || contests.Compared != 1000*999 {
		t.Errorf("%v and %v comparisons", all.Compared, contests.Compared)
	}
}
