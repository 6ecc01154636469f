package tableone

import (
	"math"
	"math/rand/v2"
)

// families are laws of cells, each with parameters of its own in every table.
var families = []func(*rand.Rand) func() float64{
	func(r *rand.Rand) func() float64 {
		m, s := place(r), scale(r)
		return func() float64 { return m*s + s*r.NormFloat64() }
	},
	func(r *rand.Rand) func() float64 {
		m := 4 * r.NormFloat64()
		return func() float64 { return math.Exp(m + r.NormFloat64()) }
	},
	func(r *rand.Rand) func() float64 {
		return func() float64 { return math.Round(100 + 15*r.NormFloat64()) }
	},
	func(r *rand.Rand) func() float64 { // ages, capped
		return func() float64 { return math.Floor(math.Max(0, math.Min(45+20*r.NormFloat64(), 90))) }
	},
	func(r *rand.Rand) func() float64 { // mostly 0
		p := .3 + .6*r.Float64()
		return func() float64 {
			if r.Float64() < p {
				return 0
			}
			return math.Exp(5 + r.NormFloat64())
		}
	},
	func(r *rand.Rand) func() float64 { // codes for what is not known
		return func() float64 {
			if r.Float64() < .04 {
				return 999
			}
			return math.Round(270+40*r.NormFloat64()) / 10
		}
	},
	func(r *rand.Rand) func() float64 { v := place(r); return func() float64 { return v } },
	func(r *rand.Rand) func() float64 { // nearly constant
		p := .001 + .03*r.Float64()
		return func() float64 {
			if r.Float64() < p {
				return 1
			}
			return 0
		}
	},
	func(r *rand.Rand) func() float64 {
		p := .1 + .8*r.Float64()
		return func() float64 { return math.Floor(r.Float64() + p) }
	},
	func(r *rand.Rand) func() float64 { return func() float64 { return 1e150 * (3 + r.NormFloat64()) } },
	func(r *rand.Rand) func() float64 { return func() float64 { return 1e-150 * (3 + r.NormFloat64()) } },
	func(r *rand.Rand) func() float64 {
		return func() float64 { return math.Round(19000 + 800*r.NormFloat64()) }
	},
	func(r *rand.Rand) func() float64 { return func() float64 { return 1e9 + r.NormFloat64() } },
	func(r *rand.Rand) func() float64 { s := scale(r); return func() float64 { return s * r.ExpFloat64() } },
	func(r *rand.Rand) func() float64 {
		a, s := place(r), scale(r)
		return func() float64 { return a + s*r.Float64() }
	},
	func(r *rand.Rand) func() float64 { // two groups, far apart
		gap, p := math.Pow(10, 1+4*r.Float64()), .2+.6*r.Float64()
		return func() float64 {
			if r.Float64() < p {
				return gap + r.NormFloat64()
			}
			return r.NormFloat64()
		}
	},
	func(r *rand.Rand) func() float64 { // Student's t with 4 degrees of freedom
		return func() float64 {
			s := 0.0
			for range 4 {
				z := r.NormFloat64()
				s += z * z
			}
			return r.NormFloat64() / math.Sqrt(s/4)
		}
	},
	func(r *rand.Rand) func() float64 { return func() float64 { return float64(1 + r.IntN(5)) } },
	func(r *rand.Rand) func() float64 { // prices in cents, many round
		return func() float64 {
			v := math.Exp(3 + .8*r.NormFloat64())
			if r.Float64() < .4 {
				return math.Round(v/5) * 5
			}
			return math.Round(v*100) / 100
		}
	},
	func(r *rand.Rand) func() float64 { // Poisson counts
		l := math.Exp(-(.3 + 6*r.Float64()))
		return func() float64 {
			k, p := 0.0, r.Float64()
			for ; p > l; k++ {
				p *= r.Float64()
			}
			return k
		}
	},
}

func place(r *rand.Rand) float64 { return math.Round(20*r.NormFloat64()*100) / 100 }
func scale(r *rand.Rand) float64 { return math.Pow(10, 6*r.Float64()-3) }

// draw returns a table of columns of families drawn at random: half of them complete, the others
// with 5 to 98 % of the cells missing.
func draw(r *rand.Rand, n int) [][]float64 {
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = make([]float64, perTable)
	}
	for j := range perTable {
		cell, gone := families[r.IntN(len(families))](r), 0.0
		if r.Float64() < .5 {
			gone = .05 + .93*r.Float64()
		}
		for _, row := range rows {
			if row[j] = cell(); r.Float64() < gone {
				row[j] = math.NaN()
			}
		}
	}
	return rows
}
