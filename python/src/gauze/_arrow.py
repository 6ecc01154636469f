"""Streams of Arrow record batches (IPC, version 5), which the program reads rows from.

Written here, so that rows go fast where pyarrow is not installed; columns are floats or text.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

# Of the format: what begins a message, its version, and the kinds of headers and types.
_MARK = b"\xff\xff\xff\xff"
_V5 = 4
_SCHEMA, _BATCH = 1, 3
_FLOAT, _UTF8 = 3, 5
_PRECISIONS = {np.dtype(np.float32): 1, np.dtype(np.float64): 2}

END = _MARK + bytes(4)

# What stands in a slot of a table: a number as its format, or what writes a part and says where.
_Slot = tuple[str, int] | Callable[["_Flat"], int] | None

Floats = npt.NDArray[Any]  # float32 or float64
Cells = Floats | list[bytes | None]


class _Flat(bytearray):
    """A FlatBuffer, written from front to back: what a table refers to comes behind it."""

    def pad(self, to: int, rest: int = 0) -> int:
        self.extend(bytes((rest - len(self)) % to))
        return len(self)

    def table(self, *slots: _Slot) -> int:
        """Appends a table and all that it refers to; the largest numbers stand first, so that all are aligned."""
        widths = [0 if s is None else 4 if callable(s) else struct.calcsize(s[0]) for s in slots]
        places, size = [0] * len(slots), 4
        for i in sorted(range(len(slots)), key=lambda i: -widths[i]):
            if widths[i]:
                places[i], size = size, size + widths[i]
        index = struct.pack(f"<{2 + len(slots)}H", 4 + 2 * len(slots), size, *places)
        self.pad(8, 4 - len(index))
        self.extend(index)
        at = len(self)
        self.extend(struct.pack("<i", len(index)) + bytes(size - 4))
        for place, slot in zip(places, slots):
            if callable(slot):
                self.point(at + place, slot)
            elif slot is not None:
                struct.pack_into("<" + slot[0], self, at + place, slot[1])
        return at

    def point(self, at: int, part: Callable[[_Flat], int]) -> None:
        """Appends a part, and writes at a place how far behind it that stands."""
        struct.pack_into("<I", self, at, part(self) - at)

    def text(self, content: bytes) -> int:
        at = self.pad(4)
        self.extend(struct.pack("<I", len(content)) + content + b"\0")
        return at

    def tables(self, parts: Sequence[Callable[[_Flat], int]]) -> int:
        at = self.pad(4)
        self.extend(struct.pack("<I", len(parts)) + bytes(4 * len(parts)))
        for i, part in enumerate(parts):
            self.point(at + 4 * (i + 1), part)
        return at

    def pairs(self, numbers: Sequence[tuple[int, int]]) -> int:
        at = self.pad(8, 4)
        self.extend(struct.pack("<I", len(numbers)))
        self.extend(np.array(numbers, "<i8").tobytes())
        return at


def _message(kind: int, header: Callable[[_Flat], int], body: int = 0) -> bytes:
    flat = _Flat(4)
    flat.point(0, lambda f: f.table(("h", _V5), ("B", kind), header, ("q", body)))
    flat.pad(8)
    return _MARK + struct.pack("<i", len(flat)) + bytes(flat)


def schema(names: Sequence[str], types: Sequence[npt.DTypeLike | None]) -> bytes:
    """What a stream begins with: the columns, of floats or, for None, of text."""

    def field(name: str, kind: npt.DTypeLike | None) -> Callable[[_Flat], int]:
        what: tuple[_Slot, ...] = () if kind is None else (("h", _PRECISIONS[np.dtype(kind)]),)
        return lambda f: f.table(
            lambda f: f.text(name.encode()), ("B", 1), ("B", _UTF8 if kind is None else _FLOAT), lambda f: f.table(*what),
            None, lambda f: f.tables([]),
        )

    fields = [field(n, t) for n, t in zip(names, types)]
    return _message(_SCHEMA, lambda f: f.table(("h", 0), lambda f: f.tables(fields)))


def batch(columns: Sequence[Cells]) -> list[bytes | memoryview]:
    """Rows, as pieces to write one after the other; a missing text is None, a missing number NaN."""
    rows = len(columns[0])
    nodes, places, body, at = [], [], list[Any](), 0
    for cells in columns:
        missing, buffers = _buffers(cells)
        nodes.append((rows, missing))
        for buffer in buffers:
            places.append((at, len(buffer)))
            body += [buffer, bytes(-len(buffer) % 8)]
            at += len(buffer) + -len(buffer) % 8
    header = _message(_BATCH, lambda f: f.table(("q", rows), lambda f: f.pairs(nodes), lambda f: f.pairs(places)), at)
    return [header, *body]


def _buffers(cells: Cells) -> tuple[int, list[bytes | memoryview]]:
    if not isinstance(cells, list):
        little = cells.dtype.newbyteorder("<")
        return 0, [b"", np.ascontiguousarray(cells, little).data.cast("B")]
    there = np.array([c is not None for c in cells], bool)
    ends = np.cumsum([0, *(len(c or b"") for c in cells)], dtype="<i4")
    valid = b"" if there.all() else np.packbits(there, bitorder="little").tobytes()
    return int((~there).sum()), [valid, ends.tobytes(), b"".join(c or b"" for c in cells)]
