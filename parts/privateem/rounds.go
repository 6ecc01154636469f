// Package privateem is private EM: rounds of one soft E-step and one release of clipped moments
// each, for components that may overlap, and what can be done with components between the rounds
// for free.
package privateem

import (
	"math"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts/component"
)

// Rounds is the state of private EM: components in the coordinates of a space.
type Rounds struct {
	Space      component.Space
	Form       query.Form
	Components []component.Gaussian
	Background Background
	// Outlier, if set, is one more component, for rows that are far from all others: see Watch. Its
	// weight is a share of all rows, theirs are shares of the rest.
	Outlier *component.Gaussian
	// Outliers, if set, looks for rows far from all components and makes Outlier of them: in the
	// last round, and in all with Watch.
	Outliers    *Outliers
	Watch       bool
	SharedShape bool    // rounds with one shape of all components
	Differ      float64 // how their shapes differ, by the last of these: see component.Shape
	// SharedPrior has shapes known from one another: see component.Shape. Not for spheres.
	SharedPrior bool
	Seen        *component.Shape // what WidestLine has last seen of shapes
	Rows        float64          // public or released number of good rows
	Factor      float64          // sqrt2 under replace-one, 1 under add-or-remove-one
	Floor       float64          // smallest eigenvalue in working coordinates; 0 for none
	Grid        []float64        // least variance of each working coordinate; nil for none
	Misfit      float64          // see component.ClippingRadius2
	LeastRows   float64          // a component with fewer rows than this is deleted after the last round
	// MostUncertainty, if positive: a component whose weight is in more doubt than this, a relative
	// variance, is deleted after the last round.
	MostUncertainty float64
	// Pairs has the last round measure all second moments of components whose form is diagonal, so
	// that it is known what the form cannot show: see Correlated.
	Pairs bool
	// Clear, if positive: a component whose count in the last round is less than this many sds of
	// its noise is dropped after it.
	Clear   float64
	Without Without        // mechanisms that are left out
	pairs   []correlations // of the components in the last round
	// What NoiseLoss and Price have said, by rows and mu: where many components are joined, the
	// same is asked of each pair again and again.
	lost, price map[[2]float64]float64
	hidden      float64 // noise sd of the number of rows that Outliers has seen last
	// rows outside every component, and the sd of their noise; 0 if they were not counted
	outside, outsideSD float64
}

// query builds one soft E-step and M-step for all components and the background as one release
// ([KSSU19] Section A.5 of the restatement): frame = the component's current covariance, radius by
// component.ClippingRadius2 from the released count.
func (r *Rounds) query(mu float64, last bool) (query.ClippedMoments, []component.Clipping) {
	q := query.ClippedMoments{Form: component.MeasuredForm(r.Form), Lift: component.Lift}
	if last && r.Pairs {
		q.Form, q.Lift = query.FullForm, pairsLift
	}
	var how []component.Clipping
	for _, c := range r.Components {
		misfit := r.Misfit
		if c.Misfit > 0 && !r.Without.Misfit || !c.Uncertainty.Framed(r.Space.Dim()) {
			misfit = unlike
		}
		part, clipping := r.Space.Clipped(c, c.Weight*(1-r.apart()), r.Rows, r.noise(mu), misfit)
		q.Components, how = append(q.Components, part), append(how, clipping)
	}
	if r.Outlier != nil {
		part, clipping := r.Space.Clipped(*r.Outlier, r.Outlier.Weight, r.Rows, r.noise(mu), strayMisfit)
		q.Components, how = append(q.Components, part), append(how, clipping)
	}
	if last {
		q.Components = append(q.Components, r.Background.components(r.Space)...)
	}
	if last || r.Watch {
		q.Components = append(q.Components, r.Outliers.Components(r.Space)...)
	}
	return q, how
}

// unlike is Misfit of components that were seen not to be bell-shaped or whose shape is not known
// yet, and of what a component is priced at. Chosen on the public tables, by experiments/files.
const unlike = 1.0

// noise returns that of the rounds' form and relation at privacy loss mu.
func (r *Rounds) noise(mu float64) component.Noise {
	return component.NoiseOf(r.Form, r.Space.Dim(), r.Factor, mu)
}

// update returns what a component's move by a release depends on besides the release.
func (r *Rounds) update() component.Update {
	return component.Update{Form: r.Form, Rows: (1 - r.apart()) * r.Rows, Floor: r.Floor, Grid: r.Grid}
}

// Round measures once and updates every component; the last one includes the background and deletes
// components without rows.
func (r *Rounds) Round(a *kernel.SubBudget, step string, mu float64, last bool) error {
	q, how := r.query(mu, last)
	ans, err := a.Sum(step, q, mu)
	if err != nil {
		return err
	}
	sums := component.UnpackCounted(q, ans)
	update, alone, k := r.update(), component.Alone(r.Components), len(r.Components)
	if r.SharedShape {
		update.Shape = component.Pooled(r.Form, sums[:k], how[:k])
		r.Differ = update.Shape.Differ
	}
	if r.SharedPrior {
		update.Prior = component.Pooled(r.Form, sums[:k], how[:k])
	}
	for j, s := range sums[:k] {
		update.Settled = alone[j]
		c := update.Apply(r.Components[j], s, how[j])
		if last && r.Pairs {
			r.pairs = append(r.pairs, correlationsOf(s, how[j].Law, c))
		}
		if last && s.Count < r.Clear*s.CountSD {
			c.Weight = 0
		}
		r.Components[j] = c
	}
	r.normalise(last)
	if r.Outlier != nil {
		r.updateStray(sums[k], how[k])
		k++
	}
	if last {
		r.Background.update(sums[k:], r.Rows)
		k += len(r.Background.near)
	}
	if r.Outliers != nil && (last || r.Watch) {
		var more *component.Gaussian
		more, r.hidden = r.Outliers.Seen(sums[k:], r.Rows)
		r.carry(more)
	}
	return nil
}

// NoiseLoss returns the nats per row of a component of weight w that the noise of one round is
// expected to cost it: d(d+1)/8 s^2 for a relative noise s of each entry of its covariance, at most
// mostLost.
func (r *Rounds) NoiseLoss(w, mu float64) float64 {
	asked := [2]float64{w * r.Rows, mu}
	if lost, ok := r.lost[asked]; ok {
		return lost
	}
	if r.lost == nil {
		r.lost = map[[2]float64]float64{}
	}
	d, s := r.Space.Dim(), r.relative(w, mu)
	entries := float64(d*(d+1)) / 2
	if r.Form != query.FullForm {
		entries = float64(d)
	}
	r.lost[asked] = math.Min(entries/4*s*s, mostLost)
	return r.lost[asked]
}

// ownShape, over the number of columns, is the part of what the noise of its own shape costs that a
// component is priced at. A guess.
const ownShape = 3.0

// Price returns the nats per row that a component of weight w costs at least by the noise of one
// round: those of its mean, and little of those of its shape, since components whose own shapes are
// noise can share one. At 12 columns and more the whole noise of a shape costs more than most true
// distinctions gain.
func (r *Rounds) Price(w, mu float64) float64 {
	asked := [2]float64{w * r.Rows, mu}
	if price, ok := r.price[asked]; ok {
		return price
	}
	if r.price == nil {
		r.price = map[[2]float64]float64{}
	}
	d, n, noise := r.Space.Dim(), math.Max(w*r.Rows, 1), r.noise(mu)
	r2 := component.ClippingRadius2(d, n, noise, unlike)
	s := component.ClippedGaussian(d, r2).MeanNoise(n, noise)
	r.price[asked] = math.Min(mostLost, float64(d)/2*s*s+math.Min(1, ownShape/float64(d))*r.NoiseLoss(w, mu))
	return r.price[asked]
}

// relative returns the noise of each entry of the covariance of a component of weight w in one
// round.
func (r *Rounds) relative(w, mu float64) float64 {
	d, n, noise := r.Space.Dim(), math.Max(w*r.Rows, 1), r.noise(mu)
	r2 := component.ClippingRadius2(d, n, noise, unlike)
	return noise.Second * r2 / n / component.ClippedGaussian(d, r2).B1
}

// mostLost is the nats per row that noise can cost a component: beyond, shrinkage has taken over. A
// utility constant, chosen on the public tables, by experiments/files.
const mostLost = .6

// normalise makes the weights sum to one; last drops components that hold no row.
func (r *Rounds) normalise(last bool) {
	total := 0.0
	var next []component.Gaussian
	for _, c := range r.Components {
		if last && (c.Weight == 0 || c.Weight*r.Rows < r.LeastRows || r.MostUncertainty > 0 && c.Uncertainty.Weight > r.MostUncertainty) {
			continue
		}
		total += c.Weight
		next = append(next, c)
	}
	for j := range next {
		next[j].Weight /= total
	}
	r.Components = next
}

// ShapeNoise returns the noise of an entry of the covariance of a component of the mean weight in a
// round of mu, of a form.
func (r *Rounds) ShapeNoise(form query.Form, mu float64) float64 {
	as := *r
	as.Form = form
	return as.relative(1/float64(len(r.Components)), mu)
}

// SharedShapeNoise returns about the relative spectral noise of the shared covariance in a round of
// mu with SharedShape.
func (r *Rounds) SharedShapeNoise(mu float64) float64 {
	k := float64(len(r.Components))
	return r.relative(1/k, mu) * r.spectral() / math.Sqrt(k)
}
