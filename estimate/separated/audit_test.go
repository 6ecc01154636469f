package separated

import (
	"math"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// TestReplay: the questions and prices of a fit are functions of its answers: on a neighbouring
// table the same answers lead to the same questions, and no path loses more than mu^2, wherever the
// rows that differ lie and however deep the fit goes.
func TestReplay(t *testing.T) {
	rng := newRand(t)
	deep := 0
	hard := append(estimatetest.Hard()[:1:1], nested()[1], nested()[2])
	type setting struct {
		table   estimatetest.Table
		d, n, k int
		mu      float64
	}
	settings := []setting{{hard[0], 2, 1500, 0, .5}, {hard[0], 13, 2500, 2, 1}, {hard[1], 2, 4000, 0, 1}, {hard[2], 1, 3000, 4, 2}}
	values := []float64{1e308, math.NaN(), 0, 40}
	if estimatetest.Long() {
		settings = append(settings, setting{hard[1], 3, 20000, 6, 3}, setting{hard[2], 2, 20000, 0, 3}, setting{hard[0], 20, 20000, 0, .5})
	}
	for _, rel := range relations {
		for i, c := range settings {
			rows := c.table.Rows(rng, c.n, c.d)
			shape := shapes[(i+int(rng.Uint32()%3))%3]
			for _, v := range values {
				if !estimatetest.Long() && rng.IntN(4) > 0 {
					continue
				}
				row := make([]float64, c.d)
				for j := range row {
					row[j] = v
				}
				other := append([][]float64{row}, rows[1:]...) // in its place: see Neighbours
				if rel == privacy.AddRemoveOne {
					other = append(slices.Clone(rows), row)
				}
				f, loss := estimatetest.Neighbours(t, New(), estimatetest.Case{Rows: rows, Columns: c.d, Relation: rel, Mu: c.mu, Components: c.k,
					Covariance: shape, Noise: kerneltest.Options{Seed: rng.Uint64()}}, other)
				if f.Session == nil {
					t.Fatalf("refused: %v", f.Refused)
				}
				if limit := math.Pow(f.Session.Mu(), 2); loss.Path > limit*(1+1e-9) {
					t.Errorf("%s %v %v: a path loses mu^2 = %v of %v", c.table.Name, rel, shape, loss.Path, limit)
				}
				for _, m := range f.Session.Measurements() {
					if m.Step == "zoom into nodes" {
						deep++
					}
				}
			}
		}
	}
	if deep == 0 {
		t.Error("no fit looked into nodes at their own scale: the test sees too little of the method")
	}
}

// TestNoiseOnly: if the kernel's noise is up to a thousand times what it says, so that answers are
// noise, a fit still ends in a sound model or in a reason, within its plan and its budget.
func TestNoiseOnly(t *testing.T) {
	rng := newRand(t)
	// trees of noise have many leaves: in more columns they take long
	runs, epsilons, columns := 10, []float64{.3, 1, 3}, []int{1, 2}
	if estimatetest.Long() {
		runs, epsilons, columns = 1000, []float64{.1, 1, 10, 100}, []int{1, 2, 3, 5, 13}
	}
	hard := append(estimatetest.Hard(), nested()...)
	all := combinations()
	released := 0
	for range runs {
		c := all[rng.IntN(len(all))]
		table := hard[rng.IntN(len(hard))]
		if c.Columns = columns[rng.IntN(len(columns))]; c.Components > 2 && !estimatetest.Long() {
			c.Components = 2
		}
		n := 3000 + rng.IntN(3000)
		c.Rows, c.Mu = table.Rows(rng, n, c.Columns), privacy.MuOf(epsilons[rng.IntN(len(epsilons))], 1e-6)
		c.Noise = kerneltest.Options{Seed: rng.Uint64(), NoiseFactor: []float64{30, 1000}[rng.IntN(2)]}
		if f := estimatetest.RunChecked(t, New(), c); f.Model != nil {
			released++
		}
		if t.Failed() {
			t.Fatalf("%s: d %d n %d mu %v K %d of %d %v %v, noise %+v", table.Name, c.Columns, n, c.Mu, c.Components, c.MaxComponents, c.Relation, c.Covariance, c.Noise)
		}
	}
	t.Logf("released %d of %d", released, runs)
}

// TestHardlyAnyRows: tables of no, one or two rows, and of fewer rows than columns.
func TestHardlyAnyRows(t *testing.T) {
	rng := newRand(t)
	for _, table := range estimatetest.Hard()[:5] {
		for n := range 3 {
			for _, d := range []int{1, 3, 12} {
				for _, c := range combinations() {
					c.Rows, c.Columns, c.Mu, c.Noise = table.Rows(rng, n, d), d, []float64{.01, muOne, 1414}[rng.IntN(3)], kerneltest.Options{Fresh: true}
					if f := estimatetest.RunChecked(t, New(), c); f.Model != nil && !estimatetest.IsPoint(f.Model) {
						t.Errorf("%s: a model of %d rows was released", table.Name, n)
					}
				}
			}
		}
	}
}

// TestHardlyEnoughRows: where the units get exactly what they need, neither the noise nor a
// rounding error may lead out of the plan.
func TestHardlyEnoughRows(t *testing.T) {
	rng := newRand(t)
	for _, rel := range relations {
		for _, d := range []int{1, 4, 20} {
			p := estimate.Problem{Columns: d, Mu: muOne, MaxComponents: 10, Rows: 1}
			n := 200
			for ; n < 100000; n += 20 {
				if p.Rows = n; rel == privacy.ReplaceOne {
					if _, err := New().Plan(p); err == nil {
						break
					}
				} else if n > int(rowsFor(p, 2)/2) {
					break
				}
			}
			rows := estimatetest.Hard()[0].Rows(rng, n, d)
			for range 3 {
				estimatetest.RunChecked(t, New(), estimatetest.Case{Rows: rows, Columns: d, Relation: rel, Mu: muOne, Noise: fresh})
			}
		}
	}
}
