// Package model holds the Gaussian models that Gauze releases: a Gaussian, a mixture of Gaussians,
// their densities, samples, moments, distances and JSON. It sees only the rows that its caller
// passes, and keeps none.
//
// A Mixture has k components over d named columns and density p(x) = sum_i w_i N(x; m_i, Sigma_i).
// One Gaussian is a mixture of one. To evaluate or draw many rows, compile once with NewScorer or
// NewSampler: neither allocates per row, and both may be shared by goroutines.
//
// # Covariances
//
// Spherical, Diagonal and Full implement Covariance. Zero variances and zero eigenvalues are legal
// everywhere. A Full keeps a factor F with Sigma = F F^T; everything is computed from factors, each
// column in its own unit, so that columns in units of 1e-30 and 1e30 stand side by side, and
// condition numbers that Sigma itself cannot express in float64 (above about 1e14) survive in a
// Full built by FullFromFactor.
//
// # Degenerate models
//
// The support of a model is the smallest affine space that holds all its components of positive
// weight. Where it is all of R^d, densities are the usual ones. Otherwise:
//
//   - A column that is, on the support, an affine function of other columns (a constant column is
//     one of none) is left out of the reference measure: the density is that of the remaining, free
//     columns. Which columns are free depends on the model alone, prefers early columns, and does
//     not change with a column's unit or origin.
//   - A row off the support has log-density -Inf. A row is on it if the value of each left-out
//     column agrees with the free ones within 1e-9, relative to the columns' spread (for a constant
//     column, to its value).
//   - A component that is degenerate in a direction in which the model as a whole is not gets, in
//     that direction only, a standard deviation of 1e-9 (a variance of 1e-18) relative to its own
//     columns' standard deviations, or to the model's spread in a column where it has none; more,
//     if the means' rounding is coarser than that.
//   - A direction counts as degenerate if its standard deviation is at most 1e-10, columns scaled
//     to one.
//
// So a log-density is never NaN. A row with a NaN or an infinite cell has log-density -Inf.
//
// # Distances
//
//	TV(p, q)        = 1/2 integral of |p - q|, in [0, 1]
//	Hellinger(p, q) = sqrt(1 - integral of sqrt(p q)), in [0, 1]; H^2 = 1 - integral of sqrt(p q)
//	KL(p, q)        = integral of p log(p / q), in nats; Inf if p has mass where q has none
//	Mahalanobis     = sqrt((m_a - m_b)^T Sigma_b^-1 (m_a - m_b)),
//	                  Inf if it leaves the support of Sigma_b
//	Covariance      = |Sigma_b^-1/2 Sigma_a Sigma_b^-1/2 - I|_F,
//	                  Inf if Sigma_a has variance where Sigma_b has none
//
// Hellinger and KL of two Gaussians are computed in closed form, everything else of mixtures by
// Monte Carlo over rows of the balanced mixture (p+q)/2.
package model
