"""Tables of whatever library, as the text that the program reads.

A column goes by its type, which is public; no cell decides anything. Cells that are missing or not
finite are passed on as they are: what becomes of their rows is the program's to say, since an
exception that depends on a cell would tell of a person.
"""

from __future__ import annotations

import csv
import io
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ._errors import InputError, InputTypeError, wrong

_ROWS = 20_000  # of a piece, about 4 MB of ten columns: a guess

# A piece of a column: numbers as an array of floats, integers or booleans, all else as a sequence.
_Cells = Any


@dataclass
class Column:
    """A column that waits to be read: its name, what it holds, and its declared categories."""

    name: str
    kind: str  # "numbers", or what it holds in place of them
    categories: list[str] | None = None


@dataclass
class Table:
    """Columns, and their rows in pieces."""

    columns: list[Column]
    pieces: Callable[[list[str]], Iterator[list[_Cells]]]
    rows: int | None  # None where nobody knows before the end
    named: bool  # the columns have names of their own
    path: str | None = None  # an input that the program opens by itself
    by_name: dict[str, Column] = field(init=False)

    def __post_init__(self) -> None:
        self.by_name = {c.name: c for c in self.columns}
        if len(self.by_name) != len(self.columns):
            raise wrong("columns", "names that stand once", "one that stands twice", "rename it")

    def csv(self, names: Sequence[str]) -> Iterator[bytes]:
        """The rows of these columns as CSV; floats in the digits that give the same float back."""
        yield _line(names)
        numbers = [self.by_name[n].kind == "numbers" for n in names]
        for piece in self.pieces(list(names)):
            cells = [_digits(c) if number else _words(c) for c, number in zip(piece, numbers)]
            if cells and len(cells[0]):
                yield ("\n".join(map(",".join, zip(*cells))) + "\n").encode()

    def stream(self, names: Sequence[str]) -> Iterator[bytes]:
        """The same rows as a stream of Arrow where pyarrow is there, and as CSV elsewhere."""
        try:
            import pyarrow as pa
        except ImportError:
            yield from self.csv(names)
            return
        numbers = [self.by_name[n].kind == "numbers" for n in names]
        out, writer = io.BytesIO(), None
        for piece in self.pieces(list(names)):
            batch = pa.table([_floats(c) if number else _texts(c) for c, number in zip(piece, numbers)], names=list(names))
            if writer is None:
                writer = pa.ipc.new_stream(out, batch.schema)
            writer.write_table(batch)
            yield _taken(out)
        if writer is not None:
            writer.close()  # says that the table ends here: without it the program refuses the stream
        yield _taken(out)


def _taken(out: io.BytesIO) -> bytes:
    text = out.getvalue()
    out.seek(0)
    out.truncate()
    return text


def _floats(cells: np.ndarray[Any, Any]) -> Any:
    import pyarrow as pa

    if cells.dtype == np.float16:
        cells = cells.astype(str)  # by its shortest decimal, as in CSV
    return pa.array(np.ascontiguousarray(cells if cells.dtype == np.float32 else cells.astype(np.float64)))


def _texts(cells: Iterable[Any]) -> Any:
    import pyarrow as pa

    return pa.array([None if _missing(cell) else str(cell) for cell in cells], pa.string())


def _missing(cell: Any) -> bool:
    return cell is None or str(cell) == "<NA>" or bool(cell != cell)


def of(x: Any) -> Table:
    """The table of anything that is one."""
    if isinstance(x, (str, os.PathLike)):
        return _opened(os.fspath(x))
    if hasattr(x, "render_as_string"):  # a URL of SQLAlchemy
        return _opened(x.render_as_string(hide_password=False).replace("+psycopg2", "").replace("+psycopg", ""))
    library = type(x).__module__.partition(".")[0]
    if library == "pandas":
        return _pandas(x)
    if library == "polars":
        return _polars(x)
    if hasattr(x, "__arrow_c_stream__") or library == "pyarrow":
        return _arrow(x)
    return _numpy(x)


def _opened(path: str) -> Table:
    return Table([], lambda names: iter(()), None, True, path="./" + path if path.startswith("-") else path)


def _line(cells: Iterable[str]) -> bytes:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow(cells)
    return out.getvalue().encode()


def _digits(cells: np.ndarray[Any, Any]) -> list[str]:
    if cells.dtype.kind == "f" and cells.dtype.itemsize < 8:
        return list(cells.astype(str).tolist())  # the shortest decimal, as in CSV of the same table
    if cells.dtype.kind == "b":
        cells = cells.astype(np.int8)
    return list(map(repr, cells.tolist()))


def _words(cells: Iterable[Any]) -> list[str]:
    out = []
    for cell in cells:
        text = "" if _missing(cell) else str(cell)
        out.append('"' + text.replace('"', '""') + '"' if any(c in text for c in ',"\r\n') else text)
    return out


def _not_numbers(name: str, kind: str) -> InputError:
    return wrong(f"column {name!r}", "numbers", kind, "leave it out with schema=[..], make numbers of it, or name it in by or unit")


def refuse_text(table: Table, names: Iterable[str]) -> None:
    """Fails for the first column that cannot be fitted."""
    for name in names:
        column = table.by_name.get(name)
        if column is None:
            raise wrong("columns", repr(name), f"only {', '.join(map(repr, table.by_name))[:200]}", "case counts")
        if column.kind != "numbers":
            raise _not_numbers(name, column.kind)


def _numpy(x: Any) -> Table:
    if hasattr(x, "toarray"):
        raise wrong("X", "a dense table", "a sparse one; sparse input is not supported", "pass X.toarray()")
    array = np.asarray(x)
    if array.dtype.kind == "c":
        raise wrong("X", "real numbers", "complex ones. Complex data not supported", "pass the real part")
    if array.ndim != 2:
        raise wrong("X", "a table of two dimensions", f"{array.ndim}. Reshape your data: X.reshape(-1, 1)", "one row for each person")
    if array.dtype.kind not in "fiub":
        array = _converted(array)
    rows, columns = array.shape
    if columns == 0:
        raise wrong("X", "at least one column", f"0 feature(s) (shape={array.shape}) while a minimum of 1 is required.", "check the shape")
    if rows == 0:
        raise wrong("X", "rows", f"0 sample(s) (shape={array.shape}) while a minimum of 1 is required.", "check the shape")

    def pieces(names: list[str]) -> Iterator[list[_Cells]]:
        at = [int(n[1:]) for n in names]
        for start in range(0, rows, _ROWS):
            part = array[start : start + _ROWS]
            yield [part[:, i] for i in at]

    return Table([Column(f"x{i}", "numbers") for i in range(columns)], pieces, rows, False)


def _converted(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError):
        pass  # what numpy says would show the cell
    # The words behind the comma are those that scikit-learn's own checks look for.
    error = wrong("X", "numbers", f"other objects (dtype {array.dtype}), and an argument must be a string of digits or a number",
                  "make numbers of it; a missing cell is NaN")
    raise InputTypeError(*error.args) if array.dtype.kind == "O" else error


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
            columns.append(Column(name, "categories", [str(c) for c in kind.categories]))
        elif pd.api.types.is_numeric_dtype(kind) and not pd.api.types.is_complex_dtype(kind):
            columns.append(Column(name, "numbers"))
        else:
            columns.append(Column(name, f"the type {kind}"))
    at = {name: i for i, name in enumerate(names)}
    by = {c.name: c for c in columns}

    def pieces(wanted: list[str]) -> Iterator[list[_Cells]]:
        for start in range(0, len(x), _ROWS):
            part = x.iloc[start : start + _ROWS]
            yield [_of_series(part.iloc[:, at[n]], by[n].kind == "numbers") for n in wanted]

    return _checked(Table(columns, pieces, len(x), named))


def _of_series(s: Any, number: bool) -> _Cells:
    if not number:
        return s.tolist()
    if isinstance(s.dtype, np.dtype):
        return s.to_numpy()
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
            columns.append(Column(name, "numbers"))
        elif isinstance(kind, pl.Enum):
            columns.append(Column(name, "categories", [str(c) for c in kind.categories]))
        else:
            columns.append(Column(name, f"the type {kind}"))
    by = {c.name: c for c in columns}

    def pieces(wanted: list[str]) -> Iterator[list[_Cells]]:
        for start in range(0, x.height, _ROWS):
            part = x.slice(start, _ROWS)
            yield [_of_arrays(part[n].to_numpy()) if by[n].kind == "numbers" else part[n].to_list() for n in wanted]

    return _checked(Table(columns, pieces, x.height, True))


def _of_arrays(cells: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return cells.astype(np.float64) if cells.dtype.kind == "O" else cells  # booleans or decimals with nulls


def _arrow(x: Any) -> Table:
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
        columns.append(Column(f.name, "numbers" if number else f"the type {f.type}"))
    by = {c.name: c for c in columns}

    def pieces(wanted: list[str]) -> Iterator[list[_Cells]]:
        for batch in batches():
            for start in range(0, batch.num_rows, _ROWS):
                part = batch.slice(start, _ROWS)
                yield [_of_arrow(part.column(n), by[n].kind == "numbers") for n in wanted]

    return _checked(Table(columns, pieces, rows, True))


def _of_arrow(cells: Any, number: bool) -> _Cells:
    return _of_arrays(cells.to_numpy(zero_copy_only=False)) if number else cells.to_pylist()


def _checked(table: Table) -> Table:
    if not table.columns:
        raise wrong("X", "at least one column", "0 feature(s) while a minimum of 1 is required.", "check the table")
    if table.rows == 0:
        raise wrong("X", "rows", "0 sample(s) while a minimum of 1 is required.", "check the table")
    return table


def warn_categories(column: Column) -> list[str]:
    """The categories that a column's type declares; they will be public."""
    if not column.categories:
        raise wrong("by", f"declared categories of {column.name!r}", column.kind,
                    "groups are public, and never read off the rows: by={'sex': ['f', 'm']}, or a categorical (pandas) or Enum (polars)")
    warnings.warn(f"the categories of {column.name!r} are taken from its type, and are public: they must not have been read off the rows", stacklevel=7)
    return column.categories
