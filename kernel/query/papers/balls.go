package papers

import (
	"fmt"
	"slices"

	"github.com/gauze-dp/gauze/kernel/internal/rowkernels"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// BallCounts scores a radius r by how crowded the balls of that radius around the points z =
// Map(row) are: with N_i(r) = min(t, #{l : |z_l - z_i| <= r}),
//
//	score(r) = t L(r) = sum of the t largest N_i(r)  (fewer than t points: of all of them),
//
// between 0 and t^2, and t^2 iff t points have t points within r each. With AboveThreshold it is
// the test for t duplicates.
//
// Sensitivity 2t-1 under both relations. Which of two points lie within r of each other depends on
// these two alone. So a point i that is replaced, added or removed changes N_j by at most 1 for
// every other j, and N_i, taken as 0 where i is absent, by at most t. The score is the largest sum
// of N over t points (those absent have 0): over t points that include i, the sum changes by at
// most (t-1) + t, over others by at most t <= 2t-1; hence so does the largest of these sums.
// (Attained: t-1 duplicates and one more.)
//
// Time O(m^2 q) at most for m rows in q dimensions, and less where many rows are at once within two
// neighbouring radii of one, or beyond the last; memory O(m q + t radii).
//
// Source: [KSSU19] Section B.1 of the restatement. Differs: in units of 1/t, so that it is an
// integer.
type BallCounts struct {
	Map   query.Affine
	Radii []float64 // the options: 1 to 4096 numbers in [0, 1e150]
	T     int       // t: 1 to 2^29
}

// Kind returns "ball counts".
func (BallCounts) Kind() string { return "ball counts" }

// Validate returns an error if the frame, the radii or t cannot be used.
func (s BallCounts) Validate(d int) error { return validBalls("BallCounts", s.Map, s.Radii, s.T, d) }

// Options returns the number of radii.
func (s BallCounts) Options() int { return len(s.Radii) }

// Sensitivity returns 2t-1.
func (s BallCounts) Sensitivity(privacy.Relation) int64 { return 2*int64(s.T) - 1 }

// Scores returns t L(r) for every radius.
func (s BallCounts) Scores(rows []float64, d int) []int64 {
	return topSums(images(s.Map, rows, d), s.Map, s.T, s.Radii, len(s.Radii), func(r, _ int, within []int64) int64 { return within[r] })
}

// GoodRadius scores a radius r by how well it fits a ball that holds t points while smaller ones
// hold fewer: with L as in BallCounts,
//
//	score(r) = 2t q(r) = min{ t^2 - t L(r/2), t L(r) - t^2 + Slack t },
//
// q is quasi-concave in r as L does not decrease. Slack = 4 Gamma is the number of points by which
// a ball may fall short of t.
//
// Sensitivity 2t-1 under both relations: that of t L(r) and t L(r/2), of which it is a minimum.
//
// Source: [KSSU19] Section B.1 of the restatement. Differs: in units of 1/(2t), so that it is an
// integer.
type GoodRadius struct {
	Map   query.Affine
	Radii []float64 // the options: 1 to 4096 numbers in [0, 1e150]
	T     int       // t: 1 to 2^29
	Slack int       // 4 Gamma: 0 to 2^29, in rows
}

// Kind returns "good radius".
func (GoodRadius) Kind() string { return "good radius" }

// Validate returns an error if the frame, the radii, t or the slack cannot be used.
func (s GoodRadius) Validate(d int) error {
	if s.Slack < 0 || s.Slack > maxPoints {
		return fmt.Errorf("query: GoodRadius.Slack: want 0 to %d rows, got %d", maxPoints, s.Slack)
	}
	return validBalls("GoodRadius", s.Map, s.Radii, s.T, d)
}

// Options returns the number of radii.
func (s GoodRadius) Options() int { return len(s.Radii) }

// Sensitivity returns 2t-1.
func (s GoodRadius) Sensitivity(privacy.Relation) int64 { return 2*int64(s.T) - 1 }

// Scores returns 2t q(r) for every radius.
func (s GoodRadius) Scores(rows []float64, d int) []int64 {
	both := slices.Clone(s.Radii)
	for _, r := range s.Radii {
		both = append(both, r/2)
	}
	sums := BallCounts{Map: s.Map, Radii: both, T: s.T}.Scores(rows, d)
	scores, t := make([]int64, len(s.Radii)), int64(s.T)
	for i := range scores {
		scores[i] = min(t*t-sums[len(scores)+i], sums[i]-t*t+int64(s.Slack)*t)
	}
	return scores
}

// TerrificRadius scores a radius r by whether some point is the centre of a terrific ball: t points
// within r, t points beyond c r, and few between. With in, ann and out the numbers of points at
// distance d <= r, r < d <= c r and d > c r from z_i = Map(row i), and h_i(r) = min(in, t) +
// min(out, t) - min(ann, t) - t, cut to [0, t],
//
//	score(r) = t L*(r) = sum of the t largest h_i(r)  (fewer than t points: of all of them).
//
// Options keep the order of Radii, so that AboveThreshold scans them upwards for the smallest such
// ball and downwards for the largest.
//
// Sensitivity 3t-2 under replace-one and 2t-1 under add-or-remove-one. Any other point is, for i,
// in one of the three classes. One point added or removed changes one class by 1, hence h_i by at
// most 1; one replaced leaves one class for another, hence by at most 2. The point's own h, taken
// as 0 where it is absent, changes by at most t. The score is the largest sum of h over t points
// (those absent have 0): with the point among them it changes by at most (t-1) + t or 2(t-1) + t,
// without it by at most t or, for t >= 2, 2t <= 3t-2; for t = 1 the score itself lies in [0, 1].
//
// Time and memory as for BallCounts.
//
// Source: [KSSU19] Section B.4 of the restatement. Differs: in units of 1/t, so that it is an
// integer.
type TerrificRadius struct {
	Map   query.Affine
	Radii []float64 // the options: 1 to 4096 numbers in [0, 1e150]
	C     float64   // c: a finite number of at least 1
	T     int       // t: 1 to 2^29
}

// Kind returns "terrific radius".
func (TerrificRadius) Kind() string { return "terrific radius" }

// Validate returns an error if the frame, the radii, the factor C or t cannot be used.
func (s TerrificRadius) Validate(d int) error {
	if !(s.C >= 1) || !rowkernels.Finite(s.C) {
		return fmt.Errorf("query: TerrificRadius.C: want a finite number of at least 1, got %v", s.C)
	}
	return validBalls("TerrificRadius", s.Map, s.Radii, s.T, d)
}

// Options returns the number of radii.
func (s TerrificRadius) Options() int { return len(s.Radii) }

// Sensitivity returns 3t-2 or 2t-1.
func (s TerrificRadius) Sensitivity(r privacy.Relation) int64 {
	if r == privacy.AddRemoveOne {
		return 2*int64(s.T) - 1
	}
	return 3*int64(s.T) - 2
}

// Scores returns t L*(r) for every radius.
func (s TerrificRadius) Scores(rows []float64, d int) []int64 {
	both, t, options := slices.Clone(s.Radii), int64(s.T), len(s.Radii)
	for _, r := range s.Radii {
		both = append(both, max(r, s.C*r)) // never below r, so that no point is in two classes
	}
	return topSums(images(s.Map, rows, d), s.Map, s.T, both, options, func(r, m int, within []int64) int64 {
		in, wide := within[r], within[options+r]
		return min(in, t) + min(int64(m)-wide, t) - min(wide-in, t) - t // at most min(in, t)
	})
}

const (
	maxPoints = 1 << 29 // t and slack: scores stay below 2^60
	maxRadii  = 4096
	maxRadius = 1e150 // its square is finite
)

func validBalls(name string, f query.Affine, radii []float64, t, d int) error {
	if len(radii) < 1 || len(radii) > maxRadii {
		return fmt.Errorf("query: %s.Radii: want 1 to %d radii, got %d", name, maxRadii, len(radii))
	}
	if err := query.All(name+".Radii", fmt.Sprintf("numbers in [0, %g]", maxRadius), radii, func(r float64) bool { return r >= 0 && r <= maxRadius }); err != nil {
		return err
	}
	if t < 1 || t > maxPoints {
		return fmt.Errorf("query: %s.T: want 1 to %d rows, got %d", name, maxPoints, t)
	}
	return f.Validate(d)
}

// topSums returns, for every option, the sum of the t largest values of the points z, m images of
// the frame. The value of a point, cut to [0, t] and at most m, is computed by value from within,
// which holds for each radius the number of points, itself included, at that distance or nearer.
func topSums(z []float64, f query.Affine, t int, radii []float64, options int, value func(option, m int, within []int64) int64) []int64 {
	q := f.Out()
	m := len(z) / q
	most := min(t, m)
	counts := make([]int32, options*(most+1)) // per option: the number of points with each value
	within, tree := make([]int64, len(radii)), newTree(z, q, radii)
	for i := range m {
		tree.Within(z[i*q:(i+1)*q], within)
		for o := range options {
			counts[o*(most+1)+int(max(0, min(int64(t), value(o, m, within))))]++
		}
	}
	sums := make([]int64, options)
	for o := range sums {
		left := int64(t)
		for v := most; v > 0 && left > 0; v-- {
			n := min(left, int64(counts[o*(most+1)+v]))
			sums[o] += n * int64(v)
			left -= n
		}
	}
	return sums
}
