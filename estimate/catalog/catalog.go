// Package catalog lists the methods of `gauze fit`: an explicit list, in the order in which help
// shows them.
package catalog

import (
	"fmt"
	"strings"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/axisaligned"
	"github.com/gauze-dp/gauze/estimate/blackbox"
	"github.com/gauze-dp/gauze/estimate/gaussian"
	"github.com/gauze-dp/gauze/estimate/general"
	"github.com/gauze-dp/gauze/estimate/separated"
	"github.com/gauze-dp/gauze/estimate/univariate"
	"github.com/gauze-dp/gauze/literal/aal21"
	"github.com/gauze-dp/gauze/literal/amn24"
	"github.com/gauze-dp/gauze/literal/bdku20"
	"github.com/gauze-dp/gauze/literal/km21"
	"github.com/gauze-dp/gauze/literal/kmssu22"
	"github.com/gauze-dp/gauze/literal/kssu19"
	"github.com/gauze-dp/gauze/literal/kv18"
	published "github.com/gauze-dp/gauze/literal/ppe"
)

// Auto is the name that leaves the choice of the method to [Choose].
const Auto = "auto"

// Methods returns every estimator. Names are distinct.
func Methods() []estimate.Estimator { return append(forOneDistribution(), forMixtures()...) }

// forOneDistribution are the methods that fit one component: the candidates where one is asked for.
func forOneDistribution() []estimate.Estimator {
	return []estimate.Estimator{
		gaussian.New(),
		gaussian.NewHeavyTailed(),
		gaussian.NewElliptical(),
		bdku20.New(),
		kv18.New(),
		km21.New(km21.Practical()),
		kmssu22.New(kmssu22.Practical()),
	}
}

func forMixtures() []estimate.Estimator {
	return []estimate.Estimator{
		general.New(),
		separated.New(),
		univariate.New(),
		axisaligned.New(),
		blackbox.New(),
		kssu19.NewPaper(kssu19.Practical()),
		kssu19.NewWarmUp(kssu19.Practical()),
		kssu19.NewSampleAggregate(),
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
