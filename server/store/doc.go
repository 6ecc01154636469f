// Package store keeps the server's state, in one database with its ledger: people and tokens, data
// sets and grants, fits and releases.
//
// Every change of a budget is in the same transaction as its cause ([ledger.Ledger.Write]): a fit
// exists if and only if its cost is reserved, and a release if and only if its fit has ended with
// one. Who did what is noted in the ledger's chain of hashes.
//
// The package decides nothing: who may do what is decided by server/service, and what an analyst
// sees when follows from its slot, whose length is arithmetic on public facts ([Slot]).
package store
