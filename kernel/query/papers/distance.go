package papers

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/gauze-dp/gauze/kernel/internal/rowkernels"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// MinimumDistance scores a mixture f_i by the distance between its predicted shares of rows in a
// list of sets A_j and the true shares:
//
//	score(i) = -max_j | round(n p_ij) - #{rows in A_j} |,
//	p_ij = f_i(A_j) as the caller states it, to a multiple of 2^-32,
//
// n the number of rows of the leaf that are not null. All mixtures are over the same Components, c
// of them with the density exp(LogWeight - |z|^2/2), z = Map(row), up to one factor common to
// all: f_i = sum over t < Parts of Share[i Parts + t] times component Index[i Parts + t]. Set j
// holds the rows where mixture Sets[j][0] has a larger density than mixture Sets[j][1] (Scheffe's
// sets), and p_ij = sum of the same shares times Mass[component][j], cut to [0, 1].
//
// Sensitivity 1 under both relations. Whether a row is in A_j depends on the row and the query
// alone, p_ij on the query alone. Replace-one where n stays: a count moves by at most 1. A row more
// (a null row replaced by a good one is one, too): n p_ij + 1/2 grows by p_ij in [0, 1], so its
// integer part grows by 0 or 1, exactly, as it is computed in integers; the count grows by 0 or 1
// as well; their difference moves by at most 1. So does its size, and the largest of several.
//
// Densities are relative to that of the largest component of any mixture that defines a set. A
// density of e^-25 of it or less counts as 0, and so does a component where |z|^2 overflows. A row
// where both densities are 0, or equal, is not in the set, but counts in n.
//
// One pass over the rows: time O(n (their components d^2 + mixtures in sets Parts + sets)), then
// O(options sets Parts).
//
// Source: [AAL21] Lemma 3.1 (the minimum distance estimate of AAK21, Theorem 27).
// Differs: f_i(A) is any number that does not depend on the rows, and the sets are listed; only
// utility depends on what they are.
type MinimumDistance struct {
	Components []query.Component // Map and LogWeight are used
	Parts      int               // per mixture, those of share 0 included
	Index      []int             // Parts per mixture
	Share      []float64         // Parts per mixture, finite and >= 0
	Sets       [][2]int          // at least one pair of mixtures
	Mass       [][]float64       // per component: its mass in every set, in [0, 1]
}

// maxPredicted bounds options times sets, and so the running time.
const maxPredicted = 1 << 29

// Kind returns "minimum distance".
func (MinimumDistance) Kind() string { return "minimum distance" }

// Validate returns an error if the components, the mixtures, the sets or the masses cannot be used.
func (s MinimumDistance) Validate(d int) error {
	if err := query.ValidDensities(s.Components, d); err != nil {
		return err
	}
	if s.Parts < 1 || len(s.Index) < s.Parts || len(s.Index)%s.Parts != 0 || len(s.Share) != len(s.Index) {
		return fmt.Errorf("query: MinimumDistance: want Parts (%d) entries of Index and Share per mixture, got %d and %d", s.Parts, len(s.Index), len(s.Share))
	}
	for i, c := range s.Index {
		if v := s.Share[i]; c < 0 || c >= len(s.Components) || !(v >= 0) || !rowkernels.Finite(v) {
			return fmt.Errorf("query: MinimumDistance: want shares of at least 0 of components below %d, got %v of %d", len(s.Components), v, c)
		}
	}
	if len(s.Sets) == 0 || len(s.Sets) > maxPredicted/s.Options() {
		return fmt.Errorf("query: MinimumDistance.Sets: want 1 to %d sets for %d options, got %d", maxPredicted/s.Options(), s.Options(), len(s.Sets))
	}
	for _, p := range s.Sets {
		if min(p[0], p[1]) < 0 || max(p[0], p[1]) >= s.Options() {
			return fmt.Errorf("query: MinimumDistance.Sets: want pairs of mixtures below %d, got %v", s.Options(), p)
		}
	}
	if len(s.Mass) != len(s.Components) {
		return fmt.Errorf("query: MinimumDistance.Mass: want one entry per component (%d), got %d", len(s.Components), len(s.Mass))
	}
	for _, m := range s.Mass {
		if len(m) != len(s.Sets) {
			return fmt.Errorf("query: MinimumDistance.Mass: want one number per set (%d), got %d", len(s.Sets), len(m))
		}
		if err := query.All("MinimumDistance.Mass", "numbers in [0, 1]", m, func(v float64) bool { return v >= 0 && v <= 1 }); err != nil {
			return err
		}
	}
	return nil
}

// Options returns the number of mixtures.
func (s MinimumDistance) Options() int { return len(s.Index) / s.Parts }

// Sensitivity returns 1.
func (MinimumDistance) Sensitivity(privacy.Relation) int64 { return 1 }

// Scores returns minus the distance of every mixture.
func (s MinimumDistance) Scores(rows []float64, d int) []int64 {
	n, counts := s.counts(rows, d)
	scores, predicted := make([]int64, s.Options()), make([]float64, len(s.Sets))
	for i := range scores {
		clear(predicted)
		for t := i * s.Parts; t < (i+1)*s.Parts; t++ {
			share := s.Share[t]
			for j, m := range s.Mass[s.Index[t]] {
				predicted[j] += float64(share * m)
			}
		}
		for j, p := range predicted {
			distance := expectedRows(n, p) - counts[j]
			scores[i] = min(scores[i], distance, -distance)
		}
	}
	return scores
}

// expectedRows returns round(n p), exactly, for p cut to [0, 1] and rounded to a multiple of 2^-32.
func expectedRows(n uint64, p float64) int64 {
	hi, lo := bits.Mul64(n, uint64(math.RoundToEven(min(max(p, 0), 1)*(1<<32))))
	lo, carry := bits.Add64(lo, 1<<31, 0)
	return int64((hi+carry)<<32 | lo>>32)
}

// counts returns the number of rows that are not null, and how many of them are in each set.
func (s MinimumDistance) counts(rows []float64, d int) (n uint64, counts []int64) {
	m := s.compile(d)
	counts = make([]int64, len(s.Sets))
	for len(rows) >= d {
		loaded := rowkernels.Load(m.x, rows, m.zero)
		rows = rows[loaded*d:]
		m.densities()
		for r := range loaded {
			if m.x[0][r] == m.x[0][r] {
				n++
			}
		}
		for j, pair := range m.sets {
			a, b := &m.mixed[pair[0]], &m.mixed[pair[1]]
			for r := range loaded {
				if a[r] > b[r] {
					counts[j]++
				}
			}
		}
	}
	return n, counts
}

// A scheffeMap computes the densities of the mixtures that define sets, for the rows of a panel.
type scheffeMap struct {
	x       []rowkernels.Column
	zero    []float64
	density *query.Densities    // of the components with positive share in these mixtures
	terms   [][]shared          // of each mixture
	mixed   []rowkernels.Column // density of each mixture
	sets    [][2]int            // as in the query, but as indices of mixed
}

// shared is a component, by its index in density, and its share of a mixture.
type shared struct {
	part  int
	share float64
}

func (s MinimumDistance) compile(d int) *scheffeMap {
	m := &scheffeMap{x: make([]rowkernels.Column, d), zero: make([]float64, d), sets: make([][2]int, len(s.Sets))}
	part, mixture, parts := map[int]int{}, map[int]int{}, []query.Component(nil)
	for j, pair := range s.Sets {
		for side, i := range pair {
			if _, ok := mixture[i]; !ok {
				mixture[i] = len(m.terms)
				m.terms = append(m.terms, s.terms(i, func(c int) int {
					at, ok := part[c]
					if !ok {
						at = len(parts)
						part[c], parts = at, append(parts, s.Components[c])
					}
					return at
				}))
			}
			m.sets[j][side] = mixture[i]
		}
	}
	m.density, m.mixed = query.DensitiesOf(parts, m.x, false), make([]rowkernels.Column, len(m.terms))
	return m
}

// terms returns the components of mixture i whose share is positive.
func (s MinimumDistance) terms(i int, part func(component int) int) (terms []shared) {
	for t := i * s.Parts; t < (i+1)*s.Parts; t++ {
		if s.Share[t] > 0 {
			terms = append(terms, shared{part(s.Index[t]), s.Share[t]})
		}
	}
	return terms
}

// densities computes mixed for the loaded panel.
func (m *scheffeMap) densities() {
	m.density.Apply(m.x, false)
	for i, terms := range m.terms {
		var sum rowkernels.Column
		for _, t := range terms {
			for r, v := range &m.density.Share[t.part] {
				sum[r] += float64(t.share * v)
			}
		}
		m.mixed[i] = sum
	}
}
