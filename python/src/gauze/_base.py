"""What scikit-learn's estimators have in common, from there or, where it is not installed, from here."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:

    class BaseEstimator:
        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **params: Any) -> Any: ...
        def __sklearn_tags__(self) -> Any: ...

    class NotFittedError(ValueError, AttributeError): ...

    def check_feature_names(estimator: Any, x: Any) -> None: ...

else:
    try:
        from sklearn.base import BaseEstimator
        from sklearn.exceptions import NotFittedError
    except ImportError:

        class NotFittedError(ValueError, AttributeError):
            """The estimator has not been fitted."""

        class BaseEstimator:
            """Parameters by name, as those of scikit-learn."""

            @classmethod
            def _names(cls):
                return sorted(name for name in inspect.signature(cls.__init__).parameters if name != "self")

            def get_params(self, deep=True):
                """The parameters."""
                return {name: getattr(self, name) for name in self._names()}

            def set_params(self, **params):
                """Sets parameters."""
                for name, value in params.items():
                    if name not in self._names():
                        raise ValueError(f"{name}: wanted one of {', '.join(self._names())}")
                    setattr(self, name, value)
                return self

            def __repr__(self):
                given = inspect.signature(type(self).__init__).parameters
                shown = (f"{k}={v!r}" for k, v in self.get_params().items() if v != given[k].default)
                return f"{type(self).__name__}({', '.join(shown)})"

    def check_feature_names(estimator, x):
        """Compares names as scikit-learn does, where it is installed."""
        try:
            from sklearn.utils.validation import _check_feature_names
        except ImportError:
            return
        _check_feature_names(estimator, x, reset=False)


__all__ = ["BaseEstimator", "NotFittedError", "check_feature_names"]
