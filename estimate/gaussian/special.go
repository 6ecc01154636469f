package gaussian

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/model/flags"
	"github.com/gauze-dp/gauze/parts"
	"github.com/gauze-dp/gauze/parts/component"
	"github.com/gauze-dp/gauze/parts/tyler"
)

// diagonal fits means and variances of the columns in their own units, by a rough and a last
// release of all of them at once. If a measurement shows that a column is not Gaussian, all columns
// get their own moments.
func (f fit) diagonal() (estimate.Outcome, error) {
	return f.byColumns(func(*marginals) {})
}

// byColumns fits a diagonal covariance, whose sds it shows to change before it releases them.
func (f fit) byColumns(change func(*marginals)) (none estimate.Outcome, err error) {
	if f.round == nil { // else the columns have been looked at, and the plan has no more looks
		if uneven, err := f.Uneven(); err != nil {
			return none, err
		} else if uneven {
			return f.Plain(nil)
		}
	}
	m, err := f.marginals()
	if err != nil {
		return none, err
	}
	change(m)
	return f.Release(m.mean, mat.DenseCopyOf(mat.NewDiagDense(len(m.sd), m.sd)), nil, m.noise)
}

// spherical fits a mean and one variance, the mean of the columns' variances, by a rough and a last
// clipped release in the largest scale of the columns.
//
// The last radius is as large as the noise allows, so that columns of unequal spread lose little to
// clipping.
//
// Source: [TYLERPRESS] Section 4.3, query.SphericalForm.
func (f fit) spherical() (none estimate.Outcome, err error) {
	d := f.Space.Dim()
	k := float64(d)
	if d > diagonalByFull && slices.Max(f.Space.Scale) > unequal*slices.Min(f.Space.Scale) {
		return f.pooled()
	}
	s := &sphere{center: slices.Clone(f.Space.Center), sd: slices.Max(f.SDs())}
	if err := f.refineSphere(s, math.Sqrt(f.RoughPart*f.Left()), 2*(k+2*math.Sqrt(k)+2), true); err != nil {
		return none, err
	}
	frame, _ := f.state(s).Affine(1)
	beyond, err := f.BeyondGaussian(frame, sphereFar2*k)
	if err != nil {
		return none, err
	}
	f.Notes.LeavesOut(beyond)
	if beyond.Share-2*beyond.Noise > firstFar {
		return none, f.RefuseOutliers("too many rows lie far out for a Gaussian fit")
	}
	mu := f.LeftMu()
	if err := f.refineSphere(s, mu, sphereRadius2(f.Problem.Relation, d, f.Rows, mu), false); err != nil {
		return none, err
	}
	return f.Release(s.center, mat.DenseCopyOf(mat.NewDiagDense(d, slices.Repeat([]float64{s.sd}, d))), f.uncertain(s), s.noise)
}

// uncertain says in which columns, narrower than the one spread, the noise moves the mean by much.
func (f fit) uncertain(s *sphere) []estimate.Flag {
	var columns []int
	most := 0.0
	for i, sd := range f.SDs() {
		if by := s.meanNoise / sd; by > movedByNoise {
			columns, most = append(columns, f.Space.Columns[i]), math.Max(most, by)
		}
	}
	if columns == nil {
		return nil
	}
	return []estimate.Flag{flags.New(flags.UncertainMean, "column %v: the common spread is far wider, so noise moves its mean by up to about %.2g of its own standard deviations; "+
		"a diagonal covariance has units of their own", flags.Ref(columns), most).In(columns...)}
}

// movedByNoise: a mean with more noise, in sds of its column, is flagged. A guess.
const movedByNoise = .2

// pooled releases means in the columns' own units, and the mean of their variances: in one unit for
// all, the noise would hide the means of the narrow columns.
func (f fit) pooled() (estimate.Outcome, error) {
	return f.byColumns(func(m *marginals) {
		m.sd = slices.Repeat([]float64{dense.Norm(m.sd) / math.Sqrt(float64(len(m.sd)))}, len(m.sd))
	})
}

// unequal: where the scales of many columns, which are powers of two, differ by more than this,
// they are measured in units of their own. In few columns a unit that is wrong, as that of a column
// in which hardly a row differs, would cost more. A guess.
const unequal = 4

// sphereFar2 times the number of columns: if one of them has nearly all of the variance, one row in
// 2e4 of a Gaussian has such a |z|^2. A guess.
const sphereFar2 = 16

// A sphere is a mean with its noise and a sd in raw units, and the noise of its variance, relative.
type sphere struct {
	center               []float64
	meanNoise, sd, noise float64
}

// state centres the rows and divides them by the sd.
func (f fit) state(s *sphere) *tyler.State {
	return tyler.New(component.Space{Columns: f.Space.Columns, Center: s.center, Scale: slices.Repeat([]float64{s.sd}, len(s.center))})
}

// refineSphere improves s by one release.
func (f fit) refineSphere(s *sphere, mu, r2 float64, rough bool) error {
	d, hidden := len(s.center), f.Refuse("the noise hides the spread of the rows")
	frame, fits := f.state(s).Affine(1)
	if !fits {
		return hidden
	}
	q := query.ClippedMoments{Components: []query.Component{{Map: frame, Radius: math.Sqrt(r2)}}, Form: query.SphericalForm}
	answer, err := f.Sum(stepMoments.Of(f.Tyler.Prefix), q, mu)
	if err != nil {
		return err
	}
	m := component.UnpackSums(q, answer)[0]
	f.Tyler.Good.Add(m.Count, m.CountSD)
	rows := f.Good()
	trace, noise, shift2 := m.Trace/rows, m.TraceSD/rows, 0.0
	for i, v := range m.Sum {
		v /= rows
		shift2 += v*v - m.SumSD*m.SumSD/(rows*rows)
		s.center[i] += s.sd * v
	}
	trace -= math.Max(0, shift2)
	if rough {
		trace = math.Max(trace, f.HiddenPart*noise)
	} else if !(noise <= noiseLimit/2*trace) {
		return hidden
	}
	s.meanNoise = s.sd * m.SumSD / rows
	s.sd *= math.Sqrt(component.ClippedVariance(d, trace, r2))
	s.noise = noise / trace
	if shift2 > f.Leaning*f.Leaning*r2 || !dense.AllFinite(s.center) || !dense.Finite(s.sd*s.sd) || !(s.sd > 0) {
		return hidden
	}
	return nil
}

// sphereError returns the expected square of the relative error of the variance, for a Gaussian in
// its own scale.
func sphereError(rel privacy.Relation, d int, n, mu, r2 float64) float64 {
	k := float64(d)
	c := component.ClippedGaussian(d, r2)
	noise := 1.5 * r2 / (n * mu)
	if rel == privacy.ReplaceOne {
		noise *= math.Sqrt2
	}
	slope := k * (c.B1 + k*c.B2) // of E|z|^2 with the variance
	return (c.VM*k/n + noise*noise) / (slope * slope)
}

// sphereTolerance: a squared error this much above the least is paid for a larger radius. A guess.
const sphereTolerance = 1.1

// sphereRadius2 returns the largest radius^2 on a grid up to 25d with nearly the least error.
func sphereRadius2(rel privacy.Relation, d int, n, mu float64) float64 {
	grid := geometric(.5*float64(d), 25*float64(d), 80)
	errors := parts.Map(grid, func(r2 float64) float64 { return sphereError(rel, d, n, mu, r2) })
	least := slices.Min(errors)
	for i := len(grid) - 1; i > 0; i-- {
		if errors[i] <= sphereTolerance*least {
			return grid[i]
		}
	}
	return grid[0]
}
