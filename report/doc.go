// Package report turns a release into something to look at: a self-contained HTML page, and a short
// text for a terminal. It reads the release and nothing else, so whatever it shows is as private as
// the release is.
//
// The page needs no script, no network and no font of its own. Its pictures are inline SVG that
// follows the page's colours, light, dark or printed. Column names and the texts of a certificate
// are treated as hostile input.
//
// Pictures leave out the components that are marked as background (they hold the rows that no other
// component explains and are too wide to draw with the others), and say so. The tables show all.
package report
