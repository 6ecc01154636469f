package gaussian

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts/columns"
	"github.com/gauze-dp/gauze/parts/tyler"
)

// plainRounds: moments in the columns' own units, with Tuning.FirstMoments of what is left, and in
// coordinates that the rounds before made round, an even part each. In more than wideColumns the
// other way needs far more rows. Utility constants, guesses.
const plainRounds, wideColumns = 4, 24

// glanceNoise of the rows is what the noise of a look of Tuning.Glance may be: with more it says
// that many columns are uneven, of which hardly one is. A guess.
const glanceNoise = .04

const roundPrefix = "round "

// See farFrom. Guesses.
const columnsNoise, columnsMost = .15, .1

// Enough reports that there are rows enough for the plain way.
func (f *Fit) Enough() bool { return f.Rows*f.Problem.Mu >= f.ManyRows*float64(f.Space.Dim()) }

// wide reports that there are many columns and rows enough for the plain way: it needs far fewer.
func (f *Fit) wide() bool { return f.Space.Dim() > wideColumns && f.Enough() }

// WithinReach returns st, or nil where too many rows are far out there for their moments to be
// taken in it.
func (f *Fit) WithinReach(st *tyler.State) *tyler.State {
	if f.far > f.SomeOutliers {
		return nil
	}
	return st
}

// again goes the plain way with what rounding has left, which got to st: there, but with too many
// rows far out, or not. If it did not although there were rows enough, no Gaussian's rows are in
// the way; else it ends for good.
func (f *Fit) again(st *tyler.State, there bool) (none estimate.Outcome, err error) {
	switch {
	case there && f.Enough() || f.Rows >= RowsNeeded(f.Problem) || f.wide():
		return f.Plain(nil)
	case there:
		return none, f.RefuseOutliers("too many rows share one value or lie far out")
	}
	return none, f.unresolved(st)
}

// Uneven reports that some column is of a kind that makes Tyler's iteration collapse around an
// atom, or end far from its mean and covariance: most rows share a value, or they are of several
// scales. Stage zero has seen that in octaves of pairs, for nothing; else a glance at the columns
// does.
//
// Rows that are far out in a column, as few as a look sees, are uneven too where no preconditioner
// comes after: many columns, each by itself.
func (f *Fit) Uneven() (bool, error) {
	if f.Units.Uneven != nil && (f.byFull || f.Factor*math.Sqrt(float64(f.Space.Dim())) > glanceNoise*f.Rows*math.Sqrt(f.Glance*f.Mu2)) {
		return slices.ContainsFunc(f.Space.Columns, func(j int) bool { return f.Units.Uneven[j] }), nil
	}
	if f.Tyler.Unit == 0 || f.byFull && f.Problem.Facts.KnowsEigenvalues() {
		return false, nil
	}
	t, err := columns.MeasureReach(f.SubBudget, f.Tyler.Prefix, f.Space, f.Good(), f.Glance*f.Mu2)
	if err != nil {
		return false, err
	}
	for i, c := range t.Columns {
		atom := f.Units.Varied != nil && f.Units.Varied[f.Space.Columns[i]]+f.UnevenSDs*f.Units.VariedSD < (1-f.UnevenAtom)*f.Good() ||
			f.Units.Uneven != nil && f.Units.Uneven[f.Space.Columns[i]]
		if atom || c.Group > f.UnevenGroup || c.Tail > 0 && c.Tail+f.UnevenSDs*c.TailSD < f.UnevenTail {
			return true, nil
		}
	}
	return false, nil
}

// Plain releases the rows' own mean and covariance. Columns are measured in units of their reach,
// where atoms, zeros and heavy tails have no more noise than others; then in coordinates that the
// measurements so far make round, so that directions in which correlated columns hardly vary are
// seen too. At last every column gets the spread that it has by itself. Where rows are round in the
// coordinates of st, which may be nil, and no column reaches too far there, one release does all.
//
// The noise of a round in z is sqrt2 R^2/(n mu) on the diagonal and 1/sqrt2 of it off, so its
// spectral norm is 2 R^2 sqrt d/(n mu), R^2 of d and more: in the first round relative to the
// columns' variances. A direction with the part v of these is seen from v = 2 R^2 sqrt d/(n mu) on;
// the next round, in which that is the unit, sees the square of that. Rounds are joined entry by
// entry, by their variances.
func (f *Fit) Plain(st *tyler.State, told ...estimate.Flag) (none estimate.Outcome, err error) {
	p := &plain{Fit: f}
	if err := p.look(st); err != nil {
		return none, err
	}
	in, err := st != nil && p.within(st), error(nil)
	if in {
		err = p.beyondRound(st)
	}
	if err != nil {
		return none, err
	}
	if in {
		if err := p.refine(f.Left()); err != nil {
			return none, err
		}
		return p.release(told)
	}
	first := f.FirstMoments * f.Left()
	if !f.byFull { // columns by themselves need no rounds
		first = f.LeftMu() * f.LeftMu()
	}
	if err := p.table.Release(f.SubBudget, f.Tyler.Prefix, f.Good(), first); err != nil {
		return none, err
	}
	if err := p.beyondTable(); err != nil {
		return none, err
	}
	p.start()
	for round := 1; round < plainRounds && f.byFull; round++ {
		resolved, ok := p.whiten()
		if !ok {
			return none, f.Refuse("the noise hides the spread of the rows")
		}
		part := 1.0
		if !resolved {
			part = 1 / float64(plainRounds-round)
		}
		if err := p.refine(part * f.Left()); err != nil {
			return none, err
		}
		if resolved {
			break
		}
	}
	return p.release(told)
}

// look measures the columns, about the centre of st if there is one.
func (p *plain) look(st *tyler.State) (err error) {
	a, prefix, space, first, closer := p.SubBudget, p.Tyler.Prefix, p.Space, p.FirstReach, p.FinerReach
	if st != nil {
		first, closer = p.WhitenedReach, p.FinerWhitenedReach
		space.Center, _ = st.Raw(make([]float64, st.Rank()), mat.NewDense(st.Rank(), 1, nil), 1)
	} else if err := p.centre(); err != nil {
		return err
	}
	if p.table, err = columns.MeasureReach(a, prefix, space, p.Good(), first*p.Left()); err != nil {
		return err
	}
	return p.table.Closer(a, prefix, p.Good(), closer*p.Left(), p.far > p.SomeOutliers)
}

// Rows farther out than the columns are seen to reach.
const unseenRows = "they lie beyond the range that was seen of the columns, and have little or no weight"

// With more than mostUnseen of the rows beyond its reach a model would describe next to nobody. A
// guess.
const mostUnseen = .6

// describesMost returns a refusal if it is so.
func (f *Fit) describesMost(beyond estimate.Undescribed) error {
	if beyond.Share-squareSDs*beyond.Noise > mostUnseen {
		return f.RefuseOutliers("most rows lie beyond the range that was seen of the columns")
	}
	return nil
}

// beyondRound counts the rows that are far out in the coordinates of st, less those that the
// columns show there.
func (p *plain) beyondRound(st *tyler.State) (err error) {
	frame, edge2 := p.space.Affine(p.mean, p.inv), nearest2(st.Rank())
	if p.beyond, err = p.Beyond(frame, edge2, unseenRows); err != nil {
		return err
	}
	for i, c := range p.table.Columns {
		sd := p.space.Scale[i] * math.Sqrt(dense.Norm2(p.l.RawRowView(i)))
		p.beyond.Share -= c.ShareFrom(math.Sqrt(edge2) * sd / p.table.Seen.Scale[i])
	}
	if err := p.describesMost(p.beyond); err != nil {
		return err
	}
	return p.farColumns()
}

// beyondTable counts the rows far beyond the reach of the columns, in the units of the table.
func (p *plain) beyondTable() (err error) {
	frame, edge2 := p.table.Outside()
	if p.beyond, err = p.Beyond(frame, edge2, unseenRows); err != nil {
		return err
	}
	if err := p.describesMost(p.beyond); err != nil {
		return err
	}
	return p.farColumns()
}

// farColumns counts the rows far beyond the reach of each column by itself, if more are beyond that
// of all together than noise explains: a reader wants to know which column's moments lack them.
func (p *plain) farColumns() error {
	if !p.byFull || !p.beyond.Clear() {
		return nil
	}
	edge := make([]float64, p.Space.Dim())
	for i, c := range p.table.Columns {
		edge[i] = columns.OutsideReach * c.Reach * p.table.Seen.Scale[i]
	}
	far, noise, err := p.farFrom(p.table.Seen.Center, edge, p.beyond.Share)
	for i, j := range p.Space.Columns {
		center := p.table.Seen.Center[i]
		p.beyond.Columns = append(p.beyond.Columns, estimate.UndescribedColumn{Column: j, Share: far[i], Noise: noise,
			Beyond: [2]float64{center - edge[i], center + edge[i]}, Counted: true})
	}
	return err
}

// farFrom releases which share of the rows is farther than edge from center in each column that
// varies, with its noise: columnsNoise of share, which is about that of all columns together, or
// what columnsMost of mu^2 buys. A row changes one count of each of the d columns by at most one:
// the L2 sensitivity is sqrt(d) under both relations (query.Counts).
func (f *Fit) farFrom(center, edge []float64, share float64) (far []float64, noise float64, err error) {
	q := query.Counts{Center: make([]float64, f.All), Edges: query.Each(slices.Repeat([]float64{math.NaN()}, f.All)), As: query.Above}
	for i, j := range f.Space.Columns {
		q.Center[j], q.Edges[j] = center[i], []float64{edge[i]}
	}
	least := math.Sqrt(float64(f.Space.Dim())) / (columnsNoise * share * f.Good())
	answer, err := f.Sum(stepFarColumns.Of(f.Tyler.Prefix), q, f.upTo(math.Min(least*least, columnsMost*f.Mu2)))
	far = make([]float64, f.Space.Dim())
	if err != nil {
		return far, 0, err
	}
	for i, j := range f.Space.Columns {
		far[i] = answer.Values[j] / f.Good()
	}
	return far, answer.Sigma / f.Good(), nil
}

// centre finds the centres of the columns once, if location and scale did not measure them.
func (f *Fit) centre() error {
	if f.centred || !usesPairs(f.Problem) || !f.byFull || f.Problem.Profile != nil {
		return nil
	}
	f.centred = true
	share, _ := columns.CenterShare(f.Problem.Relation, f.All, f.Rows, f.Mu2)
	err := f.Units.FindCenters(f.SubBudget, f.Tyler.Prefix, f.Rows, math.Min(share*f.Mu2, f.Left()/4))
	for i, j := range f.Space.Columns {
		f.Space.Center[i] = f.Units.Center[j]
	}
	return err
}
