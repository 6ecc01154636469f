package madeup

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/model"
)

// An Arrangement says how the components of an Unbounded mixture lie.
type Arrangement string

// The arrangements. Those of axis-aligned components are made for any number of columns, the last
// three for general covariances.
const (
	// Apart: any two components are at least nearestApart standard deviations of the wider one
	// apart in some column; every component has its own scale in every column.
	Apart Arrangement = "apart"
	// Overlapping: in one column, neighbours are 2 to 4 standard deviations apart, scales within a
	// factor of 3.
	Overlapping Arrangement = "overlapping"
	// Nested: in one column, one mean and scales that grow by factors from 10 to 10^6.
	Nested Arrangement = "nested"
	// Crossing: in two columns, two ellipses with one mean.
	Crossing Arrangement = "crossing"
	// Parallel: in two columns, two long ellipses of one shape side by side, so that they overlap
	// in every column.
	Parallel Arrangement = "parallel"
	// Rotated: random axes, and any two components apart in every direction that joins them.
	Rotated Arrangement = "rotated"
)

// Of random mixtures.
const (
	leastScale, largestScale = -9, 12 // powers of ten: of the standard deviations in one column
	nearestApart             = 9      // standard deviations between components that are apart
	farthestApart            = 900    // and at most, with more near than far ones
	// powers of ten up and down from the column's scale to a component's, where there are several
	// columns
	ownScale = 2
	// powers of ten: distance of the narrowest component from the origin in its standard deviations
	leastPlace, largestPlace = -2, 12
	// resolution is the largest distance of any component from the origin in its standard
	// deviations: rows are float64 numbers, of 16 digits.
	resolution = 1e13
)

// An Unbounded says which mixtures of Gaussians are drawn, one for each seed: with scales, offsets,
// distances and orders at random over many powers of ten, so that no bound on anything is known
// beforehand.
type Unbounded struct {
	Columns     int         `json:"d"`
	Components  int         `json:"k"`
	Arrangement Arrangement `json:"arrangement,omitempty"`
	// Weights in random order. Default: equal ones.
	Weights []float64 `json:"weights,omitempty"`
	// Printed, if set, is the name of a mixture that is the same for every seed, one of
	// printed.
	Printed string `json:"printed,omitempty"`
}

// Draw draws a mixture and n rows: a function of u, seed and n. The first rows of a longer table
// are those of a shorter one.
func (u Unbounded) Draw(seed uint64, n int) (*Instance, error) {
	truth, err := u.Truth(seed)
	if err != nil {
		return nil, err
	}
	return drawn(truth, seed, n)
}

// Truth draws the mixture of a seed.
func (u Unbounded) Truth(seed uint64) (*model.Mixture, error) {
	if u.Printed != "" {
		return printedMixture(u.Printed)
	}
	if u.Columns < 1 || u.Components < 1 || u.Weights != nil && len(u.Weights) != u.Components {
		return nil, fmt.Errorf("problem: wanted columns, components and a weight for each component or none, got %+v", u)
	}
	rng := rand.New(rand.NewPCG(seed, truthStream))
	w := slices.Clone(u.Weights)
	rng.Shuffle(len(w), func(i, j int) { w[i], w[j] = w[j], w[i] })
	gs, err := u.components(rng)
	if err != nil {
		return nil, err
	}
	return model.New(nil, w, gs)
}

// components draws the Gaussians.
func (u Unbounded) components(rng *rand.Rand) ([]model.Gaussian, error) {
	switch u.Arrangement {
	case Crossing, Parallel, Rotated:
		return u.general(rng)
	}
	for {
		means, sds := make([][]float64, u.Components), make([][]float64, u.Components)
		if u.Columns == 1 {
			m, s := u.line(rng)
			for i := range m {
				means[i], sds[i] = []float64{m[i]}, []float64{s[i]}
			}
		} else {
			means, sds = u.boxes(rng)
		}
		if !settle(rng, means, sds) {
			continue
		}
		gs := make([]model.Gaussian, u.Components)
		for i := range gs {
			v := make([]float64, u.Columns)
			floats.MulTo(v, sds[i], sds[i])
			cov, err := model.NewDiagonal(v)
			if err != nil {
				return nil, err
			}
			gs[i] = model.Gaussian{Mean: means[i], Cov: cov}
		}
		return gs, nil
	}
}

// line draws means and standard deviations of one column, the origin anywhere.
func (u Unbounded) line(rng *rand.Rand) (means, sds []float64) {
	k := u.Components
	low, high := leastScale+0.0, largestScale+0.0
	// Scales of one table lie within a random part of the whole range, so that near ones are drawn
	// as often as distant ones.
	span := rng.Float64() * (high - low)
	low += rng.Float64() * (high - low - span)
	scale := func() float64 { return math.Pow(10, low+span*rng.Float64()) }
	switch u.Arrangement {
	case Overlapping:
		return overlapping(rng, k, scale())
	case Nested:
		means, sds = make([]float64, k), make([]float64, k) // all means are 0
		s := math.Pow(10, low+rng.Float64()*max(0, high-low-6*float64(k-1)))
		for i := range sds {
			sds[i] = s
			s *= math.Pow(10, uniform(rng, 1, 6))
		}
	default:
		for range k {
			m, sd := []float64{0}, scale()
			if means != nil {
				shift(rng, max(slices.Max(sds), sd), slices.Min(means), slices.Max(means), m)
			}
			means, sds = append(means, m...), append(sds, sd)
		}
	}
	return means, sds
}

// overlapping draws a chain of components that partly overlap.
func overlapping(rng *rand.Rand, k int, scale float64) (means, sds []float64) {
	at := 0.0
	for i := range k {
		s := scale * math.Pow(3, rng.Float64())
		if i > 0 {
			at += uniform(rng, 2, 4) * math.Sqrt((s*s+sds[i-1]*sds[i-1])/2)
		}
		means, sds = append(means, at), append(sds, s)
	}
	return means, sds
}

// shift moves means to the left or the right of an interval, by some of the widest standard
// deviations.
func shift(rng *rand.Rand, widest, low, high float64, m []float64) {
	gap := widest * nearestApart * math.Pow(farthestApart/nearestApart, math.Pow(rng.Float64(), 2))
	by := high + gap - slices.Min(m)
	if rng.IntN(2) == 0 {
		by = low - gap - slices.Max(m)
	}
	floats.AddConst(by, m)
}

// boxes draws means and standard deviations of several columns: a random tree of groups, each split
// in a random column.
func (u Unbounded) boxes(rng *rand.Rand) (means, sds [][]float64) {
	unit := make([]float64, u.Columns)
	for j := range unit {
		unit[j] = math.Pow(10, uniform(rng, leastScale+ownScale, largestScale-ownScale))
	}
	for range u.Components {
		m, s := make([]float64, u.Columns), make([]float64, u.Columns)
		for j := range s {
			s[j] = unit[j] * math.Pow(10, uniform(rng, -ownScale, ownScale))
			m[j] = s[j] * rng.NormFloat64() // columns that do not separate have almost one mean
		}
		means, sds = append(means, m), append(sds, s)
	}
	var split func(low, high int)
	split = func(low, high int) {
		if high-low < 2 {
			return
		}
		middle := low + 1 + rng.IntN(high-low-1)
		split(low, middle)
		split(middle, high)
		j := rng.IntN(u.Columns)
		column := func(a [][]float64) (out []float64) {
			for _, v := range a {
				out = append(out, v[j])
			}
			return out
		}
		left, right := column(means[low:middle]), column(means[middle:high])
		shift(rng, slices.Max(column(sds[low:high])), slices.Min(left), slices.Max(left), right)
		for i, m := range right {
			means[middle+i][j] = m
		}
	}
	split(0, u.Components)
	return means, sds
}

// settle moves the origin of every column to a random place about its narrowest component and says
// whether float64 numbers can tell the rows of all components apart there.
func settle(rng *rand.Rand, means, sds [][]float64) bool {
	for j := range means[0] {
		narrow := 0
		for i := range sds {
			if sds[i][j] < sds[narrow][j] {
				narrow = i
			}
		}
		place := sds[narrow][j] * math.Pow(10, uniform(rng, leastPlace, largestPlace)) * float64(2*rng.IntN(2)-1)
		origin := means[narrow][j]
		for i := range means {
			means[i][j] = means[i][j] - origin + place
			if math.Abs(means[i][j]) > resolution*sds[i][j] {
				return false
			}
		}
	}
	return true
}

// general draws Gaussians that are not aligned to the axes, with random units of the columns.
func (u Unbounded) general(rng *rand.Rand) ([]model.Gaussian, error) {
	d := u.Columns
	means, factors := make([][]float64, u.Components), make([]*mat.Dense, u.Components)
	switch u.Arrangement {
	case Rotated:
		for i := range factors {
			size := math.Pow(10, uniform(rng, -1, 1))
			factors[i] = Rotation(rng, d)
			widest := 0.0
			for j := range d {
				sd := size * math.Pow(10, uniform(rng, -1, 0))
				widest = max(widest, sd)
				for a := range d {
					factors[i].Set(a, j, sd*factors[i].At(a, j))
				}
			}
			means[i] = make([]float64, d)
			away, far := Direction(rng, d), 0.0
			for i > 0 && closest(means[:i], means[i:i+1]) < nearestApart*spread(factors[:i+1]) {
				far += widest
				floats.ScaleTo(means[i], far, away)
			}
		}
	default:
		angle := uniform(rng, 0, 2*math.Pi)
		if u.Arrangement == Parallel {
			angle = (45+uniform(rng, -15, 15))*math.Pi/180 + math.Pi/2*float64(rng.IntN(4))
		}
		thin := uniform(rng, .06, .12)
		for i := range factors {
			means[i] = make([]float64, d)
			if u.Arrangement == Parallel && i > 0 {
				far := thin * uniform(rng, nearestApart, nearestApart+3) * float64(i)
				means[i][0], means[i][1] = -far*math.Sin(angle), far*math.Cos(angle)
			}
			if u.Arrangement == Crossing && i > 0 {
				angle += uniform(rng, math.Pi/3, 2*math.Pi/3)
				thin = uniform(rng, .06, .2)
			}
			sin, cos := math.Sincos(angle)
			factors[i] = mat.NewDense(2, 2, []float64{cos, -thin * sin, sin, thin * cos})
		}
	}
	return u.placed(rng, means, factors)
}

// spread returns the largest standard deviation, up to a factor of sqrt d, of any direction.
func spread(factors []*mat.Dense) float64 {
	widest := 0.0
	for _, f := range factors {
		widest = max(widest, mat.Norm(f, 2)/math.Sqrt(float64(f.RawMatrix().Cols)))
	}
	return widest
}

// placed gives the columns random units and offsets.
func (u Unbounded) placed(rng *rand.Rand, means [][]float64, factors []*mat.Dense) ([]model.Gaussian, error) {
	for j := range u.Columns {
		unit := math.Pow(10, uniform(rng, -6, 6))
		offset := math.Pow(10, uniform(rng, leastPlace, 6)) * float64(2*rng.IntN(2)-1)
		for i, f := range factors {
			means[i][j] = unit * (means[i][j] + offset)
			floats.Scale(unit, f.RawRowView(j))
		}
	}
	gs := make([]model.Gaussian, len(means))
	for i := range gs {
		cov, err := model.FullFromFactor(factors[i])
		if err != nil {
			return nil, err
		}
		gs[i] = model.Gaussian{Mean: means[i], Cov: cov}
	}
	return gs, nil
}

func uniform(rng *rand.Rand, low, high float64) float64 { return low + (high-low)*rng.Float64() }
