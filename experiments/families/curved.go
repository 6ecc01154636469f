package families

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/gauze-dp/gauze/internal/madeup"
)

// thin draws two components apart in a direction of small variance that is not a column.
func (b *builder) thin() {
	d := twin(b, 8, b.whole(3, 4))
	var qr mat.QR
	square := mat.NewDense(d, d, nil)
	for i := range d {
		for j := range d {
			square.Set(i, j, b.p.NormFloat64())
		}
	}
	qr.Factorize(square)
	var axes mat.Dense
	qr.QTo(&axes)
	f := mat.DenseCopyOf(&axes)
	for j := range d {
		sd := 1.0
		if j > 0 {
			sd = b.between(8, 15)
		}
		for i := range d {
			f.Set(i, j, sd*f.At(i, j))
		}
	}
	away := mat.Col(nil, 0, &axes)
	floats.Scale(b.between(7, 9), away)
	b.drawn(b.weights(2), [][]float64{make([]float64, d), away}, []*mat.Dense{f, f})
}

// crossing draws two components of one mean and one volume.
func (b *builder) crossing() {
	long, short := b.between(5, 10), 1.0
	angle := b.p.Float64() * math.Pi
	f := along(long, short)
	b.drawn(even(2), [][]float64{{0, 0}, {0, 0}}, []*mat.Dense{turned(f, angle), turned(f, angle+twin(b, math.Pi/2, math.Pi/3))})
}

// wholeClusters draws clusters in columns of whole numbers, or of halves.
func (b *builder) wholeClusters() {
	b.chain(b.whole(2, 3), b.whole(2, 4), b.between(8, 12))
	truth := b.t.Truth
	for j, c := range b.cols {
		sd := math.Sqrt(truth.Components[0].Cov.At(j, j))
		unit := sd / b.logBetween(2, 20)
		for i, x := range c {
			c[i] = math.Round(x/unit) * twin(b, 1, .5)
		}
	}
	b.t.Truth = nil // it is in other units, and has a density
}

// rows draws columns from a law of rows, in units of their own.
func (b *builder) rows(d, components int, draw func(row []float64)) {
	b.cols, b.t.Components = make([][]float64, d), components
	unit := make([]float64, d)
	for j := range b.cols {
		b.cols[j], unit[j] = make([]float64, b.n), b.unit()
	}
	row := make([]float64, d)
	for i := range b.n {
		draw(row)
		for j, x := range row {
			b.cols[j][i] = unit[j] * x
		}
	}
}

// curved draws a roll in three columns, or two half-moons.
func (b *builder) curved() {
	noise := b.between(.1, .3)
	if b.second {
		b.rows(2, 4, func(row []float64) {
			s, c := math.Sincos(math.Pi * b.rng.Float64())
			row[0], row[1] = 3*c, 3*s
			if b.rng.IntN(2) == 0 {
				row[0], row[1] = 3-row[0], 1.5-row[1]
			}
			row[0] += noise * b.rng.NormFloat64()
			row[1] += noise * b.rng.NormFloat64()
		})
		return
	}
	b.rows(3, 6, func(row []float64) {
		t := 1.5 * math.Pi * (1 + 2*b.rng.Float64())
		s, c := math.Sincos(t)
		row[0], row[1], row[2] = t*c+noise*b.rng.NormFloat64(), 21*b.rng.Float64(), t*s+noise*b.rng.NormFloat64()
	})
}

// blocks draws rows uniform in cubes of ten columns, or in balls of three.
func (b *builder) blocks() {
	k, d := b.whole(1, 3), twin(b, 10, 3)
	centre := make([][]float64, k)
	for i := range centre {
		centre[i] = madeup.Direction(b.p, d)
		floats.Scale(b.between(8, 20)*float64(i), centre[i])
	}
	b.rows(d, k, func(row []float64) {
		length := 0.0
		for j := range row {
			row[j] = b.rng.NormFloat64()
			if !b.second {
				row[j] = 2*b.rng.Float64() - 1
			}
			length += row[j] * row[j]
		}
		if b.second {
			floats.Scale(2*math.Cbrt(b.rng.Float64())/math.Sqrt(length), row)
		}
		floats.Add(row, centre[b.rng.IntN(k)])
	})
}

// skewed draws columns of skewed numbers that depend on one another.
func (b *builder) skewed() {
	d, sigma := b.whole(2, 5), b.between(.5, 1.5)
	b.rows(d, 3, func(row []float64) {
		common := b.rng.NormFloat64()
		for j := range row {
			z := (common + b.rng.NormFloat64()) / math.Sqrt2
			row[j] = math.Exp(sigma * z)
			if b.second {
				row[j] = -math.Log(distuv.UnitNormal.Survival(z))
			}
		}
	})
}

// tailedClusters draws clusters with tails.
func (b *builder) tailedClusters() {
	k, d, degrees := 2, b.whole(2, 5), twin(b, 3.0, 5)
	way, apart := madeup.Direction(b.p, d), b.between(10, 30)
	b.rows(d, k, func(row []float64) {
		chi := distuv.ChiSquared{K: degrees, Src: b.rng}.Rand()
		at := apart * float64(b.rng.IntN(k))
		for j := range row {
			row[j] = at*way[j] + b.rng.NormFloat64()/math.Sqrt(chi/degrees)
		}
	})
}
