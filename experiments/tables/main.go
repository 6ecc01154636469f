// Command tables scores private fits of real tables: for every CSV file, random 80/20 splits, a fit of the raw training columns with
// fresh noise, and the mean log-likelihood of the held-out rows in nats per row on columns standardised by the training part.
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

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/catalog"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/model"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

func main() {
	epsilon := flag.Float64("epsilon", 1, "epsilon")
	delta := flag.Float64("delta", 1e-6, "delta")
	seeds := flag.Int("seeds", 4, "number of splits")
	most := flag.Int("rows", 0, "largest number of rows, 0 for all")
	k := flag.Int("components", 0, "number of components, 0 for auto")
	kmax := flag.Int("max-components", 10, "largest number of components")
	relation := flag.String("relation", "replace-one", "neighbouring relation")
	method := flag.String("method", "auto", "method")
	verbose := flag.Bool("v", false, "print the models")
	flag.Parse()
	rel := privacy.ReplaceOne
	if *relation != "replace-one" {
		rel = privacy.AddRemoveOne
	}
	for _, path := range flag.Args() {
		rows := read(path)
		var scores []float64
		var ks []int
		nonPrivate := 0.0
		start := time.Now()
		n, d := 0, len(rows[0])
		for seed := range *seeds {
			rng := rand.New(rand.NewPCG(uint64(seed), 1))
			order := rng.Perm(len(rows))
			if *most > 0 && len(order) > *most {
				order = order[:*most]
			}
			cut := len(order) * 4 / 5
			n = cut
			p := estimate.Problem{Columns: d, Rows: cut, Relation: rel, Mu: privacy.MuOf(*epsilon, *delta), Components: *k, MaxComponents: *kmax}
			if rel == privacy.AddRemoveOne {
				p.Rows = 0
			}
			nonPrivate += score(gaussian(rows, order[:cut]), rows, order[:cut], order[cut:]) / float64(*seeds)
			m, out := fit(*method, rows, order[:cut], p, privacy.Budget{Epsilon: *epsilon, Delta: *delta})
			if m == nil {
				fmt.Println("no release:", out.NoRelease)
				continue
			}
			if *verbose {
				for j, c := range m.Components {
					if j == 0 {
						fmt.Println(out.Diagnostics.ConstantColumns)
					}
					fmt.Printf("  w %.4f mean %.4v rows %.0f noise %.3f bg %v\n", m.Weights[j], c.Mean, out.Diagnostics.Components[j].EffectiveRows,
						out.Diagnostics.Components[j].EffectiveNoise, out.Diagnostics.Components[j].Background)
				}
			}
			scores = append(scores, score(m, rows, order[:cut], order[cut:]))
			kk := 0
			for _, c := range out.Diagnostics.Components {
				if !c.Background {
					kk++
				}
			}
			ks = append(ks, kk)
		}
		if len(scores) == 0 {
			fmt.Printf("%-28s n %d d %d none released\n", filepath.Base(path), n, d)
			continue
		}
		mean := 0.0
		for _, s := range scores {
			mean += s / float64(len(scores))
		}
		fmt.Printf("%-28s n %6d d %2d  eps %-6g mean %8.3f  [%8.3f, %8.3f]  np1 %8.3f k %v  %.1fs\n", filepath.Base(path), n, d, *epsilon, mean,
			slices.Min(scores), slices.Max(scores), nonPrivate, ks, time.Since(start).Seconds()/float64(*seeds))
	}
}

func fit(method string, rows [][]float64, train []int, p estimate.Problem, b privacy.Budget) (*model.Mixture, estimate.Outcome) {
	builder := kernel.NewBuilder(len(rows[0]))
	for _, i := range train {
		builder.Append(rows[i])
	}
	est, _, err := catalog.Choose(method, p)
	check(err)
	plan, err := est.Plan(p)
	check(err)
	s, err := kernel.Open(context.Background(), builder.Protect(), plan, kernel.Terms{Relation: p.Relation, Budget: b})
	check(err)
	out, err := est.Fit(context.Background(), s, p)
	check(err)
	return out.Model, out
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
