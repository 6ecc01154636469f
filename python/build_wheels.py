"""Builds the wheels of all platforms and the sdist into dist/: python build_wheels.py [--host]

Needs hatchling and Go. --host builds the wheel of this machine alone.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from hatch_build import TAGS

MOST_BYTES = 12_000_000  # of a wheel: what users are promised


def main(arguments: list[str]) -> None:
    here = Path(__file__).resolve().parent
    host = arguments == ["--host"]
    if arguments and not host:
        raise SystemExit(__doc__)
    for target in [""] if host else list(TAGS):
        _hatchling(here, "wheel", {**os.environ, "GAUZE_TARGET": target})
    if not host:
        _hatchling(here, "sdist", dict(os.environ))
    for file in sorted((here / "dist").iterdir()):
        size = file.stat().st_size
        print(f"{size / 1e6:6.1f} MB  {file.name}")
        if file.suffix == ".whl" and size > MOST_BYTES:
            raise SystemExit(f"{file.name} is larger than {MOST_BYTES / 1e6:.0f} MB")


def _hatchling(here: Path, kind: str, environment: dict[str, str]) -> None:
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", kind], cwd=here, env=environment, check=True)


if __name__ == "__main__":
    main(sys.argv[1:])
