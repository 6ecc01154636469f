package query_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// ratioCase is a LogRatio of two against one component, with frames of ordinary size.
func ratioCase(rng *rand.Rand) query.LogRatio {
	return query.LogRatio{
		F:     []query.Component{{Map: dense(rng, dims, dims, 1)}, {Map: dense(rng, dims, dims, .3), LogWeight: -1}},
		G:     []query.Component{{Map: identity(dims, 1), LogWeight: .5}},
		Bound: .5,
	}
}

// hostileRows are rows that break careless maps.
func hostileRows(rng *rand.Rand) [][]float64 {
	nan := math.NaN()
	out := [][]float64{
		{0, 0, 0}, {nan, nan, nan}, {1e308, -1e308, 1e308}, {math.MaxFloat64, 0, 0}, {5e-324, 0, -5e-324},
		{math.Ldexp(1, 1000), 1, 1}, {1e155, 1e155, 0}, {1e6, -1e6, 1e6},
	}
	for range 40 {
		s := math.Exp(6 * rng.NormFloat64())
		out = append(out, []float64{s * rng.NormFloat64(), s * rng.NormFloat64(), s * rng.NormFloat64()})
	}
	return out
}

// TestLogRatioSensitivity searches all pairs of hostile rows: no difference exceeds the claim under
// either relation, and both are reached.
func TestLogRatioSensitivity(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	q := ratioCase(rng)
	rows := hostileRows(rng)
	value := make([]float64, len(rows))
	for i, r := range rows {
		value[i] = float64(ratioOf(q, r))
	}
	var replace, remove float64
	for _, v := range value {
		remove = max(remove, math.Abs(v))
		for _, w := range value {
			replace = max(replace, math.Abs(v-w))
		}
	}
	for _, c := range []struct {
		r   privacy.Relation
		got float64
	}{{privacy.ReplaceOne, replace}, {privacy.AddRemoveOne, remove}} {
		if s := q.Sensitivity(c.r); c.got > s || c.got < .95*s {
			t.Errorf("%v: the search reached %v, the claim is %v", c.r, c.got, s)
		}
	}
	if ratioOf(q, rows[1]) != 0 {
		t.Error("a null row contributes")
	}
}

func ratioOf(q query.LogRatio, row []float64) int64 {
	sum := make([]int64, 1)
	q.Compile(dims).Add(sum, row)
	return sum[0]
}

// TestLogRatioTwin compares with a row-by-row computation by math.Exp and math.Log, and checks that
// panels do not matter.
func TestLogRatioTwin(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	q := ratioCase(rng)
	density := func(side []query.Component, x []float64) float64 {
		total := 0.0
		for _, c := range side {
			n2 := 0.0
			for _, w := range c.Map.W {
				z := 0.0
				for j, v := range w {
					z += v * (x[j] - c.Map.Center[j])
				}
				n2 += z * z
			}
			total += math.Exp(c.LogWeight - n2/2)
		}
		return math.Log(total)
	}
	var all []float64
	var each int64
	for range 500 {
		x := []float64{2 * rng.NormFloat64(), 2 * rng.NormFloat64(), 2 * rng.NormFloat64()}
		want := math.Min(math.Max(density(q.F, x)-density(q.G, x), -q.Bound), q.Bound)
		got := ratioOf(q, x)
		if math.Abs(float64(got)*q.Unit()-want) > 1e-8 {
			t.Fatalf("row %v: got %v nats, want %v", x, float64(got)*q.Unit(), want)
		}
		all, each = append(all, x...), each+got
	}
	sum := make([]int64, 1)
	q.Compile(dims).Add(sum, all)
	if sum[0] != each {
		t.Errorf("all rows at once: %d, one by one: %d", sum[0], each)
	}
}

// TestLogRatioInteger: no two log-densities and no bound, whatever they are, lead beyond what the
// sensitivity rests on.
func TestLogRatioInteger(t *testing.T) {
	values := append([]float64{-745, 745, .49999999999999994, math.Nextafter(1, 0), math.Nextafter(1, 2), -math.Nextafter(1, 0)}, extremes...)
	for _, bound := range values {
		for _, f := range values {
			for _, g := range values {
				if v := query.RatioInteger(bound, f, g); v > query.RatioUnits || v < -query.RatioUnits {
					t.Fatalf("bound %v: %v against %v adds %d", bound, f, g, v)
				}
			}
		}
	}
}

func TestLogOf(t *testing.T) {
	for _, x := range []float64{1, 1.0001, 1.4142, 1.4143, 1.9999, 2, 3, 24, 1000} {
		if got := query.LogOf(x); math.Abs(got-math.Log(x)) > 1e-12 {
			t.Errorf("logOf(%v) = %v, want %v", x, got, math.Log(x))
		}
	}
}

func TestLogRatioValidate(t *testing.T) {
	good := ratioCase(rand.New(rand.NewPCG(1, 1)))
	if err := good.Validate(dims); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*query.LogRatio){
		"no bound":   func(q *query.LogRatio) { q.Bound = 0 },
		"NaN bound":  func(q *query.LogRatio) { q.Bound = math.NaN() },
		"empty side": func(q *query.LogRatio) { q.G = nil },
		"bad frame":  func(q *query.LogRatio) { q.F[0].Map.W = nil },
		"bad weight": func(q *query.LogRatio) { q.F[0].LogWeight = math.Inf(1) },
	} {
		q := ratioCase(rand.New(rand.NewPCG(1, 1)))
		change(&q)
		if q.Validate(dims) == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
