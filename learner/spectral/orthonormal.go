package spectral

import "github.com/gauze-dp/gauze/dense"

// orthonormalize makes the n rows of a, n x m, orthonormal, each by those before it and twice for
// the sake of rounding. A row that depends on those before it becomes what rounding leaves of it,
// made long, or 0 if that is nothing.
//
// By the modified method of Gram and Schmidt.
func orthonormalize(a []float64, n, m int) {
	for i := range n {
		row := a[i*m : i*m+m]
		for range 2 {
			for j := range i {
				dense.Reject(row, a[j*m:j*m+m])
			}
			if length := dense.Norm(row); length > 0 {
				for c := range row {
					row[c] /= length
				}
			}
		}
	}
}
