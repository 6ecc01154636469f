package catalog

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

var kinds = []Kind{
	{Method: "a", Shape: estimate.Full, Relation: privacy.ReplaceOne, Data: GaussianRows},
	{Method: "a", Shape: estimate.Diagonal, Relation: privacy.AddRemoveOne, Data: GaussianRows},
	{Method: "a", Shape: estimate.Spherical, Relation: privacy.AddRemoveOne, Data: HeavyRows, Loose: 100},
}

// law is an error as the theory has it: sampling and, in quadrature, c d/(n mu) for privacy.
func law(k Kind, d, n int, mu float64) Errors {
	cov, mean := rates(k.Shape, d, float64(n))
	c := 7 * float64(d) / float64(n) / mu
	return Errors{math.Hypot(cov, math.Sqrt(float64(d))*c), math.Hypot(mean, c), cov, mean}
}

// example is a table of that law with a ragged grid.
func example(t *testing.T) *ErrorTable {
	t.Helper()
	var points []ErrorPoint
	for _, k := range kinds {
		for _, d := range []int{1, 2, 5, 20} {
			for _, mu := range []float64{.1, .3, 1} {
				for i, m := range []float64{1, 2, 5, 20} {
					if d == 2 && mu == .3 && i == 3 {
						continue
					}
					n := int(m * 30 * math.Pow(float64(d), 1.5) / mu)
					points = append(points, ErrorPoint{Kind: k, Columns: d, Rows: n, Mu: mu, Errors: law(k, d, n, mu), Released: 5 + i, Runs: 8})
				}
			}
		}
	}
	table, err := newTable(points)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func near(a, b, relative float64) bool { return math.Abs(a-b) <= relative*math.Abs(b) }

func TestAtGridPoints(t *testing.T) {
	table := example(t)
	if len(table.Points()) != 3*(4*3*4-1) || len(table.Kinds("a")) != 3 || len(table.Kinds("b")) != 0 {
		t.Fatalf("%d points, kinds %v", len(table.Points()), table.Kinds("a"))
	}
	for _, p := range table.Points() {
		got, err := table.At(p.Kind, p.Columns, float64(p.Rows), p.Mu)
		if err != nil || got.Note != "" {
			t.Fatalf("%+v: %v, note %q", p, err, got.Note)
		}
		for i, pair := range [][2]float64{
			{got.Covariance, p.Covariance}, {got.Mean, p.Mean}, {got.PlainCovariance, p.PlainCovariance}, {got.PlainMean, p.PlainMean},
			{got.Released, float64(p.Released) / float64(p.Runs)},
		} {
			if !near(pair[0], pair[1], 1e-9) {
				t.Errorf("%+v: value %d is %v, want %v", p, i, pair[0], pair[1])
			}
		}
	}
}

// Between grid points the law is met about, and more rows, more budget or fewer columns never mean
// a larger error.
func TestBetweenGridPoints(t *testing.T) {
	table := example(t)
	for _, k := range kinds {
		at := func(d int, n, mu float64) Estimate {
			e, err := table.At(k, d, n, mu)
			if err != nil {
				t.Fatalf("%+v d=%d n=%g mu=%g: %v", k, d, n, mu, err)
			}
			if want := law(k, d, int(n), mu); !near(e.Covariance, want.Covariance, .15) || !near(e.Mean, want.Mean, .15) {
				t.Errorf("%+v d=%d n=%g mu=%g: got %+v, want about %+v", k, d, n, mu, e.Errors, want)
			}
			return e
		}
		for _, d := range []int{1, 2, 3, 5, 7, 12, 20} {
			last := Errors{Covariance: math.Inf(1), Mean: math.Inf(1)}
			for n := 30 * math.Pow(float64(d), 1.5) / .2 * 1.01; n < 1e6; n *= 1.07 {
				e := at(d, n, .2)
				if e.Covariance > last.Covariance || e.Mean > last.Mean {
					t.Fatalf("%+v d=%d n=%g: %+v after %+v", k, d, n, e.Errors, last)
				}
				last = e.Errors
				if more := at(d, n, .25); more.Covariance > e.Covariance*(1+1e-9) {
					t.Errorf("%+v d=%d n=%g: more budget, larger error: %v after %v", k, d, n, more.Covariance, e.Covariance)
				}
			}
		}
	}
}

// Beyond the grid the slopes are those of the law, which is one of them.
func TestBeyondTheGrid(t *testing.T) {
	table := example(t)
	for _, k := range kinds {
		for _, d := range []int{1, 2, 20} {
			for _, c := range []struct{ n, mu float64 }{{1e7, .1}, {1e8, .3}, {1e6, 1}, {3e5, .05}, {2e4, 4}, {1e9, 10}} {
				got, err := table.At(k, d, c.n, c.mu)
				want := law(k, d, int(c.n), c.mu)
				if err != nil || !near(got.Covariance, want.Covariance, .02) || !near(got.Mean, want.Mean, .02) || !strings.HasPrefix(got.Note, "extrapolated") {
					t.Errorf("%+v d=%d %+v: got %+v, %v; want %+v", k, d, c, got, err, want)
				}
			}
		}
	}
}

func TestMissing(t *testing.T) {
	table := example(t)
	other := kinds[0]
	other.Method = "b"
	for _, c := range []struct {
		k     Kind
		d     int
		n, mu float64
	}{{other, 1, 1e5, .2}, {kinds[0], 21, 1e6, .2}, {kinds[0], 5, 100, .2}, {kinds[0], 5, 0, .2}, {kinds[0], 5, math.NaN(), .2}, {kinds[0], 5, 1e5, 0}} {
		var missing *Missing
		if got, err := table.At(c.k, c.d, c.n, c.mu); !errors.As(err, &missing) {
			t.Errorf("%+v: got %+v, %v", c, got, err)
		}
	}
	// Where no run ended in a model there is a share of 0 and no error.
	nan := math.NaN()
	dead, err := newTable([]ErrorPoint{
		{Kind: other, Columns: 1, Rows: 10, Mu: 1, Errors: Errors{nan, nan, nan, nan}, Runs: 4},
		{Kind: other, Columns: 1, Rows: 100, Mu: 1, Errors: Errors{.3, .2, .1, .1}, Released: 4, Runs: 4},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := dead.At(other, 1, 10, 1); err == nil || got.Released != 0 {
		t.Errorf("no release: got %+v, %v", got, err)
	}
	if got, err := dead.At(other, 1, 100, 1); err != nil || !near(got.Covariance, .3, 1e-9) || got.Released != 1 {
		t.Errorf("released: got %+v, %v", got, err)
	}
}

func TestBadTables(t *testing.T) {
	line := "a,full,replace-one,gaussian,0,1,100,0.5,0.1,0.1,0.1,0.1,4,4\n"
	good := strings.Join(ErrorTableHead, ",") + "\n" + line
	if _, err := ParseErrorTable(good); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{
		{"method,", "methods,"}, {"full", "round"}, {"replace-one", "swap-one"}, {"0.5", "0"}, {"0.5", "-1"}, {"0.5", "x"}, {",4,4", ",5,4"},
		{",4,4", ",0,0"}, {"0.1,0.1,0.1,0.1", ",,,"}, {line, line + line}, {",100,", ",1.5,"}, {",4,4", ",4"}, {"0.1", "+Inf"},
	} {
		if _, err := ParseErrorTable(strings.Replace(good, c[0], c[1], 1)); err == nil {
			t.Errorf("%q in place of %q: wanted an error, got none", c[1], c[0])
		}
	}
}

func TestLooseness(t *testing.T) {
	f := estimate.Facts{KnowsMean: true, MeanWithin: 60, Eigenvalues: [2]float64{4, 100}}
	if got := Looseness(f, 4); got != 225 {
		t.Errorf("got %v, want 60²/4/4", got)
	}
	f.MeanWithin = 0
	if got := Looseness(f, 4); got != 25 {
		t.Errorf("got %v, want 100/4", got)
	}
	if got := Looseness(estimate.Facts{KnowsMean: true}, 4); !math.IsInf(got, 1) {
		t.Errorf("got %v without eigenvalues, want +Inf", got)
	}
}
