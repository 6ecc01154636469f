"""The program under test, and a table whose truth is known."""

import os
import shutil
import signal
import subprocess
from pathlib import Path

import numpy as np
import pytest

import gauze
from gauze import _program

COLUMNS = ["age", "größe, cm"]
signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell's job in the background would ignore


@pytest.fixture(scope="session", autouse=True)
def program(tmp_path_factory):
    """The program of the wheel, or of GAUZE_BINARY, or else built from the clone around."""
    try:
        return _program.find()
    except gauze.InputError:
        if not shutil.which("go"):
            pytest.exit("no program gauze, and no Go to build it", 1)
    out = tmp_path_factory.mktemp("bin") / "gauze"
    root = Path(__file__).resolve().parents[2]
    subprocess.run(["go", "build", "-o", out, "./cmd/gauze"], cwd=root, env={**os.environ, "CGO_ENABLED": "0"}, check=True)
    os.environ["GAUZE_BINARY"] = str(out)
    return str(out)


@pytest.fixture(scope="session")
def rows():
    """20,000 rows of two components that are 20 standard deviations apart."""
    random = np.random.default_rng()
    return np.vstack([random.normal([0, 5], 1, (8_000, 2)), random.normal([20, 5], 1, (12_000, 2))])


@pytest.fixture(scope="session")
def fitted(rows):
    return gauze.GaussianMixture(epsilon=1, delta=1e-6).fit(rows)


@pytest.fixture(scope="session")
def one():
    """A bare model of one Gaussian."""
    return {"kind": "gaussian-mixture", "columns": COLUMNS, "weights": [1], "means": [[40, 170]], "covariances": [[[100, 12], [12, 64]]]}
