package query

import "fmt"

// Partial asks a Sum of all rows, including those with missing cells, which every other query takes
// for null rows. The Sum sees an image of each row, under one of three Views.
//
// Answer, size, units, weights and sensitivity are those of the Sum. Privacy. The image of a row is
// a function of the row and of the query's fields alone, and a row of a kind that the Sum is proved
// for; so the images of neighbouring tables are neighbouring tables, under both relations, and
// whatever the Sum's sensitivity is for them holds here.
//
// Proof: partial_proof.md, steps 1 to 5. Caller must ensure: nothing (Fill is public or released,
// like all fields of queries).
//
// Null rows contribute zero; so do images that overflow, as the Sum says.
type Partial struct {
	Sum  // of one of the other types, by value, without queries inside
	As   View
	Fill []float64 // one finite value per column for Filled; nil for the others
}

// View says what a query sees of a row that may lack some of its cells.
type View int

const (
	// Cells shows the row as it is, for Counts of columns only. A missing cell is in no bin, and on
	// neither side of an edge.
	Cells View = iota
	// Filled puts a public or released value in place of every missing cell. If that is the centre
	// of a frame that mixes no columns, sums of z z^T are over the rows that have both cells.
	Filled
	// Presence shows 1 for a cell and 0 for a missing one: sums of products count the rows that
	// have both.
	Presence
)

// Of returns the kind of a Partial whose Sum has the given kind.
func (v View) Of(kind string) string {
	return [...]string{"present cells: ", "filled: ", "presence: "}[v] + kind
}

// Kind returns the Sum's kind with the view before it.
func (q Partial) Kind() string { return q.As.Of(q.Sum.Kind()) }

// Validate returns an error if the view is impossible for a table of d columns or for the Sum.
func (q Partial) Validate(d int) error {
	fill := 0
	switch kind := q.Sum.Kind(); {
	case q.As < Cells || q.As > Presence:
		return fmt.Errorf("query: Partial.As: want Cells, Filled or Presence, got %d", q.As)
	case q.As == Cells && kind != Histogram && kind != ColumnCounts:
		return fmt.Errorf("query: Partial.Sum: want counts of columns for cells as they are, got %q", kind)
	case q.As == Filled:
		fill = d
	}
	if len(q.Fill) != fill {
		return fmt.Errorf("query: Partial.Fill: want %d values, got %d", fill, len(q.Fill))
	}
	if err := AllFinite("Partial.Fill", q.Fill); err != nil {
		return err
	}
	return q.Sum.Validate(d)
}
