// Package madeup draws made-up data whose truth is known, and measures a fitted model against it.
// It is for tests and experiments: no other code may import it.
//
//   - [Spec]: separated components, with outliers, tails and groups of scales.
//   - [Unbounded]: components of any places and scales, so that no bound is known beforehand.
//   - [BlackBox]: what a reduction to a learner is tried on, in any units and axes.
//   - [Plain]: clusters that a glance at the right picture shows.
//   - [Population]: one distribution, Gaussian or not.
//   - [Families]: tables as people bring them. Every sort is there twice, as twins of other numbers
//     or of another law; one of the two is for choosing constants on, and one is held out, by the
//     parity of a hash of the sort's name, so that nobody chose by results.
//   - [Moderate], [Anywhere] and [Small]: mixtures drawn from a test's own generator.
//
// All but the last are functions of a seed, and the mixture of a seed is the same for every number
// of rows. Nothing is centred and no column has unit spread.
package madeup

import (
	"fmt"
	"math"
)

// A Shape says how the covariances of a mixture are drawn. In units of a component's scale, which
// is 1 but for Spec.ScaleRatio:
type Shape int

const (
	// Sphere is the identity.
	Sphere Shape = iota
	// Ellipsoid has eigenvalues log-uniform in [leastEigenvalue, 1] and uniformly random axes,
	// drawn anew for each component.
	Ellipsoid
	// Conditioned has eigenvalues geometric from 1/Spec.Kappa to 1 and uniformly random axes, drawn
	// anew for each component.
	Conditioned
)

// leastEigenvalue is the lower end of the eigenvalues of Ellipsoid.
const leastEigenvalue = .05

const (
	// unit and offset are the standard deviation of a sphere and the place of the origin in
	// standard deviations.
	unit, offset = 37, 300
	// leastUneven is the smallest weight where weights are uneven.
	leastUneven = .1
	// groupDistance is the distance of the closest two components of different groups, in standard
	// deviations of the wider group.
	groupDistance = 100
)

// A Spec says which mixtures and tables are drawn. The means are drawn at random and then scaled so
// that the closest pair lies exactly at the separation asked for; all other pairs are farther
// apart, in a bad draw much farther. One standard deviation is 37, and the origin lies 300 of them
// away in every column. Lengths are in standard deviations: one is the
// root of the largest eigenvalue of any covariance of the mixture (of the group, where there are
// two).
type Spec struct {
	Columns    int `json:"d"` // Required.
	Components int `json:"k"` // Required.
	// Separation is C: the closest two means are C sqrt k standard deviations apart. Required,
	// unless Gap or Components = 1.
	Separation float64 `json:"C,omitempty"`
	// Distance, if not 0, is their distance itself.
	Distance   float64 `json:"gap,omitempty"`
	Covariance Shape   `json:"shape,omitempty"`
	Kappa      float64 `json:"kappa,omitempty"` // Of Conditioned, at least 1.
	// Uneven weights: the smallest is .1 and the others are .1 and a random share of the rest; .1
	// and .9 for two. Ten components leave nothing to share.
	Uneven bool `json:"uneven,omitempty"`
	// Weights, if not nil, are the weights.
	Weights []float64 `json:"weights,omitempty"`
	// TailDegrees, if not 0, makes the components multivariate t of so many degrees of freedom,
	// with the mixture's means and with its covariances as scale matrices.
	TailDegrees float64 `json:"tails,omitempty"`
	// ScaleRatio, if not 0, makes two groups of components, half of them each; the standard
	// deviations of the second group are smaller by this ratio. The separation holds within each
	// group, and groups are 100 standard deviations of the first apart.
	ScaleRatio float64 `json:"scale_ratio,omitempty"`
	// OutlierShare is the part of the rows that lie anywhere: in a uniformly random direction from
	// the centre of the mixture, at a distance log-uniform between OutlierFrom and OutlierTo.
	OutlierShare float64 `json:"outliers,omitempty"`
	OutlierFrom  float64 `json:"outliers_from,omitempty"`
	OutlierTo    float64 `json:"outliers_to,omitempty"`
}

// Validate returns nil or the first fault.
func (s Spec) Validate() error {
	for _, f := range []struct {
		bad           bool
		field, wanted string
		got           any
	}{
		{s.Columns < 1, "columns", "at least 1", s.Columns},
		{s.Components < 1, "components", "at least 1", s.Components},
		{s.Components > 1 && !(s.gap() > 0), "separation", "a positive number, or a gap", s.Separation},
		{s.Covariance == Conditioned && !(s.Kappa >= 1), "kappa", "a condition number of at least 1", s.Kappa},
		{s.Uneven && s.Components > int(math.Round(1/leastUneven)), "components", "at most 10 of uneven weights", s.Components},
		{s.Weights != nil && len(s.Weights) != s.Components, "weights", "one for each component", len(s.Weights)},
		{s.TailDegrees < 0, "tails", "a positive number of degrees of freedom, or 0", s.TailDegrees},
		{s.ScaleRatio < 0 || s.ScaleRatio > 0 && s.Components < 2, "scale ratio", "a positive number and at least 2 components", s.ScaleRatio},
		{s.OutlierShare < 0 || s.OutlierShare >= 1, "outliers", "a share below 1", s.OutlierShare},
		{s.OutlierShare > 0 && !(0 < s.OutlierFrom && s.OutlierFrom <= s.OutlierTo), "outliers", "distances from > 0 to at least that", s.OutlierFrom},
	} {
		if f.bad {
			return fmt.Errorf("problem: %s: wanted %s, got %v", f.field, f.wanted, f.got)
		}
	}
	return nil
}

// gap returns the distance of the closest pair in standard deviations.
func (s Spec) gap() float64 {
	if s.Distance != 0 {
		return s.Distance
	}
	return s.Separation * math.Sqrt(float64(s.Components))
}
