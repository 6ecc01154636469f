"""Tables of whatever library, as the stream that the program reads.

A column goes by its type, which is public, and one of text by what the caller names; no cell decides anything unless the caller asks for it. Cells that are missing or not
finite are passed on as they are: what becomes of their rows is the program's to say, since an
exception that depends on a cell would tell of a person.
"""

from __future__ import annotations

import contextlib
import csv
import io
import os
import re
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import _rows
from ._errors import InputError, InputTypeError, reading, wrong
from ._terminal import tell

NUMBERS, TEXT = "numbers", "text"

# What names of columns that tell persons apart have in them, and others too: the program, which
# knows them better, is shown every column that may be one.
_MAY_IDENTIFY = re.compile("id|no|nr|num|code|key|mrn|empi|ssn|nin|nhs|seqn|animal|client|customer|donor|employee|individual|member|participant|patient|"
                           "proband|pupil|resident|respondent|student|subject|user", re.IGNORECASE)

_ROWS = 20_000  # of a piece, about 2 MB of ten columns: a guess

# A piece of a column: numbers as an array of floats, integers, booleans, or objects where some of
# these are missing; all else as a sequence.
_Cells = Any


@dataclass
class Column:
    """A column that waits to be read: its name, what it holds, and what its library says of it.

    TEXT may hold numbers, which only its cells tell. narrow: it holds 32-bit floats, which the program takes for the shortest decimals that name
    them. facts: its label and unit of measure, or its kind. They and the categories are public.
    """

    name: str
    kind: str  # NUMBERS, TEXT, or what it holds in place of them
    narrow: bool = False
    type: str = ""  # as its library calls it, where that says more than kind
    categories: list[str] | None = None  # which its type declares
    found: list[str] | None = None  # which may have been read off the rows
    facts: dict[str, str] = field(default_factory=dict)


@dataclass
class Table:
    """Columns, and their rows in pieces."""

    columns: list[Column]
    pieces: Callable[[list[str]], Iterator[list[_Cells]]]
    rows: int | None  # None where nobody knows before the end
    named: bool  # the columns have names of their own
    path: str | None = None  # an input that the program opens by itself
    environment: dict[str, str] = field(default_factory=dict)  # which it is opened in
    by_name: dict[str, Column] = field(init=False)

    def __post_init__(self) -> None:
        self.by_name = {c.name: c for c in self.columns}
        if len(self.by_name) != len(self.columns):
            raise wrong("columns", "names that stand once", "one that stands twice", "rename it")
        for name in self.by_name:
            try:
                name.encode()
            except UnicodeEncodeError:
                raise wrong("columns", "names in Unicode", f"{name!r}, which has half a character", "rename it") from None

    def suspects(self) -> list[str]:
        """The names of columns that may tell persons apart."""
        return [name for name in self.by_name if _MAY_IDENTIFY.search(name)]

    def numeric(self) -> list[str]:
        """The names of the columns that are numbers by their type."""
        return [c.name for c in self.columns if c.kind == NUMBERS]

    def stream(self, names: Sequence[str], labels: Collection[str] = ()) -> Iterator[bytes | memoryview]:
        """The rows of these columns; those of labels, which tell persons and groups apart, as text."""
        kinds = self._kinds(names, labels)
        yield _rows.header(names, kinds)
        for cells in self._cells(names, kinds):
            yield from _rows.batch(cells)
        yield _rows.END  # says that the table ends here: without it the program refuses the stream

    def lines(self, names: Sequence[str], labels: Collection[str] = ()) -> Iterator[bytes]:
        """The same as CSV, where the program is to find numbers in text."""
        yield _csv([names])
        for cells in self._cells(names, self._kinds(names, labels)):
            yield _csv(zip(*(c if isinstance(c, list) else _texts(list(c)) for c in cells)))

    def _kinds(self, names: Sequence[str], labels: Collection[str]) -> list[type[np.floating[Any]] | None]:
        columns = [self.by_name[name] for name in names]
        return [None if c.kind != NUMBERS or c.name in labels else np.float32 if c.narrow else np.float64 for c in columns]

    def _cells(self, names: Sequence[str], kinds: Sequence[type[np.floating[Any]] | None]) -> Iterator[list[_rows.Cells]]:
        pieces = reading(lambda: self.pieces(list(names)))
        while (cells := reading(lambda: _next(pieces, kinds))) is not None:
            if cells and len(cells[0]):
                yield cells


def _next(pieces: Iterator[list[_Cells]], kinds: Sequence[type[np.floating[Any]] | None]) -> list[_rows.Cells] | None:
    piece = next(pieces, None)
    if piece is None:
        return None
    with np.errstate(all="ignore"), warnings.catch_warnings():  # a warning would tell of a cell
        warnings.simplefilter("ignore")
        return [_texts(c) if kind is None else _floats(c, kind) for kind, c in zip(kinds, piece)]


def _csv(rows: Iterable[Iterable[str | bytes | None]]) -> bytes:
    text = io.StringIO(newline="")
    written = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)  # a blank line would be no row
    written.writerows([c.decode() if isinstance(c, bytes) else c for c in row] for row in rows)
    return text.getvalue().encode(errors="replace")


def _floats(cells: np.ndarray[Any, Any], kind: type[np.floating[Any]]) -> np.ndarray[Any, Any]:
    if cells.dtype == np.float16:
        cells = cells.astype(str)  # by its shortest decimal, as in CSV
    return cells.astype(kind, copy=False)


def _texts(cells: Iterable[Any]) -> list[bytes | None]:
    listed = cells.tolist() if isinstance(cells, np.ndarray) else cells
    return [None if _missing(cell) else word(cell).encode(errors="replace") for cell in listed]


def _missing(cell: Any) -> bool:
    return cell is None or str(cell) == "<NA>" or bool(cell != cell)


def word(cell: Any) -> str:
    """A label as the program writes it."""
    if isinstance(cell, (bool, np.bool_)):
        return "true" if cell else "false"
    if isinstance(cell, (float, np.floating)):
        return np.format_float_positional(cell, trim="-")
    return str(cell)


def of(x: Any) -> Table:
    """Returns the table of anything that is one."""
    return reading(lambda: _of(x))


def _of(x: Any) -> Table:
    if isinstance(x, (str, os.PathLike)):
        return _opened(os.fspath(x))
    url = getattr(x, "url", x)  # of an engine
    if hasattr(url, "get_backend_name"):
        return _url(url)
    library = type(x).__module__.partition(".")[0]
    if library == "pandas":
        return _pandas(x)
    if library == "polars":
        return _polars(x)
    if hasattr(x, "__arrow_c_stream__") or library == "pyarrow":
        return _of_arrow(x)
    return _numpy(x)


def _opened(path: str) -> Table:
    return Table([], lambda names: iter(()), None, True, path="./" + path if path.startswith("-") else path)


def _url(url: Any) -> Table:
    """A URL of SQLAlchemy; its password does not stand among the arguments, which others on the machine see."""
    family = url.get_backend_name()
    if family == "sqlite":
        query = url.render_as_string().partition("?")[2]
        return _opened(f"sqlite:{url.database}?{query}")
    if family != "postgresql":
        raise wrong("X", "a URL of PostgreSQL or SQLite", f"one of {family}", "read the table with pandas or polars, and pass that")
    password = url.password
    public = type(url).create("postgresql", url.username, None, url.host, url.port, url.database, url.query)
    table = _opened(public.render_as_string())
    table.environment = {} if password is None else {"PGPASSWORD": str(password)}
    return table


def refuse(table: Table, names: Iterable[str], declared: bool, apart: Collection[str | None] = ()) -> None:
    """Fails for the first column that cannot be fitted: of text only what the caller names can, since its cells say whether they are numbers."""
    for name in names:
        column = table.by_name.get(name)
        if column is None:
            raise wrong("columns", repr(name), f"only {', '.join(map(repr, table.by_name))[:200]}", "case counts")
        if column.kind == NUMBERS or declared and column.kind == TEXT:
            continue
        if not table.named:
            raise _not_numbers(column)
        numeric = [n for n in table.numeric() if n not in apart]
        raise wrong(f"column {name!r}", "numbers by its type", column.type or column.kind,
                    f"name the columns to fit, schema={numeric!r}, or name it in by or unit; infer_schema=True has cells choose, which the promise does not cover"
                    if numeric else "make numbers of it, or name it in schema=[..] if it is text that holds numbers")


def _numpy(x: Any) -> Table:
    if hasattr(x, "toarray"):
        raise wrong("X", "a dense table", "a sparse one; sparse input is not supported", "pass X.toarray()")
    # What is masked is missing: without this, the numbers behind the mask would count.
    masked: Any = x if isinstance(x, np.ma.MaskedArray) and x.dtype.kind in "fiub" else None
    array = None
    with contextlib.suppress(ValueError):
        array = np.asarray(x) if masked is None else masked.astype(np.float64).filled(np.nan)
    if array is None:  # and not where the error is handled, which says what the shape is and would stay as the context
        raise wrong("X", "a table of two dimensions", "rows of different lengths", "one row for each person")
    if array.dtype.kind == "c":
        raise wrong("X", "real numbers", "complex ones. Complex data not supported", "pass the real part")
    if array.ndim != 2:
        raise wrong("X", "a table of two dimensions", f"{array.ndim}. Reshape your data: X.reshape(-1, 1)", "one row for each person")
    kind = NUMBERS
    if array.dtype.kind not in "fiub":
        array, kind = _converted(array)
    rows, columns = array.shape

    def pieces(names: list[str]) -> Iterator[list[_Cells]]:
        at = [int(n[1:]) for n in names]
        for start in range(0, rows, _ROWS):
            part = array[start : start + _ROWS]
            yield [part[:, i] for i in at]

    return Table([Column(f"x{i}", kind, array.dtype == np.float32, type=array.dtype.name) for i in range(columns)], pieces, rows, False)


def _converted(array: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], str]:
    """An array of numbers, if all that an array of objects holds is some, or else the array itself; and which it is."""
    if array.dtype.kind in "OSU":
        with contextlib.suppress(TypeError, ValueError), np.errstate(all="ignore"):  # what numpy says would show the cell
            return array.astype(np.float64), NUMBERS
    if array.dtype.kind == "S":
        array = np.char.decode(array, errors="replace")
    return array, TEXT if array.dtype.kind in "OU" else f"the type {array.dtype.name}"


def _not_numbers(column: Column) -> InputError:
    """The error of an array of no numbers, in words that scikit-learn's own checks look for."""
    kind = "object" if column.type == "object" else "str" if column.kind == TEXT else column.type  # and not how long the longest text is
    error = wrong("X", NUMBERS, f"other objects (dtype {kind}), and an argument must be a string of digits or a number",
                  "make numbers of it, a missing cell NaN; schema=['x0', ..] has the program read numbers out of text")
    return InputTypeError(*error.args) if kind == "object" else error


def _pandas(x: Any) -> Table:
    import pandas as pd

    if isinstance(x, pd.Series):
        x = x.to_frame()
    named = all(isinstance(c, str) for c in x.columns)
    names = [str(c) for c in x.columns] if named else [f"x{i}" for i in range(x.shape[1])]
    columns = []
    for i, name in enumerate(names):
        kind = x.dtypes.iloc[i]
        if isinstance(kind, pd.CategoricalDtype):
            columns.append(Column(name, TEXT, type="a categorical", found=[word(c) for c in kind.categories]))
        elif pd.api.types.is_numeric_dtype(kind) and not pd.api.types.is_complex_dtype(kind):
            columns.append(Column(name, NUMBERS, getattr(kind, "numpy_dtype", kind) == np.float32, facts=_answers(pd.api.types.is_bool_dtype(kind))))
        else:
            text = kind == object or pd.api.types.is_string_dtype(kind)
            columns.append(Column(name, TEXT if text else f"the type {kind}", type=f"the type {kind}"))
    for fact, said in (("unit_of_measure", "units"), ("label", "labels")):
        for column in columns:
            if text := x.attrs.get(said, {}).get(column.name):
                column.facts[fact] = str(text)
    at = {name: i for i, name in enumerate(names)}
    by = {c.name: c for c in columns}

    def pieces(wanted: list[str]) -> Iterator[list[_Cells]]:
        for start in range(0, len(x), _ROWS):
            part = x.iloc[start : start + _ROWS]
            yield [_of_series(part.iloc[:, at[n]], by[n].kind == NUMBERS) for n in wanted]

    return Table(columns, pieces, len(x), named)


def _answers(truth: bool) -> dict[str, str]:
    """The fact of a column of true and false: its kind."""
    return {"kind": "yes-no"} if truth else {}


def _of_series(s: Any, number: bool) -> _Cells:
    if not number:
        return s.tolist()
    if isinstance(s.dtype, np.dtype):
        return s.to_numpy()
    if s.dtype == "boolean" and s.hasnans:
        return s.to_numpy(dtype=object, na_value=None)
    width = getattr(s.dtype, "numpy_dtype", np.dtype(np.float64))
    return s.to_numpy(dtype=width if width == np.float32 or not s.hasnans else np.float64, na_value=0 if not s.hasnans else np.nan)


def _polars(x: Any) -> Table:
    import polars as pl

    if isinstance(x, pl.LazyFrame):
        x = x.collect()
    if isinstance(x, pl.Series):
        x = x.to_frame()
    columns = []
    for name, kind in x.schema.items():
        if kind.is_numeric() or kind == pl.Boolean:
            columns.append(Column(name, NUMBERS, kind == pl.Float32, facts=_answers(kind == pl.Boolean)))
        elif isinstance(kind, pl.Enum):
            columns.append(Column(name, TEXT, type="an Enum", categories=[str(c) for c in kind.categories]))
        else:
            text = kind in (pl.String, pl.Categorical, pl.Object)
            columns.append(Column(name, TEXT if text else f"the type {kind}", type=f"the type {kind}"))
    by = {c.name: c for c in columns}

    def pieces(wanted: list[str]) -> Iterator[list[_Cells]]:
        for start in range(0, x.height, _ROWS):
            part = x.slice(start, _ROWS)
            yield [part[n].to_numpy() if by[n].kind == NUMBERS else part[n].to_list() for n in wanted]

    return Table(columns, pieces, x.height, True)


def _of_arrow(x: Any) -> Table:
    try:
        import pyarrow as pa
    except ImportError:
        raise wrong("X", "pyarrow, which reads tables of its kind", "none", "pip install pyarrow, or pass numpy arrays") from None
    batches: Callable[[], Iterable[Any]]
    rows: int | None = None
    if isinstance(x, pa.RecordBatch):
        x = pa.Table.from_batches([x])
    if isinstance(x, pa.Table):
        schema, batches, rows = x.schema, lambda: x.to_batches(max_chunksize=_ROWS), x.num_rows
    elif hasattr(x, "to_batches") and hasattr(x, "scanner"):  # a dataset
        schema, batches = x.schema, lambda: x.to_batches(batch_size=_ROWS)
    else:
        reader = x if isinstance(x, pa.RecordBatchReader) else pa.RecordBatchReader.from_stream(x)
        schema, batches = reader.schema, lambda: reader
    columns = []
    for f in schema:
        number = pa.types.is_integer(f.type) or pa.types.is_floating(f.type) or pa.types.is_boolean(f.type) or pa.types.is_decimal(f.type)
        facts = _answers(pa.types.is_boolean(f.type)) | {k.decode(): v.decode(errors="replace") for k, v in (f.metadata or {}).items() if k in (b"unit_of_measure", b"label")}
        text = pa.types.is_string(f.type) or pa.types.is_large_string(f.type) or pa.types.is_dictionary(f.type)
        kind = NUMBERS if number else TEXT if text else f"the type {f.type}"
        columns.append(Column(f.name, kind, pa.types.is_float32(f.type), f"the type {f.type}", facts=facts))
    by = {c.name: c for c in columns}

    def pieces(wanted: list[str]) -> Iterator[list[_Cells]]:
        for batch in batches():
            for start in range(0, batch.num_rows, _ROWS):
                part = batch.slice(start, _ROWS)
                yield [_cells(part.column(n), by[n].kind == NUMBERS) for n in wanted]

    return Table(columns, pieces, rows, True)


def _cells(cells: Any, number: bool) -> _Cells:
    return cells.to_numpy(zero_copy_only=False) if number else cells.to_pylist()


def categories_of(column: Column, asked: str = "by") -> list[str]:
    """The categories that a column's type declares; they will be public."""
    if column.categories:
        warnings.warn(f"the categories of {column.name!r} are taken from its type, and are public: they must not have been read off the rows", stacklevel=7)
        return column.categories
    if column.found:  # pandas makes them of the rows, so that they go to the terminal alone
        said = f"by={ {column.name: column.found} }" if asked == "by" else str({"name": column.name, "kind": "category", "categories": column.found})
        tell([f"if these categories are no secret: {said}"])
    how = "by={'sex': ['f', 'm']}" if asked == "by" else '{"name": "sex", "kind": "category", "categories": ["f", "m"]}'
    raise wrong(asked, f"declared categories of {column.name!r}", column.type or column.kind,
                f"{'groups' if asked == 'by' else 'categories'} are public, and never read off the rows: {how}, or an Enum of polars")
