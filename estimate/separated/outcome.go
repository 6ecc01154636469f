package separated

import (
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/estimate/recursive"
	"github.com/gauze-dp/gauze/model/flags"
	"github.com/gauze-dp/gauze/parts"
	"github.com/gauze-dp/gauze/parts/component"
)

// tidy drops components without rows, at last also light ones, and joins those that are not apart;
// where their number is asked for or at its limit, it only drops those without rows.
func (f *fit) tidy(g []component.Gaussian, last bool) []component.Gaussian {
	out := slices.DeleteFunc(slices.Clone(g), func(c component.Gaussian) bool { return !(c.Weight*f.Rows >= droppedRows) })
	if f.limit > 0 {
		return out
	}
	out = withoutStrays(out)
	if last {
		out = slices.DeleteFunc(out, func(c component.Gaussian) bool { return !(c.Weight >= lightest) })
	}
	for {
		i, j, least := leastApart(out)
		if i < 0 || least >= recursive.Apart {
			return out
		}
		out = component.Join(out, i, j)
	}
}

// Utility constants, guesses. droppedRows: a component with fewer rows than this is dropped.
// lightest: at last, one of less weight as well.
const (
	droppedRows = 20.0
	lightest    = .75 * recursive.LeastWeight
)

// started returns the start of the rounds: without outlier components, and with no more than
// requested or allowed.
func (f *fit) started(g []component.Gaussian) []component.Gaussian {
	f.limit = f.Problem.Components
	if f.limit == 0 {
		if g = withoutStrays(g); len(g) <= f.Most() {
			return g
		}
		f.limit = f.Most()
		f.Notes.Flag(flags.New(flags.AtLimit, "about %d components are apart and at most %d allowed: those nearest to each other are joined; raise --max-components to keep them apart", len(g), f.limit))
	}
	return f.reduce(g)
}

// withoutStrays leaves out components that are light, much wider, in all directions together, than
// where most rows are, and near most rows in their own sds: scattered rows around the components,
// which a few large cells show as one. Joined with a component they would spoil it.
func withoutStrays(g []component.Gaussian) []component.Gaussian {
	typical, half := math.Inf(1), parts.Sum(g, func(c component.Gaussian) float64 { return c.Weight })
	order := append([]component.Gaussian(nil), g...)
	sort.SliceStable(order, func(i, j int) bool { return spread(order[i]) < spread(order[j]) })
	sum := 0.0
	for _, c := range order { // the median of the rows
		if sum += c.Weight; sum >= half/2 {
			typical = spread(c)
			break
		}
	}
	return slices.DeleteFunc(slices.Clone(g), func(c component.Gaussian) bool {
		return !(c.Weight >= strayWeight || spread(c) <= strayWidth*typical || within(c, g) < half/2)
	})
}

// within returns the weight of the components whose means lie within strayReach sds of c.
func within(c component.Gaussian, g []component.Gaussian) (weight float64) {
	_, inv, _ := symmetric.Factor(c.Cov)
	for _, o := range g {
		if _, z := symmetric.Between(inv, o.Mean, c.Mean); mat.Norm(z, 2) < strayReach {
			weight += o.Weight
		}
	}
	return weight
}

// spread returns the geometric mean of a component's sds.
func spread(c component.Gaussian) float64 {
	_, _, logDet := symmetric.Factor(c.Cov)
	return math.Exp(logDet / 2 / float64(len(c.Mean)))
}

// Utility constants of outlier components: lighter than this part of all rows, wider than this
// factor, and this many of their own sds from most rows. Guesses.
const strayWeight, strayWidth, strayReach = .1, 6.0, 5.0

// reduce brings the number of components down to the limit, if there is one: the lightest goes if
// it holds next to nothing, else the two that are least apart are joined.
func (f *fit) reduce(g []component.Gaussian) []component.Gaussian {
	if k := f.limit; k > 0 && len(g) > k {
		if kept := withoutStrays(g); len(kept) >= k {
			g = kept
		}
	}
	for k := f.limit; k > 0 && len(g) > k; {
		light := 0
		for j := range g {
			if g[j].Weight < g[light].Weight {
				light = j
			}
		}
		if g[light].Weight < recursive.LeastWeight {
			g = append(g[:light], g[light+1:]...)
			continue
		}
		i, j, _ := leastApart(g)
		g = component.Join(g, i, j)
	}
	return g
}

// leastApart returns the two components with the least separation, i > j; -1 if there are not two.
func leastApart(g []component.Gaussian) (i, j int, least float64) {
	i, j, least = -1, -1, math.Inf(1)
	for a := range g {
		for b := range a {
			if s := recursive.Separation(g[a].Mean, g[b].Mean, g[a].Cov, g[b].Cov); s < least || i < 0 {
				i, j, least = a, b, s
			}
		}
	}
	return i, j, least
}

// A utility constant of the reports, a guess.
const surplus = .25 // of an even share: a component with less may be noise, or a part of another

// unlikeTree: a tree that drops cells shows as much of a Gaussian's rows elsewhere. A guess.
const unlikeTree = .13

// outcome turns the components into a model of all columns, heaviest first, and those that
// stand for rows outside, of which there are so many.
func (f *fit) outcome(g []component.Gaussian, rows, sd float64) estimate.Outcome {
	g = program.Heaviest(g)
	total := 0.0
	for _, c := range g {
		total += c.Weight
	}
	out := program.NewDraft(f.All, f.Notes)
	out.Notes.Flag(program.LeftOut(f.Problem.Components, len(g))...)
	out.Notes.Flag(program.AtLimit(f.Problem, f.Rows, len(g))...)
	for _, c := range g {
		mean, cov, err := f.Raw(f.Space, c, f.Problem.Covariance)
		w, note := (1-f.Placed())*c.Weight/total, program.GaussianNote(c, f.Space.Dim())
		if len(g) == 1 && f.Misfit() > unlikeTree {
			note = program.Unlike(note, f.Misfit())
		}
		if w < surplus/float64(len(g)) {
			note.Flags = slices.Insert(note.Flags, 0, flags.New(flags.SurplusComponent, "it holds few rows and may not be a real group").Of(w, c.CountSD/f.Rows))
		}
		out.Add(w, mean, cov, err, note)
	}
	where := "they lie far from every component and are in none"
	if f.Placed() > 0 {
		where += "; components marked as background stand for some of them"
	}
	f.AddOutside(out, rows/f.Rows, sd/f.Rows, where)
	return out.Outcome()
}

// advice says what would help.
func advice(p estimate.Problem) string {
	return program.Needs(p, needed(p), program.OfEqualWeight(max(2, p.Components)), "fewer components", "--method general where components overlap")
}
