// Package check recomputes what a reader of certificates can check without the program that wrote
// them: how far one row can change the answer to a line of the plan, from the line's own words and
// numbers, and whether a file has a key twice. It knows no release, no session and no table.
package check
