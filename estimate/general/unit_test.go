package general

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/model/flags"
)

// TestExpectNeverFails: what a planner is told is finite for any problem.
func TestExpectNeverFails(t *testing.T) {
	for _, c := range combinations() {
		for _, n := range []int{0, 1, 100, 1 << 40} {
			for _, d := range []int{1, 3, 60} {
				for _, mu := range []float64{1e-6, muOne, 1e4} {
					p := c.Problem()
					p.Columns, p.Mu = d, mu
					if p.Relation == privacy.ReplaceOne {
						p.Rows = n
					}
					if e := tested.Expect(p); !dense.Finite(e.RowsNeeded) || !dense.Finite(e.RelativeError) || e.RowsNeeded < 0 {
						t.Errorf("%+v: %+v", p, e)
					}
				}
			}
		}
	}
}

// TestOneGaussianIsSaid: where only a mixture is hopeless one Gaussian is fitted and said to be
// one, with the number of rows that it would take, which plan names too; never where one was asked
// for.
func TestOneGaussianIsSaid(t *testing.T) {
	rng := newRand(t)
	for _, rel := range relations {
		p := estimate.Problem{Columns: 2, Relation: rel, Mu: muOne, MaxComponents: 10}
		told := fmt.Sprintf("about %.0f", estimate.AboutRows(rowsOfLooking(p)))
		rows := make([][]float64, int(.95*rowsOfLooking(p)))
		for i := range rows {
			rows[i] = []float64{rng.NormFloat64(), rng.NormFloat64()}
		}
		for _, k := range []int{0, 1} {
			c := estimatetest.Case{Rows: rows, Columns: 2, Relation: rel, Mu: muOne, Components: k, MaxComponents: 10, Noise: kerneltest.Options{Exact: true}}
			f := estimatetest.RunChecked(t, tested, c)
			if f.Model == nil || len(f.Model.Components) != 1 {
				t.Fatalf("%v, k = %d: %+v %+v", rel, k, f.Outcome, f.Refused)
			}
			said := slices.ContainsFunc(f.Diagnostics.Flags, func(f estimate.Flag) bool {
				return f.Code == flags.OneComponent && strings.Contains(f.Text, told)
			})
			if said != (k == 0) {
				t.Errorf("%v, k = %d: flags %q, want %s", rel, k, f.Diagnostics.Flags, told)
			}
			p.Components = k
			if notes := strings.Join(tested.Expect(p).Notes, " "); strings.Contains(notes, told) != (k == 0) {
				t.Errorf("%v, k = %d: the plan says %q, want %s", rel, k, notes, told)
			}
		}
	}
}
