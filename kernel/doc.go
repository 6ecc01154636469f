// Package kernel is the only place where raw rows and random noise meet. An estimator sees a table
// through a Session, which releases noisy answers to the queries of a plan, and nothing else.
//
// Guarantee: let X and X' be tables that are neighbours under the session's relation. Whatever a
// program asks, adaptively, and whatever it does with the answers, all that leaves the session is
// (epsilon, delta)-DP (or rho-zCDP) as its terms say, provided the program depends on the rows only
// through the answers of sessions.
//
// The package exports the part of internal/core, the core, that estimators may see: sums with
// Gaussian noise. It adds the mechanisms that the default methods use: sums over secret pairs of
// rows ([SumPairs]), spacing histograms ([SpacingHistogram]), stability histograms
// ([StabilityHistogram]), secret subsamples ([Subsample]) and selections of columns ([Narrow]).
// Learners on blocks of rows are in package blocks, and mechanisms that only literal algorithms use
// in package pure. A fit that uses neither needs neither to be trusted; go list -deps prints what
// it needs. The guarantee rests on:
//
//   - query: only the types of its registry are measured, each under kinds of its own. Every row
//     becomes a vector of integers by itself, with a norm bound checked in integers; or an integer
//     score, or the integer masses of the gaps between values, are computed from all rows of a
//     leaf, with a proof of how far one row can change them;
//   - privacy: the sum of mu^2 over all measurements stays below the calibrated total on every path
//     (Filter), which leaves room for the curves and deltas that the plan reserves (Calibrate);
//   - internal/noise: the noise is an ideal Gaussian, rounded by an exact sampler, or discrete
//     Laplace noise or a pick of the exponential mechanism, sampled exactly; these are charged the
//     mu of their pure loss. Masks multiply by Gaussians of 512 binary places;
//   - blocks: how far one block can move the result on which blocks agree, and the rounding
//     of masked estimates.
//
// The compiler keeps other packages from the rows (internal/engine) and from the noise
// (internal/core, internal/noise). Where the language would still let them in, the kernel checks at
// run time (query.CopyOf): queries must be structs at or below package query, engines of packages
// below kernel, and learners of blocks of packages below learner; hooks must come from kerneltest,
// which refuses to seed noise outside tests. The custodian may put a learner of their own into the
// terms of the session (Terms.Own) and answers for it: an estimator can ask for it and for no
// other, and the session reports that it ran.
//
// Not protected: against code in the same process that uses package unsafe, linknames or a
// debugger, replaces crypto/rand.Reader, or makes a data race on purpose, such as overwriting a
// Session or a SubBudget while another goroutine measures (a race is as good as package unsafe);
// the time a measurement takes and the memory it needs, which depend on the rows; two sessions over
// one table, each of which spends its own budget (the ledger adds them up); the number of rows,
// under replace-one.
package kernel
