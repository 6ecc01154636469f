package estimatetest

import (
	"math"
	"math/rand/v2"
)

// A Table is one that estimators trip over: n rows of d columns, for any n and d.
type Table struct {
	Name string
	Rows func(rng *rand.Rand, n, d int) [][]float64
}

// Hard returns tables of every kind that a fit must survive: it ends in a valid model or in a
// reason.
func Hard() []Table {
	tables := append(unlikely(), unequal()...)
	for _, wild := range []float64{1e308, -0x1p1000, 5e-324} {
		tables = append(tables, Table{"one wild row", func(rng *rand.Rand, n, d int) [][]float64 {
			rows := cellwise(func(rng *rand.Rand, _ int) float64 { return rng.NormFloat64() })(rng, n, d)
			for j := 0; n > 0 && j < d; j++ {
				rows[n/2][j] = wild
			}
			return rows
		}})
	}
	return tables
}

// unlikely returns tables that no mixture explains, after one that a mixture does.
func unlikely() []Table {
	return []Table{
		{"two groups", rowwise(func(rng *rand.Rand, i int, x []float64) {
			for j := range x {
				x[j] = 6*float64(i%2) + rng.NormFloat64()
			}
		})},
		{"all equal", cellwise(func(*rand.Rand, int) float64 { return 7 })},
		{"all huge", cellwise(func(*rand.Rand, int) float64 { return 0x1p1000 })},
		{"two atoms", rowwise(func(_ *rand.Rand, i int, x []float64) {
			for j := range x {
				x[j] = 5 - 10*float64(i%2)
			}
		})},
		{"null rows", rowwise(func(rng *rand.Rand, i int, x []float64) {
			for j := range x {
				x[j] = rng.NormFloat64()
			}
			if i%5 < 2 {
				x[0] = math.NaN()
			}
		})},
		{"only null rows", cellwise(func(*rand.Rand, int) float64 { return math.Inf(1) })},
		{"heavy tails", rowwise(func(rng *rand.Rand, _ int, x []float64) {
			s := math.Sqrt(rng.ExpFloat64()) // of a t distribution with two degrees of freedom
			for j := range x {
				x[j] = rng.NormFloat64() / s
			}
		})},
		{"integers", cellwise(func(rng *rand.Rand, _ int) float64 { return float64(rng.IntN(4)) })},
	}
}

// unequal returns tables whose columns' sizes reach the limits of float64.
func unequal() []Table {
	return []Table{
		{"denormals", cellwise(func(rng *rand.Rand, _ int) float64 { return 1e-310 * rng.NormFloat64() })},
		{"tiny but for a tenth", cellwise(func(rng *rand.Rand, _ int) float64 {
			if rng.Float64() < .1 {
				return rng.NormFloat64()
			}
			return 1e-310 * rng.NormFloat64()
		})},
		{"huge spread", cellwise(func(rng *rand.Rand, _ int) float64 { return 1e307 * rng.NormFloat64() })},
		{"wide", cellwise(func(rng *rand.Rand, _ int) float64 { return 1e152 * rng.NormFloat64() })},
		{"huge constants", columnwise(func(rng *rand.Rand, j int) float64 {
			if j == 0 {
				return 1e305
			}
			return rng.NormFloat64()
		})},
		{"constant and duplicate columns", rowwise(func(rng *rand.Rand, _ int, x []float64) {
			v := rng.NormFloat64()
			for j := range x {
				x[j] = v
				if j%2 == 1 {
					x[j] = -3
				}
			}
		})},
		{"units", columnwise(func(rng *rand.Rand, j int) float64 {
			return math.Pow(10, 30*float64(1-j%3)) * (rng.NormFloat64() + 1e3*float64(j%2))
		})},
		{"far units", columnwise(func(rng *rand.Rand, j int) float64 { return math.Pow(10, 140*float64(1-j%3)) * rng.NormFloat64() })},
	}
}

func rowwise(fill func(rng *rand.Rand, i int, x []float64)) func(*rand.Rand, int, int) [][]float64 {
	return func(rng *rand.Rand, n, d int) [][]float64 {
		rows := make([][]float64, n)
		for i := range rows {
			rows[i] = make([]float64, d)
			fill(rng, i, rows[i])
		}
		return rows
	}
}

func columnwise(cell func(rng *rand.Rand, j int) float64) func(*rand.Rand, int, int) [][]float64 {
	return rowwise(func(rng *rand.Rand, _ int, x []float64) {
		for j := range x {
			x[j] = cell(rng, j)
		}
	})
}

func cellwise(cell func(rng *rand.Rand, j int) float64) func(*rand.Rand, int, int) [][]float64 {
	return columnwise(cell)
}
