"""Table one: what every column says by itself."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from . import _program
from ._progress import bar
from ._release import Release
from ._request import Request
from ._terminal import watched


def describe(x: Any, *, epsilon: float | None = None, delta: float | None = None, rho: float | None = None, progress: bool | None = None, **settings: Any) -> Release:
    """Measures table one privately: missing cells, mean, sd and quantiles of every column, each with its noise.

    The settings are those of GaussianMixture that are not of a model: relation, unit, by, schema,
    infer_schema, unreadable, csv, ledger, dataset, force, server and token. The release has a profile
    in the place of a model: `profile` has a line for each column, profile_frame() makes a DataFrame of
    them, and with by groups() has a release for each group. A missing cell is counted as one, and a
    column with too few cells is held out by name.
    """
    request = Request(epsilon=epsilon, delta=delta, rho=rho, profile=True, **settings)
    table = request.table(x, least=2)
    with request.columns(table) as (flags, read, labels):
        rows: Iterable[bytes | memoryview] = [] if table.path else request.rows(table, read, labels)
        with bar(progress if request.server is None else False) as told:
            out = _program.run(["describe", table.path or "-", *request.flags(), *flags], rows, environment=table.environment, told=told, notes=watched(progress))
    return Release(out.decode())
