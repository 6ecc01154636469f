package gauze_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/internal/madeup"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/release"
	"github.com/gauze-dp/gauze/report/overall"
	"github.com/gauze-dp/gauze/source"
)

var custodians = privacy.Budget{Epsilon: 1, Delta: 1e-6}

// fitted draws a table of groups 4 standard deviations apart, the first with that share, and fits
// it by default.
func fitted(t *testing.T, seed uint64, k, d, n int, share float64) (*model.Mixture, *release.Release) {
	t.Helper()
	p := madeup.Plain{Components: k, Columns: d, Placement: madeup.Simplex, Distance: 4, Ellipsoids: true}
	if d == 1 {
		p.Placement = madeup.Along
	}
	truth, err := p.Truth(seed)
	if err != nil {
		t.Fatal(err)
	}
	weights := []float64{share}
	for range k - 1 {
		weights = append(weights, (1-share)/float64(k-1))
	}
	if truth, err = model.New(nil, weights, truth.Components); err != nil {
		t.Fatal(err)
	}
	sampler, err := model.NewSampler(truth)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(seed, 1))
	b, row := kernel.NewBuilder(d), make([]float64, d)
	for range n {
		sampler.Row(row, rng)
		b.Append(row)
	}
	result, err := gauze.Fit(context.Background(), b.Protect(privacy.ReplaceOne),
		gauze.Request{Relation: privacy.ReplaceOne, Budget: custodians, Columns: gauze.Named(model.DefaultColumns(d)...)})
	if err != nil {
		t.Fatal(err)
	}
	return truth, result.Release
}

// seen reports that a released mean lies within half a standard deviation of g's, in a root mean
// square over directions.
func seen(r *release.Release, g model.Gaussian) bool {
	groups, _ := r.Model.WithoutBackground()
	for _, h := range groups.Components {
		if mean, _ := madeup.Distances(h, g); mean <= .5*math.Sqrt(float64(len(g.Mean))) {
			return true
		}
	}
	return false
}

// TestAccuracyHolds: what a plan says of the error is so on fresh tables, and not by far too wide.
// Where a width holds in 19 of 20 columns as it says, the first limit is passed in fewer than one
// of 10^6 runs; with GAUZE_LONG twenty times as many tables are fitted.
func TestAccuracyHolds(t *testing.T) {
	runs := 2
	if os.Getenv("GAUZE_LONG") != "" {
		runs = 40
	}
	var columns, far, wide, farSD, groups, missed float64
	for _, c := range []struct{ k, d, n int }{{1, 1, 3000}, {1, 4, 5000}, {2, 2, 4000}, {2, 2, 12000}, {3, 4, 12000}, {5, 3, 14000}, {5, 1, 6000}, {2, 6, 30000}} {
		plan, err := gauze.Plan(gauze.Request{Relation: privacy.ReplaceOne, Budget: custodians, Columns: gauze.Named(model.DefaultColumns(c.d)...)}, c.n)
		if err != nil {
			t.Fatal(err)
		}
		a := plan.Accuracy
		for range runs {
			truth, r := fitted(t, rand.Uint64(), c.k, c.d, c.n, 1/float64(c.k))
			if r == nil {
				t.Fatalf("%+v: no release", c)
			}
			whole, mean := overall.Of(r), truth.Mean()
			cov := madeup.Covariance(truth)
			for j, column := range whole.Columns {
				sd := math.Sqrt(cov.At(j, j))
				off := math.Abs(column.Mean.Value-mean[j]) / sd
				columns++
				far += count(off > a.Mean)
				wide += count(off > a.Mean/8)
				farSD += count(math.Abs(column.SD.Value/sd-1) > a.SD)
			}
			if float64(c.n) >= rowsFor(a, c.k) {
				for _, g := range truth.Components {
					groups++
					missed += count(!seen(r, g))
				}
			}
		}
	}
	limit := func(n, p float64) float64 { return n*p + 5*math.Sqrt(n*p*(1-p)) + 3 }
	t.Logf("%v columns: means outside %v, standard deviations %v; beyond an eighth of the width %v; %v groups, missed %v", columns, far, farSD, wide, groups, missed)
	if far > limit(columns, .05) || farSD > limit(columns, .05) || missed > limit(groups, .1) {
		t.Errorf("of %v columns %v means and %v standard deviations lie outside, of %v groups %v are missed", columns, far, farSD, groups, missed)
	}
	if wide < columns/4 {
		t.Errorf("only %v of %v means are farther off than an eighth of what is said: the figure is too wide", wide, columns)
	}
}

func count(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

func rowsFor(a *gauze.Accuracy, k int) float64 {
	for _, g := range a.RowsFor {
		if g.Groups == k {
			return g.Rows
		}
	}
	return math.Inf(1)
}

// TestSmallestGroupIsSeen: a group of the smallest share that a plan says is seen, is, and one of
// an eighth of it is mostly not. Of 12 tables with a chance of .9 each, fewer than 5 are seen in
// one of 10^6 runs.
func TestSmallestGroupIsSeen(t *testing.T) {
	const runs, n = 12, 10_000
	plan, err := gauze.Plan(gauze.Request{Relation: privacy.ReplaceOne, Budget: custodians, Columns: gauze.Named("a", "b")}, n)
	if err != nil {
		t.Fatal(err)
	}
	share := plan.Accuracy.SmallestGroup
	if share < .05 || share > .3 || plan.Accuracy.Apart != 4 {
		t.Fatalf("got %+v", plan.Accuracy)
	}
	found, small := 0., 0.
	for range runs {
		truth, r := fitted(t, rand.Uint64(), 2, 2, n, share)
		found += count(r != nil && seen(r, truth.Components[0]))
		truth, r = fitted(t, rand.Uint64(), 2, 2, n, share/8)
		small += count(r != nil && seen(r, truth.Components[0]))
	}
	if found < 5 || small > 7 {
		t.Errorf("groups of %g are seen in %v of %d tables, and an eighth of that in %v", share, found, runs, small)
	}
}

// What a plan answers first is in the columns' own units, where their spread is known.
func TestAccuracyIsInUnits(t *testing.T) {
	least, most := 0., 120.
	columns := gauze.Named("age", "bmi", "x")
	columns[0].AtLeast, columns[0].AtMost, columns[0].UnitOfMeasure = &least, &most, "years"
	r := gauze.Request{Relation: privacy.ReplaceOne, Budget: custodians, Columns: columns, TypicalSD: map[string]float64{"bmi": 5}}
	s, err := gauze.Plan(r, 9000)
	if err != nil {
		t.Fatal(err)
	}
	a := s.Accuracy
	if len(a.Columns) != 2 || a.Columns[0].TypicalSD != 20 || a.Columns[0].Stated || !a.Columns[1].Stated || math.Abs(a.Columns[1].Mean-5*a.Mean) > 1e-12 || !(a.Best > 0 && a.Best < a.Mean) {
		t.Errorf("got %+v", a)
	}
	for _, want := range []string{"the mean of age is within ± 1.2 years (no method can promise less than", "about a sixth of its limits, 20", "the mean of bmi is within ± 0.", "other means are within", "rows needed to see groups of equal size: "} {
		if !strings.Contains(s.Summary(), want) {
			t.Errorf("want %q in\n%s", want, s.Summary())
		}
	}
	if strings.Contains(s.Summary(), "share") || !strings.Contains(s.String(), "share") || !strings.HasPrefix(s.Summary(), "in 19 of 20 fits with 9,000 rows") {
		t.Errorf("got\n%s", s.Summary())
	}
	// Rows for numbers of groups do not follow the rows that there are.
	more, err := gauze.Plan(r, 50_000)
	if err != nil || len(a.RowsFor) != 4 || !equal(a.RowsFor, more.Accuracy.RowsFor) {
		t.Errorf("%v: %+v at 9,000 rows, %+v at 50,000", err, a.RowsFor, more.Accuracy.RowsFor)
	}
	r.TypicalSD = map[string]float64{"weight": 3}
	var field *privacy.FieldError
	if _, err := gauze.Plan(r, 9000); !errors.As(err, &field) || field.Field != "typical_sd" {
		t.Errorf("a column that is not there: got %v", err)
	}
	r.TypicalSD, r.Method = nil, "separated"
	if s, err := gauze.Plan(r, 9000); err != nil || s.Accuracy != nil {
		t.Errorf("a method of which nothing was measured: %v, %+v", err, s)
	}
}

func equal(a, b []gauze.GroupRows) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return len(a) == len(b)
}

// A refusal names what the rows can pay for, and what it names is planned.
func TestSmallTablesAreOffered(t *testing.T) {
	r := gauze.Request{Relation: privacy.ReplaceOne, Budget: custodians, Columns: gauze.Named("age", "bmi")}
	_, err := gauze.Plan(r, 500)
	var refusal *estimate.Refusal
	if !errors.As(err, &refusal) || !strings.Contains(refusal.Advice, "500 rows would do with: epsilon 2; or 1 column of the 2; or fits of one column each, at epsilon 0.5") {
		t.Fatalf("got %v", err)
	}
	r.Columns, r.Budget.Epsilon = r.Columns[:1], .5
	if _, err := gauze.Plan(r, 500); err != nil {
		t.Errorf("one column at half of epsilon: %v", err)
	}
	r.Columns, r.Budget.Epsilon = gauze.Named(model.DefaultColumns(20)...), 1
	if _, err = gauze.Plan(r, 1500); !errors.As(err, &refusal) || !strings.Contains(refusal.Advice, "mean and standard deviation of each column from about 1700 rows on") {
		t.Errorf("20 columns: got %v", err)
	}
}

// Table one of a table in which every column would be held out for certain is refused before
// anything is spent, and the refusal names what the rows can pay for.
func TestSmallTablesAreNotDescribedInVain(t *testing.T) {
	r := gauze.Request{Relation: privacy.ReplaceOne, Budget: custodians, Columns: gauze.Named("age", "bmi"), Method: gauze.MethodProfile}
	var refusal *estimate.Refusal
	_, err := gauze.Plan(r, 500)
	if !errors.As(err, &refusal) || !strings.Contains(refusal.Advice, "500 rows would do with: epsilon 2; or fits of one column each, at epsilon 0.5") {
		t.Fatalf("got %v", err)
	}
	for _, change := range []func(*gauze.Request){
		func(r *gauze.Request) { r.Budget.Epsilon = 2 },
		func(r *gauze.Request) { r.Relation = privacy.AddRemoveOne }, // the number of rows is a guess
		func(r *gauze.Request) {
			r.Columns[1].Kind, r.Columns[1].Categories = source.Categories, []string{"a", "b"}
		},
	} {
		other := r
		other.Columns = slices.Clone(r.Columns)
		change(&other)
		if _, err := gauze.Plan(other, 500); err != nil {
			t.Errorf("%+v: %v", other.Budget, err)
		}
	}
}
