// Package report turns a release into a self-contained HTML page or a short text for a terminal. It
// reads the release and nothing else, so whatever it shows is as private as the release is.
//
// The page needs no script, no network and no font of its own. Its pictures are inline SVG that
// follows the page's colours, light, dark or printed. Column names and the texts of a certificate
// are treated as hostile input.
//
// Components marked as background (they describe the rows that are in no other component) and those
// whose place and spread are noise are in no picture and no table: one line counts them.
package report
