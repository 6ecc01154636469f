package gaussian

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/model/flags"
	"github.com/gauze-dp/gauze/parts"
	"github.com/gauze-dp/gauze/parts/columns"
	"github.com/gauze-dp/gauze/parts/component"
)

// Rows that lack cells. Utility constants, guesses.
const (
	// Partial rows are used if they are at least this part of all rows, and at least this many
	// noise sds.
	leastPartial, partialSDs = .5, 5
	// Parts of what is left for the numbers of cells, and of pairs of them, that are there.
	cellsPart, pairsPart = .04, .08
	// firstFilled of the rest is for a first measurement of second moments.
	firstFilled = .3
	// An eigenvalue is at least this part of the spectral norm of its noise.
	partialFloor = .5
	// Pairs count as dependent if their numbers differ from independence by this factor of the
	// squared noise.
	dependence = 1.5
)

const partialPrefix = "partial "

// countRows counts the rows that have all cells, and those that have some.
func (f *Fit) countRows() (good, lacking, sd float64, err error) {
	ones := slices.Repeat([]float64{1}, f.All)
	lacks := query.Affine{Center: ones, W: [][]float64{ones}} // less the number of missing cells
	answer, err := f.In(query.Presence, nil).Sum(stepCount.Of(f.Tyler.Prefix), query.Counts{Map: lacks, Edges: [][]float64{{.5}}}, math.Sqrt(countPart*f.Mu2))
	if err != nil {
		return 0, 0, 0, err
	}
	return answer.Values[0], answer.Values[1], answer.Sigma, nil
}

// usePartial ends a fit with the moments of the cells that there are: those of a column over its
// cells, those of two over the rows that have both. Missing cells are filled with the released
// centre of their column. Mean and covariance of these rows are measured as those of any others;
// about the centres, sums of products are then over rows that have both cells, and how many these
// are is measured too. If cells are missing at random these are the moments of all rows.
//
// Source: [TYLERPRESS] Sections 1, 3 and 4.
func (f *Fit) usePartial(p estimate.Problem, share float64) error {
	f.Notes.Flag(flags.New(flags.MissingCells, "about %.0f%% of the rows lack a cell; their other cells are used, as if cells were missing at random; "+
		"mean and covariance are those of the rows; whether they are bell-shaped was not checked", 100*share).Of(share, 0))
	f.Tyler.Prefix += partialPrefix
	u, err := f.partialUnits(p, share)
	if err != nil {
		return err
	}
	if err := f.use(u, p); err != nil || f.Space.Dim() == 0 {
		return err
	}
	out, err := f.filled()
	if err != nil {
		return err
	}
	return &ended{out}
}

// partialUnits returns the units of the cells that there are. How many a column has follows from
// the share of rows that lack one, if cells are missing independently of each other: at least half.
func (f *Fit) partialUnits(p estimate.Problem, lacking float64) (u columns.Units, err error) {
	cells := f.In(query.Cells, nil)
	if p.Profile != nil {
		return f.ByProfile(cells, f.Tyler.Prefix)
	}
	there := math.Max(.5, math.Pow(math.Max(0, 1-lacking), 1/float64(p.Columns)))
	center, sharp := columns.CenterShare(p.Relation, p.Columns, there*f.Rows, f.Mu2)
	if !sharp {
		return u, refusal(advice(p), "about %.0f rows, of which many lack a cell, are too few", f.Rows)
	}
	return columns.MeasureUnits(cells, columns.UnitsConfig{Prefix: f.Tyler.Prefix, CenterMu2: center * f.Mu2, ScaleMu2: columns.ScalePart * f.Mu2, SparseMu2: sparsePart * f.Mu2, Rows: f.Rows})
}

// filled returns the outcome by rows whose missing cells are filled: their second moments about the
// centres in the columns' units, then in coordinates that these make round, and both together.
func (f *Fit) filled() (none estimate.Outcome, err error) {
	if f.cells, err = f.countCells(); err != nil {
		return none, err
	}
	f.SubBudget = f.In(query.Filled, f.Units.Center)
	f.Space.Scale = f.SDs()
	d := f.Space.Dim()
	one := mat.DenseCopyOf(symmetric.Identity(d))
	first, _, err := f.about(one, one, firstFilled*f.Left())
	if err != nil {
		return none, err
	}
	floor := partialFloor * first.Spectral()
	if mat.Trace(first.Second) < float64(d)*floor {
		return none, f.Refuse("the noise hides the spread of the rows that lack cells")
	}
	floored, _ := symmetric.FlooredRoot(first.Second, floor)
	l, inv, _ := symmetric.Factor(floored)
	second, far, err := f.about(l, inv, f.Left())
	if err != nil {
		return none, err
	}
	f.Notes.LeavesOut(far)
	// the noise of the first in the coordinates of the second
	v, w := math.Pow(first.SecondSD*math.Pow(mat.Norm(inv, 2), 2)/float64(d), 2), second.SecondSD*second.SecondSD
	floats.Scale(w/(v+w), first.Sum)
	floats.AddScaled(first.Sum, v/(v+w), second.Sum)
	first.Second.ScaleSym(w/(v+w), first.Second)
	second.Second.ScaleSym(v/(v+w), second.Second)
	first.Second.AddSym(first.Second, second.Second)
	noise := second.Spectral() * math.Sqrt(v/(v+w))
	mean, factor := f.available(first.Sum, first.Second, noise)
	return f.Release(mean, factor, nil, noise)
}

// about releases first and second moments about the centres, as means over the rows in the units of
// the columns, clipped in the coordinates inv y, inv l = I, in which the noise is that of SecondSD.
// The part of the trace that clipping removes is restored in proportion.
func (f *Fit) about(l, inv *mat.Dense, mu2 float64) (m component.Sums, far estimate.Undescribed, err error) {
	d := f.Space.Dim()
	frame := f.Space.Affine(make([]float64, d), inv)
	r, err := columns.ReleaseMoments(f.SubBudget, f.Tyler.Prefix, frame, f.Good(), mu2, 0, columns.AnyExcess)
	if err != nil {
		return m, far, err
	}
	far = estimate.Undescribed{Share: r.Beyond, Noise: r.BeyondSD, Where: "beyond the clipping radius; they count as if they lay on it"}
	m = component.Sums{Sum: r.Mean, Second: r.Cov, SecondSD: r.CovSD}
	m.Second.SymRankOne(m.Second, 1, mat.NewVecDense(d, m.Sum))
	if trace := mat.Trace(m.Second); trace > 0 {
		m.Second.ScaleSym(1+r.ClippedTrace/trace, m.Second)
	}
	sums := make([]float64, d)
	symmetric.AddMul(sums, l, m.Sum)
	m.Sum, m.Second = sums, symmetric.Congruence(l, m.Second)
	return m, far, nil
}

// countCells releases, for any two columns that vary, the part of the rows that has both cells. Off
// the diagonal it is drawn towards what there would be if columns lost their cells independently,
// as far as the noise leaves that open.
func (f *Fit) countCells() (*mat.SymDense, error) {
	d, left := f.Space.Dim(), f.Left()
	edges := slices.Repeat([]float64{math.Inf(-1)}, f.All)
	cells, err := f.In(query.Cells, nil).Sum(stepCells.Of(f.Tyler.Prefix), query.Counts{Edges: query.Each(edges), As: query.Above}, parts.Mu(cellsPart*left))
	if err != nil {
		return nil, err
	}
	there := component.Space{Columns: f.Space.Columns, Center: make([]float64, d), Scale: slices.Repeat([]float64{1}, d)}
	frame := there.Affine(there.Center, mat.DenseCopyOf(symmetric.Identity(d)))
	const lift = .1 // the count is not needed
	q := query.ClippedMoments{Form: query.FullForm, Lift: lift, Components: []query.Component{{Map: frame, Radius: math.Sqrt(float64(d))}}}
	answer, err := f.In(query.Presence, nil).Sum(stepPairs.Of(f.Tyler.Prefix), q, parts.Mu(pairsPart*left))
	if err != nil {
		return nil, err
	}
	m := component.UnpackSums(q, answer)[0].Over(f.Good())
	share := make([]float64, d)
	for i, j := range f.Space.Columns {
		share[i] = math.Max(2*cells.Sigma/f.Good(), math.Min(cells.Values[j]/f.Good(), 1))
	}
	excess, noise := 0.0, math.SmallestNonzeroFloat64
	for i := range d {
		for j := range i {
			excess += math.Pow(m.Second.At(i, j)-share[i]*share[j], 2)
			noise += m.SecondSD * m.SecondSD / 2
		}
	}
	keep := math.Max(0, 1-dependence*noise/math.Max(excess, noise))
	for i := range d {
		m.Second.SetSym(i, i, share[i])
		for j := range i {
			alone := share[i] * share[j]
			both := alone + keep*(m.Second.At(i, j)-alone)
			m.Second.SetSym(i, j, math.Max(alone/4, math.Min(both, math.Min(share[i], share[j]))))
		}
	}
	return m.Second, nil
}

// available returns the mean and a factor of the covariance, in raw units, of the cells that there
// are, by moments of filled rows about the centres; noise is that of the latter, spectral and
// relative.
func (f *Fit) available(first []float64, second *mat.SymDense, noise float64) ([]float64, *mat.Dense) {
	d := f.Space.Dim()
	mean, sd, cov, all := make([]float64, d), make([]float64, d), mat.NewSymDense(d, nil), 0.0
	for i := range d {
		share := f.cells.At(i, i)
		mean[i] = first[i] / share
		all += share / float64(d)
		sd[i] = math.Sqrt(math.Max(second.At(i, i)/share-mean[i]*mean[i], partialFloor*noise*math.Abs(second.At(i, i))+component.LeastEigen))
		cov.SetSym(i, i, 1)
		for j := range i {
			cov.SetSym(i, j, math.Max(-1, math.Min((second.At(i, j)/f.cells.At(i, j)-mean[i]*mean[j])/(sd[i]*sd[j]), 1)))
		}
	}
	// what missing cells alone do to a matrix of correlations
	missing := math.Sqrt(float64(d) * math.Max(0, 1-all) / f.Good())
	_, root := symmetric.FlooredRoot(cov, math.Max(partialFloor*missing, component.LeastEigen))
	factor := mat.DenseCopyOf(root)
	for i, s := range f.Space.Scale {
		row := factor.RawRowView(i)
		floats.Scale(s*sd[i]/floats.Norm(row, 2), row)
		mean[i] = f.Space.Center[i] + s*mean[i]
	}
	return mean, factor
}
