package gauze

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/categories"
	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/model/flags"
	"github.com/gauze-dp/gauze/release"
	"github.com/gauze-dp/gauze/source"
	"github.com/gauze-dp/gauze/source/shards"
)

// clinics are rows of two groups that differ in their wards: the first, 2/5 of the rows, lies at 0
// and has a in .7 of its rows, the second at 9 and c in .8. Sex has nothing to do with them; .05 of
// its cells are missing, and some of x.
func clinics(rng *rand.Rand, n int) string {
	var b strings.Builder
	b.WriteString("sex,x,clinic,ward,y,pid\n")
	for i := range n {
		at, ward, sex := 0., "aaaaaaabbc"[rng.IntN(10)], []string{"f", "m"}[rng.IntN(2)]
		if rng.IntN(5) > 1 {
			at, ward = 9, "abcccccccc"[rng.IntN(10)]
		}
		if rng.IntN(20) == 0 {
			sex = ""
		}
		x := fmt.Sprint(at + rng.NormFloat64())
		if rng.IntN(100) == 0 {
			x = ""
		}
		fmt.Fprintf(&b, "%s,%s,%c,%c,%g,%d\n", sex, x, "ns"[i%2], ward, at+rng.NormFloat64(), i/2)
	}
	return b.String()
}

// mixedSchema declares such a table.
func mixedSchema() *source.Schema {
	return &source.Schema{Unit: source.NoUnit, Columns: []source.Column{{Name: "ward", Kind: source.Categories, Categories: []string{"a", "b", "c"}}, {Name: "x"}, {Name: "y"},
		{Name: "sex", Kind: source.Categories, Categories: []string{"f", "m"}}}}
}

// fitMixed fits such a table; in may be changed before.
func fitMixed(t *testing.T, text string, schema *source.Schema, r Request, room func(*Input)) *Result {
	t.Helper()
	in, err := Open("-", strings.NewReader(text), schema)
	if err != nil {
		t.Fatal(err)
	}
	if room != nil {
		room(in)
	}
	r = in.Fill(r)
	if r.Relation == 0 {
		r.Relation = privacy.ReplaceOne
	}
	table, err := in.Load(r.Relation, nil)
	if err != nil {
		t.Fatal(err)
	}
	result, err := Fit(context.Background(), table, r)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// TestCategories: with every method that people use, under both relations, in memory and on disk,
// categories are measured beside the numbers: a group's wards are its own, the release verifies and
// reads back, and what was spent is what was asked. False alarms: below 1e-6, errors being ten of
// the noise and sampling together.
func TestCategories(t *testing.T) {
	text := clinics(rand.New(rand.NewPCG(stattest.Seed(t), 1)), 16000)
	want := map[string][2][]float64{"ward": {{.7, .2, .1, 0}, {.1, .1, .8, 0}}, "sex": {{.475, .475, .05}, {.475, .475, .05}}}
	for _, c := range []struct {
		method     string
		components int
		relation   privacy.Relation
		budget     privacy.Budget
		room       bool
	}{
		{method: "auto"}, {method: "general", relation: privacy.AddRemoveOne}, {method: "separated", components: 2}, {method: "general", components: 2, room: true},
		{method: "axis-aligned", components: 2}, {method: "black-box", components: 2}, {method: "gaussian", components: 1}, {method: "gaussian", components: 1, relation: privacy.AddRemoveOne},
		{method: "heavy-tailed", components: 1}, {method: "auto", budget: privacy.Budget{Rho: .5}},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			t.Parallel()
			r := Request{Method: c.method, Components: c.components, Relation: c.relation, Budget: c.budget}
			if r.Budget == (privacy.Budget{}) {
				r.Budget = privacy.Budget{Epsilon: 4, Delta: 1e-6}
			}
			var keep func(*Input)
			if c.room {
				keep = func(in *Input) { in.Keep(shards.New(0, t.TempDir())) }
			}
			result := fitMixed(t, text, mixedSchema(), r, keep)
			if result.Release == nil {
				t.Fatalf("no release: %v", result.NoRelease)
			}
			out := reread(t, result.Release)
			m := out.Model
			if v := Verify(out); v.Faults != nil || !v.Replanned {
				t.Fatalf("it does not verify: %v", v)
			}
			if got := m.Header(); !slices.Equal(got, []string{"ward", "x", "y", "sex"}) || len(m.Categories) != 2 {
				t.Fatalf("the columns are %q", got)
			}
			groups, _ := m.Split()
			for _, column := range m.Categories {
				for i, p := range column.Probabilities {
					noise := out.Diagnostics.Components[i].CategoryNoise
					if !slices.Contains(groups, i) || noise > .1 {
						continue
					}
					of, low := want[column.Name], m.Components[i].Mean[0] < 4
					for v := range p {
						w := .4*of[0][v] + .6*of[1][v]
						if c.components != 1 {
							w = of[1][v]
							if low {
								w = of[0][v]
							}
						}
						if math.Abs(p[v]-w) > 10*(noise+.005) {
							t.Errorf("component %d of %d, %s %q: %v, want %v (noise %v)", i, len(m.Components), column.Name, column.Values[v], p[v], w, noise)
						}
					}
				}
			}
		})
	}
}

// reread writes a release and reads it.
func reread(t *testing.T, r *release.Release) *release.Release {
	t.Helper()
	var file bytes.Buffer
	if err := release.Write(&file, r); err != nil {
		t.Fatal(err)
	}
	out, err := release.Read(&file)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestCategoriesOfGroupsAndPersons: every group has categories of its own, and a person with
// several rows counts once.
func TestCategoriesOfGroupsAndPersons(t *testing.T) {
	text := clinics(rand.New(rand.NewPCG(stattest.Seed(t), 2)), 20000)
	schema := mixedSchema()
	schema.By = []source.Grouping{{Name: "clinic", Categories: []string{"n", "s"}}}
	in, err := Open("-", strings.NewReader(text), schema)
	if err != nil {
		t.Fatal(err)
	}
	groups, err := in.LoadGroups(nil)
	if err != nil {
		t.Fatal(err)
	}
	r := in.Request()
	r.Relation, r.Budget, r.Components = privacy.ReplaceOne, privacy.Budget{Epsilon: 4, Delta: 1e-6}, 1
	result, err := FitGroups(context.Background(), *groups, r)
	if err != nil || result.Release == nil {
		t.Fatal(err, result)
	}
	out := reread(t, result.Release)
	if v := Verify(out); v.Faults != nil {
		t.Fatal(v.Faults)
	}
	for i, g := range out.Groups {
		if p := g.Model.Categories[0].Probabilities[0]; math.Abs(p[0]-.34) > .1 || !slices.Equal(g.Model.Header(), []string{"ward", "x", "y", "sex"}) {
			t.Errorf("group %d has %v", i, p)
		}
	}
	persons := mixedSchema()
	persons.Unit = "pid"
	if got := fitMixed(t, text, persons, Request{Components: 1, Budget: privacy.Budget{Epsilon: 4, Delta: 1e-6}}, nil); *got.Certificate.Rows != 10000 || got.Release == nil {
		t.Errorf("%d persons: %v", *got.Certificate.Rows, got.NoRelease)
	}
}

// TestCategoriesLeaveNumbersAlone: the answers about numbers beside categories are those of the
// same numbers by themselves, at the part of the budget that they have.
func TestCategoriesLeaveNumbersAlone(t *testing.T) {
	text := clinics(rand.New(rand.NewPCG(3, 3)), 4000)
	sums := func(schema *source.Schema) *kerneltest.Transcript {
		in, err := Open("-", strings.NewReader(text), schema)
		if err != nil {
			t.Fatal(err)
		}
		r := in.Fill(Request{Method: "gaussian", Components: 1, Relation: privacy.ReplaceOne, Budget: privacy.Budget{Epsilon: 1, Delta: 1e-6}})
		table, err := in.Load(r.Relation, nil)
		if err != nil {
			t.Fatal(err)
		}
		q, err := r.check(4000)
		if err != nil {
			t.Fatal(err)
		}
		plan, _, err := q.calibrated()
		if err != nil {
			t.Fatal(err)
		}
		var heard kerneltest.Transcript
		s := kerneltest.Open(t, table, plan, kernel.Terms{Relation: r.Relation, Budget: r.Budget}, kerneltest.Options{Exact: true, Record: &heard})
		if _, err := q.measure(context.Background(), s); err != nil {
			t.Fatal(err)
		}
		return &heard
	}
	with, without := sums(mixedSchema()), sums(&source.Schema{Unit: source.NoUnit, Columns: Named("x", "y")})
	last := slices.Index(with.Steps, categories.Step)
	if last < 0 || !slices.Equal(with.Sums[0], without.Sums[0]) || with.Steps[0] != without.Steps[0] {
		t.Errorf("with categories %q, first %v; without %q, first %v", with.Steps, with.Sums[0], without.Steps, without.Sums[0])
	}
	sum, of := 0., 0.
	for i, mu := range with.Mus {
		if sum += mu * mu; i >= last {
			of += mu * mu
		}
	}
	p := estimate.Problem{Columns: 2, Rows: 4000, Relation: privacy.ReplaceOne, Categories: []int{4, 3}}
	if want := categories.SharesOf(p, math.Sqrt(sum), true).All; math.Abs(of/sum-want) > .002 {
		t.Errorf("categories have %v of what is spent, want %v", of/sum, want)
	}
}

// TestCoreBesideOthers: a core is of the model's columns of numbers alone, whatever other columns
// there are: categories, and one with too few cells to be in the model.
func TestCoreBesideOthers(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 5))
	var b strings.Builder
	b.WriteString("x,y,sex,few\n")
	for i := range 8000 {
		x := rng.NormFloat64()
		if i%30 == 0 {
			x = 1e4 + rng.NormFloat64()
		}
		fmt.Fprintf(&b, "%g,%g,%s,%s\n", x, rng.NormFloat64(), []string{"f", "m"}[rng.IntN(2)], map[bool]string{true: "3"}[i%900 == 0])
	}
	sex := source.Column{Name: "sex", Kind: source.Categories, Categories: []string{"f", "m"}}
	for _, columns := range [][]source.Column{append(Named("x", "y"), sex), Named("x", "y", "few"), append(Named("x", "y", "few"), sex)} {
		out := fitMixed(t, b.String(), &source.Schema{Unit: source.NoUnit, Columns: columns}, Request{Method: "gaussian", Components: 1, Budget: privacy.Budget{Epsilon: 4, Delta: 1e-6}}, nil).Release
		if out == nil || out.Diagnostics.Core == nil || len(out.Diagnostics.Core.Mean) != 2 {
			t.Fatalf("%+v: no core of x and y: %+v", columns, out)
		}
		if v := Verify(reread(t, out)); v.Faults != nil {
			t.Errorf("%+v: %v", columns, v.Faults)
		}
	}
}

// TestPairsAltered: a release is refused that claims to have counted fewer pairs of columns than
// its plan has, whose noise would be less, at the same cost: where rows suffice for all pairs, and
// where those with the last column alone are counted.
func TestPairsAltered(t *testing.T) {
	schema := mixedSchema()
	schema.Columns = append(schema.Columns, source.Column{Name: "clinic", Kind: source.Categories, Categories: []string{"n", "s"}})
	for rows, counted := range map[int]map[string]int{8000: {categories.StepPairs: 3, categories.StepTree: 2}, 600: {categories.StepPairs: 2}} {
		good := fitMixed(t, clinics(rand.New(rand.NewPCG(stattest.Seed(t), 4)), rows), schema, Request{Components: 1, Budget: privacy.Budget{Epsilon: 4, Delta: 1e-6}}, nil).Release
		for step, pairs := range counted {
			r := reread(t, good)
			at := slices.IndexFunc(r.Certificate.Plan, func(s release.PlanStep) bool { return s.Step == step })
			if at < 0 || r.Certificate.Plan[at].Shape.Of != pairs || Verify(r).Faults != nil {
				t.Fatalf("%d rows, %s: %+v, %v", rows, step, r.Certificate.Plan, Verify(r))
			}
			line := &r.Certificate.Plan[at]
			line.Shape.Of, line.Sensitivity, line.Noise = 1, line.Sensitivity/math.Sqrt(float64(pairs)), line.Noise/math.Sqrt(float64(pairs))
			if Verify(r).Faults == nil {
				t.Errorf("%d rows, %s: it verifies", rows, step)
			}
		}
	}
}

// TestCategoriesAltered: a release whose categories were changed is refused.
func TestCategoriesAltered(t *testing.T) {
	text := clinics(rand.New(rand.NewPCG(stattest.Seed(t), 4)), 8000)
	good := fitMixed(t, text, mixedSchema(), Request{Components: 1, Budget: privacy.Budget{Epsilon: 4, Delta: 1e-6}}, nil).Release
	at := slices.IndexFunc(good.Certificate.Plan, func(s release.PlanStep) bool { return s.Step == categories.Step })
	for name, change := range map[string]func(r *release.Release){
		"no categories":  func(r *release.Release) { r.Model.Categories = nil },
		"a column less":  func(r *release.Release) { r.Model.Categories = r.Model.Categories[:1] },
		"another value":  func(r *release.Release) { r.Model.Categories[0].Values[1] = "q" },
		"another name":   func(r *release.Release) { r.Model.Categories[0].Name = "q" },
		"another kind":   func(r *release.Release) { r.Columns[0].Kind, r.Columns[0].Categories = "", nil },
		"a sum":          func(r *release.Release) { r.Model.Categories[0].Probabilities[0][0] += .5 },
		"less noise":     func(r *release.Release) { r.Certificate.Plan[at].Noise /= 2; r.Certificate.Plan[at].Mu *= 2 },
		"fewer columns":  func(r *release.Release) { r.Certificate.Plan[at].Shape.Of = 1 },
		"no measurement": func(r *release.Release) { r.Certificate.Plan = slices.Delete(r.Certificate.Plan, at, at+1) },
	} {
		r := reread(t, good)
		if change(r); Verify(r).Faults == nil {
			t.Errorf("%s: it verifies", name)
		}
	}
	if v := Verify(reread(t, good)); v.Faults != nil {
		t.Error(v.Faults)
	}
}

// TestDescribeCategories: table one has a share of every value.
func TestDescribeCategories(t *testing.T) {
	text := clinics(rand.New(rand.NewPCG(stattest.Seed(t), 5)), 16000)
	out := reread(t, fitMixed(t, text, mixedSchema(), Request{Method: MethodProfile, Budget: privacy.Budget{Epsilon: 2, Delta: 1e-6}}, nil).Release)
	if v := Verify(out); v.Faults != nil || len(out.Profile) != 4 || out.Profile[0].Name != "ward" || out.Profile[1].Mean == nil {
		t.Fatalf("%v, %+v", v.Faults, out.Profile)
	}
	for i, want := range []float64{.34, .14, .52, 0} {
		if got := out.Profile[0].Values[i]; math.Abs(got.Share-want) > 10*(got.Noise+.004) {
			t.Errorf("ward %q has %v, want %v", got.Value, got.Share, want)
		}
	}
}

// TestCategoriesRefused: what cannot be had with categories is refused for free.
func TestCategoriesRefused(t *testing.T) {
	r := Request{Columns: mixedSchema().Columns, Relation: privacy.ReplaceOne, Budget: privacy.Budget{Epsilon: 1}, Method: "univariate:kv18", Components: 1}
	if err := r.Validate(); err == nil || !strings.Contains(err.Error(), "ask for a delta") {
		t.Errorf("a pure budget: %v", err)
	}
}

// TestVerifyCountsCategories: a certificate that has counts of fewer columns of categories than the
// release has, and so less sensitivity, is refused.
func TestVerifyCountsCategories(t *testing.T) {
	text := clinics(rand.New(rand.NewPCG(5, 6)), 4000)
	for _, r := range []Request{{Method: "gaussian", Components: 1}, {Method: MethodProfile}} {
		r.Budget = privacy.Budget{Epsilon: 3, Delta: 1e-6}
		out := fitMixed(t, text, mixedSchema(), r, nil).Release
		if v := Verify(out); v.Faults != nil {
			t.Fatal(v.Faults)
		}
		for i := range out.Certificate.Plan {
			if step := &out.Certificate.Plan[i]; step.Step == categories.Step {
				step.Shape.Of = 1
				step.Sensitivity, step.Noise = step.Sensitivity/math.Sqrt2, step.Noise/math.Sqrt2
			}
		}
		if v := Verify(out); v.Faults == nil || !strings.Contains(fmt.Sprint(v.Faults), "columns of categories") {
			t.Errorf("%s: counts of one column of two are believed: %v", r.Method, v.Faults)
		}
	}
}

// TestCategoriesBesideHeldOut: beside categories too a column with too few values is held out by
// name; the others are fitted and drawn in the order of the table, categories are counted by the
// numbers that the model has, and gaps are known of every column.
func TestCategoriesBesideHeldOut(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	var b strings.Builder
	for i, line := range strings.Split(strings.TrimSpace(clinics(rng, 20000)), "\n") {
		z := ""
		if i == 0 {
			z = "z"
		} else if rng.IntN(300) == 0 {
			z = "1.5"
		}
		fmt.Fprintf(&b, "%s,%s\n", z, line)
	}
	schema := mixedSchema()
	schema.Columns = slices.Insert(schema.Columns, 1, source.Column{Name: "z"})
	result := fitMixed(t, b.String(), schema, Request{Budget: privacy.Budget{Epsilon: 4, Delta: 1e-6}}, nil)
	if result.Release == nil {
		t.Fatal(result.NoRelease)
	}
	r := result.Release
	if !slices.Equal(r.Model.Columns, []string{"x", "y"}) || !slices.Equal(r.Model.Header(), []string{"ward", "x", "y", "sex"}) {
		t.Errorf("columns %q of %q", r.Model.Columns, r.Model.Header())
	}
	if len(r.Profile) != 5 || r.Profile[1].HeldOut == "" || math.Abs(r.Profile[2].Cells-.99) > .02 || len(r.Profile[0].Values) != 4 {
		t.Errorf("the profile is %+v", r.Profile)
	}
	for i, g := range r.Model.Components { // wards go with places
		if p := r.Model.Categories[0].Probabilities[i]; r.Model.Weights[i] > .1 && (g.Mean[0] < 4) != (p[0] > p[2]) {
			t.Errorf("component %d at %v has the wards %v", i, g.Mean, p)
		}
	}
	if v := Verify(r); v.Faults != nil {
		t.Error(v.Faults)
	}
}

// TestFewRowsOfManyColumns: 1,000 rows of seven numbers and fourteen categories at epsilon 1 are
// too few for how columns depend on each other. A fit has every column by itself and says so, its
// plan is made again, and drawn rows have the shares that were counted: half of the rows of one
// column are 0, where a normal curve would have .02. In 9 of 150 fits the profile said nothing of
// that column, and in 3 of these it was in the model, without its zeros: that none of three fits
// counts them has a probability of 2e-4. False alarms of the share, whose noise is below .042:
// below 1e-5.
func TestFewRowsOfManyColumns(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 3))
	for range 3 {
		if countsZeros(t, rng) {
			return
		}
	}
	t.Error("no fit of three counts the zeros")
}

// countsZeros fits rows of 21 columns, and reports that the profile describes the first.
func countsZeros(t *testing.T, rng *rand.Rand) bool {
	t.Helper()
	schema, cells := &source.Schema{Unit: source.NoUnit}, []string(nil)
	for j := range 21 {
		c := source.Column{Name: fmt.Sprintf("c%d", j), Kind: source.Counts}
		if j >= 7 {
			c.Kind, c.Categories = source.Categories, []string{"a", "b", "c"}
		}
		schema.Columns = append(schema.Columns, c)
		cells = append(cells, c.Name)
	}
	lines := []string{strings.Join(cells, ",")}
	for range 1000 {
		for j := range cells {
			switch {
			case j >= 7:
				cells[j] = string("aaabbc"[rng.IntN(6)])
			case j == 0 && rng.IntN(2) == 0:
				cells[j] = "0"
			default:
				cells[j] = fmt.Sprint(math.Round(math.Abs(30 + 12*rng.NormFloat64())))
			}
		}
		lines = append(lines, strings.Join(cells, ","))
	}
	result := fitMixed(t, strings.Join(lines, "\n"), schema, Request{Budget: privacy.Budget{Epsilon: 1, Delta: 1e-6}}, nil)
	if result.Release == nil {
		t.Fatalf("no release: %+v", result.NoRelease)
	}
	out := reread(t, result.Release)
	if v := Verify(out); v.Faults != nil || !v.Replanned || slices.ContainsFunc(v.Warnings, func(w string) bool { return strings.Contains(w, "leaves out") }) {
		t.Fatalf("it does not verify: %v", v)
	}
	if out.Model.CovarianceType() == "full" || !slices.ContainsFunc(out.Diagnostics.Flags, func(f release.Flag) bool { return f.Code == flags.OtherShape }) {
		t.Errorf("nothing says that columns are by themselves: %v", out.Diagnostics.Flags)
	}
	s, err := model.NewSampler(out.Model)
	if err != nil {
		t.Fatal(err)
	}
	row, share := make([]float64, out.Model.Dim()), 0.
	for range 20_000 {
		if s.Row(row, rng); row[0] == 0 {
			share += 1. / 20_000
		}
	}
	described := out.Profile[0].HeldOut == ""
	if first := out.Model.Columns[0] == "c0"; len(row) < 5 || described && !first || described && (share < .3 || share > .7) {
		t.Errorf("%d columns; %.3f of the drawn rows have the shared value", len(row), share)
	}
	return described
}
