package transcript

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/model"
)

// Before a change: go test ./internal/transcript -record FILE; after it: go test
// ./internal/transcript -against FILE. On one machine only: the last bit of exp depends on the
// processor.
var (
	recordTo = flag.String("record", "", "write what every method does on every table to this `file`")
	against  = flag.String("against", "", "fail unless every method does what this `file` says")
	only     = flag.String("only", "", "cases whose name contains this `text`")
)

// A table is a fixed one.
type table struct {
	name string
	rows [][]float64
	d    int
	hard bool // for methods that people use, not for those of papers
}

func TestTranscripts(t *testing.T) {
	switch {
	case *recordTo != "":
		if err := os.WriteFile(*recordTo, []byte(strings.Join(all(t), "\n\n")+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	case *against != "":
		want, err := os.ReadFile(*against)
		if err != nil {
			t.Fatal(err)
		}
		compare(t, strings.Split(strings.TrimRight(string(want), "\n"), "\n\n"), all(t))
	default:
		c := cases()[0]
		first := transcribe(t, c)
		compare(t, []string{first}, []string{transcribe(t, c)})
		c.fit.Rows = c.fit.Rows[1:]
		if transcribe(t, c) == first {
			t.Error("a row less, and the transcript is the same: it does not see the rows")
		}
	}
}

func all(t *testing.T) (transcripts []string) {
	for _, c := range cases() {
		if strings.Contains(c.name, *only) {
			transcripts = append(transcripts, transcribe(t, c))
		}
	}
	return transcripts
}

// compare fails for every case that only one side has or that differs, with the first line that
// does.
func compare(t *testing.T, want, got []string) {
	byName := map[string]string{}
	for _, w := range want {
		name, _, _ := strings.Cut(w, "\n")
		if strings.Contains(name, *only) {
			byName[name] = w
		}
	}
	for _, g := range got {
		name, _, _ := strings.Cut(g, "\n")
		w, ok := byName[name]
		delete(byName, name)
		if !ok {
			t.Errorf("%s: not recorded", name)
		} else if w != g {
			t.Errorf("%s: %s", name, firstDifference(strings.Split(w, "\n"), strings.Split(g, "\n")))
		}
	}
	for name := range byName {
		t.Errorf("%s: recorded, and not there now", name)
	}
}

func firstDifference(want, got []string) string {
	for i := range min(len(want), len(got)) {
		if want[i] != got[i] {
			return fmt.Sprintf("line %d was\n\t%s\nand is\n\t%s", i+1, want[i], got[i])
		}
	}
	return fmt.Sprintf("had %d lines, has %d", len(want), len(got))
}

// A trial is one method on one table.
type trial struct {
	name   string
	method estimate.Estimator
	fit    estimatetest.Case
}

func cases() (trials []trial) {
	for _, m := range gauze.Methods().All() {
		literal := strings.Contains(m.Name(), ":")
		for _, of := range tables() {
			if literal && of.hard {
				continue
			}
			for _, relation := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
				for _, k := range componentsFor(m.Name(), of) {
					c := estimatetest.Case{Rows: of.rows, Columns: of.d, Relation: relation, Epsilon: 1, Delta: 1e-6, Components: k,
						MaxComponents: 5, Noise: kerneltest.Options{Seed: 11}}
					if literal {
						c.Epsilon = 20
					}
					if m.Name() == "gaussian:coinpress" || m.Name() == "heavy-tailed:paper" {
						c.Facts = estimate.Facts{KnowsMean: true, MeanWithin: 1e7, Eigenvalues: [2]float64{1e-8, 1e8}}
					}
					trials = append(trials, trial{fmt.Sprintf("%s | %s | %v | k=%d", m.Name(), of.name, relation, k), m, c})
				}
			}
		}
	}
	return append(trials, variants()...)
}

// componentsFor are the numbers of components that are asked of a method.
func componentsFor(method string, of table) []int {
	one := method == "univariate:kv18"
	for _, prefix := range []string{"gaussian", "heavy-tailed"} {
		one = one || strings.HasPrefix(method, prefix)
	}
	switch {
	case one:
		return []int{1}
	case of.hard || strings.HasPrefix(method, "black-box"):
		return []int{2}
	}
	return []int{0, 2}
}

// variants are shapes, units, learners and known facts.
func variants() (trials []trial) {
	byName := map[string]estimate.Estimator{}
	for _, m := range gauze.Methods().All() {
		byName[m.Name()] = m
	}
	clusters, one := tables()[1], tables()[2]
	add := func(method, what string, of table, change func(*estimatetest.Case)) {
		c := estimatetest.Case{Rows: of.rows, Columns: of.d, Epsilon: 1, Delta: 1e-6, Components: 2, MaxComponents: 5, Noise: kerneltest.Options{Seed: 5}}
		change(&c)
		trials = append(trials, trial{fmt.Sprintf("%s | %s | %s", method, of.name, what), byName[method], c})
	}
	for _, shape := range []estimate.CovarianceType{estimate.Diagonal, estimate.Spherical} {
		for _, method := range []string{"gaussian", "heavy-tailed"} {
			add(method, shape.String(), one, func(c *estimatetest.Case) { c.Components, c.Covariance = 1, shape })
		}
		for _, method := range []string{"general", "separated", "black-box"} {
			add(method, shape.String(), clusters, func(c *estimatetest.Case) { c.Covariance = shape })
		}
	}
	for _, method := range []string{"general", "separated", "axis-aligned"} {
		add(method, "rounded", tables()[3], func(c *estimatetest.Case) { c.RoundedTo = []float64{1, 1} })
		add(method, "zcdp", clusters, func(c *estimatetest.Case) { c.Epsilon, c.Mu = 0, .3 })
	}
	for _, k := range []int{0, 1, 3} {
		add("axis-aligned", fmt.Sprintf("known covariance k=%d", k), clusters, func(c *estimatetest.Case) {
			c.Components, c.KnownCovariance = k, [][]float64{{1e-6, 2e-1 * 1e-3 * 1e3}, {2e-1 * 1e-3 * 1e3, 1e6}}
		})
	}
	for _, l := range []string{"em", "spectral", "pearson-lines"} {
		for _, trim := range []float64{0, .04} {
			add("black-box", fmt.Sprintf("%s trim %v", l, trim), clusters, func(c *estimatetest.Case) {
				c.Learner, c.Trim, c.Epsilon = l, trim, 8
			})
		}
	}
	return append(trials, plain(byName)...)
}

// plain are the tables that methods wish for which refuse all others: many rows of standard
// Gaussians, in one or two columns.
func plain(byName map[string]estimate.Estimator) (trials []trial) {
	rng := rand.New(rand.NewPCG(3, 4))
	draw := func(n, d, k int) [][]float64 {
		rows := make([][]float64, n)
		for i := range rows {
			rows[i] = make([]float64, d)
			for j := range rows[i] {
				rows[i][j] = 8*float64(i%k) + rng.NormFloat64()
			}
		}
		return rows
	}
	for _, p := range []struct {
		method  string
		n, d, k int
		epsilon float64
	}{
		{"heavy-tailed:paper", 100000, 1, 1, 20}, {"heavy-tailed:paper", 200000, 2, 1, 20}, {"general:amn24", 4000, 1, 1, 20}, {"general:amn24", 12000, 1, 2, 20},
		{"black-box:paper", 130000, 1, 1, 20}, {"univariate:kv18", 5000, 1, 1, 4}, {"univariate:amn24", 6000, 1, 2, 20}, {"axis-aligned:aal21", 6000, 2, 1, 20},
		{"separated:sample-aggregate", 60000, 2, 2, 20}, {"gaussian:kmssu22", 60000, 2, 1, 2}, {"black-box", 40000, 2, 2, 1}, {"separated:paper", 40000, 2, 2, 20},
	} {
		for _, relation := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
			c := estimatetest.Case{Rows: draw(p.n, p.d, p.k), Columns: p.d, Relation: relation, Epsilon: p.epsilon, Delta: 1e-6, Components: p.k,
				Facts: estimate.Facts{KnowsMean: true, MeanWithin: 20, Eigenvalues: [2]float64{.25, 25}}, Noise: kerneltest.Options{Seed: 7}}
			trials = append(trials, trial{fmt.Sprintf("%s | standard %d x %d | %v | k=%d", p.method, p.n, p.d, relation, p.k), byName[p.method], c})
		}
	}
	for i, h := range estimatetest.Hard() {
		c := estimatetest.Case{Rows: h.Rows(rng, 900, 1), Columns: 1, Epsilon: 1, Delta: 1e-6, Components: 2, Noise: kerneltest.Options{Seed: uint64(i)}}
		trials = append(trials, trial{fmt.Sprintf("univariate | line %d %s", i, h.Name), byName["univariate"], c})
	}
	return trials
}

func tables() []table {
	rng := rand.New(rand.NewPCG(1, 2))
	make := func(name string, n, d int, row func(i int, x []float64)) table {
		rows := make([][]float64, n)
		for i := range rows {
			rows[i] = make([]float64, d)
			row(i, rows[i])
		}
		return table{name: name, rows: rows, d: d}
	}
	list := []table{
		make("a line", 3000, 1, func(i int, x []float64) {
			x[0] = []float64{1000, 1e4, -50}[i%3] + []float64{1, 300, .01}[i%3]*rng.NormFloat64()
		}),
		make("clusters", 6000, 2, func(i int, x []float64) {
			x[0] = 1e-3 * (9*float64(i%2) + rng.NormFloat64())
			x[1] = 1e3 * (4*float64(i%2) + rng.NormFloat64())
		}),
		make("one Gaussian", 3000, 3, func(_ int, x []float64) {
			x[0] = rng.NormFloat64()
			x[1] = 1e4 + 30*(x[0]+.2*rng.NormFloat64())
			x[2] = 1e-2 * rng.NormFloat64()
		}),
		make("people", 4000, 2, func(i int, x []float64) {
			x[0] = math.Round(20 + 15*math.Abs(rng.NormFloat64()))
			if i%4 == 0 {
				x[1] = math.Round(1000 * math.Exp(rng.NormFloat64()))
			}
			if i%97 == 0 {
				x[0] = 999
			}
		}),
	}
	for i, h := range estimatetest.Hard() {
		if i%3 == 0 {
			list = append(list, table{fmt.Sprintf("%d %s", i, h.Name), h.Rows(rng, 900, 2), 2, true})
		}
	}
	return list
}

// transcribe is what a method does in lines: a name, a line for each answer (step, mu, digests of
// the exact sums and of the answer), a line for each line of the certificate, and what it ends in.
func transcribe(t *testing.T, c trial) string {
	var heard kerneltest.Transcript
	c.fit.Noise.Record = &heard
	f := estimatetest.Run(t, c.method, c.fit)
	var b strings.Builder
	b.WriteString(c.name)
	for i, step := range heard.Steps {
		fmt.Fprintf(&b, "\n%s %v sums %x answer %x", step, heard.Mus[i], digest(heard.Sums[i]), digest(heard.Answers[i]))
	}
	switch {
	case f.Refused != nil:
		fmt.Fprintf(&b, "\nrefused: %s (%s)", f.Refused.Reason, f.Refused.Advice)
		return b.String()
	case f.Session == nil:
		return b.String()
	}
	for _, m := range f.Session.Measurements() {
		fmt.Fprintf(&b, "\n%s: %s x%d %q S %v noise %v mu %v delta %v from %s", m.Step, m.Query, m.Count, m.Law, m.Sensitivity, m.Noise, m.Mu, m.Delta, m.Source)
	}
	fmt.Fprintf(&b, "\nspent %v", f.Session.Loss())
	if f.NoRelease != nil {
		fmt.Fprintf(&b, "\nno release: %s (%s)", f.NoRelease.Reason, f.NoRelease.Advice)
	}
	if m := f.Model; m != nil {
		for i, g := range m.Components {
			fmt.Fprintf(&b, "\n%v %s", m.Weights[i], written(g))
		}
	}
	notes, out := f.Diagnostics, f.Diagnostics.Undescribed
	if notes.Undescribed = nil; out != nil {
		fmt.Fprintf(&b, "\nleaves out %+v", *out)
	}
	if core := notes.Core; core != nil { // the address of which is none of the answer
		fmt.Fprintf(&b, "\ncore of %v %s", core.Share, written(core.Gaussian))
		notes.Core = nil
	}
	fmt.Fprintf(&b, "\n%+v", notes)
	return b.String()
}

// written is a Gaussian, with a digest of its covariance.
func written(g model.Gaussian) string {
	var shape []float64
	for r := range g.Mean {
		for s := range g.Mean {
			shape = append(shape, g.Cov.At(r, s))
		}
	}
	return fmt.Sprintf("at %v, covariance %x", g.Mean, digest(shape))
}

// digest is a hash of numbers to the last bit.
func digest(numbers any) []byte {
	var b bytes.Buffer
	if err := binary.Write(&b, binary.LittleEndian, numbers); err != nil {
		panic(err)
	}
	h := fnv.New64a()
	h.Write(b.Bytes())
	return h.Sum(nil)
}
