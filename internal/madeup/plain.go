package madeup

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/model"
)

// A Placement says where plain clusters lie.
type Placement string

// The placements. The closest clusters are at the gap, in half the sum of their largest standard
// deviations.
const (
	Along   Placement = "axis"    // one after another, along one axis
	OnLine  Placement = "line"    // along a random line
	Simplex Placement = "simplex" // all at the gap from all others while there are axes for that, else random places
	Paired  Placement = "nested"  // pairs at the gap, which are pairedApart times as far from one another
)

const (
	pairedApart   = 30  // of pairs, in the gap between two of a pair
	wideSD        = 20  // of the wide clusters, where there are some
	roundness     = 10  // condition number of the covariances of clusters that are no spheres
	mapCondition  = 100 // of the linear maps
	plainUneven   = 4   // largest weight over the smallest one, at most
	leastUnit     = 1e-2
	mostUnit      = 1e3
	plainOffsetBy = 100 // units, of a column from 0: normal
)

// Plain are clusters that a glance at the right picture shows.
type Plain struct {
	Components, Columns int
	Placement           Placement
	Distance            float64
	Scaled              bool // standard deviations of 1 and of 20, at least one of each
	Uneven              bool // unequal weights
	Ellipsoids          bool // of condition number 10, turned anyhow; else spheres
	// Mapped: the rows go through a random linear map of condition number 100; else columns have
	// units of their own, from .01 to 1000.
	Mapped bool
}

// Draw draws a mixture and n rows: a function of p, seed and n.
func (p Plain) Draw(seed uint64, n int) (*Instance, error) {
	truth, err := p.Truth(seed)
	if err != nil {
		return nil, err
	}
	return drawn(truth, seed, n)
}

// Truth draws the mixture of a seed.
func (p Plain) Truth(seed uint64) (*model.Mixture, error) {
	if p.Components < 1 || p.Columns < 1 || !(p.Distance > 0) {
		return nil, fmt.Errorf("plain clusters: wanted components, columns and a gap, got %d, %d and %g", p.Components, p.Columns, p.Distance)
	}
	rng := rand.New(rand.NewPCG(seed, truthStream))
	k, d := p.Components, p.Columns
	sd := make([]float64, k)
	for i := range sd {
		sd[i] = 1
		if p.Scaled && (i == 0 || i > 1 && rng.IntN(2) == 0) {
			sd[i] = wideSD
		}
	}
	rng.Shuffle(k, func(i, j int) { sd[i], sd[j] = sd[j], sd[i] })
	means, err := p.place(rng, sd)
	if err != nil {
		return nil, err
	}
	change := p.change(rng)
	at := make([]float64, d)
	for j := range at {
		at[j] = plainOffsetBy * floats.Norm(change.RawRowView(j), 2) * rng.NormFloat64()
	}
	gs := make([]model.Gaussian, k)
	for i := range gs {
		f := Rotation(rng, d)
		for j := range d {
			s := sd[i]
			if p.Ellipsoids && j > 0 {
				s *= math.Pow(roundness, -rng.Float64()/2)
			}
			for a := range d {
				f.Set(a, j, s*f.At(a, j))
			}
		}
		var factor mat.Dense
		factor.Mul(change, f)
		cov, err := model.FullFromFactor(&factor)
		if err != nil {
			return nil, err
		}
		gs[i] = model.Gaussian{Mean: make([]float64, d), Cov: cov}
		for j := range d {
			gs[i].Mean[j] = at[j] + floats.Dot(change.RawRowView(j), means[i])
		}
	}
	return model.New(nil, p.weights(rng), gs)
}

func (p Plain) weights(rng *rand.Rand) []float64 {
	w := make([]float64, p.Components)
	for i := range w {
		w[i] = 1
		if p.Uneven {
			w[i] = math.Pow(plainUneven, rng.Float64())
		}
	}
	floats.Scale(1/floats.Sum(w), w)
	return w
}

// place finds means for clusters of the standard deviations.
func (p Plain) place(rng *rand.Rand, sd []float64) ([][]float64, error) {
	widest := floats.Max(sd)
	switch p.Placement {
	case Along:
		axis := make([]float64, p.Columns)
		axis[rng.IntN(p.Columns)] = 1
		return p.inOrder(axis, sd), nil
	case OnLine:
		return p.inOrder(Direction(rng, p.Columns), sd), nil
	case Simplex:
		means := simplex(rng, p.Columns, len(sd))
		for _, m := range means {
			floats.Scale(p.Distance*widest, m)
		}
		return means, nil
	case Paired:
		means := packed(rng, p.Columns, (len(sd)+1)/2)
		out := make([][]float64, len(sd))
		for i := range out {
			if out[i] = append([]float64(nil), means[i/2]...); i%2 == 0 {
				floats.Scale(pairedApart*p.Distance*widest, out[i])
				continue
			}
			copy(out[i], out[i-1])
			floats.AddScaled(out[i], p.Distance*(sd[i]+sd[i-1])/2, Direction(rng, p.Columns))
		}
		return out, nil
	}
	return nil, fmt.Errorf("plain clusters: unknown placement %q", p.Placement)
}

// inOrder returns means one after another on a line.
func (p Plain) inOrder(along, sd []float64) (means [][]float64) {
	at := 0.0
	for i, s := range sd {
		if i > 0 {
			at += p.Distance * (s + sd[i-1]) / 2
		}
		means = append(means, floats.ScaleTo(make([]float64, len(along)), at, along))
	}
	return means
}

// simplex returns k points at distance 1 from one another, or at least 1 where d columns have no
// room for that.
func simplex(rng *rand.Rand, d, k int) [][]float64 {
	if k > d+1 {
		return packed(rng, d, k)
	}
	axes, means := Rotation(rng, d), make([][]float64, k)
	for i := range means {
		means[i] = make([]float64, d)
		if i < d {
			mat.Col(means[i], i, axes)
			floats.Scale(math.Sqrt(.5), means[i])
			continue
		}
		for j := range d { // on the diagonal, as far from all axes' ends as these are from one another
			floats.AddScaled(means[i], (1-math.Sqrt(float64(d)+1))/float64(d)*math.Sqrt(.5), mat.Col(nil, j, axes))
		}
	}
	return means
}

// change returns the linear map into the columns.
func (p Plain) change(rng *rand.Rand) *mat.Dense {
	d := p.Columns
	unit, scales := make([]float64, d), mat.NewDense(d, d, nil)
	for j := range unit {
		unit[j] = leastUnit * math.Pow(mostUnit/leastUnit, rng.Float64())
		if p.Mapped {
			unit[j] = math.Pow(mapCondition, rng.Float64())
		}
	}
	if p.Mapped {
		unit[0] = 1
		unit[d-1] = math.Pow(mapCondition, math.Min(1, float64(d-1)))
	}
	for j, u := range unit {
		scales.Set(j, j, u)
	}
	if !p.Mapped {
		return scales
	}
	var half, out mat.Dense
	half.Mul(Rotation(rng, d), scales)
	out.Mul(&half, Rotation(rng, d))
	return &out
}

// Of Limit: at two sizes of a problem.
const (
	leastLimit, mostLimit   = .08, .35
	firstK, firstD, firstN  = 5, 3, 12_000
	secondK, secondD, lastN = 5, 20, 30_000
)

// Limit returns the total variation up to which k components in d columns count as learned from n
// rows at epsilon 1: .08 at most up to five in three columns and 12,000 rows, .35 with five in 20
// columns and 30,000, and between and beyond them a power of the numbers to be learned per row, k d
// (d+3)/2 numbers from n rows. The two ends were set before anything was measured.
func Limit(k, d, n int) float64 {
	load := func(k, d, n float64) float64 { return k * d * (d + 3) / 2 / n }
	first, last := load(firstK, firstD, firstN), load(secondK, secondD, lastN)
	power := math.Log(mostLimit/leastLimit) / math.Log(last/first)
	return leastLimit * math.Max(1, math.Pow(load(float64(k), float64(d), float64(n))/first, power))
}
