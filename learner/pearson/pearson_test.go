package pearson_test

import (
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/learner"
	"github.com/gauze-dp/gauze/learner/pearson"
)

// A setting is a line of the restatement's table: random mixtures, and the median dist_PARAM that
// it reports.
type setting struct {
	kind    string
	k, d    int
	sep     float64
	n       int
	reports float64
	quick   bool
}

func (s setting) truth(rng *rand.Rand) truth {
	switch s.kind {
	case "pancakes":
		return pancakes(rng, s.d, s.sep)
	case "equal means":
		return concentric(rng, s.d, 3)
	}
	return random(rng, s.k, s.d, s.sep)
}

var settings = []setting{
	{"two", 2, 1, 6, 1e3, .11, true}, {"two", 2, 1, 6, 1e4, .021, false}, {"two", 2, 1, 6, 1e5, .015, false},
	{"two", 2, 1, 3, 1e4, .048, false}, {"two", 2, 1, 3, 1e5, .019, false},
	{"two", 2, 2, 6, 1e3, .16, true}, {"two", 2, 2, 6, 1e4, .045, false}, {"two", 2, 2, 6, 1e5, .017, false},
	{"two", 2, 2, 3, 1e4, .079, false}, {"two", 2, 2, 3, 1e5, .028, false}, {"pancakes", 2, 2, 6, 1e4, .037, true},
	{"two", 2, 5, 6, 1e4, .38, false}, {"two", 2, 5, 6, 1e5, .057, false},
	{"equal means", 2, 2, 0, 1e4, .47, true}, {"equal means", 2, 2, 0, 1e5, .21, false},
	{"three", 3, 2, 6, 2e3, .14, true}, {"three", 3, 2, 6, 2e4, .038, false}, {"three", 3, 2, 6, 1e5, .02, false},
	{"three", 3, 5, 6, 2e4, .64, false}, {"four", 4, 2, 6, 2e4, .053, false},
	{"literal", 2, 2, 6, 1e4, .079, true}, {"literal", 2, 2, 6, 1e5, .032, false},
	{"literal", 2, 3, 6, 1e4, .14, false}, {"literal", 2, 3, 6, 1e5, .048, false},
}

// TestRecovery: on fresh random mixtures the errors are at most the restatement's, or else those of
// the most likely mixture near the truth, which only more rows can make smaller. A run is off if it
// fails, or if what it finds is less likely than that mixture, by a nat for all rows together. Of
// hundreds of runs none or one was; if .02 of them are, more than a quarter of 8 are with
// probability 5e-4 in one of the quick lines, and of 12 with 1e-4. A run of the literal way errs by
// more than twice the reported median in fewer than .1 of the cases; then its median does with
// probability 5e-3 in the quick line, and 1e-3 in a long one.
//
// Shows: [PPE] Theorem 7.2.1.
func TestRecovery(t *testing.T) {
	seed := stattest.Seed(t)
	for i, s := range settings {
		runs := 12
		if os.Getenv("GAUZE_LONG") == "" {
			if runs = 6; !s.quick {
				continue
			}
		}
		var errs, floor []float64
		off := 0
		for run := range runs {
			rng := rand.New(rand.NewPCG(seed, uint64(100*i+run)))
			tr := s.truth(rng)
			rows := tr.draw(rng, s.n)
			best, e := pearson.FromTruth(rows, tr.components()), math.Inf(1)
			found, err := pearson.Learner{Components: s.k, Literal: s.kind == "literal"}.LearnMixture(rows, s.k, uint64(run))
			if err == nil {
				e = far(found, tr.components())
			}
			if err != nil || pearson.Value(rows, found) < pearson.Value(rows, best)-1/float64(s.n) {
				off++
			}
			errs, floor = append(errs, e), append(floor, far(best, tr.components()))
		}
		slices.Sort(errs)
		slices.Sort(floor)
		median, least := errs[runs/2], floor[runs/2]
		good := 0
		for _, e := range errs {
			if e < .3 {
				good++
			}
		}
		t.Logf("%-11s k=%d d=%d sep %g n=%-6d: median %.3f, from the truth %.3f, restatement %.3f; below .3: %d of %d, off: %d", s.kind, s.k, s.d,
			s.sep, s.n, median, least, s.reports, good, runs, off)
		switch {
		case s.kind == "literal" && median > 2*s.reports:
			t.Errorf("%+v: the median error is %.3f", s, median)
		case s.kind != "literal" && off > (runs+2)/4:
			t.Errorf("%+v: %d of %d runs are off", s, off, runs)
		case s.kind != "literal" && median > max(s.reports, 1.2*least+.005):
			t.Errorf("%+v: the median error is %.3f", s, median)
		}
	}
}

// TestBlocks: blocks of the size that the reduction cuts. A bad one errs by more than 1.5. At most
// .02 of some hundred were at each of these sizes; if .04 are, more than 6 of 25 are with
// probability 4e-5.
func TestBlocks(t *testing.T) {
	for i, s := range []setting{{k: 2, d: 1, sep: 6, n: 81}, {k: 2, d: 2, sep: 6, n: 93}, {k: 3, d: 2, sep: 6, n: 200},
		{k: 2, d: 5, sep: 6, n: 169}, {k: 2, d: 2, sep: 3, n: 319}} {
		bad := 0
		for run := range 25 {
			rng := rand.New(rand.NewPCG(stattest.Seed(t), uint64(100*i+run)))
			tr := random(rng, s.k, s.d, s.sep)
			found, err := pearson.Learner{Components: s.k}.LearnMixture(tr.draw(rng, s.n), s.k, uint64(run))
			if err != nil || far(found, tr.components()) > 1.5 {
				bad++
			}
		}
		t.Logf("%+v: %d of 25 are bad", s, bad)
		if bad > 6 {
			t.Errorf("%+v: %d of 25 are bad", s, bad)
		}
	}
}

// TestInseparable: Gaussian rows have no two components, and two have no three, whatever the number
// of rows. At most .005 of 200 such runs returned anything at each of these sizes; if .02 do, 5 of
// 20 do with probability 4e-5.
func TestInseparable(t *testing.T) {
	for i, s := range []setting{{k: 2, d: 1, n: 93}, {k: 2, d: 2, n: 93}, {k: 2, d: 5, n: 300}, {k: 2, d: 2, n: 1000}, {k: 3, d: 2, n: 300}} {
		invented := 0
		for run := range 20 {
			rng := rand.New(rand.NewPCG(stattest.Seed(t), uint64(100*i+run)))
			tr := random(rng, 2, s.d, 6)
			if s.k == 2 {
				tr = concentric(rng, s.d, 1)
			}
			if _, err := (pearson.Learner{Components: s.k}).LearnMixture(tr.draw(rng, s.n), s.k, uint64(run)); err == nil {
				invented++
			}
		}
		t.Logf("%+v: %d of 20 return a mixture", s, invented)
		if invented > 4 {
			t.Errorf("%+v: %d of 20 return a mixture", s, invented)
		}
	}
}

// TestEquivariance: the mixture of Ax+b is the image of that of x, for any invertible A: condition
// numbers to 1e3, scales from 1e-9 to 1e6, places up to 1e6 standard deviations away, of which
// rounding keeps ten digits.
func TestEquivariance(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for i, s := range []setting{{k: 1, d: 3, n: 50}, {k: 2, d: 1, sep: 6, n: 100}, {k: 2, d: 2, sep: 6, n: 100}, {k: 2, d: 3, sep: 6, n: 300},
		{k: 3, d: 2, sep: 6, n: 300}, {k: 4, d: 5, sep: 6, n: 2000}, {kind: "literal", k: 2, d: 2, sep: 6, n: 2000}} {
		tr := random(rng, s.k, s.d, s.sep)
		rows := tr.draw(rng, s.n)
		scale := math.Pow(10, -9+15*rng.Float64())
		a, b := rotation(rng, s.d), make([]float64, s.d)
		for c := range s.d {
			stretch := scale * math.Pow(10, 3*rng.Float64())
			for j := range s.d {
				a[j*s.d+c] *= stretch
			}
			b[c] = 1e6 * scale * rng.NormFloat64()
		}
		image := make([][]float64, len(rows))
		for r, x := range rows {
			image[r] = slices.Clone(b)
			for j := range s.d {
				for c, v := range x {
					image[r][j] += a[j*s.d+c] * v
				}
			}
		}
		l := pearson.Learner{Components: s.k, Literal: s.kind == "literal"}
		one, err := l.LearnMixture(rows, s.k, uint64(i))
		if err != nil {
			t.Errorf("%+v: %v", s, err)
			continue
		}
		two, err := l.LearnMixture(image, s.k, uint64(i))
		if err != nil {
			t.Errorf("%+v: %v for the image", s, err)
			continue
		}
		if e := far(moved(one, a, b), two); !(e < 1e-5) {
			t.Errorf("%+v: the image of the mixture is %g from the mixture of the image", s, e)
		}
	}
}

// moved is the mixture of Ax+b.
func moved(mixture []learner.Component, a, b []float64) []learner.Component {
	d := len(b)
	var out []learner.Component
	for _, c := range mixture {
		m := learner.Component{Weight: c.Weight, Mean: slices.Clone(b), Root: make([][]float64, d)}
		for i := range d {
			m.Root[i] = make([]float64, d)
			for j := range d {
				m.Mean[i] += a[i*d+j] * c.Mean[j]
				for e := range d {
					m.Root[i][e] += a[i*d+j] * c.Root[j][e]
				}
			}
		}
		out = append(out, m)
	}
	return out
}

// TestPlace: rows that are 1e12 standard deviations away have four digits left, and a mixture.
func TestPlace(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	tr := random(rng, 2, 2, 6)
	rows := tr.draw(rng, 2000)
	for _, m := range tr.means {
		m[0] += 1e12
	}
	for _, r := range rows {
		r[0] += 1e12
	}
	found, err := pearson.Learner{Components: 2}.LearnMixture(rows, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	if e := far(found, tr.components()); e > .5 {
		t.Errorf("the mixture errs by %g", e)
	}
}

// TestFunction: the answer is a function of rows and seed, and Learn's are the same numbers; the
// rows stay as they are.
func TestFunction(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	rows := random(rng, 3, 2, 6).draw(rng, 400)
	l := pearson.Learner{Components: 3}
	mixture, err := l.LearnMixture(rows, 3, 7)
	if err != nil {
		t.Fatal(err)
	}
	again, err := l.Learn(rows, 7)
	if err != nil || !reflect.DeepEqual(learner.Estimates(mixture), again) {
		t.Errorf("two runs differ: %v", err)
	}
	if len(again) != l.Estimates() || len(again[0]) != l.Coordinates(2) {
		t.Errorf("%d estimates of %d numbers", len(again), len(again[0]))
	}
}

// TestNasty: rows of any kind give an error or usable components, and no panic.
func TestNasty(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	tables := map[string][][]float64{"none": nil, "one": {{1, 2}}, "no columns": {{}, {}}}
	shapes := map[string]func(i, j int) float64{
		"equal":    func(i, j int) float64 { return 3 },
		"constant": func(i, j int) float64 { return float64(j) * rng.NormFloat64() },
		"line":     func(i, j int) float64 { return float64(i) },
		"nearly":   func(i, j int) float64 { return float64(i) + 1e-13*rng.NormFloat64() },
		"huge":     func(i, j int) float64 { return 1e308 * rng.NormFloat64() },
		"tiny":     func(i, j int) float64 { return 1e-310 * rng.NormFloat64() },
		"two":      func(i, j int) float64 { return float64(rng.IntN(2)) },
		"grid":     func(i, j int) float64 { return float64(rng.IntN(4)) },
		"outlier":  func(i, j int) float64 { return rng.NormFloat64() * math.Pow(10, float64(i%2*i)) },
		"far":      func(i, j int) float64 { return 1e15 + rng.NormFloat64() },
		"nan":      func(i, j int) float64 { return rng.NormFloat64() + math.Log(float64(i)-1) },
		"infinite": func(i, j int) float64 { return 1 / float64(i%7) },
		"cauchy":   func(i, j int) float64 { return math.Tan(math.Pi * (rng.Float64() - .5)) },
		"spike":    func(i, j int) float64 { return rng.NormFloat64() * float64(i%2) },
	}
	for name, f := range shapes {
		for _, n := range []int{3, 30, 150} {
			for _, d := range []int{1, 2, 4} {
				var rows [][]float64
				for i := range n {
					x := make([]float64, d)
					for j := range x {
						x[j] = f(i, j)
					}
					rows = append(rows, x)
				}
				tables[name+string(rune('0'+d))+" "+string(rune('0'+n%7))] = rows
			}
		}
	}
	for name, rows := range tables {
		for k := range 4 {
			for _, literal := range []bool{false, true} {
				if literal && k != 2 {
					continue
				}
				found, err := pearson.Learner{Components: k, Literal: literal}.LearnMixture(rows, k, 1)
				if err != nil {
					continue
				}
				if len(found) != k {
					t.Errorf("%s, k = %d: %d components", name, k, len(found))
				}
				for _, e := range learner.Estimates(found) {
					for _, v := range e {
						if math.IsNaN(v) || math.IsInf(v, 0) {
							t.Errorf("%s, k = %d: %v", name, k, e)
						}
					}
				}
			}
		}
	}
}

func BenchmarkLearn(b *testing.B) {
	rng := rand.New(rand.NewPCG(3, 4))
	rows := random(rng, 2, 2, 6).draw(rng, 93)
	for b.Loop() {
		_, _ = pearson.Learner{Components: 2}.LearnMixture(rows, 2, 1)
	}
}
