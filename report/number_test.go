package report

import "testing"

// TestPercent: a share is written with as many digits as its neighbours, also just below a step.
func TestPercent(t *testing.T) {
	for share, want := range map[float64]string{0: "0 %", 0.0002: "< 0.1 %", 0.0931: "9.3 %", 0.0998: "10 %", 0.1: "10 %", 1: "100 %"} {
		if got := percent(share); got != want {
			t.Errorf("percent(%v): wanted %q, got %q", share, want, got)
		}
	}
}
