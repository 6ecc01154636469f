package files

import (
	"math"
	"math/rand/v2"

	"github.com/gauze-dp/gauze/experiments/families"
)

// unkind draws a table of a family that has moments.
func unkind(seed uint64, n int) table {
	all, r := families.Families(), rand.New(rand.NewPCG(seed, 1))
	for {
		if t := all[r.IntN(len(all))].Draw(seed, n); !t.NoMoments {
			return rowsOf(t.Rows)
		}
	}
}

// cellsOf are kinds of columns: a cell from a number that is about standard normal in a cluster,
// with parameters of its own in every table.
var cellsOf = []func(r *rand.Rand) func(z float64) float64{
	func(*rand.Rand) func(float64) float64 { return func(z float64) float64 { return z } },
	func(r *rand.Rand) func(float64) float64 { // money
		wide := .3 + .9*r.Float64()
		return func(z float64) float64 { return math.Exp(7 + wide*z) }
	},
	func(r *rand.Rand) func(float64) float64 { // recorded in a unit
		unit := math.Pow(10, -2*r.Float64())
		return func(z float64) float64 { return unit * math.Round(z/unit) }
	},
	func(r *rand.Rand) func(float64) float64 { // a code for what is not known
		part, sd := .005+.025*r.Float64(), 10+190*r.Float64()
		return func(z float64) float64 {
			if r.Float64() < part {
				return 9999
			}
			return math.Round(1000 + sd*z)
		}
	},
	func(r *rand.Rand) func(float64) float64 { // mostly 0
		part := .3 + .65*r.Float64()
		return func(z float64) float64 {
			if r.Float64() < part {
				return 0
			}
			return math.Exp(5 + .8*z)
		}
	},
	func(r *rand.Rand) func(float64) float64 { // Student's t with 3 degrees of freedom
		return func(z float64) float64 {
			return z / math.Sqrt((math.Pow(r.NormFloat64(), 2)+math.Pow(r.NormFloat64(), 2)+math.Pow(r.NormFloat64(), 2))/3)
		}
	},
	func(*rand.Rand) func(float64) float64 { // ages, capped
		return func(z float64) float64 { return math.Floor(max(0, min(45+18*z, 90))) }
	},
	func(r *rand.Rand) func(float64) float64 { // counts
		mean := .2 + 4*r.Float64()
		return func(z float64) float64 { return math.Floor(mean * math.Exp(.7*z)) }
	},
}

// generated draws rows of one to five clusters, up to four sds apart in a column, in one to ten
// columns of any kinds and units.
func generated(seed uint64, n int) table {
	r := rand.New(rand.NewPCG(seed, 2))
	d, k := 1+r.IntN(10), 1+r.IntN(5)
	kinds, units, shift, ends := make([]func(float64) float64, d), make([]float64, d), make([][]float64, k), make([]float64, k)
	for j := range d {
		kinds[j], units[j] = cellsOf[r.IntN(len(cellsOf))](r), math.Pow(10, 4*r.Float64()-2)
	}
	total := 0.
	for i := range k {
		total += .3 + r.ExpFloat64()
		ends[i] = total
		for range d {
			shift[i] = append(shift[i], 4*(r.Float64()-.5)*min(1, float64(k-1)))
		}
	}
	out := make(table, n)
	for i := range out {
		of, at := 0, total*r.Float64()
		for at > ends[of] {
			of++
		}
		common := r.NormFloat64()
		for j := range d {
			out[i] = append(out[i], units[j]*kinds[j](shift[of][j]+.5*common+.85*r.NormFloat64()))
		}
	}
	return out
}
