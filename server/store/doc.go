// Package store keeps what the server knows, in one database with its ledger: people and tokens,
// data sets and who was granted what, fits and releases.
//
// Everything that changes a budget changes in the same transaction as what it is about
// ([ledger.Ledger.Write]): a fit is there if and only if its cost is reserved, and a release if and
// only if its fit has ended with one. Who did what is noted in the ledger's chain of hashes.
//
// The package decides nothing: who may do what is decided by server/service, and what an analyst
// sees when follows from its slot, whose length is arithmetic on public facts ([Slot]).
package store
