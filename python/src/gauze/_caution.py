"""Warnings of uses that cost more than they seem to, or that no budget covers."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from typing import Any


class PrivacyWarning(UserWarning):
    """A fit costs more than it seems to, or rests on something that no budget covers."""


def check() -> None:
    """Warns where scikit-learn runs this fit as one of many, or behind steps that learn from the rows in the clear."""
    split = False
    learned: list[str] = []
    for module, caller in _callers():
        split = split or module.startswith("sklearn.model_selection")
        if module == "sklearn.pipeline":
            learned += [name for name in _learned(caller) if name not in learned]
    if split:
        warnings.warn(
            "every split is a fit of its own, and each spends the whole budget: k of them together cost about sqrt(k) times as much; "
            "fit once, and score the release on rows that were kept apart", PrivacyWarning, stacklevel=4)
    if learned:
        warnings.warn(
            f"{', '.join(learned)} learned from the rows before this fit, without privacy: what such a step keeps is not covered by epsilon; "
            "leave it out (a fit needs no scaling), or give it fixed numbers in a FunctionTransformer", PrivacyWarning, stacklevel=4)


def _callers() -> Iterator[tuple[str, Any]]:
    """The modules of the functions that are running, each with its self."""
    frame = sys._getframe(1)
    while frame is not None:
        yield str(frame.f_globals.get("__name__", "")), frame.f_locals.get("self")
        frame = frame.f_back  # type: ignore[assignment]


def _learned(pipeline: Any) -> Iterator[str]:
    """The classes of the steps before the last that learn from rows."""
    for _, step in getattr(pipeline, "steps", [])[:-1]:
        if step is None or step == "passthrough":
            continue
        tags = getattr(step, "__sklearn_tags__", None)
        if tags is None or tags().requires_fit:
            yield type(step).__name__
