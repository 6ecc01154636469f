package core

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// A Plan is the worst-case list of measurements that an estimator may make. It is fixed before the
// first row is read; a session refuses any measurement outside it.
type Plan struct {
	Method string
	Steps  []Step
}

// A Step is one line of a plan.
type Step struct {
	Name  string // the estimator's name for it
	Query string // the Kind of the query it may ask
	// Share is the largest part of the total mu^2 (of epsilon, if the budget is pure) that all
	// measurements of the step together may cost, in (0, 1]. Shares of steps that are alternatives
	// may sum to more than 1: the session's filter caps the total.
	Share float64
	// Most is the largest number of measurements of the step.
	Most int
	// Pure says that every measurement of the step has a pure loss, epsilon with delta = 0. A pure
	// budget pays for no other.
	Pure bool
	// Slack is the part of the stability delta that the step's thresholds may cost, in [0, 1]; 0
	// for steps without thresholds.
	Slack float64

	// Extra is the step's loss beside mu^2; nil for most. A step with one may be measured once
	// only.
	Extra Extra
	// Source is the algorithm the step belongs to, "KEY Section".
	Source string
}

// An Extra is a loss that mu^2 cannot count, reserved by the plan whether or not it is used: a
// Rényi curve, and a delta that is added as it stands (see privacy.Calibrate). The packages whose
// measurements need one define types of plain numbers for it; a plan with any other type is
// refused.
type Extra interface {
	// Validate returns an error if the numbers make no sense.
	Validate() error
	// Loss returns the curve, zero for none, and the delta, at the budget's epsilon.
	Loss(epsilon float64) (privacy.Curve, float64)
	// Stated returns what plans and certificates show of it: the numbers of its mask, the delta of
	// its test as it stands, and the test's own epsilon.
	Stated() (mask any, delta, pure float64)
}

// own returns a copy of the plan that no other code can change and whose extras are of the kernel's
// types.
func (p Plan) own() (own Plan, err error) {
	folder := strings.TrimSuffix(reflect.TypeFor[Plan]().PkgPath(), "/internal/core")
	p.Steps = slices.Clone(p.Steps)
	for i, s := range p.Steps {
		if s.Extra == nil {
			continue
		}
		p.Steps[i].Extra, err = query.CopyOf(s.Extra, folder, func(any, bool) error {
			return fmt.Errorf("kernel: plan %q: step %q: want an extra loss of a package below %s, by value, got a %T", p.Method, s.Name, folder, s.Extra)
		})
		if err != nil {
			return p, err
		}
	}
	return p, nil
}

// Validate returns an error that lists every fault of the plan.
func (p Plan) Validate() error {
	var faults []string
	fault := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Sprintf(format, args...))
		}
	}
	slack := 0.0
	seen := map[string]bool{}
	for _, s := range p.Steps {
		fault(s.Name == "" || seen[s.Name], "step names must be distinct and not empty, got %q", s.Name)
		seen[s.Name] = true
		fault(!(s.Share > 0 && s.Share <= 1), "step %q: want a share in (0, 1], got %v", s.Name, s.Share)
		fault(s.Most < 1, "step %q: want a positive number of measurements, got %d", s.Name, s.Most)
		fault(!(s.Slack >= 0), "step %q: want a slack in [0, 1], got %v", s.Name, s.Slack)
		slack += s.Slack
		if s.Extra != nil { // a loss that is reserved beside mu^2
			err := s.Extra.Validate()
			fault(err != nil, "step %q: %v", s.Name, err)
			fault(s.Most != 1, "step %q: want one measurement of a step with an extra loss, got %d", s.Name, s.Most)
		}
	}
	fault(len(p.Steps) == 0, "a plan needs at least one step")
	fault(slack > 1+1e-12, "the slacks of all steps must sum to at most 1, got %v", slack)
	if faults != nil {
		return fmt.Errorf("kernel: plan %q: %s", p.Method, strings.Join(faults, "; "))
	}
	return nil
}

// needs returns what the plan reserves beside mu^2, at the budget's epsilon. The plan must be
// valid.
func (p Plan) needs(epsilon float64) privacy.Needs {
	n := privacy.Needs{Thresholds: p.Thresholds(), Impure: slices.ContainsFunc(p.Steps, func(s Step) bool { return !s.Pure })}
	var curves []privacy.Curve
	for _, s := range p.Steps {
		if s.Extra == nil {
			continue
		}
		curve, delta := s.Extra.Loss(epsilon)
		n.AddedDelta = privacy.AddUp(n.AddedDelta, delta)
		if !curve.IsZero() {
			curves = append(curves, curve)
		}
	}
	if curves != nil {
		n.Extra = curves[0].Compose(curves[1:]...)
	}
	return n
}

// Thresholds reports whether any step spends stability delta.
func (p Plan) Thresholds() bool {
	return slices.ContainsFunc(p.Steps, func(s Step) bool { return s.Slack > 0 })
}
