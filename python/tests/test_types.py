"""The types that the package states are checked, strictly, where mypy is installed."""

import subprocess
import sys
from pathlib import Path

import pytest


def test_mypy(tmp_path):
    pytest.importorskip("mypy")
    here = Path(__file__).resolve().parents[1]
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path], cwd=here, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
