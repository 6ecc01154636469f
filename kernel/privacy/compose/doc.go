// Package compose says what fits cost together: the fits of one account, and the fits of disjoint
// groups of rows. With privacy.Filter, which composes the steps of one fit, it holds every theorem
// of composition that the system rests on; the ledger and the front door only call it.
//
// Like package privacy it is arithmetic only, losses rounded up and budgets down. It sees no row.
package compose
