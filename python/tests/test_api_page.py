"""The page of the package says what the docstrings say."""

import subprocess
import sys
from pathlib import Path

import pytest


def test_page_is_current():
    here = Path(__file__).resolve().parents[1]
    if not (here / "API.md").exists():
        pytest.skip("no page in an sdist")
    done = subprocess.run([sys.executable, here / "api.py"], capture_output=True, check=True)
    assert done.stdout.decode().replace("\r\n", "\n") == (here / "API.md").read_text(encoding="utf-8"), "python api.py > API.md"
