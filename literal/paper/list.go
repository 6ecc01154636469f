package paper

import (
	"fmt"
	"math"

	"github.com/gauze-dp/gauze/model"
)

// A List holds mixtures of at most Parts of its Gaussians each.
type List struct {
	Gaussians []Gaussian
	Parts     int
	index     []int // Parts per mixture, padded with share 0
	share     []float64
}

// NewList returns an empty list of mixtures of at most parts of the Gaussians.
func NewList(gaussians []Gaussian, parts int) *List {
	return &List{Gaussians: gaussians, Parts: parts}
}

// Len returns the number of mixtures.
func (l *List) Len() int { return len(l.index) / max(1, l.Parts) }

// Add appends the mixture with the given shares, at least 0, of the Gaussians of the given numbers:
// at most Parts of them.
func (l *List) Add(index []int, share []float64) error {
	if len(index) == 0 || len(index) > l.Parts || len(share) != len(index) {
		return fmt.Errorf("hypotheses: want 1 to %d Gaussians with a share each, got %d and %d", l.Parts, len(index), len(share))
	}
	if l.Len() == MostListed {
		return tooMany("mixtures", MostListed+1)
	}
	for i, g := range index {
		if !(share[i] >= 0) || math.IsInf(share[i], 1) || g < 0 || g >= len(l.Gaussians) {
			return fmt.Errorf("hypotheses: want shares of at least 0 of Gaussians below %d, got %v of %d", len(l.Gaussians), share[i], g)
		}
	}
	l.index, l.share = append(l.index, index...), append(l.share, share...)
	for range l.Parts - len(index) {
		l.index, l.share = append(l.index, index[0]), append(l.share, 0)
	}
	return nil
}

// Terms returns the Gaussians of positive share in mixture i, by number, and their shares.
func (l *List) Terms(i int) (index []int, share []float64) {
	for t := i * l.Parts; t < (i+1)*l.Parts; t++ {
		if l.share[t] > 0 {
			index, share = append(index, l.index[t]), append(share, l.share[t])
		}
	}
	return index, share
}

// Mixture returns mixture i as a model; nil columns stand for x1, x2, ...
func (l *List) Mixture(i int, columns []string) (*model.Mixture, error) {
	index, share := l.Terms(i)
	var components []model.Gaussian
	for _, g := range index {
		cov, err := model.FullFromFactor(l.Gaussians[g].L)
		if err != nil {
			return nil, err
		}
		components = append(components, model.Gaussian{Mean: l.Gaussians[g].Mean, Cov: cov})
	}
	return model.New(columns, share, components)
}

// CountMixtures returns how many mixtures Mixtures lists for so many Gaussians: sum over s of
// C(gaussians, s) C(units-1, s-1).
func CountMixtures(gaussians, k, units int) float64 {
	return CountAcross([]int{gaussians}, k, units)
}

// binomial returns C(n, r).
func binomial(n, r int) float64 {
	c := 1.0
	for i := range r {
		c = c * float64(n-i) / float64(i+1)
	}
	return math.Round(c)
}

// Mixtures lists every mixture of at most k of the Gaussians whose weights are positive multiples
// of 1/units that sum to 1: each once, however many ways there are to write it. An error that wraps
// ErrTooMany says that there are more than MostListed.
func Mixtures(gaussians []Gaussian, k, units int) (*List, error) {
	return Across([][]Gaussian{gaussians}, k, units)
}
