// Command tables scores private fits of real tables: for every CSV file, random 80/20 splits, a fit
// of the raw training columns with fresh noise, and the mean log-likelihood of the held-out rows in
// nats per row on columns standardised by the training part.
package main

import (
	"compress/gzip"
	"context"
	"encoding/csv"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/model"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// options are the command line.
type options struct {
	budget   privacy.Budget
	relation privacy.Relation
	method   string
	seeds    int
	rows     int
	k, kmax  int
	diagonal bool
	verbose  bool
}

func main() {
	o := options{relation: privacy.ReplaceOne}
	flag.Float64Var(&o.budget.Epsilon, "epsilon", 1, "epsilon")
	flag.Float64Var(&o.budget.Delta, "delta", 1e-6, "delta")
	flag.IntVar(&o.seeds, "seeds", 4, "number of splits")
	flag.IntVar(&o.rows, "rows", 0, "largest number of rows, 0 for all")
	flag.IntVar(&o.k, "components", 0, "number of components, 0 for auto")
	flag.IntVar(&o.kmax, "max-components", 10, "largest number of components")
	relation := flag.String("relation", o.relation.String(), "neighbouring relation")
	flag.StringVar(&o.method, "method", "auto", "method of gauze fit")
	flag.BoolVar(&o.diagonal, "diagonal", false, "ask for diagonal covariances")
	flag.BoolVar(&o.verbose, "v", false, "print the models")
	flag.Parse()
	var err error
	o.relation, err = privacy.ParseRelation(*relation)
	check(err)
	for _, path := range flag.Args() {
		fmt.Println(filepath.Base(path), o.run(read(path)))
	}
}

// summary is the outcome of all splits of one table.
type summary struct {
	n, d       int
	scores     []float64
	ks         []int
	nonPrivate float64 // mean score of the non-private Gaussian
	seconds    float64 // per fit, scoring included
}

// String is one line of figures.
func (s summary) String() string {
	if len(s.scores) == 0 {
		return fmt.Sprintf("n %d d %d none released", s.n, s.d)
	}
	mean := 0.0
	for _, v := range s.scores {
		mean += v / float64(len(s.scores))
	}
	return fmt.Sprintf("n %d d %d  mean %.3f [%.3f, %.3f]  one Gaussian without privacy %.3f  k %v  %.1fs", s.n, s.d, mean,
		slices.Min(s.scores), slices.Max(s.scores), s.nonPrivate, s.ks, s.seconds)
}

func (o options) run(rows [][]float64) summary {
	s := summary{d: len(rows[0])}
	start := time.Now()
	for seed := range o.seeds {
		rng := rand.New(rand.NewPCG(uint64(seed), 1))
		order := rng.Perm(len(rows))
		if o.rows > 0 && len(order) > o.rows {
			order = order[:o.rows]
		}
		s.n = len(order) * 4 / 5
		train, test := order[:s.n], order[s.n:]
		s.nonPrivate += score(gaussian(rows, train), rows, train, test) / float64(o.seeds)
		p := estimate.Problem{Columns: s.d, Rows: s.n, Relation: o.relation, Mu: privacy.MuOf(o.budget.Epsilon, o.budget.Delta),
			Components: o.k, MaxComponents: o.kmax}
		if o.relation == privacy.AddRemoveOne {
			p.Rows = 0
		}
		if o.diagonal {
			p.Covariance = estimate.Diagonal
		}
		out := fit(o.method, rows, train, p, o.budget)
		if out.Model == nil {
			fmt.Println("no release:", out.NoRelease.Reason)
			continue
		}
		if o.verbose {
			print(out)
		}
		s.scores = append(s.scores, score(out.Model, rows, train, test))
		k := 0
		for _, c := range out.Diagnostics.Components {
			if !c.Background {
				k++
			}
		}
		s.ks = append(s.ks, k)
	}
	s.seconds = time.Since(start).Seconds() / float64(o.seeds)
	return s
}

func print(out estimate.Outcome) {
	fmt.Println("constant columns:", out.Diagnostics.ConstantColumns, out.Diagnostics.Flags)
	for j, c := range out.Model.Components {
		note := out.Diagnostics.Components[j]
		fmt.Printf("  weight %.4f mean %.4v rows %.0f noise %.3f background %v\n", out.Model.Weights[j], c.Mean,
			note.EffectiveRows, note.EffectiveNoise, note.Background)
	}
}

func fit(method string, rows [][]float64, train []int, p estimate.Problem, b privacy.Budget) estimate.Outcome {
	builder := kernel.NewBuilder(len(rows[0]))
	for _, i := range train {
		builder.Append(rows[i])
	}
	est, _, err := gauze.Methods().Choose(method, p)
	check(err)
	plan, err := est.Plan(p)
	check(err)
	s, err := kernel.Open(context.Background(), builder.Protect(p.Relation), plan, kernel.Terms{Relation: p.Relation, Budget: b})
	check(err)
	out, err := est.Fit(context.Background(), s, p)
	check(err)
	return out
}

func score(m *model.Mixture, rows [][]float64, train, test []int) float64 {
	d := len(rows[0])
	logSD := 0.0
	for j := range d {
		var s, s2, n float64
		for _, i := range train {
			if v := rows[i][j]; !math.IsNaN(v) {
				s, n = s+v, n+1
			}
		}
		for _, i := range train {
			if v := rows[i][j] - s/n; !math.IsNaN(v) {
				s2 += v * v
			}
		}
		if s2 > 0 {
			logSD += math.Log(s2/n) / 2
		}
	}
	sc, err := model.NewScorer(m)
	check(err)
	total, n := 0.0, 0.0
	for _, i := range test {
		if slices.ContainsFunc(rows[i], math.IsNaN) {
			continue
		}
		total += sc.LogDensity(rows[i])
		n++
	}
	return total/n + logSD
}

// gaussian is the non-private Gaussian of the complete training rows.
func gaussian(rows [][]float64, train []int) *model.Mixture {
	d := len(rows[0])
	x := mat.NewDense(len(train), d, nil)
	n := 0
	for _, i := range train {
		if !slices.ContainsFunc(rows[i], math.IsNaN) {
			x.SetRow(n, rows[i])
			n++
		}
	}
	part := x.Slice(0, n, 0, d)
	var cov mat.SymDense
	stat.CovarianceMatrix(&cov, part, nil)
	mean := make([]float64, d)
	for j := range mean {
		mean[j] = stat.Mean(mat.Col(nil, j, part), nil)
	}
	c, err := model.NewFull(&cov)
	check(err)
	m, err := model.New(nil, nil, []model.Gaussian{{Mean: mean, Cov: c}})
	check(err)
	return m
}

// read keeps the columns that hold numbers, without label and id.
func read(path string) [][]float64 {
	f, err := os.Open(path)
	check(err)
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		r, err = gzip.NewReader(f)
		check(err)
	}
	c := csv.NewReader(r)
	header, err := c.Read()
	check(err)
	lines, err := c.ReadAll()
	check(err)
	var use []int
	for j, name := range header {
		numbers := 0
		for _, l := range lines {
			if _, err := strconv.ParseFloat(l[j], 64); err == nil {
				numbers++
			}
		}
		if name != "label" && name != "id" && numbers*2 > len(lines) {
			use = append(use, j)
		}
	}
	out := make([][]float64, len(lines))
	for i, l := range lines {
		out[i] = make([]float64, len(use))
		for a, j := range use {
			v, err := strconv.ParseFloat(l[j], 64)
			if err != nil {
				v = math.NaN()
			}
			out[i][a] = v
		}
	}
	return out
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}
