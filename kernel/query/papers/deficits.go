package papers

import (
	"fmt"
	"math"

	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// CellDeficits scores a Gaussian N(m, L L^T) by how many of its cells hold fewer rows than they
// should: with z = Maps[i](row) = L^-1 (row - m), cut into shells by |z| and into orthants by the
// signs of z,
//
//	score(i) = -sum over cells of max(0, Targets[cell] - #{rows in cell}),
//
// between minus the sum of the targets and 0. If the cells are equally probable under N(0, I) and
// Targets[cell] = w n/cells, -score is how many rows have to be changed until w n of them have
// exactly the Gaussian's counts.
//
// Sensitivity 1 under both relations. Which cell a row is in, if any, depends on the row and the
// option alone. One row more or less changes one count by 1, hence one term by at most 1. One row
// replaced takes 1 from a count, so that one term may rise by at most 1, and adds 1 to another (or
// the same), so that one may fall by at most 1: the sum moves by at most 1.
//
// Source: [AMN24] Algorithm 2 (the score, in a form that can be computed).
// Differs: counts in cells stand for "a subset of w n rows on which a robust estimator answers (m,
// L L^T)". It locates only roughly: broad Gaussians that cover several components score well.
type CellDeficits struct {
	Maps []query.Affine // the options, each to the same 1 to 5 coordinates
	// increasing and positive: the outer radius of each shell; the last shell is unbounded
	Radii []float64
	// per cell, shell by shell, public: orthant o of a shell has z_i < 0 where bit i of o is set
	Targets []int
}

const (
	maxOrthantDims = 5
	maxShells      = 1024
)

// CellCount returns the number of cells of the given number of shells in d coordinates.
func CellCount(shells, d int) int { return shells << d }

// Kind returns "cell deficits".
func (CellDeficits) Kind() string { return "cell deficits" }

// Validate returns an error if the frames, the radii or the targets cannot be used.
func (s CellDeficits) Validate(d int) error {
	if len(s.Maps) == 0 {
		return fmt.Errorf("query: CellDeficits.Maps: want at least one option, got none")
	}
	out := s.Maps[0].Out()
	for _, f := range s.Maps {
		if err := f.Validate(d); err != nil {
			return err
		}
		if f.Out() != out || out > maxOrthantDims {
			return fmt.Errorf("query: CellDeficits.Maps: want 1 to %d coordinates, the same number in all, got %d and %d", maxOrthantDims, out, f.Out())
		}
	}
	for i, r := range s.Radii {
		if !(r > 0 && r <= maxRadius) || i > 0 && !(r > s.Radii[i-1]) || i >= maxShells {
			return fmt.Errorf("query: CellDeficits.Radii: want at most %d increasing numbers in (0, %g], got %v after %d others", maxShells, maxRadius, r, i)
		}
	}
	if want := CellCount(len(s.Radii)+1, out); len(s.Targets) != want {
		return fmt.Errorf("query: CellDeficits.Targets: want one number per cell (%d), got %d", want, len(s.Targets))
	}
	for _, t := range s.Targets {
		if t < 0 || t > maxPoints {
			return fmt.Errorf("query: CellDeficits.Targets: want 0 to %d rows, got %d", maxPoints, t)
		}
	}
	return nil
}

// Options returns the number of frames.
func (s CellDeficits) Options() int { return len(s.Maps) }

// Sensitivity returns 1.
func (CellDeficits) Sensitivity(privacy.Relation) int64 { return 1 }

// Scores returns minus the deficit of every option.
func (s CellDeficits) Scores(rows []float64, d int) []int64 {
	scores, counts := make([]int64, len(s.Maps)), make([]int, len(s.Targets))
	for i, f := range s.Maps {
		clear(counts)
		q := f.Out()
		for z := images(f, rows, d); len(z) > 0; z = z[q:] {
			if cell, ok := cellAround(z[:q], s.Radii); ok {
				counts[cell]++
			}
		}
		for cell, target := range s.Targets {
			scores[i] -= int64(max(0, target-counts[cell]))
		}
	}
	return scores
}

// cellAround returns the cell of a point; ok is false where |z|^2 overflows.
func cellAround(z, radii []float64) (cell int, ok bool) {
	norm2, orthant := 0.0, 0
	for i, v := range z {
		norm2 += float64(v * v)
		if v < 0 {
			orthant |= 1 << i
		}
	}
	shell := 0
	for shell < len(radii) && norm2 > radii[shell]*radii[shell] {
		shell++
	}
	return shell<<len(z) | orthant, !math.IsInf(norm2, 1)
}
