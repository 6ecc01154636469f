package parts

import (
	"testing"

	"github.com/gauze-dp/gauze/kernel/privacy"
)

// TestFits: measurements that share a budget fit into it, as the kernel counts them, and leave
// next to nothing.
func TestFits(t *testing.T) {
	for _, total := range []float64{1e-12, .06, 3, 1e4} {
		for _, n := range []int{1, 3, 7, 1000} {
			sum := 0.0
			for range n {
				mu := Mu(total / float64(n))
				sum = privacy.AddUp(sum, privacy.MulUp(mu, mu))
			}
			if !(sum <= total && sum > total*(1-1e-10)) {
				t.Errorf("%d parts of %v cost %v", n, total, sum)
			}
		}
	}
}
