package blocks

import (
	"math"

	"github.com/gauze-dp/gauze/kernel/internal/core"
	"github.com/gauze-dp/gauze/kernel/internal/engine"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// Pool cuts the rows into secret blocks, runs the learner on each, and returns a sub-budget, with
// all that a had left, whose measurements see the table of the pooled estimates in place of the
// rows: m k of them, k per block. Return gives the rest back. Nothing is released or spent.
//
// The derived table's relation is replace-one with m k public, whatever the session's relation is;
// plans and certificates name its queries with "of blocks: " before them (see kernel.OfBlocks), and
// every sensitivity is k times the query's own.
//
// Theorem. Given the secret draw, which is as likely for one neighbour as for the other, the
// derived tables of neighbours differ in the rows of one block at most. So each measurement of the
// derived session, with k times its sensitivity, satisfies the statement of its own theorem.
//
// Proof: kernel/blocks/blocks_proof.md, steps 1 to 4.
//
// A block's k rows are the learner's estimates or, if it errs, panics, or returns anything but k
// vectors of the right length with finite values, k null rows. So a failure shows only as k rows of
// a table that is measured with noise, and no block size shows at all. The draw is never released.
// For what must hold of the learner see Secret.
//
// Source: [KSSU19] Sections A.6 and B.11 of the restatement.
func Pool(a *core.SubBudget, b Blocks) (*core.SubBudget, error) {
	c, err := b.check(a)
	if err != nil {
		return nil, err
	}
	t := engine.NewTable(c.width)
	err = core.Secretly(a, func(d *core.Draw) error {
		pooled, err := c.estimates(d)
		for _, estimates := range pooled {
			for j := range c.k {
				if estimates == nil {
					t.Append(nil) // a null row
				} else {
					t.Append(estimates[j])
				}
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return core.Instead(a.Take(math.Inf(1)), t, privacy.ReplaceOne, c.k), nil
}
