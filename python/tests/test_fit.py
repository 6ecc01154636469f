"""Fits. Errors of the two means have a standard deviation below 0.05 here, and are asked to be below
0.5, as those of weights below 0.02 and 0.1: a false alarm is less likely than one in 10^9."""

import json
import pickle

import numpy as np
import pytest

import gauze

BUDGET = {"epsilon": 1, "delta": 1e-6}


def near(fit, which=0):
    order = np.argsort(fit.means_[:, which])
    assert np.allclose(fit.means_[order], [[0, 5], [20, 5]], atol=0.5)
    assert np.allclose(fit.weights_[order], [0.4, 0.6], atol=0.1)


def test_attributes(fitted, rows):
    near(fitted)
    assert fitted.covariances_.shape == (2, 2, 2)
    assert fitted.n_features_in_ == 2 and not hasattr(fitted, "feature_names_in_")
    assert np.isclose(fitted.weights_.sum(), 1) and 0 <= fitted.background_.weight < 0.1
    assert 0 < fitted.spent_["epsilon"] <= 1 and fitted.spent_ == fitted.certificate_["spent"]
    assert fitted.certificate_["schema"] == "declared" and fitted.certificate_["rows"] == len(rows)
    assert "<iframe" in fitted.report_._repr_html_() and "method general" in str(fitted.report_)
    identity = fitted.precisions_cholesky_ @ fitted.precisions_cholesky_.transpose(0, 2, 1) @ fitted.covariances_
    assert np.allclose(identity, np.eye(2))


def test_predictions(fitted, rows):
    labels = fitted.predict(rows)
    assert (labels[:8000] == labels[0]).all() and (labels[8000:] == labels[-1]).all()
    p = fitted.predict_proba(rows)
    assert np.allclose(p.sum(axis=1), 1) and (p.argmax(axis=1) == labels).all()
    assert np.isclose(fitted.score(rows), fitted.score_samples(rows).mean())
    drawn, of = fitted.sample(500, random_state=1)
    assert drawn.shape == (500, 2) and (fitted.predict(drawn) == of).all()
    with pytest.raises(gauze.InputError, match="not private"):
        fitted.bic(rows)


@pytest.mark.parametrize("shape, size", [("diag", (2, 2)), ("spherical", (2,))])
def test_shapes(rows, shape, size):
    fit = gauze.GaussianMixture(2, covariance_type=shape, **BUDGET).fit(rows)
    assert fit.covariances_.shape == fit.precisions_cholesky_.shape == size
    assert np.allclose(fit.precisions_cholesky_, 1 / np.sqrt(fit.covariances_))
    near(fit)


def test_pickle_holds_no_row(fitted, rows):
    packed = pickle.dumps(fitted)
    assert (pickle.loads(packed).means_ == fitted.means_).all()
    assert len(packed) < rows.nbytes / 5  # the release: its model and its profile
    assert not any(row.tobytes() in packed or repr(float(row[0])).encode() in packed for row in rows[:2000])


def test_groups(rows):
    pd = pytest.importorskip("pandas")
    sex = np.where(np.arange(len(rows)) % 2, "f", "m")
    table = pd.DataFrame(rows, columns=["a", "b"]).assign(sex=sex)
    fit = gauze.GaussianMixture(2, epsilon=4, delta=1e-6, by={"sex": ["f", "m", "other"]}).fit(table)
    assert list(fit.groups_) == ["f", "m", "other"]
    near(fit.groups_["f"])
    assert list(fit.groups_["m"].feature_names_in_) == ["a", "b"]
    assert isinstance(fit.groups_["other"], gauze.NoRelease)
    with pytest.raises(gauze.InputError, match="groups_"):
        fit.predict(table)
    with pytest.raises(gauze.InputError, match="categories"):
        gauze.GaussianMixture(2, by="sex", **BUDGET).fit(table)
    pl = pytest.importorskip("polars")
    typed = pl.DataFrame({"a": rows[:, 0], "b": rows[:, 1], "sex": pl.Series(sex).cast(pl.Enum(["f", "m"]))})
    with pytest.warns(UserWarning, match="public"):
        fit = gauze.GaussianMixture(2, epsilon=4, delta=1e-6, by="sex").fit(typed)
    assert list(fit.groups_) == ["f", "m"]


def test_persons(rows):
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame(rows, columns=["a", "b"])
    table["who"] = np.arange(len(rows)) // 2
    fit = gauze.GaussianMixture(2, unit="who", **BUDGET).fit(table)
    assert fit.certificate_["unit"] == "who" and fit.certificate_["rows"] == 10_000
    assert fit.release_.columns == ["a", "b"]


def test_covariance(rows):
    fit = gauze.Covariance(**BUDGET).fit(rows[:8000])
    assert np.allclose(fit.location_, [0, 5], atol=0.5) and np.allclose(fit.covariance_, np.eye(2), atol=0.5)
    assert np.allclose(fit.precision_ @ fit.covariance_, np.eye(2))
    assert fit.mahalanobis(fit.location_[None]) == [0]


def test_rho(rows):
    """A budget of rho has no epsilon and delta: 0 of each would be a promise that nothing can keep."""
    fit = gauze.Covariance(rho=0.05).fit(rows[:8000])
    assert set(fit.spent_) == {"mu", "rho"} and 0 < fit.spent_["rho"] <= 0.05
    with pytest.raises(gauze.NoRelease) as none:
        gauze.GaussianMixture(2, rho=2e-6, relation="add-remove-one").fit(rows[:3000])
    assert set(none.value.spent) == {"mu", "rho"} and "epsilon =" not in str(none.value)


def test_paths(rows, tmp_path):
    file = tmp_path / "people.csv"
    file.write_text("a,b\n" + "\n".join(f"{a!r},{b!r}" for a, b in rows.tolist()))
    fit = gauze.GaussianMixture(2, schema=["a", "b"], **BUDGET).fit(file)
    near(fit)
    schema = tmp_path / "schema.json"
    schema.write_text(json.dumps({"columns": [{"name": "b", "rounded_to": 0.5}]}))
    assert gauze.Covariance(schema=schema, **BUDGET).fit(str(file)).release_.columns == ["b"]


def test_plan(rows):
    found = gauze.plan(rows, n_components=1, **BUDGET)
    assert found.method == "gaussian" and found.expect["covariance_error"] > 0
    assert {"gaussian", "heavy-tailed"} <= {m["method"] for m in found.methods}
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(found)
    assert len(frame) == len(found) and "method" in frame and frame.equals(found.to_frame()) and "<table" in found._repr_html_()
    assert found.content["rows"] == gauze.plan(rows=len(rows), dim=2, **BUDGET).content["rows"]
    with pytest.raises(gauze.InputError, match="rows and dim"):
        gauze.plan(rows, relation="add-remove-one", **BUDGET)


def test_ledger(rows, tmp_path):
    ledger = gauze.Ledger(tmp_path / "ledger.json").init()
    ledger.grant("people", epsilon=1, delta=1e-6)
    fit = gauze.Covariance(ledger=ledger, dataset="people", **BUDGET).fit(rows)
    found, = ledger.show("people")
    assert found["name"] == "people" and 0 < found["spent"]["epsilon"] <= 1 and fit.spent_["epsilon"] > 0
    with pytest.raises(gauze.BudgetError) as refused:
        gauze.Covariance(ledger=ledger, dataset="people", **BUDGET).fit(rows)
    assert not any(refused.value.spent.values())
    ledger.verify()


def test_progress(rows, capsys):
    pytest.importorskip("tqdm")
    gauze.GaussianMixture(2, progress=True, **BUDGET).fit(rows)
    shown = capsys.readouterr().err
    assert "% of the budget" in shown and "step" in shown
    gauze.GaussianMixture(2, **BUDGET).fit(rows)
    assert not capsys.readouterr().err
