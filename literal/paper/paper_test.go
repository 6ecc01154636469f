package paper

import (
	"testing"

	"github.com/gauze-dp/gauze/kernel/privacy"
)

// TestFits: what a part of a budget pays for fits into it, and leaves next to nothing.
func TestFits(t *testing.T) {
	for _, mu2 := range []float64{1e-12, .02, 3, 50} {
		for _, mu := range []float64{privacy.MuOfPure(PureEpsilon(mu2)), privacy.MuOfBoundedRange(SelectionEpsilon(mu2))} {
			if !(mu*mu <= mu2 && mu*mu > mu2*(1-1e-6)) {
				t.Errorf("of %v an epsilon that costs %v", mu2, mu*mu)
			}
		}
	}
}

// Numbers of rows are written as people write them, however long.
func TestRowsText(t *testing.T) {
	for n, want := range map[float64]string{41234: "41,000", 72: "72", 999.6: "1,000", 2.3e7: "23,000,000", 4.1e12: "4.1e+12"} {
		if got := RowsText(n); got != want {
			t.Errorf("%v: got %s, want %s", n, got, want)
		}
	}
}
