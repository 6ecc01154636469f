package blocks

import (
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"testing"

	"github.com/gauze-dp/gauze/kernel/internal/core"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// seedy returns the number of rows and of the seed that a block got: functions of its arguments
// that no two blocks share.
func seedy(rows [][]float64, seed uint64) ([][]float64, error) {
	sum := 0.
	for i, r := range rows {
		sum += r[0] * float64(i+1)
	}
	return [][]float64{{sum, float64(seed >> 11)}}, nil
}

func blockEstimates(t *testing.T, r privacy.Relation, values []float64, l core.Learner, m int, seed uint64) [][][]float64 {
	t.Helper()
	s := openMasked(t, r, values, kerneltest.Seeded(t, seed))
	b := by(l, m)
	b.Seed = 7
	c, err := b.check(s.SubBudget())
	if err != nil {
		t.Fatal(err)
	}
	out, err := estimatesOf(s, c)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func estimatesOf(s *core.Session, c checked) (out [][][]float64, err error) {
	err = core.Secretly(s.SubBudget(), func(d *core.Draw) (err error) { out, err = c.estimates(d); return err })
	return out, err
}

// TestOneRowChangesOneBlock: at 1 and at 16 processors the estimates of neighbours are the same but
// for one block, seeds included.
func TestOneRowChangesOneBlock(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	rng := rand.New(rand.NewPCG(3, 4))
	const n, m = 60, 16
	for _, r := range both {
		for trial := range uint64(20) {
			var x []float64
			for range n {
				x = append(x, rng.NormFloat64())
			}
			y := neighbour(r, x, rng.IntN(n), []float64{100, math.NaN(), 1e300}[trial%3])
			runtime.GOMAXPROCS(1)
			first := blockEstimates(t, r, x, kerneltest.Own{K: 1, Width: 2, Make: seedy}, m, trial)
			runtime.GOMAXPROCS(16)
			again, other := blockEstimates(t, r, x, kerneltest.Own{K: 1, Width: 2, Make: seedy}, m, trial), blockEstimates(t, r, y, kerneltest.Own{K: 1, Width: 2, Make: seedy}, m, trial)
			changed, seeds := 0, map[float64]bool{}
			for i := range first {
				if !reflect.DeepEqual(first[i], again[i]) {
					t.Fatalf("block %d: %v at one processor, %v at 16", i, first[i], again[i])
				}
				if !reflect.DeepEqual(first[i], other[i]) {
					changed++
				}
				seeds[first[i][0][1]] = true
			}
			// a null row more changes nothing
			if changed > 1 || changed == 0 && trial%3 != 1 || len(seeds) != m {
				t.Fatalf("%v, trial %d: %d blocks changed, %d seeds", r, trial, changed, len(seeds))
			}
		}
	}
}

// TestBlockSeed: SplitMix64, unless all blocks share one.
func TestBlockSeed(t *testing.T) {
	for i, want := range []uint64{0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4, 0x06c45d188009454f} {
		if got := (Blocks{}).seedOf(i); got != want {
			t.Errorf("seed %d: %x, want %x", i, got, want)
		}
		if got := (Blocks{Seed: 9, Shared: true}).seedOf(i); got != 9 {
			t.Errorf("shared seed %d: %x", i, got)
		}
	}
}

// TestOwnLearnersKeepToTheirBlock: whatever a learner does to one block's rows or estimates, or
// instead of returning, the others' estimates stay what they were, and the table too.
func TestOwnLearnersKeepToTheirBlock(t *testing.T) {
	values := kerneltest.Zeros(40, 1)
	for i := range values[1:] {
		values[1+i] = 2 + float64(i)
	}
	const m = 10
	good := blockEstimates(t, privacy.ReplaceOne, values, kerneltest.Own{K: 1, Width: 2, Make: seedy}, m, 5)
	var kept [][]float64
	for name, evil := range map[string]func(rows, out [][]float64) ([][]float64, bool){
		"panics":       func(_, _ [][]float64) ([][]float64, bool) { panic("no") },
		"exits":        func(_, _ [][]float64) ([][]float64, bool) { runtime.Goexit(); return nil, false },
		"errs by kind": func(_, _ [][]float64) ([][]float64, bool) { return [][]float64{{1, math.Inf(1)}}, false },
		"too short":    func(_, _ [][]float64) ([][]float64, bool) { return [][]float64{{1}}, false },
		"too many":     func(_, out [][]float64) ([][]float64, bool) { return append(out, out...), false },
		"none":         func(_, _ [][]float64) ([][]float64, bool) { return nil, false },
		"writes": func(rows, out [][]float64) ([][]float64, bool) {
			for _, r := range rows {
				for i := range cap(r) {
					r[:cap(r)][i] = -1
				}
				_ = append(r, -1)
			}
			return out, true
		},
		"keeps": func(_, out [][]float64) ([][]float64, bool) { kept = out; return out, true },
	} {
		s := openMasked(t, privacy.ReplaceOne, values, kerneltest.Seeded(t, 5))
		b := by(kerneltest.Own{K: 1, Width: 2, Make: func(rows [][]float64, seed uint64) ([][]float64, error) {
			out, _ := seedy(rows, seed)
			for _, r := range rows {
				if r[0] == 1 {
					if bad, ok := evil(rows, out); !ok {
						return bad, nil
					}
				}
			}
			return out, nil
		}}, m)
		b.Seed = 7
		c, err := b.check(s.SubBudget())
		if err != nil {
			t.Fatal(err)
		}
		got, err := estimatesOf(s, c)
		if err != nil {
			t.Fatal(err)
		}
		if kept != nil {
			kept[0][0] = -7
		}
		changed := 0
		for i := range got {
			if !reflect.DeepEqual(got[i], good[i]) {
				changed++
				if got[i] != nil {
					t.Errorf("%s: block %d has %v", name, i, got[i])
				}
			}
		}
		if spared := name == "writes" || name == "keeps"; changed > 1 || spared == (changed == 1) {
			t.Errorf("%s: %d blocks changed", name, changed)
		}
		for i, v := range values {
			if row := pooledRows(s.SubBudget())[i]; row[0] != v {
				t.Errorf("%s: row %d became %v", name, i, row)
			}
		}
		kept = nil
	}
}

func BenchmarkBlocks(b *testing.B) {
	s := openMasked(b, privacy.ReplaceOne, kerneltest.Zeros(100_000), kerneltest.Seeded(b, 1))
	c, err := by(kerneltest.Own{K: 1, Width: 1, Make: func(rows [][]float64, _ uint64) ([][]float64, error) {
		v := 1.
		for range 200 {
			for _, r := range rows {
				v += math.Sqrt(v + r[0])
			}
		}
		return [][]float64{{v}}, nil
	}}, 400).check(s.SubBudget())
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := estimatesOf(s, c); err != nil {
			b.Fatal(err)
		}
	}
}
