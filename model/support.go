package model

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

const (
	// supportTolerance is how far off the support a row may lie, relative to the columns' spread,
	// and the standard deviation that a component gets in a degenerate direction that the model
	// does not share.
	supportTolerance = 1e-9
	// rankTolerance is the largest standard deviation, columns scaled to one, that counts as none.
	// A Full built from a symmetric matrix has no smaller positive one than about 1e-8; the gap
	// absorbs rounding.
	rankTolerance = 1e-10
	// meanRounding bounds the rounding error of sums of means, relative to the means.
	meanRounding = 64 * machineEps
	// pivotSlack prefers early columns as free ones: the first that carries this part of the
	// largest remaining spread.
	pivotSlack = 0.1
)

// support is the affine space that holds a set of Gaussians, written as: the free columns are
// anything, each tied column is centre + sum coef (free - their centre).
type support struct {
	free   []int
	tied   []tie
	centre []float64 // mean of the means
	// of each column over the set: root of the summed squares of sds and of offsets of the means
	spread []float64
	size   []float64 // largest |mean| of each column
}

type tie struct {
	column int
	coef   []float64 // one per free column, in units of this column per unit of that
}

// newSupport finds the support of gs, at least one Gaussian, all of one dimension.
func newSupport(gs []Gaussian) *support {
	s := measured(gs)
	for _, g := range gs {
		if fullRank(g.Cov) {
			for j := range s.spread {
				s.free = append(s.free, j)
			}
			return s
		}
	}
	rows, varying := spreadRows(gs, s)
	s.free = independentRows(rows, varying, s)
	s.tie(rows)
	return s
}

// measured returns the support with centre, spread and size set.
func measured(gs []Gaussian) *support {
	d := gs[0].Dim()
	s := &support{centre: make([]float64, d), spread: make([]float64, d), size: make([]float64, d)}
	for _, g := range gs {
		for j, m := range g.Mean {
			s.centre[j] += m / float64(len(gs))
			s.size[j] = max(s.size[j], math.Abs(m))
		}
	}
	for _, g := range gs {
		for j, sd := range sdsOf(g.Cov) {
			s.spread[j] = math.Hypot(s.spread[j], math.Hypot(sd, g.Mean[j]-s.centre[j]))
		}
	}
	return s
}

// sdsOf returns the columns' standard deviations, from the factor.
func sdsOf(c Covariance) []float64 {
	if u, ok := c.(Diagonal); ok {
		return u.sds()
	}
	return rowNorms(factorOf(c))
}

// fullRank reports whether c has variance in every direction, columns scaled to one.
func fullRank(c Covariance) bool {
	sd := sdsOf(c)
	if slices.Min(sd) == 0 {
		return false
	}
	if _, ok := c.(Diagonal); ok {
		return true
	}
	values := singular(scaledRows(factorOf(c), sd), mat.SVDNone).Values(nil)
	return values[len(values)-1] > rankTolerance*values[0]
}

// singular returns the singular value decomposition of f; kind says which parts to compute.
func singular(f *mat.Dense, kind mat.SVDKind) *mat.SVD {
	var svd mat.SVD
	if !svd.Factorize(f, kind) {
		panic("model: singular values did not converge") // finite input converges
	}
	return &svd
}

// scaledRows returns f with row i divided by scale[i]; rows of scale 0 are zero.
func scaledRows(f *mat.Dense, scale []float64) *mat.Dense {
	out := mat.DenseCopyOf(f)
	for i, s := range scale {
		row := out.RawRowView(i)
		for j := range row {
			if s > 0 {
				row[j] /= s
			} else {
				row[j] = 0
			}
		}
	}
	return out
}

// spreadRows returns one row per column: its factor rows in all components, then (from column
// varying on) the offsets of its means, scaled to norm 1. The support is the span of the matrix's
// columns. A constant column's row is zero. Where all components are uncorrelated the factors are
// diagonal, and a column with variance is independent of all others: it gets its own unit row.
func spreadRows(gs []Gaussian, s *support) (rows *mat.Dense, varying int) {
	d, k := len(s.spread), len(gs)
	diagonal := true
	for _, g := range gs {
		_, ok := g.Cov.(Diagonal)
		diagonal = diagonal && ok
	}
	blocks := k
	if diagonal {
		blocks = 1
	}
	rows = mat.NewDense(d, blocks*d+k, nil)
	for i, g := range gs {
		f, sd := (*mat.Dense)(nil), sdsOf(g.Cov)
		if !diagonal {
			f = factorOf(g.Cov)
		}
		for j := range d {
			row := rows.RawRowView(j)
			row[blocks*d+i] = g.Mean[j] - s.centre[j]
			if diagonal {
				row[j] = math.Hypot(row[j], sd[j])
			} else {
				copy(row[i*d:(i+1)*d], f.RawRowView(j))
			}
		}
	}
	for j := range d {
		row := rows.RawRowView(j)
		if floats.Norm(row[:blocks*d], 2) == 0 && s.spread[j] <= supportTolerance*s.size[j] {
			s.spread[j] = 0
		}
	}
	return scaledRows(rows, s.spread), blocks * d
}

// independentRows returns, in order, rows that span all rows, by Gram-Schmidt with pivoting.
func independentRows(rows *mat.Dense, varying int, s *support) []int {
	rest := mat.DenseCopyOf(rows)
	d, _ := rest.Dims()
	var free []int
	weight := make([]float64, d)
	for len(free) < d {
		for j := range d {
			weight[j] = 0
			if !slices.Contains(free, j) {
				weight[j] = remaining(rest.RawRowView(j), varying, s, j)
			}
		}
		best := slices.Max(weight)
		if best == 0 {
			break
		}
		pivot := slices.IndexFunc(weight, func(w float64) bool { return w >= pivotSlack*best })
		free = append(free, pivot)
		p := rest.RawRowView(pivot)
		floats.Scale(1/floats.Norm(p, 2), p)
		for j := range d {
			if slices.Contains(free, j) {
				continue
			}
			row := rest.RawRowView(j)
			for range 2 { // twice, so that rounding leaves nothing of p behind
				floats.AddScaled(row, -floats.Dot(row, p), p)
			}
		}
	}
	slices.Sort(free)
	return free
}

// remaining returns the size of what is left of row j, 0 if that is rounding.
func remaining(row []float64, varying int, s *support, j int) float64 {
	if s.spread[j] == 0 {
		return 0
	}
	variance, offset := floats.Norm(row[:varying], 2), floats.Norm(row[varying:], 2)
	if variance <= rankTolerance {
		variance = 0
	}
	if offset <= max(supportTolerance, meanRounding*s.size[j]/s.spread[j]) {
		offset = 0
	}
	return math.Hypot(variance, offset)
}

// tie writes every column that is not free as a function of the free ones.
func (s *support) tie(rows *mat.Dense) {
	var qr mat.QR
	if len(s.free) > 0 {
		qr.Factorize(takeRows(rows, s.free).T())
	}
	for j := range s.spread {
		if slices.Contains(s.free, j) {
			continue
		}
		t := tie{column: j, coef: make([]float64, len(s.free))}
		if s.spread[j] > 0 && len(s.free) > 0 {
			var c mat.VecDense
			// An ill-conditioned basis is reported as an error beside a usable answer.
			_ = qr.SolveVecTo(&c, false, rows.RowView(j))
			for a, f := range s.free {
				t.coef[a] = c.AtVec(a) * s.spread[j] / s.spread[f]
			}
		}
		s.tied = append(s.tied, t)
	}
}

// holds reports whether row lies on the support, up to rounding.
func (s *support) holds(row []float64) bool {
	for _, t := range s.tied {
		j := t.column
		off := row[j] - s.centre[j]
		spread := s.spread[j] + math.Abs(off)
		rounding := s.size[j]
		if s.spread[j] == 0 {
			spread += s.size[j]
		}
		for a, f := range s.free {
			if t.coef[a] == 0 {
				continue
			}
			dx := row[f] - s.centre[f]
			off -= t.coef[a] * dx
			spread += math.Abs(t.coef[a] * dx)
			rounding += math.Abs(t.coef[a]) * s.size[f]
		}
		if !(math.Abs(off) <= max(supportTolerance*spread, meanRounding*rounding)) {
			return false
		}
	}
	return true
}

// spans reports whether every column of the factor f lies in the support's directions, each of f's
// rows judged by its own size.
func (s *support) spans(f *mat.Dense) bool {
	_, m := f.Dims()
	left := make([]float64, m)
	for _, t := range s.tied {
		copy(left, f.RawRowView(t.column))
		scale := floats.Norm(left, 2)
		for a, j := range s.free {
			row := f.RawRowView(j)
			floats.AddScaled(left, -t.coef[a], row)
			scale += math.Abs(t.coef[a]) * floats.Norm(row, 2)
		}
		if floats.Norm(left, 2) > supportTolerance*scale {
			return false
		}
	}
	return true
}
