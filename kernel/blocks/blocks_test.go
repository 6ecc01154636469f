package blocks

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/internal/core"
	"github.com/gauze-dp/gauze/kernel/internal/noise"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/kernel/query/papers"
	"github.com/gauze-dp/gauze/learner/spectral"
)

var both = []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne}

// rigged is a learner of one coordinate that a test steers; the sessions of these tests take it by
// the door behind the check.
type rigged struct {
	k     int
	learn func(rows [][]float64) ([][]float64, error)
}

func (l rigged) Estimates() int      { return l.k }
func (l rigged) Coordinates(int) int { return 1 }
func (l rigged) Learn(rows [][]float64, _ uint64) ([][]float64, error) {
	return l.learn(rows)
}

// all are k estimates of one value.
func all(k int, v float64) (out [][]float64) {
	for range k {
		out = append(out, []float64{v})
	}
	return out
}

// largest returns k times the largest value of a block.
func largest(k int) rigged {
	return rigged{k, func(rows [][]float64) ([][]float64, error) {
		if len(rows) == 0 {
			return nil, errors.New("empty")
		}
		most := math.Inf(-1)
		for _, r := range rows {
			most = math.Max(most, r[0])
		}
		return all(k, most), nil
	}}
}

// unrelated returns k values that have nothing to do with those of a block that differs a little.
func unrelated(k int) rigged {
	return rigged{k, func(rows [][]float64) (out [][]float64, _ error) {
		seed := math.Float64bits(1)
		for i, r := range rows {
			seed = seed*31 + math.Float64bits(r[0])*uint64(i+1)
		}
		rng := rand.New(rand.NewPCG(seed, 1))
		for range k {
			out = append(out, []float64{3 * rng.NormFloat64()})
		}
		return out, nil
	}}
}

var lineFrame = query.Affine{Center: []float64{0}, W: [][]float64{{1}}}

// pooledQueries are asked of the table of block estimates.
func pooledQueries() map[string]any {
	part := query.Component{Map: lineFrame, Radius: 2}
	cut := query.Partition{Regions: []query.Region{
		{Conditions: []query.Condition{{Map: lineFrame, Radius: 1}}},
		{Conditions: []query.Condition{{Map: lineFrame, Radius: 1e3, Outside: false}}},
	}}
	radii := []float64{.5, 1, 2, 4}
	return map[string]any{
		"distances": query.Counts{Map: lineFrame, Edges: [][]float64{radii}},
		"bins":      query.Counts{Edges: [][]float64{{-1, 0, 1}}},
		"moments":   query.ClippedMoments{Form: query.SphericalForm, Components: []query.Component{part}},
		"parts":     query.Parts{Partition: cut, Queries: []query.Sum{query.Count{}, query.Count{}}},
		"pairs":     query.Pairs{Queries: []query.PairSum{query.PairOctaves{Columns: 1, Low: -3, High: 3}}, Buckets: []int{1}},
		"balls":     papers.Selection{Scores: []papers.Score{papers.GoodRadius{Map: lineFrame, Radii: radii, T: 5, Slack: 4}}},
		"terrific":  papers.Selection{Scores: []papers.Score{papers.TerrificRadius{Map: lineFrame, Radii: radii, C: 2, T: 4}}},
		"boxes":     papers.Selection{Scores: []papers.Score{papers.MaxBoxCount{Map: lineFrame, Side: 1, Offsets: [][]float64{{0}, {.5}}}}},
	}
}

func blocksPlan() core.Plan {
	p := core.Plan{Method: "blocks", Steps: []core.Step{{Name: "rows", Query: "count", Share: 1, Most: 1 << 30}}}
	for name, q := range pooledQueries() {
		p.Steps = append(p.Steps, core.Step{Name: name, Query: core.OfBlocks(q.(interface{ Kind() string }).Kind()), Share: 1, Most: 1 << 30})
	}
	return p
}

// openBlocks opens a session over a column of values and derives a table of block estimates.
func openBlocks(t *testing.T, r privacy.Relation, values []float64, l core.Learner, m int, h *core.TestHook) (root, derived *core.SubBudget) {
	t.Helper()
	return openBlocksOf(t, r, values, l, m, m, h)
}

// openBlocksOf is openBlocks with m of more blocks.
func openBlocksOf(t *testing.T, r privacy.Relation, values []float64, l core.Learner, m, blocks int, h *core.TestHook) (root, derived *core.SubBudget) {
	t.Helper()
	b := core.NewBuilder(1)
	for _, v := range values {
		b.Append([]float64{v})
	}
	s, err := core.Open(context.Background(), core.Hooked(b.Protect(r), h), blocksPlan(), core.Terms{Relation: r, Budget: privacy.Budget{Rho: 1e6}, Own: kerneltest.Registered})
	if err != nil {
		t.Fatal(err)
	}
	how := by(l, m)
	how.Of = blocks
	derived, err = Pool(s.SubBudget(), how)
	if err != nil {
		t.Fatal(err)
	}
	return s.SubBudget(), derived
}

func by(l core.Learner, count int) Blocks {
	return Blocks{OfTerms: kerneltest.Place(l), Count: count}
}

// TestBlocksCutTheRows: every row is in one block, or in one at most where some blocks are left
// out; under replace-one the sizes differ by one at most.
func TestBlocksCutTheRows(t *testing.T) {
	for _, r := range both {
		for _, n := range []int{0, 1, 5, 17, 100} {
			for _, m := range []int{1, 2, 7, 150} {
				for _, blocks := range []int{m, m + 1, 3 * m} {
					of := drawBlocks(noise.NewSeeded(uint64(n)), r, n, m, blocks)
					seen, least, most := make([]int, n), n, 0
					for _, rows := range of {
						least, most = min(least, len(rows)), max(most, len(rows))
						for _, i := range rows {
							seen[i]++
						}
					}
					for i, times := range seen {
						if times > 1 || times < 1 && blocks == m || len(of) != m {
							t.Fatalf("%v, n = %d, %d blocks of %d: row %d is in %d blocks", r, n, len(of), m, i, times)
						}
					}
					if r == privacy.ReplaceOne && (most-least > 1 || least < n/blocks || most > (n+blocks-1)/blocks) {
						t.Errorf("n = %d, %d blocks of %d: of %d to %d rows", n, m, blocks, least, most)
					}
				}
			}
		}
	}
}

// TestOneMoreRowChangesOneBlock: with what the common rows draw fixed, the other blocks keep
// content and order, and so do all if the row is in none that is learned from. Every row takes a
// word, and in a block another one, but where a number of at most 62 is drawn anew, with a
// probability below 2^-57 each.
func TestOneMoreRowChangesOneBlock(t *testing.T) {
	src := noise.NewSeeded(4)
	left := 0
	for trial := range 300 {
		n, m := 1+int(noise.Uniform(src, 30)), 1<<noise.Uniform(src, 5)
		blocks := m << (trial % 2)
		var words [][]uint64
		for range n {
			own := []uint64{src.Uint64(), src.Uint64()}
			if int(noise.Uniform(stattest.Replay(own), uint64(blocks))) >= m {
				own = own[:1]
			}
			words = append(words, own)
		}
		at := int(noise.Uniform(src, uint64(n)))
		with := drawBlocks(stattest.Replay(slices.Concat(words...)), privacy.AddRemoveOne, n, m, blocks)
		without := drawBlocks(stattest.Replay(slices.Concat(slices.Delete(slices.Clone(words), at, at+1)...)), privacy.AddRemoveOne, n-1, m, blocks)
		changed := 0
		for b := range with {
			for i, row := range without[b] { // row numbers as in the longer table
				if int(row) >= at {
					without[b][i]++
				}
			}
			if !slices.Equal(with[b], without[b]) {
				changed++
			}
		}
		if want := len(words[at]) - 1; changed != want {
			t.Fatalf("row %d of %d, %d blocks of %d: %d changed, want %d", at, n, m, blocks, changed, want)
		}
		left += 1 - changed
	}
	if left == 0 {
		t.Error("all rows were in blocks: the test could not fail")
	}
}

// TestLabelsUniform: a row's block is uniform, and under replace-one so is the block of a second
// row given the first's; a block that is left out is as likely as others. False-alarm rate 8e-9.
func TestLabelsUniform(t *testing.T) {
	src := noise.NewSeeded(stattest.Seed(t))
	for _, r := range both {
		for m := 2; m <= 3; m++ {
			counts := make([]int, 9)
			for range 5000 {
				label := [2]int{2, 2}
				for b, rows := range drawBlocks(src, r, 3, m, 3) {
					for _, i := range rows {
						if i < 2 {
							label[i] = b
						}
					}
				}
				counts[3*label[0]+label[1]]++
			}
			probs := slices.Repeat([]float64{1. / 9}, 9)
			if r == privacy.ReplaceOne { // one row per block
				probs = []float64{0, 1. / 6, 1. / 6, 1. / 6, 0, 1. / 6, 1. / 6, 1. / 6, 0}
			}
			stattest.GoodFit(t, counts, probs, stattest.FalseAlarm)
			probs[1], probs[2] = probs[1]*1.3, probs[2]*.7
			stattest.BadFit(t, counts, probs, stattest.FalseAlarm)
		}
	}
}

// TestOrderUniform: the rows of a block are in a random order under both relations, so that where
// they stand in the table does not show; also where others are left out. False-alarm rate 8e-9.
func TestOrderUniform(t *testing.T) {
	src := noise.NewSeeded(stattest.Seed(t))
	for _, r := range both {
		for blocks := 1; blocks <= 2; blocks++ {
			counts := make([]int, 6)
			for range 6000 {
				rows := []int32{}
				for len(rows) != 3 { // under add-or-remove-one it is some of six
					rows = drawBlocks(src, r, 3*blocks, 1, blocks)[0]
				}
				sorted := slices.Sorted(slices.Values(rows))
				at := 2 * slices.Index(sorted, rows[0])
				if rows[1] > rows[2] {
					at++
				}
				counts[at]++
			}
			probs := slices.Repeat([]float64{1. / 6}, 6)
			stattest.GoodFit(t, counts, probs, stattest.FalseAlarm)
			probs[0], probs[5] = probs[0]*1.3, probs[5]*.7
			stattest.BadFit(t, counts, probs, stattest.FalseAlarm)
		}
	}
}

// neighbour replaces a row (replace-one) or appends one: at the end, so that seeded draws give the
// common rows the same labels.
func neighbour(r privacy.Relation, values []float64, i int, v float64) []float64 {
	if r == privacy.AddRemoveOne {
		return append(slices.Clone(values), v)
	}
	other := slices.Clone(values)
	other[i] = v
	return other
}

func pooledRows(a *core.SubBudget) (out [][]float64) {
	_ = core.Secretly(a, func(d *core.Draw) error {
		for i := range d.Rows().Len() {
			out = append(out, d.Rows().Row(i))
		}
		return nil
	})
	return out
}

// TestOneRowChangesKEstimates: neighbours have pooled tables of one length that differ in the k
// rows of one block at most, null rows included, and the k rows of some block do change; also where
// most rows are in no block.
func TestOneRowChangesKEstimates(t *testing.T) {
	const k, m, n = 3, 8, 40
	rng := rand.New(rand.NewPCG(1, 2))
	for _, r := range both {
		far := 0
		for trial := range 200 {
			l := unrelated(k)
			if trial%2 == 1 {
				l = largest(k)
			}
			var x []float64
			for range rng.IntN(n) {
				x = append(x, rng.NormFloat64())
			}
			if len(x) == 0 {
				x = append(x, 1)
			}
			v := []float64{rng.NormFloat64(), math.NaN(), 1e300, math.Inf(1)}[trial%4]
			of := m * (1 + trial/2%2*2)
			_, a := openBlocksOf(t, r, x, l, m, of, kerneltest.Seeded(t, uint64(trial)))
			_, b := openBlocksOf(t, r, neighbour(r, x, rng.IntN(len(x)), v), l, m, of, kerneltest.Seeded(t, uint64(trial)))
			p, q := pooledRows(a), pooledRows(b)
			if len(p) != m*k || len(q) != m*k {
				t.Fatalf("%d and %d rows, want %d", len(p), len(q), m*k)
			}
			blocks, rows := map[int]bool{}, 0
			for i := range p {
				if math.Float64bits(p[i][0]) != math.Float64bits(q[i][0]) {
					blocks[i/k] = true
					rows++
				}
			}
			if len(blocks) > 1 {
				t.Fatalf("%v, trial %d: %d blocks changed", r, trial, len(blocks))
			}
			far = max(far, rows)
		}
		if far != k {
			t.Errorf("%v: at most %d rows changed: the test could not fail", r, far)
		}
	}
}

type reseeded struct{ noise.Source }

// TestDerivedSensitivities: exact answers over derived tables of neighbours differ by at most the
// sensitivity in the certificate, which is k times the query's own under replace-one whatever the
// session's relation is; a search comes near to it.
func TestDerivedSensitivities(t *testing.T) {
	const k, m = 3, 6
	rng := rand.New(rand.NewPCG(5, 6))
	near := map[string]float64{"distances": .99, "bins": .99, "moments": .5, "parts": .99, "pairs": .5, "balls": .1, "terrific": .1, "boxes": .99}
	for _, r := range both {
		most := map[string]float64{}
		for trial := range 150 {
			l := []core.Learner{largest(k), unrelated(k)}[trial%2]
			var x []float64
			for range 4 + rng.IntN(20) {
				x = append(x, []float64{0, .3, -2, 5, rng.NormFloat64()}[rng.IntN(5)])
			}
			v := []float64{0, 1e3, 2, -.1, math.NaN(), rng.NormFloat64()}[rng.IntN(6)]
			tables := [2][]float64{x, neighbour(r, x, rng.IntN(len(x)), v)}
			for name, q := range pooledQueries() {
				var exact [2][]int64
				var s float64
				for side, table := range tables {
					src := &reseeded{noise.NewSeeded(uint64(trial))}
					h := core.NewTestHook()
					h.Source = src
					h.Record = func(_ string, _ any, _ float64, _ []float64, e []int64) { exact[side] = slices.Clone(e) }
					_, a := openBlocks(t, r, table, l, m, h)
					// one row more has taken a word more; pairs must be the same
					src.Source = noise.NewSeeded(uint64(trial))
					s = ask(t, a, name, q)
				}
				diff, worst := 0., 0.
				for i := range exact[0] {
					d := float64(exact[0][i] - exact[1][i])
					diff, worst = diff+d*d, math.Max(worst, math.Abs(d))
				}
				diff = math.Sqrt(diff)
				if _, score := q.(papers.Selection); score {
					diff = worst
				}
				if diff > s {
					t.Fatalf("%v, %s: answers differ by %v, sensitivity %v", r, name, diff, s)
				}
				most[name] = math.Max(most[name], diff/s)
			}
		}
		t.Logf("%v: largest differences over sensitivity: %v", r, most)
		for name, least := range near {
			if most[name] < least {
				t.Errorf("%v, %s: a search reached %.3f of the sensitivity only", r, name, most[name])
			}
		}
	}
}

// ask measures q and returns the sensitivity in the certificate, in integers.
func ask(t *testing.T, a *core.SubBudget, step string, q any) float64 {
	t.Helper()
	unit := 1.
	var err error
	switch q := q.(type) {
	case papers.Selection:
		_, err = Select(a, step, q, 1)
	case query.Pairs:
		_, err = kernel.SumPairs(a, step, q, 1)
	case query.Sum:
		unit = q.Unit()
		_, err = a.Sum(step, q, 1)
	}
	if err != nil {
		t.Fatal(err)
	}
	log := a.Session().Measurements()
	return log[len(log)-1].Sensitivity / unit
}

// TestFailedBlocks: whatever the learner does, Blocks has no error, and a failed block is k null
// rows.
func TestFailedBlocks(t *testing.T) {
	fails := map[string]func([][]float64) ([][]float64, error){
		"error":        func([][]float64) ([][]float64, error) { return all(2, 1), errors.New("no") },
		"panic":        func([][]float64) ([][]float64, error) { panic("no") },
		"out of range": func(rows [][]float64) ([][]float64, error) { return rows[len(rows)+1:], nil },
		"NaN":          func([][]float64) ([][]float64, error) { return [][]float64{{1}, {math.NaN()}}, nil },
		"Inf":          func([][]float64) ([][]float64, error) { return [][]float64{{math.Inf(-1)}, {1}}, nil },
		"few":          func([][]float64) ([][]float64, error) { return all(1, 1), nil },
		"many":         func([][]float64) ([][]float64, error) { return all(3, 1), nil },
		"long":         func([][]float64) ([][]float64, error) { return [][]float64{{1, 2}, {1}}, nil },
		"none":         func([][]float64) ([][]float64, error) { return nil, nil },
	}
	for name, fail := range fails {
		for _, r := range both {
			l := rigged{2, func(rows [][]float64) ([][]float64, error) {
				for _, row := range rows {
					if row[0] == 13 {
						return fail(rows)
					}
				}
				return all(2, 1), nil
			}}
			_, a := openBlocks(t, r, []float64{1, 1, 13, 1, 1, 1, 1, 1}, l, 4, kerneltest.Seeded(t, 3))
			null := 0
			for _, row := range pooledRows(a) {
				if row[0] != row[0] {
					null++
				}
			}
			if n, public := a.Session().Rows(); null != 2 || n != 8 || !public {
				t.Errorf("%s, %v: %d null rows of %d, want 2 of 8", name, r, null, n)
			}
		}
	}
}

// TestDerivedBudget: a derived sub-budget spends from the one filter, by steps of its own names,
// and cannot make budget.
func TestDerivedBudget(t *testing.T) {
	root, a := openBlocks(t, privacy.AddRemoveOne, []float64{1, 2, 3}, largest(3), 2, kerneltest.Seeded(t, 1))
	s := root.Session()
	if root.Left() != 0 || a.Left() < s.Mu()*s.Mu()*(1-1e-12) {
		t.Errorf("root has %v left, the derived sub-budget %v", root.Left(), a.Left())
	}
	if a.Session().Relation() != privacy.ReplaceOne || s.Relation() != privacy.AddRemoveOne || a.Session().Columns() != 1 {
		t.Error("a derived session is replace-one, with the columns of an estimate")
	}
	if _, err := a.Sum("rows", query.Count{}, 1); err == nil {
		t.Error("a step of rows was asked of block estimates")
	}
	q := pooledQueries()["bins"].(query.Sum)
	if _, err := a.Sum("bins", q, 1); err != nil {
		t.Fatal(err)
	}
	log := s.Measurements()
	if len(log) != 1 || log[0].Query != "of blocks: histogram" || !(log[0].Sensitivity >= 3*math.Sqrt2) || log[0].Sensitivity > 4.25 {
		t.Errorf("certificate: %+v", log)
	}
	if _, err := Pool(a, by(largest(1), 2)); err == nil {
		t.Error("blocks of blocks: want an error")
	}
	left := a.Left()
	root.Return(a)
	if _, err := a.Sum("bins", q, 1); !errors.Is(err, core.ErrExhausted) {
		t.Errorf("after Return: %v", err)
	}
	if _, err := root.Sum("bins", q, 1); err == nil {
		t.Error("a step of block estimates was asked of rows")
	}
	if root.Left() != left || a.Session().Loss() != s.Loss() {
		t.Errorf("%v came back of %v", root.Left(), left)
	}
}

type embedded struct{ spectral.Spheres }

// TestForeignLearners: only plain structs below learner are handed rows, and faults of the other
// fields are told from public facts.
func TestForeignLearners(t *testing.T) {
	s, err := core.Open(context.Background(), core.Hooked(core.NewBuilder(1).Protect(privacy.ReplaceOne), core.NewTestHook()), blocksPlan(), core.Terms{Relation: privacy.ReplaceOne,
		Budget: privacy.Budget{Rho: 1}, Own: kerneltest.Registered})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []core.Learner{nil, largest(1), &spectral.Spheres{Components: 1}, embedded{spectral.Spheres{Components: 1}}} {
		if _, err := Pool(s.SubBudget(), Blocks{Learner: l, Count: 2}); err == nil || !strings.Contains(err.Error(), "Learner") {
			t.Errorf("%T: %v", l, err)
		}
	}
	good := spectral.Spheres{Components: 2}
	for _, b := range []Blocks{{Learner: good}, {Learner: spectral.Spheres{}, Count: 3}, {Learner: good, Count: 1 << 40}, {Learner: good, Count: 3, Radius: math.NaN()},
		{Learner: good, Count: 3, Map: query.Affine{W: [][]float64{{1, 2}}}}} {
		if _, err := Pool(s.SubBudget(), b); err == nil {
			t.Errorf("%+v: want an error", b)
		}
	}
	if a, err := Pool(s.SubBudget(), Blocks{Learner: good, Count: 3}); err != nil || a.Session().Columns() != 3 {
		t.Errorf("an empty table: %v", err)
	}
}

// TestBlocksInterrupted: a session that was given up has no block estimates, and its sub-budget
// keeps what it had.
func TestBlocksInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s, err := core.Open(ctx, core.Hooked(core.NewBuilder(1).Protect(privacy.ReplaceOne), core.NewTestHook()), blocksPlan(), core.Terms{Relation: privacy.ReplaceOne, Budget: privacy.Budget{Rho: 1}, Own: kerneltest.Registered})
	if err != nil {
		t.Fatal(err)
	}
	a := s.SubBudget()
	if _, err := Pool(a, by(largest(1), 3)); !errors.Is(err, context.Canceled) || a.Left() == 0 {
		t.Errorf("%v; %v is left", err, a.Left())
	}
}

// TestBlocksFrame: the learner sees the images of the rows in the ball, and no others.
func TestBlocksFrame(t *testing.T) {
	var seen []float64
	l := rigged{1, func(rows [][]float64) ([][]float64, error) {
		for _, r := range rows {
			seen = append(seen, r[0])
		}
		return all(1, 0), nil
	}}
	root, derived := openBlocks(t, privacy.ReplaceOne, []float64{3, 1, math.NaN(), 1e308, -7, 4}, l, 1, kerneltest.Seeded(t, 1))
	seen = nil
	root.Return(derived)
	b := by(l, 1)
	b.Radius, b.Map = 4, query.Affine{Center: []float64{1}, W: [][]float64{{2}}}
	if _, err := Pool(root, b); err != nil {
		t.Fatal(err)
	}
	slices.Sort(seen)
	if !slices.Equal(seen, []float64{0, 4}) {
		t.Errorf("the learner saw %v", seen)
	}
}

// TestBlocksAudit: one row moves all k estimates of a block from one bin to another; the likelihood
// ratio of the noisy histogram, which does not depend on the secret labels here, certifies no more
// than the claim, and noise for one estimate in place of k is caught.
//
// False-alarm rate 2e-9 per right mechanism; the wrong one is caught with probability above 1 -
// 1e-3.
func TestBlocksAudit(t *testing.T) {
	const k, m, epsilon, delta = 3, 4, 1., .01
	mu := privacy.MuOf(epsilon, delta)
	x := make([]float64, 300) // no block is empty, but with probability 1e-37
	q := query.Counts{Edges: [][]float64{{5}}}
	for _, r := range both {
		for _, factor := range []float64{1, 1. / k} {
			tables := [2][]float64{x, neighbour(r, x, 7, 10)}
			runs := runsOfAudit
			if factor < 1 {
				runs *= 2
			}
			var beyond [2]int
			for side, table := range tables {
				h := kerneltest.Seeded(t, stattest.Seed(t)+uint64(side))
				h.NoiseFactor = factor
				_, a := openBlocks(t, r, table, largest(k), m, h)
				for range runs {
					ans, err := a.Sum("bins", q, mu)
					if err != nil {
						t.Fatal(err)
					}
					// ln of the ratio of the laws on x, (mk, 0), and on the neighbour, (mk-k, k)
					own, other := ans.Values[0]-m*k, ans.Values[1]
					ratio := ((own+k)*(own+k) + (other-k)*(other-k) - own*own - other*other) / (2 * ans.Sigma * ans.Sigma * factor * factor)
					if ratio > epsilon {
						beyond[side]++
					}
				}
			}
			low, _ := stattest.ProportionBounds(t, beyond[0], runs, 2*stattest.FalseAlarm)
			_, high := stattest.ProportionBounds(t, beyond[1], runs, 2*stattest.FalseAlarm)
			certified := math.Log(math.Max(0, low-delta) / high)
			t.Logf("%v, noise factor %.2f: %d and %d of %d: epsilon >= %.3f", r, factor, beyond[0], beyond[1], runs, certified)
			if (certified > epsilon) != (factor < 1) {
				t.Errorf("%v, noise factor %.2f: certified %.3f, claimed %v", r, factor, certified, epsilon)
			}
		}
	}
}

// runsOfAudit is enough to certify half of the claim.
const runsOfAudit = 20_000

// TestDerivedThreshold: a cell of block estimates is released from a count of k + sigma PhiInv(1 -
// s/k) on: one changed block can make k cells of its own, of k estimates at most.
func TestDerivedThreshold(t *testing.T) {
	const k = 3
	var x []float64
	for v := 1; v <= 200; v++ { // cell v holds v rows, one per block, so 3v estimates
		x = append(x, slices.Repeat([]float64{float64(v)}, v)...)
	}
	b := core.NewBuilder(1)
	for _, v := range x {
		b.Append([]float64{v})
	}
	table := b.Protect(privacy.ReplaceOne)
	budget := privacy.Budget{Epsilon: 1, Delta: 1e-3}
	p := core.Plan{Method: "cells", Steps: []core.Step{{Name: "cells", Query: core.OfBlocks(query.BoxKeys{}.Kind()), Share: 1, Most: 1, Slack: 1}}}
	for _, joint := range []bool{false, true} {
		h := kerneltest.Seeded(t, 1)
		h.NoiseFactor = 0
		s, err := core.Open(context.Background(), core.Hooked(table, h), p, core.Terms{Relation: privacy.ReplaceOne, Budget: budget, Own: kerneltest.Registered})
		if err != nil {
			t.Fatal(err)
		}
		a, err := Pool(s.SubBudget(), by(largest(k), len(x)))
		if err != nil {
			t.Fatal(err)
		}
		q := query.BoxKeys{Grids: []query.Grid{{Map: lineFrame, Side: []float64{1}, Offset: []float64{0}}}, Joint: joint}
		released, sigma, err := kernel.StabilityHistogram(a, "cells", q, .9*s.Mu())
		if err != nil {
			t.Fatal(err)
		}
		least := math.Inf(1)
		for _, c := range released {
			least = math.Min(least, c.Count)
		}
		log := s.Measurements()[0]
		want := k + sigma*privacy.QuantileUp(privacy.LogSlackOf(budget.Epsilon, log.Delta)-math.Log(k))
		if !(least >= want) || least > want+k+2 || !(sigma >= k*math.Sqrt2/(.9*s.Mu())) || log.Query != "of blocks: stability histogram" {
			t.Errorf("joint %v: released from %v on, want %v; sigma %v; %+v", joint, least, want, sigma, log)
		}
	}
}
