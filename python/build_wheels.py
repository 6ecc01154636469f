"""Builds the wheels of all platforms and the sdist into dist/: python build_wheels.py [--host]

Needs hatchling and Go. --host builds the wheel of this machine, and the sdist. Every wheel is opened and checked.
"""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

try:
    from hatch_build import TAGS
except ModuleNotFoundError as missing:
    raise SystemExit(f"{missing.name} is not there: pip install hatchling") from None

MOST_BYTES = 12_000_000  # of a wheel: what users are promised


def main(arguments: list[str]) -> None:
    here = Path(__file__).resolve().parent
    host = arguments == ["--host"]
    if arguments and not host:
        raise SystemExit(__doc__)
    for target in [""] if host else list(TAGS):
        _hatchling(here, "wheel", {**os.environ, "GAUZE_TARGET": target})
    _hatchling(here, "sdist", dict(os.environ))
    for file in sorted((here / "dist").iterdir()):
        size = file.stat().st_size
        print(f"{size / 1e6:6.1f} MB  {file.name}")
        if file.suffix == ".whl":
            if size > MOST_BYTES:
                raise SystemExit(f"{file.name} is larger than {MOST_BYTES / 1e6:.0f} MB")
            check(file)


def _hatchling(here: Path, kind: str, environment: dict[str, str]) -> None:
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", kind], cwd=here, env=environment, check=True)


def check(file: Path) -> None:
    """Fails unless a wheel holds all modules, their types, and a program of the platform that its name says."""
    tags = file.stem.split("-")[-1]
    target = next(t for t, tag in TAGS.items() if tag == tags)
    with zipfile.ZipFile(file) as wheel:
        names = wheel.namelist()
        said = wheel.read(next(n for n in names if n.endswith(".dist-info/WHEEL"))).decode()
        binary = wheel.getinfo("gauze/bin/gauze.exe" if target.startswith("windows/") else "gauze/bin/gauze")
        begins = wheel.read(binary)[:4096]
    source = Path(__file__).resolve().parent / "src"
    wanted = {f.relative_to(source).as_posix() for f in source.rglob("*") if f.suffix == ".py" or f.name == "py.typed"}
    faults = [f"{name} is missing" for name in sorted(wanted - set(names))]
    faults += [f"the tag {tag} is missing" for tag in tags.split(".") if f"Tag: py3-none-{tag}" not in said]
    if _platform(begins) != target:
        faults.append(f"the program is of {_platform(begins)}, not of {target}")
    if not binary.external_attr >> 16 & 0o111:
        faults.append("the program cannot be run")
    if faults:
        raise SystemExit(f"{file.name}: {'; '.join(faults)}")


def _platform(begins: bytes) -> str:
    """What a program runs on, by its first bytes."""
    if begins.startswith(b"\x7fELF"):
        machine = struct.unpack_from("<H", begins, 18)[0]
        return {0x3E: "linux/amd64", 0xB7: "linux/arm64"}.get(machine, "another Linux")
    if begins.startswith(b"\xcf\xfa\xed\xfe"):
        machine = struct.unpack_from("<I", begins, 4)[0]
        return {0x01000007: "darwin/amd64", 0x0100000C: "darwin/arm64"}.get(machine, "another macOS")
    if begins.startswith(b"MZ"):
        at = struct.unpack_from("<I", begins, 0x3C)[0]
        return {b"PE\0\0\x64\x86": "windows/amd64"}.get(begins[at : at + 6], "another Windows")
    return "nothing known"


if __name__ == "__main__":
    main(sys.argv[1:])
