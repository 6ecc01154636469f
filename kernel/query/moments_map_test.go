package query

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/kernel/internal/rowkernels"
)

// softMap is a map of so many components of one or a few columns, with the panel's shares, lengths
// and coordinates for a test to write.
func softMap(rng *rand.Rand, k int) (*MomentsMap, []int64) {
	q := ClippedMoments{Form: FullForm, Lift: .5}
	for range k {
		a := Affine{Center: []float64{0, 0, 0}}
		for range 1 + rng.IntN(3) {
			a.W = append(a.W, []float64{1, 0, 0})
		}
		q.Components = append(q.Components, Component{Map: a, Radius: math.Exp(rng.NormFloat64())})
	}
	return q.Compile(3).(*MomentsMap), make([]int64, q.Size())
}

// finish adds what waits and returns the trace of every component's block.
func finish(m *MomentsMap, sum []int64) (traces []int64) {
	for _, p := range m.Parts {
		p.addWaiting(sum)
		p.gram.Flush(sum[p.offset:])
		trace, at := int64(0), p.offset
		for row := p.gram.Dim; row > 0; row-- {
			trace, at = trace+sum[at], at+row
		}
		traces = append(traces, trace)
	}
	return traces
}

// TestHostileShares: whatever shares, lengths, coordinates and scales a row comes with, as a bug
// would have it, the squared lengths of its vectors have no larger sum than 2^(2B).
func TestHostileShares(t *testing.T) {
	rng := rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	hostile := []float64{0, 1e-4, .5, 1, 1 + 1e-9, 2, 40, 1e9, 1e300, -1, math.Inf(1), math.NaN(), 5e-324, 65536}
	anything := func() float64 {
		if rng.IntN(2) == 0 {
			return rng.Float64()
		}
		return hostile[rng.IntN(len(hostile))]
	}
	kept := 0
	for trial := range 20000 {
		m, sum := softMap(rng, 2+rng.IntN(5))
		row := rng.IntN(rowkernels.Rows)
		for _, p := range m.Parts {
			p.share[row], p.norm2[row] = anything(), anything()
			for i := range p.z {
				p.z[i][row] = anything()
			}
			if trial%3 == 0 {
				p.Scale *= anything()
			}
		}
		m.roundFull(sum)
		total := int64(0)
		for _, trace := range finish(m, sum) {
			if trace < 0 {
				t.Fatalf("a trace of %d", trace)
			}
			total += trace
		}
		if total > rowkernels.GramBound {
			t.Fatalf("a row of squared norm %d is kept", total)
		}
		kept += int(min(total, 1))
	}
	if kept < 5000 {
		t.Errorf("%d rows are kept: the test could hardly fail", kept)
	}
}

// TestAllSharesPass: a row whose shares have the sum 1 is kept in all components that it has a
// share of, also if every coordinate is rounded up and all vectors are as long as their radius
// allows; and one row more than a panel waits for does not change what others add.
func TestAllSharesPass(t *testing.T) {
	rng := rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	for range 3000 {
		k := 2 + rng.IntN(40)
		m, sum := softMap(rng, k)
		twice, double := *m, slices.Clone(sum)
		rows := 1 + rng.IntN(rowkernels.Rows)
		for r := range rows {
			total := 0.0
			for _, p := range m.Parts {
				p.share[r] = math.Exp(4 * rng.NormFloat64())
				total += p.share[r]
			}
			for _, p := range m.Parts {
				p.share[r], p.norm2[r] = p.share[r]/total, 0
				for i := range p.z {
					p.z[i][r] = p.Radius * (1 + rng.Float64())
					p.norm2[r] += p.z[i][r] * p.z[i][r]
				}
			}
		}
		count, shares := make([]float64, k), m.Share
		for j := range shares {
			for _, s := range shares[j][:rows] {
				if s >= MinShare {
					// f_0^2 q^2 R, and twice the largest error of rounding
					h := m.Parts[j].Scale * m.Parts[j].lift * math.Sqrt(s)
					count[j] += h * h
				}
			}
		}
		m.roundFull(sum)
		finish(m, sum)
		for j, p := range m.Parts {
			if got := float64(sum[p.offset]); math.Abs(got-count[j]) > 65536*float64(rows) {
				t.Fatalf("component %d of %d: a count of %v, want about %v", j, k, got, count[j])
			}
		}
		for range 2 {
			twice.roundFull(double)
		}
		finish(&twice, double)
		for i, v := range sum {
			if double[i] != 2*v {
				t.Fatalf("twice the rows add %d, not twice %d", double[i], v)
			}
		}
	}
}

// TestHostileCompletion: whatever lengths, coordinates, shares, radii and scales a row of the
// completed form comes with, as a bug would have it, its squared length is at most 2^(2B), or it
// adds nothing.
func TestHostileCompletion(t *testing.T) {
	rng := rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	hostile := []float64{0, 1e-4, .5, 1, 1 + 1e-9, 2, 40, 1e9, 1e300, -1, -1e300, math.Inf(1), math.Inf(-1), math.NaN(), 5e-324, 65536}
	anything := func() float64 {
		if rng.IntN(2) == 0 {
			return rng.Float64()
		}
		return hostile[rng.IntN(len(hostile))]
	}
	kept := 0
	for trial := range 20000 {
		a := Affine{Center: []float64{0, 0, 0}, W: [][]float64{{1, 0, 0}, {0, 1, 0}}}
		q := ClippedMoments{Form: CompletedForm, Lift: .5, Components: []Component{{Map: a, Radius: 1}}}
		m, sum, row := q.Compile(3).(*MomentsMap), make([]int64, q.Size()), rng.IntN(rowkernels.Rows)
		p := m.Parts[0]
		p.share[row], p.norm2[row] = anything(), anything()
		for i := range p.z {
			p.z[i][row] = anything()
		}
		p.gram.H[p.gram.Dim-1][row] = anything() // left from before
		if trial%3 == 0 {
			p.Scale, p.lift, p.Radius = p.Scale*anything(), p.lift*anything(), anything()
		}
		m.roundFull(sum)
		for _, trace := range finish(m, sum) {
			if trace < 0 || trace > rowkernels.GramBound {
				t.Fatalf("a row of squared norm %d is kept", trace)
			}
			kept += int(min(trace, 1))
		}
	}
	if kept < 2000 {
		t.Errorf("%d rows are kept: the test could hardly fail", kept)
	}
}
