"""Rows on their way to the program, which reads them from a pipe (source/piped in its code has the format)."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[Any]  # float32 or float64
Cells = Floats | list[bytes | None]

END = bytes(4)


def header(names: Sequence[str], types: Sequence[npt.DTypeLike | None]) -> bytes:
    """What a stream begins with: the columns, of floats or, for None, of text."""
    columns = [(name, "text" if kind is None else np.dtype(kind).name) for name, kind in zip(names, types)]
    text = json.dumps(columns).encode()
    return b"\xffGAUZE\x00\x01" + struct.pack("<I", len(text)) + text


def batch(columns: Sequence[Cells]) -> list[bytes | memoryview]:
    """Rows, at least one, as pieces to write one after the other; a missing text is None, a missing number NaN."""
    pieces: list[bytes | memoryview] = [struct.pack("<I", len(columns[0]))]
    for cells in columns:
        if isinstance(cells, list):
            pieces += [np.array([-1 if c is None else len(c) for c in cells], "<i4").tobytes(), b"".join(c or b"" for c in cells)]
        else:
            pieces.append(np.ascontiguousarray(cells, cells.dtype.newbyteorder("<")).data.cast("B"))
    return pieces
