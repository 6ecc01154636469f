package gaussian

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/model/flags"
	"github.com/gauze-dp/gauze/parts/tyler"
)

// leastAlone of mu^2 must be left for means and standard deviations alone to be tried. A guess.
const leastAlone = .01

// aloneLimit is the largest noise of a column's variance, relative: its standard deviation is
// off by a third then. A guess.
const aloneLimit = .7

// mayEndAlone reports that a fit of a full covariance that the noise hides may end in the columns'
// means and standard deviations.
func (f *Fit) mayEndAlone() bool {
	return f.byFull && mayEndAlone(f.Problem) && f.Space.Dim() > 1 && f.cells == nil
}

// mayEndAlone reports it of public facts.
func mayEndAlone(p estimate.Problem) bool {
	byFull, _ := mayGo(p)
	return byFull && p.Planned().Covariance == estimate.Full && p.Planned().Columns > 1
}

// leavesAlone reports that a fit has ended without a model, and has enough left for the columns by
// themselves: in few columns these take far less. Where the noise hid a direction from the steps,
// the unit of a column may be wrong by any factor.
func (f *fit) leavesAlone(err error) bool {
	var e *ended
	return errors.As(err, &e) && e.NoRelease != nil && f.mayEndAlone() && f.Left() > leastAlone*f.Mu2 &&
		f.round != nil && len(f.round.Hidden(f.All)) == 0
}

// columnsAlone spends what is left on the columns' means and standard deviations.
func (f *fit) columnsAlone() (estimate.Outcome, error) {
	f.hides()
	f.byFull, f.Mu2 = false, f.Left()
	f.Notes.Unresolved = nil
	return f.diagonal()
}

// hides has the fit end in a diagonal covariance, and say so.
func (f *Fit) hides() {
	f.Problem.Covariance = estimate.Diagonal
	f.Notes.Flag(flags.New(flags.FewRows, "the noise hides how columns vary together: the model has their means and standard deviations, and no correlations; more rows or a larger epsilon show them"))
}

// withoutCorrelations releases mean and standard deviation of each column of N(delta, spread^2) in
// the coordinates root*W(y-m), where the noise hides some direction between the columns. sd is that
// of the noise of a variance in a coordinate. With w the row of a column in the frame, the noise of
// its variance is sd |w|^2.
func (f *fit) withoutCorrelations(st *tyler.State, root float64, delta []float64, spread mat.Matrix, sd float64, told ...estimate.Flag) (none estimate.Outcome, err error) {
	if len(st.Hidden(f.All)) > 0 {
		return none, f.unresolved(st)
	}
	mean, sds := f.columnsOf(st, delta, spread, root)
	_, unit := f.columnsOf(st, delta, symmetric.Identity(st.Rank()), root)
	noise := 0.0
	for i := range sds {
		noise = math.Max(noise, sd*unit[i]*unit[i]/(sds[i]*sds[i]))
	}
	if !(noise <= aloneLimit) {
		return none, f.Refuse("the noise hides the spread in some directions")
	}
	f.hides()
	return f.Release(mean, mat.DenseCopyOf(mat.NewDiagDense(len(sds), sds)), told, noise)
}

// columnsOf returns mean and standard deviation, in raw units, of the columns of
// N(delta, spread^2) in the coordinates root*W(y-m).
func (f *Fit) columnsOf(st *tyler.State, delta []float64, spread mat.Matrix, root float64) (mean, sd []float64) {
	mean, factor := st.Raw(delta, spread, root)
	for i := range mean {
		sd = append(sd, dense.Norm(factor.RawRowView(i)))
	}
	return mean, sd
}
