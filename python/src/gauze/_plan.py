"""What a fit would spend, and the error to expect of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, overload

from . import _program
from ._errors import wrong
from ._request import Request


class Plan(Sequence[dict[str, Any]]):
    """A plan: a table with a row for each method, which `pd.DataFrame(plan)` and to_frame() make a frame of.

    `content` is all that `gauze plan --json` says of it.
    """

    def __init__(self, content: dict[str, Any]) -> None:
        self.content = content

    @property
    def method(self) -> str:
        """The method that would run."""
        return str(self.content["method"])

    @property
    def expect(self) -> dict[str, Any]:
        """Errors to expect of it."""
        return dict(self.content.get("expect") or {})

    @property
    def accuracy(self) -> dict[str, Any]:
        """How close means and standard deviations come in 19 of 20 fits, in standard deviations and, with typical_sd or limits, in the columns' units; which groups are seen, and the rows for numbers of them. Empty where that was not measured."""
        return dict(self.content.get("accuracy") or {})

    @property
    def methods(self) -> list[dict[str, Any]]:
        """Every method with the error to expect, or why it would refuse; of mixtures, by their number of components and their gap."""
        return list(self.content.get("candidates") or self.content.get("mixtures") or [])

    @overload
    def __getitem__(self, at: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, at: slice) -> list[dict[str, Any]]: ...
    def __getitem__(self, at: int | slice) -> dict[str, Any] | list[dict[str, Any]]:
        return self.methods[at]

    def __len__(self) -> int:
        return len(self.methods)

    def to_frame(self) -> Any:
        """The methods as a DataFrame of pandas."""
        import pandas as pd

        return pd.DataFrame(self.methods)

    def __repr__(self) -> str:
        return f"<gauze.Plan: {self.method}, {self.content.get('why', '')}>"

    def _repr_html_(self) -> str | None:
        try:
            return str(self.to_frame().to_html(index=False))
        except ImportError:
            return None


def plan(x: Any = None, *, rows: int | None = None, dim: int | None = None, epsilon: float | None = None, delta: float | None = None,
         rho: float | None = None, typical_sd: Mapping[str, float] | None = None, **settings: Any) -> Plan:
    """What a fit with these settings, those of GaussianMixture, would spend, and the error to expect.

    No cell of x is looked at: its columns and the number of its rows are, and of these only where
    the relation makes it public. Otherwise say rows, about how many there are. With server x is the
    name of a data set there. typical_sd is the standard deviations that columns usually have, by
    name: accuracy is then in their units too.
    """
    sds = [f"--typical-sd={name}={float(sd)!r}" for name, sd in (typical_sd or {}).items()]
    request = Request(epsilon=epsilon, delta=delta, rho=rho, **settings)
    table = None if x is None else request.table(x)
    if table is not None:
        with request.columns(table) as (flags, _, _):
            if table.path is not None:
                return _planned([table.path, *flags, *_given("--rows", rows), *sds, *request.flags()], table.environment)
        names = request.names(table)
        dim = len(names)
        if sds and not any("," in name or ":" in name for name in names):  # so that they are told apart
            sds += ["--columns", ",".join(names)]
        if rows is None and request.rows_public:
            rows = table.rows
    if dim is None or rows is None:
        raise wrong("plan", "rows and dim, or a table whose number of rows is public", "neither", "gauze.plan(rows=20000, dim=2, epsilon=1, delta=1e-6)")
    return _planned([*_given("--rows", rows), *_given("--dim", dim), *sds, *request.flags()])


def _given(flag: str, value: int | None) -> list[str]:
    return [] if value is None else [flag, str(value)]


def _planned(arguments: list[str], environment: Mapping[str, str] | None = None) -> Plan:
    return Plan(json.loads(_program.run(["plan", *arguments], environment=environment)))
