package columns

import (
	"math"
	"slices"

	"github.com/gauze-dp/gauze/kernel"
)

// Utility constants of the second count, guesses: columns are counted again where fewer rows than
// unclearSDs noise sds differ, so that wanted parts of the rows do not stay unseen.
const unclearSDs, againUnseen = 8.0, .003

// NoiseOf returns the noise sd of Varied in column j.
func (u *Units) NoiseOf(j int) float64 {
	if u.again != nil && u.again[j] > 0 {
		return u.again[j]
	}
	return u.VariedSD
}

// countAgain counts the rows that differ from the centre again, in the columns of which the first
// count does not clearly say that they vary. As these are few, the noise is that of few columns; a
// table without such a column pays nothing.
func (u *Units) countAgain(a *kernel.SubBudget, cfg UnitsConfig) error {
	few := make([]bool, len(u.Varied))
	for j, count := range u.Varied {
		few[j] = count < unclearSDs*u.VariedSD
	}
	mu2 := math.Min(cfg.VariedMu2, cfg.ScaleMu2-cfg.VariedMu2)
	q := u.others(few)
	if !slices.Contains(few, true) || !(mu2 > 0) || !(cfg.Rows > 0) {
		return nil
	}
	enough := ConstantSDs * q.Sensitivity(a.Session().Relation()) / (againUnseen * cfg.Rows)
	answer, err := a.Sum(stepVaried.Of(cfg.Prefix), q, math.Sqrt(math.Min(mu2*(1-1e-9), enough*enough)))
	if err != nil {
		return err
	}
	u.again = make([]float64, len(u.Varied))
	v, w := u.VariedSD*u.VariedSD, answer.Sigma*answer.Sigma
	for j, is := range few {
		if !is {
			continue
		}
		u.Varied[j] = (u.Varied[j]*w + answer.Values[j]*v) / (v + w)
		u.again[j] = math.Sqrt(v * w / (v + w))
	}
	return nil
}
