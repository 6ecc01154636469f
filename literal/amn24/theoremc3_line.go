package amn24

import (
	"fmt"
	"math"

	"github.com/gauze-dp/gauze/kernel/pure"
	"github.com/gauze-dp/gauze/kernel/query/papers"
	"github.com/gauze-dp/gauze/literal/paper"
)

// onLine is the tractable score in one column, where no bounds are stated: the pairs are all of an
// infinite lattice, of which the kernel lists those that the rows make good.
//
// Source: [AMN24] Theorem C.3; Section C.1; Section E.1.
// Differs: as deficits; and the cells are ten, whose edges are whole thirty-seconds of a standard
// deviation, so that rows are compared with exact numbers.
type onLine struct{ deficits }

// Utility constants.
const (
	// lineSpacing is that of the lattice, in sds, about.
	lineSpacing = .25
	// lineOptions is how many pairs of the lattice are about as good as the best, about: 100 to 400
	// were listed below Eta+1 for components by themselves.
	lineOptions = 300
	// lineSpare of w n rows may be missing from the cells of the pair that is nearest to a
	// component: .044 for the least lucky component of a whole Gaussian's shape, and sampling.
	lineSpare = .12
	// promised times the rows that the test takes are enough for components of unlike shares.
	promised = 2.4
)

func (s onLine) kind() string { return papers.LineDeficits{}.Kind() }

func (s onLine) rest(left, n float64, found, k int) (scorer, bool) {
	return onLine{s.after(left, n, found, k)}, true
}

// choose draws from all pairs of the lattice that lie in the region. Those that lack seven tenths
// of w n rows or more count as infinitely many.
func (s onLine) choose(r *run, omega region, epsilon float64) (p pair, ok bool, err error) {
	target := s.target * papers.CellCount(s.c.RadialCells, 1) / papers.LineCells
	if target < 1 {
		return p, false, nil
	}
	score := papers.LineDeficits{Target: target, Below: papers.LineMost * target, Factor: omega.Factor}
	for _, f := range omega.Found {
		score.Means, score.SDs = append(score.Means, f.Mean[0]), append(score.SDs, f.L.At(0, 0))
	}
	local := pure.Local{Eta: r.c.eta(lineOptions, epsilon, r.logSlack(), int(lineSpare*float64(papers.LineCells*target))), Test: r.c.Test}
	chosen, ok, err := pure.SelectOnLine(r.a, stepComponent, papers.Selection{Partition: s.left(omega), Scores: []papers.Score{score}}, local, epsilon)
	if err != nil || !ok {
		return p, false, err
	}
	mean, sd := chosen.Gaussian()
	return paper.Line(mean, sd), true, nil
}

// Bounds of the example in beyondPlane, in sds of the narrowest direction.
const (
	planeRadius = 1000
	planeWidest = 100
)

// beyondPlane says what the infinite lattice would cost in two columns: pairs that many rows make
// good have no order there in which to walk them, so a net has to be visited.
func beyondPlane() string {
	pairs := 0.0
	for wide := 1.; wide <= planeWidest; wide *= 1 + finestNet {
		for narrow := wide; narrow >= 1-1e-9; narrow /= 1 + finestNet {
			turns := math.Max(1, math.Ceil(math.Pi/(2*finestNet*narrow/wide)))
			pairs += turns * math.Pi * planeRadius * planeRadius / (wide * narrow * finestNet * finestNet)
		}
	}
	return fmt.Sprintf("an exponential mechanism without them has to visit a net, and one that is %g sds fine has %.2g pairs "+
		"already for means within %d of the narrowest sd and sds up to %d times as wide, each of them compared with every row",
		finestNet, pairs, planeRadius, planeWidest)
}

// lineRows returns how many rows of k components let the test of Theorem C.3 have a g of so much:
// seven tenths of w n rows are more than Eta+1+g.
func (c Constants) lineRows(k int, epsilon, logSlack, g float64) float64 {
	least := float64(c.eta(lineOptions, epsilon, logSlack, 0)) + 1 + g
	return math.Ceil(least * float64(papers.LineCells*k) / float64(papers.LineMost) / c.SureWeight)
}
