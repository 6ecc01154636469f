package kmssu22

// coarsePreconditioner returns CoarsePreconditioner: A = g Pi + (I - Pi), where Pi projects on the
// leading k axes and g = gap, an estimate of sqrt(lambda_{k+1}/lambda_k). It closes a gap of any
// width, given that the eigenvalues above it are alike.
//
// Source: [KMSSU22] Algorithm 3; Theorem 5.1.
func (r *run) coarsePreconditioner(s space, k int, gap, mu2 float64) (space, error) {
	basis, err := r.subspaceRecovery(s, k, gap, 0, mu2)
	if err != nil {
		return space{}, err
	}
	factors := repeat(1, s.dim())
	for i := range k {
		factors[i] = gap
	}
	return s.scaled(basis, factors), nil
}
