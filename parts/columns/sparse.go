package columns

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
)

// Utility constants of sparse columns, guesses except for octaveSDs.
const (
	// A column is sparse if less than this part of the rows differ from the centre.
	sparsePart = .6
	// octaveSDs: a run of octaves is clear with this many noise sds. A column has less than 1.4e4
	// runs, so noise alone gets there in one of 1e4 columns.
	octaveSDs = 5.7
	// What the noise should be: the fullest run holds a third of the rows that differ or more,
	// times the root of its length, and then is wantedRun sds.
	leastRun, wantedRun = .3, 8.0
)

// runLengths are those of the runs of octaves that rows are sought in.
var runLengths = [...]int{1, 2, 4}

// ladder returns the edges at powers of two on both sides of a centre, as far in as numbers differ
// from it and as far out as there are numbers. Bin below is that of the centre, which begins with
// it, and has one of nearest numbers below it; lowest is the octave of the next bins on both sides.
func ladder(center float64) (edges []float64, lowest, below int) {
	_, exponent := math.Frexp(center)
	lowest = -500 // of Narrowest
	if center != 0 {
		lowest = max(lowest, exponent-53)
	}
	for e := highOctave; e >= lowest; e-- {
		if x := center - math.Ldexp(1, e); !math.IsInf(x, 0) {
			edges = append(edges, x)
		}
	}
	edges = append(edges, center)
	below = len(edges)
	for e := lowest; e <= highOctave; e++ {
		if x := center + math.Ldexp(1, e); !math.IsInf(x, 0) {
			edges = append(edges, x)
		}
	}
	return edges, lowest, below
}

// Known returns the units of columns whose centres and scales are known otherwise.
func Known(center, scale []float64) Units {
	d := len(center)
	return Units{Center: center, Scale: scale, Constant: make([]bool, d), Varied: slices.Repeat([]float64{math.NaN()}, d), settled: slices.Repeat([]bool{true}, d)}
}

// FindOthers looks for the scales of columns of [Known] of which most cells have the centre: it
// counts the rows that differ, with VariedMu2 at most, and finds the octaves of the columns in
// which these are clear, with SparseMu2 at most. The other columns are constant.
func (u *Units) FindOthers(a *kernel.SubBudget, cfg UnitsConfig, one []bool) error {
	if !slices.Contains(one, true) {
		return nil
	}
	q := u.others(one)
	enough := ConstantSDs * q.Sensitivity(a.Session().Relation()) / (againUnseen * cfg.Rows)
	answer, err := a.Sum(stepVaried.Of(cfg.Prefix), q, math.Min(enough, math.Sqrt(cfg.VariedMu2)))
	if err != nil {
		return err
	}
	u.VariedSD = answer.Sigma
	sparse := slices.Clone(one)
	for j, is := range one {
		if is {
			u.Varied[j] = answer.Values[j]
			u.Constant[j] = u.Varied[j] < ConstantSDs*u.VariedSD
			sparse[j] = !u.Constant[j]
		}
	}
	err = u.findSparse(a, SparseStep.Of(cfg.Prefix), cfg.SparseMu2, sparse)
	u.noteUnseen()
	return err
}

// findSparse looks for the scales of columns in which few rows differ from the centre: a noisy
// search by halves would end in a random octave. One histogram of the octaves of the differences of
// all of them, every bin with its noise, costs no delta, and shows the fullest octaves or that none
// is clear: an octave that is not where rows are is taken for one in less than one of 1e4 columns.
// It marks as constant what it cannot see: Varied says how many rows differ nevertheless.
func (u *Units) findSparse(a *kernel.SubBudget, step string, mu2 float64, sparse []bool) error {
	relation := a.Session().Relation()
	d, most := len(sparse), math.Sqrt(mu2*(1-1e-9))
	var q query.Counts
	var fewest float64
	for {
		q.Edges = make([][]float64, d)
		least, any := -1, false
		for j, is := range sparse {
			if is {
				q.Edges[j], _, _ = ladder(u.Center[j])
				if any = true; least < 0 || u.Varied[j] < u.Varied[least] {
					least = j
				}
			}
		}
		if !any {
			return nil
		}
		if fewest = u.Varied[least]; fewest*most >= octaveSDs*q.Sensitivity(relation) {
			break
		}
		sparse[least], u.Constant[least] = false, true // not even one octave would be clear
	}
	mu := math.Min(most, wantedRun*q.Sensitivity(relation)/(leastRun*fewest))
	answer, err := a.Sum(step, q, mu)
	if err != nil {
		return err
	}
	counts := answer.Values
	for j, edges := range q.Edges {
		if len(edges) == 0 {
			continue
		}
		_, lowest, below := ladder(u.Center[j])
		octave, clear := fullestOctave(counts[:len(edges)+1], below, answer.Sigma)
		counts = counts[len(edges)+1:]
		if u.Constant[j] = !clear; clear {
			u.Scale[j] = math.Ldexp(1, min(lowest+octave, highOctave))
		}
	}
	return nil
}

// An octaveRun is a run of octaves on one side of the centre, or on both.
type octaveRun struct {
	from, to int
	counts   []float64
	sds      float64
}

// fullestOctave returns the octave, counted from the lowest, of the .6 quantile of the rows in the
// clear runs of octaves of a ladder with below bins below the centre's; it is not clear if there
// are none.
func fullestOctave(counts []float64, below int, sigma float64) (octave int, clear bool) {
	down, up := slices.Clone(counts[:below-1]), counts[below+1:]
	slices.Reverse(down)
	both := make([]float64, max(len(down), len(up)))
	floats.Add(both[:len(down)], down)
	floats.Add(both[:len(up)], up)
	var runs []octaveRun
	for side, c := range [][]float64{down, up, both} {
		for _, length := range runLengths {
			noise := sigma * math.Sqrt(float64(length*(1+side/2)))
			for from := 0; from+length <= len(c); from++ {
				if sum := floats.Sum(c[from : from+length]); sum >= octaveSDs*noise {
					runs = append(runs, octaveRun{from, from + length, c, sum / noise})
				}
			}
		}
	}
	slices.SortFunc(runs, func(a, b octaveRun) int { return int(math.Copysign(1, b.sds-a.sds)) })
	rows := make([]float64, len(both)) // of the clearest runs that do not overlap
	total := 0.0
	taken := make([]bool, len(both))
	for _, r := range runs {
		if slices.Contains(taken[r.from:r.to], true) {
			continue
		}
		for i := r.from; i < r.to; i++ {
			taken[i], rows[i] = true, math.Max(0, r.counts[i])
			total += rows[i]
		}
	}
	for i, sum := 0, 0.0; i < len(rows); i++ {
		if sum += rows[i]; rows[i] > 0 && sum >= scaleQuantile*total {
			return i, true
		}
	}
	return 0, false
}
