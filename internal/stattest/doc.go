// Package stattest tests that random results have the law they should have, with
// an explicit error. For tests only.
//
// Each statistical test comes as a pair. Good.. fails the test when what was
// observed is less likely than the false-alarm rate alpha under the stated law.
// Bad.. is its counterpart and fails the test when a law that is known to be wrong
// is not rejected at alpha; it shows that the Good.. next to it can fail at all.
// Use them together, on the same observations or the same number of them:
//
//	stattest.GoodFit(t, counts, probs(sigma), stattest.FalseAlarm)
//	stattest.BadFit(t, counts, probs(1.03*sigma), stattest.FalseAlarm)
//
// A correct program fails a Good.. test with probability at most alpha, so the
// rates of all Good.. calls of a package add up to its false-alarm rate: a
// thousand calls at FalseAlarm make 1e-6. How strict that is: alpha bounds the
// rate exactly in the tests of proportions, with a KS test (whatever n is), and in
// GoodMean for Gaussian values; GoodFit and GoodSameLaw use an asymptotic law,
// with a margin for what it leaves out (see GoodFit).
//
// Misuse (probabilities that do not sum to 1, too few observations for the test
// ever to fail) ends the test at once.
package stattest

import "testing"

// FalseAlarm is the false-alarm rate to give to a single test.
const FalseAlarm = 1e-9

// judge turns a p-value into the outcome of a test: good says whether the law is
// meant to be right.
func judge(t testing.TB, good bool, p, alpha float64, what string) {
	t.Helper()
	if !(alpha > 0 && alpha < 1) {
		t.Fatalf("stattest: alpha must be in (0, 1), got %v", alpha)
	}
	if !(p >= 0 && p <= 1) {
		t.Fatalf("stattest: the p-value must be in [0, 1], got %v; %s", p, what)
	}
	switch rejected := p < alpha; {
	case good && rejected:
		t.Errorf("wrong law: p = %.3g < alpha = %.3g; %s", p, alpha, what)
	case !good && !rejected:
		t.Errorf("a wrong law was not rejected: p = %.3g ≥ alpha = %.3g; %s", p, alpha, what)
	}
}
