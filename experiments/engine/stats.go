package engine

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
)

// wilson returns the interval that holds a rate, from successes among runs, with about 95 %
// confidence whatever the rate: Wilson's score interval. Without runs it is [0, 1].
func wilson(successes, runs int) (low, high float64) {
	if runs == 0 {
		return 0, 1
	}
	const z = 1.959963984540054 // normal quantile of .975
	n, p := float64(runs), float64(successes)/float64(runs)
	middle := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return max(0, middle-half), min(1, middle+half)
}

// Count returns how many results are successes.
func Count(results []Result) int {
	ok := 0
	for _, r := range results {
		if r.Success {
			ok++
		}
	}
	return ok
}

// Pick lists a value of all results that have it.
func Pick(results []Result, name string) []float64 {
	var out []float64
	for _, r := range results {
		if v, ok := r.Values[name]; ok {
			out = append(out, v)
		}
	}
	return out
}

// Quantile returns the q-quantile of v, 0 <= q <= 1, a value between two neighbours by
// interpolation; NaN for no values.
func Quantile(v []float64, q float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	v = slices.Sorted(slices.Values(v))
	at := q * float64(len(v)-1)
	i := int(at)
	if i == len(v)-1 || at == float64(i) || v[i] == v[i+1] {
		return v[i]
	}
	return v[i] + (at-float64(i))*(v[i+1]-v[i])
}

// Median returns the .5-quantile.
func Median(v []float64) float64 { return Quantile(v, .5) }

// Mean returns the mean; NaN for no values.
func Mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

// LogLogSlope fits log y = a + b log x by least squares over the points with 0 < x, y < Inf, and
// returns b with its standard error, which is 0 for two points. It is NaN for fewer, or if all x
// are equal.
func LogLogSlope(x, y []float64) (slope, sd float64) {
	var lx, ly []float64
	for i := range x {
		if x[i] > 0 && y[i] > 0 && !math.IsInf(x[i], 1) && !math.IsInf(y[i], 1) {
			lx, ly = append(lx, math.Log(x[i])), append(ly, math.Log(y[i]))
		}
	}
	if len(lx) < 2 {
		return math.NaN(), math.NaN()
	}
	mx, my := Mean(lx), Mean(ly)
	sxx, sxy := 0.0, 0.0
	for i := range lx {
		sxx += (lx[i] - mx) * (lx[i] - mx)
		sxy += (lx[i] - mx) * (ly[i] - my)
	}
	if sxx == 0 {
		return math.NaN(), math.NaN()
	}
	slope = sxy / sxx
	rest := 0.0
	for i := range lx {
		e := ly[i] - my - slope*(lx[i]-mx)
		rest += e * e
	}
	if len(lx) == 2 {
		return slope, 0
	}
	return slope, math.Sqrt(rest / float64(len(lx)-2) / sxx)
}

// Bootstrap returns a statistic of n runs, and its standard deviation over draws of n of them with
// replacement; both are NaN if there are none, and draws without the statistic do not count.
func Bootstrap(n int, statistic func(chosen []int) float64) (value, sd float64) {
	if n == 0 {
		return math.NaN(), math.NaN()
	}
	const draws = 1000
	chosen := make([]int, n)
	for i := range chosen {
		chosen[i] = i
	}
	value = statistic(chosen)
	rng := rand.New(rand.NewPCG(uint64(n), draws)) // a page made again says the same
	count, sum, squares := 0., 0., 0.
	for range draws {
		for i := range chosen {
			chosen[i] = rng.IntN(n)
		}
		if of := statistic(chosen) - value; !math.IsNaN(of) {
			count, sum, squares = count+1, sum+of, squares+of*of
		}
	}
	return value, math.Sqrt(max(0, squares/count-sum/count*sum/count))
}

// Total sums a value that is 0 or 1.
func Total(runs []Result, name string) int {
	n := 0.
	for _, v := range Pick(runs, name) {
		n += v
	}
	return int(n)
}

// SeedOf returns a run's seed in experiments whose cells would have much the same mixtures at one
// seed.
func SeedOf(cell string, run uint64) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(cell)) // a hash takes everything
	return h.Sum64() ^ run
}

// GeometricGrid returns numbers of rows from low to high in steps of the ratio, rounded to tens,
// and to hundreds from 2000 on.
func GeometricGrid(low, high, ratio float64) (out []int) {
	for n := low; n < high; n *= ratio {
		unit := 10.
		if n >= 2000 {
			unit = 100
		}
		out = append(out, int(unit*math.Round(n/unit)))
	}
	return out
}
