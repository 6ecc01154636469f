package kernel

import (
	"fmt"
	"math"
	"strings"

	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/stable"
)

// A Plan is the worst-case list of measurements that an estimator may make. It is stated before the
// first row is read; a session refuses any measurement outside it.
type Plan struct {
	Method string
	Steps  []Step
}

// A Step is one line of a plan.
type Step struct {
	Name  string // what the estimator calls it
	Query string // the Kind of the query it may ask
	// Share is the largest part of the total mu^2 that all measurements of the step together may
	// cost, in (0, 1]. Shares of steps that are alternatives may sum to more than 1: the session's
	// filter caps the total all the same.
	Share float64
	// Most is the largest number of measurements of the step.
	Most int
	// Slack is the part of the stability delta that the step's thresholds may cost, in [0, 1]; 0
	// for steps without thresholds.
	Slack float64

	// The rest is for steps that release the masked estimate of a test of blocks (Stable, Popular);
	// such a step may be measured once only.

	// Mask is a privacy.Mask or a privacy.ParameterMask, whose Rényi curve the plan brings; nil for
	// all other steps.
	Mask Mask
	// Delta is what the step's test adds to delta, as it stands, without the factor 1+e^epsilon of
	// a threshold; in [0, 1).
	Delta float64
	// Pure is the epsilon of the step's test if its loss is counted in the plan's Rényi curve and
	// not in mu^2; 0 if not.
	Pure float64
	// Source is the algorithm the step belongs to, "KEY Section".
	Source string
}

// A Mask is the noise of what blocks agree on: privacy.Mask or privacy.ParameterMask. The kernel
// computes its Rényi curve from these public numbers, and a plan with any other is refused.
type Mask interface {
	Validate() error
	Curve() privacy.Curve
}

// Validate reports everything that is wrong with the plan.
func (p Plan) Validate() error {
	var faults []string
	slack := 0.0
	seen := map[string]bool{}
	for _, s := range p.Steps {
		if s.Name == "" || seen[s.Name] {
			faults = append(faults, fmt.Sprintf("step names must be distinct and not empty, got %q", s.Name))
		}
		seen[s.Name] = true
		if !(s.Share > 0 && s.Share <= 1) {
			faults = append(faults, fmt.Sprintf("step %q: want a share in (0, 1], got %v", s.Name, s.Share))
		}
		if s.Most < 1 {
			faults = append(faults, fmt.Sprintf("step %q: want a positive number of measurements, got %d", s.Name, s.Most))
		}
		if !(s.Slack >= 0) {
			faults = append(faults, fmt.Sprintf("step %q: want a slack in [0, 1], got %v", s.Name, s.Slack))
		}
		slack += s.Slack
		faults = append(faults, s.reserved()...)
	}
	if len(p.Steps) == 0 {
		faults = append(faults, "a plan needs at least one step")
	}
	if slack > 1+1e-12 {
		faults = append(faults, fmt.Sprintf("the slacks of all steps must sum to at most 1, got %v", slack))
	}
	if faults != nil {
		return fmt.Errorf("kernel: plan %q: %s", p.Method, strings.Join(faults, "; "))
	}
	return nil
}

// reserved reports what is wrong with the losses that are reserved beside mu^2.
func (s Step) reserved() (faults []string) {
	switch s.Mask.(type) {
	case nil:
	case privacy.Mask, privacy.ParameterMask:
		if err := s.Mask.Validate(); err != nil {
			faults = append(faults, fmt.Sprintf("step %q: %v", s.Name, err))
		}
	default:
		faults = append(faults, fmt.Sprintf("step %q: want a privacy.Mask or a privacy.ParameterMask, got a %T", s.Name, s.Mask))
	}
	if !(s.Delta >= 0 && s.Delta < 1) {
		faults = append(faults, fmt.Sprintf("step %q: want a delta in [0, 1), got %v", s.Name, s.Delta))
	}
	if !(s.Pure >= 0 && s.Pure <= maxEpsilon) {
		faults = append(faults, fmt.Sprintf("step %q: want a pure loss in [0, %g], got %v", s.Name, maxEpsilon, s.Pure))
	}
	if (s.Mask != nil || s.Delta != 0 || s.Pure != 0) && s.Most != 1 {
		faults = append(faults, fmt.Sprintf("step %q: want one measurement of a step with a mask, a delta or a pure loss, got %d", s.Name, s.Most))
	}
	return faults
}

// added is what the step adds to delta as it stands, at the budget's epsilon: its test's delta and
// the precision of its mask, see Stable.
func (s Step) added(epsilon float64) float64 {
	if s.Mask == nil {
		return s.Delta
	}
	return privacy.AddUp(s.Delta, privacy.MulUp(stable.MaskSlack*(1+1e-12), privacy.AddUp(1, math.Exp(epsilon))))
}

// needs is what the plan holds beside mu^2, at the budget's epsilon. The plan must be valid.
func (p Plan) needs(epsilon float64) privacy.Needs {
	n := privacy.Needs{Thresholds: p.Thresholds()}
	var curves []privacy.Curve
	for _, s := range p.Steps {
		n.AddedDelta = privacy.AddUp(n.AddedDelta, s.added(epsilon))
		if s.Mask != nil {
			curves = append(curves, s.Mask.Curve())
		}
		if s.Pure > 0 {
			curves = append(curves, privacy.PureCurve(s.Pure))
		}
	}
	if curves != nil {
		n.Extra = curves[0].Compose(curves[1:]...)
	}
	return n
}

// Thresholds reports whether any step spends stability delta.
func (p Plan) Thresholds() bool {
	for _, s := range p.Steps {
		if s.Slack > 0 {
			return true
		}
	}
	return false
}

// Scaled returns the plan's steps with every share multiplied by share: a plan inside a plan. What
// is reserved beside mu^2 stays: a mask and a test's delta cost what they cost, however much of
// mu^2 the others get.
func (p Plan) Scaled(share float64) []Step {
	steps := make([]Step, len(p.Steps))
	for i, s := range p.Steps {
		s.Share = math.Min(1, s.Share*share)
		steps[i] = s
	}
	return steps
}

// String prints the plan as a table: name, query, most, share, source.
func (p Plan) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-22s %-20s %5s  %-9s  %s\n", "step", "query", "most", "share", "source")
	for _, s := range p.Steps {
		fmt.Fprintf(&b, "%-22s %-20s %5d  <= %5.1f%%  %s\n", s.Name, s.Query, s.Most, 100*s.Share, s.Source)
	}
	return b.String()
}
