"""A budget for what one process spends."""

from __future__ import annotations

import os
import tempfile
from contextvars import ContextVar, Token
from typing import Any

from ._errors import wrong
from ._ledger import Ledger

_DATASET = "session"

# The innermost session that is open, of this thread or task.
_open: ContextVar[Session | None] = ContextVar("gauze session", default=None)

# All that are open in this process, of whichever thread.
_all: list[Session] = []


class Session:
    """A budget for all fits in a with block: with gauze.Session(epsilon=2, delta=1e-6) as session.

    Fits and profiles in the block that name no ledger are charged to it, as if they were of one data
    set, by the program's own accounting; one that would cost more than is left raises a BudgetError
    and spends nothing. The account ends with the block: what has to last stands in a Ledger. Of
    blocks in blocks the innermost is charged alone. Other threads do not see the block, and a fit
    there that names no ledger is refused while it is open; other processes see nothing of it.
    """

    def __init__(self, *, epsilon: float, delta: float) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._before: Token[Session | None] | None = None
        self._last: dict[str, Any] = {}

    def __enter__(self) -> Session:
        if self._folder is not None:
            raise wrong("session", "one that is not open", "an open one", "make another one")
        folder = tempfile.TemporaryDirectory(prefix="gauze-session-")
        try:
            ledger = Ledger(os.path.join(folder.name, "session.ledger")).init()
            ledger.grant(_DATASET, epsilon=self.epsilon, delta=self.delta)
        except BaseException:
            folder.cleanup()
            raise
        self._folder, self._before = folder, _open.set(self)
        _all.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        self._last = self._shown()
        assert self._folder is not None and self._before is not None
        _all.remove(self)
        _open.reset(self._before)
        self._folder.cleanup()
        self._folder = self._before = None

    @property
    def spent(self) -> dict[str, float]:
        """What the fits of the block have cost together, by epsilon and delta."""
        return dict(self._shown().get("spent", {}))

    @property
    def remaining(self) -> dict[str, float]:
        """What one more fit may ask for."""
        return dict(self._shown().get("remaining", {"epsilon": self.epsilon, "delta": self.delta}))

    @property
    def releases(self) -> int:
        """How many fits have been charged."""
        return int(self._shown().get("releases", 0))

    def __repr__(self) -> str:
        return f"<gauze.Session of epsilon={self.epsilon!r}, delta={self.delta!r}>"

    def _shown(self) -> dict[str, Any]:
        return self._last if self._folder is None else dict(self._ledger().show(_DATASET)[0])

    def _ledger(self) -> Ledger:
        assert self._folder is not None
        return Ledger(os.path.join(self._folder.name, "session.ledger"))


def account() -> tuple[str, str] | None:
    """Returns ledger and data set of the session that is open, None if there is none.

    A fit in another thread of a block would otherwise spend what nothing counts.
    """
    session = _open.get()
    if session is not None and session._folder is not None:
        return session._ledger().location, _DATASET
    if _all:
        raise wrong("ledger", "a ledger for a fit outside of the thread of the session that is open", "none", "run it with contextvars.copy_context().run, or name a ledger and a dataset")
    return None
