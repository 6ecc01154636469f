package release

import (
	"fmt"
	"strconv"
)

// The kinds of a test of agreement among blocks and of its mask, see the kernel's blocks.StableKind
// and pure.PopularKind: one line of the plan each.
const (
	QueryStable  = "of blocks: stable mean"
	QueryPopular = "of blocks: popular estimate"
)

// QueryOwnSpace is the kind of the popular estimate in a space that is not part of Gauze:
// pure.PopularOwnKind. Its author vouches for the cost of its mask.
const QueryOwnSpace = "of blocks: popular estimate in its author's space"

// agreements checks that every test of agreement has its mask, every mask its test, and both the
// numbers that they have to state; d is the model's dimension, 0 if there is none.
func (v *verifier) agreements(c *Certificate, d int) {
	tests, masks := map[string]int{}, map[string]int{}
	for i := range c.Plan {
		s := &c.Plan[i]
		field := func(name string) string { return fmt.Sprintf("certificate.plan, step %q, %s", s.Step, name) }
		known := s.Query == QueryStable || s.Query == QueryPopular
		switch {
		case s.Mask != nil && !known:
			v.fault(true, field("query"), fmt.Sprintf("%q or %q, which have masks", QueryStable, QueryPopular), strconv.Quote(s.Query))
		case s.Mask != nil:
			masks[s.Query] += s.Count
			kind, dimension := MaskParameters, d
			if s.Query == QueryStable {
				kind, dimension = MaskLifted, d+1
			}
			if s.Mask.Kind != kind || d > 0 && s.Mask.Dimension != dimension {
				v.fault(true, field("mask"), fmt.Sprintf("kind %q of dimension %d", kind, dimension), fmt.Sprintf("%q of %d", s.Mask.Kind, s.Mask.Dimension))
			}
		case known:
			tests[s.Query] += s.Count
			v.fault(!(s.Delta > 0), field("delta"), "the chance that the test passes where blocks do not agree", fmt.Sprint(s.Delta))
			v.fault((s.Query == QueryPopular) != (s.Pure > 0) || s.Query == QueryStable && s.curved(), field("pure"), "a pure loss for popular estimates, and noise for a stable mean", fmt.Sprint(s.Pure))
		}
	}
	for _, query := range []string{QueryStable, QueryPopular} {
		if t, m := tests[query], masks[query]; (t != 0 || m != 0) && (t != 1 || m != 1) {
			v.fault(true, "certificate.plan", fmt.Sprintf("one test and one mask for %q", query), fmt.Sprintf("%d and %d", t, m))
		}
	}
}
