package kv18

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// More budget never hurts, with printed and practical constants; in the end the error is that of
// the rows, the root mean square of eight of which lies below 2 with probability 1-1e-4.
func TestMoreBudget(t *testing.T) {
	for _, rel := range relations {
		for _, c := range []Constants{Practical(), Printed()} {
			for _, n := range []int{500, 20000} {
				if c.Radius > 0 { // the printed range is wide
					n = max(n, int(c.rowsShown(trial{eps: 10, relation: rel}.problem())))
				}
				last := estimatetest.MoreBudget(t, New(c), 8, 1.2, func(table uint64) (estimatetest.Case, func(estimatetest.Fit) float64) {
					return estimatetest.Case{Rows: column(table, n, 1e4, 3), Columns: 1, Relation: rel, Components: 1}, func(f estimatetest.Fit) float64 {
						return math.Abs(f.Model.Components[0].Cov.At(0, 0)/9-1) * math.Sqrt(float64(n)/2)
					}
				})
				if !(last < 2) {
					t.Errorf("%v n=%d: x%.2f of the non-private error at epsilon 1e6", rel, n, last)
				}
			}
		}
	}
}

// More rows are never refused.
func TestMoreRows(t *testing.T) {
	for _, eps := range []float64{.1, 1, 1e3, 1e6} {
		for _, c := range []Constants{Practical(), Printed()} {
			p := trial{eps: eps, relation: privacy.ReplaceOne}.problem()
			p.Rows = int(c.rowsSeen(p)) + 1
			estimatetest.MoreRows(t, New(c), p)
		}
	}
}

// TestPrinted: the method with printed constants is that of Printed. With the rows that it names
// where they are too few it releases, with noise of an eighth of the variance at most. Rows and
// noise have seeds.
//
// Shows: [KV18] Section 3.
func TestPrinted(t *testing.T) {
	e := New(Practical()).Printed()
	if fmt.Sprint(e) != fmt.Sprint(New(Printed())) {
		t.Errorf("got %+v", e)
	}
	for _, rel := range relations {
		f := trial{rows: column(1, 3000, 0, 3), eps: 10, relation: rel, constants: Printed()}.fit(t)
		if f.NoRelease == nil {
			t.Fatalf("%v: 3000 rows are enough", rel)
		}
		var n float64
		if _, err := fmt.Sscanf(strings.ReplaceAll(f.NoRelease.Advice, ",", ""), "about %g rows", &n); err != nil {
			t.Fatal(f.NoRelease.Advice)
		}
		for i := range uint64(5) {
			f := trial{rows: column(i, int(1.1*n), -1e5, 3), eps: 10, relation: rel, constants: Printed(), noise: kerneltest.Options{Seed: i}}.fit(t)
			if f.Model == nil {
				t.Fatalf("%v, n = %.0f: %+v %+v", rel, n, f.Refused, f.NoRelease)
			}
			if off := math.Abs(f.Model.Components[0].Cov.At(0, 0)/9 - 1); off > .5 {
				t.Errorf("%v, n = %.0f: the variance is off by %.2f of it, 4 sds are .5", rel, n, off)
			}
		}
	}
}
