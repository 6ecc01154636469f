"""Pictures of models with matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ._density import log_densities
from ._errors import wrong

if TYPE_CHECKING:
    from ._release import Release


def plot(release: Release, columns: Sequence[str | int] | None, ax: Any) -> Any:
    """Draws a release into axes of matplotlib, new ones for None, and returns them."""
    at = _chosen(release, columns)
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.gca()
    draw = _density if len(at) == 1 else _ellipses
    draw(release, at, ax)
    ax.set_xlabel(_name(release, at[0]))
    return ax


def _chosen(release: Release, columns: Sequence[str | int] | None) -> list[int]:
    names = release.columns
    asked: Sequence[str | int] = list(range(min(2, len(names)))) if columns is None else columns
    at = [names.index(c) if isinstance(c, str) and c in names else c for c in asked]
    if len(at) not in (1, 2) or not all(isinstance(i, int) and -len(names) <= i < len(names) for i in at):
        raise wrong("columns", f"one or two of {', '.join(names)}", repr(columns), "name them as the release does")
    return [int(i) % len(names) for i in at]


def _groups(release: Release) -> list[int]:
    """Returns the components that stand for groups of rows, or all where none does."""
    found = np.flatnonzero(~release.in_background).tolist()
    return found or list(range(len(release.weights)))


def _density(release: Release, at: list[int], ax: Any) -> None:
    """Draws the density of every group, and of all rows."""
    means, variances = release.means[:, at[0]], release.covariances[:, at[0], at[0]]
    shown = _groups(release)
    reach = 4 * np.sqrt(variances[shown])
    grid = np.linspace((means[shown] - reach).min(), (means[shown] + reach).max(), 400)
    parts = release.weights * np.exp(log_densities(grid[:, None], means[:, None], variances[:, None, None]))
    for i in shown:
        ax.plot(grid, parts[:, i], linewidth=1)
    ax.plot(grid, parts.sum(axis=1), color="black")
    ax.set_ylabel("density")


def _ellipses(release: Release, at: list[int], ax: Any) -> None:
    """Draws one and two standard deviations of every group."""
    turn = np.linspace(0, 2 * np.pi, 181)
    circle = np.stack([np.cos(turn), np.sin(turn)])
    for i in _groups(release):
        mean, cov = release.means[i, at], release.covariances[i][np.ix_(at, at)]
        values, vectors = np.linalg.eigh(cov)
        root = vectors * np.sqrt(np.maximum(values, 0))
        for sds in (1, 2):
            x, y = mean[:, None] + sds * (root @ circle)
            ax.plot(x, y, color=f"C{i % 10}", linewidth=2 - sds / 2)
        ax.annotate(f"{100 * release.weights[i]:.3g} %", mean, color=f"C{i % 10}", ha="center", va="center")
    ax.set_ylabel(_name(release, at[1]))


def _name(release: Release, i: int) -> str:
    facts = {c["name"]: c for c in release.facts}.get(release.columns[i], {})
    label = str(facts.get("label", release.columns[i]))
    if "unit_of_measure" in facts:
        label += f" ({facts['unit_of_measure']})"
    return label + ", as its logarithm" if facts.get("kind") == "log" else label
