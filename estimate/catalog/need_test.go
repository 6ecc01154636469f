package catalog

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strconv"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// refusedAt is the refusal of a method for so many public rows; nil if it would try.
func refusedAt(t *testing.T, e estimate.Estimator, p estimate.Problem, rows int) *estimate.Refusal {
	t.Helper()
	p.Rows = rows
	_, err := e.Plan(p)
	var refusal *estimate.Refusal
	if err != nil && !errors.As(err, &refusal) {
		t.Fatalf("%s: %+v: %v", e.Name(), p, err)
	}
	return refusal
}

// least is the smallest number of public rows that a method does not refuse, 0 if it refuses any.
func least(t *testing.T, e estimate.Estimator, p estimate.Problem) int {
	low, high := 0, 100_000_000
	if refusedAt(t, e, p, high) != nil {
		return 0
	}
	for high > low+1 {
		if mid := (low + high) / 2; refusedAt(t, e, p, mid) != nil {
			low = mid
		} else {
			high = mid
		}
	}
	return high
}

var needsAbout = regexp.MustCompile(`needs about (\d+) rows`)

// TestPlanAdviceAndExpectationAgree: where a method refuses public rows, it names more rows than
// there are, the number that the plan of the same problem prints, and with these it does not
// refuse. One that refuses a number of rows refuses fewer.
func TestPlanAdviceAndExpectationAgree(t *testing.T) {
	checked := map[string]int{}
	for _, e := range Methods().All() {
		for _, d := range []int{1, 2, 20} {
			for _, k := range []int{0, 1, 2, 5} {
				for i, epsilon := range []float64{.2, 2} {
					if e.Name() == forLearners && (i > 0 || k > 2) {
						continue // its accounting takes long
					}
					b := privacy.Budget{Epsilon: epsilon, Delta: 1e-6}
					p := estimate.Problem{Columns: d, Relation: privacy.ReplaceOne, Mu: privacy.MuOf(epsilon, 1e-6), Budget: b, Components: k, MaxComponents: 10,
						Covariance: estimate.CovarianceType((d + k + i) % 3)}
					if e.Name() == "axis-aligned" && i == 1 {
						p.KnownCovariance = make([][]float64, d)
						for j := range d {
							p.KnownCovariance[j] = make([]float64, d)
							p.KnownCovariance[j][j] = 1
						}
					}
					what := fmt.Sprintf("%s, d = %d, k = %d, epsilon %g, %v", e.Name(), d, k, epsilon, p.Covariance)
					if n := least(t, e, p); n > 1 {
						checked[e.Name()]++
						agree(t, what, e, p, n)
					}
				}
			}
		}
	}
	for _, e := range Methods().All() {
		if checked[e.Name()] < 2 {
			t.Errorf("%s: %d problems have a least number of rows", e.Name(), checked[e.Name()])
		}
	}
}

func agree(t *testing.T, what string, e estimate.Estimator, p estimate.Problem, least int) {
	t.Helper()
	for _, n := range []int{1, least / 3, least * 2 / 3, least - 1} {
		if n < 1 {
			continue
		}
		r := refusedAt(t, e, p, n)
		if r == nil {
			t.Errorf("%s: %d rows are enough, and %d are refused", what, n, least-1)
			continue
		}
		found := needsAbout.FindStringSubmatch(r.Advice)
		if found == nil {
			t.Errorf("%s: %d rows: %q names no number", what, n, r.Advice)
			continue
		}
		told, err := strconv.Atoi(found[1])
		if err != nil {
			t.Fatal(err)
		}
		p.Rows = n
		if want := estimate.AboutRows(e.Expect(p).RowsNeeded); math.Abs(float64(told)-want) > .5 || told <= n {
			t.Errorf("%s: %d rows: %q, and the plan says %.0f", what, n, r.Advice, want)
		}
		if again := refusedAt(t, e, p, told); again != nil {
			t.Errorf("%s: told to take %d rows, and these are refused: %v", what, told, again)
		}
	}
}

// TestPrivateRowsCostTheCount: where n is private it takes a count to see that there are too few,
// and no more, or two of a method that ends in another one's: what is refused then names more rows
// than there are.
func TestPrivateRowsCostTheCount(t *testing.T) {
	rows := make([][]float64, 12)
	for i := range rows {
		rows[i] = []float64{float64(i * i)}
	}
	for _, e := range Methods().All() {
		for _, known := range [][][]float64{nil, {{1}}} {
			c := estimatetest.Case{Rows: rows, Columns: 1, Relation: privacy.AddRemoveOne, Epsilon: .5, Delta: 1e-6, MaxComponents: 10, KnownCovariance: known,
				Noise: kerneltest.Options{Exact: true}}
			if e.Name() == forLearners {
				c.Components = 2
			}
			f := estimatetest.RunChecked(t, e, c)
			if f.NoRelease == nil {
				t.Errorf("%s: a fit of 12 rows ends in %+v, %+v", e.Name(), f.Model, f.Refused)
				continue
			}
			for i, made := range f.Session.Measurements() {
				if want := []string{"count", "one: count"}; i >= len(want) || made.Step != want[i] || made.Count != 1 {
					t.Errorf("%s: of 12 rows %+v is measured", e.Name(), made)
				}
			}
			want := fmt.Sprintf("%.0f", estimate.AboutRows(e.Expect(c.Problem()).RowsNeeded))
			if found := needsAbout.FindStringSubmatch(f.NoRelease.Advice); found == nil || found[1] != want {
				t.Errorf("%s: the advice is %q, the plan's number %s", e.Name(), f.NoRelease.Advice, want)
			}
		}
	}
}

// TestToldRowsDo: with the number of rows that a refusal names fits of kind tables end in a model.
// False alarm: below 1e-6 a method if 9 of 10 do, as six fits in a row have to fail.
func TestToldRowsDo(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 7))
	for _, e := range Methods().All() {
		c := estimatetest.Case{Columns: 1, Epsilon: 6, Delta: 1e-6, Components: 1, Noise: kerneltest.Options{Fresh: true}}
		if e.Name() == "separated" {
			c.Components = 2
		}
		n := int(estimate.AboutRows(e.Expect(c.Problem()).RowsNeeded))
		c.Rows = make([][]float64, n)
		released := false
		for range 6 {
			for i := range c.Rows {
				c.Rows[i] = []float64{rng.NormFloat64() + 20*float64(i%c.Components)}
			}
			released = released || estimatetest.RunChecked(t, e, c).Model != nil
		}
		if !released {
			t.Errorf("%s: none of 6 fits of %d rows ends in a model", e.Name(), n)
		}
	}
}
