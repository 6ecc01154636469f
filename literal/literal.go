// Package literal lists the methods that run what a paper prints, to compare with and to read
// beside it: one package per source below this one, with files named after its algorithms. What
// people use is in estimate, which knows nothing of this list; the front door joins the two.
package literal

import (
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/learners"
	"github.com/gauze-dp/gauze/literal/aal21"
	"github.com/gauze-dp/gauze/literal/amn24"
	"github.com/gauze-dp/gauze/literal/bdku20"
	"github.com/gauze-dp/gauze/literal/km21"
	"github.com/gauze-dp/gauze/literal/kmssu22"
	"github.com/gauze-dp/gauze/literal/kssu19"
	"github.com/gauze-dp/gauze/literal/kv18"
	"github.com/gauze-dp/gauze/literal/ppe"
	"github.com/gauze-dp/gauze/literal/tylerpress"
)

// Learners are the learners of mixtures that are a paper's, for black boxes to run.
func Learners() []learners.Learner { return ppe.Learners() }

// One are the methods that fit one component, in the order in which help shows them.
func One() []estimate.Estimator {
	return []estimate.Estimator{
		tylerpress.NewElliptical(),
		bdku20.New(bdku20.Practical()),
		kv18.New(kv18.Practical()),
		km21.New(km21.Practical()),
		kmssu22.New(kmssu22.Practical()),
	}
}

// Mixtures are the methods for more components, in that order.
func Mixtures() []estimate.Estimator {
	return []estimate.Estimator{
		kssu19.NewPaper(kssu19.Practical()),
		kssu19.NewWarmUp(kssu19.Practical()),
		kssu19.NewSampleAggregate(kssu19.Practical()),
		kssu19.NewAggregateTree(),
		aal21.NewUnivariate(aal21.Practical()),
		aal21.New(aal21.Practical()),
		aal21.NewGeneral(aal21.Practical()),
		amn24.NewUnivariate(amn24.Practical()),
		amn24.NewGeneral(amn24.Practical()),
		ppe.New(ppe.Practical()),
		ppe.NewLine(ppe.Practical()), // of one component, beside the reduction that it shows
	}
}
