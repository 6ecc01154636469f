package mixture

import (
	"github.com/gauze-dp/gauze/blocks/component"
	"github.com/gauze-dp/gauze/blocks/moments"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
)

// Utility constants of the private EM rounds.
const (
	goneRows  = 20.0 // a component with fewer rows than this is deleted after the last round
	mostDoubt = .12  // .. and so is one whose weight is in more doubt than this, relative variance, if k was not asked for
	goneAsked = 3.0  // .. or this, if the number of components was asked for
)

// rounds is the state of private EM: components in the coordinates of a space.
type rounds struct {
	space      component.Space
	shape      estimate.CovarianceType
	components []component.Gaussian
	background background
	rows       float64   // public or released number of good rows
	factor     float64   // sqrt2 under replace-one, 1 under add-or-remove-one
	floor      float64   // smallest eigenvalue in working coordinates
	grid       []float64 // least variance of each working coordinate; nil for none
	misfit     float64
	gone       float64 // see goneRows
	prune      bool    // drop, at the end, components whose weight is in doubt
}

// query builds one soft E-step and M-step for all components and the background as one release ([KSSU19] Section A.5 of the
// restatement): frame = the component's current covariance, radius by clip.Radius2 from the released count.
func (r *rounds) query(mu float64, last bool) (query.ClippedMoments, []component.Clipping) {
	q := query.ClippedMoments{Form: r.form(), Lift: component.Lift}
	var how []component.Clipping
	for _, c := range r.components {
		part, clipping := r.space.Clipped(c, c.Weight*(1-r.background.total()), r.rows, r.noise(mu), r.misfit)
		q.Components, how = append(q.Components, part), append(how, clipping)
	}
	if last {
		q.Components = append(q.Components, r.background.components(r.space)...)
	}
	return q, how
}

func (r *rounds) form() query.Form {
	return [...]query.Form{query.FullForm, query.DiagonalForm, query.SphericalForm}[r.shape]
}

// noise is that of the rounds' form and relation at privacy loss mu.
func (r *rounds) noise(mu float64) float64 { return component.Noise(r.form(), r.factor, mu) }

// update is what a component's move by a release depends on besides the release.
func (r *rounds) update() component.Update {
	return component.Update{Form: r.form(), Rows: (1 - r.background.total()) * r.rows, Floor: r.floor, Grid: r.grid}
}

// round measures once and updates every component; the last one includes the background and deletes components without rows.
func (r *rounds) round(a *kernel.Allotment, step string, mu float64, last bool) error {
	q, how := r.query(mu, last)
	ans, err := a.Sum(step, q, mu)
	if err != nil {
		return err
	}
	sums := moments.Unpack(q, ans)
	sums, rungs := sums[:len(r.components)], sums[len(r.components):]
	for j, s := range sums {
		r.components[j] = r.update().Apply(r.components[j], s, how[j])
	}
	r.normalise(last)
	if last {
		r.background.update(rungs, r.rows)
	}
	return nil
}

// normalise makes the weights sum to one; last drops components that hold no row.
func (r *rounds) normalise(last bool) {
	total := 0.0
	var next []component.Gaussian
	for _, c := range r.components {
		if last && (c.Weight*r.rows < r.gone || r.prune && c.Doubt.Weight > mostDoubt) {
			continue
		}
		total += c.Weight
		next = append(next, c)
	}
	for j := range next {
		next[j].Weight /= total
	}
	r.components = next
}
