"""What can go wrong, as exceptions that say what was spent."""

from __future__ import annotations

import re
from typing import Any


class GauzeError(Exception):
    """The program ended without an answer.

    message, hint: what is wrong and how to mend it. spent: what it cost, by epsilon, delta, mu and
    rho; all are 0 if nothing was measured. notes: what else a terminal would have been told.
    """

    def __init__(self, message: str, hint: str = "", spent: dict[str, float] | None = None, notes: list[str] | None = None) -> None:
        super().__init__(message, hint, spent, notes)
        self.message = message
        self.hint = hint
        self.spent = dict(spent or {})
        self.notes = list(notes or [])

    def __str__(self) -> str:
        text = f"{self.message}; {self.hint}" if self.hint else self.message
        return f"{text} (spent: {_spent(self.spent)})" if any(self.spent.values()) else text


class InputError(GauzeError, ValueError):
    """Bad usage or bad input; nothing was spent. field, wanted and got are None where there is no one field."""

    field: str | None = None
    wanted: str | None = None
    got: str | None = None

    _PARTS = re.compile(r"(?P<field>.+?): want(?:ed)? (?P<wanted>.+?), got (?P<got>.*)", re.DOTALL)

    def __init__(self, message: str, hint: str = "", spent: dict[str, float] | None = None, notes: list[str] | None = None) -> None:
        super().__init__(message, hint, spent, notes)
        if parts := self._PARTS.fullmatch(message):
            self.field, self.wanted, self.got = parts["field"], parts["wanted"], parts["got"]


class NoRelease(GauzeError, RuntimeError):
    """A test failed, or the estimate is not to be trusted: there is no model, and the budget is spent."""


class BudgetError(GauzeError):
    """The ledger has not enough left; nothing was spent."""


class Interrupted(KeyboardInterrupt):
    """A fit was stopped by the keyboard; spent says what it had cost by then."""

    def __init__(self, spent: dict[str, float] | None = None) -> None:
        self.spent = dict(spent or {})
        super().__init__("interrupted; spent: " + (_spent(self.spent) if any(self.spent.values()) else "nothing"))


def _spent(spent: dict[str, float]) -> str:
    return ", ".join(f"{name} = {value:.6g}" for name, value in spent.items() if value)


_BY_CODE: dict[int, type[GauzeError]] = {2: InputError, 3: NoRelease, 4: BudgetError}


def of_outcome(code: int, outcome: dict[str, Any]) -> GauzeError:
    """The exception of the object that the program writes with --json."""
    kind = _BY_CODE.get(code, GauzeError)
    return kind(outcome.get("message", ""), outcome.get("hint", ""), outcome.get("spent"), outcome.get("notes"))
