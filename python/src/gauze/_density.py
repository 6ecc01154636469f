"""Densities of Gaussian mixtures, computed as scikit-learn does."""

from __future__ import annotations

from typing import Any

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


class Log:
    """The map under which a column of kind "log" is fitted, by what is publicly known of it: docs/FORMAT.md, A schema."""

    def __init__(self, fact: dict[str, Any]) -> None:
        self.least, self.most = float(fact["at_least"]), float(fact.get("at_most", np.inf))
        self.shift = float(fact.get("rounded_to", 0)) or min(1.0, self.most / 100 - self.least / 100)

    def to(self, x: Array) -> Array:
        """Maps values; those beyond the limits are NaN."""
        x = np.where((x >= self.least - self.shift / 2) & (x <= self.most + self.shift / 2), x, np.nan)
        low: Array = np.log1p((x - self.least) / self.shift)
        return low if self.most == np.inf else low - np.log1p((self.most - x) / self.shift)

    def back(self, y: Array) -> Array:
        """The values that are mapped to y."""
        if self.most == np.inf:
            return self.least + self.shift * np.expm1(y)
        return self.least - self.shift + (self.most - self.least + 2 * self.shift) / (1 + np.exp(-y))

    def slope(self, x: Array) -> Array:
        """The derivative of the map."""
        found: Array = 1 / (x - self.least + self.shift)
        return found if self.most == np.inf else found + 1 / (self.most - x + self.shift)


def log_sum_exp(terms: Array) -> Array:
    """The logarithm of the sum of the exponentials of each row."""
    most = terms.max(axis=1)
    most = np.where(np.isfinite(most), most, 0)
    found: Array = np.log(np.exp(terms - most[:, None]).sum(axis=1)) + most
    return found
