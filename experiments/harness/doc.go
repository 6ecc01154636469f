// Package harness runs experiments: many fits of random tables, in parallel, each scored against
// the truth, with results kept in a file so that an interrupted experiment goes on where it
// stopped; and it writes the tables and pictures of what came out.
//
// The rows of a run are a function of its seed. The noise is that of the kernel and has none: a
// repetition of an experiment agrees with it up to chance, which the intervals show. The noise of a
// run that is taken from the file is not drawn again.
package harness
