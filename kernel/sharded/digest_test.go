package sharded

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/kernel/internal/engine"
)

// digest is of what TestSameEverywhere asks for, as linux/amd64 found it first: the completed form
// is younger than the others.
const digest = "6ebdfeb3f0f7158b72e5ad98651a1d77a73ff5f9c76b3a8316a0ecff0569a025"

// TestSameEverywhere: the integers of every kind that workers are asked are the same on whatever
// processor this runs: workers of one table may differ in theirs, and which of them has a row,
// which others decide, must not change what it contributes. They were so with and without fused
// multiply-add (GOAMD64=v1 and v3), and on arm64.
func TestSameEverywhere(t *testing.T) {
	const n = 20_000
	rng, table, row := rand.New(rand.NewPCG(7, 20)), engine.NewTableIn(columns, nil), make([]float64, columns)
	for range n {
		for j := range row { // no logarithm, which differs by itself
			row[j] = (rng.Float64() + rng.Float64() - 1) * []float64{1, 3, 20}[rng.IntN(3)]
		}
		table.Append(row)
	}
	all, found := asks(n), sha256.New()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintln(found, name, all[name](engine.Local{}, table))
	}
	if got := fmt.Sprintf("%x", found.Sum(nil)); got != digest {
		t.Errorf("the integers' digest is %s, want %s", got, digest)
	}
}

// What a process knows of a store is forgotten, and of no other.
func TestForget(t *testing.T) {
	const n = 3 * engine.ChunkRows
	known := func(s Store) (all int) {
		sound.Range(func(of, _ any) bool { all += map[bool]int{true: 1}[of.(reading).Store == s]; return true })
		tables.Range(func(of, _ any) bool { all += map[bool]int{true: 1}[of.(reading).Store == s]; return true })
		return all
	}
	left, gone := newMemory(1), newMemory(1)
	for _, m := range []*memory{left, gone} {
		e, table := New(m, Here{m}), mixedIn(n, m)
		asks(n)["pairs"](e, table)
		if known(m) < 3 {
			t.Errorf("%d are known", known(m))
		}
	}
	Forget(gone)
	if known(gone) > 0 || known(left) < 3 {
		t.Errorf("%d are known of what is forgotten, and %d of another", known(gone), known(left))
	}
}
