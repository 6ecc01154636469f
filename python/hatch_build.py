"""Puts the Go program into wheels, and its source into the sdist.

GAUZE_TARGET names what a wheel is for, as linux/amd64; without it, this machine.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# What Go calls a platform, and what wheels call it. A static binary runs with any C library, so
# that a Linux wheel also carries the tag of musl.
TAGS = {
    "linux/amd64": "manylinux2014_x86_64.musllinux_1_1_x86_64",
    "linux/arm64": "manylinux2014_aarch64.musllinux_1_1_aarch64",
    "darwin/amd64": "macosx_12_0_x86_64",
    "darwin/arm64": "macosx_12_0_arm64",
    "windows/amd64": "win_amd64",
}

# Without `gauze serve`, so that a wheel stays below 12 MB.
LEAN = ("-tags", "noserver")


class Hook(BuildHookInterface):
    """The hook of both targets."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        here = Path(self.root)
        inside = here / "go"  # an sdist carries the source there
        source = inside if inside.is_dir() else here.parent
        if self.target_name == "sdist":
            build_data["force_include"].update(_sources(source))
        elif version != "editable":
            self._binary(source, build_data)

    def _binary(self, source: Path, build_data: dict[str, Any]) -> None:
        target = os.environ.get("GAUZE_TARGET") or _host()
        if target not in TAGS:
            raise SystemExit(f"GAUZE_TARGET: wanted one of {', '.join(TAGS)}, got {target!r}")
        system, machine = target.split("/")
        name = "gauze.exe" if system == "windows" else "gauze"
        self.folder = tempfile.TemporaryDirectory()
        out = Path(self.folder.name) / name
        environment = {**os.environ, "CGO_ENABLED": "0", "GOOS": system, "GOARCH": machine, "GOWORK": "off"}
        subprocess.run(
            ["go", "build", *LEAN, "-trimpath", "-ldflags=-s -w", "-o", str(out), "./cmd/gauze"],
            cwd=source, env=environment, check=True,
        )
        out.chmod(0o755)
        licences = Path(self.folder.name) / "LICENCES"
        licences.write_text(_licences(source, environment), encoding="utf-8")
        build_data["force_include"][str(out)] = f"gauze/bin/{name}"
        build_data["force_include"][str(licences)] = "gauze/bin/LICENCES"
        build_data["pure_python"] = False
        build_data["tag"] = "py3-none-" + TAGS[target]

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if folder := getattr(self, "folder", None):
            folder.cleanup()


def _host() -> str:
    answer = subprocess.run(["go", "env", "GOHOSTOS", "GOHOSTARCH"], capture_output=True, text=True, check=True)
    return "/".join(answer.stdout.split())


def _licences(root: Path, environment: dict[str, str]) -> str:
    """The licences of the program, of the modules that it is linked with, and of Go."""
    form = "{{with .Module}}{{if .Version}}{{.Path}} {{.Version}}\t{{.Dir}}{{end}}{{end}}"
    listed = subprocess.run(["go", "list", *LEAN, "-deps", "-f", form, "./cmd/gauze"], cwd=root, env=environment, capture_output=True, text=True, check=True)
    go = subprocess.run(["go", "env", "GOROOT"], cwd=root, capture_output=True, text=True, check=True).stdout.strip()
    parts = {"gauze": root, "Go": Path(go)} | dict((n, Path(d)) for n, d in (line.split("\t") for line in sorted(set(listed.stdout.split("\n"))) if line))
    texts = []
    for name, folder in parts.items():
        found = sorted(f for f in folder.iterdir() if f.is_file() and f.name.upper().startswith(("LICENSE", "LICENCE", "COPYING", "NOTICE")))
        if not found and name != "Go":  # which some distributions strip
            raise SystemExit(f"{name} has no licence in its folder")
        texts += [f"== {name}: {f.name}\n\n{f.read_text(encoding='utf-8', errors='replace')}" for f in found]
    return "\n".join(texts)


def _sources(root: Path) -> dict[str, str]:
    """The files that the program is built from, and where they stand in the sdist."""
    if not (root / ".git").exists():  # an sdist made from an sdist
        return {str(f): "go/" + f.relative_to(root).as_posix() for f in root.rglob("*") if f.is_file()}
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, check=True)
    apart = ("docs/", "examples/", "experiments/", "python/", "scripts/", ".")
    return {
        str(root / f): "go/" + f
        for f in listed.stdout.split("\0")
        if f and not f.startswith(apart) and not f.endswith("_test.go") and "testdata/" not in f and f not in ("go.work", "go.work.sum")
    }
