package kernel_test

import (
	"math"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/pure"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/kernel/query/papers"
)

// unitScores are scores of sensitivity 1 whose options lie within a few rows of one another on the
// values of TestUnitScoresLaw.
func unitScores() map[string]papers.Score {
	bell := func(m float64) query.Component {
		return query.Component{Map: query.Affine{Center: []float64{m}, W: [][]float64{{1}}}}
	}
	return map[string]papers.Score{
		"mixtures": papers.MinimumDistance{Components: []query.Component{bell(0), bell(2)}, Parts: 2,
			Index: []int{0, 0, 1, 1, 0, 1, 0, 1}, Share: []float64{1, 0, 1, 0, .5, .5, .75, .25}, Sets: [][2]int{{0, 1}}, Mass: [][]float64{{.841}, {.159}}},
		"contests": papers.Tournament{MinimumDistance: papers.MinimumDistance{Components: []query.Component{bell(0), bell(2)}, Parts: 2,
			Index: []int{0, 0, 1, 1, 0, 1}, Share: []float64{1, 0, 1, 0, .5, .5}, Sets: [][2]int{{0, 1}, {0, 2}, {2, 1}}, Mass: [][]float64{{.841, .841, .841}, {.159, .159, .159}}}, Draw: .2, Margin: .05},
		"centers":  papers.TerrificCenters{Map: line(), Centers: [][]float64{{0}, {1}, {2}, {.5}}, Radius: .5, C: 3, T: 7},
		"deficits": sides(4, -.5, 0, 1, 2),
		"overlaps": papers.MultisetOverlap{Map: line(), Points: [][]float64{{0}, {1}, {2}}, Size: 4,
			Multisets: [][]int{{4, 0, 0}, {2, 1, 1}, {0, 0, 4}}, Lists: [][]int{{0}, {1, 2}, {2}, nil}},
	}
}

// TestUnitScoresLaw: Select draws by them as its doc comment says, under both relations.
func TestUnitScoresLaw(t *testing.T) {
	const epsilon = 1.2
	runs := runsOf(3000)
	values := []float64{-.7, .1, .4, .55, 1.2, 1.3, 2.1, 2.2, math.NaN(), 1e308, .3}
	for name, score := range unitScores() {
		q := papers.Selection{Scores: []papers.Score{score}}
		for _, relation := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
			plan := kernel.Plan{Method: "unit", Steps: []kernel.Step{{Name: name, Query: q.Kind(), Share: 1, Most: 1 << 30}}}
			s := kerneltest.Open(t, kerneltest.Table(columnOf(values), 1, relation), plan,
				kernel.Terms{Relation: relation, Budget: privacy.Budget{Rho: 1e6}}, kerneltest.Options{Seed: stattest.Seed(t)})
			counts := make([]int, score.Options())
			for range runs {
				i, err := pure.Select(s.SubBudget(), name, q, epsilon)
				if err != nil {
					t.Fatal(err)
				}
				counts[i[0]]++
			}
			scores := scoresOf(q, values)[0]
			t.Log(name, scores, counts)
			stattest.GoodFit(t, counts, exponentialLaw(epsilon/2, scores), stattest.FalseAlarm)
			stattest.BadFit(t, counts, exponentialLaw(epsilon, scores), stattest.FalseAlarm)
			if m := s.Measurements()[0]; m.Sensitivity != 1 || m.Mu != privacy.MuOfBoundedRange(epsilon) || m.Law != pure.LawExponential {
				t.Errorf("%s: certificate %+v", name, m)
			}
		}
	}
}
