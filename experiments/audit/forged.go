package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/learner"
	"github.com/gauze-dp/gauze/release"
	"github.com/gauze-dp/gauze/source"
)

// A genuine is a fit whose release is forged.
type genuine struct {
	name, about string
	text        func() string // the table, as CSV
	schema      source.Schema
	request     gauze.Request
}

var (
	usual = privacy.Budget{Epsilon: 1, Delta: 1e-6}
	more  = privacy.Budget{Epsilon: 3, Delta: 1e-6}
	facts = estimate.Facts{KnowsMean: true, MeanWithin: 100, Eigenvalues: [2]float64{.25, 25}}
)

// genuines returns the releases that are forged: of methods, relations and budgets of every sort.
func genuines() []genuine {
	ten := 10.0
	minus := -10.0
	limited := source.Schema{Title: "Visits", Columns: []source.Column{{Name: "x", AtLeast: &minus, AtMost: &ten}, {Name: "y"}}}
	plain := source.Schema{Columns: gauze.Named("x", "y")}
	line := source.Schema{Columns: gauze.Named("x")}
	add := privacy.AddRemoveOne
	return []genuine{
		{"one", "`gaussian`, replace-one, limits stated", func() string { return rows(4000, 1, 0) }, limited, gauze.Request{Components: 1, Budget: usual}},
		{"inferred", "the same with an inferred schema", func() string { return rows(4000, 1, 0) }, plain, gauze.Request{Components: 1, Budget: usual, SchemaInferred: true}},
		{"mixture", "`general`, two components and one row in ten stray", func() string { return rows(9000, 2, 10) }, plain, gauze.Request{Method: "general", Components: 2, Budget: more}},
		{"private", "`heavy-tailed`, add-or-remove-one", func() string { return rows(4000, 1, 0) }, plain, gauze.Request{Method: "heavy-tailed", Components: 1, Relation: add, Budget: usual}},
		{"boxes", "`axis-aligned`, thresholds", func() string { return rows(6000, 2, 0) }, plain, gauze.Request{Method: "axis-aligned", Components: 2, Budget: more}},
		{"line", "`univariate`, thresholds", func() string { return rows(4000, 2, 0) }, line, gauze.Request{Method: "univariate", Budget: more}},
		{"blocks", "`black-box`, a Rényi curve", func() string { return rows(8000, 1, 0) }, line, gauze.Request{Method: "black-box", Components: 1, Budget: privacy.Budget{Epsilon: 8, Delta: 1e-6}}},
		{"stranger", "the same with somebody's own learner", func() string { return rows(8000, 1, 0) }, line,
			gauze.Request{Method: "black-box", Components: 1, Budget: privacy.Budget{Epsilon: 8, Delta: 1e-6}, Own: own{}}},
		{"groups", "two groups, replace-one", func() string { return rows(8000, 1, 0) },
			source.Schema{Columns: gauze.Named("x", "y"), By: []source.Grouping{{Name: "sex", Categories: []string{"f", "m"}}}}, gauze.Request{Components: 1, Budget: more}},
		{"persons", "`--unit`", func() string { return rows(8000, 1, 0) }, source.Schema{Columns: gauze.Named("x", "y"), Unit: "person"}, gauze.Request{Components: 1, Budget: more}},
		{"rho", "zCDP", func() string { return rows(4000, 1, 0) }, plain, gauze.Request{Components: 1, Budget: privacy.Budget{Rho: .3}}},
		{"pure", "`univariate:kv18`, δ = 0", func() string { return rows(6000, 1, 0) }, line, gauze.Request{Method: "univariate:kv18", Components: 1, Facts: facts, Budget: privacy.Budget{Epsilon: 4}}},
		{"paper", "`gaussian:coinpress`, facts stated", func() string { return rows(8000, 1, 0) }, plain, gauze.Request{Method: "gaussian:coinpress", Components: 1, Facts: facts, Budget: more}},
	}
}

// own is a learner that is not Gauze's, as far as Gauze can know.
type own struct{}

// LearnMixture returns mean and standard deviation of one column.
func (own) LearnMixture(rows [][]float64, _ int, _ uint64) ([]learner.Component, error) {
	n, sum, squares := float64(len(rows)), 0.0, 0.0
	for _, row := range rows {
		sum, squares = sum+row[0], squares+row[0]*row[0]
	}
	return []learner.Component{{Weight: 1, Mean: []float64{sum / n}, Root: [][]float64{{math.Sqrt(squares/n - sum*sum/n/n)}}}}, nil
}

// rows returns a table of two columns, a person of two rows and a sex: k clusters, and one row in
// stray is an outlier, if stray is not 0.
func rows(n, k, stray int) string {
	var b strings.Builder
	b.WriteString("x,y,person,sex\n")
	rng := rand.New(rand.NewPCG(uint64(n), uint64(k)))
	for i := range n {
		x, y := 1+12*float64(i%k)+rng.NormFloat64(), 2+12*float64(i%k)+rng.NormFloat64()
		if stray > 0 && i%stray == 0 {
			x, y = 1e5*(rng.Float64()-.5), 1e5*(rng.Float64()-.5)
		}
		fmt.Fprintf(&b, "%.6f,%.6f,p%d,%s\n", x, y, i/2, []string{"f", "m"}[i/2%2])
	}
	return b.String()
}

// tries is how often a fit is made until it has what is forged. A guess.
const tries = 20

// release fits until there is a release that has what the forgeries need.
func (g genuine) release(ctx context.Context) (*release.Release, error) {
	for range tries {
		result, err := g.fit(ctx)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", g.name, err)
		}
		if r := result.Release; r != nil && (g.name != "mixture" || leavesOut(r)) {
			return r, nil
		}
	}
	return nil, fmt.Errorf("%s: no release in %d fits", g.name, tries)
}

// leavesOut reports whether a release is a mixture of two components with a marked and reported
// background.
func leavesOut(r *release.Release) bool {
	u := r.Diagnostics.Undescribed
	return slices.Contains(r.Model.Background, true) && !r.Model.Background[0] && !r.Model.Background[1] && r.Diagnostics.Flags != nil && u != nil && u.Share > .06
}

func (g genuine) fit(ctx context.Context) (*gauze.Result, error) {
	schema := g.schema
	in, err := gauze.Open("-", strings.NewReader(g.text()), &schema)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	inferred := g.request.SchemaInferred
	r := in.Fill(g.request)
	r.SchemaInferred = inferred
	if !r.Relation.Valid() {
		r.Relation = privacy.ReplaceOne
	}
	if schema.By != nil {
		groups, err := in.LoadGroups(nil)
		if err != nil {
			return nil, err
		}
		return gauze.FitGroups(ctx, *groups, r)
	}
	table, err := in.Load(r.Relation, nil)
	if err != nil {
		return nil, err
	}
	return gauze.Fit(ctx, table, r)
}

// A verdict is verify's result for a file, and the first reason.
type verdict struct {
	got, why string
	before   bool // a version that did not make the plan again found nothing
}

// judge reads a file as verify does. genuine is the number of the genuine release's warnings.
func judge(text []byte, genuine int) verdict {
	r, err := release.Read(bytes.NewReader(text))
	if err != nil {
		return verdict{got: refused, why: err.Error()}
	}
	v := gauze.Verify(r)
	out := verdict{got: unseen, before: release.Verify(r) == nil && slices.Contains(gauze.Methods().Names(), r.Certificate.Method)}
	switch {
	case v.Faults != nil:
		out.got, out.why = refused, v.Faults[0].Error()
	case len(v.Warnings) > genuine:
		out.got, out.why = warned, v.Warnings[len(v.Warnings)-1]
	}
	return out
}

// forged makes all forgeries, and returns verify's result for each.
func forged(ctx context.Context) ([]verdict, error) {
	texts, doubts := map[string][]byte{}, map[string]int{}
	for _, g := range genuines() {
		r, err := g.release(ctx)
		if err != nil {
			return nil, err
		}
		var text bytes.Buffer
		if err := release.Write(&text, r); err != nil {
			return nil, err
		}
		v := gauze.Verify(r)
		if v.Faults != nil {
			return nil, fmt.Errorf("%s: a genuine release is refused: %w", g.name, errors.Join(v.Faults...))
		}
		if !v.Replanned {
			return nil, fmt.Errorf("%s: the plan of a genuine release cannot be made again", g.name)
		}
		texts[g.name], doubts[g.name] = text.Bytes(), len(v.Warnings)
	}
	var all []verdict
	for _, f := range forgeries {
		r, err := release.Read(bytes.NewReader(texts[f.of]))
		if err != nil {
			return nil, err
		}
		f.do(r)
		var text bytes.Buffer
		if err := release.Write(&text, r); err != nil {
			all = append(all, verdict{got: refused, why: err.Error()})
			continue
		}
		if bytes.Equal(text.Bytes(), texts[f.of]) {
			return nil, fmt.Errorf("%s: %s: nothing was forged", f.of, f.what)
		}
		all = append(all, judge(text.Bytes(), doubts[f.of]))
	}
	return all, nil
}

const aboutForged = "Releases of real fits, each changed by somebody who wants it to say something else and fixes what follows as well as they can; and what `gauze verify` says of each. " +
	"*Before* is what it said when it recomputed sensitivities and sums, and did not make the plan again. No genuine release is refused: every fit checks its own as a reader would."

// forgeryReport has the page of forged releases.
var forgeryReport = &engine.Report{Name: "audit",
	Tasks: []engine.Task{{Name: "forged", Title: "What verify finds in forged releases", Runs: 1, Make: func(ctx context.Context, _ engine.Options, p *engine.Page) error {
		all, err := forged(ctx)
		if err != nil {
			return err
		}
		writeForged(p, all)
		return nil
	}}}}

// writeForged writes what became of the forgeries.
func writeForged(p *engine.Page, all []verdict) {
	p.Text(aboutForged)
	count := map[string]int{}
	table := engine.Table{Head: []string{"of", "what is changed", "verify", "before", "first reason"}}
	for i, f := range forgeries {
		count[all[i].got]++
		before := refused
		if all[i].before {
			before = "consistent"
		}
		table.Add(f.of, f.what, all[i].got, before, reason(all[i].why))
	}
	p.Text(fmt.Sprintf("Of %d forgeries %d are refused, %d are warned of, and of %d only a signature shows that they are none of the custodian's.", len(all), count[refused], count[warned], count[unseen]))
	p.Table(table)
	p.Heading("The genuine releases")
	var list []string
	for _, g := range genuines() {
		list = append(list, "- `"+g.name+"`: "+g.about)
	}
	p.Text(strings.Join(list, "\n"))
	p.Heading("What only a signature shows")
	p.Text(gauze.OnlySigned)
}

// reason returns the first clause of a reason.
func reason(why string) string {
	why, _, _ = strings.Cut(strings.TrimPrefix(why, "release: "), ";")
	why, _, _ = strings.Cut(why, ", got")
	return why
}
