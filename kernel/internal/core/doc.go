// Package core is where rows and noise meet: tables, plans, sessions, sub-budgets, sums, and
// Measure, the one function that leads from rows to an answer. The packages kernel, kernel/blocks
// and kernel/pure bring mechanisms to it; the core knows none of them.
//
// To check it, read in this order: kernel/privacy (how losses add up, and when the budget ends),
// table.go, plan.go, session.go, subbudget.go, measure.go (charge, compute, draw, record), draw.go
// (what a mechanism has access to), sum.go and kernel/query (sums and their sensitivity; sealed.go
// there keeps all other types out), internal/engine (how rows are read; fast.go has short cuts to
// the same sums, which tests compare), internal/noise (the samplers), and derive.go (tables of
// block estimates).
package core
