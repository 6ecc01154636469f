package query_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query/papers"
)

// lineSpots are where rows lie in the searches of this file: ties, neighbours in float64, far ones,
// and the ends of the range.
var lineSpots = []float64{0, 0, 0, .5, 1, 1, math.Nextafter(1, 2), 2, 3, 4, 6, -1, -1, 1.25, -2.5, 1e-3, 1e3, 1e3 + 1, 5e-324, math.Copysign(0, -1), 1e155, 1e12, 1e12 + 1e-3,
	1.7e308, -1.7e308, math.NaN(), math.Inf(1)}

func lineRows(rng *rand.Rand, n int) (rows []float64) {
	for range n {
		x := lineSpots[rng.IntN(len(lineSpots))]
		if rng.IntN(3) == 0 {
			x = rng.NormFloat64()
		}
		rows = append(rows, x)
	}
	return rows
}

// lineTwin returns S of one pair by its definition, in numbers of 300 bits, row by row.
func lineTwin(s papers.LineDeficits, p papers.LinePair, rows []float64) int {
	mean, sd := p.Gaussian()
	wide := func(x float64) *big.Float { return new(big.Float).SetPrec(3000).SetFloat64(x) }
	for i, m := range s.Means {
		if v := sd / s.SDs[i] * (sd / s.SDs[i]); v <= s.Factor && v*s.Factor >= 1 && math.Abs(mean-m)/s.SDs[i] <= s.Factor {
			return s.Below
		}
	}
	var held [10]int
	for _, x := range rows {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			continue
		}
		off := wide(x)
		off.Sub(off, wide(mean)).Mul(off, wide(32))
		cell := 0
		for _, cut := range []float64{-41, -27, -17, -8, 0, 8, 17, 27, 41} {
			if edge := wide(cut); off.Cmp(edge.Mul(edge, wide(sd))) >= 0 {
				cell++
			}
		}
		held[cell]++
	}
	lacks := 0
	for _, n := range held {
		lacks += max(0, s.Target-n)
	}
	return min(lacks, s.Below)
}

// lineLists returns what Listed says of every pair that it lists.
func lineLists(t *testing.T, s papers.LineDeficits, rows []float64) map[papers.LinePair]int {
	t.Helper()
	listed := map[papers.LinePair]int{}
	pairs, scores := s.Listed(rows, 1)
	for i, p := range pairs {
		if _, twice := listed[p]; twice || -scores[i] >= int64(s.Below) {
			t.Fatalf("%+v of %v: %v with %d is listed", s, rows, p, scores[i])
		}
		listed[p] = int(-scores[i])
	}
	return listed
}

func randomLine(rng *rand.Rand) papers.LineDeficits {
	s := papers.LineDeficits{Target: 1 + rng.IntN(3)}
	s.Below = 1 + rng.IntN(7*s.Target)
	if rng.IntN(2) == 0 {
		s.Below = 7 * s.Target
	}
	if rng.IntN(4) == 0 {
		s.Means, s.SDs, s.Factor = []float64{0, 1e3}, []float64{1, .2}, 2.6
	}
	return s
}

// nearRows returns the pairs of a scale that have a row in a bounded cell, and some more.
func nearRows(scale int64, rows []float64) (pairs []papers.LinePair) {
	_, sd := papers.LinePair{Scale: scale}.Gaussian()
	seen := map[int64]bool{}
	for _, x := range rows {
		at := math.Floor(4 * x / sd)
		if !(math.Abs(at) < 1<<47-8) {
			continue
		}
		for j := int64(at) - 6; j <= int64(at)+7; j++ {
			if !seen[j] {
				seen[j] = true
				pairs = append(pairs, papers.LinePair{Scale: scale, Place: j})
			}
		}
	}
	return pairs
}

// TestLineDeficitsTwin: Listed has exactly the pairs whose S, by the definition, is below Below:
// at scales of all sizes, and at all those of the rows' distances.
//
// Shows: [AMN24] Theorem C.3.
func TestLineDeficitsTwin(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(41, 1))
	found, extreme := 0, 0
	for range stattest.Trials(30, 100) {
		s, rows := randomLine(rng), lineRows(rng, rng.IntN(16))
		if err := s.Validate(1); err != nil {
			t.Fatal(err)
		}
		listed := lineLists(t, s, rows)
		scales := []int64{-3600, 3599}
		for range 20 {
			scales = append(scales, rng.Int64N(7200)-3600, rng.Int64N(120)-60)
		}
		for p := range listed { // and those around what is listed
			scales = append(scales, p.Scale-1, p.Scale, p.Scale+1)
			if len(scales) > 60 {
				break
			}
		}
		slices.Sort(scales)
		for _, scale := range slices.Compact(scales) {
			if scale < -3600 || scale > 3599 {
				continue
			}
			for _, p := range nearRows(scale, rows) {
				want := lineTwin(s, p, rows)
				got, ok := listed[p]
				if !ok {
					got = s.Below
				}
				if got != want {
					t.Fatalf("%+v of %v: %v lacks %d, the twin says %d", s, rows, p, got, want)
				}
				if want < s.Below {
					found++
					if scale > 400 || scale < -400 {
						extreme++
					}
				}
			}
		}
		for p, got := range listed {
			if want := lineTwin(s, p, rows); got != want {
				t.Fatalf("%+v of %v: %v lacks %d, the twin says %d", s, rows, p, got, want)
			}
		}
		best := s.Below
		for _, v := range listed {
			best = min(best, v)
		}
		if got := s.Scores(rows, 1); !slices.Equal(got, []int64{-int64(best)}) {
			t.Fatalf("%+v of %v: the best pair has %v, want %d", s, rows, got, -best)
		}
	}
	if found < 500 || extreme < 5 {
		t.Errorf("%d pairs below, %d of them at extreme scales: the search sees too few", found, extreme)
	}
}

// TestLineDeficitsNeighbours climbs to neighbours whose lists differ most: no pair's S moves by
// more than 1, where one that is not listed has Below; 1 is reached.
func TestLineDeficitsNeighbours(t *testing.T) {
	rng := rand.New(rand.NewPCG(42, 1))
	for _, relation := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
		reached, crossed := 0, 0
		for range stattest.Trials(150, 400) {
			s, rows := randomLine(rng), lineRows(rng, 2+rng.IntN(14))
			other := slices.Clone(rows)
			if at := rng.IntN(len(rows)); relation == privacy.ReplaceOne {
				other[at] = lineRows(rng, 1)[0]
			} else {
				other = slices.Delete(other, at, at+1)
			}
			a, b := lineLists(t, s, rows), lineLists(t, s, other)
			for side, list := range []map[papers.LinePair]int{a, b} {
				for p, v := range list {
					w, ok := []map[papers.LinePair]int{b, a}[side][p]
					if !ok {
						w = s.Below
						crossed++
					}
					if v-w > 1 || w-v > 1 {
						t.Fatalf("%+v, %v: %v has %d and %d for %v and %v", s, relation, p, v, w, rows, other)
					}
					reached = max(reached, v-w, w-v)
				}
			}
		}
		if stated := int(new(papers.LineDeficits).Sensitivity(relation)); reached != stated || crossed < 250 {
			t.Errorf("%v: the search reaches %d of the stated %d, and %d pairs enter or leave a list", relation, reached, stated, crossed)
		}
	}
}

// TestLineDeficitsRefuses: what cannot be asked, and that a valid one is the kernel's own.
func TestLineDeficitsRefuses(t *testing.T) {
	good := papers.LineDeficits{Target: 2, Below: 14}
	for want, change := range map[string]func(s *papers.LineDeficits, d *int){
		"one column":           func(_ *papers.LineDeficits, d *int) { *d = 2 },
		"a Target of 1":        func(s *papers.LineDeficits, _ *int) { s.Target = 0 },
		"a Below of 1 to 7":    func(s *papers.LineDeficits, _ *int) { s.Below = 15 },
		"as many finite Means": func(s *papers.LineDeficits, _ *int) { s.Means, s.Factor = []float64{1}, 2 },
		"positive SDs":         func(s *papers.LineDeficits, _ *int) { s.Means, s.SDs, s.Factor = []float64{1}, []float64{0}, 2 },
		"a finite Factor": func(s *papers.LineDeficits, _ *int) {
			s.Means, s.SDs, s.Factor = []float64{1}, []float64{1}, math.NaN()
		},
		"finite Factor of at lea": func(s *papers.LineDeficits, _ *int) { s.Means, s.SDs, s.Factor = []float64{1}, []float64{1}, .5 },
	} {
		s, d := good, 1
		change(&s, &d)
		if err := s.Validate(d); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q, got %v", want, err)
		}
	}
	q := papers.Selection{Scores: []papers.Score{good}}
	if q.Validate(1) != nil || q.Kind() != "select: line deficits" || q.Sensitivity(privacy.ReplaceOne, 0) != 1 {
		t.Errorf("%v, %q", q.Validate(1), q.Kind())
	}
}
