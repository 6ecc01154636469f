package gauze

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/catalog"
	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/people"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// A charged method is fitted to groups, and what it is charged.
type charged struct {
	own   Request // of one group
	whole privacy.Budget
	cost  privacy.Cost // of all groups together
	one   privacy.Cost // of one group
}

// chargedFor is a method, asked of groups under a relation.
func chargedFor(method string, r privacy.Relation, d int) (c *charged) {
	c = &charged{}
	whole := Request{Relation: r, Budget: privacy.Budget{Epsilon: 6, Delta: 1e-4}, Method: method, Force: true}
	for i := range d {
		whole.Columns = append(whole.Columns, Named(fmt.Sprint("x", i))...)
	}
	switch method {
	case "gaussian", "heavy-tailed":
		whole.Components = 1
	case "known-covariance":
		whole.KnownCovariance = [][]float64{{1, 0}, {0, 1}}
		whole.Components = 2
	case "axis-aligned":
		whole.Covariance = estimate.Diagonal
		whole.MaxComponents = 3
	case "black-box":
		whole.Components = 2
	default:
		whole.MaxComponents = 3
	}
	c.own = whole
	c.own.Relation, c.own.Budget = privacy.AddRemoveOne, privacy.BudgetPerGroup(r, whole.Budget)
	c.whole = whole.Budget
	c.own.Reserve = func(plan kernel.Plan, total privacy.Calibration) error {
		for _, s := range plan.Steps {
			if s.Slack > 0 && s.Slack/float64(s.Most) < 1./4096 {
				return fmt.Errorf("step %q cuts the slack into smaller pieces than compose.Recounted takes", s.Name)
			}
		}
		c.cost, c.one = whole.Cost(plan, total, true), privacy.CostOf(total, true)
		return nil
	}
	return c
}

// loss fits a group's table with real noise and replays the answers on it and on another: the sum,
// over all measurements that are sums, of the squares of what exact answers differ by in standard
// deviations of the noise. No measurement's part is more than the ratio of its kind allows, and
// found are the largest over what is charged, by kind.
func (c *charged) loss(t *testing.T, x, y [][]float64, seed uint64, found map[string]float64) (loss float64) {
	t.Helper()
	d := len(c.own.Columns)
	var own kerneltest.Script
	result, err := Fit(t.Context(), kerneltest.Observed(x, d, privacy.AddRemoveOne, &own), c.own)
	if err != nil {
		t.Fatal(err)
	}
	var again [2]*kerneltest.Script
	for i, rows := range [][][]float64{x, y} {
		again[i] = &kerneltest.Script{Replayed: true, Answers: own.Heard, Seed: seed}
		if _, err := Fit(t.Context(), kerneltest.Observed(rows, d, privacy.AddRemoveOne, again[i]), c.own); err != nil || again[i].Beyond || len(again[i].Heard) != len(own.Heard) {
			t.Fatalf("the same answers led to other measurements (%v)", err)
		}
	}
	k := 0
	for _, line := range result.Certificate.Plan {
		for range line.Count {
			first, second := again[0].Heard[k], again[1].Heard[k]
			k++
			if line.Law != "" || first.Exact == nil || len(first.Exact) != len(second.Exact) {
				continue // keys with thresholds, and masks
			}
			q, ok := first.Query.(interface {
				Weight(int) float64
				Unit() float64
			})
			one := 0.
			for i := range first.Exact {
				sigma := line.Noise
				if ok {
					sigma = line.Noise / q.Unit() * q.Weight(i)
				}
				apart := float64(first.Exact[i]-second.Exact[i]) / sigma
				one += apart * apart
			}
			ratio := one / (line.Mu * line.Mu)
			if found[line.Query] = max(found[line.Query], ratio); ratio > people.GroupRatio2(line.Query)*(1+1e-6) {
				t.Errorf("step %q: a replaced row moves %q by %.3f of its mu^2, counted are %g", line.Step, line.Query, ratio, people.GroupRatio2(line.Query))
			}
			loss += one
		}
	}
	return loss
}

// replacements are pairs of rows of which one takes the other's place: far from each other and on
// either side of the centre in every column, so that all balances turn, and nearly at a right
// angle, so that what clipping leaves of second moments has nothing in common; and rows near the
// others, and null ones.
var replacements = [][2][]float64{
	{{1e6, 2e4}, {-2e4, -1e6}}, {{100, 2}, {-2, -100}}, {{100, 20}, {-20, -100}}, {{12, .5}, {-.5, -12}}, {{1e6, 1e6}, {-1e6, -1e6}},
	{{8, 8}, {-8, -8}}, {{-4, 0}, {4, 0}}, {{.5, .5}, {math.NaN(), 0}},
}

// lobes are n rows of a Gaussian at the origin, or of two on either side of it.
func lobes(rng *rand.Rand, n, d int, two bool) (rows [][]float64) {
	for i := range n {
		row := make([]float64, d)
		for j := range row {
			row[j] = rng.NormFloat64()
		}
		if two {
			row[0] += 4 - 8*float64(i%2)
		}
		rows = append(rows, row)
	}
	return rows
}

// TestGroupsCharge: for every method and both relations, no neighbour that the search tries moves
// what the fits of all groups measure by more than they are charged: a row that is replaced within
// its group, one that changes its group, one that comes or goes; nor any single measurement by more
// than is counted of its kind. Twice its mu^2, as was counted of all, is less than what balances
// show. The rows that are replaced take turns, unless GAUZE_LONG is set.
func TestGroupsCharge(t *testing.T) {
	runs := 1
	if os.Getenv("GAUZE_LONG") != "" {
		runs = 40
	}
	rng, found := rand.New(rand.NewPCG(stattest.Seed(t), 9)), map[string]float64{}
	for at, method := range slices.DeleteFunc(catalog.Methods().Names(), func(name string) bool { return name == "auto" }) {
		d, n := 2, 1200
		if method == "univariate" {
			d = 1
		}
		switch method {
		case "black-box":
			n = 2500
		case "heavy-tailed": // too few rows for a profile: balances find the units
			n = 400
		}
		base := lobes(rng, n, d, method != "gaussian" && method != "heavy-tailed")
		with := func(row []float64) [][]float64 { return append(slices.Clip(base), row[:d]) }
		for _, r := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
			c, within, moved := chargedFor(method, r, d), 0., 0.
			for range runs {
				if r == privacy.ReplaceOne {
					for i, pair := range replacements {
						if (at+i)%2 != 0 && runs == 1 {
							continue
						}
						within = max(within, c.loss(t, with(pair[0]), with(pair[1]), rng.Uint64(), found))
					}
				}
				one := 0.
				for _, row := range [][]float64{{1e6, 1e6}, {100, 2}, {4, 0}} {
					one = max(one, c.loss(t, with(row), base, rng.Uint64(), found))
				}
				if moved = max(moved, one); r == privacy.ReplaceOne {
					moved = max(moved, one+c.loss(t, base, with([]float64{-1e6, -1e6}), rng.Uint64(), found)) // out of one group, into another
				}
			}
			t.Logf("%v, %s: within a group %.3f, between groups %.3f, charged %.3f of the mu^2 of one group", r, method, within/c.one.Mu2, moved/c.one.Mu2, c.cost.Mu2/c.one.Mu2)
			older := c.one.Plus(c.one) // what was counted
			if older = older.Plus(privacy.Recounted(c.whole, older)); r == privacy.ReplaceOne {
				older.Epsilon, older.Delta, older.Mu2 = c.cost.Epsilon, c.cost.Delta, older.Mu2*(1+1e-12)
				if !c.cost.Within(older) {
					t.Errorf("%s: recounted are %+v, charged would be %+v", method, older, c.cost)
				}
			}
			if most := max(within, moved); most > c.cost.Mu2 {
				t.Errorf("%v, %s: groups lose %g, charged is %g", r, method, most, c.cost.Mu2)
			}
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(found)) {
		t.Logf("%-40s %.3f of its mu^2, counted %.3f", kind, found[kind], people.GroupRatio2(kind))
	}
	if found[query.ColumnCounts] < 3.999 || found["clipped moments"] < 1.9 {
		t.Errorf("balances are moved by %.3f of their mu^2, moments by %.3f: this search is too weak to see the old fault", found[query.ColumnCounts], found["clipped moments"])
	}
}
