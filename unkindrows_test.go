package gauze

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/release"
	"github.com/gauze-dp/gauze/source"
)

// An unkindRows is a family of tables with categories beside two numbers: what row i holds.
type unkindRows struct {
	name   string
	values []string // that are declared
	row    func(rng *rand.Rand, i int) (x, y float64, value string)
	kind   string // of x
}

// clusters is a row of one of three clusters.
func clusters(rng *rand.Rand, i int) (x, y float64, of int) {
	of = i % 3
	return []float64{0, 20, 0}[of] + rng.NormFloat64(), []float64{0, 0, 20}[of] + rng.NormFloat64(), of
}

func unkindFamilies() []unkindRows {
	many := make([]string, 200)
	for i := range many {
		many[i] = fmt.Sprint("value ", i)
	}
	plain := func(value func(rng *rand.Rand, of int) string) func(*rand.Rand, int) (float64, float64, string) {
		return func(rng *rand.Rand, i int) (float64, float64, string) {
			x, y, of := clusters(rng, i)
			return x, y, value(rng, of)
		}
	}
	abc := []string{"a", "b", "c"}
	return []unkindRows{
		{"one value in all rows", abc, plain(func(*rand.Rand, int) string { return "b" }), ""},
		{"a value for each cluster", abc, plain(func(_ *rand.Rand, of int) string { return abc[of] }), ""},
		{"one declared value", []string{"a"}, plain(func(rng *rand.Rand, _ int) string { return "ab"[rng.IntN(2):][:1] }), ""},
		{"200 values", many, plain(func(rng *rand.Rand, _ int) string { return many[int(200*math.Pow(rng.Float64(), 2))] }), ""},
		{"undeclared values", abc, plain(func(rng *rand.Rand, _ int) string { return []string{"a", "z", "A", "d", "e"}[rng.IntN(5)] }), ""},
		{"odd texts", []string{"NaN", "null", "x, \"y\"", "ä", "-0", "1e5"}, plain(func(rng *rand.Rand, _ int) string {
			return []string{"NaN", "null", "x, \"y\"", "ä", "0", "100000", "na", ""}[rng.IntN(8)]
		}), ""},
		{"almost no value", abc, plain(func(rng *rand.Rand, _ int) string { return []string{"a", "", "", ""}[min(3, rng.IntN(400))] }), ""},
		{"cells missing everywhere", abc, func(rng *rand.Rand, i int) (float64, float64, string) {
			x, y, of := clusters(rng, i)
			value := abc[of]
			for _, cell := range []*float64{&x, &y} {
				if rng.IntN(3) == 0 {
					*cell = math.NaN()
				}
			}
			if rng.IntN(3) == 0 {
				value = ""
			}
			return x, y, value
		}, ""},
		{"constant numbers", abc, func(rng *rand.Rand, i int) (float64, float64, string) { return 7, 1e6, abc[rng.IntN(3)] }, ""},
		{"numbers far apart", abc, func(rng *rand.Rand, i int) (float64, float64, string) {
			return math.Pow(10, float64(i%3)*4) * (1 + .1*rng.NormFloat64()), 1e12 + rng.NormFloat64(), abc[i%3]
		}, ""},
		{"logarithms of zeros", abc, func(rng *rand.Rand, i int) (float64, float64, string) { return 0, rng.NormFloat64(), abc[i%3] }, source.Logs},
		{"logarithms of heavy tails", abc, func(rng *rand.Rand, i int) (float64, float64, string) {
			return math.Exp(3 * rng.NormFloat64()), rng.NormFloat64(), abc[i%3]
		}, source.Logs},
		{"logarithms of the largest numbers", abc, func(rng *rand.Rand, i int) (float64, float64, string) {
			return []float64{0, 1, 1e300, math.MaxFloat64}[rng.IntN(4)], rng.NormFloat64(), abc[i%3]
		}, source.Logs},
	}
}

// truth is how often each declared value occurs, and last how often none does.
func (f *unkindRows) truth(values []string) []float64 {
	out := make([]float64, len(f.values)+1)
	for _, v := range values {
		at := slices.Index(f.values, v)
		switch {
		case at >= 0:
		case v == "0": // as numbers, where both are
			at = slices.Index(f.values, "-0")
		case v == "100000":
			at = slices.Index(f.values, "1e5")
		}
		if at < 0 {
			at = len(f.values)
		}
		out[at] += 1 / float64(len(values))
	}
	return out
}

// TestUnkindRows: tables with categories that nobody would wish for end in a model that verifies,
// with the shares that the values have and rows of the table's range, or in a refusal or no release
// with a reason: never in a fault of the program. False alarms: below 1e-6, at eight noise sds. One
// fit of all may have rows far out, as one of 1,200 had: a family that always has them fails twice,
// once under each relation.
func TestUnkindRows(t *testing.T) {
	const n = 6000
	far := 0
	defer func() {
		if far > 1 {
			t.Errorf("%d fits have rows far outside of their table's range", far)
		}
	}()
	for at, f := range unkindFamilies() {
		for i, r := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
			for j, method := range []string{"", "gaussian", MethodProfile} {
				if j > 0 && (at+i+j)%2 != 0 && os.Getenv("GAUZE_LONG") == "" {
					continue // they take turns
				}
				t.Run(fmt.Sprint(f.name, "/", r, "/", method), func(t *testing.T) {
					rng := rand.New(rand.NewPCG(uint64(at), 1))
					var text strings.Builder
					text.WriteString("x,y,c,e\n")
					var values []string
					low, high := []float64{math.Inf(1), math.Inf(1)}, []float64{math.Inf(-1), math.Inf(-1)}
					for i := range n {
						x, y, value := f.row(rng, i)
						for j, v := range []float64{x, y} {
							if v == v {
								low[j], high[j] = math.Min(low[j], v), math.Max(high[j], v)
								fmt.Fprint(&text, v)
							}
							text.WriteString(",")
						}
						values = append(values, value)
						fmt.Fprintf(&text, "\"%[1]s\",\"%[1]s\"\n", strings.ReplaceAll(value, `"`, `""`))
					}
					schema := &source.Schema{Unit: source.NoUnit, Columns: []source.Column{{Name: "x", Kind: f.kind}, {Name: "c", Kind: source.Categories, Categories: f.values}, {Name: "y"},
						{Name: "e", Kind: source.Categories, Categories: f.values}}}
					out := fitUnkind(t, text.String(), schema, Request{Relation: r, Budget: privacy.Budget{Epsilon: 2, Delta: 1e-6}, Method: method})
					if out == nil {
						return
					}
					if v := Verify(out); v.Faults != nil {
						t.Fatal(v.Faults)
					}
					f.check(t, out, f.truth(values), n)
					if out.Model != nil && method == "" {
						if !inRange(t, rng, out.Model, low, high) {
							far++
						}
					}
				})
			}
		}
	}
}

// fitUnkind returns nil for a table that is refused, or has no release.
func fitUnkind(t *testing.T, text string, schema *source.Schema, r Request) *release.Release {
	in, err := Open("-", strings.NewReader(text), schema)
	if err != nil {
		t.Fatal(err)
	}
	in.TakeAnyCells()
	table, err := in.Load(r.Relation, nil)
	if err != nil {
		t.Fatal(err)
	}
	result, err := Fit(context.Background(), table, in.Fill(r))
	var refusal *estimate.Refusal
	switch {
	case errors.As(err, &refusal):
		return nil
	case err != nil:
		t.Fatal(err)
	case result.NoRelease != nil:
		t.Logf("no release: %s", result.NoRelease.Reason)
		return nil
	}
	return result.Release
}

// check holds the shares of values, by a model or a profile, against the truth.
func (f *unkindRows) check(t *testing.T, r *release.Release, truth []float64, n int) {
	t.Helper()
	shares, noise := make([]float64, len(truth)), 0.
	if r.Model != nil {
		c := &r.Model.Categories[0]
		if copy(shares, c.Share(r.Model.Weights)); len(c.Values) != len(truth) {
			t.Fatalf("values %q", c.Values)
		}
		for i, note := range r.Diagnostics.Components {
			noise = math.Hypot(noise, r.Model.Weights[i]*note.CategoryNoise)
		}
	} else {
		for v, s := range r.Profile[1].Values {
			shares[v], noise = s.Share, s.Noise
		}
	}
	if !(noise > 0) {
		t.Fatalf("the noise of a share is said to be %v", noise)
	}
	for v, want := range truth {
		if math.Abs(shares[v]-want) > 8*noise+.03 {
			t.Errorf("value %d has %v of the rows, want %v; the noise is said to be %v", v, shares[v], want, noise)
		}
	}
}

// inRange draws rows of a model and reports that they lie about where the table's do.
func inRange(t *testing.T, rng *rand.Rand, m *model.Mixture, low, high []float64) bool {
	t.Helper()
	s, err := model.NewSampler(m)
	if err != nil {
		t.Fatal(err)
	}
	row, values, out := make([]float64, m.Dim()), make([]int, len(m.Categories)), 0
	for range 2000 {
		s.Categories(values, s.Row(row, rng), rng)
		for j, v := range row {
			if v != v || math.IsInf(v, 0) {
				t.Fatalf("drew %v", row)
			}
			room := 3*(high[j]-low[j]) + 1
			if math.IsInf(room, 0) {
				continue
			}
			if v < low[j]-room || v > high[j]+room {
				out++
			}
		}
	}
	if out > 40 {
		t.Logf("%d of 2000 rows lie far outside of the table's range", out)
	}
	return out <= 40
}
