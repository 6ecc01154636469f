package query

import "github.com/gauze-dp/gauze/kernel/privacy"

// A Forged query is of this folder, and so passes for one of its own: it says that it is a count,
// of sensitivity 1, and adds 1,000 for every row.
type Forged struct{}

func (Forged) Kind() string                         { return "count" }
func (Forged) Validate(int) error                   { return nil }
func (Forged) Size() int                            { return 1 }
func (Forged) Sensitivity(privacy.Relation) float64 { return 1 }
func (Forged) Weight(int) float64                   { return 1 }
func (Forged) Unit() float64                        { return 1 }
func (Forged) Compile(d int) RowMap                 { return forgedMap(d) }

type forgedMap int

func (d forgedMap) Add(sum []int64, rows []float64) { sum[0] += 1000 * int64(len(rows)/int(d)) }

// A Liar is a leaf of a registered type in a wrapper that states another kind than it holds.
type Liar struct{ Partial }

func (Liar) Kind() string { return "count" }
