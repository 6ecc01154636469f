"""The tutorial is run as it stands."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[1] / "TUTORIAL.md"


def test_tutorial():
    for name in ("pandas", "sklearn", "polars", "pyarrow"):
        pytest.importorskip(name)
    text = PAGE.read_text(encoding="utf-8")
    blocks = list(re.finditer(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE))
    assert len(blocks) > 10
    names = {}
    for block in blocks:
        above = "\n" * text[: block.start(1)].count("\n")  # so that errors name the line of the page
        exec(compile(above + block[1], str(PAGE), "exec"), names)
