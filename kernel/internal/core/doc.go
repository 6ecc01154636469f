// Package core is where rows and noise meet: tables, plans, sessions, sub-budgets, sums, and the
// one function from rows to an answer, Measure. The packages kernel, kernel/blocks and kernel/pure
// bring mechanisms to it; the core knows none of them.
//
// To check it, read in this order: kernel/privacy (what is added up, and when it ends), table.go,
// plan.go, session.go, subbudget.go, measure.go (charge, compute, draw, record), draw.go (what a
// mechanism can reach), sum.go and kernel/query (sums and their sensitivity; closed.go there keeps
// all other types out), internal/engine (how rows are read; fast.go has short cuts to the same
// sums, which tests compare), internal/noise (what is drawn), and derive.go (tables of block
// estimates).
package core
