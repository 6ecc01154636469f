package kernel

import (
	"fmt"
	"math"
	"strings"
)

// A Plan is the worst-case list of measurements that an estimator may make. It is stated before the first row is read; a
// session refuses any measurement outside it.
type Plan struct {
	Method string
	Steps  []Step
}

// A Step is one line of a plan.
type Step struct {
	Name  string // what the estimator calls it
	Query string // the Kind of the query it may ask
	// Share is the largest part of the total mu^2 that all measurements of the step together may cost, in (0, 1]. Shares of
	// steps that are alternatives may sum to more than 1: the session's filter caps the total all the same.
	Share float64
	// Most is the largest number of measurements of the step.
	Most int
	// Slack is the part of the stability delta that the step's thresholds may cost, in [0, 1]; 0 for steps without thresholds.
	Slack float64
	// Source is the algorithm the step belongs to, "KEY Section".
	Source string
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

// Thresholds reports whether any step spends stability delta.
func (p Plan) Thresholds() bool {
	for _, s := range p.Steps {
		if s.Slack > 0 {
			return true
		}
	}
	return false
}

// Scaled returns the plan's steps with every share multiplied by share: a plan inside a plan.
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
