package kernel

import (
	"runtime"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel/internal/noise"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// TestManyBuckets: as many buckets as noise may ask for take the memory of the rows.
func TestManyBuckets(t *testing.T) {
	const most = 1 << 20
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, buckets := range [][]int{{1 << 26}, {1 << 25, 1, 1 << 25}} {
		draw(noise.NewSeeded(1), privacy.AddRemoveOne, len(buckets) == 1, make([]int, 6), buckets...)
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > most {
		t.Errorf("six rows take %d MB", got>>20)
	}
}

// TestBucketsTwin: however many buckets there are, the pairs are the two rows of smallest tag in
// each, found by looking through all rows for every bucket.
func TestBucketsTwin(t *testing.T) {
	src, paired := noise.NewSeeded(2), 0
	for trial := range 3000 {
		n, buckets := int(noise.Uniform(src, 40)), []int{1 << (trial % 9), 1 << (trial % 4)}
		leaves, draws := make([]int, n), make([][2]uint64, n)
		for i := range leaves {
			leaves[i], draws[i] = int(noise.Uniform(src, 3))-1, [2]uint64{src.Uint64(), src.Uint64()}
		}
		got := coupled(privacy.AddRemoveOne, false, leaves, draws, buckets...)
		for l, count := range buckets {
			want := [][2]int{}
			for b := range count {
				var in []int
				for i := range leaves {
					if leaves[i] == l && noise.Uniform(stattest.Replay(draws[i][:1]), uint64(count)) == uint64(b) {
						in = append(in, i)
					}
				}
				slices.SortFunc(in, func(i, j int) int { return slices.Compare(draws[i][1:], draws[j][1:]) })
				if len(in) > 1 {
					want = append(want, [2]int{in[0], in[1]})
				}
			}
			if fresh, gone := compare(got[l], want); fresh+gone > 0 {
				t.Fatalf("leaves %v, %d buckets: got %v, want %v", leaves, count, got[l], want)
			}
			paired += len(want)
		}
	}
	if paired < 1000 {
		t.Errorf("%d pairs: the test could hardly fail", paired)
	}
}
