package em

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/parts/component"
	"github.com/gauze-dp/gauze/parts/moments"
)

// Utility constants of the component of stray rows, guesses.
const (
	// strayMisfit is Rounds.Misfit of it: it may be of any shape.
	strayMisfit = 4.0
	// Rows are stray if there are this many noise sds of them, and this part of all.
	straySDs, strayPart = 4.0, .003
	mostStray           = .6 // of the rows
	// .. and differ from the table in a column by this many.
	// .. at least, and by this part of what it is in the column where they differ most.
	strayDiffers, strayBeside = 2.0, .4
	// strayVariance is the least that it starts with, of that of the rung where its rows were seen.
	strayVariance = .01
)

// LeftOut is the share of the rows that are in no component, with the sd of its noise.
func (r *Rounds) LeftOut() (share, noise float64) {
	if r.Stray != nil {
		return r.Stray.Rows / r.Rows, r.Stray.CountSD / r.Rows
	}
	return r.Background.Share, r.Background.Noise
}

// Beside are what a model has beside the components, and its weight: Stray where the rounds carry
// it, else the background.
func (r *Rounds) Beside() (wide []component.Gaussian, weight float64) {
	switch {
	case !r.Carry:
		return r.Background.Parts(), r.Background.Total()
	case r.Stray == nil:
		return nil, 0
	}
	return []component.Gaussian{*r.Stray}, r.Stray.Weight
}

// apart is the weight of all that is not in Components.
func (r *Rounds) apart() float64 {
	apart := r.Background.Total()
	if r.Stray != nil {
		apart += r.Stray.Weight
	}
	return apart
}

// updateStray moves the component of stray rows by its sums.
func (r *Rounds) updateStray(s moments.Sums, how component.Clipping) {
	u := r.update()
	u.Rows = r.Rows
	next := u.Apply(*r.Stray, s, how)
	next.CountSD = s.CountSD
	next.Weight = math.Min(next.Weight, mostStray)
	r.Stray = &next
}

// carry adds rows that the background sees to Stray.
func (r *Rounds) carry(more *component.Gaussian) {
	if more != nil && r.Stray != nil {
		both := component.Joined(*r.Stray, *more)
		more = &both
	}
	if more != nil {
		r.Stray = more
	}
}

// seen is a component of the rows that the rungs hold by their sums, or nil if there are too few.
// In a column in which the sums do not say that they differ from the whole table, they are like it.
func (b *Background) seen(sums []moments.Sums, rows float64) *component.Gaussian {
	d := len(b.mean)
	total, noise := 0.0, 0.0
	at, squares := make([]float64, d), make([]float64, d)
	for i, s := range sums {
		if s.Count < backgroundSDs*s.CountSD {
			continue
		}
		total, noise = total+s.Count, math.Hypot(noise, s.CountSD)
		far := 0 // the column that differs most
		differs := func(j int) float64 {
			return math.Max(math.Abs(s.Sum[j])/s.SumSD, (second(s, j)-s.Count/b.rungs[i])/s.SecondSD)
		}
		for j := range d {
			if differs(j) > differs(far) {
				far = j
			}
		}
		for j := range d {
			sd := math.Sqrt(b.rungs[i] * b.cov.At(j, j))
			mean, square := s.Sum[j]/s.Count, math.Max(0, second(s, j)/s.Count)
			switch {
			case j == far:
				square += s.SecondSD / s.Count
			case differs(j) < math.Max(strayDiffers, strayBeside*differs(far)):
				mean, square = 0, 1/b.rungs[i]
			}
			at[j] += s.Count * sd * math.Max(-1, math.Min(1, mean))
			squares[j] += s.Count * sd * sd * math.Min(1, square)
		}
	}
	if total < straySDs*noise || total < strayPart*rows {
		return nil
	}
	g := component.Gaussian{Mean: make([]float64, d), Cov: mat.NewSymDense(d, nil), Rows: total, CountSD: noise, Doubt: component.StartDoubt()}
	g.Weight = math.Min(total/rows, mostStray)
	for j := range d {
		from, square := at[j]/total, squares[j]/total
		g.Mean[j] = b.mean[j] + from
		g.Cov.SetSym(j, j, math.Max(square-from*from, strayVariance*square))
	}
	return &g
}

// second is the sum of z_j^2, as far as it was measured.
func second(s moments.Sums, j int) float64 {
	if s.Second == nil {
		return s.Trace / float64(len(s.Sum))
	}
	return s.Second.At(j, j)
}
