package gaussian

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/model/flags"
)

// shapes and relations that every worst case is tried with.
func everywhere(t *testing.T, d int, rows [][]float64, check func(t *testing.T, cov estimate.CovarianceType, o estimate.Outcome)) {
	t.Helper()
	for _, cov := range []estimate.CovarianceType{estimate.Full, estimate.Diagonal, estimate.Spherical} {
		for _, rel := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
			for _, eps := range []float64{1, 1e6} {
				s := setting{d: d, n: len(rows), rel: rel, eps: eps, cov: cov}
				o := s.fit(t, rows)
				if (o.Model == nil) == (o.NoRelease == nil) {
					t.Fatalf("%v %v: want a model or a reason, got %+v", cov, rel, o)
				}
				if o.NoRelease != nil && (o.NoRelease.Reason == "" || o.NoRelease.Advice == "") {
					t.Errorf("%v %v: NoRelease without words", cov, rel)
				}
				if o.Model != nil {
					if err := o.Model.Validate(); err != nil {
						t.Errorf("%v %v: %v", cov, rel, err)
					}
				}
				if check != nil {
					check(t, cov, o)
				}
			}
		}
	}
}

func filled(n, d int, cell func(i, j int) float64) [][]float64 {
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = make([]float64, d)
		for j := range d {
			rows[i][j] = cell(i, j)
		}
	}
	return rows
}

// TestAllEqual: a constant gets its exact value. A column without varied rows is taken for one with
// them at ConstantSDs noise sds, 3e-5 for each of 168 columns, and then has no sensible unit: one
// fit may be lost, for a false alarm of 2e-5.
func TestAllEqual(t *testing.T) {
	lost := 0
	for _, v := range []float64{0, 7, -3e300, 0x1p1000, 0x1p-1000, 5e-324, math.MaxFloat64} {
		everywhere(t, 2, filled(4000, 2, func(i, j int) float64 { return v }), func(t *testing.T, cov estimate.CovarianceType, o estimate.Outcome) {
			if o.Model == nil {
				if math.Abs(v) <= 1e300 { // a model holds no larger mean
					t.Logf("%v: %v: %+v", cov, v, o.NoRelease)
					lost++
				}
				return
			}
			g := o.Model.Components[0]
			if g.Mean[0] != v || g.Mean[1] != v || g.Cov.At(0, 0) != 0 || g.Cov.At(1, 1) != 0 {
				t.Logf("%v: want the constant %v, got mean %v, variances %v %v", cov, v, g.Mean, g.Cov.At(0, 0), g.Cov.At(1, 1))
				lost++
			}
		})
	}
	if lost > 1 {
		t.Errorf("%d fits did not find the constant", lost)
	}
}

// sane checks a standard Gaussian table with a nuisance: column variances near 1, mean near 0.
func sane(t *testing.T, cov estimate.CovarianceType, o estimate.Outcome) {
	t.Helper()
	if o.Model == nil {
		t.Errorf("%v: %+v", cov, o.NoRelease)
		return
	}
	g := o.Model.Components[0]
	for j, m := range g.Mean {
		if v := g.Cov.At(j, j); !(math.Abs(m) < .5 && v > .4 && v < 2) {
			t.Errorf("%v: column %d: mean %v variance %v, want about 0 and 1", cov, j, m, v)
		}
	}
}

func TestOneWildRow(t *testing.T) {
	for _, wild := range []float64{1e308, -math.MaxFloat64, 0x1p1000, 5e-324, math.NaN(), math.Inf(1)} {
		rows := filled(5000, 2, func(i, j int) float64 { return rand.NormFloat64() })
		rows[17] = []float64{wild, wild}
		everywhere(t, 2, rows, sane)
	}
}

// TestOwnFarRows: the few rows that a Gaussian has beyond its reach are not flagged as left out,
// also where noise is less than one row. One fit of four was flagged once, so that all of 24 would
// pass by chance with .001; now none of 3,000 was.
func TestOwnFarRows(t *testing.T) {
	for range 24 {
		rows := filled(20000, 2, func(i, j int) float64 { return rand.NormFloat64() })
		o := setting{d: 2, n: len(rows), rel: privacy.ReplaceOne, eps: 100, cov: estimate.Full}.fit(t, rows)
		for _, flag := range o.Diagnostics.Flags {
			if flag.Code == flags.LeftOut {
				t.Errorf("a Gaussian is flagged: %v", flag)
			}
		}
	}
}

func TestManyBadRows(t *testing.T) {
	rows := filled(7000, 2, func(i, j int) float64 {
		if i%5 == 0 {
			return math.NaN()
		}
		return rand.NormFloat64()
	})
	everywhere(t, 2, rows, func(t *testing.T, cov estimate.CovarianceType, o estimate.Outcome) {
		sane(t, cov, o)
		if o.Model != nil {
			if n := o.Diagnostics.Components[0].EffectiveRows; math.Abs(n-5600) > 400 {
				t.Errorf("%v: effective rows %v, want about 5600", cov, n)
			}
		}
	})
	refused := func(t *testing.T, cov estimate.CovarianceType, o estimate.Outcome) {
		if o.Model != nil {
			t.Errorf("%v: a model of nothing was released", cov)
		}
	}
	everywhere(t, 2, filled(5000, 2, func(i, j int) float64 { return math.NaN() }), refused)
	for n := range 3 {
		everywhere(t, 2, filled(n, 2, func(i, j int) float64 { return 1 }), refused)
		everywhere(t, 30, filled(n*9, 30, func(i, j int) float64 { return rand.NormFloat64() }), func(t *testing.T, cov estimate.CovarianceType, o estimate.Outcome) {
			// d > n: the variances of one column each can still be seen at a huge epsilon
			if cov == estimate.Full || n == 0 {
				refused(t, cov, o)
			}
		})
	}
}

func TestConstantAndDuplicateColumns(t *testing.T) {
	rows := filled(12000, 4, func(i, j int) float64 { return rand.NormFloat64() })
	for _, r := range rows {
		r[1], r[3] = r[0], -7
	}
	everywhere(t, 4, rows, func(t *testing.T, cov estimate.CovarianceType, o estimate.Outcome) {
		if o.Model == nil {
			if cov == estimate.Full {
				t.Errorf("%+v", o.NoRelease)
			}
			return
		}
		g := o.Model.Components[0]
		if len(o.Diagnostics.ConstantColumns) != 1 || o.Diagnostics.ConstantColumns[0] != 3 || g.Mean[3] != -7 {
			t.Errorf("%v: constant columns %v, mean %v", cov, o.Diagnostics.ConstantColumns, g.Mean)
		}
		if cov == estimate.Full && !(math.Abs(g.Cov.At(0, 1)-g.Cov.At(0, 0)) < 1e-6 && g.Cov.At(0, 0) > .6) {
			t.Errorf("duplicate columns: covariance %v, variance %v", g.Cov.At(0, 1), g.Cov.At(0, 0))
		}
	})
}

func TestUnitsOfColumns(t *testing.T) {
	unit := []float64{1e-30, 1e30, 1}
	rows := filled(9000, 3, func(i, j int) float64 { return unit[j]*rand.NormFloat64() + map[int]float64{2: 1e12}[j] })
	everywhere(t, 3, rows, func(t *testing.T, cov estimate.CovarianceType, o estimate.Outcome) {
		if cov == estimate.Spherical {
			return // one variance for such columns is a wrong question; only that it ends matters
		}
		if o.Model == nil {
			t.Errorf("%v: %+v", cov, o.NoRelease)
			return
		}
		g := o.Model.Components[0]
		for j, u := range unit {
			if v := g.Cov.At(j, j) / u / u; !(v > .6 && v < 1.6) {
				t.Errorf("%v: column %d: variance %v, want about %v", cov, j, g.Cov.At(j, j), u*u)
			}
		}
	})
}

func TestHugeAndTinySpreads(t *testing.T) {
	for _, u := range []float64{1e-310, 1e-200, 1e200, 1e307} {
		everywhere(t, 2, filled(4000, 2, func(i, j int) float64 { return u * rand.NormFloat64() }), func(t *testing.T, cov estimate.CovarianceType, o estimate.Outcome) {
			if o.Model == nil {
				return
			}
			if u > 1 { // the variance overflows: any model would be wrong
				t.Errorf("%v: unit %v: a model was released: %v", cov, u, o.Model.Components[0].Cov.At(0, 0))
			} else if o.Model.Components[0].Cov.At(0, 0) > 1e-300 {
				t.Errorf("%v: unit %v: variance %v", cov, u, o.Model.Components[0].Cov.At(0, 0))
			}
		})
	}
}
