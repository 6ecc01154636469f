package people

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/kernel/query/papers"
)

type sensitive interface {
	Kind() string
	Sensitivity(privacy.Relation) float64
}

// pairsOf asks one query of pairs in each of so many leaves.
func pairsOf(q query.PairSum, leaves int) query.Pairs {
	p := query.Pairs{Queries: make([]query.PairSum, leaves), Buckets: make([]int, leaves)}
	for i := range p.Queries {
		p.Queries[i], p.Buckets[i] = q, 9
	}
	if leaves > 1 {
		p.Partition = query.Partition{Regions: make([]query.Region, leaves)}
	}
	return p
}

// asked are queries of every kind in the table of ratios, one that reaches it among each.
func asked() (all []sensitive) {
	frame := query.Affine{Center: []float64{0}, W: [][]float64{{1}}}
	one := []query.Component{{Map: frame, Radius: 1}}
	moments := query.ClippedMoments{Components: one}
	balance := query.Counts{Edges: [][]float64{{0}}, As: query.Balance}
	for _, q := range []query.Sum{
		query.Count{}, balance, query.Counts{Edges: [][]float64{{0}}, As: query.Above},
		query.Counts{Edges: [][]float64{{0, 1}}}, query.Counts{Edges: [][]float64{{0, 1}, {3}}},
		query.Counts{Map: frame, Edges: [][]float64{{1, 2}}}, query.Counts{Map: frame, Edges: [][]float64{{1, 2}}, As: query.Above},
		moments, query.ClippedMoments{Components: one, Form: query.DiagonalForm}, query.ClippedMoments{Components: one, Form: query.SphericalForm},
		query.ClippedMoments{Components: one, Form: query.CompletedForm}, query.ClippedMoments{Components: one, Form: query.ColumnForm},
		query.Directions{Map: frame, Lift: 1}, query.LogRatio{F: one, G: one, Bound: 1}, query.GridCounts{Map: frame, HalfWidth: []float64{1}, Level: 2},
	} {
		all = append(all, q, query.Partial{Sum: q, As: query.Filled}, query.Parts{Queries: []query.Sum{q, q}}, query.Parts{Queries: []query.Sum{q}},
			query.Partial{Sum: query.Parts{Queries: []query.Sum{q, q}}, As: query.Presence})
	}
	for _, q := range []query.PairSum{query.PairOctaves{Columns: 3, High: 9}, papers.PairDistances{Map: frame, Edges: []float64{1}},
		papers.PairMoments{Map: frame, Radius: 1}, papers.PairSpread{Map: frame, Bound: 1}} {
		all = append(all, pairsOf(q, 1), pairsOf(q, 2))
	}
	all = append(all, query.CategoryCounts{Values: []int{2}}, query.CategoryCounts{Values: []int{2, 3, 4}})
	all = append(all, query.CategoryValues{Columns: []int{0}}, query.CategoryValues{Columns: []int{0, 1, 2}})
	grid := query.Grid{Map: frame, Side: []float64{1}, Offset: []float64{0}}
	return append(all, query.SpacingMasses{}, query.BoxKeys{Grids: []query.Grid{grid}}, query.BoxKeys{Grids: []query.Grid{grid}, Joint: true})
}

// Every ratio of the table is that of the two sensitivities that queries of the kind state, at
// most, and some query reaches it. A kind that it does not know costs four times its mu^2, and what
// is asked of blocks once.
func TestRatios(t *testing.T) {
	reached := map[string]float64{}
	for _, q := range asked() {
		ratio := q.Sensitivity(privacy.ReplaceOne) / q.Sensitivity(privacy.AddRemoveOne)
		if ratio*ratio > GroupRatio2(q.Kind())*(1+1e-12) {
			t.Errorf("%q: %g, the table says %g", q.Kind(), ratio*ratio, GroupRatio2(q.Kind()))
		}
		reached[q.Kind()] = max(reached[q.Kind()], ratio*ratio)
	}
	types, _ := query.Registry()
	for kind := range ratios {
		if types[kind] == "" {
			t.Errorf("%q is no kind of a query", kind)
		}
		if reached[kind] < GroupRatio2(kind)*(1-1e-9) {
			t.Errorf("%q: the table says %g, the queries reach %g", kind, GroupRatio2(kind), reached[kind])
		}
	}
	for kind, want := range map[string]float64{"terrific centers": 4, "": 4, "in parts: terrific centers": 4, "of blocks: stable mean": 1, "in parts: count": 2, "filled: in parts: log ratio": 4} {
		if got := GroupRatio2(kind); got != want {
			t.Errorf("%q: %g, want %g", kind, got, want)
		}
	}
}

// The numbers of gaps are those that the query states.
func TestGapKeys(t *testing.T) {
	had, hadMass := query.SpacingMasses{}.OneSided(privacy.AddRemoveOne)
	has, mass := query.SpacingMasses{}.OneSided(privacy.ReplaceOne)
	more := (mass - hadMass) / query.SpacingMasses{}.Sensitivity(privacy.AddRemoveOne)
	if k := privacy.SpacingKeys; k.Had != had || k.Has != has || k.Mass < more || k.Mass > 1.001*more {
		t.Errorf("%+v, the query states %g, %g and %g", k, had, has, more)
	}
}

// balances is a plan of balances of columns alone, of which one row can turn all.
var balances = kernel.Plan{Method: "balances", Steps: []kernel.Step{{Name: "center", Query: query.ColumnCounts, Share: 1, Most: 9}}}

// lossWithin measures what a session that the plan's whole cap is spent in shows of a row that is
// replaced within its table: the sum of the squares of what exact answers differ by, in standard
// deviations of the noise.
func lossWithin(t *testing.T, q query.Sum, plan kernel.Plan, b privacy.Budget, x, y []float64) (loss float64) {
	t.Helper()
	var exact [2][][]int64
	var sigma []float64
	for i, row := range [][]float64{x, y} {
		table := kerneltest.Table([][]float64{{1}, {-3}, {.5}, row}, 1, privacy.AddRemoveOne)
		var heard kerneltest.Transcript
		s := kerneltest.Open(t, table, plan, kernel.Terms{Relation: privacy.AddRemoveOne, Budget: b}, kerneltest.Options{Seed: stattest.Seed(t), Record: &heard})
		a, each := s.SubBudget(), s.Mu()/3
		for range 9 {
			answer, err := a.Sum(plan.Steps[0].Name, q, math.Min(each*(1-1e-12), a.LeftMu()))
			if err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				sigma = append(sigma, answer.Sigma/q.Unit())
			}
		}
		exact[i] = heard.Sums
	}
	for k := range sigma {
		for j := range exact[0][k] {
			apart := float64(exact[0][k][j]-exact[1][k][j]) / (sigma[k] * q.Weight(j))
			loss += apart * apart
		}
	}
	return loss
}

// A row that is replaced within its group moves balances by four times the mu^2 of the group, and
// is charged that: twice, as for a row that changes its group, was half of what it costs. One
// category that holds everybody costs what a fit of all under add-or-remove-one does in an account
// of replace-one.
func TestFourTimes(t *testing.T) {
	for _, b := range []privacy.Budget{{Epsilon: 1, Delta: 1e-6}, {Rho: .1}, {Epsilon: 8, Delta: 1e-9}} {
		own := privacy.BudgetPerGroup(privacy.ReplaceOne, b)
		total, err := kernel.Calibrate(balances, privacy.AddRemoveOne, own)
		if err != nil {
			t.Fatal(err)
		}
		c := privacy.CostOf(total, true)
		charge := CostOfGroups(balances, total, true, privacy.ReplaceOne, b)
		loss := lossWithin(t, query.Counts{Edges: [][]float64{{0}}, As: query.Balance}, balances, own, []float64{5}, []float64{-5})
		t.Logf("%v: the loss is %.4f of a group's mu^2, the charge %.4f", b, loss/c.Mu2, charge.Mu2/c.Mu2)
		if loss > charge.Mu2 || loss < 3.999*c.Mu2 || charge.Mu2 > 4.0001*c.Mu2 {
			t.Errorf("%v: the loss is %g, charged is %g, the group's own is %g", b, loss, charge.Mu2, c.Mu2)
		}
		if all, ok := c.UnderReplaceOne(); !ok || math.Abs(all.Mu2/charge.Mu2-1) > 1e-8 {
			t.Errorf("%v: one category costs %g, the fit of all %g", b, charge.Mu2, all.Mu2)
		}
		if add := CostOfGroups(balances, total, true, privacy.AddRemoveOne, own); add.Mu2 != c.Mu2 {
			t.Errorf("%v: under add-or-remove-one %g, want that of a group, %g", b, add.Mu2, c.Mu2)
		}
	}
}

// The charge is the larger of the two cases, by the plan's steps: no allocation of the cap to steps
// within their shares costs more, and one costs as much.
func TestChargeOfPlans(t *testing.T) {
	kinds := []string{"count", "histogram", "column counts", "gaps", "of blocks: stable mean", "in parts: pair octaves", "unheard of"}
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 1))
	b := privacy.Budget{Epsilon: 2, Delta: 1e-6}
	for range 200 {
		plan := kernel.Plan{Method: "m"}
		for i, n := 0, 1+rng.IntN(6); i < n; i++ {
			plan.Steps = append(plan.Steps, kernel.Step{Name: string(rune('a' + i)), Query: kinds[rng.IntN(len(kinds))], Share: .01 + .6*rng.Float64(), Most: 3})
		}
		total, err := kernel.Calibrate(plan, privacy.AddRemoveOne, privacy.BudgetPerGroup(privacy.ReplaceOne, b))
		if err != nil {
			t.Fatal(err)
		}
		c, charge, most := privacy.CostOf(total, true), CostOfGroups(plan, total, true, privacy.ReplaceOne, b), 0.
		for range 300 { // steps in a random order, each as much as it may
			left, loss := 1., 0.
			for _, i := range rng.Perm(len(plan.Steps)) {
				part := min(left, plan.Steps[i].Share)
				left, loss = left-part, loss+part*GroupRatio2(plan.Steps[i].Query)
			}
			most = max(most, loss)
		}
		if want := max(2, most) * c.Mu2; charge.Mu2 < want*(1-1e-12) || charge.Mu2 > want*(1+1e-7) {
			t.Errorf("%+v: charged %g, want %g of a group's mu^2", plan.Steps, charge.Mu2/c.Mu2, want/c.Mu2)
		}
		if charge.Epsilon != b.Epsilon || charge.Delta != b.Delta || charge.Validate() != nil {
			t.Errorf("charged %+v", charge)
		}
	}
}

// thresholds is a plan with thresholds of one kind.
func thresholds(kind string, most int) kernel.Plan {
	return kernel.Plan{Method: "m", Steps: []kernel.Step{{Name: "t", Query: kind, Share: 1, Most: most, Slack: 1}}}
}

// Thresholds of gaps cost half as much again within a group, and more than twice as much where mu
// is large; those of cells cost no more than in one that a row comes to. What is charged covers the
// probability that a key of one side passes, which is computed here from the query's own numbers.
func TestThresholdsWithin(t *testing.T) {
	over := false
	for _, epsilon := range []float64{.1, 1, 4, 12, 30} {
		b := privacy.Budget{Epsilon: epsilon, Delta: 1e-6}
		for _, most := range []int{1, 7} {
			total, err := kernel.Calibrate(thresholds("gaps", most), privacy.AddRemoveOne, privacy.BudgetPerGroup(privacy.ReplaceOne, b))
			if err != nil {
				t.Fatal(err)
			}
			c := privacy.CostOf(total, true)
			charge := CostOfGroups(thresholds("gaps", most), total, true, privacy.ReplaceOne, b)
			buckets, mass := query.SpacingMasses{}.OneSided(privacy.AddRemoveOne)
			_, more := query.SpacingMasses{}.OneSided(privacy.ReplaceOne)
			sigma := query.SpacingMasses{}.Sensitivity(privacy.AddRemoveOne) / total.Mu
			threshold := mass + 1 + math.Ceil(sigma*privacy.ThresholdQuantile(math.Log(c.Added/float64(most)/buckets)))
			pass := 12 * float64(most) * math.Erfc((threshold-more-.5)/sigma/math.Sqrt2) / 2
			t.Logf("epsilon %g, %d measurements: a key passes with %.3f of the slack, charged is %.3f", epsilon, most, pass/c.Added, charge.Added/c.Added)
			over = over || pass > 2*c.Added
			if charge.Added < pass || charge.Added < 2*c.Added || charge.Added > 2.1*max(c.Added, pass) {
				t.Errorf("epsilon %g: charged %g, a key passes with %g", epsilon, charge.Added, pass)
			}
			cells := CostOfGroups(thresholds("stability histogram", most), total, true, privacy.ReplaceOne, b)
			if math.Abs(cells.Added/c.Added-2) > 1e-9 {
				t.Errorf("cells: charged %g of %g", cells.Added, c.Added)
			}
		}
	}
	if !over {
		t.Error("nowhere do gaps cost more than twice")
	}
}

// A plan of printed algorithms that has thresholds is counted by its whole budget, and one without
// by four times its mu^2; a pure budget by what all groups together promise.
func TestOtherPlans(t *testing.T) {
	b := privacy.Budget{Epsilon: 1, Delta: 1e-6}
	own := privacy.BudgetPerGroup(privacy.ReplaceOne, b)
	total, err := kernel.Calibrate(thresholds("gaps", 1), privacy.AddRemoveOne, own)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := CostOfGroups(thresholds("gaps", 1), total, false, privacy.ReplaceOne, b), privacy.AsOne(b); got.Mu2 != want.Mu2 || got.Added != b.Delta || got.Delta != b.Delta || got.Epsilon != 1 {
		t.Errorf("%+v, want %+v", got, want)
	}
	total, err = kernel.Calibrate(balances, privacy.AddRemoveOne, own)
	if err != nil {
		t.Fatal(err)
	}
	count := kernel.Plan{Method: "m", Steps: []kernel.Step{{Name: "a", Query: "count", Share: 1, Most: 1, Pure: true}}}
	if c := CostOfGroups(count, total, false, privacy.ReplaceOne, b); math.Abs(c.Mu2/float64(4*total.Cap)-1) > 1e-8 {
		t.Errorf("charged %g, want four times %g", c.Mu2, total.Cap)
	}
	for _, epsilon := range []float64{.1, 1, 20} {
		whole := privacy.Budget{Epsilon: epsilon}
		total, err := kernel.Calibrate(count, privacy.AddRemoveOne, privacy.BudgetPerGroup(privacy.ReplaceOne, whole))
		if err != nil {
			t.Fatal(err)
		}
		most, err := privacy.Foreseen(whole)
		if c := CostOfGroups(count, total, false, privacy.ReplaceOne, whole); err != nil || c.Mu2 < most.Mu2 || c.Mu2 > 1.3*most.Mu2 {
			t.Errorf("pure %g: charged %g, an epsilon of the whole is %g (%v)", epsilon, c.Mu2, most.Mu2, err)
		}
	}
}
