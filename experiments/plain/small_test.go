package plain

import (
	"context"
	"testing"

	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/experiments/engine/enginetest"
	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// What the small form allows, of the easier cells. The whole study says how often fits are wrong in
// truth (docs/experiments/plain).
const (
	smallInstances = 14
	smallGap       = 300
	wrongAtMost    = .3
)

// Fresh instances of clusters far apart, under both relations: not more of the fits are wrong than
// the limit says. False alarms: 1e-6, if the rate is what the limit says.
func TestSmall(t *testing.T) {
	o := enginetest.Options(t)
	o.Budget.Epsilon = 1
	var easy []cell
	for _, c := range cells() {
		if c.columns <= 8 && c.gap == smallGap {
			c.contender = contenders[0]
			easy = append(easy, c)
		}
	}
	wrong := 0
	relations := map[float64]int{}
	for i := range smallInstances {
		c := easy[i%len(easy)]
		o.Relation = privacy.ReplaceOne
		got, err := c.line(o).Make(context.Background(), c.rows(), engine.SeedOf(c.String(), stattest.Seed(t)+uint64(i)))
		if err != nil {
			t.Fatal(err)
		}
		relations[got.Values[addRemove]]++
		if !got.Success {
			wrong++
			t.Logf("%v: total variation %.2g, %v components in place of %v: %s%s", c, got.Values[variation], got.Values[found], got.Values[truth], got.Why, got.Note)
		}
	}
	if len(relations) != 2 {
		t.Errorf("relations %v", relations)
	}
	stattest.GoodAtMost(t, wrong, smallInstances, wrongAtMost, 1e-6)
	stattest.BadAtMost(t, smallInstances, smallInstances, wrongAtMost, 1e-6)
}
