"""What can go wrong, as exceptions that say what was spent."""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, TypeVar

from ._terminal import tell

_Result = TypeVar("_Result")


class GauzeError(Exception):
    """The program ended without an answer.

    message, hint: what is wrong and how to fix it. spent: what it cost, by epsilon, delta, mu and
    rho, or by mu and rho where the budget was one of rho; all are 0 if nothing was measured. No row of the table had a part in any of these: where
    one did, standard error says what is wrong, and the exception only that something is.
    """

    def __init__(self, message: str, hint: str = "", spent: dict[str, float] | None = None) -> None:
        super().__init__(message, hint, spent)
        self.message = message
        self.hint = hint
        self.spent = cost(spent)

    def __str__(self) -> str:
        text = f"{self.message}; {self.hint}" if self.hint else self.message
        return f"{text} (spent: {_spent(self.spent)})" if any(self.spent.values()) else text


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong, and how to fix it; field, wanted and got are None where it is of no one field."""

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

    def __init__(self, message: str, hint: str = "", spent: dict[str, float] | None = None, faults: Sequence[Fault] = ()) -> None:
        super().__init__(message, hint, spent)
        self.args = (message, hint, spent, tuple(faults))
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
    """The ledger has not enough left; nothing was spent.

    remaining: what one more fit may ask for at most, by epsilon and delta; {} for nothing, or where
    it is not told.
    """

    def __init__(self, message: str, hint: str = "", spent: dict[str, float] | None = None, remaining: dict[str, float] | None = None) -> None:
        super().__init__(message, hint, spent)
        self.args = (message, hint, spent, remaining)
        self.remaining = dict(remaining or {})


class Interrupted(KeyboardInterrupt):
    """A fit was stopped by the keyboard; spent says what it had cost by then."""

    def __init__(self, spent: dict[str, float] | None = None) -> None:
        super().__init__(spent)
        self.spent = cost(spent)

    def __str__(self) -> str:
        return "interrupted; spent: " + (_spent(self.spent) if any(self.spent.values()) else "nothing")


def cost(spent: dict[str, float] | None) -> dict[str, float]:
    """Returns a cost by epsilon, delta, mu and rho; under a budget of rho without epsilon and delta, which are not 0 but not stated."""
    found = dict(spent or {})
    if found.get("rho") and not found.get("epsilon") and not found.get("delta"):
        found = {k: v for k, v in found.items() if k not in ("epsilon", "delta")}
    return found


def _spent(spent: dict[str, float]) -> str:
    return ", ".join(f"{name} = {value:.6g}" for name, value in spent.items() if value)


_BY_CODE: dict[int, type[GauzeError]] = {2: InputError, 3: NoRelease, 4: BudgetError}


def hidden(error: InputError) -> InputError:
    """Tells the terminal what is wrong with rows, and returns an error that says only that something is."""
    tell(filter(None, (error.message, error.hint)))
    return _unsaid()


def _unsaid() -> InputError:
    return wrong("X", "a table that can be fitted", "one that cannot; standard error says why, and nothing else does",
                 "the reason may depend on a row, and exceptions get logged, pickled and passed on")


def reading(step: Callable[[], _Result]) -> _Result:
    """Returns what step reads. If a library fails, whose words may quote a cell, only the terminal is told of it."""
    try:
        return step()
    except GauzeError:
        raise
    except Exception as error:
        tell("".join(traceback.format_exception(error)).splitlines())
    raise _unsaid()  # here, where Python does not keep the library's error as its context


def public_part(outcome: dict[str, Any], code: int) -> dict[str, Any]:
    """Tells the terminal what of an outcome of --json is for it alone, and returns the rest."""
    kept = {k: v for k, v in outcome.items() if k in ("message", "hint", "spent", "faults", "remaining")}
    if code == 0 or outcome.get("public") is True:  # a program that does not say so is not trusted to know
        return kept
    for fault in outcome.get("faults") or [outcome]:
        tell(_in_python(text) for text in (fault.get("message"), fault.get("hint")) if text)
    if _BY_CODE.get(code) is InputError:
        kept["faults"] = list(map(asdict, _unsaid().faults))
        return {**kept, "message": _unsaid().message, "hint": _unsaid().hint}
    return {"message": f"the program ended with code {code}", "hint": "standard error says why", "spent": kept.get("spent")}


def of_outcome(code: int, outcome: dict[str, Any]) -> GauzeError:
    """Returns the exception of what is public of an outcome."""
    said = (_in_python(outcome.get("message", "")), _in_python(outcome.get("hint", "")), outcome.get("spent"))
    kind = _BY_CODE.get(code, GauzeError)
    if kind is BudgetError:
        return BudgetError(*said, outcome.get("remaining"))
    if kind is not InputError:
        return kind(*said)
    parts = {f.name for f in fields(Fault)}
    faults = [_worded(Fault(**{k: v for k, v in one.items() if k in parts})) for one in outcome.get("faults", [])]
    message = "; ".join(f.message for f in faults) or said[0]
    return InputError(message, *said[1:], faults=faults)


_ARGUMENTS = {"components": "n_components", "covariance": "covariance_type", "columns": "schema"}

_SWITCHES = ("force", "infer-schema")

_FLAG = re.compile(r"""--([a-z]+(?:-[a-z]+)*)(?:[ =]("[^"]*"|[-+.\w/@]+(?:,[\w.-]+)*))?""")

# Words that follow the name of a flag in a sentence, and are no value of it.
_WORDS = frozenset("and or for if with as in is has it to which alone asks says beside by at allows chooses declares makes protects takes where".split())


def _argument(found: re.Match[str]) -> str:
    flag, value = found[1], found[2]
    name = _ARGUMENTS.get(flag, flag.replace("-", "_"))
    if flag in _SWITCHES:
        return f"{name}=True" + (f" {value}" if value else "")
    if value is None:
        return name
    if value in _WORDS:
        return f"{name} {value}"
    end = "." if value.endswith(".") and not value.startswith('"') else ""
    value = value.removesuffix(".") if end else value
    if name == "schema" and flag == "columns":
        text = "[" + ", ".join(f'"{one}"' for one in value.strip('"').split(",")) + "]"
    elif flag == "covariance":
        text = '"diag"' if value == "diagonal" else f'"{value}"'
    elif value.startswith('"') or re.fullmatch(r"[-+]?[0-9.]+(e[-+]?[0-9]+)?", value):
        text = value
    else:
        text = f'"{value}"'
    return f"{name}={text}{end}"


def _in_python(text: str) -> str:
    """Returns what the program says with flags as arguments, and commands as functions."""
    return re.sub(r"\bgauze (describe|plan)\b", r"gauze.\1", _FLAG.sub(_argument, text)).replace("schema or schema", "schema")


def _worded(fault: Fault) -> Fault:
    """Returns a fault of a setting, whose message begins with its flag, by the name that it has as an argument."""
    flag = "--" + (fault.field or "").replace("_", "-") + ": "
    said = replace(fault, hint=_in_python(fault.hint), message=_in_python(fault.message), wanted=fault.wanted and _in_python(fault.wanted))
    if fault.field is None or not fault.message.startswith(flag):
        return said
    name = _ARGUMENTS.get(fault.field, fault.field)
    return replace(said, field=name, message=f"{name}: {_in_python(fault.message.removeprefix(flag))}")
