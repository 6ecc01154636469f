package unkind

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/experiments/families"
	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/model/flags"
	"github.com/gauze-dp/gauze/release"
)

// made is a table of so many rows of row.
func made(n, d int, row func(i int, x []float64, rng *rand.Rand)) *families.Table {
	rng := rand.New(rand.NewPCG(1, 2))
	t := &families.Table{Rows: mat.NewDense(n, d, nil), Components: 1}
	for i := range n {
		row(i, t.Rows.RawRowView(i), rng)
	}
	return t
}

// coded returns flags with these texts; those that are routine have the codes that fits give them.
func coded(texts []string) (out []release.Flag) {
	codes := map[string]flags.Code{"constant columns: ": flags.ConstantColumn, "released as constant": flags.ConstantColumn, "unusable value": flags.IncompleteRows,
		"missing at random": flags.MissingCells}
	for _, text := range texts {
		f := release.Flag{Code: flags.Method, Text: text}
		for part, code := range codes {
			if strings.Contains(text, part) {
				f.Code = code
			}
		}
		out = append(out, f)
	}
	return out
}

// fitted is a release of components; each is a weight, means and standard deviations.
func fitted(t *testing.T, told []string, background bool, components ...[]float64) engine.Fitted {
	t.Helper()
	var w []float64
	var gs []model.Gaussian
	r := &release.Release{Diagnostics: release.Diagnostics{Flags: coded(told)}}
	for _, c := range components {
		d := (len(c) - 1) / 2
		variances := make([]float64, d)
		for j := range variances {
			variances[j] = c[1+d+j] * c[1+d+j]
		}
		cov, err := model.NewDiagonal(variances)
		if err != nil {
			t.Fatal(err)
		}
		w, gs = append(w, c[0]), append(gs, model.Gaussian{Mean: c[1 : 1+d], Cov: cov})
		r.Diagnostics.Components = append(r.Diagnostics.Components, release.ComponentNote{EffectiveRows: 1})
	}
	var err error
	if r.Model, err = model.New(nil, w, gs); err != nil {
		t.Fatal(err)
	}
	out := engine.Fitted{Release: r, Foreground: r.Model}
	if background {
		k := len(gs) - 1
		for i := range k {
			w[i] /= 1 - w[k]
		}
		r.Model.Background = append(make([]bool, k), true)
		if out.Foreground, err = model.New(nil, append([]float64(nil), w[:k]...), gs[:k]); err != nil {
			t.Fatal(err)
		}
		for i := range k {
			w[i] *= 1 - w[k]
		}
	}
	return out
}

func check(t *testing.T, name string, q question, got engine.Fitted, want string) {
	t.Helper()
	j, err := q.judge(got)
	if err != nil || j.verdict != want {
		t.Errorf("%s: %s (%s), %v; want %s", name, j.verdict, j.why, err, want)
	}
}

const muOfTests = .2

// One distribution: each thing that can be wrong is, and what excuses it does.
func TestVerdictOfMoments(t *testing.T) {
	q := question{table: made(10_000, 2, func(_ int, x []float64, rng *rand.Rand) {
		x[0], x[1] = 50+10*rng.NormFloat64(), 3*rng.NormFloat64()
	}), most: 1, mu: muOfTests}
	warning := []string{"about 7% of the rows lie far outside"}
	check(t, "right", q, fitted(t, nil, false, []float64{1, 50, 0, 10, 3}), fine)
	check(t, "right and flagged", q, fitted(t, warning, false, []float64{1, 50, 0, 10, 3}), fine)
	for name, c := range map[string][]float64{"mean": {1, 52, 0, 10, 3}, "wide": {1, 50, 0, 13, 3}, "narrow": {1, 50, 0, 10, 2.1}, "none": {1, 50, 0, 0, 3},
		"absurd": {1, 50, 0, 1e100, 3}} {
		check(t, name, q, fitted(t, nil, false, c), silent)
		check(t, name+", flagged", q, fitted(t, warning, false, c), flagged)
		for _, routine := range []string{"constant columns: up to about 40 rows may differ from the released value without being seen",
			"about 1.5% of the rows have a missing or unusable value and were not used",
			"about 30% of the rows lack a cell; their other cells are used, as if cells were missing at random"} {
			check(t, name+", routine", q, fitted(t, []string{routine}, false, c), silent)
		}
	}
	together := question{table: made(10_000, 2, func(_ int, x []float64, rng *rand.Rand) {
		x[0] = rng.NormFloat64()
		x[1] = x[0]/2 + math.Sqrt(.75)*rng.NormFloat64()
	}), most: 1, mu: muOfTests}
	check(t, "correlation", together, fitted(t, nil, false, []float64{1, 0, 0, 1, 1}), silent)
	together.shape = estimate.Diagonal
	check(t, "none asked for", together, fitted(t, nil, false, []float64{1, 0, 0, 1, 1}), fine)
	q.table.NoMoments = true
	check(t, "no moments", q, fitted(t, nil, false, []float64{1, 50, 0, 10, 3}), silent)
	check(t, "no moments, said", q, fitted(t, warning, false, []float64{1, 50, 0, 10, 3}), flagged)
	check(t, "no moments, something else said", q, fitted(t, []string{"the noise is large"}, false, []float64{1, 50, 0, 10, 3}), silent)
}

// What a note on constant columns says is compared with the rows.
func TestVerdictOfConstants(t *testing.T) {
	note := []string{"constant columns: up to about 100 rows may differ from the released value without being seen"}
	for differ, want := range map[int]string{0: fine, 90: fine, 200: silent, 3000: silent} {
		q := question{table: made(10_000, 2, func(i int, x []float64, rng *rand.Rand) {
			x[0], x[1] = rng.NormFloat64(), 7
			if i < differ {
				x[1] = 8
			}
		}), most: 1, mu: muOfTests}
		check(t, "constant", q, fitted(t, note, false, []float64{1, 0, 7, 1, 0}), want)
		if differ > unseenRows/muOfTests {
			check(t, "constant without a note", q, fitted(t, nil, false, []float64{1, 0, 7, 1, 0}), silent)
		}
	}
}

// So is a number of rows that is said of one column, which may be too large too.
func TestVerdictOfStatedDifferences(t *testing.T) {
	note := []string{"column x2: about 400 rows (4.0%), give or take 30, differ from the released value, too few to see how far: it is released as constant"}
	for differ, want := range map[int]string{100: silent, 380: fine, 480: fine, 700: silent} {
		q := question{table: made(10_000, 2, func(i int, x []float64, rng *rand.Rand) {
			x[0], x[1] = rng.NormFloat64(), 7
			if i < differ {
				x[1] = 8
			}
		}), most: 1, mu: muOfTests}
		check(t, "constant", q, fitted(t, note, false, []float64{1, 0, 7, 1, 0}), want)
		check(t, "another column", q, fitted(t, note, false, []float64{1, 1, 7, 1, 0}), silent)
	}
}

// Stray rows may be left out, if that is said or if they are too few to be seen.
func TestVerdictOfStrays(t *testing.T) {
	clean, whole := []float64{1, 0, 1}, []float64{1, 50, 223}
	for _, c := range []struct {
		share       int
		flags       []string
		model       []float64
		want        string
		description string
	}{
		{500, []string{"at least 4% of the rows lie far outside"}, clean, fine, "left out and said"},
		{500, nil, clean, silent, "left out"},
		{500, nil, whole, fine, "taken in"},
		{500, []string{"stray rows"}, []float64{1, 20, 100}, flagged, "between"},
		{500, nil, []float64{1, 20, 100}, silent, "between, unsaid"},
		{30, nil, clean, fine, "too few to be seen"},
		{30, nil, []float64{1, 0, .5}, silent, "few, and wrong for the others"},
		{90, nil, clean, silent, "enough to be seen"},
	} {
		table := made(10_000, 1, func(i int, x []float64, rng *rand.Rand) {
			x[0] = rng.NormFloat64()
			if i < c.share {
				x[0] = 1023
			}
		})
		table.Outliers = make([]bool, 10_000)
		for i := range c.share {
			table.Outliers[i] = true
		}
		q := question{table: table, most: 1, mu: muOfTests}
		check(t, c.description, q, fitted(t, c.flags, false, c.model), c.want)
	}
}

// Mixtures.
func TestVerdictOfMixtures(t *testing.T) {
	table := made(20_000, 2, func(i int, x []float64, rng *rand.Rand) {
		x[0], x[1] = rng.NormFloat64(), rng.NormFloat64()
		if i%10 == 0 {
			x[0] += 12
		}
	})
	table.Components, table.Labels = 2, make([]int, 20_000)
	for i := range table.Labels {
		if i%10 == 0 {
			table.Labels[i] = 1
		}
	}
	q := question{table: table, mixture: true, shape: estimate.Diagonal, k: 2, mu: muOfTests}
	big, small := []float64{.9, 0, 0, 1, 1}, []float64{.1, 12, 0, 1, 1}
	check(t, "right", q, fitted(t, nil, false, big, small), fine)
	check(t, "one in its place", q, fitted(t, nil, false, []float64{1, 1.2, 0, 3.74, 1}), silent)
	check(t, "the light one left out", q, fitted(t, nil, false, []float64{1, 0, 0, 1, 1}), silent)
	check(t, "left out and said", q, fitted(t, []string{"1 of 2 components hold too few rows to be seen"}, false, []float64{1, 0, 0, 1, 1}), flagged)
	check(t, "somewhere else", q, fitted(t, nil, false, []float64{.9, 0, 0, 1, 1}, []float64{.1, 8, 0, 1, 1}), silent)
	check(t, "too heavy", q, fitted(t, nil, false, []float64{.75, 0, 0, 1, 1}, []float64{.25, 12, 0, 1, 1}), silent)
	check(t, "three", q, fitted(t, nil, false, []float64{.45, 0, 0, 1, 1}, []float64{.45, 0, 0, 1, 1}, small), silent)
	nobody := [][]float64{{.87, 0, 0, 1, 1}, small, {.03, 0, 1e17, 1, 7e18}}
	free := q
	free.k, free.most = 0, 10
	check(t, "for nobody", free, fitted(t, nil, false, nobody...), silent)
	nobody[2] = []float64{.03, 0, 1e150, 1, 1e153}
	check(t, "for nobody, without a square", free, fitted(t, nil, false, nobody...), silent)
	nobody[2] = []float64{.03, 3, 0, 20, 40}
	check(t, "background", free, fitted(t, nil, true, nobody...), fine)
}

// Atoms: a narrow component on one is as good as it, a wide one is not.
func TestVerdictOfAtoms(t *testing.T) {
	table := made(10_000, 1, func(i int, x []float64, _ *rand.Rand) { x[0] = float64(i % 2) })
	q := question{table: table, mixture: true, k: 2, mu: muOfTests}
	check(t, "atoms", q, fitted(t, nil, false, []float64{.5, 0, 0}, []float64{.5, 1, 0}), fine)
	check(t, "narrow", q, fitted(t, nil, false, []float64{.5, .001, 1e-5}, []float64{.5, .999, 1e-5}), fine)
	check(t, "one wide", q, fitted(t, nil, false, []float64{.5, .5, .5}, []float64{.5, .5, .5}), silent)
	q.k = 1
	check(t, "the one that was asked for", q, fitted(t, nil, false, []float64{1, .5, .5}), fine)
}

// Outcomes without a model.
func TestVerdictWithoutModel(t *testing.T) {
	q := question{table: made(10_000, 2, func(_ int, x []float64, rng *rand.Rand) { x[0], x[1] = rng.NormFloat64(), rng.NormFloat64() }), most: 1, mu: muOfTests}
	check(t, "refused", q, engine.Fitted{Why: "refused: too few rows"}, refused)
	check(t, "no release", q, engine.Fitted{Why: "no release: the noise"}, exit3)
	check(t, "a fault", q, engine.Fitted{Why: "fault: internal"}, faulty)
	q.mu = .001
	check(t, "hopeless", q, engine.Fitted{Why: "no release: the noise"}, hopeless)
}

// EM finds what there is, so that it can be a reference.
func TestReference(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	col := make([]float64, 20_000)
	for i := range col {
		col[i] = rng.NormFloat64()
		if i%4 == 0 {
			col[i] = 1e3 + 20*col[i]
		}
	}
	c := comparison{question: question{table: &families.Table{Rows: mat.NewDense(1, 1, nil)}}}
	if m := c.reference(0, col, 0); len(m) < 2 || empirical(col).distance(m) > .02 {
		t.Errorf("the reference is %v", m)
	}
	if m := c.reference(0, col, 1); len(m) != 1 || empirical(col).distance(m) < .2 {
		t.Errorf("the reference of one component is %v", m)
	}
}

// TestStrictBar: a column that is off is unsaid unless a flag names it, or unless the rows that
// nobody could see explain it; a column that is right and named is named wrongly.
func TestStrictBar(t *testing.T) {
	q := question{table: made(10_000, 2, func(i int, x []float64, rng *rand.Rand) {
		if x[0], x[1] = 50+10*rng.NormFloat64(), 3*rng.NormFloat64(); i < 20 {
			x[1] = 1000
		}
	}), most: 1, mu: muOfTests}
	for _, c := range []struct {
		name  string
		one   []float64
		named []string
		want  strictVerdict
	}{
		{"right, but for unseen rows", []float64{1, 50, 0, 10, 3}, nil, strictVerdict{few: true}},
		{"wide", []float64{1, 50, 0, 12, 3}, nil, strictVerdict{unsaid: "column 1: mean off", few: true}},
		{"moved", []float64{1, 52, 0, 10, 3}, nil, strictVerdict{unsaid: "column 1: mean off", few: true}},
		{"wide and named", []float64{1, 50, 0, 12, 3}, []string{"x1"}, strictVerdict{few: true, named: 1, namedRight: 1}},
		{"named for nothing", []float64{1, 50, 0, 10, 3}, []string{"x1", "x2"}, strictVerdict{named: 2, namedRight: 1}},
	} {
		r := fitted(t, nil, false, c.one).Release
		r.Model.Columns = []string{"x1", "x2"}
		if c.named != nil {
			r.Diagnostics.Flags = []release.Flag{{Code: flags.HeavyTail, Columns: c.named}}
		}
		with := comparison{question: q, said: saidOf(r), release: r}
		got := with.strictly(r.Model, with.rows(false))
		if want := c.want; !strings.HasPrefix(got.unsaid, want.unsaid) || (got.unsaid == "") != (want.unsaid == "") || got.few != want.few || got.named != want.named || got.namedRight != want.namedRight {
			t.Errorf("%s: %+v, want %+v", c.name, got, want)
		}
	}
}
