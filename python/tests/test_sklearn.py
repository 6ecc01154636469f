"""scikit-learn's own checks. They fit tables of some 20 rows, so the budget here protects nobody."""

import numpy as np
import pytest

import gauze

pytest.importorskip("sklearn", minversion="1.6")

from sklearn.base import clone  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import FunctionTransformer  # noqa: E402
from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402

REASONS = {
    "check_n_features_in_after_fitting": "fits 15 rows, which are too few at any epsilon",
    "check_fit2d_1sample": "fits one row, and wants other words for why that is refused",
    "check_estimators_pickle": "predicts rows with missing cells, which fit takes (a cell must not decide whether it fails) and predict refuses",
}


@parametrize_with_checks(
    [gauze.GaussianMixture(1, epsilon=1e6, delta=0.01, force=True)], expected_failed_checks=lambda estimator: REASONS
)
def test_checks(estimator, check):
    check(estimator)


def test_pipeline_and_clone(rows):
    fit = make_pipeline(FunctionTransformer(), gauze.GaussianMixture(2, epsilon=1, delta=1e-6)).fit(rows)
    assert len(np.unique(fit.predict(rows))) == 2
    again = clone(fit[-1])
    assert again.get_params() == fit[-1].get_params() and not hasattr(again, "release_")
