package privateem

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/parts/component"
)

// Merge merges, greedily, pairs of components whose distinction gains less than it costs: the loss
// of log-likelihood by joining them, at most B = ((wi+wj) ln|S_ij| - wi ln|S_i| - wj ln|S_j|)/2 per
// row, against what a component costs in sampling error (a BIC term) and in noise. It is
// post-processing of released values. Its error is ctx's.
//
// Source: [RUNNALLS07] for the bound B.
func (r *Rounds) Merge(ctx context.Context, mu float64) error {
	if r.Without.Merge {
		return nil
	}
	known := bounds{}
	return r.joinDownTo(1, func() (bool, error) {
		apart := r.apartBySDs()
		return r.joinBest(ctx, 0, func(i, j int) float64 {
			a, b := r.Components[i], r.Components[j]
			if apart(a, b) {
				return math.Inf(-1)
			}
			loss := known.of(a, b)
			if loss > r.bic()+(a.Weight+b.Weight)*mostLost { // which is more than any cost
				return -loss
			}
			return r.cost(a, b, mu) - loss
		})
	})
}

// Two components are apart if their means are more than apartSDs of both sds together from each
// other, and both hold apartRows sds of the noise of a count. Utility constants, guesses.
const apartSDs, apartRows = 2.0, 6.0

// apartBySDs returns the test whether two components lie apart by the model's own account: their
// means are far from each other in their own sds, and both hold rows that noise cannot feign. Noise
// is no reason to join such components: whether they are two is asked of the rows.
func (r *Rounds) apartBySDs() func(a, b component.Gaussian) bool {
	distance := r.distance()
	return func(a, b component.Gaussian) bool {
		return !r.Without.Apart && math.Min(a.Weight, b.Weight)*r.Rows > apartRows*math.Max(a.CountSD, b.CountSD) && distance(a, b) > apartSDs
	}
}

// distance returns the distance of two components' means in both their sds together, along Fisher's
// direction between them for the mean covariance of all components.
func (r *Rounds) distance() func(a, b component.Gaussian) float64 {
	_, inverse, _ := symmetric.Factor(r.pooled())
	return func(a, b component.Gaussian) float64 {
		between, z := symmetric.Between(inverse, a.Mean, b.Mean)
		var u mat.VecDense
		u.MulVec(inverse.T(), z)
		return mat.Dot(&u, between) / (math.Sqrt(mat.Inner(&u, a.Cov, &u)) + math.Sqrt(mat.Inner(&u, b.Cov, &u)))
	}
}

// Closest returns the least distance of two components, in both their sds together; +Inf for one.
func (r *Rounds) Closest() float64 {
	least, distance := math.Inf(1), r.distance()
	for i, a := range r.Components {
		for _, b := range r.Components[:i] {
			least = math.Min(least, distance(a, b))
		}
	}
	return least
}

// Flat reports whether two components are as narrow as Floor lets them be in a direction in which
// they lie far apart: of clusters on such a scale nothing more is known.
func (r *Rounds) Flat() bool {
	for i, a := range r.Components {
		vec, values := symmetric.Principal(a.Cov, len(a.Mean))
		last := len(values) - 1
		if values[last] > nearFloor*r.Floor {
			continue
		}
		along := vec.ColView(last)
		for _, b := range r.Components[:i] {
			off := floats.SubTo(make([]float64, len(a.Mean)), a.Mean, b.Mean)
			least := mat.Inner(along, b.Cov, along)
			if least <= nearFloor*r.Floor && math.Abs(mat.Dot(along, mat.NewVecDense(len(off), off))) > flatSDs*math.Sqrt(r.Floor) {
				return true
			}
		}
	}
	return false
}

// A variance below nearFloor times Floor is at it, if noise moves it, and components lie far apart
// from flatSDs of Floor on. Guesses.
const nearFloor, flatSDs = 4.0, 100.0

// joinDownTo merges pairs until that many components are left, or join finds none.
func (r *Rounds) joinDownTo(least int, join func() (joined bool, err error)) error {
	for len(r.Components) > least {
		if joined, err := join(); err != nil || !joined {
			return err
		}
	}
	return nil
}

// joinBest joins the pair of components, i > j, that gains most and more than least; false if none
// does.
func (r *Rounds) joinBest(ctx context.Context, least float64, gain func(i, j int) float64) (bool, error) {
	bi, bj := -1, -1
	for i := range r.Components {
		for j := range i {
			if err := ctx.Err(); err != nil {
				return false, err
			}
			if g := gain(i, j); g > least {
				bi, bj, least = i, j, g
			}
		}
	}
	if bi < 0 {
		return false, nil
	}
	r.Components = component.Join(r.Components, bi, bj)
	return true, nil
}

// cost returns what keeping a and b apart, instead of joined, costs in nats per row: sampling error
// (a BIC term) and noise.
func (r *Rounds) cost(a, b component.Gaussian, mu float64) float64 {
	both := a.Weight + b.Weight
	noise := a.Weight*r.Price(a.Weight, mu) + b.Weight*r.Price(b.Weight, mu) - both*r.Price(both, mu)
	return r.bic() + noise
}

// bic returns the sampling part of cost.
func (r *Rounds) bic() float64 {
	d := r.Space.Dim()
	params := float64(d*(d+1))/2 + float64(d) + 1
	return mergeBIC * params * math.Log(math.Max(r.Rows, 3)) / r.Rows
}

// mergeBIC is the weight of the BIC term, in ln n per parameter and row. A guess.
const mergeBIC = .5

// bounds are what is known of pairs of components, each computed once while they are joined one
// after the other; and, with an empty second one, log determinants.
type bounds map[[2]same]float64

// same is alike for components that are the same.
type same struct {
	weight float64
	mean   *float64
	cov    *mat.SymDense
}

func sameAs(c component.Gaussian) same { return same{c.Weight, &c.Mean[0], c.Cov} }

// of returns the bound B on the log-likelihood per row that is lost by joining a and b.
func (known bounds) of(a, b component.Gaussian) float64 {
	pair := [2]same{sameAs(a), sameAs(b)}
	if _, is := known[pair]; !is {
		m := component.Joined(a, b)
		known[pair] = (m.Weight*symmetric.LogDet(m.Cov) - a.Weight*known.logDet(a.Cov) - b.Weight*known.logDet(b.Cov)) / 2
	}
	return known[pair]
}

func (known bounds) logDet(cov *mat.SymDense) float64 {
	alone := [2]same{{cov: cov}}
	if _, is := known[alone]; !is {
		known[alone] = symmetric.LogDet(cov)
	}
	return known[alone]
}
