"""Densities of Gaussian mixtures, computed as scikit-learn does."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ._errors import wrong

Array = npt.NDArray[np.float64]


def precisions_cholesky(covariances: Array) -> Array:
    """The upper factors U with U Uᵀ the inverse of each covariance, (k, d, d)."""
    try:
        lower = np.linalg.cholesky(covariances)
    except np.linalg.LinAlgError:
        raise wrong("covariances", "positive definite matrices", "a singular one",
                         "a column without spread has no density: fit the others") from None
    unit = np.broadcast_to(np.eye(covariances.shape[-1]), covariances.shape)
    return np.ascontiguousarray(np.linalg.solve(lower, unit).transpose(0, 2, 1))


def log_densities(x: Array, means: Array, covariances: Array) -> Array:
    """The log-density of each row under each Gaussian, (n, k)."""
    upper = precisions_cholesky(covariances)
    out = np.empty((len(x), len(means)))
    for j, (mean, u) in enumerate(zip(means, upper)):
        # Centred first: where scikit-learn multiplies first, far columns lose digits.
        out[:, j] = -0.5 * (np.square((x - mean) @ u).sum(axis=1) + x.shape[1] * np.log(2 * np.pi)) + np.log(np.diagonal(u)).sum()
    return out


def log_sum_exp(terms: Array) -> Array:
    """The logarithm of the sum of the exponentials of each row."""
    most = terms.max(axis=1)
    most = np.where(np.isfinite(most), most, 0)
    found: Array = np.log(np.exp(terms - most[:, None]).sum(axis=1)) + most
    return found
