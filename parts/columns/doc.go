// Package columns measures the columns of any table, each with its noise, and needs no bound, no
// unit and no sign.
//
// Location and scale (MeasureUnits) are measured by threshold counts only: noisy bisection for the
// median on the ordered finite float64 numbers, then for the median octave of the distance to it.
// The noise is Gaussian, so the whole is GDP on any data, under both neighbouring relations,
// without a stability threshold and its delta. A constant column gets its exact value, or 0 between
// that and -2^-511. SpreadByPairs finds the scales in one measurement of pairs instead.
//
// Source: [TYLERPRESS] Section 1, Stage0. Differs: the scale is the .6 quantile of the non-zero
// distances, not their median; early comparisons and the count of varied rows get more than an even
// share; the rank noise may be an eighth of the rows, not a tenth; below 0 the second look is
// beside 0, so that there are 65.
//
// Mean and spread (Summary) are those of all rows: zeros, atoms, codes far from all other rows and
// heavy tails are rows like others. One histogram of all columns (MeasureReach) says how far each
// reaches; one release of all second moments (Summary.Release), every column in units of its reach
// and clipped to a ball, measures them. The histogram makes the clipping harmless: beyond a reach
// no row is clear of its noise.
//
// The error of a column of spread sd and reach K sd, over n rows at loss mu: if a row counts as
// seen in a bin from c noise sds on, then K^2 <= n mu_h/(c sqrt(2d)), since so many rows that far
// out are part of sd. The noise of the released variance is sqrt2 R^2 K^2/(n mu) of it, where R^2
// is 1 and what the other columns hold, sum sd^2/reach^2: at most R^2 sqrt(mu_h^2/mu^2)/(c sqrt d),
// a few per cent, however heavy the tail. What few rows lie farther out than that is beyond what
// the budget can see, and Beyond says how many they may be.
//
// All of it is Gaussian measurements of the session's filter, or functions of released values.
package columns
