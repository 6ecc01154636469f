"""Sessions, warnings, pictures and types of synthetic rows."""

import contextvars
import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import gauze


def test_session_counts_what_its_fits_spend(rows):
    with gauze.Session(epsilon=2, delta=1e-6) as session:
        gauze.GaussianMixture(1, epsilon=1, delta=1e-7).fit(rows)
        gauze.describe(rows, epsilon=0.5, delta=1e-7)
        assert session.releases == 2
        assert 1 < session.spent["epsilon"] < 1.5 and 0.5 < session.remaining["epsilon"] < 1.9
        with pytest.raises(gauze.BudgetError) as caught:
            gauze.GaussianMixture(1, epsilon=1.9, delta=1e-7).fit(rows)
        assert caught.value.remaining["epsilon"] < 1.9 and pickle.loads(pickle.dumps(caught.value)).remaining == caught.value.remaining
        assert session.releases == 2
        with pytest.raises(gauze.InputError, match="dataset"):
            gauze.GaussianMixture(1, epsilon=0.1, delta=1e-7, dataset="other").fit(rows)
    assert session.releases == 2 and session.spent["epsilon"] > 1
    fit = gauze.GaussianMixture(1, epsilon=3, delta=1e-7).fit(rows)  # which nothing counts any more
    assert fit.spent_["epsilon"] <= 3


def test_no_thread_of_a_session_spends_uncounted(rows):
    def fit():
        return gauze.GaussianMixture(1, epsilon=0.5, delta=1e-7).fit(rows)

    with ThreadPoolExecutor(1) as pool:
        pool.submit(int).result()  # its thread is older than the session
        with gauze.Session(epsilon=1, delta=1e-6) as session:
            with pytest.raises(gauze.InputError, match="ledger"):
                pool.submit(fit).result()
            assert session.releases == 0
            pool.submit(contextvars.copy_context().run, fit).result()
            assert session.releases == 1
        pool.submit(fit).result()  # which nothing counts any more


def test_sessions_nest(rows):
    with gauze.Session(epsilon=1, delta=1e-6) as outer:
        with gauze.Session(epsilon=1, delta=1e-6) as inner:
            gauze.GaussianMixture(1, epsilon=0.5, delta=1e-7).fit(rows)
        assert (outer.releases, inner.releases) == (0, 1)


def test_a_named_ledger_is_charged_within_a_session(rows, tmp_path):
    ledger = gauze.Ledger(tmp_path / "l.ledger").init()
    ledger.grant("a", epsilon=1, delta=1e-6)
    with gauze.Session(epsilon=1, delta=1e-6) as session:
        gauze.GaussianMixture(1, epsilon=0.5, delta=1e-7, ledger=ledger, dataset="a").fit(rows)
        assert session.releases == 0
    assert ledger.show("a")[0]["releases"] == 1
    assert "<td>a</td>" in ledger._repr_html_()
    assert [(f["dataset"], f["epsilon"], f["outcome"]) for f in ledger.fits()] == [("a", 0.5, "released")]


def test_a_fit_in_every_split_is_warned_of(rows):
    pytest.importorskip("sklearn")
    from sklearn.model_selection import cross_val_score

    with pytest.warns(gauze.PrivacyWarning, match="every split"):
        cross_val_score(gauze.GaussianMixture(1, epsilon=1, delta=1e-6), rows, cv=2)


def test_a_step_that_learned_from_the_rows_is_warned_of(rows):
    pytest.importorskip("sklearn")
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, StandardScaler

    fit = gauze.GaussianMixture(1, epsilon=1, delta=1e-6)
    with pytest.warns(gauze.PrivacyWarning, match="StandardScaler"):
        make_pipeline(StandardScaler(), fit).fit(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("error", gauze.PrivacyWarning)
        make_pipeline(FunctionTransformer(), "passthrough", fit).fit(rows)
        fit.fit(rows)


def mixture(columns, facts):
    means = [[40.0, 0.5, 3.0], [60.0, 0.5, 3.0]]
    model = {"kind": "gaussian-mixture", "columns": columns, "weights": [0.5, 0.5], "means": means, "covariances": [np.diag([9.0, 0.2, 2.0]).tolist()] * 2}
    return gauze.Release.from_json({"format": "gauze/release/v1", "model": model, "columns": facts})


FACTS = [{"name": "age", "rounded_to": 1}, {"name": "smoker", "kind": "yes-no"}, {"name": "visits", "kind": "count", "rounded_to": 1}]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_synthetic_rows_have_the_types_of_the_schema(library):
    pytest.importorskip(library)
    release = mixture(["age", "smoker", "visits"], FACTS)
    drawn = release.sample_frame(50, random_state=7, library=library)
    assert type(drawn).__module__.startswith(library)
    cells = drawn.to_pydict() if library == "pyarrow" else {c: drawn[c].to_list() for c in release.columns}
    kinds = {c: {type(v) for v in cells[c]} for c in release.columns}
    assert kinds == {"age": {int}, "smoker": {bool}, "visits": {int}}
    again = release.sample(50, 7)
    assert again[:, 0].tolist() == cells["age"]
    assert (release.sample(5, random_state=np.random.default_rng(1)) == release.sample(5, random_state=np.random.default_rng(1))).all()
    with pytest.raises(gauze.InputError, match="random_state"):
        release.sample(5, 1, random_state=1)


def test_an_estimator_draws_tables_of_the_library_it_was_given(rows):
    polars = pytest.importorskip("polars")
    fit = gauze.GaussianMixture(1, epsilon=1, delta=1e-6).fit(polars.DataFrame(rows, schema=["a", "b"]))
    assert isinstance(fit.sample_frame(5), polars.DataFrame)
    assert isinstance(pickle.loads(pickle.dumps(fit)).sample_frame(5), polars.DataFrame)


def test_pictures(fitted):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    release = fitted.release_
    groups = (~release.in_background).sum()
    for columns, lines in ((None, 2 * groups), ([0], groups + 1), (release.columns[:1], groups + 1)):
        axes = release.plot(columns, ax=plt.figure().gca())
        assert len(axes.lines) == lines and axes.get_xlabel() == release.columns[0]
    with pytest.raises(gauze.InputError, match="columns"):
        release.plot(["height", "weight", "age"])
    plt.close("all")
    shown = release._repr_html_()
    assert shown.count("<tr>") == groups + 1 + release.in_background.any() and f"epsilon = {fitted.spent_['epsilon']:.4g}" in shown


def test_sklearn_scores_as_the_estimator_does(fitted, rows):
    pytest.importorskip("sklearn")
    assert np.abs(fitted.release_.to_sklearn().score_samples(rows) - fitted.score_samples(rows)).max() < 1e-12
