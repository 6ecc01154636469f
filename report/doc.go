// Package report turns a release into something to look at: a self-contained HTML page, and a short
// text for a terminal. It reads the release and nothing else, so whatever it shows is as private as
// the release is.
//
// The page needs no script, no network and no font of its own. Its pictures are inline SVG that
// follows the page's colours, light, dark or printed. Column names and the texts of a certificate
// are treated as hostile input.
//
// Components that are marked as background (they hold the rows that are in none of the others) and
// those whose place and spread are noise are in no picture and no table: a line counts them.
package report
