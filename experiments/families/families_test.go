package families

import (
	"math"
	"testing"
)

// Every family draws tables of finite numbers and missing cells, with what is known of them in the
// right lengths; the same table of a seed; and parameters that do not depend on n.
func TestFamilies(t *testing.T) {
	seen := map[string]bool{}
	halves := map[bool]int{}
	for _, f := range Families() {
		if seen[f.Name()] {
			t.Errorf("%s is there twice", f.Name())
		}
		seen[f.Name()] = true
		halves[f.Held]++
		for seed := range uint64(3) {
			checkTable(t, f, seed)
		}
	}
	if halves[true] != halves[false] || halves[true] < 60 {
		t.Errorf("halves of %v", halves)
	}
}

func checkTable(t *testing.T, f Family, seed uint64) {
	t.Helper()
	const n = 400
	got, again, more := f.Draw(seed, n), f.Draw(seed, n), f.Draw(seed, 2*n)
	rows, d := got.Rows.Dims()
	if rows != n || d < 1 || d > 60 || got.Components < 1 {
		t.Fatalf("%s: %d x %d", f.Name(), rows, d)
	}
	if _, d2 := more.Rows.Dims(); d2 != d || more.What != got.What {
		t.Errorf("%s: %q of %d columns, but %q of %d with more rows", f.Name(), got.What, d, more.What, d2)
	}
	for j := range d {
		if f.Use == UseColumn && d > 1 {
			t.Errorf("%s: %d columns", f.Name(), d)
		}
		for i := range n {
			x, y := got.Rows.At(i, j), again.Rows.At(i, j)
			if x != y && !math.IsNaN(x) || math.IsInf(x, 0) {
				t.Fatalf("%s: row %d, column %d: %v, then %v", f.Name(), i, j, x, y)
			}
		}
	}
	if got.Outliers != nil && len(got.Outliers) != n || got.Labels != nil && len(got.Labels) != n || got.Declared != nil && len(got.Declared) != d ||
		got.Covariance != nil && len(got.Covariance) != d || (f.Use == UseKnown) != (got.Covariance != nil) {
		t.Errorf("%s: what is known of the rows has other lengths", f.Name())
	}
	for i := range got.Labels {
		if k := got.Labels[i]; k < 0 || k >= got.Components {
			t.Errorf("%s: label %d of %d", f.Name(), k, got.Components)
		}
	}
}
