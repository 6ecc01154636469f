// Package source reads inputs: it reads one once, from front to back, and passes every row to a
// sink.
//
// The rows of a table are the rows of its input, in order, one for one. A cell that is missing or
// not a finite number is bad, and so is its row; the cell becomes NaN, and the row is never dropped
// and never repaired, because what a bad row counts for is a question of privacy (a row of NaNs is
// the null row under replace-one, no row under add-or-remove-one) and the kernel answers it.
//
// # Memory
//
// Rows are streamed. Beyond one row, only the look-ahead of an inferred schema is held:
// lookAheadRows rows, or fewer where the table has more than lookAheadCells/lookAheadRows columns.
//
// # The schema is public
//
// With a declared schema no cell can change which columns are fitted, and names, order and units
// tell nothing about a row.
//
// An inferred schema (Schema.Infer) is a convenience for the custodian and is not private. Which
// columns a release has then depends on cells: one person's text cell can move a column across the
// threshold numberShare, and one cell out of sequence turns a row identifier into a column to fit.
// Somebody who knows all other rows could read that bit off the release with certainty; no epsilon
// covers it. It tells little where columns are plainly numeric or plainly text, which is the common
// case, but it is not nothing, so the certificate says "inferred". Declaring the same columns the
// next time costs nothing.
//
// The number of rows, bad rows, errors and everything in a Report also depend on cells. They are
// for the custodian's terminal: never part of a release, never in a log, never shown to an analyst.
package source
