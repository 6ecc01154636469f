// Package cite keeps the sources and the code together: it collects the tags that say which
// algorithm of which source a symbol implements, checks their keys against papers/refs.bib, and
// writes the tables made of them: docs/ALGORITHMS.md, docs/STATEMENTS.md and the one inside
// cmd/gauze.
//
// A tag is a paragraph of a doc comment (of a package, function, method, type, constant or
// variable):
//
//	Source: [KEY] Algorithm 3; privacy Lemma 4.
//	Differs: the noise is Gaussian.
//
// A test that would fail if a numbered statement of a source did says so in its doc comment:
//
//	Shows: [KEY] Lemma 4; Theorem 5.
//
// papers/statements.csv lists the statements, and docs/STATEMENTS.md, made of it and the tags,
// where each is in the code and which test shows it.
//
// Several sources are separated by semicolons; what follows a semicolon without a key belongs to
// the key before it.
package cite

//go:generate go run ./cmd/cite
