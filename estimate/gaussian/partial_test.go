package gaussian

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/model/flags"
)

// lacking draws n rows of correlated columns, x_j = 10 j + s_j (g + z_j)/sqrt2, s_j = j + 1, each
// cell missing with probability lost.
func lacking(rng *rand.Rand, n, d int, lost float64) (rows [][]float64) {
	for range n {
		g, row := rng.NormFloat64(), make([]float64, d)
		for j := range row {
			row[j] = 10*float64(j) + float64(j+1)*(g+rng.NormFloat64())/math.Sqrt2
			if rng.Float64() < lost {
				row[j] = math.NaN()
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// fitRows fits one Gaussian with fresh noise.
func fitRows(t *testing.T, rows [][]float64, rel privacy.Relation) (estimate.Outcome, []kernel.Measurement) {
	t.Helper()
	d := len(rows[0])
	p := estimate.Problem{Columns: d, Rows: len(rows), Relation: rel, Mu: privacy.MuOf(1, 1e-6), Components: 1}
	plan, err := New().Plan(p)
	if err != nil {
		t.Fatal(err)
	}
	terms := kernel.Terms{Relation: rel, Budget: privacy.Budget{Epsilon: 1, Delta: 1e-6}}
	s := kerneltest.Open(t, kerneltest.Table(rows, d, rel), plan, terms, kerneltest.Options{Fresh: true})
	out, err := New().Fit(context.Background(), s, p)
	if err != nil {
		t.Fatal(err)
	}
	return out, s.Measurements()
}

// TestPartialRows: where most rows lack a cell the others of their cells count, and the release
// says what is assumed. What is allowed is 6 times the error that such fits have, .016 of an sd and
// .025 in correlations and relative variances: an alarm is false less than once in 1e7.
func TestPartialRows(t *testing.T) {
	const n, d, lost = 20000, 6, .2 // of a quarter of the rows all cells are there
	rng := rand.New(rand.NewPCG(1, 2))
	for _, rel := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
		out, _ := fitRows(t, lacking(rng, n, d, lost), rel)
		if out.Model == nil {
			t.Fatalf("%v: %+v", rel, out.NoRelease)
		}
		if said := strings.Join(flags.Texts(out.Diagnostics.Flags), "; "); !strings.Contains(said, "missing at random") || !strings.Contains(said, "% of the rows lack") {
			t.Errorf("%v: flags %q", rel, said)
		}
		g := out.Model.Components[0]
		for i := range d {
			sd := float64(i + 1)
			if off := math.Abs(g.Mean[i]-10*float64(i)) / sd; off > .1 {
				t.Errorf("%v: mean %d is off by %.3f sds", rel, i, off)
			}
			for j := range i + 1 {
				want := .5
				if i == j {
					want = 1
				}
				if off := math.Abs(g.Cov.At(i, j)/sd/float64(j+1) - want); off > .15 {
					t.Errorf("%v: entry %d, %d is off by %.3f", rel, i, j, off)
				}
			}
		}
	}
}

// TestFewLack: where no rows lack cells, or few, nothing is asked of those that do.
func TestFewLack(t *testing.T) {
	const n, d = 6000, 3
	rng := rand.New(rand.NewPCG(3, 4))
	for _, lost := range []float64{0, .02} {
		for _, rel := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
			out, lines := fitRows(t, lacking(rng, n, d, lost), rel)
			if out.Model == nil {
				t.Fatalf("%v: %+v", rel, out.NoRelease)
			}
			for _, m := range lines {
				if m.Step != "partial rows" && strings.HasPrefix(m.Step, "partial") || m.Step == "partial rows" && lost == 0 {
					t.Errorf("%v, %v lost: step %q is measured", rel, lost, m.Step)
				}
			}
		}
	}
}

// TestPartialReplay: where cells are missing too, questions and prices are functions of released
// values: on a neighbouring table, one of whose rows lacks other cells, or holds other numbers, the
// same answers lead to the same questions; no path loses more than mu^2; and all of it is used.
// Rows and relations take turns, unless GAUZE_LONG is set.
func TestPartialReplay(t *testing.T) {
	const n, d = 6000, 4
	rng := rand.New(rand.NewPCG(5, 6))
	nan := math.NaN()
	other := [][]float64{{nan, nan, nan, nan}, {1e308, nan, nan, -1e308}, {nan, 3, nan, nan}, {0, 1e300, math.Inf(1), nan}, {1, 10, 20, 30}, {-1e308, 1e308, 1e308, 1e308}}
	for i, rel := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
		for j, row := range other {
			if (i+j)%2 != 0 && !long() {
				continue
			}
			rows := lacking(rng, n, d, .2)
			c := estimatetest.Case{Rows: rows, Columns: d, Relation: rel, Mu: .5, Components: 1, Noise: kerneltest.Options{Seed: rng.Uint64()}}
			neighbour := append(slices.Clone(rows[1:]), row)
			if rel == privacy.AddRemoveOne {
				neighbour = append(slices.Clone(rows), row)
			}
			f, loss := estimatetest.Neighbours(t, New(), c, neighbour)
			estimatetest.Check(t, f)
			if f.Model == nil || loss.ByStep["partial column moments"] == 0 && row[0] != row[0] && row[1] == 3 {
				t.Fatalf("%v, %v: %+v, loss %v", rel, row, f.Outcome, loss)
			}
			if limit := math.Pow(f.Session.Mu(), 2); loss.Path > limit*(1+1e-9) {
				t.Errorf("%v, %v: a path loses mu^2 = %v of %v", rel, row, loss.Path, limit)
			}
		}
	}
}
