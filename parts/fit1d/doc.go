// Package fit1d fits mixtures on a line whose rows are seen by histograms. Everything here is
// post-processing of released values: an estimator makes the measurements.
//
// The adaptive histogram (Histogram, SpacingEdges, RefinedEdges) finds where the rows are, at any
// scale and without any bound: windows of a spacing histogram give the edges of a first histogram,
// its counts give leaves (intervals with a density), and leaves give the edges of the next
// histogram, until all components are resolved.
//
// The fit (Data, Options) is of a mixture of Gaussians: weighted least squares of the bins' counts
// by Levenberg-Marquardt steps with analytic derivatives, and a deterministic search for the number
// and the places of the components. A component's mean is an offset from an origin near it, so that
// a mean of 1e12 with a standard deviation of 1e-2 loses no digit to the fit.
//
// The recording grid (Grid) is the unit in which a column looks recorded, though none was declared:
// it is inferred from one histogram that has bins of their own for the numbers that people write
// down, which are chosen from what was released before.
//
// Source: [AAL21] Section 5 of the restatement. Differs: there, windows are merged into roots, and
// each root is a tree of fan 4 with 8 levels, all of them paid. Here all windows, nested or not,
// give edges to one histogram over the whole line, with bins as wide as the window's own gaps say
// that its component is: two or three histograms do what eight levels did, each with a third of
// their noise; and a run of bins is kept for its sum, not a bin for itself. In step 5 there is one
// fit of all histograms over the whole line, not one per root; components are added where the
// counts ask for them, and exchanged, not drawn at random; so it needs neither random starts nor a
// division of the components among roots.
package fit1d
