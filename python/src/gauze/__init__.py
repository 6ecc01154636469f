"""Gaussian mixtures of a table of people, under differential privacy.

All that is private happens in the program `gauze`, which this package holds and runs: rows go to it
through a pipe, and a release comes back. Nothing here draws noise or counts a budget.
"""

from ._caution import PrivacyWarning
from ._describe import describe
from ._errors import BudgetError, Fault, GauzeError, InputError, InputTypeError, Interrupted, NoRelease
from ._estimators import Covariance, GaussianMixture, expected_failed_checks
from ._ledger import Ledger
from ._plan import Plan, plan
from ._release import Background, Flag, Release, Report, simulate
from ._session import Session

__version__ = "0.1.0.dev0"

__all__ = [
    "Background", "BudgetError", "Covariance", "Fault", "Flag", "GaussianMixture", "GauzeError", "InputError", "InputTypeError", "Interrupted",
    "Ledger", "NoRelease", "Plan", "PrivacyWarning", "Release", "Report", "Session", "describe", "expected_failed_checks", "plan", "simulate",
]
