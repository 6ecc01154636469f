"""The page for R is run as it stands, where R and its libraries are."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import gauze

PAGE = Path(__file__).resolve().parents[2] / "docs" / "R.md"
BEHIND = """
write.csv(synthetic, "synthetic.csv", row.names = FALSE)
write.csv(data.frame(logdensity, class), "found.csv", row.names = FALSE)
"""


def test_page(rows, tmp_path, program):
    if not shutil.which("Rscript") or not PAGE.exists():
        pytest.skip("no R, or no page")
    there = ["Rscript", "-e", "q(status = !all(c('jsonlite', 'mclust') %in% rownames(installed.packages())))"]
    if subprocess.run(there, capture_output=True).returncode:
        pytest.skip("R without jsonlite or mclust")
    np.savetxt(tmp_path / "people.csv", rows, "%.17g", delimiter=",", header="age,bmi", comments="")
    blocks = re.findall(r"```r\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "page.R").write_text("\n".join(blocks) + BEHIND, encoding="utf-8")
    done = subprocess.run(["Rscript", "page.R"], cwd=tmp_path, env={**os.environ, "GAUZE": program}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    release = gauze.Release.read(tmp_path / "release.json")
    assert release.spent["epsilon"] <= 1
    drawn = np.loadtxt(tmp_path / "synthetic.csv", delimiter=",", skiprows=1)
    found = np.loadtxt(tmp_path / "found.csv", delimiter=",", skiprows=1)
    assert np.abs(found[:, 0] - release.score_samples(drawn)).max() < 1e-9  # 15 digits of the rows
    assert (release.to_sklearn(True).predict(drawn) + 1 == found[:, 1]).all()
