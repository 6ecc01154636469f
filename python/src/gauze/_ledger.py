"""Budgets of data sets."""

from __future__ import annotations

import json
import os
from typing import Any

from . import _program


class Ledger:
    """A ledger of budgets, in a file or a database: `gauze ledger`. Fits take its location."""

    def __init__(self, location: str | os.PathLike[str]) -> None:
        self.location = os.fspath(location)

    def __fspath__(self) -> str:
        return self.location

    def __repr__(self) -> str:
        return f"<gauze.Ledger {self.location.rpartition('@')[2]}>"  # without a password

    def _repr_html_(self) -> str:
        from ._release import table

        lines = [
            [d["name"], *(f"{d[part]['epsilon']:.4g}, {d[part]['delta']:.3g}" for part in ("granted", "spent", "remaining")), str(d["releases"])] for d in self.show()
        ]
        return table(["data set", "granted (epsilon, delta)", "spent", "remaining", "releases"], lines)

    def init(self) -> Ledger:
        """Makes a new ledger."""
        self._run("init")
        return self

    def grant(self, dataset: str, *, epsilon: float, delta: float) -> None:
        """Allows a data set a budget."""
        self._run("grant", "--dataset", dataset, f"--epsilon={float(epsilon)!r}", f"--delta={float(delta)!r}")

    def show(self, dataset: str | None = None) -> list[dict[str, Any]]:
        """What each data set was granted, has spent and has left."""
        found = json.loads(self._run("show", *([] if dataset is None else ["--dataset", dataset])))
        return list(found["datasets"])

    def fits(self, dataset: str | None = None) -> list[dict[str, Any]]:
        """The fits that were charged: fit (a number), dataset, time, what was asked, and outcome."""
        return list(json.loads(self._run("fits", *([] if dataset is None else ["--dataset", dataset])))["fits"])

    def verify(self) -> None:
        """Fails unless every entry is there and unaltered."""
        self._run("verify")

    def _run(self, command: str, *arguments: str) -> bytes:
        return _program.run(["ledger", command, "--ledger", self.location, *arguments])
