package audit

import (
	"math"
	"slices"

	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/release"
)

// A reader's possible verdicts on a forged release.
const (
	refused = "refused"          // verify ends with exit code 2
	warned  = "warned of"        // .. with 0, and says what is odd
	unseen  = "only a signature" // nothing in the file says so
)

// A forgery is one change, by somebody who fixes what follows from it as well as they can.
type forgery struct {
	of   string // the genuine release: see genuine
	what string
	want string
	do   func(r *release.Release)
}

// forgeries are ours. Each line is one.
var forgeries = []forgery{
	{"one", "all steps but `count` deleted, sums fixed, ε claimed as what is left", refused, func(r *release.Release) { keep(r, "count"); mend(r); claim(r) }},
	{"one", "all steps but `count` deleted, sums fixed", refused, func(r *release.Release) { keep(r, "count"); mend(r) }},
	{"one", "every noise tenfold, sums fixed, ε claimed as what is left", refused, func(r *release.Release) { louder(r, 10); mend(r); claim(r) }},
	{"one", "every noise tenfold, sums fixed", refused, func(r *release.Release) { louder(r, 10); mend(r) }},
	{"one", "every noise 1 % more, sums fixed, ε claimed as what is left", unseen, func(r *release.Release) { louder(r, 1.01); mend(r); claim(r) }},
	{"one", "every noise tenfold, and nothing fixed", refused, func(r *release.Release) { louder(r, 10) }},
	{"one", "the last release deleted, sums fixed", refused, func(r *release.Release) { drop(r, "moments"); mend(r) }},
	{"one", "the noise of the last release tenfold, sums fixed", refused, func(r *release.Release) { quieter(r, "moments", 10); mend(r) }},
	{"one", "`count` deleted, its part given to the last release", refused, func(r *release.Release) { give(r, "count", "moments") }},
	{"one", "all that was measured said of one step, the last release", refused, func(r *release.Release) { only(r, "moments") }},
	{"one", "a step of a made-up name", refused, func(r *release.Release) { r.Certificate.Plan[1].Step = "look" }},
	{"one", "a step's source changed", refused, func(r *release.Release) { r.Certificate.Plan[1].Source = "KSSU19 Theorem 1.1" }},
	{"one", "`count` asked 50 times with as much noise more", refused, func(r *release.Release) { often(r, "count", 50) }},
	{"one", "method renamed: `heavy-tailed`", refused, func(r *release.Release) { r.Certificate.Method = "heavy-tailed" }},
	{"one", "method renamed: `general`", refused, func(r *release.Release) { r.Certificate.Method = "general" }},
	{"one", "method renamed: `gaussian:coinpress`", refused, func(r *release.Release) { r.Certificate.Method = "gaussian:coinpress" }},
	{"one", "method renamed: a made-up one", refused, func(r *release.Release) { r.Certificate.Method = "sorcery" }},
	{"one", "rows tenfold", refused, func(r *release.Release) { *r.Certificate.Rows *= 10 }},
	{"one", "rows tenfold, and the counts behind components too", refused, func(r *release.Release) { *r.Certificate.Rows *= 10; scaled(&r.Diagnostics, 10) }},
	{"one", "a hundredth of the rows more, the counts behind components and what the model leaves out with them", unseen, func(r *release.Release) {
		*r.Certificate.Rows += *r.Certificate.Rows / 100
		scaled(&r.Diagnostics, 1.01)
		r.Diagnostics.Undescribed.Noise /= 1.01
		r.Diagnostics.Undescribed.Share /= 1.01
	}},
	{"one", "rows cut to a tenth", refused, func(r *release.Release) { *r.Certificate.Rows /= 10 }},
	{"one", "ε claimed as half of what was asked", refused, func(r *release.Release) { r.Certificate.Epsilon /= 2 }},
	{"one", "ε claimed and spent as half", refused, func(r *release.Release) { r.Certificate.Epsilon /= 2; r.Certificate.Spent.Epsilon /= 2 }},
	{"one", "δ claimed as a tenth", refused, func(r *release.Release) { r.Certificate.Delta /= 10; r.Certificate.Spent.Delta /= 10 }},
	{"one", "ε claimed as twice what was asked", refused, func(r *release.Release) { r.Certificate.Epsilon *= 2 }},
	{"one", "replace-one said to be add-or-remove-one, rows null", refused, func(r *release.Release) { r.Certificate.Relation, r.Certificate.Rows = release.AddRemoveOne, nil }},
	{"one", "a unit added: persons are said to be protected", unseen, func(r *release.Release) { r.Certificate.Unit = "patient" }},
	{"one", "the schema said to be inferred", unseen, func(r *release.Release) { r.Certificate.Schema = release.SchemaInferred }},
	{"inferred", "an inferred schema said to be declared", unseen, func(r *release.Release) { r.Certificate.Schema = release.SchemaDeclared }},
	{"one", "a made-up word for the schema", refused, func(r *release.Release) { r.Certificate.Schema = "guessed" }},
	{"one", "two components said to have been asked for", refused, func(r *release.Release) { r.Certificate.Requested.Components = 2 }},
	{"one", "what was asked deleted, and all steps but `count`, sums fixed", warned, func(r *release.Release) { r.Certificate.Requested = nil; keep(r, "count"); mend(r); claim(r) }},
	{"one", "another edition of the plans, every noise tenfold, sums fixed", warned, func(r *release.Release) { r.Certificate.Requested.Plans++; louder(r, 10); mend(r); claim(r) }},
	{"one", "a diagonal covariance said to have been asked for", refused, func(r *release.Release) { r.Certificate.Requested.Covariance = "diagonal" }},
	{"one", "constants said to be the printed ones", refused, func(r *release.Release) { r.Certificate.Constants = release.ConstantsPrinted }},
	{"one", "a learner of Gauze named", refused, func(r *release.Release) { r.Certificate.Learner = &release.Learner{Name: "em"} }},
	{"one", "a sensitivity and its noise halved", refused, func(r *release.Release) { r.Certificate.Plan[0].Sensitivity /= 2; r.Certificate.Plan[0].Noise /= 2 }},
	{"one", "a mean beyond the stated limits", warned, func(r *release.Release) { r.Model.Components[0].Mean[0] = 1e300 }},
	{"mixture", "a mean of 1e300 where no limits are stated", unseen, func(r *release.Release) { r.Model.Components[0].Mean[0] = 1e300 }},
	{"one", "a mean moved by half a standard deviation", unseen, func(r *release.Release) { r.Model.Components[0].Mean[1] += .5 }},
	{"one", "limits deleted, and the mean moved beyond them", unseen, func(r *release.Release) { r.Columns[0].AtMost = nil; r.Model.Components[0].Mean[0] = 20 }},
	{"one", "a column renamed in the model alone", refused, func(r *release.Release) { r.Model.Columns[0] = "income" }},
	{"one", "a column renamed everywhere", unseen, func(r *release.Release) {
		r.Model.Columns[0], r.Columns[0].Name, r.Profile[0].Name = "income", "income", "income"
	}},
	{"one", "all diagnostics deleted", warned, func(r *release.Release) { r.Diagnostics = release.Diagnostics{} }},
	{"one", "what stands behind the component deleted", warned, func(r *release.Release) { r.Diagnostics.Components = nil }},
	{"one", "what the model leaves out deleted", warned, func(r *release.Release) { r.Diagnostics.Undescribed = nil }},
	{"one", "the noise of the component said to be a tenth", unseen, func(r *release.Release) { r.Diagnostics.Components[0].EffectiveNoise /= 10 }},
	{"one", "title, data set and day changed", unseen, func(r *release.Release) { r.Identity.Title, r.Identity.Created = "Census", "2020-01-01" }},
	{"mixture", "the background unmarked", refused, func(r *release.Release) { r.Model.Background = nil }},
	{"mixture", "the background unmarked, and an open number of components said to have been asked for", warned, func(r *release.Release) { r.Model.Background = nil; r.Certificate.Requested.Components = 0 }},
	{"mixture", "the rows left out said to be none", warned, func(r *release.Release) { r.Diagnostics.Undescribed.Share = 0 }},
	{"mixture", "the rows left out said to be none, and no flag", warned, func(r *release.Release) { r.Diagnostics.Undescribed.Share, r.Diagnostics.Flags = 0, nil }},
	{"mixture", "the flags deleted", warned, func(r *release.Release) { r.Diagnostics.Flags = nil }},
	{"mixture", "the weights of two components exchanged", warned, func(r *release.Release) { w := r.Model.Weights; w[0], w[1] = .15, w[0]+w[1]-.15 }},
	{"mixture", "weights exchanged, and the counts behind them", unseen, func(r *release.Release) {
		w, n := r.Model.Weights, r.Diagnostics.Components
		w[0], w[1], n[0].EffectiveRows, n[1].EffectiveRows = w[1], w[0], n[1].EffectiveRows, n[0].EffectiveRows
	}},
	{"mixture", "one component said to have been asked for", refused, func(r *release.Release) { r.Certificate.Requested.Components = 1 }},
	{"mixture", "all EM rounds deleted but the last, sums fixed", refused, func(r *release.Release) { drop(r, "EM rounds"); mend(r) }},
	{"mixture", "the last round deleted, its part given to the EM rounds", refused, func(r *release.Release) { give(r, "last round", "EM rounds") }},
	{"mixture", "method renamed: `separated`, whose plan has these steps too", unseen, func(r *release.Release) { r.Certificate.Method = "separated" }},
	{"private", "`count` with a tenth of the noise, sums not fixed", refused, func(r *release.Release) { quieter(r, "count", .1) }},
	{"private", "rows said to be 4000 where they are private", refused, func(r *release.Release) { n := 4000; r.Certificate.Rows = &n }},
	{"private", "every noise doubled, sums fixed, ε claimed as what is left", warned, func(r *release.Release) { louder(r, 2); mend(r); claim(r) }},
	{"private", "the same, and the noise of what the model leaves out", unseen, func(r *release.Release) { louder(r, 2); mend(r); claim(r); r.Diagnostics.Undescribed.Noise *= 2 }},
	{"boxes", "all steps but `count` deleted, sums fixed", refused, func(r *release.Release) { keep(r, "count"); mend(r); claim(r) }},
	{"boxes", "the threshold's delta halved, sums fixed", refused, func(r *release.Release) { thresholds(r, .5); mend(r) }},
	{"line", "all steps but one deleted, sums fixed", refused, func(r *release.Release) { r.Certificate.Plan = r.Certificate.Plan[:1]; mend(r); claim(r) }},
	{"blocks", "the test and the mask deleted", refused, func(r *release.Release) { drop(r, "agreement of blocks"); mend(r) }},
	{"blocks", "the mask's noise doubled", refused, func(r *release.Release) { masks(r, 2) }},
	{"blocks", "the learner said to be another", unseen, func(r *release.Release) { r.Certificate.Learner.Name = "spectral" }},
	{"stranger", "somebody's own learner said to be Gauze's", unseen, func(r *release.Release) { r.Certificate.Learner.Name = "em" }},
	{"groups", "every noise of one group tenfold, and its sums fixed", refused, func(r *release.Release) { quietGroup(r) }},
	{"groups", "all steps of one group but `count` deleted, its sums fixed", refused, func(r *release.Release) { bareGroup(r) }},
	{"groups", "the whole said to cost what one group does", refused, func(r *release.Release) { r.Certificate.Epsilon /= 2; r.Certificate.Spent.Epsilon /= 2 }},
	{"persons", "the unit deleted", unseen, func(r *release.Release) { r.Certificate.Unit = "" }},
	{"rho", "every noise tenfold, sums fixed, ρ claimed as what is left", refused, func(r *release.Release) { louder(r, 10); mendRho(r) }},
	{"pure", "every noise tenfold, ε claimed as what is left", refused, func(r *release.Release) { louder(r, 10); mendPure(r) }},
	{"pure", "the last measurement deleted", refused, func(r *release.Release) { drop(r, "moments"); mendPure(r) }},
	{"paper", "method renamed: `univariate:kv18`", refused, func(r *release.Release) { r.Certificate.Method = "univariate:kv18" }},
	{"paper", "stated facts deleted", refused, func(r *release.Release) { r.Certificate.Facts = nil }},
	{"paper", "the bound on the mean a thousandfold", unseen, func(r *release.Release) { *r.Certificate.Facts.MeanWithin *= 1.0001 }},
}

// keep deletes all steps but one.
func keep(r *release.Release, step string) {
	r.Certificate.Plan = slices.DeleteFunc(r.Certificate.Plan, func(s release.PlanStep) bool { return s.Step != step })
}

func drop(r *release.Release, step string) {
	r.Certificate.Plan = slices.DeleteFunc(r.Certificate.Plan, func(s release.PlanStep) bool { return s.Step == step })
}

// louder multiplies all noise.
func louder(r *release.Release, factor float64) {
	for i := range r.Certificate.Plan {
		r.Certificate.Plan[i].Noise *= factor
	}
}

// quieter multiplies the noise of a step.
func quieter(r *release.Release, step string, factor float64) {
	for i := range r.Certificate.Plan {
		if s := &r.Certificate.Plan[i]; s.Step == step {
			s.Noise *= factor
		}
	}
}

// often says that a step was asked more often, with so much more noise that it costs the same.
func often(r *release.Release, step string, times int) {
	for i := range r.Certificate.Plan {
		if s := &r.Certificate.Plan[i]; s.Step == step {
			s.Count *= times
			s.Noise *= math.Sqrt(float64(times))
			s.Mu = s.Sensitivity / s.Noise
		}
	}
}

// give deletes a step, and has the first line of another cost as much more.
func give(r *release.Release, from, to string) {
	mu2 := 0.0
	for _, s := range r.Certificate.Plan {
		if s.Step == from {
			mu2 += float64(s.Count) * s.Mu * s.Mu
		}
	}
	drop(r, from)
	for i := range r.Certificate.Plan {
		if s := &r.Certificate.Plan[i]; s.Step == to {
			s.Mu = math.Sqrt(s.Mu*s.Mu + mu2/float64(s.Count))
			s.Noise = s.Sensitivity / s.Mu
			return
		}
	}
}

// only says that all was spent on one step.
func only(r *release.Release, step string) {
	mu := r.Certificate.Spent.Mu
	keep(r, step)
	s := &r.Certificate.Plan[0]
	s.Count, s.Mu, s.Noise = 1, mu, s.Sensitivity/mu
	r.Certificate.Plan = r.Certificate.Plan[:1]
}

func thresholds(r *release.Release, factor float64) {
	for i := range r.Certificate.Plan {
		r.Certificate.Plan[i].Delta *= factor
	}
}

func masks(r *release.Release, factor float64) {
	for i := range r.Certificate.Plan {
		if m := r.Certificate.Plan[i].Mask; m != nil {
			changed := *m
			changed.Eta *= factor
			r.Certificate.Plan[i].Mask = &changed
		}
	}
	_ = r.Certificate.Complete()
}

// scaled multiplies the counts behind components.
func scaled(d *release.Diagnostics, factor float64) {
	for i := range d.Components {
		d.Components[i].EffectiveRows *= factor
	}
}

// spentOf returns the cost of a plan of Gaussian measurements and thresholds, at its delta.
func spentOf(plan []release.PlanStep, delta float64) (s release.Spent) {
	mu2, added := 0.0, 0.0
	for i := range plan {
		p := &plan[i]
		if p.Law == "" && p.Noise > 0 && p.Mask == nil && p.Pure == 0 {
			p.Mu = p.Sensitivity / p.Noise
		}
		mu2, added = mu2+float64(p.Count)*p.Mu*p.Mu, added+float64(p.Count)*p.Delta
	}
	s.Mu, s.Rho, s.Delta = math.Sqrt(mu2), mu2/2, delta
	if delta > added && mu2 > 0 {
		s.Epsilon = privacy.EpsilonOfMu(delta-added, s.Mu)
	}
	return s
}

// mend makes sums follow from the plan.
func mend(r *release.Release) { r.Certificate.Spent = spentOf(r.Certificate.Plan, r.Certificate.Delta) }

// claim says that no more was asked than was spent.
func claim(r *release.Release) { r.Certificate.Epsilon = r.Certificate.Spent.Epsilon }

func mendRho(r *release.Release) {
	s := spentOf(r.Certificate.Plan, 0)
	r.Certificate.Spent.Mu, r.Certificate.Spent.Rho, r.Certificate.Rho = s.Mu, s.Rho, s.Rho
}

func mendPure(r *release.Release) {
	c, epsilon, mu2 := &r.Certificate, 0.0, 0.0
	for i := range c.Plan {
		s := &c.Plan[i]
		epsilon += s.Cost(true)
		mu2 += s.Cost(false)
	}
	c.Epsilon, c.Spent.Epsilon, c.Spent.Mu, c.Spent.Rho = epsilon, epsilon, math.Sqrt(mu2), mu2/2
}

// ofGroup changes the steps of the first group, and fixes what it has spent.
func ofGroup(r *release.Release, change func(own *release.Release)) {
	own := r.Of(0)
	change(own)
	mend(own)
	r.Groups[0].Spent = own.Certificate.Spent
	rest := slices.DeleteFunc(slices.Clone(r.Certificate.Plan), func(s release.PlanStep) bool { return s.Group == 1 })
	for i := range own.Certificate.Plan {
		own.Certificate.Plan[i].Group = 1
	}
	r.Certificate.Plan = append(own.Certificate.Plan, rest...)
}

func quietGroup(r *release.Release) { ofGroup(r, func(own *release.Release) { louder(own, 10) }) }
func bareGroup(r *release.Release)  { ofGroup(r, func(own *release.Release) { keep(own, "count") }) }
