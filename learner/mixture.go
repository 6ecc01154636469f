package learner

// A Component is one Gaussian of a mixture, as a learner without privacy returns it.
type Component struct {
	Weight float64   // in (0, 1]; the weights of a mixture sum to 1
	Mean   []float64 // d
	// Root is d x d and invertible: the covariance is Root times its transpose. Any root will do; a
	// factor, unlike the product, keeps the digits of a component that is long in one direction and
	// thin in another.
	Root [][]float64
}

// A Mixture learns mixtures of k Gaussians: what a black box has to be able to do. It may be
// anybody's.
//
// It must be a function of its arguments: the rows, all finite and d long, which are the callee's
// own to change; k; and a public seed for what it chooses at random. It returns k components or an
// error, after which the rows count as having taught nothing.
type Mixture interface {
	LearnMixture(rows [][]float64, k int, seed uint64) ([]Component, error)
}

// MixtureCoordinates returns the length of a component of d columns as an estimate of a Learner:
// weight, mean, and the rows of the root.
func MixtureCoordinates(d int) int { return 1 + d + d*d }

// Estimates writes components as a Learner returns them, each MixtureCoordinates long.
func Estimates(components []Component) [][]float64 {
	var out [][]float64
	for _, c := range components {
		e := append([]float64{c.Weight}, c.Mean...)
		for _, row := range c.Root {
			e = append(e, row...)
		}
		out = append(out, e)
	}
	return out
}
