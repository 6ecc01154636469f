package amn24

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/pure"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/kernel/query/papers"
	"github.com/gauze-dp/gauze/literal/paper"
	"github.com/gauze-dp/gauze/parts"
)

// column is one column of rows, in order and without nulls.
func column(rows [][]float64) (x []float64) {
	for _, r := range rows {
		if !math.IsNaN(r[0]) {
			x = append(x, r[0])
		}
	}
	slices.Sort(x)
	return x
}

// gapRun is a run of Algorithm 3 as far as its histogram, the budget of the step, and its epsilon.
func gapRun(t *testing.T, c Constants, f trial) (r *run, mu, epsilon float64) {
	t.Helper()
	s := f.open(t, kernel.Plan{Method: "test", Steps: c.gapSteps()})
	mu = parts.Mu(c.CrudeShare * s.Mu() * s.Mu())
	return &run{c: c, a: s.SubBudget(), d: 1, k: f.k, n: float64(len(f.rows))}, mu, privacy.PureOfMu(mu)
}

// exactMasses are the counts of the buckets.
func exactMasses(q papers.SpacingBuckets, sorted []float64) map[[2]int64]int64 {
	m := map[[2]int64]int64{}
	for _, b := range q.Masses(0, sorted) {
		m[[2]int64{int64(b.Scale), b.Place}] = b.Mass
	}
	return m
}

// ladders are rows at equal distances, in two places, of two scales: full buckets; and a few
// others, so that there are empty and nearly empty ones.
func ladders(rng *rand.Rand) (rows [][]float64) {
	for i := range 150 {
		rows = append(rows, []float64{float64(i)}, []float64{1e6 + 1e-3*float64(i)})
	}
	for range 40 {
		rows = append(rows, []float64{math.Exp(20 * rng.NormFloat64())})
	}
	return rows
}

// Truncated Laplace noise is at most (6/epsilon) ln(1/delta), where epsilon <= 1 and delta <= 1/8;
// no count of the histogram is released with more noise than the support that the session says; and
// that is what refusals and plans count on, up to rounding.
//
// Shows: [AMN24] Proposition F.1.
func TestPropositionF1(t *testing.T) {
	for eps := .01; eps <= 1; eps += .01 {
		for _, del := range []float64{1. / 8, 1e-2, 1e-6, 1e-12} {
			if most := 6 / eps * math.Log1p(math.Expm1(eps)/(2*del)); most > 6/eps*math.Log(1/del) {
				t.Errorf("(%v, %v): support %v, the bound is %v", eps, del, most, 6/eps*math.Log(1/del))
			}
		}
	}
	rng := rand.New(rand.NewPCG(31, 1))
	rows := ladders(rng)
	farthest, released := 0., 0
	for seed := range uint64(60) {
		rel := relations[seed%2]
		r, mu, epsilon := gapRun(t, Practical(), trial{rows: rows, d: 1, k: 1, eps: 20, relation: rel, noise: kerneltest.Options{Seed: seed}})
		q := papers.SpacingBuckets{Rows: r.c.bucketRows(r.n)}
		exact := exactMasses(q, column(rows))
		buckets, support, err := pure.TruncatedSpacings(r.a, stepGaps, q, epsilon)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range buckets {
			for key, count := range exact {
				if gap, low, _ := q.Bucket(int(key[0]), key[1]); gap == b.Length && low == b.Low {
					released++
					if off := math.Abs(b.Count - float64(count)); off > support {
						t.Errorf("noise %v, the support is %v", off, support)
					} else {
						farthest = math.Max(farthest, off)
					}
				}
			}
		}
		p := trial{rows: rows, d: 1, k: 1, eps: 20, relation: rel}.problem()
		said := NewUnivariate(r.c).support(p, mu*mu/r.c.CrudeShare, r.logSlack())
		if math.Abs(said-support) > .2*support {
			t.Errorf("%v: support %v, the plan's %v", rel, support, said)
		}
	}
	if released < 100 || farthest < 3 {
		t.Errorf("%d counts, noise of at most %v: the test sees nothing", released, farthest)
	}
}

// Every bucket that is released holds a gap, so there are fewer of them than rows.
//
// Shows: [AMN24] Lemma F.2.
func TestLemmaF2(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 2))
	released := 0
	for seed := range uint64(100) {
		rows := ladders(rng)[rng.IntN(200):]
		r, _, epsilon := gapRun(t, Practical(), trial{rows: rows, d: 1, k: 1, eps: []float64{20, 200}[seed%2], relation: relations[rng.IntN(2)],
			noise: kerneltest.Options{Seed: seed}})
		q := papers.SpacingBuckets{Rows: r.c.bucketRows(r.n)}
		full := map[[2]float64]bool{}
		for key := range exactMasses(q, column(rows)) {
			gap, low, _ := q.Bucket(int(key[0]), key[1])
			full[[2]float64{gap, low}] = true
		}
		buckets, _, err := pure.TruncatedSpacings(r.a, stepGaps, q, epsilon)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range buckets {
			if !full[[2]float64{b.Length, b.Low}] {
				t.Fatalf("an empty bucket was released: %+v", b)
			}
		}
		if released += len(buckets); len(buckets) >= len(rows) {
			t.Fatalf("%d buckets of %d rows", len(buckets), len(rows))
		}
	}
	if released < 100 {
		t.Errorf("%d buckets in all: the test sees nothing", released)
	}
}

// heavy are mixtures with components of all scales, apart and nested, of weights of at least .2.
var heavy = [][][3]float64{
	{{1, 5, 2}},
	{{.5, 0, 1}, {.5, 1e6, 1e-3}},
	{{.2, 0, 1}, {.3, 10, 1e4}, {.5, 1e8, 1}},
	{{.4, 0, 1}, {.3, 3, .5}, {.3, -2, 1e-5}},
}

// Of the rows of a mixture, for each component of weight w at least w n/8 - 1 gaps begin within one
// sd of its mean and are between sd/n^3 and 16 sd/(w n) long. (Half the rows of the component less
// would have to be there for that to fail by chance: far below 1e-12.)
//
// Shows: [AMN24] Lemma F.3.
func TestLemmaF3(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 3))
	for _, parts := range heavy {
		for _, n := range []int{400, 4000} {
			x := column(estimatetest.Draw(t, line(t, parts...), n, rng))
			for _, p := range parts {
				w, mean, sd, size := p[0], p[1], p[2], float64(n)
				good := 0.
				query.EachSpacing(x, func(at, gap float64) {
					if math.Abs(at-mean) <= sd && gap >= sd/math.Pow(size, 3) && gap <= 16*sd/(w*size) {
						good++
					}
				})
				if good < w*size/8-1 {
					t.Errorf("%v, n %d: %v gaps about %v, want %v", parts, n, good, p, w*size/8)
				}
			}
		}
	}
}

// So with the printed buckets, and as many rows that w n/8 gaps in two places of each of the 3
// log2(n) octaves make one pass, a pair is near every component: of scale between sd/(2 n^3) and 16
// sd/(w n), its mean within sd and n^2 of its scale. The seeds of the noise are fixed, those of the
// rows are as for Lemma F.3.
//
// Shows: [AMN24] Lemma F.4.
func TestLemmaF4(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 4))
	const n = 10000
	for i, parts := range heavy {
		c := Printed()
		rows := estimatetest.Draw(t, line(t, parts...), n, rng)
		r, mu, _ := gapRun(t, c, trial{rows: rows, d: 1, k: len(parts), eps: 40, relation: relations[i%2],
			noise: kerneltest.Options{Seed: uint64(i)}})
		found, none, err := r.gaps(mu)
		if err != nil || none != nil {
			t.Fatal(err, none)
		}
		var x []float64
		for _, row := range rows {
			x = append(x, row[0])
		}
		gaps := pairsOf(x)
		for _, q := range found.pairs { // a bucket's own place and octave: it holds gaps
			held := 0
			for at, count := range gaps {
				if s := q.L.At(0, 0); at[1] >= s && at[1] < 2*s && at[0] >= q.Mean[0] && at[0] < q.Mean[0]+n*n*s {
					held += count
				}
			}
			if held < 10 {
				t.Fatalf("%v: the pair (%v, %v) is of a bucket that holds %d gaps", parts, q.Mean[0], q.L.At(0, 0), held)
			}
		}
		for _, p := range parts {
			w, mean, sd := p[0], p[1], p[2]
			if !slices.ContainsFunc(found.pairs, func(q pair) bool {
				s := q.L.At(0, 0)
				return s >= sd/(2*n*n*n) && s <= 16*sd/(w*n) && math.Abs(q.Mean[0]-mean) <= sd+n*n*s && vague(q, paper.Line(mean, sd), math.Pow(n, 6))
			}) {
				t.Errorf("%v: no pair is near %v among %d", parts, p, len(found.pairs))
			}
		}
	}
}

// A neighbour of a table in one column: a row is replaced, or one is there or not.
func neighbour(rng *rand.Rand, rel privacy.Relation, x []float64, v float64) []float64 {
	y := slices.Clone(x)
	if i := rng.IntN(len(x)); rel == privacy.ReplaceOne {
		y[i] = v
	} else {
		y = slices.Delete(y, i, i+1)
	}
	return y
}

// some is a value of a hard table: of a short list, so that there are ties and equal gaps, or not.
func some(rng *rand.Rand) float64 {
	switch rng.IntN(4) {
	case 0:
		return float64(rng.IntN(6))
	case 1:
		return []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e308, -1e308, 0x1p900, 5e-324, -0x1p-900, 0}[rng.IntN(9)]
	case 2:
		return math.Ldexp(rng.NormFloat64(), rng.IntN(80)-40)
	default:
		return rng.NormFloat64()
	}
}

// pairsOf is how often each (lower end, gap) is among the code's gaps of a table.
func pairsOf(x []float64) map[[2]float64]int {
	m := map[[2]float64]int{}
	sorted := slices.DeleteFunc(slices.Clone(x), math.IsNaN)
	slices.Sort(sorted)
	query.EachSpacing(sorted, func(at, gap float64) { m[[2]float64{at, gap}]++ })
	return m
}

// A row that is replaced takes away at most three pairs of place and gap and brings at most three,
// a row that comes or goes takes and brings two at most and three together; so counts change by 6,
// or 3, in L1: by search over tables of few rows, among them the worst there are, and both are
// attained.
//
// Shows: [AMN24] Lemma F.5.
func TestLemmaF5(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 5))
	for _, rel := range relations {
		q := papers.SpacingBuckets{Rows: 2}
		attained, attainedL1 := 0, int64(0)
		for range stattest.Trials(15_000, 60_000) {
			x := make([]float64, 1+rng.IntN(9))
			for i := range x {
				x[i] = some(rng)
			}
			y := neighbour(rng, rel, x, some(rng))
			a, b := pairsOf(x), pairsOf(y)
			gone, came := 0, 0
			for key, n := range a {
				gone += max(0, n-b[key])
			}
			for key, n := range b {
				came += max(0, n-a[key])
			}
			most, both := 3, 6
			if rel == privacy.AddRemoveOne {
				most, both = 2, 3
			}
			if attained = max(attained, gone+came); gone > most || came > most || gone+came > both {
				t.Fatalf("%v: %v and %v: %d pairs go, %d come", rel, x, y, gone, came)
			}
			l1 := int64(0)
			for _, d := range differences(q, x, y) {
				l1 += max(d, -d)
			}
			if attainedL1 = max(attainedL1, l1); float64(l1) > q.L1(rel) {
				t.Fatalf("%v: %v and %v: counts change by %d", rel, x, y, l1)
			}
		}
		if want := int(q.L1(rel)); attained != want || attainedL1 != int64(want) {
			t.Errorf("%v: at most %d pairs and %d counts changed, want %d", rel, attained, attainedL1, want)
		}
	}
}

// differences are those of the counts of two tables that are not 0.
func differences(q papers.SpacingBuckets, x, y []float64) (d []int64) {
	of := func(x []float64) map[[2]int64]int64 {
		sorted := slices.DeleteFunc(slices.Clone(x), math.IsNaN)
		slices.Sort(sorted)
		return exactMasses(q, sorted)
	}
	a, b := of(x), of(y)
	for key, n := range a {
		if n != b[key] {
			d = append(d, n-b[key])
		}
	}
	for key, n := range b {
		if a[key] == 0 {
			d = append(d, -n)
		}
	}
	return d
}

// beyond is the exact delta, at epsilon = 6 rates (or 3), of counts with truncated Laplace noise
// that are shifted so: the part of the noise whose shift leaves the support, as all other ratios
// are within epsilon; and the largest of those, in rates.
func beyond(shifts []int64, rate float64, support int) (delta float64, worst int64) {
	total := 0.
	for z := -support; z <= support; z++ {
		total += math.Exp(-rate * math.Abs(float64(z)))
	}
	stays := 0. // ln of the probability
	for _, s := range shifts {
		s = max(s, -s)
		out, loss := 0., int64(0)
		for z := -support; z <= support; z++ {
			if moved := int64(z) + s; moved > int64(support) {
				out += math.Exp(-rate * math.Abs(float64(z)))
			} else {
				loss = max(loss, max(moved, -moved)-int64(max(z, -z)))
			}
		}
		stays += math.Log1p(-out / total)
		worst += loss
	}
	return -math.Expm1(stays), worst
}

// The candidates are a function of counts that are (epsilon, delta)-indistinguishable on
// neighbours: for all changes of counts that a search finds, with the support that the release has,
// the exact loss is at most the epsilon of the step but for delta, which is less than the
// session's; with half of the support it is not.
//
// Shows: [AMN24] Lemma F.6.
func TestLemmaF6(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 6))
	for _, rel := range relations {
		for _, eps := range []float64{1, 5, 20} {
			r, _, epsilon := gapRun(t, Practical(), trial{rows: ladders(rng), d: 1, k: 1, eps: eps, relation: rel})
			q := papers.SpacingBuckets{Rows: 2}
			_, support, err := pure.TruncatedSpacings(r.a, stepGaps, q, epsilon)
			if err != nil {
				t.Fatal(err)
			}
			seen, rate, closest, half := map[string]bool{}, epsilon/q.L1(rel), 0., 0.
			for range stattest.Trials(6000, 20_000) {
				x := make([]float64, 2+rng.IntN(8))
				for i := range x {
					x[i] = some(rng)
				}
				shifts := differences(q, x, neighbour(rng, rel, x, some(rng)))
				slices.Sort(shifts)
				if key := fmt.Sprint(shifts); !seen[key] {
					seen[key] = true
					del, loss := beyond(shifts, rate, int(support))
					tooLittle, _ := beyond(shifts, rate, int(support)/2)
					half = math.Max(half, tooLittle)
					if closest = math.Max(closest, del); del > delta || float64(loss)*rate > epsilon*(1+1e-9) {
						t.Fatalf("%v, epsilon %v: counts that change by %v: loss %v, delta %v", rel, epsilon, shifts, float64(loss)*rate, del)
					}
				}
			}
			if len(seen) < 4 || closest == 0 || eps == 1 && half < delta {
				t.Errorf("%v: %d ways to change counts, delta up to %v, %v with half of the support: the search sees nothing", rel, len(seen), closest, half)
			}
		}
	}
}
