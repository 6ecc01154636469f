package kernel

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/gauze-dp/gauze/kernel/internal/core"
	"github.com/gauze-dp/gauze/kernel/internal/engine"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// A tight is a room for so many chunks: all later ones overwrite each other, as on a full disk.
type tight struct {
	left int
	lost []float64
	err  error
}

var errFull = errors.New("the disk is full")

func (r *tight) Chunk(n int) []float64 {
	if r.left--; r.left >= 0 {
		return make([]float64, 0, n)
	}
	r.err = errFull
	if cap(r.lost) < n {
		r.lost = make([]float64, 0, n)
	}
	return r.lost[:0:n]
}

func (*tight) Leave([]float64) {}

func (r *tight) Err() error { return r.err }

// TestRoomForDerivedTables: a table that is made of the rows and does not fit into their room is
// refused: one row would stand in it many times, and no sensitivity would hold.
func TestRoomForDerivedTables(t *testing.T) {
	const chunks = 5 // of numbers, and as many of codes; the first of a table is outside of the room
	for name, make := range map[string]func(*core.SubBudget) (*core.SubBudget, error){
		"narrow":   func(a *core.SubBudget) (*core.SubBudget, error) { return Narrow(a, []int{1}) },
		"recode":   func(a *core.SubBudget) (*core.SubBudget, error) { return Recode(a, [][]string{{"a"}}) },
		"complete": func(a *core.SubBudget) (*core.SubBudget, error) { return Complete(a, plainCompletion(2, 1)) },
	} {
		for spare, full := range map[int]bool{0: true, chunks - 2: true, chunks - 1: false} {
			room := &tight{left: 2*(chunks-1) + spare}
			b := core.NewMixedBuilder(2, 1, room)
			for i := range chunks * engine.ChunkRows {
				b.Append([]float64{float64(i), 1, float64(i % 2)})
			}
			b.NameCodes([][]string{{"a", "b"}})
			plan := core.Plan{Method: "test", Steps: []core.Step{step}}
			s, err := core.Open(context.Background(), b.Protect(privacy.ReplaceOne), plan, core.Terms{Relation: privacy.ReplaceOne, Budget: privacy.Budget{Rho: 2}})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := make(s.SubBudget()); errors.Is(err, errFull) != full || !full && err != nil {
				t.Errorf("%s with room for %d chunks of %d: %v", name, spare, chunks-1, err)
			}
		}
	}
}

// plainCompletion returns standard Gaussians of d columns, k times the same.
func plainCompletion(d, k int) (c Completion) {
	for j := range d {
		c.Columns, c.Center, c.Scale, c.Rest = append(c.Columns, j), append(c.Center, 0), append(c.Scale, 1), append(c.Rest, 0)
	}
	for range k {
		cov := make([][]float64, d)
		for a := range cov {
			cov[a] = make([]float64, d)
			cov[a][a] = 1
		}
		c.LogWeights, c.Means, c.Covs = append(c.LogWeights, 0), append(c.Means, make([]float64, d)), append(c.Covs, cov)
	}
	return c
}

// TestCompleteForgetsPatterns: what is remembered of patterns of missing cells stays small, however
// many of them the rows have.
func TestCompleteForgetsPatterns(t *testing.T) {
	const d, k = 40, 8
	c := completer{Completion: plainCompletion(d, k), coin: func() float64 { return .5 }, known: map[string][]conditional{}}
	for i := range 2000 {
		row := make([]float64, d)
		for j := range row {
			if i>>(j%11)&1 == 1 {
				row[j] = math.NaN()
			}
		}
		c.complete(row)
	}
	numbers := 0
	for _, of := range c.known {
		for _, g := range of {
			for _, rows := range [][][]float64{g.factor, g.slope, g.noise} {
				for _, r := range rows {
					numbers += len(r)
				}
			}
		}
	}
	if numbers > mostKnown || len(c.known) < 10 {
		t.Errorf("%d numbers of %d patterns are remembered, at most %d are allowed", numbers, len(c.known), mostKnown)
	}
}
