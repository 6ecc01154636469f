package general

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts/component"
)

// axes are d directions, the columns of vec, along which a Gaussian's coordinates are independent
// with these variances; to maps a row less its mean to these coordinates.
type axes struct {
	vec, to  *mat.Dense
	lambda   []float64
	directed int // so many of them, the first, are directions in which rows are least like a Gaussian
}

// axesOf returns the eigenvectors of a covariance, largest variance first.
func axesOf(cov *mat.SymDense) *axes {
	vec, values := symmetric.Principal(cov, cov.SymmetricDim())
	for i, v := range values {
		values[i] = math.Max(v, floorStandard)
	}
	return &axes{vec: vec, to: mat.DenseCopyOf(vec.T()), lambda: values}
}

// Utility constants of directions, guesses tried on two and three clusters in a row, 7 to 9 of
// their sds apart where the table is narrow, or of no special width, in 4 to 8 columns.
const (
	directionsPart = .04 // of mu^2, at most
	// Two clusters change an entry of the Gram matrix by about directionsShow over d^2. It is
	// directionsSeen times the norm of the noise, if mu^2 pays for that; if it were not
	// directionsHidden times it, nothing is asked.
	directionsShow, directionsSeen, directionsHidden = 1.5, 6.0, 2.0
	directionsLift                                   = .5 // b; see query.Directions
	// A direction is taken if it stands out by so many times the norm of the noise.
	directionsOut = 1.5
	mostDirected  = 2
)

const stepDirections = "directions of groups"

// mostAsked is how often directions are asked for at most: in a projection, where the groups that
// it shows become one, and in all columns if these groups turn out to be long; else once.
const mostAsked = 3

// directed returns axes of which the first ones are directions in which the rows of a Gaussian are
// least like one, as far as noise shows any: of clusters that lie apart where the table as a whole
// is narrow the widest directions show nothing. The rows' directions from the centre, in units in
// which the Gaussian is round, have a mean and second moments that those of any round Gaussian have
// not: two clusters of equal size have more of them along the line from one to the other, unequal
// ones a mean.
//
// Privacy: one Gaussian measurement of query.Directions; its proof has the sensitivity.
func (f *fit) directed(g component.Gaussian) (*axes, error) {
	d, a := f.space.Dim(), axesOf(g.Cov)
	show := directionsShow / float64(d*d)
	// The norm of symmetric noise of the sd s in each entry is about 2 s sqrt(d).
	norm := 2 * math.Sqrt(float64(d)) * f.Factor / f.Rows
	mu := min(directionsSeen*norm/show, f.Mu(directionsPart))
	if d <= 3 || f.asked || f.method.Without.Directions || !(norm/mu*directionsHidden < show) {
		return a, nil
	}
	f.asked = true
	unit := mat.NewDense(d, d, nil)
	unit.Apply(func(i, _ int, v float64) float64 { return v / math.Sqrt(a.lambda[i]) }, a.to)
	answer, err := f.Sum(stepDirections, query.Directions{Map: f.space.Affine(g.Mean, unit), Lift: directionsLift}, mu)
	if err != nil {
		return nil, err
	}
	chosen := unlikeGaussian(component.Symmetric(answer.Values, d+1), directionsOut*norm/mu)
	return a.first(chosen), nil
}

// unlikeGaussian returns the directions in which the Gram matrix of (b, z)/|(b, z)|, of rows z that
// would be a round Gaussian's, differs from one of theirs by more than least of its trace.
func unlikeGaussian(gram *mat.SymDense, least float64) (out [][]float64) {
	d := gram.SymmetricDim() - 1
	rows, inside := mat.Trace(gram), 0.0
	for i := range d {
		inside += gram.At(i+1, i+1) / float64(d)
	}
	off := symmetric.Of(d, func(i, j int) float64 {
		v := gram.At(i+1, j+1)
		if i == j {
			v -= inside
		}
		return v / rows
	})
	mean := mat.NewVecDense(d, nil)
	for i := range d {
		mean.SetVec(i, gram.At(0, i+1)/rows)
	}
	var square mat.SymDense
	square.SymOuterK(1, off)
	square.SymRankOne(&square, 1, mean)
	vec, values := symmetric.Principal(&square, min(d, mostDirected))
	for i := range min(d, mostDirected) {
		if values[i] > least*least {
			out = append(out, mat.Col(nil, i, vec))
		}
	}
	return out
}

// first returns axes that begin with directions, in coordinates in which a's variances are one, and
// go on with what is orthogonal to these of a's axes, all with variance one; a, if there are none.
func (a *axes) first(directions [][]float64) *axes {
	if len(directions) == 0 {
		return a
	}
	d := len(a.lambda)
	start := mat.DenseCopyOf(symmetric.Identity(d))
	for i := range d { // what is not a direction goes on with a's axes
		if i < len(directions) {
			start.SetCol(i, directions[i])
		} else {
			start.SetCol(i, mat.Row(nil, i-len(directions), symmetric.Identity(d)))
		}
	}
	var qr mat.QR
	var basis mat.Dense
	qr.Factorize(start)
	qr.QTo(&basis)
	out := &axes{vec: mat.NewDense(d, d, nil), to: mat.NewDense(d, d, nil), lambda: make([]float64, d), directed: len(directions)}
	wide, narrow := mat.DenseCopyOf(a.vec), mat.DenseCopyOf(a.to)
	wide.Apply(func(_, j int, v float64) float64 { return v * math.Sqrt(a.lambda[j]) }, wide)
	narrow.Apply(func(i, _ int, v float64) float64 { return v / math.Sqrt(a.lambda[i]) }, narrow)
	out.vec.Mul(wide, &basis)
	out.to.Mul(basis.T(), narrow)
	for i := range out.lambda {
		out.lambda[i] = 1
	}
	return out
}
