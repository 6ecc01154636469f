"""What the custodian is told: it is written to standard error, and nothing here keeps it.

Estimators, releases and exceptions are pickled, logged and passed on. How many rows were read, or
which cell does not read as a number, may be in none of them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable


def watched(wanted: bool | None) -> bool:
    """Whether to say more than errors; without a wish only at a terminal or in a notebook, since what is written elsewhere is often kept."""
    if wanted is None:
        return "ipykernel" in sys.modules or sys.stderr is not None and sys.stderr.isatty()
    return wanted


def tell(lines: Iterable[str]) -> None:
    """Writes lines to standard error, if there is one."""
    if sys.stderr is not None:
        for line in lines:
            print(f"gauze: {line}", file=sys.stderr)
