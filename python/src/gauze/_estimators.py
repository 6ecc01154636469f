"""Estimators with scikit-learn's nouns and shapes."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _caution, _program, _table
from ._base import BaseEstimator, NotFittedError, check_feature_names
from ._density import log_densities, log_sum_exp, precisions_cholesky
from ._errors import GauzeError, InputError, wrong
from ._progress import bar
from ._release import Array, Background, Release, Report
from ._request import Groups, Request, Schema
from ._terminal import watched


class _Private(BaseEstimator):
    """What is fitted by the program."""

    release_: Release

    progress: bool | None

    def _request(self) -> Request:
        return Request(**{k: v for k, v in self.get_params(deep=False).items() if k != "progress"})

    def _run(self, x: Any) -> None:
        request = self._request()
        _caution.check()
        table = request.table(x, least=2)
        with request.columns(table) as (flags, read, labels):
            arguments = ["fit", table.path or "-", *request.flags(), *flags]
            rows: Iterable[bytes | memoryview] = [] if table.path else request.rows(table, read, labels)
            with bar(self.progress if request.server is None else False) as told:  # a server says nothing on the way
                out = _program.run(arguments, rows, environment=table.environment, told=told, notes=watched(self.progress))
        self.release_ = Release(out.decode())
        self._library = _library(x)
        self._keep(table.named)

    def _keep(self, named: bool) -> None:
        content = self.release_.to_dict()
        columns = (content.get("model") or {}).get("columns") or [c["name"] for c in content["columns"]]
        self.n_features_in_ = len(columns)
        if named:
            self.feature_names_in_ = np.array(columns, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _fitted(self) -> Release:
        if not hasattr(self, "release_"):
            raise NotFittedError(f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with appropriate arguments before using this estimator.")
        return self.release_

    def _rows(self, x: Any) -> Array:
        """Rows as numbers, in the columns that were fitted."""
        self._fitted()
        table = _table.of(x)
        if table.rows == 0:
            raise wrong("X", "rows", "0 sample(s) while a minimum of 1 is required.", "check the table")
        if table.path is not None:
            raise wrong("X", "a table in memory", "a path", "gauze score computes of a file, or read it first")
        names = [c.name for c in table.columns]
        fitted = list(getattr(self, "feature_names_in_", names))
        if table.named and len(names) > len(fitted) and set(fitted) <= set(names):
            names = fitted
        else:
            check_feature_names(self, x)
        if len(names) != self.n_features_in_:
            raise InputError(f"X has {len(names)} features, but {type(self).__name__} is expecting {self.n_features_in_} features as input.")
        _table.refuse(table, names, declared=False)
        rows = np.concatenate([np.column_stack([np.asarray(c, float) for c in piece]) for piece in table.pieces(names)])
        if not np.isfinite(rows).all():
            raise wrong("X", "finite numbers", "NaN or an infinity", "leave these rows out")
        return rows

    @property
    def certificate_(self) -> dict[str, Any]:
        """What was promised, measured and spent."""
        return self._fitted().certificate

    @property
    def spent_(self) -> dict[str, float]:
        """What the fit cost: epsilon, delta, mu and rho; under a budget of rho only mu and rho."""
        return self._fitted().spent

    @property
    def report_(self) -> Report:
        """A report, which shows itself in a notebook."""
        return self._fitted().report()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True  # a bad row counts as one, whatever it holds
        tags.non_deterministic = True  # noise has no seed
        return tags


class GaussianMixture(_Private):
    """A mixture of Gaussians, learned under differential privacy.

    Parameters, none of which but the budget is needed:

    - n_components: a number, or "auto", which chooses at most max_components under the budget
    - epsilon and delta, or rho (zCDP): the budget, which has no default
    - relation: "replace-one", where the number of rows is public, or "add-remove-one"
    - covariance_type: "full", "diag" or "spherical"
    - method: see `gauze fit --help`; learner: what "black-box" runs on blocks of rows
    - unit: the column whose values are persons, where one has several rows; "none" says that every
      row is a person of its own, where X has a column that looks like one of persons
    - by: columns whose declared categories make groups, each with a model of its own; a mapping
      declares them. Without it those of the schema; "none" for one model
    - schema: the columns to fit, as names or objects, such as {"name": "sex", "kind": "category",
      "categories": ["f", "m"]}; or a whole schema, as an object or a file. Without one all columns
      of X, if each is of numbers by its type; a path or a URL needs one
    - infer_schema: whether cells choose the columns. The promise does not cover that choice, and the
      release says so
    - unreadable: "missing" has cells that hold something but no number count as missing; without it
      they end the fit before anything is spent
    - csv: how a file is written, where its header does not tell: "delimiter=; decimal=, encoding=latin1"
    - ledger, dataset: the account that the budget is taken from
    - force: allows epsilon above 20, and a delta of one over the rows or more
    - progress: whether standard error shows a bar (of tqdm) and what is for the custodian alone, such
      as how many rows were read; None: at a terminal and in a notebook
    - server: the URL of a `gauze serve`; X is the name of a data set there then, whose relation,
      persons, schema and budget are its custodian's, and its rows stay there
    - token: the file with your token for it; None: GAUZE_TOKEN of the environment is the token

    Attributes besides those below:

    - release_: what may be published
    - n_features_in_, and feature_names_in_ where the columns of X have names
    - groups_, with by: the fitted mixture of each group, or the NoRelease that says why there is none

    Components are those that stand for groups of rows; rows in none are in background_, apart.
    """

    def __init__(
        self, n_components: int | str = "auto", *, epsilon: float | None = None, delta: float | None = None, rho: float | None = None,
        relation: str = "replace-one", covariance_type: str = "full", method: str = "auto", unit: str | None = None,
        by: Groups | None = None, schema: Schema | None = None, infer_schema: bool = False, unreadable: str | None = None, csv: str | None = None,
        ledger: str | os.PathLike[str] | None = None, dataset: str | None = None,
        max_components: int | None = None, learner: str | None = None, force: bool = False, progress: bool | None = None,
        server: str | None = None, token: str | os.PathLike[str] | None = None,
    ) -> None:
        self.n_components = n_components
        self.epsilon = epsilon
        self.delta = delta
        self.rho = rho
        self.relation = relation
        self.covariance_type = covariance_type
        self.method = method
        self.unit = unit
        self.by = by
        self.schema = schema
        self.infer_schema = infer_schema
        self.unreadable = unreadable
        self.csv = csv
        self.ledger = ledger
        self.dataset = dataset
        self.max_components = max_components
        self.learner = learner
        self.force = force
        self.progress = progress
        self.server = server
        self.token = token

    def fit(self, X: Any, y: Any = None) -> GaussianMixture:
        """Fits a table: numpy, pandas, polars, Arrow, a path or a URL; or a server's data set, by its name. Every call spends the budget."""
        self._run(X)
        self.__dict__.pop("groups_", None)
        found = self.release_.groups()
        if found:
            self.groups_: dict[str | tuple[str, ...], GaussianMixture | GauzeError] = {
                key[0] if len(key) == 1 else key: self._group(r) if isinstance(r, Release) else r for key, r in found.items()
            }
        return self

    def _group(self, release: Release) -> GaussianMixture:
        one = type(self)(**{**self.get_params(deep=False), "by": None})
        one.release_, one._library = release, self._library
        one._keep(hasattr(self, "feature_names_in_"))
        return one

    def _model(self) -> Release:
        release = self._fitted()
        if hasattr(self, "groups_"):
            raise wrong("model", "one", "one for each group", f"groups_[{next(iter(self.groups_))!r}] is fitted like this one")
        return release

    @property
    def _kept(self) -> npt.NDArray[np.bool_]:
        release = self._model()
        out = ~release.in_background
        return out if out.any() else ~out

    @property
    def weights_(self) -> Array:
        """Weights of the components, which sum to 1, (k,)."""
        weights = self._model().weights[self._kept]
        found: Array = weights / weights.sum()
        return found

    @property
    def means_(self) -> Array:
        """Means of the components, (k, d)."""
        return self._model().means[self._kept]

    @property
    def _matrices(self) -> Array:
        return self._model().covariances[self._kept]

    @property
    def _shape(self) -> str:
        """covariance_type, as far as the release has it: a group's method may need full matrices."""
        fitted = self._model().constraint
        asked = "diag" if self.covariance_type == "diagonal" else self.covariance_type
        return asked if asked == fitted or asked == "diag" and fitted == "spherical" else "full"

    @property
    def covariances_(self) -> Array:
        """(k, d, d), of "diag" (k, d), of "spherical" (k,)."""
        return _shaped(self._matrices, self._shape)

    @property
    def precisions_cholesky_(self) -> Array:
        """Factors of the precisions, in the shape of covariances_."""
        return _shaped(precisions_cholesky(self._matrices), self._shape)

    @property
    def precisions_(self) -> Array:
        """Inverses of the covariances, in their shape."""
        u = precisions_cholesky(self._matrices)
        return _shaped(u @ u.transpose(0, 2, 1), self._shape)

    @property
    def background_(self) -> Background:
        """The components of rows that are in no group."""
        return self._model().background

    def _terms(self, x: Any) -> Array:
        rows, slope = self._model()._mapped(self._rows(x))
        return np.where(np.isnan(slope)[:, None], -np.inf, log_densities(rows, self.means_, self._matrices) + np.log(self.weights_) + slope[:, None])

    def predict(self, X: Any) -> npt.NDArray[np.intp]:
        """The likeliest component of each row."""
        found: npt.NDArray[np.intp] = self._terms(X).argmax(axis=1)
        return found

    def predict_proba(self, X: Any) -> Array:
        """The probability of each component, for each row, (n, k)."""
        terms = self._terms(X)
        found: Array = np.exp(terms - log_sum_exp(terms)[:, None])
        return found

    def fit_predict(self, X: Any, y: Any = None) -> npt.NDArray[np.intp]:
        """Fits, and then predicts. What is predicted of the rows of a fit is not private."""
        return self.fit(X).predict(X)

    def score_samples(self, X: Any) -> Array:
        """The log-density of each row, in nats. What is computed of rows is not private."""
        return log_sum_exp(self._terms(X))

    def score(self, X: Any, y: Any = None) -> float:
        """The mean of score_samples. It is not private."""
        return float(self.score_samples(X).mean())

    def sample(self, n_samples: int = 1, random_state: int | np.random.Generator | None = None) -> tuple[Array, npt.NDArray[np.intp]]:
        """Synthetic rows and their components, sorted by these, as scikit-learn does.

        In whole floats: release_.sample keeps to the units and limits of a schema.
        """
        if n_samples < 1:
            raise wrong("n_samples", "at least 1", str(n_samples), "ask for a row")
        random = np.random.default_rng(random_state)
        counts = random.multinomial(n_samples, self.weights_)
        rows = [random.multivariate_normal(m, c, size=k) for m, c, k in zip(self.means_, self._matrices, counts)]
        return self._model()._unmapped(np.vstack(rows)), np.repeat(np.arange(len(counts)), counts)

    def sample_frame(self, n_samples: int, random_state: int | np.random.Generator | None = None) -> Any:
        """Synthetic rows as a table of the library that the fitted one was of (of pandas where it was of none), with the types of its schema."""
        return self._model().sample_frame(n_samples, random_state=random_state, library=getattr(self, "_library", "pandas"))

    def bic(self, X: Any) -> float:
        """Refused: it needs the rows again, in the clear."""
        raise wrong("bic", "what was released", "rows, whose likelihood is not private", "n_components='auto' chooses the number under the budget")

    def aic(self, X: Any) -> float:
        """Refused, as bic is."""
        raise wrong("aic", "what was released", "rows, whose likelihood is not private", "n_components='auto' chooses the number under the budget")


class Covariance(_Private):
    """The mean and the covariance of one distribution, learned under differential privacy.

    method: "auto", "gaussian", or "heavy-tailed" where the distribution may be of any shape. The
    other parameters, and attributes, are those of GaussianMixture.
    """

    def __init__(
        self, *, epsilon: float | None = None, delta: float | None = None, rho: float | None = None, relation: str = "replace-one",
        covariance_type: str = "full", method: str = "auto", unit: str | None = None, schema: Schema | None = None,
        infer_schema: bool = False, unreadable: str | None = None, csv: str | None = None, ledger: str | os.PathLike[str] | None = None, dataset: str | None = None, force: bool = False,
        progress: bool | None = None, server: str | None = None, token: str | os.PathLike[str] | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.rho = rho
        self.relation = relation
        self.covariance_type = covariance_type
        self.method = method
        self.unit = unit
        self.schema = schema
        self.infer_schema = infer_schema
        self.unreadable = unreadable
        self.csv = csv
        self.ledger = ledger
        self.dataset = dataset
        self.force = force
        self.progress = progress
        self.server = server
        self.token = token

    def _request(self) -> Request:
        return replace(super()._request(), n_components=1)

    def fit(self, X: Any, y: Any = None) -> Covariance:
        """Fits a table: numpy, pandas, polars, Arrow, a path or a URL; or a server's data set, by its name. Every call spends the budget."""
        self._run(X)
        return self

    @property
    def _at(self) -> int:
        return int(np.argmax(~self._fitted().in_background))

    @property
    def location_(self) -> Array:
        """The mean, (d,)."""
        found: Array = self._fitted().means[self._at]
        return found

    @property
    def covariance_(self) -> Array:
        """The covariance, (d, d)."""
        found: Array = self._fitted().covariances[self._at]
        return found

    @property
    def precision_(self) -> Array:
        """Its inverse."""
        u = precisions_cholesky(self.covariance_[None])[0]
        found: Array = u @ u.T
        return found

    def mahalanobis(self, X: Any) -> Array:
        """The squared Mahalanobis distance of each row to the mean. It is not private."""
        z = (self._rows(X) - self.location_) @ precisions_cholesky(self.covariance_[None])[0]
        found: Array = np.square(z).sum(axis=1)
        return found


def _library(x: Any) -> str:
    """Returns which library a table is of, by its type."""
    found = type(x).__module__.partition(".")[0]
    return found if found in ("polars", "pyarrow") else "pandas"


def expected_failed_checks(estimator: Any) -> dict[str, str]:
    """The checks of scikit-learn's check_estimator that an estimator fails by design, each with the reason.

    For its argument expected_failed_checks; epsilon has to be huge there, since the checks fit some 20
    rows.
    """
    found = {"check_n_features_in_after_fitting": "fits 15 rows, which are too few at any epsilon"}
    if isinstance(estimator, GaussianMixture):
        found["check_estimators_pickle"] = "predicts rows with missing cells, which fit takes (a cell must not decide whether it fails) and predict refuses"
    return found


def _shaped(matrices: Array, shape: str) -> Array:
    if shape == "full":
        return matrices
    diagonal: Array = np.diagonal(matrices, axis1=1, axis2=2).copy()
    found: Array = diagonal if shape == "diag" else diagonal[:, 0]
    return found
