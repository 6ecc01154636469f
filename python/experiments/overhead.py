"""What Python costs beside a fit: python overhead.py [--pairs 7]

A million rows of ten float64 from numpy, fitted by the package, and by the program alone from a
file with the same stream. CPU seconds, user and system; each pair one after the other.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import tempfile
from pathlib import Path

import numpy as np

import gauze
from gauze import _program, _table

BUDGET = {"epsilon": 1, "delta": 1e-8}
FLAGS = ["--epsilon", "1", "--delta", "1e-8", "--json"]
ROWS, COLUMNS = 1_000_000, 10


def cpu() -> tuple[float, float]:
    """CPU seconds of this process, and of its children that are over."""
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime, children.ru_utime + children.ru_stime


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--pairs", type=int, default=7)
    pairs = words.parse_args().pairs
    rows = np.random.default_rng(1).normal(size=(ROWS, COLUMNS)) @ np.diag(np.arange(1.0, COLUMNS + 1))
    names = [f"x{i}" for i in range(COLUMNS)]
    print("| fit | Python itself | all of it, beyond the program alone | the program alone | beyond, part of it |")
    print("|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.arrow"
        with open(file, "wb") as out:
            out.writelines(_table.of(rows).stream(names))
        for fit, flags in ((gauze.Covariance(**BUDGET), ["--components", "1"]), (gauze.GaussianMixture(**BUDGET), [])):
            own, beyond, alone = [], [], []
            for _ in range(pairs):
                python, children = cpu()
                fit.fit(rows)
                middle = cpu()
                with open(file, "rb") as stream:
                    subprocess.run([_program.find(), "fit", "-", "--columns", ",".join(names), *flags, *FLAGS], stdin=stream, capture_output=True, check=True)
                alone.append(cpu()[1] - middle[1])
                own.append(middle[0] - python)
                beyond.append(own[-1] + middle[1] - children - alone[-1])
            parts = [b / a for b, a in zip(beyond, alone)]
            print(f"| {type(fit).__name__} | {_of(own)} | {_of(beyond)} | {_of(alone)} | {_of(parts)} |", flush=True)


def _of(values: list[float]) -> str:
    return f"{statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f})"


if __name__ == "__main__":
    main()
