"""What can go wrong, as exceptions that say what was spent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
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


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong, and how to mend it; field, wanted and got are None where it is of no one field."""

    message: str
    hint: str = ""
    field: str | None = None
    wanted: str | None = None
    got: str | None = None


class InputError(GauzeError, ValueError):
    """Bad usage or bad input; nothing was spent.

    faults: all that is wrong. field, wanted and got are those of the first one that is of a field,
    None if there is none.
    """

    def __init__(
        self, message: str, hint: str = "", spent: dict[str, float] | None = None, notes: list[str] | None = None,
        faults: Sequence[Fault] = (),
    ) -> None:
        super().__init__(message, hint, spent, notes)
        self.args = (message, hint, spent, notes, tuple(faults))
        self.faults = tuple(faults)
        first = next((f for f in self.faults if f.field is not None), Fault(message))
        self.field, self.wanted, self.got = first.field, first.wanted, first.got


class InputTypeError(InputError, TypeError):
    """Objects that are no numbers: an InputError that scikit-learn takes for a TypeError."""


def wrong(field: str, wanted: str, got: str, hint: str = "") -> InputError:
    """Bad usage of one field, worded as the program does."""
    message = f"{field}: wanted {wanted}, got {got}"
    return InputError(message, hint, faults=[Fault(message, hint, field, wanted, got)])


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
    said = (outcome.get("message", ""), outcome.get("hint", ""), outcome.get("spent"), outcome.get("notes"))
    kind = _BY_CODE.get(code, GauzeError)
    if kind is not InputError:
        return kind(*said)
    parts = {f.name for f in fields(Fault)}
    return InputError(*said, faults=[Fault(**{k: v for k, v in one.items() if k in parts}) for one in outcome.get("faults", [])])
