// Package ledger counts what is spent on data sets: each has a budget that was granted, and a fit
// reserves its whole cost, durably, before it reads a row. What it reserved stays spent however it
// ends, unless no measurement was drawn.
//
// The order is reserve, read, settle (the plan's exact worst case, once the number of rows is
// known), measure, record. Each is one transaction that is on disk before the next begins, so that
// a process or a database server that dies between any two has counted too much at most.
// Transactions that write exclude each other, so that fits at the same time never overspend
// together.
//
// What fits cost together, and when an account is full, is proved and computed in package privacy,
// for requests that may depend on everything that was released before.
//
// Every entry holds the hash of the one before, and a code under a secret key: [Ledger.Verify]
// detects every change by somebody without the key. It cannot detect that a whole ledger was
// replaced by an older copy of itself, unless it is given a head noted elsewhere.
//
// The package sees no row. It knows a table by keyed fingerprints that others compute.
package ledger
