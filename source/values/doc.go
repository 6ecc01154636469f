// Package values reads rows that a Go program holds: slices and iterators of numbers, and answers
// of database/sql.
package values
