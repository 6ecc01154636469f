package general

import (
	"math"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/estimate/recursive"
	"github.com/gauze-dp/gauze/parts/coreset"
)

// Parts of the total mu^2. Utility constants, in the proportions of [KSSU19] Section E of the
// restatement; the first stages take less where n is large enough for less to do, chosen on the
// public tables, by experiments/files.
const (
	countPart = .01
	// for columns in which few rows differ from one value; taken from the last round
	weakPart                = .08
	leastGlobal, mostGlobal = .02, .11 // of the global Gaussian
	// of what the first stages leave, for the tree of counts and for the rounds; the last release
	// has the rest
	treePart, emPart = .18, .52
	// With the rows what looks or decides falls to the part leanest of itself, and the rounds to
	// leanRounds: see recursive.Lean.
	leanest, leanRounds = .3, .4
)

// Other utility constants of the schedule, chosen on the same tables.
const (
	// target of the global Gaussian: spectral noise relative to the global variance
	globalNoise      = .1
	rowsPerComponent = 40.0 // kmax = n mu/(rowsPerComponent max(d, 4))
	leastPerFit      = 10.0 // a fit of K components is refused below n mu = leastPerFit K max(d, 4)
	leastStrength    = 3.0  // strength below which one Gaussian is all that can be learned
	mostComponents   = 64
	maxRounds        = 60
	leastRounds      = 8      // of EM: fewer are far from converged
	fineTree         = 3000.0 // strength beyond which the tree gets one more level
)

// globalShares split the part of the global Gaussian over its rounds.
var globalShares = []float64{.25, .30, .45}

// schedule is the course of a fit, from public numbers (replace-one) or the released count
// (add-or-remove-one).
type schedule struct {
	rounds      int
	q           int     // coordinates of the tree
	first, last int     // its levels
	lean        float64 // what of a share looking needs: see recursive.Lean
	// Parts of the total mu^2.
	units, global, tree, em, final float64
}

// cost returns what a part of mu^2 that looks or decides costs: it falls with the rows.
func (s schedule) cost(part float64) float64 { return part * (leanest + (1-leanest)*s.lean) }

// strength returns n mu / d^2, the signal-to-noise ratio of one component's second moments.
func strength(p estimate.Problem, d int, rows float64) float64 { return rows * p.Mu / float64(d*d) }

// breadth returns the effective number of columns in the noise of one component: fewer moments,
// less noise.
func breadth(p estimate.Problem, d int) float64 {
	if p.Covariance != estimate.Full {
		return math.Max(math.Sqrt(2*float64(d)), 4)
	}
	return math.Max(float64(d), 4)
}

// largestK returns the largest number of components that is tried.
func largestK(p estimate.Problem, d int, rows float64) int {
	if p.Components > 0 {
		return p.Components
	}
	if p.Covariance == estimate.Full && strength(p, d, rows) < leastStrength {
		return 1
	}
	return between(1, int(rows*p.Mu/(rowsPerComponent*breadth(p, d))), min(program.MostFor(p, rows), mostComponents))
}

// rowsFor returns about how many rows k components need.
func rowsFor(p estimate.Problem, k int) float64 {
	return rowsPerComponent * float64(k) * breadth(p, p.Columns) / p.Mu
}

func planned(p estimate.Problem, d int, rows float64) schedule {
	x := strength(p, d, rows)
	s, root := schedule{}, math.Sqrt(float64(d))
	if s.units, _ = program.Share(p, d, rows); p.Profile != nil {
		if s.units, _ = program.ProfileShare(p, rows); len(p.Categories) > 0 {
			s.units = 0 // it has been paid for: see program.Begin
		}
	}
	// Spectral noise of the global Gaussian's second moment, about 1.7 (1.2 d) sqrt(2d)/(n
	// mu_part).
	want := sq(1.7*1.2*math.Sqrt2*float64(d)*root/(globalNoise*rows*p.Mu)) / globalShares[len(globalShares)-1]
	s.lean = recursive.Lean(1, rows*p.Mu)
	lean := recursive.Lean(d, rows*p.Mu)
	s.global = between(s.cost(leastGlobal), want, mostGlobal)
	rest := 1 - countPart - s.units - s.global - recursive.PairUnitsShare(p, rows)
	s.tree = treePart * rest * (leanest + (1-leanest)*lean)
	s.em = emPart * rest * (leanRounds + (1-leanRounds)*lean)
	s.final = rest - s.tree - s.em
	s.rounds = between(leastRounds, int(math.Round(3+3*math.Log2(math.Max(1, x/60)))), maxRounds)
	s.q = coreset.Dimension(d)
	s.first, s.last = coreset.Levels(s.q, x > fineTree)
	s.last = min(s.last, s.first+treeLevels(p)-1)
	return s
}

func between[T int | float64](low, x, high T) T { return max(low, min(x, high)) }

func sq(x float64) float64 { return x * x }

const source, sourceApart = "KSSU19 Section E", "KSSU19 Section C"
