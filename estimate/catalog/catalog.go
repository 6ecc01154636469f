// Package catalog lists the methods of `gauze fit`: an explicit list, in the order in which help shows them.
package catalog

import (
	"fmt"
	"strings"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/axisaligned"
	"github.com/gauze-dp/gauze/estimate/axisaligned/aal21"
	"github.com/gauze-dp/gauze/estimate/mixture"
	"github.com/gauze-dp/gauze/estimate/mixture/amn24"
	"github.com/gauze-dp/gauze/estimate/reduction"
	published "github.com/gauze-dp/gauze/estimate/reduction/paper"
	"github.com/gauze-dp/gauze/estimate/separated"
	"github.com/gauze-dp/gauze/estimate/separated/paper"
	"github.com/gauze-dp/gauze/estimate/single"
	"github.com/gauze-dp/gauze/estimate/single/coinpress"
	"github.com/gauze-dp/gauze/estimate/single/htpce"
	"github.com/gauze-dp/gauze/estimate/single/kmssu22"
	"github.com/gauze-dp/gauze/estimate/univariate"
	"github.com/gauze-dp/gauze/estimate/univariate/kv18"
)

// Auto is the name that leaves the choice of the method to [Choose].
const Auto = "auto"

// Methods returns every estimator. Names are distinct.
func Methods() []estimate.Estimator { return append(forOneDistribution(), forMixtures()...) }

// forOneDistribution are the methods that fit one component: the candidates where one is asked for.
func forOneDistribution() []estimate.Estimator {
	return []estimate.Estimator{
		single.New(),
		single.NewHeavyTailed(),
		single.NewElliptical(),
		coinpress.New(),
		kv18.New(),
		htpce.New(htpce.Practical()),
		kmssu22.New(kmssu22.Practical()),
	}
}

func forMixtures() []estimate.Estimator {
	return []estimate.Estimator{
		mixture.New(),
		separated.New(),
		univariate.New(),
		axisaligned.New(),
		reduction.New(),
		paper.NewPaper(paper.Practical()),
		paper.NewWarmUp(paper.Practical()),
		paper.NewSampleAggregate(),
		aal21.NewUnivariate(aal21.Practical()),
		aal21.New(aal21.Practical()),
		amn24.NewUnivariate(amn24.Practical()),
		amn24.NewGeneral(amn24.Practical()),
		published.New(published.Practical()),
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

func byName(name string) (estimate.Estimator, error) {
	for _, m := range Methods() {
		if m.Name() == name {
			return m, nil
		}
	}
	return nil, &UnknownError{Name: name}
}
