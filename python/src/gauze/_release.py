"""Releases: what a fit writes, and what may be done with it at no cost."""

from __future__ import annotations

import csv
import html
import io
import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _program
from ._density import Log, log_densities, log_sum_exp
from ._errors import GauzeError, InputError, cost, of_outcome, wrong

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Background:
    """Components that stand for rows in no group; weight is their share of all rows."""

    weight: float
    weights: Array  # of the components, which sum to 1 where there are any
    means: Array
    covariances: Array


@dataclass(frozen=True)
class Flag:
    """One thing to know about a model beside its numbers; str() is its text. The codes are in docs/FORMAT.md.

    columns: the names of those it is about. share: a part of the rows, and noise its standard deviation;
    None where it does not apply or is not known. component: the index of the one it is about, None for the whole.
    """

    code: str
    text: str
    columns: tuple[str, ...] = ()
    share: float | None = None
    noise: float | None = None
    component: int | None = None

    @classmethod
    def _of(cls, flag: dict[str, Any] | str, component: int | None = None) -> Flag:
        if isinstance(flag, str):  # of a release of a version without codes
            return cls("uncoded", flag, component=component)
        return cls(flag["code"], flag["text"], tuple(flag.get("columns", ())), flag.get("share"), flag.get("noise"), component)

    def __str__(self) -> str:
        return self.text


class Report:
    """A report of a release: pictures in a notebook, a summary at a terminal."""

    def __init__(self, release: Release) -> None:
        self._release = release

    @property
    def html(self) -> str:
        """The page, which needs nothing beside it."""
        return self._release._run("report").decode()

    def __str__(self) -> str:
        return self._release._run("report", "--text").decode()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        # Framed, so that neither its style nor the notebook's reaches the other.
        return f'<iframe style="width:100%;height:42em;border:0" srcdoc="{html.escape(self.html)}"></iframe>'

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes the page."""
        Path(path).write_text(self.html, encoding="utf-8")


class Release:
    """A release, or a bare model. Its text is kept as it was written, so that a signature holds."""

    def __init__(self, text: str) -> None:
        try:
            content = json.loads(text)
        except ValueError:
            content = None
        if not isinstance(content, dict):
            raise wrong("release", "a JSON object", "something else", "Release.read(path) reads a file")
        self._text = text
        self._content: dict[str, Any] = content

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Release:
        """The release in a file."""
        return cls(Path(path).read_text(encoding="utf-8"))

    @classmethod
    def from_json(cls, content: str | dict[str, Any]) -> Release:
        """The release that a text or an object states."""
        return cls(content if isinstance(content, str) else json.dumps(content))

    def to_json(self) -> str:
        """The release as it was written."""
        return self._text

    def to_dict(self) -> dict[str, Any]:
        """The release as an object."""
        found: dict[str, Any] = json.loads(self._text)
        return found

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes a new file; one that exists is not replaced."""
        with open(path, "x", encoding="utf-8", newline="") as file:
            file.write(self._text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Release) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __repr__(self) -> str:
        if "groups" in self._content:
            return f"<gauze.Release of {len(self._content['groups'])} groups>"
        if "model" not in self._content and self.profile:
            return f"<gauze.Release: a profile of {', '.join(self.columns)}>"
        return f"<gauze.Release: {len(self.weights)} components over {', '.join(self.columns)}>"

    @property
    def model(self) -> dict[str, Any]:
        """The model object."""
        if "groups" in self._content:
            raise wrong("release", "one model", "one for each group", "groups() has them")
        if "profile" in self._content and "model" not in self._content:
            raise wrong("release", "a model", "a profile of columns", "profile has it; GaussianMixture fits a model")
        found: dict[str, Any] = self._content.get("model", self._content)
        return found

    @property
    def certificate(self) -> dict[str, Any]:
        """What was promised, measured and spent; {} of a bare model."""
        return dict(self._content.get("certificate") or {})

    @property
    def spent(self) -> dict[str, float]:
        """What it cost: epsilon, delta, mu, rho; under a budget of rho only mu and rho."""
        return cost(self.certificate.get("spent"))

    @property
    def diagnostics(self) -> dict[str, Any]:
        """What else was released of how well the model fits."""
        return dict(self._content.get("diagnostics") or {})

    @property
    def flags(self) -> list[Flag]:
        """What to know about the model beside its numbers: flags of the whole, then those of components."""
        found = self.diagnostics
        of_components = enumerate(found.get("components", ()))
        return [Flag._of(f) for f in found.get("flags", ())] + [Flag._of(f, i) for i, c in of_components for f in c.get("flags", ())]

    @property
    def core(self) -> dict[str, Any] | None:
        """Share, mean (d,) and covariance (d, d) of the rows without those far from all others, where a model of one Gaussian, which is of all rows, differs from that; else None."""
        found = self.diagnostics.get("core")
        return found and {"share": float(found["share"]), "mean": np.array(found["mean"], float), "covariance": np.array(found["covariance"], float)}

    @property
    def number(self) -> dict[str, Any] | None:
        """How many components were found, the confidence that there are as many, and "or" the likeliest number otherwise; None if the number was given, or the method does not say."""
        return self.diagnostics.get("number")

    @property
    def columns(self) -> list[str]:
        """The names of the columns of numbers, or of all columns of a profile."""
        if "model" not in self._content and self.profile:
            return [str(c["name"]) for c in self.profile]
        return list(self.model["columns"])

    @property
    def categories(self) -> dict[str, dict[str, Array]]:
        """Of each column of categories, how likely each value is in all components, (k,); "" is a cell that is missing."""
        found = self.model.get("categories") or {}
        return {name: {v: p for v, p in zip(c["values"], np.array(c["probabilities"], float).T)} for name, c in found.items()}

    @property
    def header(self) -> list[str]:
        """The names of all columns, of numbers and categories, in the order of the table."""
        own = [*self.columns, *self.categories]
        stated = [str(c["name"]) for c in self.facts if str(c["name"]) in own]  # without those held out of the model
        return stated if sorted(stated) == sorted(own) else own

    @property
    def profile(self) -> list[dict[str, Any]]:
        """Table one, a line for each column as docs/FORMAT.md has it: cells, quantiles, mean, sd, .., or why it is held out; [] where there is none."""
        return [dict(c) for c in self._content.get("profile") or []]

    def profile_frame(self) -> Any:
        """The same as a DataFrame of pandas, a row for each column of the table; what noise hides is NaN."""
        import pandas as pd

        lines = self.profile
        if not lines:
            raise wrong("release", "a profile", "none", "gauze.describe measures one")
        return pd.DataFrame([_line(c) for c in lines], index=pd.Index([c["name"] for c in lines], name="column"))

    @property
    def facts(self) -> list[dict[str, Any]]:
        """What is publicly known of each column: name, rounded_to, at_least, at_most, label, unit_of_measure."""
        return [dict(c) for c in self._content.get("columns") or []]

    @property
    def weights(self) -> Array:
        """Weights of all components, background or not."""
        return np.array(self.model["weights"], float)

    @property
    def means(self) -> Array:
        """Means of all components, (k, d)."""
        return np.array(self.model["means"], float).reshape(len(self.weights), -1)

    @property
    def covariances(self) -> Array:
        """Covariances of all components as full matrices, (k, d, d)."""
        d = len(self.columns)
        return np.array(self.model["covariances"], float).reshape(-1, d, d)

    @property
    def constraint(self) -> str:
        """The shape that was fitted: "full", "diag" or "spherical"."""
        found = str(self.model.get("constraint", "full"))
        return "diag" if found == "diagonal" else found

    @property
    def in_background(self) -> npt.NDArray[np.bool_]:
        """Which components stand for rows in no group."""
        return np.array(self.model.get("background") or [False] * len(self.weights), bool)

    @property
    def background(self) -> Background:
        """The components of rows that are in no group."""
        out = self.in_background
        weight = float(self.weights[out].sum())
        return Background(weight, self.weights[out] / (weight or 1), self.means[out], self.covariances[out])

    def groups(self) -> dict[tuple[str, ...], Release | GauzeError]:
        """A release for each group under the common certificate, or why there is none."""
        out: dict[tuple[str, ...], Release | GauzeError] = {}
        for g in self._content.get("groups", []):
            key = tuple(g["by"].values())
            if none := g.get("no_release"):
                out[key] = of_outcome(3, {"message": none.get("reason", ""), "hint": none.get("advice", ""), "spent": self.spent})
                continue
            shared = {k: v for k, v in self._content.items() if k != "groups"}
            own = {k: g[k] for k in ("model", "profile") if k in g}
            out[key] = Release.from_json({**shared, **own, "diagnostics": g.get("diagnostics", {})})
        return out

    def score_samples(self, x: npt.ArrayLike, background: bool = True) -> Array:
        """The log-density of each row, in nats. What is computed of rows is not private."""
        keep = np.ones(len(self.weights), bool) if background else ~self.in_background
        weights = self.weights[keep]
        rows, slope = self._mapped(np.asarray(x, float))
        terms = log_densities(rows, self.means[keep], self.covariances[keep]) + np.log(weights / weights.sum())
        found: Array = np.where(np.isnan(slope), -np.inf, log_sum_exp(terms) + slope)
        return found

    @property
    def _logs(self) -> dict[int, Log]:
        """The columns of numbers, by their places, that are fitted as their logarithms."""
        known = {c["name"]: c for c in self.facts}
        return {j: Log(known[name]) for j, name in enumerate(self.columns) if known.get(name, {}).get("kind") == "log"}

    def _mapped(self, rows: Array) -> tuple[Array, Array]:
        """Rows as the components are of them, and the logarithm of the slope of the maps there, NaN beyond the limits."""
        out, slope = rows.copy(), np.zeros(len(rows))
        for j, log in self._logs.items():
            out[:, j] = log.to(rows[:, j])
            slope += np.log(log.slope(np.where(np.isnan(out[:, j]), np.nan, rows[:, j])))
        return out, slope

    def _unmapped(self, rows: Array) -> Array:
        """Rows in the units of the table."""
        out: Array = rows.copy()
        for j, log in self._logs.items():
            out[:, j] = log.back(rows[:, j])
        return out

    def sample(
        self, n: int, seed: int | None = None, background: bool = True, *, random_state: int | np.random.Generator | None = None, missing: bool = False,
    ) -> npt.NDArray[Any]:
        """Synthetic rows, in the units and limits that the schema declares; it costs nothing.

        With columns of categories the rows are objects, in the order of header: floats, texts, and None where a
        category is missing. Dates are days since 1970-01-01. random_state is scikit-learn's name for seed, and may be a generator.
        missing: whether as many cells of numbers are NaN, each by itself, as the table's were by the profile.
        """
        text = self._run("sample", "--rows", str(n), *_seed(_drawn(seed, random_state)), *([] if background else ["--no-background"]), *(["--missing"] if missing else []))
        if texts := self._texts():
            return _whole_rows(text, texts)
        return _whole_rows(text, set()).astype(float) if any(c.get("kind") == "date" for c in self.facts) else _rows(text)

    def _texts(self) -> set[str]:
        """The columns of categories, but for those of yes and no."""
        return set(self.categories) - {c["name"] for c in self.facts if c.get("kind") == "yes-no"}

    def sample_frame(
        self, n: int, seed: int | None = None, background: bool = True, *, random_state: int | np.random.Generator | None = None, library: str = "pandas",
        missing: bool = False,
    ) -> Any:
        """The same as a table with the types of the schema: whole numbers are int64, yes-no columns bool, dates datetime64, categories
        Categorical (pandas), Enum (polars) or dictionaries (pyarrow).

        library: "pandas", "polars" or "pyarrow". Units and labels of the columns are in attrs of a
        DataFrame of pandas.
        """
        values = {name: [v for v in of if v] for name, of in self.categories.items() if name in self._texts()}
        return frame(self.sample(n, seed, background, random_state=random_state, missing=missing), self.header, self.facts, library, values)

    def verify(self, key: str | os.PathLike[str] | None = None, signature: str | os.PathLike[str] | None = None) -> dict[str, Any]:
        """What `gauze verify --json` says of it; an InputError with every fault if it is not consistent.

        With key, a file of public keys, the signature in its file must be of one of them.
        """
        if key is None:
            found: dict[str, Any] = json.loads(self._run("verify"))
            return found
        if signature is None:
            raise wrong("signature", "the file that gauze fit --sign wrote", "nothing", "it is named as the release, with .sig behind")
        with _file(self._text) as name:
            Path(name + ".sig").write_bytes(Path(signature).read_bytes())
            found = json.loads(_program.run(["verify", name, "--key", os.fspath(key)]))
        return found

    def compare(self, other: Release | dict[str, Any] | str | os.PathLike[str], rows: int | None = None, seed: int | None = None) -> dict[str, Any]:
        """Distances to another release or model: see `gauze compare`."""
        if not isinstance(other, Release):
            other = Release.from_json(other) if isinstance(other, dict) else Release.read(other)
        with _file(other._text) as name:
            arguments = ["compare", "-", name, *_seed(seed), *([] if rows is None else ["--rows", str(rows)])]
            found: dict[str, Any] = json.loads(_program.run(arguments, self._text.encode()))
        return found

    def report(self) -> Report:
        """A report with pictures."""
        return Report(self)

    def plot(self, columns: Sequence[str | int] | None = None, ax: Any = None) -> Any:
        """Draws the components with matplotlib, and returns the axes: ellipses over two columns, densities over one.

        columns: names or indices, the first two for None. Ellipses are of one and two standard
        deviations. Components that stand for rows in no group are left out.
        """
        from ._plot import plot

        return plot(self, columns, ax)

    def _repr_html_(self) -> str:
        if "groups" in self._content:
            return f"<p>{html.escape(repr(self))}</p>" + "".join(
                f"<h4>{html.escape(', '.join(key))}</h4>{r._repr_html_() if isinstance(r, Release) else f'<p>{html.escape(str(r))}</p>'}" for key, r in self.groups().items()
            )
        cost = ", ".join(f"{name} = {value:.4g}" for name, value in self.spent.items() if name in ("epsilon", "delta"))
        said = f"<p>{html.escape(repr(self))}{'; ' if cost else ''}{cost}</p>"
        if "model" not in self._content and self.profile:
            return said + table(["column", "missing", "mean", "sd"], [[c["name"], *(f"{_line(c)[k]:.4g}" for k in ("missing", "mean", "sd"))] for c in self.profile])
        lines = [[f"{w:.3f}", *(f"{v:.4g}" for v in m)] for w, m, apart in zip(self.weights, self.means, self.in_background) if not apart]
        if self.in_background.any():
            lines += [[f"{self.background.weight:.3f}", "in no group", *[""] * (len(self.columns) - 1)]]
        return said + table(["weight", *(f"mean of {c}" for c in self.columns)], lines)

    def to_sklearn(self, background: bool = False) -> Any:
        """scikit-learn's own GaussianMixture with these parameters, which scores and predicts as the fitted estimator does, of logarithms
        where columns are of kind "log".

        background: whether components that stand for rows in no group are among its components, as
        they are in score_samples of a release. Rows for it must be floats: of whole numbers it rounds
        the densities.
        """
        from sklearn.mixture import GaussianMixture

        from ._density import precisions_cholesky

        keep = np.ones(len(self.weights), bool) if background or self.in_background.all() else ~self.in_background
        weights = self.weights[keep]
        out = GaussianMixture(n_components=len(weights), covariance_type="full")
        out.weights_, out.means_, out.covariances_ = weights / weights.sum(), self.means[keep], self.covariances[keep]
        out.precisions_cholesky_ = precisions_cholesky(out.covariances_)
        out.precisions_ = out.precisions_cholesky_ @ out.precisions_cholesky_.transpose(0, 2, 1)
        out.n_features_in_, out.converged_, out.n_iter_, out.lower_bound_ = len(self.columns), True, 0, np.nan
        return out

    def _run(self, command: str, *arguments: str) -> bytes:
        return _program.run([command, "-", *arguments], self._text.encode())


def simulate(model: Release | dict[str, Any] | str | os.PathLike[str], n: int, seed: int) -> npt.NDArray[Any]:
    """Rows drawn from a public model, (n, d): test data whose truth is known. With categories as Release.sample has them."""
    if not isinstance(model, Release):
        model = Release.from_json(model) if isinstance(model, dict) else Release.read(model)
    text = model._run("simulate", "--rows", str(n), "--seed", str(seed))
    return _whole_rows(text, set(model.categories)) if model.categories else _rows(text)


_SHARES = ("0.01", "0.05", "0.1", "0.25", "0.5", "0.75", "0.9", "0.95", "0.99")


def _line(c: dict[str, Any]) -> dict[str, Any]:
    """One row of profile_frame."""
    mean, sd = c.get("mean", {}), c.get("sd", {})
    nan = float("nan")
    return {
        "missing": 1 - c["cells"], "missing_noise": c["cells_noise"],
        "mean": mean.get("value", nan), "mean_noise": mean.get("noise", nan), "sd": sd.get("value", nan), "sd_noise": sd.get("noise", nan),
        **{p: c.get("quantiles", {}).get(p, nan) for p in _SHARES},
        "rank_noise": max(c.get("rank_noise", {}).values(), default=nan), "beyond": nan if "held_out" in c else c.get("beyond", 0.0),
        "grid": c.get("grid", nan), "held_out": c.get("held_out"),
    }


def table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Returns a table in HTML."""
    rows = ["".join(f"<th>{html.escape(h)}</th>" for h in head)] + ["".join(f"<td>{html.escape(c)}</td>" for c in line) for line in lines]
    return "<table>" + "".join(f"<tr>{r}</tr>" for r in rows) + "</table>"


def frame(rows: npt.NDArray[Any], columns: Sequence[str], facts: Sequence[dict[str, Any]], library: str, categories: dict[str, list[str]] | None = None) -> Any:
    """Returns rows as a table of a library, each column of the type that its public facts give it; categories are the values of those that have some."""
    stated, values = {c["name"]: c for c in facts}, categories or {}
    cells: dict[str, Any] = {}
    for i, name in enumerate(columns):
        cells[name] = _category(list(rows[:, i]), values[name], library) if name in values else _typed(rows[:, i].astype(float), stated.get(name, {}))
    if library == "polars":
        import polars

        return polars.DataFrame({name: c.astype("datetime64[ms]") if getattr(c, "dtype", None) == np.dtype("datetime64[s]") else c for name, c in cells.items()})
    if library == "pyarrow":
        import pyarrow

        return pyarrow.table(cells)
    if library != "pandas":
        raise wrong("library", "pandas, polars or pyarrow", repr(library), "pandas is the one without it")
    import pandas as pd

    out = pd.DataFrame(cells)
    for said, fact in (("units", "unit_of_measure"), ("labels", "label")):
        if found := {c["name"]: c[fact] for c in facts if fact in c}:
            out.attrs[said] = found
    return out


def _category(cells: list[str | None], values: list[str], library: str) -> Any:
    """Returns cells as a column of categories of a library."""
    if library == "polars":
        import polars

        return polars.Series(cells, dtype=polars.Enum(values))
    if library == "pyarrow":
        import pyarrow

        return pyarrow.DictionaryArray.from_arrays(pyarrow.array([None if c is None else values.index(c) for c in cells], pyarrow.int32()), pyarrow.array(values))
    import pandas as pd

    return pd.Categorical(cells, categories=values)


def _typed(cells: Array, fact: dict[str, Any]) -> npt.NDArray[Any]:
    """Returns cells as bool of a yes-no column, as days of one of dates, as int64 where the recording unit is a whole number, else as they are."""
    if fact.get("kind") == "yes-no":
        gaps = np.isnan(cells)
        found: npt.NDArray[Any] = np.not_equal(cells, 0)
        if gaps.any():
            found = found.astype(object)
            found[gaps] = None
        return found
    if fact.get("kind") == "date":
        days = np.round(np.nan_to_num(cells)).astype("datetime64[D]").astype("datetime64[s]")
        days[np.isnan(cells)] = np.datetime64("NaT")
        return days
    unit = fact.get("rounded_to", 1 if fact.get("kind") == "count" else 0)
    if unit and float(unit).is_integer() and (cells == np.round(cells)).all() and np.abs(cells).max(initial=0) < 2**53:
        return cells.astype(np.int64)
    return cells


def _drawn(seed: int | None, random_state: int | np.random.Generator | None) -> int | None:
    """Returns the seed that random_state gives, which stands in the place of seed."""
    if random_state is None:
        return seed
    if seed is not None:
        raise wrong("random_state", "one of seed and random_state", "both", "they are the same")
    return int(random_state.integers(2**32)) if isinstance(random_state, np.random.Generator) else int(random_state)


def _seed(seed: int | None) -> Sequence[str]:
    return [] if seed is None else ["--seed", str(seed)]


def _rows(text: bytes) -> Array:
    lines = text.decode().splitlines()[1:]
    return np.array([[cell or "nan" for cell in line.split(",")] for line in lines], float).reshape(len(lines), -1)


def _whole_rows(text: bytes, categories: set[str]) -> npt.NDArray[Any]:
    """Returns rows of which some columns are texts, and others may be dates, as days since 1970-01-01."""
    head, *lines = csv.reader(io.StringIO(text.decode(), newline=""))
    out = np.empty((len(lines), len(head)), dtype=object)
    for i, line in enumerate(lines):
        out[i] = [(cell or None) if name in categories else _number(cell) for name, cell in zip(head, line or [""])]
    return out


def _number(cell: str) -> float:
    if not cell:
        return np.nan
    return float(np.datetime64(cell, "D").astype(np.int64)) if "-" in cell[1:] and "e" not in cell else float(cell)


@contextmanager
def _file(text: str) -> Iterator[str]:
    """A file with something that is public."""
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, "release.json")
        with open(name, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        yield name
