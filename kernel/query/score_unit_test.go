package query_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/kernel/query/papers"

	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel/internal/rowkernels"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// at is the frame z = (x - m)/sd of the line.
func at(m, sd float64) query.Affine {
	return query.Affine{Columns: []int{0}, Center: []float64{m}, W: [][]float64{{1 / sd}}}
}

func bell(m, sd float64) query.Component {
	return query.Component{Map: at(m, sd), LogWeight: -math.Log(sd)}
}

// unitCases are the scores of sensitivity 1 of this file: TestScoreTwins and TestScoreSensitivity
// run them.
func unitCases() (cases []scoreCase) {
	// Equal components meet in ties; sets of a mixture with itself are empty; a Gaussian of sd
	// 1e-200 overflows for most rows.
	mixtures := papers.MinimumDistance{Parts: 2,
		Components: []query.Component{bell(0, 1), bell(1, 1), bell(0, 1), bell(1e3, 1e-200), bell(4, .3)},
		Index:      []int{0, 0, 1, 0, 2, 0, 3, 4, 1, 4},
		Share:      []float64{1, 0, 1, 0, .7, .3, .5, .5, .25, 1.25},
		Sets:       [][2]int{{0, 1}, {1, 0}, {0, 2}, {2, 0}, {3, 1}, {1, 4}, {3, 3}, {4, 3}},
	}
	rng := rand.New(rand.NewPCG(5, 7))
	for range mixtures.Components {
		var mass []float64
		for range mixtures.Sets {
			mass = append(mass, [...]float64{0, 1, .5, 1. / 3, rng.Float64(), 1e-300}[rng.IntN(6)])
		}
		mixtures.Mass = append(mixtures.Mass, mass)
	}
	contests := papers.Tournament{MinimumDistance: mixtures, Draw: .2, Margin: .1}
	deficits := papers.CellDeficits{Maps: []query.Affine{at(0, 1), at(0, 1e-200), at(1, .5), at(1e308, 1e200)}, Radii: []float64{.5, 1, 1.5}, Targets: []int{2, 1, 0, 3, 1, 1, 2, 9}}
	whole := deficits
	whole.Radii, whole.Targets = nil, []int{1, 2}
	overlap := papers.MultisetOverlap{Map: line(), Points: [][]float64{{0}, {1}, {3}, {1e200}}, Size: 3,
		Multisets: [][]int{{3, 0, 0, 0}, {0, 3, 0, 0}, {1, 1, 1, 0}, {0, 0, 1, 2}, {1, 2, 0, 0}}, Lists: [][]int{{0}, {1, 2}, {}, {0, 1, 2, 3, 4}, {3}}}
	centers := papers.TerrificCenters{Map: line(), Centers: [][]float64{{0}, {2}, {-1e308}, {1e3}, {3}}, Radius: 1, C: 3, T: 4}
	point := papers.TerrificCenters{Map: line(), Centers: [][]float64{{0}, {1}}, C: 1, T: 1}
	return []scoreCase{
		{"centers", centers, centersTwin(centers), 1, 1},
		{"centers of points", point, centersTwin(point), 1, 1},
		{"mixtures", mixtures, mixtureTwin(mixtures), 1, 1},
		{"contests", contests, contestTwin(contests), 1, 1},
		{"deficits", deficits, deficitTwin(deficits), 1, 1},
		{"deficits of half lines", whole, deficitTwin(whole), 1, 1},
		{"overlaps", overlap, overlapTwin(overlap), 1, 1},
	}
}

// centersTwin checks Definition 4.1 in its three conditions, for every Gamma from the least on.
func centersTwin(s papers.TerrificCenters) func(z [][]float64) []int64 {
	return func(z [][]float64) (scores []int64) {
		for _, c := range s.Centers {
			var distances []float64
			for _, x := range z {
				s := 0.0
				for i := range c {
					s += (x[i] - c[i]) * (x[i] - c[i])
				}
				distances = append(distances, s)
			}
			in, wide := within(distances, s.Radius), within(distances, s.C*s.Radius)
			gamma := -len(z)
			for in < s.T-gamma || len(z)-wide < s.T-gamma || wide-in > gamma {
				gamma++
			}
			scores = append(scores, int64(s.T-gamma))
		}
		return scores
	}
}

// mixtureTwin takes math.Exp of differences of log-densities, set by set and row by row, and
// predicts in exact fractions.
func mixtureTwin(s papers.MinimumDistance) func(z [][]float64) []int64 {
	return func(z [][]float64) (scores []int64) {
		for i := range s.Options() {
			worst := int64(0)
			for j := range s.Sets {
				whole, in := roundTwin(len(z), massTwin(s, i, j)), insideTwin(s, j, z)
				worst = max(worst, whole-in, in-whole)
			}
			scores = append(scores, -worst)
		}
		return scores
	}
}

// contestTwin goes through the contests of each mixture, on either side.
func contestTwin(s papers.Tournament) func(z [][]float64) []int64 {
	return func(z [][]float64) (scores []int64) {
		for i := range s.Options() {
			least := int64(len(z))
			for j, pair := range s.Sets {
				p, q := math.Min(massTwin(s.MinimumDistance, pair[0], j), 1), math.Min(massTwin(s.MinimumDistance, pair[1], j), 1)
				in := insideTwin(s.MinimumDistance, j, z)
				if p-q <= s.Draw {
					continue
				}
				if pair[0] == i {
					least = min(least, max(0, in-roundTwin(len(z), q+s.Margin)))
				}
				if pair[1] == i {
					least = min(least, max(0, int64(len(z))-in-roundTwin(len(z), 1-p+s.Margin)))
				}
			}
			scores = append(scores, least)
		}
		return scores
	}
}

// massTwin is what mixture i predicts of set j.
func massTwin(s papers.MinimumDistance, i, j int) (p float64) {
	for t := i * s.Parts; t < (i+1)*s.Parts; t++ {
		p += float64(s.Share[t] * s.Mass[s.Index[t]][j])
	}
	return p
}

// roundTwin is n p to the nearest integer, p cut at 1.
func roundTwin(n int, p float64) int64 {
	predicted := new(big.Rat).SetFloat64(math.RoundToEven(math.Min(p, 1)*(1<<32)) / (1 << 32))
	predicted.Mul(predicted, big.NewRat(int64(n), 1)).Add(predicted, big.NewRat(1, 2))
	return new(big.Int).Div(predicted.Num(), predicted.Denom()).Int64()
}

// insideTwin counts the points where the first mixture of set j has the larger density.
func insideTwin(s papers.MinimumDistance, j int, z [][]float64) (in int64) {
	used := map[int]bool{}
	for _, pair := range s.Sets {
		for _, i := range pair {
			for t := i * s.Parts; t < (i+1)*s.Parts; t++ {
				used[s.Index[t]] = used[s.Index[t]] || s.Share[t] > 0
			}
		}
	}
	density := func(i int, x []float64) (f float64) {
		logs, best := make([]float64, len(s.Components)), math.Inf(-1)
		for c, k := range s.Components {
			logs[c] = math.Inf(-1)
			if y := k.Map.W[0][0] * (x[0] - k.Map.Center[0]); rowkernels.Finite(y * y) {
				logs[c] = k.LogWeight - y*y/2
			}
			if used[c] {
				best = max(best, logs[c])
			}
		}
		for t := i * s.Parts; t < (i+1)*s.Parts; t++ {
			if l := logs[s.Index[t]] - best; l > rowkernels.LeastExponent {
				f += s.Share[t] * math.Exp(l)
			}
		}
		return f
	}
	for _, x := range z {
		if density(s.Sets[j][0], x) > density(s.Sets[j][1], x)*(1+1e-12) {
			in++
		}
	}
	return in
}

func deficitTwin(s papers.CellDeficits) func(z [][]float64) []int64 {
	return func(z [][]float64) (scores []int64) {
		for _, f := range s.Maps {
			deficit := int64(0)
			for cell, target := range s.Targets {
				n := 0
				for _, x := range z {
					y := f.W[0][0] * (x[0] - f.Center[0])
					if !rowkernels.Finite(y * y) {
						continue
					}
					inside := cell/2 == len(s.Radii) || y*y <= s.Radii[cell/2]*s.Radii[cell/2]
					outside := cell/2 == 0 || y*y > s.Radii[cell/2-1]*s.Radii[cell/2-1]
					if inside && outside && (y < 0) == (cell%2 == 1) {
						n++
					}
				}
				deficit += int64(max(0, target-n))
			}
			scores = append(scores, -deficit)
		}
		return scores
	}
}

// overlapTwin strikes the rows' points from each multiset, one by one.
func overlapTwin(s papers.MultisetOverlap) func(z [][]float64) []int64 {
	return func(z [][]float64) (scores []int64) {
		for _, list := range s.Lists {
			best := s.Size + 1
			for _, y := range list {
				left := slices.Clone(s.Multisets[y])
				struck := 0
				for _, x := range z {
					p, least := -1, math.Inf(1)
					for i, q := range s.Points {
						if d := (x[0] - q[0]) * (x[0] - q[0]); d < least {
							p, least = i, d
						}
					}
					if p >= 0 && left[p] > 0 {
						left[p]--
						struck++
					}
				}
				best = min(best, s.Size-struck)
			}
			scores = append(scores, -int64(best))
		}
		return scores
	}
}

// TestScoresOfManyRows: twins where points are counted by boxes of many at once, in groups, rings
// and ties.
func TestScoresOfManyRows(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(6, 7))
	f := query.Affine{Center: make([]float64, 3), W: [][]float64{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}
	for range stattest.Trials(1, 3) {
		var z [][]float64
		for i := range 700 {
			x := []float64{float64(40 * (i % 3)), rng.NormFloat64(), rng.NormFloat64()}
			if i%5 == 0 { // on a grid
				x = []float64{float64(40 * (i % 3)), float64(rng.IntN(3)), float64(rng.IntN(3))}
			}
			z = append(z, x)
		}
		var radii []float64
		for e := range 24 {
			radii = append(radii, math.Exp2(float64(e)/2-4))
		}
		centers := papers.TerrificCenters{Map: f, Centers: [][]float64{{0, 0, 0}, {40, 1, 1}, {20, 0, 0}}, Radius: 4, C: 5, T: 200}
		for _, c := range []scoreCase{
			{s: papers.BallCounts{Map: f, Radii: radii, T: 90}, twin: crowdTwin(radii, 90)},
			{s: papers.GoodRadius{Map: f, Radii: radii, T: 90, Slack: 9}, twin: goodTwin(radii, 90, 9)},
			{s: papers.TerrificRadius{Map: f, Radii: radii, C: 5, T: 90}, twin: terrificTwin(radii, 5, 90)},
			{s: centers, twin: centersTwin(centers)},
		} {
			got := c.s.Scores(flatten(z), 3)
			if want := c.twin(z); !slices.Equal(got, want) || slices.Max(got) <= 0 {
				t.Errorf("%s: %d, the twin says %d", c.s.Kind(), got, want)
			}
		}
	}
}

// TestUnitValidate: what is refused, and why.
func TestUnitValidate(t *testing.T) {
	nan, f := math.NaN(), line()
	mix := func(change func(*papers.MinimumDistance)) papers.MinimumDistance {
		s := papers.MinimumDistance{Parts: 1, Components: []query.Component{{Map: f}}, Index: []int{0, 0}, Share: []float64{1, 1}, Sets: [][2]int{{0, 1}}, Mass: [][]float64{{.5}}}
		change(&s)
		return s
	}
	for want, s := range map[string]papers.Score{
		"LogWeight: want a finite":    mix(func(s *papers.MinimumDistance) { s.Components[0].LogWeight = nan }),
		"Parts (0)":                   mix(func(s *papers.MinimumDistance) { s.Parts = 0 }),
		"Parts (3)":                   mix(func(s *papers.MinimumDistance) { s.Parts = 3 }),
		"got 1 of 1":                  mix(func(s *papers.MinimumDistance) { s.Index[1] = 1 }),
		"got -1 of 0":                 mix(func(s *papers.MinimumDistance) { s.Share[0] = -1 }),
		"got NaN of 0":                mix(func(s *papers.MinimumDistance) { s.Share[0] = nan }),
		"sets for 2 options, got 0":   mix(func(s *papers.MinimumDistance) { s.Sets = nil }),
		"mixtures below 2":            mix(func(s *papers.MinimumDistance) { s.Sets[0][1] = 2 }),
		"one entry per component":     mix(func(s *papers.MinimumDistance) { s.Mass = nil }),
		"one number per set":          mix(func(s *papers.MinimumDistance) { s.Mass[0] = nil }),
		"numbers in [0, 1]":           mix(func(s *papers.MinimumDistance) { s.Mass[0][0] = nan }),
		"Draw and a Margin":           papers.Tournament{MinimumDistance: mix(func(*papers.MinimumDistance) {}), Draw: nan},
		"got 0.5 and 2":               papers.Tournament{MinimumDistance: mix(func(*papers.MinimumDistance) {}), Draw: .5, Margin: 2},
		"query: MinimumDistance.Sets": papers.Tournament{MinimumDistance: mix(func(s *papers.MinimumDistance) { s.Sets = nil })},
		"at least one option":         papers.CellDeficits{},
		"1 to 5 coordinates":          papers.CellDeficits{Maps: []query.Affine{f, {Center: []float64{0}, W: [][]float64{{1}, {1}}}}, Targets: []int{1, 1}},
		"increasing numbers":          papers.CellDeficits{Maps: []query.Affine{f}, Radii: []float64{1, 1}},
		"one number per cell (4)":     papers.CellDeficits{Maps: []query.Affine{f}, Radii: []float64{1}, Targets: []int{1}},
		"Targets: want 0 to":          papers.CellDeficits{Maps: []query.Affine{f}, Targets: []int{-1, 1}},
		"1 to 16 Points":              papers.MultisetOverlap{Map: f},
		"1 values each":               papers.MultisetOverlap{Map: f, Points: [][]float64{{}}, Size: 1, Lists: [][]int{{}}},
		"Points: want finite":         papers.MultisetOverlap{Map: f, Points: [][]float64{{nan}}, Size: 1, Lists: [][]int{{}}},
		"0 to 2 copies":               papers.MultisetOverlap{Map: f, Points: [][]float64{{0}}, Size: 2, Multisets: [][]int{{-1}}, Lists: [][]int{{}}},
		"1 numbers that sum to 2":     papers.MultisetOverlap{Map: f, Points: [][]float64{{0}}, Size: 2, Multisets: [][]int{{1}}, Lists: [][]int{{}}},
		"indices below 1":             papers.MultisetOverlap{Map: f, Points: [][]float64{{0}}, Size: 1, Multisets: [][]int{{1}}, Lists: [][]int{{1}}},
		"Affine.W: want at least on":  papers.MultisetOverlap{Map: query.Affine{Center: []float64{0}}},
		"C of at least 1":             papers.TerrificCenters{Map: f, C: .5, T: 1, Centers: [][]float64{{0}}},
		"at least one of Centers":     papers.TerrificCenters{Map: f, C: 2, T: 1},
		"Centers: want 1 values":      papers.TerrificCenters{Map: f, C: 2, T: 1, Centers: [][]float64{{0, 1}}},
		"Centers: want finite":        papers.TerrificCenters{Map: f, C: 2, T: 1, Centers: [][]float64{{nan}}},
		"TerrificCenters.T: want":     papers.TerrificCenters{Map: f, C: 2, Centers: [][]float64{{0}}},
		"TerrificCenters.Radii":       papers.TerrificCenters{Map: f, C: 2, T: 1, Radius: nan, Centers: [][]float64{{0}}},
	} {
		if err := s.Validate(1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q, got %v", want, err)
		}
	}
	for _, c := range unitCases() {
		q, err := query.Own(papers.Selection{Scores: []papers.Score{c.s}})
		if err != nil || q.Validate(1) != nil || q.Sensitivity(privacy.ReplaceOne, 0) != 1 || q.Sensitivity(privacy.AddRemoveOne, 0) != 1 {
			t.Errorf("%s: %v, %v", c.name, err, q.Validate(1))
		}
	}
	if papers.CellCount(10, 2) != 40 {
		t.Error("cells")
	}
}

// BenchmarkMinimumDistance: 5000 mixtures of two of 600 Gaussians, 190 sets, 10^4 rows.
func BenchmarkMinimumDistance(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	s := papers.MinimumDistance{Parts: 2}
	for range 600 {
		s.Components = append(s.Components, bell(10*rng.NormFloat64(), 1))
	}
	for range 10000 {
		s.Index, s.Share = append(s.Index, rng.IntN(600)), append(s.Share, .5)
	}
	for i := range 20 {
		for j := range i {
			s.Sets = append(s.Sets, [2]int{100 * i, 100 * j})
		}
	}
	for range s.Components {
		s.Mass = append(s.Mass, make([]float64, len(s.Sets)))
	}
	rows := make([]float64, 10000)
	for i := range rows {
		rows[i] = 10 * rng.NormFloat64()
	}
	for b.Loop() {
		s.Scores(rows, 1)
	}
}
