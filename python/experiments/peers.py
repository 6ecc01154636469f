"""Beside diffprivlib and scikit-learn on public tables: python peers.py DATA [--runs 5] [--out PAGE]

DATA is a folder with the tables. Needs scikit-learn, diffprivlib and pandas beside gauze.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import diffprivlib
import numpy as np
import pandas as pd
import sklearn
from diffprivlib import tools
from diffprivlib.models import PCA
from sklearn.covariance import EmpiricalCovariance
from sklearn.mixture import GaussianMixture as Unprivate
from sklearn.model_selection import train_test_split

import gauze

BUDGET = {"epsilon": 1.0, "delta": 1e-6}
MOST = 8  # components that scikit-learn may choose by BIC

# What somebody could say of the values before seeing one, from what they are and their units.
MILLIMETRES = {
    "stature": (1000, 2500), "weightkg": (300, 2000), "chestcircumference": (500, 2000), "waistcircumference": (400, 2000),
    "hipbreadth": (200, 700), "shouldercircumference": (600, 1800), "footlength": (150, 400), "handlength": (100, 300),
    "headcircumference": (400, 800), "neckcircumference": (200, 700),
}
TABLES: dict[str, dict[str, tuple[float, float]]] = {
    "ansur2_body.csv": MILLIMETRES,  # people; weight in tenths of a kilogram
    "gvhd_flow.csv": {name: (0, 1023) for name in ("CD4", "CD8b", "CD3", "CD8")},  # channels of the instrument
    "uber_nyc_pickups.csv.gz": {"lat_deg": (39.5, 42), "lon_deg": (-75, -72)},  # New York and what is around it
}

Model = tuple[np.ndarray, np.ndarray, np.ndarray]  # weights, means, covariances


def one_unprivate(x: pd.DataFrame, bounds: np.ndarray, seed: int) -> Model:
    fit = EmpiricalCovariance().fit(x.to_numpy())
    return np.ones(1), fit.location_[None], fit.covariance_[None]


def one_gauze(x: pd.DataFrame, bounds: np.ndarray, seed: int) -> Model:
    fit = gauze.Covariance(**BUDGET).fit(x)
    return np.ones(1), fit.location_[None], fit.covariance_[None]


def one_diffprivlib(x: pd.DataFrame, bounds: np.ndarray, seed: int) -> Model:
    """Its mean and covariance are those of its PCA, of columns that the bounds bring to [-1, 1]."""
    middle, half = bounds.mean(axis=1), np.diff(bounds, axis=1)[:, 0] / 2
    scaled = (x.to_numpy() - middle) / half
    fit = PCA(epsilon=BUDGET["epsilon"], data_norm=scaled.shape[1] ** 0.5, bounds=(-1, 1)).fit(scaled)
    return np.ones(1), (fit.mean_ * half + middle)[None], (fit.get_covariance() * np.outer(half, half))[None]


def diagonal_diffprivlib(x: pd.DataFrame, bounds: np.ndarray, seed: int) -> Model:
    """Means and variances of the columns by themselves: less is asked of the budget than a whole matrix."""
    half = {"epsilon": BUDGET["epsilon"] / 2, "bounds": (bounds[:, 0], bounds[:, 1]), "axis": 0}
    mean, variance = tools.mean(x.to_numpy(), **half), tools.var(x.to_numpy(), **half)
    return np.ones(1), np.asarray(mean)[None], np.diag(variance)[None]


def mixture_unprivate(x: pd.DataFrame, bounds: np.ndarray, seed: int) -> Model:
    """The number of components is that of the smallest BIC, on at most 20,000 rows, as users do."""
    values = x.to_numpy()
    middle, half = values.mean(axis=0), values.std(axis=0)
    scaled = (values - middle) / half
    few = scaled[np.random.default_rng(seed).permutation(len(scaled))[:20_000]]
    k = min(range(1, MOST + 1), key=lambda k: Unprivate(k, random_state=seed).fit(few).bic(few))
    fit = Unprivate(k, random_state=seed).fit(scaled)
    return fit.weights_, fit.means_ * half + middle, fit.covariances_ * np.outer(half, half)


def mixture_gauze(x: pd.DataFrame, bounds: np.ndarray, seed: int) -> Model:
    release = gauze.GaussianMixture(**BUDGET).fit(x).release_
    return release.weights, release.means, release.covariances  # the background is part of the density


METHODS: dict[str, Callable[[pd.DataFrame, np.ndarray, int], Model]] = {
    "one Gaussian: scikit-learn, no privacy": one_unprivate,
    "one Gaussian: Gauze, (ε, δ) = (1, 1e-6), no bounds": one_gauze,
    "one Gaussian: diffprivlib, ε = 1, bounds given": one_diffprivlib,
    "one Gaussian, columns apart: diffprivlib, ε = 1, bounds given": diagonal_diffprivlib,
    "mixture: scikit-learn, no privacy": mixture_unprivate,
    "mixture: Gauze, (ε, δ) = (1, 1e-6), no bounds": mixture_gauze,
}


def measured(model: Model, train: np.ndarray, test: np.ndarray) -> tuple[float, float, float]:
    """The mean log-density of the test rows, and for one Gaussian the errors of mean and covariance, in the units of the unprivate ones."""
    weights, means, covariances = model
    lower = np.linalg.cholesky(np.cov(train.T))
    inverse = np.linalg.inv(lower)
    mean = float(np.linalg.norm(inverse @ (means[0] - train.mean(axis=0))))
    covariance = float(np.linalg.norm(inverse @ covariances[0] @ inverse.T - np.eye(len(inverse))))
    content = {"kind": "gaussian-mixture", "columns": [f"x{i}" for i in range(len(lower))], "weights": weights.tolist(),
               "means": means.tolist(), "covariances": covariances.tolist()}
    try:
        score = float(gauze.Release.from_json(content).score_samples(test).mean())
    except gauze.InputError:  # a matrix that is not positive definite
        score = -np.inf
    return score, mean, covariance


def line(name: str, found: list[tuple[float, float, float]], sizes: list[int], seconds: list[float]) -> str:
    scores, means, covariances = np.array(found).T
    cells = [name, _median(scores, "{:.3f}")]
    cells += [_median(means, "{:.3f}"), _median(covariances, "{:.3f}"), ""] if max(sizes) == 1 and name.startswith("one") else ["", "", _sizes(sizes)]
    return "| " + " | ".join([*cells, f"{np.median(seconds):.1f}"]) + " |"


def _median(values: np.ndarray, form: str) -> str:
    return f"{form.format(np.median(values))} ({form.format(values.min())} to {form.format(values.max())})"


def _sizes(sizes: list[int]) -> str:
    return f"{min(sizes)} to {max(sizes)}" if min(sizes) < max(sizes) else str(sizes[0])


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("data", type=Path)
    words.add_argument("--runs", type=int, default=5)
    words.add_argument("--out", type=Path)
    asked = words.parse_args()
    warnings.filterwarnings("ignore", module="sklearn|diffprivlib")
    here = Path(__file__).resolve().parent
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=here, capture_output=True, text=True).stdout.strip()
    page = [
        "# Beside diffprivlib and scikit-learn", "",
        f"- Command: `python python/experiments/peers.py DATA --runs {asked.runs} --out docs/experiments/python/peers.md`; DATA has the three tables",
        f"- Runs: {asked.runs}; run i takes a fifth of the rows, at random, for the test",
        "- Seeds: of run i the seed of that choice, and of scikit-learn's fits, is i; the noise of Gauze and of diffprivlib has none",
        f"- Commit: {commit}; scikit-learn {sklearn.__version__}, diffprivlib {diffprivlib.__version__}, Python {sys.version.split()[0]}", "",
        PREFACE, "",
    ]
    for file, stated in TABLES.items():
        table = pd.read_csv(asked.data / file)[list(stated)].astype(float)
        page += [f"## {file}: {len(table):,} rows, {table.shape[1]} columns", "",
                 "| method | test rows: mean log-density, nats | error of the mean | error of the covariance | components | s per fit |", "|---|---|---|---|---|---|"]
        for name, method in METHODS.items():
            found, sizes, seconds = [], [], []
            for run in range(asked.runs):
                train, test = train_test_split(table, test_size=0.2, random_state=run)
                began = time.perf_counter()
                model = method(train, np.array(list(stated.values())), run)
                seconds.append(time.perf_counter() - began)
                found.append(measured(model, train.to_numpy(), test.to_numpy()))
                sizes.append(len(model[0]))
            page.append(line(name, found, sizes, seconds))
            print(page[-1], flush=True)
        page.append("")
    if asked.out:
        asked.out.parent.mkdir(parents=True, exist_ok=True)
        asked.out.write_text("\n".join(page), encoding="utf-8")


PREFACE = """\
Medians of the runs, and their range. The density is that of the rows as they are, in their own units. The error of the mean is the Mahalanobis distance to the
mean of the training rows, under their covariance S; that of the covariance is ‖S^-½ Σ S^-½ − I‖ (Frobenius); both are distances to what scikit-learn finds, so that
its own are 0 but for a divisor. Components of mixtures count the background, where Gauze finds one; scikit-learn's have at most 8, chosen by BIC.
Seconds are of the clock, on two cores that other work shared.

diffprivlib has no mixtures. Its Gaussian is the mean and the covariance of its `PCA`, or, columns apart, those of `tools.mean` and `tools.var`, half the budget each,
without correlations. It is under pure ε, which promises more than (ε, δ), and must be told bounds of every
column, which are stated in the script from what the columns are, before looking: a user who cannot state them cannot use it, and one who reads them off the rows
loses the promise. Gauze is told the names of the columns and nothing else."""


if __name__ == "__main__":
    main()
