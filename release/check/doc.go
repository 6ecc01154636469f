// Package check is what a reader of certificates recomputes without having been told: how far one
// row can change what a line of the plan measured, from the line's own words and numbers, and
// whether a file says a thing once. It knows no release, no session and no table.
package check
