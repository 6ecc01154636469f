// Package rehearsal makes tables over which fits run as over any other, with the noise of the
// operating system, and are overheard: what each measurement asked, what it released, and what the
// sums were before the noise. Or their answers are replaced by recorded ones, which shows whether
// anything but answers decides what a fit does. What such a fit releases is marked as simulated.
//
// It weakens no promise: its tables are made of rows that its caller has in plain sight, and could
// add up without it. A table that a Builder has protected, and so one that was read from a source,
// cannot be rehearsed, and nothing here changes how much noise is drawn. The audit alone may import
// it (internal/archtest).
package rehearsal

import (
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/internal/stage"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// What is heard of a session, and what it is given.
type (
	Heard  = stage.Heard
	Script = stage.Script
)

// Table protects rows of d columns, under the relation of the one session that s is for.
func Table(rows [][]float64, d int, r privacy.Relation, s *Script) *kernel.Table {
	return stage.Table(rows, d, r, s, 1)
}
