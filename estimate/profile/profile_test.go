package profile

import (
	"flag"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

var (
	update    = flag.Bool("update", false, "rewrite the plans in testdata")
	relations = []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne}
)

func newRand(t testing.TB) *rand.Rand {
	seed := stattest.Seed(t)
	return rand.New(rand.NewPCG(seed, seed>>32))
}

// A family is a column as people have them: draw is one cell.
type family struct {
	name string
	draw func(*rand.Rand) float64
	grid float64 // the unit that has to be found, 0: none may be, NaN: either
	atom float64 // a value that has to be told; NaN: none
}

var none = math.NaN()

var families = []family{
	{"normal", func(r *rand.Rand) float64 { return 50 + 10*r.NormFloat64() }, 0, none},
	{"log-normal", func(r *rand.Rand) float64 { return math.Exp(3 + r.NormFloat64()) }, 0, none},
	{"whole numbers", func(r *rand.Rand) float64 { return math.Round(100 + 15*r.NormFloat64()) }, 1, none},
	{"ages", func(r *rand.Rand) float64 { return math.Floor(math.Max(0, math.Min(45+20*r.NormFloat64(), 100))) }, 1, none},
	{"zeros", func(r *rand.Rand) float64 {
		if r.Float64() < .6 {
			return 0
		}
		return math.Exp(5 + r.NormFloat64())
	}, none, 0},
	{"codes", func(r *rand.Rand) float64 {
		if r.Float64() < .03 {
			return 999
		}
		return math.Round(270+40*r.NormFloat64()) / 10
	}, none, none},
	{"constant", func(*rand.Rand) float64 { return 7 }, none, 7},
	{"binary", func(r *rand.Rand) float64 { return math.Floor(r.Float64() + .3) }, 1, 1},
	{"huge", func(r *rand.Rand) float64 { return 1e150 * (3 + r.NormFloat64()) }, 0, none},
	{"tiny", func(r *rand.Rand) float64 { return 1e-150 * (3 + r.NormFloat64()) }, 0, none},
	{"dates", func(r *rand.Rand) float64 { return math.Round(19000 + 800*r.NormFloat64()) }, none, none},
	{"far from 0", func(r *rand.Rand) float64 { return 1e9 + r.NormFloat64() }, 0, none},
}

// table draws rows of all families, of which a part of the cells is missing in every column.
func table(rng *rand.Rand, n int, missing float64, of []family) (rows [][]float64) {
	for range n {
		row := make([]float64, len(of))
		for j, f := range of {
			if row[j] = f.draw(rng); rng.Float64() < missing {
				row[j] = math.NaN()
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// cells are the cells of a column, sorted.
func cells(rows [][]float64, j int) (out []float64) {
	for _, row := range rows {
		if row[j] == row[j] {
			out = append(out, row[j])
		}
	}
	slices.Sort(out)
	return out
}

// truth is mean and sd of the cells within two values.
func truth(x []float64, low, high float64) (mean, sd float64) {
	n, scale := 0.0, math.Max(math.Abs(x[0]), math.Abs(x[len(x)-1]))
	for _, v := range x {
		if v >= low && v <= high {
			mean += v / scale
			n++
		}
	}
	mean /= n
	for _, v := range x {
		if v >= low && v <= high {
			sd += (v/scale - mean) * (v/scale - mean)
		}
	}
	return mean * scale, math.Sqrt(sd/n) * scale
}

// off is how far v is from what lies between a and b.
func off(v, a, b float64) float64 { return math.Max(0, math.Max(math.Min(a, b)-v, v-math.Max(a, b))) }

// TestRecovery: figures are within four stated noises of the table's own, for cells within what was
// seen or for all of them; what has to be found is found; and nothing else is. One column in 300
// may fail.
func TestRecovery(t *testing.T) {
	rng := newRand(t)
	bad, all := 0, 0
	for _, rel := range relations {
		for _, missing := range []float64{0, .25} {
			for half := range 2 {
				of := families[half*6 : half*6+6]
				rows := table(rng, 20000, missing, of)
				f := estimatetest.Run(t, New(), estimatetest.Case{Rows: rows, Columns: len(of), Relation: rel, Mu: .24, Noise: kerneltest.Options{Fresh: true}})
				spent := 0.0
				for _, m := range f.Session.Measurements() {
					spent += float64(m.Count) * m.Mu * m.Mu
				}
				if total := math.Pow(f.Session.Mu(), 2); spent < total*(1-1e-6) || spent > total*(1+1e-12) {
					t.Errorf("%v: spent %v of %v", rel, spent, total)
				}
				for j, c := range f.Profile.Columns {
					all++
					if why := wrong(c, of[j], cells(rows, j), len(rows)); why != "" {
						bad++
						t.Logf("%v, %.0f%% missing, %s: %s: %+v", rel, 100*missing, of[j].name, why, c)
					}
				}
			}
		}
	}
	if bad > 2 { // of 48; more than two have a chance of 6e-4 at one in 300
		t.Errorf("%d of %d columns are wrong", bad, all)
	}
}

// TestFarScales: where a profile has a budget to itself, quantiles of numbers beyond those of
// float32 are as near as those of others. None of 48 columns is off by more than .1 in rank in
// most runs; more than 8 of them would need a rate of .02 to be exceeded with a chance below 1e-6.
func TestFarScales(t *testing.T) {
	rng := newRand(t)
	far := slices.DeleteFunc(slices.Clone(families), func(f family) bool { return f.name != "huge" && f.name != "tiny" })
	bad := 0
	for range 12 {
		of := append(far, far...)
		rows := table(rng, 6000, 0, of)
		f := estimatetest.Run(t, New(), estimatetest.Case{Rows: rows, Columns: len(of), Relation: privacy.ReplaceOne, Mu: .24, Noise: kerneltest.Options{Fresh: true}})
		for j, c := range f.Profile.Columns {
			own, worst := cells(rows, j), 0.0
			for _, q := range c.Quantiles {
				at, _ := slices.BinarySearch(own, q.Value)
				worst = math.Max(worst, math.Abs(float64(at)/float64(len(own))-q.P))
			}
			if !(worst <= .1) || c.HeldOut != "" {
				bad++
			}
		}
	}
	t.Logf("%d of 48 are off", bad)
	if bad > 8 {
		t.Errorf("%d of 48 columns have quantiles that are off by more than .1 in rank", bad)
	}
}

// wrong says what is wrong with a column's profile; "" if nothing is.
func wrong(c estimate.ColumnProfile, f family, x []float64, rows int) string {
	if c.HeldOut != "" {
		return "held out"
	}
	if math.Abs(c.Cells-float64(len(x))/float64(rows)) > 4.5*c.CellsNoise {
		return "cells"
	}
	mean, sd := truth(x, x[0], x[len(x)-1])
	seenMean, seenSD := truth(x, c.Low, c.High)
	if !c.NoMean && off(c.Mean, mean, seenMean) > 4.5*c.MeanNoise+1e-9*math.Abs(mean) {
		return "mean"
	}
	if !c.NoSD && off(c.SD, sd, seenSD) > 4.5*c.SDNoise {
		return "sd"
	}
	if f.grid == f.grid && c.Grid != f.grid {
		return "grid"
	}
	found := slices.ContainsFunc(c.Atoms, func(a estimate.Atom) bool { return a.Value == f.atom })
	if f.atom == f.atom && !found {
		return "atom"
	}
	for _, q := range c.Quantiles {
		low, _ := slices.BinarySearch(x, q.Value)
		high, _ := slices.BinarySearch(x, math.Nextafter(q.Value, math.Inf(1)))
		n := float64(len(x))
		if off(q.P, float64(low)/n, float64(high)/n) > math.Max(4.5*q.RankNoise, .02) {
			return "quantile"
		}
	}
	return ""
}

// TestHeldOut: a column of which 98 % is missing is held out by name, and never constant; so are
// all columns of a table with too few rows, and none of one with twice as many as needed.
func TestHeldOut(t *testing.T) {
	rng := newRand(t)
	of := []family{families[0], families[0]}
	rows := table(rng, 20000, 0, of)
	for _, row := range rows {
		if rng.Float64() < .98 {
			row[1] = math.NaN()
		}
	}
	for _, rel := range relations {
		c := estimatetest.Case{Rows: rows, Columns: 2, Relation: rel, Mu: .24, Noise: kerneltest.Options{Fresh: true}}
		p := estimatetest.Run(t, New(), c).Profile
		if p.Columns[0].HeldOut != "" || !strings.HasPrefix(p.Columns[1].HeldOut, tooFew) || p.Columns[1].Quantiles != nil {
			t.Errorf("%v: %+v", rel, p.Columns)
		}
		if share := p.Columns[1].Cells; math.Abs(share-.02) > .02 {
			t.Errorf("%v: 2 %% of the cells are there, told %v", rel, share)
		}
		need := New().Expect(c.Problem()).RowsNeeded
		for _, part := range []float64{.5, 2} {
			c.Rows = table(rng, int(part*need), 0, of)
			for _, column := range estimatetest.Run(t, New(), c).Profile.Columns {
				if held := column.HeldOut != ""; held != (part < 1) {
					t.Errorf("%v, %v of the rows needed: %+v", rel, part, column)
				}
			}
		}
	}
}

// TestReplay: questions and prices are functions of the answers: on a neighbouring table the same
// answers lead to the same questions and the same profile, and no path loses more than mu^2; some
// lose a good part of it.
func TestReplay(t *testing.T) {
	rng := newRand(t)
	most := 0.0
	for i, rel := range relations {
		for j, of := range [][]family{families[:3], families[4:8], families[9:], families[6:7]} {
			rows := table(rng, 3000, []float64{0, .3}[(i+j)%2], of)
			d := len(of)
			for k, stray := range [][]float64{slices.Repeat([]float64{1e308}, d), slices.Repeat([]float64{math.NaN()}, d), make([]float64, d)} {
				other := append([][]float64{stray}, rows[1:]...)
				if rel == privacy.AddRemoveOne {
					other = append(slices.Clone(rows), stray)
				}
				c := estimatetest.Case{Rows: rows, Columns: d, Relation: rel, Mu: .7, Noise: kerneltest.Options{Seed: rng.Uint64()}}
				f, loss := estimatetest.Neighbours(t, New(), c, other)
				limit := math.Pow(f.Session.Mu(), 2)
				if most = math.Max(most, loss.Path/limit); loss.Path > limit*(1+1e-9) {
					t.Errorf("%v, table %d, stray %d: a path loses mu^2 = %v of %v: %v", rel, j, k, loss.Path, limit, loss.ByStep)
				}
			}
		}
	}
	if t.Logf("a path loses up to %.3f of mu^2", most); most < .3 {
		t.Errorf("no path loses more than %.3f of mu^2: the test sees too little of the fit", most)
	}
}

// TestHardTables: a profile of any table ends in figures that are finite and in order.
func TestHardTables(t *testing.T) {
	rng := newRand(t)
	for _, hard := range estimatetest.Hard() {
		for _, rel := range relations {
			rows := hard.Rows(rng, 4000, 2)
			f := estimatetest.Run(t, New(), estimatetest.Case{Rows: rows, Columns: 2, Relation: rel, Mu: .5, Noise: kerneltest.Options{Fresh: true}})
			for _, c := range f.Profile.Columns {
				last := math.Inf(-1)
				for _, q := range c.Quantiles {
					if !(q.Value >= last) || math.IsInf(q.Value, 0) || !(q.RankNoise >= 0) {
						t.Errorf("%v, %s: quantiles %+v", rel, hard.Name, c.Quantiles)
						break
					}
					last = q.Value
				}
				for _, x := range []float64{c.Cells, c.CellsNoise, c.Mean, c.MeanNoise, c.SD, c.SDNoise, c.Low, c.High, c.Beyond, c.Grid} {
					if math.IsNaN(x) || math.IsInf(x, 0) {
						t.Errorf("%v, %s: not finite: %+v", rel, hard.Name, c)
						break
					}
				}
			}
		}
	}
}

// TestPlans: the plan has at most six lines, and is what it was.
func TestPlans(t *testing.T) {
	var b strings.Builder
	for _, rel := range relations {
		p := estimate.Problem{Columns: 5, Relation: rel, Mu: .24}
		if rel == privacy.ReplaceOne {
			p.Rows = 5000
		}
		plan, ok := estimatetest.WritePlan(t, &b, rel.String(), New(), p)
		if !ok || len(plan.Steps) > 6 {
			t.Errorf("%v: %d lines", rel, len(plan.Steps))
		}
	}
	estimatetest.Golden(t, "testdata/plans.txt", b.String(), *update)
}

// TestBesideOneWay: where n is public, a plan has the whole profile or the method's own search; the
// rows that it takes are those at which the profile costs MostBeside.
func TestBesideOneWay(t *testing.T) {
	p := estimate.Problem{Columns: 8, Mu: .2}
	enough := 130 * math.Sqrt(2*8) / (.2 * math.Sqrt(program.MostBeside(p)))
	for _, c := range []struct {
		rows     int
		relation privacy.Relation
		method   string
		steps    int
		measured bool
	}{
		{int(enough) + 1, privacy.ReplaceOne, "general", 4, true}, {int(enough) - 1, privacy.ReplaceOne, "general", 1, false},
		{0, privacy.AddRemoveOne, "general", 4, false}, {int(enough) + 1, privacy.ReplaceOne, "univariate", 1, false},
	} {
		p.Rows, p.Relation = c.rows, c.relation
		p.Profiled = Measured(c.method, p)
		if got := len(Beside(p, kernel.Plan{}).Steps); p.Profiled != c.measured || got != c.steps {
			t.Errorf("%+v: %d steps, measured in full: %v", c, got, p.Profiled)
		}
	}
}

// TestKept: after a full profile a model may have the columns of which it says where values are.
func TestKept(t *testing.T) {
	for _, full := range []bool{false, true} {
		f := &fit{problem: estimate.Problem{Columns: 4}, rows: 1e4}
		for _, reason := range []string{"", unresolved, oneValue, scattered} {
			f.columns = append(f.columns, &column{cells: 1e4, reason: reason})
		}
		want := []int{0, 1, 2, 3}
		if full {
			want = want[:3]
		}
		if got := f.kept(1, full); !slices.Equal(got, want) {
			t.Errorf("full: %v: kept are %v, want %v", full, got, want)
		}
	}
}
