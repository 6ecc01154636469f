"""The settings of a fit as flags of the program."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Integral
from typing import Any

from . import _table
from ._errors import hidden, wrong
from ._session import account

Schema = Mapping[str, Any] | Sequence[str | Mapping[str, Any]] | str | os.PathLike[str]
Groups = str | Sequence[str] | Mapping[str, Sequence[str]]

NONE = "none"  # in the place of a unit or of groups: there are none

_SHAPES = {"full": "full", "diag": "diagonal", "diagonal": "diagonal", "spherical": "spherical"}


@dataclass
class Request:
    """What is asked of a fit."""

    epsilon: float | None = None
    delta: float | None = None
    rho: float | None = None
    n_components: int | str = "auto"
    relation: str = "replace-one"
    covariance_type: str = "full"
    method: str = "auto"
    unit: str | None = None
    by: Groups | None = None
    schema: Schema | None = None
    infer_schema: bool = False
    unreadable: str | None = None
    csv: str | None = None
    ledger: str | os.PathLike[str] | None = None
    dataset: str | None = None
    max_components: int | None = None
    learner: str | None = None
    force: bool = False
    server: str | None = None
    token: str | os.PathLike[str] | None = None
    profile: bool = False  # table one is asked for, so that there are no settings of a model

    @property
    def rows_public(self) -> bool:
        """Whether the number of rows of a table is public."""
        return self.relation == "replace-one" and self._person() is None

    def _person(self) -> str | None:
        """The column of persons, None if every row is one."""
        unit: str | None = self.unit or self._declared().get("unit")
        return None if unit == NONE else unit

    def table(self, x: Any, least: int = 1) -> _table.Table:
        """Returns the table of x, of at least so many rows where that is known: of one's own, or the name of a data set at the server, which no row is sent to."""
        if self.server is None:
            table = _table.of(x)
            self._check_size(table, least)
            return table
        if not isinstance(x, str):
            raise wrong("X", "the name of a data set at the server", f"an object of {type(x).__name__}", "rows are fitted here, without server")
        return _table.Table([], lambda names: iter(()), None, True, path=x)

    def _check_size(self, table: _table.Table, least: int) -> None:
        if table.path is not None:
            return
        rows, public = table.rows, self.rows_public
        if not table.columns:  # in the words that scikit-learn's checks look for, in which a number may be left out
            raise wrong("X", "at least one column", f"0 feature(s) (shape=({rows if public else ''}, 0)) while a minimum of 1 is required.", "check the table")
        if rows is not None and rows < least:
            error = wrong("X", "many rows", f"{rows} sample(s): 1 sample or none", "whatever a model of one row says, it says of that row")
            raise error if public else hidden(error)

    def flags(self) -> list[str]:
        """All flags but those of columns."""
        if not (self.n_components == "auto" or isinstance(self.n_components, Integral) and not isinstance(self.n_components, bool) and self.n_components > 0):
            raise wrong("n_components", 'a positive number, or "auto"', repr(self.n_components), '"auto" lets the rows decide')
        if self.covariance_type not in _SHAPES:
            raise wrong("covariance_type", "full, diag or spherical", repr(self.covariance_type), "tied covariances are not fitted")
        if self.profile:
            self._no_model()
            flags = []
        else:
            flags = ["--components", str(self.n_components), "--method", self.method, "--covariance", _SHAPES[self.covariance_type]]
        if self.server is None or self.relation != "replace-one":  # of a data set at a server the relation is its custodian's
            flags += ["--relation", self.relation]
        flags += self._where()
        for name, value in (("epsilon", self.epsilon), ("delta", self.delta), ("rho", self.rho)):
            if value is not None:
                flags += [f"--{name}={float(value)!r}"]
        most = None if self.max_components is None else str(self.max_components)
        ledger, dataset = self._account()
        for name, text in (("ledger", ledger), ("dataset", dataset), ("learner", self.learner), ("max-components", most),
                           ("unreadable", self.unreadable), ("csv", self.csv)):
            if text is not None:
                flags += [f"--{name}", os.fspath(text)]
        return flags + (["--infer-schema"] if self.infer_schema else []) + (["--force"] if self.force else [])

    def _account(self) -> tuple[str | os.PathLike[str] | None, str | None]:
        """Returns the ledger and the data set that are charged: those that are named, or else those of the open session."""
        if self.ledger is not None or self.server is not None or (found := account()) is None:
            return self.ledger, self.dataset
        if self.dataset is not None:
            raise wrong("dataset", "none within a session", repr(self.dataset), "all fits of a session are charged to one account; or name a ledger beside it")
        return found

    def _no_model(self) -> None:
        """Refuses settings of a model, of which a profile has none."""
        for name, usual in (("n_components", "auto"), ("covariance_type", "full"), ("method", "auto"), ("max_components", None), ("learner", None)):
            if getattr(self, name) != usual:
                raise wrong(name, "no setting of a model", repr(getattr(self, name)), "describe fits none; GaussianMixture does")

    def _where(self) -> list[str]:
        """The flags of a server."""
        if self.server is None:
            if self.token is not None:
                raise wrong("token", "it beside server", "no server", "server='https://gauze.example.org'")
            return []
        if self.token is None:
            return ["--server", self.server]  # and the program looks into its environment
        if not os.path.isfile(self.token):  # which is not shown: it may be the token itself
            raise wrong("token", "a file with your token", "no file",
                        "or put the token into os.environ['GAUZE_TOKEN']: of parameters, notebooks and pickles keep copies")
        return ["--server", self.server, "--token-file", os.fspath(self.token)]

    def _columns_there(self) -> list[str]:
        """The flags of columns of a data set at a server, whose schema is the custodian's."""
        if isinstance(self.by, Mapping):
            raise wrong("by", "names of columns", "categories", "they are the data set's")
        names = [] if self.schema is None else self.schema
        if isinstance(names, (str, os.PathLike, Mapping)):
            raise wrong("schema", "names of columns", "a schema", "it is the data set's: schema=['age', 'bmi'] fits some of its columns")
        plain = [n for n in names if isinstance(n, str) and "," not in n]
        if len(plain) < len(names):
            raise wrong("schema", "names without a comma, beside server", repr(next(n for n in names if n not in plain)), "leave schema out, for all columns")
        return [*(["--columns", ",".join(plain)] if plain else []), *(f for name in self._by_names() for f in ("--by", name))]

    def _declared(self) -> dict[str, Any]:
        """The schema as an object."""
        if self.schema is None:
            return {}
        if isinstance(self.schema, Mapping):
            return dict(self.schema)
        if isinstance(self.schema, (str, os.PathLike)):
            with open(self.schema, encoding="utf-8") as file:
                content = json.load(file)
            if not isinstance(content, dict):
                raise wrong("schema", "a JSON object", type(content).__name__, 'write {"columns": [{"name": "age"}, ..]}')
            return content
        columns = [{"name": one} if isinstance(one, str) else one for one in self.schema]
        if odd := [one for one in columns if not isinstance(one, Mapping) or not isinstance(one.get("name"), str)]:
            raise wrong("schema", "columns as names or as objects with a name", repr(odd[0]), 'for instance schema=["age", {"name": "sex", "kind": "category", "categories": ["f", "m"]}]')
        return {"columns": [dict(one) for one in columns]}

    def _by_names(self) -> list[str]:
        return [self.by] if isinstance(self.by, str) else list(self.by or [])

    def _grouped(self, declared: dict[str, Any]) -> list[str]:
        """The columns that make groups: those of by, or else of the schema."""
        asked = self._by_names()
        if asked == [NONE]:
            return []
        return asked or [g["name"] for g in declared.get("by", [])]

    def names(self, table: _table.Table) -> list[str]:
        """The columns to fit: those of the schema, or else all but those of unit and by."""
        declared = self._declared()
        if "columns" in declared:
            return [c["name"] for c in declared["columns"]]
        apart = {self._person(), *self._grouped(declared)}
        return [c.name for c in table.columns if c.name not in apart]

    def _groups(self, declared: dict[str, Any], table: _table.Table | None) -> list[dict[str, Any]]:
        groups = {g["name"]: g for g in declared.get("by", [])}
        for name in self._by_names():
            if table is not None and name not in table.by_name and name != NONE and name not in groups:
                raise wrong("by", "a column of the table", repr(name), "case counts")
            if isinstance(self.by, Mapping):
                groups[name] = {"name": name, "categories": [_table.word(c) for c in self.by[name]]}
            elif name not in groups and table is not None and name != NONE:
                groups[name] = {"name": name, "categories": _table.categories_of(table.by_name[name])}
        return list(groups.values())

    def rows(self, table: _table.Table, read: list[str], labels: list[str]) -> Iterator[bytes | memoryview]:
        """The rows of a table in memory: as CSV where the program has to find numbers in text, whose rules are then those of every file."""
        text = self.infer_schema or any(table.by_name[n].kind != _table.NUMBERS for n in self.names(table) if n not in labels)
        return table.lines(read, labels) if text else table.stream(read, labels)

    @contextmanager
    def columns(self, table: _table.Table) -> Iterator[tuple[list[str], list[str], list[str]]]:
        """The flags of the columns, all columns that the program has to read, and those of persons and groups among them.

        The schema stands in a file while it runs: it is public, and holds no row.
        """
        flags = [] if self.unit is None else ["--unit", self.unit]
        if self.server is not None:
            yield [*self._columns_there(), *flags], [], []
            return
        for name in self._by_names():
            flags += ["--by", name]
        declared = self._declared()
        if self.infer_schema and (declared or isinstance(self.by, Mapping)):
            raise wrong("infer_schema", "no schema and no categories beside it", "one of them", "leave it out: the columns are declared")
        if table.path is None:
            self._in_memory(table, declared)
        if groups := self._groups(declared, None if table.path is not None else table):
            declared["by"] = groups
        labels = [n for n in [self._person(), *self._grouped(declared), *_of_kind(declared, "category")] if n]
        read = [c["name"] for c in declared.get("columns", [])]
        if table.path is None and self.infer_schema:
            read = list(table.by_name)
        elif table.path is None and self.unit is None and "unit" not in declared:
            labels += [n for n in table.suspects() if n not in read and n not in labels]
        read += [n for n in labels if n not in read]
        if not declared:
            yield flags, read, labels
            return
        with tempfile.TemporaryDirectory() as folder:
            name = os.path.join(folder, "schema.json")
            with open(name, "w", encoding="utf-8") as file:
                json.dump(declared, file, ensure_ascii=False)
            yield [*flags, "--schema", name], read, labels

    def _in_memory(self, table: _table.Table, declared: dict[str, Any]) -> None:
        """Fills the columns of a table in memory into what is declared, unless cells are to choose them."""
        if self.csv is not None:
            raise wrong("csv", "a file of CSV beside it", "a table in memory", "leave it out; what is written otherwise, make numbers of, such as with str.replace(',', '.')")
        unit = self._person()
        if unit is not None and unit not in table.by_name:
            raise wrong("unit", "a column of the table", repr(unit), "case counts")
        if self.infer_schema:
            return
        names = self.names(table)
        kept = set(_of_kind(declared, "category"))
        free = kept | set(_of_kind(declared, "date"))
        _table.refuse(table, [n for n in names if n not in free or n not in table.by_name], "columns" in declared, {unit, *self._grouped(declared)})
        stated = declared.get("columns", [{"name": n} for n in names])
        declared["columns"] = [{**table.by_name[n].facts, **c} for n, c in zip(names, stated)]
        for c in declared["columns"]:
            if c["name"] in kept:
                if c.get("categories") != "find" and not c.get("find"):  # values are found by the fit
                    c["categories"] = [_table.word(v) for v in c["categories"]] if "categories" in c else _table.categories_of(table.by_name[c["name"]], "schema")


def _of_kind(declared: dict[str, Any], kind: str) -> list[str]:
    """The columns of a schema of a kind."""
    return [c["name"] for c in declared.get("columns", []) if c.get("kind") == kind]
