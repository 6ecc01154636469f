// Package catalog lists the methods of `gauze fit`: an explicit list, in the order in which help shows them.
package catalog

import (
	"fmt"
	"strings"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/mixture"
	"github.com/gauze-dp/gauze/estimate/separated"
	"github.com/gauze-dp/gauze/estimate/separated/paper"
	"github.com/gauze-dp/gauze/estimate/single"
)

// Auto is the name that leaves the choice of the method to [Choose].
const Auto = "auto"

// What auto chooses from.
const (
	forOne  = "gaussian"
	forMany = "general"
)

// Methods returns every estimator. Names are distinct.
func Methods() []estimate.Estimator {
	return []estimate.Estimator{
		single.New(),
		mixture.New(),
		separated.New(),
		paper.NewPaper(paper.Practical()),
		paper.NewWarmUp(paper.Practical()),
		paper.NewSampleAggregate(),
	}
}

// Names returns "auto" and the name of every method.
func Names() []string {
	names := []string{Auto}
	for _, m := range Methods() {
		names = append(names, m.Name())
	}
	return names
}

// An UnknownError is a name that no method has.
type UnknownError struct{ Name string }

// Error says which names there are.
func (e *UnknownError) Error() string {
	return fmt.Sprintf("method: wanted one of %s, got %q", strings.Join(Names(), ", "), e.Name)
}

// Choose returns the method of that name and, for "auto" (or an empty name), why it was chosen: one component gets the Gaussian,
// anything else the general mixture. It looks at public facts only, and fails with an *[UnknownError].
func Choose(name string, p estimate.Problem) (e estimate.Estimator, why string, err error) {
	if name != Auto && name != "" {
		e, err = byName(name)
		return e, "as asked", err
	}
	if one(p) {
		e, err = byName(forOne)
		return e, "auto: one component is asked for", err
	}
	e, err = byName(forMany)
	return e, "auto: more than one component is allowed", err
}

// one reports a problem in which a model of more than one component is not allowed.
func one(p estimate.Problem) bool {
	return p.Components == 1 || p.Components == 0 && p.MaxComponents == 1
}

func byName(name string) (estimate.Estimator, error) {
	for _, m := range Methods() {
		if m.Name() == name {
			return m, nil
		}
	}
	return nil, &UnknownError{Name: name}
}
