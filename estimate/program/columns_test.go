package program

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/model/flags"
	"github.com/gauze-dp/gauze/parts/columns"
	"github.com/gauze-dp/gauze/parts/component"
)

// Parts of the budget of the fits here.
const countPart, weakPart = .05, .08

// found is Count, Share and stage 0, as an estimator calls them; sharp is false if the units were
// not sought.
type found struct {
	*Columns
	none  *estimate.NoRelease
	sharp bool
	spent float64 // part of mu^2
}

func find(t *testing.T, rows [][]float64, d int, rel privacy.Relation, mu float64, noise kerneltest.Options) found {
	t.Helper()
	plan := kernel.Plan{Method: "columns", Steps: append(Steps(estimate.Problem{}, "u: ", weakPart),
		kernel.Step{Name: "count", Query: query.Count{}.Kind(), Share: countPart, Most: 1})}
	s := kerneltest.Open(t, kerneltest.Table(rows, d, rel), plan, kernel.Terms{Relation: rel, Budget: privacy.Budget{Rho: mu * mu / 2}}, noise)
	a, mu2 := s.SubBudget(), s.Mu()*s.Mu()
	c, err := Count(a, "count", math.Sqrt(countPart*mu2)*(1-1e-12))
	if err != nil {
		t.Fatal(err)
	}
	share, sharp := Share(estimate.Problem{Relation: rel, Mu: s.Mu()}, d, c.Rows)
	f := found{Columns: c, sharp: sharp}
	if sharp {
		if f.none, err = findUnits(c, a, Config("u: ", share, weakPart, mu2)); err != nil {
			t.Fatal(err)
		}
	}
	for _, m := range s.Measurements() {
		f.spent += float64(m.Count) * m.Mu * m.Mu / mu2
	}
	return f
}

// findUnits is what Run.Open does first.
func findUnits(c *Columns, a *kernel.SubBudget, cfg columns.UnitsConfig) (*estimate.NoRelease, error) {
	u, err := columns.MeasureUnits(a, cfg)
	if err != nil {
		return nil, err
	}
	return c.Use(u), nil
}

func (f found) check(t *testing.T, n, d int, rel privacy.Relation) {
	t.Helper()
	if math.IsNaN(f.Rows) || math.IsInf(f.Rows, 0) || rel == privacy.ReplaceOne && f.Rows > float64(n) {
		t.Errorf("%v rows of %d", f.Rows, n)
	}
	if f.All != d || f.spent > countPart+mostShare+weakPart+1e-9 {
		t.Errorf("%d columns, spent %v of mu^2", f.All, f.spent)
	}
	if !f.sharp {
		return
	}
	all := append(slices.Clone(f.Notes.ConstantColumns), f.Space.Columns...)
	slices.Sort(all)
	for j := range d {
		if len(all) != d || all[j] != j {
			t.Fatalf("constant %v and working columns %v are not the %d columns", f.Notes.ConstantColumns, f.Space.Columns, d)
		}
	}
	usable := true
	for i, j := range f.Space.Columns {
		if f.Units.Constant[j] || f.Space.Center[i] != f.Units.Center[j] || f.Space.Scale[i] != f.Units.Scale[j] {
			t.Errorf("column %d: units %+v, space %+v", j, f.Units, f.Space)
		}
		s := f.Units.Scale[j]
		usable = usable && s <= Widest && s >= columns.Narrowest && s*s > 0 && !math.IsInf(s*s, 0)
	}
	if usable != (f.none == nil) || f.none != nil && (f.none.Reason == "" || f.none.Advice == "") {
		t.Errorf("scales %v: %+v", f.Space.Scale, f.none)
	}
}

// TestEveryTable: whatever the rows, counting and finding units keep to the plan, and every column
// is either constant or in the working space, in units that have squares, or there is a reason.
func TestEveryTable(t *testing.T) {
	seed := stattest.Seed(t)
	rng := rand.New(rand.NewPCG(seed, 1))
	reasons, points, fits := 0, 0, 0
	for _, table := range estimatetest.Hard() {
		for _, s := range []struct{ d, n int }{{1, 700}, {3, 2000}, {5, 60}, {2, 1}, {1, 0}} {
			rows := table.Rows(rng, s.n, s.d)
			for _, rel := range relations {
				for _, mu := range []float64{.05, .3, 3, 1e3} {
					f := find(t, rows, s.d, rel, mu, kerneltest.Options{Seed: rng.Uint64()})
					f.check(t, s.n, s.d, rel)
					if t.Failed() {
						t.Fatalf("%s: d %d n %d %v mu %v", table.Name, s.d, s.n, rel, mu)
					}
					switch {
					case f.none != nil:
						reasons++
					case f.sharp && f.Space.Dim() == 0:
						points++
					case f.sharp:
						fits++
					}
				}
			}
		}
	}
	if reasons == 0 || points == 0 || fits == 0 {
		t.Errorf("%d reasons, %d points, %d with units: the tables do not reach every end", reasons, points, fits)
	}
}

// tableOf is n rows whose columns are given as functions of a generator.
func tableOf(n int, cells ...func(*rand.Rand) float64) [][]float64 {
	rng := rand.New(rand.NewPCG(7, 7))
	rows := make([][]float64, n)
	for i := range rows {
		for _, cell := range cells {
			rows[i] = append(rows[i], cell(rng))
		}
	}
	return rows
}

func normal(center, sd float64) func(*rand.Rand) float64 {
	return func(rng *rand.Rand) float64 { return center + sd*rng.NormFloat64() }
}

func always(x float64) func(*rand.Rand) float64 { return func(*rand.Rand) float64 { return x } }

// TestUnits, on exact answers: centres near the medians, scales near the spread, constants by
// value, and what is said of them.
func TestUnits(t *testing.T) {
	rows := tableOf(4000, normal(1e6, 10), always(-3), normal(0, 1e-5))
	for _, rel := range relations {
		f := find(t, rows, 3, rel, 1, kerneltest.Options{Exact: true})
		if !f.sharp || f.none != nil || f.Rows != 4000 || len(f.Notes.Flags) != 1 || f.Hidden() {
			t.Fatalf("%v: %+v, %+v", rel, f, f.Columns)
		}
		if !slices.Equal(f.Notes.ConstantColumns, []int{1}) || f.Units.Center[1] != -3 {
			t.Errorf("constant %v at %v", f.Notes.ConstantColumns, f.Units.Center)
		}
		for i, want := range []struct{ center, sd float64 }{{1e6, 10}, {0, 1e-5}} {
			if math.Abs(f.Space.Center[i]-want.center) > want.sd/2 || f.Space.Scale[i] < want.sd/4 || f.Space.Scale[i] > 4*want.sd {
				t.Errorf("%v: centre %v, scale %v, want %+v", rel, f.Space.Center[i], f.Space.Scale[i], want)
			}
		}
	}
}

// TestIncompleteRows: rows with a null are told where n is public; where it is not, they cannot be.
func TestIncompleteRows(t *testing.T) {
	rows := tableOf(1000, normal(0, 1))
	for i := range 300 {
		rows[i][0] = math.NaN()
	}
	for _, rel := range relations {
		f := find(t, rows, 1, rel, 1, kerneltest.Options{Exact: true})
		reported := len(f.Notes.Flags) == 1 && strings.Contains(f.Notes.Flags[0].Text, "300 of 1000 rows")
		if f.Rows != 700 || reported != (rel == privacy.ReplaceOne) || !reported && len(f.Notes.Flags) > 0 {
			t.Errorf("%v: %v rows, flags %q", rel, f.Rows, f.Notes.Flags)
		}
	}
}

// is reports that a column is that one.
func is(column *int, want int) bool { return column != nil && *column == want }

// TestBadScale: the outcome has the first column that cannot be used, and the notes on constant
// columns are complete all the same.
func TestBadScale(t *testing.T) {
	f := find(t, tableOf(2000, normal(0, 1), normal(0, 1e307), always(1), normal(0, 1e306)), 4, privacy.ReplaceOne, 1, kerneltest.Options{Exact: true})
	if f.none == nil || !is(f.none.Column, 1) || !slices.Equal(f.Notes.ConstantColumns, []int{2}) {
		t.Errorf("%+v, constant %v", f.none, f.Notes.ConstantColumns)
	}
	for _, s := range []float64{Widest, columns.Narrowest} {
		for _, c := range []struct {
			scale float64
			bad   bool
		}{{s, false}, {s * 2, s == Widest}, {s / 2, s != Widest}} {
			cs := Columns{}
			cs.Space.Columns, cs.Space.Scale = []int{4, 9}, []float64{1, c.scale}
			if none := cs.badScale(); (none != nil) != c.bad || none != nil && !is(none.Column, 9) {
				t.Errorf("scale %v: %+v", c.scale, none)
			}
		}
	}
}

// TestHidden: noise hides all there is only if every column was called constant.
func TestHidden(t *testing.T) {
	for _, c := range []struct {
		vary         []int
		unseen, rows float64
		want         bool
	}{{[]int{1}, 900, 1000, false}, {nil, 499, 1000, false}, {nil, 501, 1000, true}, {nil, 1, -5, true}} {
		cs := Columns{Rows: c.rows, Units: columns.Units{Unseen: c.unseen}, Space: component.Space{Columns: c.vary, Scale: make([]float64, len(c.vary))}}
		if cs.Hidden() != c.want {
			t.Errorf("%+v: %v", c, cs.Hidden())
		}
	}
}

// TestConstantsAreTold: what a constant column hides is told, as a count where it was seen, and as
// a bound where it was not.
func TestConstantsAreTold(t *testing.T) {
	c := Columns{Rows: 10000}
	c.Use(columns.Units{Center: []float64{0, 7, 1, 2}, Scale: []float64{1, 1, 1, 1}, Constant: []bool{true, true, false, true},
		Varied: []float64{310, 20, 9000, -30}, VariedSD: 50})
	want := []estimate.Flag{flags.New(flags.ConstantColumn, "column %v: about 310 rows (3.1%%), give or take 100, differ from the released value, too few to see how far: it is released as constant", flags.Ref{0}).In(0).Of(.031, .005),
		flags.New(flags.ConstantColumn, "constant columns: up to about 220 rows (2.2%%) may differ from the released value without being seen").In(1, 3).Of(.002, .005)}
	names := []string{"a", "b", "c", "d"}
	if !reflect.DeepEqual(flags.Named(c.Notes.Flags, names), flags.Named(want, names)) || !slices.Equal(c.Notes.ConstantColumns, []int{0, 1, 3}) {
		t.Errorf("%q", c.Notes.Flags)
	}
}

// TestFaultsOfThePlan: a step that is not in the plan is an error, not an outcome.
func TestFaultsOfThePlan(t *testing.T) {
	plan := kernel.Plan{Method: "columns", Steps: []kernel.Step{{Name: "count", Query: query.Count{}.Kind(), Share: 1, Most: 1}}}
	s := kerneltest.Open(t, kerneltest.Table(tableOf(10, normal(0, 1)), 1, privacy.ReplaceOne), plan,
		kernel.Terms{Relation: privacy.ReplaceOne, Budget: privacy.Budget{Rho: 1}}, kerneltest.Options{})
	if c, err := Count(s.SubBudget(), "rows", .1); err == nil {
		t.Errorf("counted %+v", c)
	}
	c, err := Count(s.SubBudget(), "count", .1)
	if err != nil {
		t.Fatal(err)
	}
	before := fmt.Sprintf("%+v", c)
	if none, err := findUnits(c, s.SubBudget(), Config("u: ", .1, .1, 1)); err == nil || none != nil || fmt.Sprintf("%+v", c) != before {
		t.Errorf("%+v, %v, %+v", none, err, c)
	}
}
