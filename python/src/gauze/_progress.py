"""A bar that shows how much of the budget a fit has spent, where tqdm is installed."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ._terminal import watched


def _tqdm() -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of widgets that are not installed
            from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm


@contextmanager
def bar(wanted: bool | None) -> Iterator[Callable[[str, float], None] | None]:
    """What to tell of a fit, or None; without a wish a bar is shown where somebody looks, at a terminal or a notebook."""
    tqdm = _tqdm() if watched(wanted) else None
    if tqdm is None:
        yield None
        return
    with tqdm(total=100, leave=False, bar_format="{percentage:3.0f} % of the budget |{bar}| {elapsed} {desc}") as shown:

        def told(done: str, spent: float) -> None:
            shown.set_description_str(done, refresh=False)
            shown.n = 100 * spent
            shown.refresh()

        yield told
