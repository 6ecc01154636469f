// Package archtest holds tests about the whole source tree and nothing else: which package may
// import which, what library code must not call, how large things may be. docs/ARCHITECTURE.md says
// what the layers are for; a failure says why a rule is there.
package archtest
