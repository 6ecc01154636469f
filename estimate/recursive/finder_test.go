package recursive

import (
	"testing"

	"github.com/gauze-dp/gauze/parts/coreset"
)

// TestStepsHoldTheWorstCase: each level looks at nodes up to
// mostLooks times, zooms up to mostZooms times and grows a tree; and what is reserved before a
// tree is grown pays for all of its levels.
func TestStepsHoldTheWorstCase(t *testing.T) {
	levels := 0.
	for q := 1; q <= broad.most; q++ {
		first, last := coreset.Levels(q, q > flatTree)
		levels = max(levels, float64(last-first+1))
	}
	if paid := levels / levelsPaid; paid > 1.5 {
		t.Errorf("a tree costs %v of its share; 1.5 is reserved", paid)
	}
	const below = mostLevels - 1
	most := map[string]float64{
		stepRadius: 1,
		stepLook:   1 + mostLooks*(below+mostAcross), stepTree: levels * (1 + below + mostAcross), stepRefine: mostRefinements * below,
	}
	cost := map[string]float64{
		stepRadius: radiusShare,
		stepLook:   pcaShare + mostLooks*(below+mostAcross)*lookShare, stepRefine: most[stepRefine] * refineShare,
	}
	for _, s := range Steps("", 1) {
		if n, ok := most[s.Name]; ok && float64(s.Most) < n {
			t.Errorf("%s: the plan has %d, there may be %v", s.Name, s.Most, n)
		}
		if c, ok := cost[s.Name]; ok && s.Share < c*(1-1e-12) {
			t.Errorf("%s: the plan has %v of mu^2, it may cost %v", s.Name, s.Share, c)
		}
	}
	if root := mostNear + radiusShare + pcaShare + treeShare*levels/levelsPaid; root > .385+1e-9 {
		t.Errorf("the root costs up to %v", root)
	}
}
