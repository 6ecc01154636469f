package pairs

import (
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel/engine/local"
	"github.com/gauze-dp/gauze/kernel/internal/leaves"
	"github.com/gauze-dp/gauze/kernel/internal/noise"
	"github.com/gauze-dp/gauze/kernel/internal/rows"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query/rings"
)

// drawRuns draws pairs of runs of so many of n rows, and must not ask what is in them.
func drawRuns(t *testing.T, src noise.Source, n, want int) [][2]int32 {
	t.Helper()
	drawn, run := drawPairs(src, privacy.ReplaceOne, rings.Pairs{Buckets: []int{1}}, n, func() []int32 {
		t.Fatal("it was asked where rows are")
		return nil
	})
	if len(drawn) != 1 || run != want {
		t.Fatalf("%d rows: %d leaves, runs of %d", n, len(drawn), run)
	}
	return drawn[0]
}

// expanded are the pairs of rows that pairs of runs stand for, by their meaning: the k-th of one
// with the k-th of the other, which is turned.
func expanded(runs [][2]int32, run int) (pairs [][2]int32) {
	for _, p := range runs {
		var other []int32
		first := p[1] - p[1]%int32(run)
		for i := range int32(run) {
			other = append(other, first+i)
		}
		turn := p[1] - first
		for k, y := range slices.Concat(other[turn:], other[:turn]) {
			pairs = append(pairs, [2]int32{p[0] + int32(k), y})
		}
	}
	return pairs
}

const manyRuns, shortRuns = 1 << 10, 1 << 15

const fewest = manyRuns * rows.PieceRows

// TestRunsDisjoint: runs are as long as leaves enough of them, no row is in two pairs, and all but
// those of an odd run and of one that is not whole are in one, of two runs; and what is drawn takes
// at most as much for each row as a pair of numbers for every two of all of them.
func TestRunsDisjoint(t *testing.T) {
	for seed, c := range []struct{ n, run int }{{3*shortRuns - 1, 1}, {3 * shortRuns, 3}, {7*shortRuns - 1, 3}, {7*shortRuns + 5, 7}, {200_000, 3}, {14 * shortRuns, 14},
		{28*shortRuns - 1, 14}, {28 * shortRuns, 28}, {1_000_000, 28}, {fewest - 1, 28},
		{fewest, 1008}, {fewest + 1, 1008}, {fewest + 1007, 1008}, {fewest + 1008, 1008}, {fewest + 5*1008 + 7, 1008}} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		runs := drawRuns(t, noise.NewSeeded(uint64(seed)), c.n, c.run)
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > uint64(5*c.n/c.run+c.n/100) {
			t.Errorf("%d rows take %d bytes", c.n, took)
		}
		seen, pairs := make([]bool, c.n), expanded(runs, c.run)
		for _, p := range pairs {
			if seen[p[0]] || seen[p[1]] || p[0] == p[1] || int(p[0])/c.run == int(p[1])/c.run {
				t.Fatalf("%d rows: %v", c.n, p)
			}
			seen[p[0]], seen[p[1]] = true, true
		}
		if want := c.n / c.run / 2 * c.run; len(pairs) != want {
			t.Errorf("%d rows: %d pairs, want %d", c.n, len(pairs), want)
		}
	}
}

// TestRunPartnersUniform: a row's partner is as likely in every other run, and at every place in
// it. False-alarm rate 4e-9.
func TestRunPartnersUniform(t *testing.T) {
	src := noise.NewSeeded(stattest.Seed(t))
	const row, own, parts = 3*rows.PieceRows + 17, 3, 7
	run, place, both := make([]int, manyRuns-1), make([]int, rows.PieceRows), make([]int, parts*parts)
	for range 12000 {
		for _, p := range drawRuns(t, src, fewest, rows.PieceRows) {
			if p[0]/rows.PieceRows != own && p[1]/rows.PieceRows != own {
				continue
			}
			for _, pair := range expanded([][2]int32{p}, rows.PieceRows) {
				if pair[0] != row && pair[1] != row {
					continue
				}
				with := int(pair[0] + pair[1] - row)
				r := with / rows.PieceRows
				if r > own {
					r--
				}
				run[r]++
				place[with%rows.PieceRows]++
				both[r*parts/(manyRuns-1)*parts+with%rows.PieceRows*parts/rows.PieceRows]++
			}
		}
	}
	cells := make([]float64, parts*parts)
	for r := range manyRuns - 1 {
		cells[r*parts/(manyRuns-1)*parts] += 1. / (manyRuns - 1) / parts
	}
	for i := range cells { // 1008 is a multiple of 7
		cells[i] = cells[i-i%parts]
	}
	stattest.GoodFit(t, run, slices.Repeat([]float64{1. / (manyRuns - 1)}, manyRuns-1), stattest.FalseAlarm)
	stattest.GoodFit(t, place, slices.Repeat([]float64{1. / rows.PieceRows}, rows.PieceRows), stattest.FalseAlarm)
	stattest.GoodFit(t, both, cells, stattest.FalseAlarm)
	cells[0], cells[1] = 1.6*cells[0], .4*cells[1]
	stattest.BadFit(t, both, cells, stattest.FalseAlarm)
}

// TestShortRuns: a row's partner is as likely in every part of the table outside its own run, and
// at every place of a run; and a share of the pairs of a table whose first half is unlike its
// second varies as little as is said. False-alarm rate 2e-9, and as little again.
func TestShortRuns(t *testing.T) {
	src := noise.NewSeeded(stattest.Seed(t))
	const n, run, parts, draws = 3 * shortRuns, 3, 8, 3000
	both, mean, square := make([]int, parts*run), 0.0, 0.0
	for range draws {
		runs, across := drawRuns(t, src, n, run), 0
		for _, p := range runs {
			if p[0] < n/2 != (p[1] < n/2) {
				across++
			}
			if p[0] != n-run && p[1]/run != n/run-1 { // the last run: parts are those of all rows but three
				continue
			}
			place := int(p[1]+p[0]) % run // of the partner of its first row, or of the first row's
			both[int(min(p[0], p[1]))/run*parts/(n/run)*run+place]++
		}
		share := float64(across) / float64(len(runs))
		mean, square = mean+share/draws, square+share*share/draws
	}
	if sd := math.Sqrt(square - mean*mean); sd > 1./250*1.2 || sd < 1./250/2 { // of a normal law, known to 1.3 %
		t.Errorf("the share of pairs across the middle has a mean of %v and an sd of %v", mean, sd)
	}
	probs := slices.Repeat([]float64{1. / parts / run}, parts*run)
	stattest.GoodFit(t, both, probs, stattest.FalseAlarm)
	probs[0], probs[1] = probs[0]*1.6, probs[1]*.4
	stattest.BadFit(t, both, probs, stattest.FalseAlarm)
}

// TestRunsTwin: sums over pairs of runs are those over the pairs of rows that they stand for,
// whoever reads them, with null rows and differences that overflow; and one row that is replaced
// changes the sum by what its own pair does.
func TestRunsTwin(t *testing.T) {
	src := noise.NewSeeded(5)
	const n, d = 9*rows.PieceRows + 100, 2
	draw := func() float64 {
		odd := []float64{math.NaN(), 1e308, -1e308, 0, 5e-324}
		if i := int(noise.Uniform(src, 20)); i < len(odd) {
			return odd[i]
		}
		return math.Ldexp(float64(noise.Uniform(src, 1000))-500, int(noise.Uniform(src, 40))-20)
	}
	all := make([][]float64, n)
	for i := range all {
		all[i] = []float64{draw(), draw()}
	}
	table := func() *rows.Table {
		t := rows.New(d)
		for _, row := range all {
			t.Append(row)
		}
		return t
	}
	for _, run := range []int{rows.PieceRows, 28, 3} {
		runs := drawMatching(src, n/run)
		for i, p := range runs {
			runs[i] = [2]int32{p[0] * int32(run), p[1]*int32(run) + int32(noise.Uniform(src, uint64(run)))}
		}
		q := rings.PairOctaves{Columns: d, Low: -30, High: 1030}
		sum := func(workers int) []int64 {
			return leaves.SumPairs(local.Engine{Workers: workers}, table(), q, runs, run)
		}
		before := sum(1)
		for _, workers := range []int{0, 1, 3} {
			if want := leaves.SumPairs(local.Engine{Workers: workers}, table(), q, expanded(runs, run), 1); !slices.Equal(sum(workers), want) {
				t.Errorf("%d workers: %v, want %v", workers, sum(workers), want)
			}
		}
		moved := 0
		for range 60 {
			at := int(noise.Uniform(src, n))
			was := all[at]
			all[at] = []float64{draw(), draw()}
			norm := 0.0
			for i, v := range sum(2) {
				norm += float64((v - before[i]) * (v - before[i]))
			}
			if all[at] = was; math.Sqrt(norm) > q.PairSensitivity() {
				t.Errorf("row %d changes the sum by %v, at most %v is stated", at, math.Sqrt(norm), q.PairSensitivity())
			} else if norm > 0 {
				moved++
			}
		}
		if moved < 20 {
			t.Errorf("%d rows of 60 change anything: the test could hardly fail", moved)
		}
	}
}
