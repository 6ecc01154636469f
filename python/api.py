"""Writes the page of all that the package has, from its docstrings: python api.py > API.md"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent / "src"))

import gauze  # noqa: E402


def page() -> str:
    """The page."""
    parts = ["# What the package has", "", "Made by `python api.py > API.md` from the docstrings. [README](README.md), [TUTORIAL](TUTORIAL.md).", ""]
    for name in gauze.__all__:
        thing = getattr(gauze, name)
        parts += [f"## {name}", ""]
        stated = inspect.isclass(thing) and "__init__" not in vars(thing) and not hasattr(thing, "__dataclass_fields__")
        if not stated:
            parts += ["```python", f"{name}{_signature(thing)}", "```", ""]
        parts += [inspect.getdoc(thing) or "", ""]
        if inspect.isclass(thing):
            parts += [*_members(thing), ""]
    return re.sub("\n{3,}", "\n\n", "\n".join(parts)).rstrip() + "\n"


def _members(thing: type) -> Iterator[str]:
    """Methods and attributes that are of this package, those of a common ancestor too."""
    found: dict[str, Any] = {}
    for ancestor in reversed(thing.__mro__):
        if ancestor.__module__.startswith("gauze") and ancestor.__module__ != "gauze._base":
            found.update(vars(ancestor))
    for name, member in found.items():
        if name.startswith("_") or hasattr(Sequence, name) or isinstance(member, str):
            continue
        if isinstance(member, property):
            yield f"- `{name}`: {_line(member)}"
        elif isinstance(member, (classmethod, staticmethod)) or inspect.isfunction(member):
            shown = getattr(member, "__func__", member)
            yield f"- `{name}{_signature(shown)}`: {_line(shown)}"


def _line(thing: Any) -> str:
    return " ".join((inspect.getdoc(thing) or "").split())


def _signature(thing: Any) -> str:
    """Parameters without types, in one line: the types stand in the source, where editors read them."""
    shown, star = [], False
    for p in inspect.signature(thing).parameters.values():
        if p.name in ("self", "cls"):
            continue
        if p.kind is p.KEYWORD_ONLY and not star:
            shown.append("*")
            star = True
        mark = {p.VAR_KEYWORD: "**", p.VAR_POSITIONAL: "*"}.get(p.kind, "")
        shown.append(mark + p.name + ("" if p.default is p.empty else f"={p.default!r}"))
    return f"({', '.join(shown)})"


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    print(page(), end="")
