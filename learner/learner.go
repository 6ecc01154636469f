// Package learner holds non-private learners, one package each, which sample-and-aggregate runs on
// every block of rows. Their results are not private; pooled.Cut pools it and measures the pool
// with noise.
//
// A learner receives raw rows, so it has to be read to trust the system, though much less closely
// than the kernel: the guarantee holds whatever its answer. But it must not let a row out another
// way. So
//
//   - it imports this package and the plain parts of the standard library, and has no package
//     variables (internal/archtest). No gonum: its linear algebra runs on implementations that any
//     package of the process can replace (blas64.Use, lapack64.Use), which would then see the rows,
//     and keeps workspaces that hold them;
//   - it is a struct of numbers, and what it learns is a function of its fields, the rows and the
//     seed (the kernel checks the former, and that its package is below this one);
//   - it does not print, log, or start goroutines that outlive the call.
//
// A learner of a user's own ([Mixture]) is held to none of this by a test: what its author answers
// for instead is in docs/LEARNERS.md, and certificates say that it was not one of these.
//
// Source: [KSSU19] Section B.11 of the restatement.
package learner

// A Learner estimates something from the rows of a block. It is kernel.Learner, which the kernel
// states for itself.
type Learner interface {
	// Estimates is k, the number of estimates that Learn returns, at least 1. One changed row of a
	// table changes all k of one block, so all noise is multiplied by k.
	Estimates() int
	// Coordinates is the length of an estimate for rows of d columns, at least 1.
	Coordinates(d int) int
	// Learn returns k estimates from the rows, which are finite and of one length, or an error. A
	// block whose learner errs, panics or returns a value that is not finite counts as k null rows,
	// and nothing reports it.
	//
	// Learn may change the rows. seed is public: the same arguments give the same estimates.
	Learn(rows [][]float64, seed uint64) ([][]float64, error)
}

// An Error says why a block taught nothing. It is a constant, so that no learner's package needs a
// variable.
type Error string

// Error returns the text.
func (e Error) Error() string { return string(e) }

// ErrTooFew is the error of a block with too few rows to learn from.
const ErrTooFew Error = "learner: too few rows"
