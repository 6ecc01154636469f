package release

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/gauze-dp/gauze/internal/words"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// A Mask holds the public numbers of noise that multiplies the estimate on which blocks of rows
// agree. Its Rényi curve follows from them.
type Mask struct {
	// Kind is MaskLifted: for all components together, each written as one matrix, moved by Gamma
	// at most and with noise Eta. Or it is MaskParameters: for every component's weight, mean and
	// covariance, each moved by Gamma at most, with noise of its own. Required.
	Kind       string `json:"kind"`
	Components int    `json:"components,omitempty"` // k; of MaskParameters alone.
	// Of the matrices: d+1 for MaskLifted, d for MaskParameters.
	Dimension int     `json:"dimension"`
	Gamma     float64 `json:"gamma"` // How far one row can move the masked estimate.
	Eta       float64 `json:"eta,omitempty"`
	EtaWeight float64 `json:"eta_weight,omitempty"`
	EtaMean   float64 `json:"eta_mean,omitempty"`
	EtaCov    float64 `json:"eta_cov,omitempty"`
}

// The values of Mask.Kind.
const (
	MaskLifted     = "lifted"
	MaskParameters = "parameters"
)

// String returns the mask's numbers in words.
func (m *Mask) String() string {
	if m.Kind == MaskParameters {
		return fmt.Sprintf("gamma = %s, eta = %s for weights, %s for means, %s for covariances, %s in dimension %d",
			figure(m.Gamma), figure(m.EtaWeight), figure(m.EtaMean), figure(m.EtaCov), words.Plural(m.Components, "component"), m.Dimension)
	}
	return fmt.Sprintf("gamma = %s, eta = %s, dimension %d", figure(m.Gamma), figure(m.Eta), m.Dimension)
}

// curve returns the mask's loss.
func (m *Mask) curve() (privacy.Curve, error) {
	var of interface {
		Validate() error
		Curve() privacy.Curve
	}
	switch {
	case m.Kind == MaskLifted && m.Components == 0 && m.EtaWeight == 0 && m.EtaMean == 0 && m.EtaCov == 0:
		of = privacy.CovarianceMask{Dimension: m.Dimension, Gamma: m.Gamma, Eta: m.Eta}
	case m.Kind == MaskParameters && m.Eta == 0:
		of = privacy.ParameterMask{Components: m.Components, Dimension: m.Dimension, Gamma: m.Gamma,
			EtaWeight: m.EtaWeight, EtaMean: m.EtaMean, EtaCov: m.EtaCov}
	default:
		return privacy.Curve{}, fmt.Errorf("kind %q with eta alone, or %q with eta_weight, eta_mean and eta_cov", MaskLifted, MaskParameters)
	}
	if err := of.Validate(); err != nil {
		return privacy.Curve{}, fmt.Errorf("a mask of finite loss (%w)", err)
	}
	return of.Curve(), nil
}

// implied returns the Rényi divergences that follow from a step's Mask or from Pure, by their
// orders; infinite ones are left out. Nil for a step that has neither. The error says what was
// wanted.
func (s *PlanStep) implied() (map[float64]float64, error) {
	var curve privacy.Curve
	var err error
	switch {
	case s.Mask != nil && s.Pure != 0:
		return nil, errors.New("either mask or pure")
	case s.Mask != nil:
		if curve, err = s.Mask.curve(); err != nil {
			return nil, err
		}
	case s.Pure > 0 && s.Pure <= privacy.MaxEpsilon:
		curve = privacy.PureCurve(s.Pure)
	case s.Pure != 0:
		return nil, fmt.Errorf("pure in (0, %g]", privacy.MaxEpsilon)
	default:
		return nil, nil
	}
	orders, out := privacy.Orders(), map[float64]float64{}
	for i, divergence := range curve.Values() {
		if !math.IsInf(divergence, 1) {
			out[orders[i]] = divergence
		}
	}
	return out, nil
}

// Complete fills in the Rényi divergences of steps that state a mask or a pure loss: at the orders
// 1 + 2^j for whole j, and at the deciding order, where the total spent implies the least epsilon.
// The others follow. It fails for a mask or a pure loss that is not valid.
func (c *Certificate) Complete() error {
	curves := make([]map[float64]float64, len(c.Plan))
	for i := range c.Plan {
		curve, err := c.Plan[i].implied()
		if err != nil {
			return fmt.Errorf("release: step %q: want %w", c.Plan[i].Step, err)
		}
		if curve != nil {
			curves[i], c.Plan[i].Renyi = curve, map[string]float64{}
		}
	}
	sum := c.planTotals()
	if c.pure() {
		c.Spent.Mu, c.Spent.Rho = math.Sqrt(sum.mu2), sum.mu2/2
	}
	decides, _ := sum.deciding(c.Spent.Delta - sum.delta)
	for i, curve := range curves {
		for order, divergence := range curve {
			if exponent := math.Log2(order - 1); order == decides || exponent == math.Trunc(exponent) {
				c.Plan[i].Renyi[strconv.FormatFloat(order, 'g', -1, 64)] = divergence
			}
		}
	}
	return nil
}
