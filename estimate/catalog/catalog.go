// Package catalog lists the methods that people use, chooses among methods, and has the table of
// their measured errors (MeasuredErrors), which plans show.
package catalog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/axisaligned"
	"github.com/gauze-dp/gauze/estimate/blackbox"
	"github.com/gauze-dp/gauze/estimate/gaussian"
	"github.com/gauze-dp/gauze/estimate/general"
	"github.com/gauze-dp/gauze/estimate/knowncov"
	"github.com/gauze-dp/gauze/estimate/learners"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/estimate/univariate"
)

// Auto is the name that leaves the choice of the method to [List.Choose].
const Auto = "auto"

// A List is methods of `gauze fit`, in the order in which help shows them. Names are distinct.
type List struct {
	One      []estimate.Estimator // fit one component: the candidates where one is asked for
	Mixtures []estimate.Estimator
}

// Methods returns the methods for practical use. Those that papers print are listed apart, in
// package literal, and its learners, others, are further ones that a black box may be asked for.
func Methods(others ...learners.Learner) List {
	one := program.OneGaussian{Estimator: gaussian.New(), Steps: gaussian.Steps, FitSubBudget: gaussian.FitSubBudget}
	return List{
		One: []estimate.Estimator{
			gaussian.New(),
			gaussian.NewHeavyTailed(),
		},
		Mixtures: []estimate.Estimator{
			general.New(one),
			general.NewSeparated(one),
			univariate.New(),
			axisaligned.New(knowncov.New(), one),
			blackbox.New(others...),
		},
	}
}

// With returns l and after its methods those of another list.
func (l List) With(one, mixtures []estimate.Estimator) List {
	return List{One: slices.Concat(l.One, one), Mixtures: slices.Concat(l.Mixtures, mixtures)}
}

// All returns the methods for one component, then the others.
func (l List) All() []estimate.Estimator { return slices.Concat(l.One, l.Mixtures) }

// Names returns "auto" and the name of every method.
func (l List) Names() []string {
	names := []string{Auto}
	for _, m := range l.All() {
		names = append(names, m.Name())
	}
	return names
}

// An UnknownError is a name that no method has.
type UnknownError struct {
	Name  string
	Names []string // those that there are
}

// Error says which names there are.
func (e *UnknownError) Error() string {
	return fmt.Sprintf("method: wanted one of %s, got %q", strings.Join(e.Names, ", "), e.Name)
}

func (l List) byName(name string) (estimate.Estimator, error) {
	for _, m := range l.All() {
		if m.Name() == name {
			return m, nil
		}
	}
	return nil, &UnknownError{Name: name, Names: l.Names()}
}
