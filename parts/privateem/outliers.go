package privateem

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts"
	"github.com/gauze-dp/gauze/parts/component"
)

// Utility constants of the outlier component, guesses.
const (
	// strayMisfit is Rounds.Misfit of it: it may be of any shape.
	strayMisfit = 4.0
	mostStray   = .6 // of the rows
	// A copy holds rows if there are wideSDs noise sds of them, and there are outliers if there are
	// straySDs in all.
	wideSDs, straySDs = 4.0, 4.5
	// They differ from the table in a column if their sums do by strayDiffers noise sds, and by
	// strayBeside of that in the column where they differ most.
	strayDiffers, strayBeside = 3.0, .5
	// strayVariance is the least that they start with, of that of the copy where they were seen.
	strayVariance = .01
	// settles is the largest sd of a place, in sds of the widest component, and roomLoss, in nats
	// per row, is what a joint that makes room for it may cost.
	settles, roomLoss = 2.0, .2
	// missingPart of an even share of the rows is a component that is missing.
	missingPart = .3
)

// LeftOut returns the share of the rows that are in no component, with the sd of its noise: as
// counted by Count, or else by the background and Outlier.
func (r *Rounds) LeftOut() (share, noise float64) {
	if r.outsideSD > 0 {
		return math.Max(0, r.outside/r.Rows), r.outsideSD / r.Rows
	}
	share, noise = r.Background.Share, math.Max(r.Background.Noise, r.hidden/r.Rows)
	if r.Outlier != nil {
		share, noise = share+r.Outlier.Rows/r.Rows, math.Hypot(r.Background.Noise, r.Outlier.CountSD/r.Rows)
	}
	return share, noise
}

// Beside returns what a model has besides the components, and its weight: the background, and
// Outlier.
func (r *Rounds) Beside() (wide []component.Gaussian, weight float64) {
	wide = r.Background.Parts()
	if r.Outlier != nil {
		wide = append(wide, *r.Outlier)
	}
	return wide, parts.Sum(wide, func(g component.Gaussian) float64 { return g.Weight })
}

// An Outliers is wide copies of the whole table, which are to see rows far from all components: of
// those that noise does not hide it says where they are.
type Outliers struct {
	mean   []float64
	cov    *mat.SymDense // diagonal
	points []int         // coordinates in which all components have one value
}

// wide are the factors by which the copies' covariances are inflated: less would take rows of a
// mixture that is hardly wider than its components, and with larger steps the noise would hide in
// which column rows are far out. A guess.
var wide = []float64{60, 1800, 54e3, 1.6e6, 5e7, 1e12}

// wideWeight is the weight of a copy. That much of a table of one component may seem to be
// outliers. A guess.
const wideWeight = .0003

// wideRadius is that of a copy in its own sds, over the root of the number of columns. A guess.
const wideRadius = 1.3

// NewOutliers returns outlier components around the whole table. points are the coordinates in
// which all components have one value: if noise hides in which column rows are far, they are in
// these.
func NewOutliers(whole component.Gaussian, points ...int) *Outliers {
	return &Outliers{mean: whole.Mean, cov: symmetric.OnlyDiagonal(whole.Cov, false), points: points}
}

// Components returns the outskirts' parts of a moments query; nil of none.
func (o *Outliers) Components(s component.Space) (out []query.Component) {
	if o == nil {
		return nil
	}
	d := float64(s.Dim())
	for _, f := range wide {
		q, _ := s.Density(copyOf(component.Gaussian{Mean: o.mean, Cov: o.cov}, f, 0), wideWeight)
		q.Radius = wideRadius * math.Sqrt(d)
		out = append(out, q)
	}
	return out
}

// apart returns the weight of all that is not in Components.
func (r *Rounds) apart() float64 {
	_, weight := r.Beside()
	return weight
}

// updateStray moves the outlier component by its sums.
func (r *Rounds) updateStray(s component.Sums, how component.Clipping) {
	u := r.update()
	u.Rows = r.Rows
	next := u.Apply(*r.Outlier, s, how)
	next.CountSD = s.CountSD
	next.Weight = math.Min(next.Weight, mostStray)
	r.Outlier = &next
}

// Settle makes a component of Outlier if it is as narrow as components are, in all coordinates:
// then its rows are in one place of their own. Where most components are asked for, it is one if
// they are fewer and it holds much, and others make room for it by being joined, if next to nothing
// is lost by that; most is 0 where their number is open. Its error is ctx's.
func (r *Rounds) Settle(ctx context.Context, most int) error {
	if r.Outlier == nil {
		return nil
	}
	missing := len(r.Components) < most && r.Outlier.Weight > missingPart/float64(most)
	if !missing && !r.narrow(*r.Outlier) {
		return nil
	}
	joined, known := *r, bounds{}
	joined.Components = slices.Clone(r.Components)
	for most > 0 && len(joined.Components) >= most {
		ok, err := joined.joinBest(ctx, -roomLoss, func(i, j int) float64 {
			return -known.of(joined.Components[i], joined.Components[j])
		})
		if err != nil || !ok {
			return err
		}
	}
	w := r.Outlier.Weight
	for i := range joined.Components {
		joined.Components[i].Weight *= 1 - w
	}
	r.Components, r.Outlier = append(joined.Components, *r.Outlier), nil
	return nil
}

// narrow reports a Gaussian that is in every coordinate about as narrow as the widest component.
func (r *Rounds) narrow(g component.Gaussian) bool {
	for j := range r.Space.Dim() {
		widest := 0.0
		for _, c := range r.Components {
			widest = math.Max(widest, c.Cov.At(j, j))
		}
		if g.Cov.At(j, j) > settles*settles*widest {
			return false
		}
	}
	return true
}

// carry adds rows that the background sees to Outlier.
func (r *Rounds) carry(more *component.Gaussian) {
	if more != nil && r.Outlier != nil {
		both := component.Joined(*r.Outlier, *more)
		more = &both
	}
	if more != nil {
		r.Outlier = more
	}
}

// Seen returns a component of the rows that the copies hold by their sums, or nil if there are too
// few, and the noise of its number. In a column in which the sums do not say that they differ from
// the whole table, they are like it.
func (o *Outliers) Seen(sums []component.Sums, rows float64) (g *component.Gaussian, noise float64) {
	d := len(o.mean)
	total, least := 0.0, math.Inf(1)
	most := wideRadius * math.Sqrt(float64(d))
	at, squares := make([]float64, d), make([]float64, d)
	for i, s := range sums {
		least = math.Min(least, s.CountSD)
		if s.Count < wideSDs*s.CountSD {
			continue
		}
		total, noise = total+s.Count, math.Hypot(noise, s.CountSD)
		far := 0 // the column that differs most
		differs := func(j int) float64 {
			return math.Max(math.Abs(s.Sum[j])/s.SumSD, (second(s, j)-s.Count/wide[i])/s.SecondSD)
		}
		for j := range d {
			if differs(j) > differs(far) {
				far = j
			}
		}
		if len(o.points) > 0 && differs(far) < straySDs {
			far = o.points[0]
		}
		for j := range d {
			sd := math.Sqrt(wide[i] * o.cov.At(j, j))
			mean, square := s.Sum[j]/s.Count, math.Max(0, second(s, j)/s.Count)
			switch {
			case j == far:
				square += s.SecondSD / s.Count
			case differs(j) < math.Max(strayDiffers, strayBeside*differs(far)):
				mean, square = 0, 1/wide[i]
			}
			at[j] += s.Count * sd * math.Max(-most, math.Min(most, mean))
			squares[j] += s.Count * sd * sd * math.Min(most*most, square)
		}
	}
	if total <= straySDs*noise+wideWeight*rows {
		return nil, least
	}
	g = &component.Gaussian{Mean: make([]float64, d), Cov: mat.NewSymDense(d, nil), Rows: total, CountSD: noise, Uncertainty: component.StartUncertainty()}
	g.Weight = math.Min(total/rows, mostStray)
	for j := range d {
		from, square := at[j]/total, squares[j]/total
		g.Mean[j] = o.mean[j] + from
		g.Cov.SetSym(j, j, math.Max(square-from*from, strayVariance*square))
	}
	return g, noise
}

// second returns the sum of z_j^2, as far as it was measured.
func second(s component.Sums, j int) float64 {
	if s.Second == nil {
		return s.Trace / float64(len(s.Sum))
	}
	return s.Second.At(j, j)
}
