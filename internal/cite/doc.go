// Package cite keeps the sources and the code together: it collects the tags that say which
// algorithm of which source a symbol implements, checks their keys against papers/refs.bib, and
// writes the two tables made of them, docs/ALGORITHMS.md and the one inside cmd/gauze.
//
// A tag is a paragraph of a doc comment (of a package, function, method, type, constant or
// variable):
//
//	Source: [KEY] Algorithm 3; privacy Lemma 4.
//	Differs: the noise is Gaussian.
//
// Several sources are separated by semicolons; what follows a semicolon without a key belongs to
// the key before it.
package cite

//go:generate go run ./cmd/cite
