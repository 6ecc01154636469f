"""Columns of categories beside numbers, from a DataFrame to a DataFrame."""

import json

import numpy as np
import pytest

import gauze

pd = pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def visits():
    """12,000 rows of two groups, of which the first has ward a in .8 of its rows and the second c."""
    random = np.random.default_rng()
    first = random.random(12_000) < 0.4
    ward = np.where(random.random(12_000) < 0.8, np.where(first, "a", "c"), "b, d").astype(object)
    sex = random.choice(["f", "m"], 12_000).astype(object)
    sex[random.random(12_000) < 0.1] = None
    return pd.DataFrame({
        "sex": sex, "age": np.where(first, 30, 70) + random.normal(0, 3, 12_000), "ward": ward, "visits": random.poisson(np.where(first, 2, 20)), "smoker": random.random(12_000) < 0.3,
    })


SCHEMA = {"unit": "none", "columns": [
    {"name": "sex", "kind": "category", "categories": ["f", "m"]}, {"name": "age"}, {"name": "ward", "kind": "category", "categories": ["a", "b, d", "c"]},
    {"name": "visits", "kind": "count"}, {"name": "smoker", "kind": "category", "categories": [True, False]},
]}


@pytest.fixture(scope="module")
def release(visits):
    return gauze.GaussianMixture(epsilon=4, delta=1e-6, schema=SCHEMA).fit(visits).release_


def test_a_fit_of_whole_rows(release):
    assert release.columns == ["age", "visits"]
    assert release.header == ["sex", "age", "ward", "visits", "smoker"]
    ward = release.categories["ward"]
    assert list(ward) == ["a", "b, d", "c", ""]
    assert np.sum(list(ward.values()), axis=0) == pytest.approx(np.ones(len(release.weights)))
    overall = {v: float(p @ release.weights) for v, p in ward.items()}
    assert overall["a"] == pytest.approx(0.32, abs=0.05) and overall["c"] == pytest.approx(0.48, abs=0.05)
    assert release.verify()


def test_samples_are_whole_rows(release):
    rows = release.sample(500, seed=1)
    assert rows.shape == (500, 5) and set(rows[:, 2]) <= {"a", "b, d", "c", None} and all(isinstance(v, float) for v in rows[:, 1])
    frame = release.sample_frame(2000, seed=1)
    assert list(frame.columns) == release.header
    assert list(frame["ward"].cat.categories) == ["a", "b, d", "c"] and frame["visits"].dtype == np.int64 and frame["age"].dtype == float
    assert 0.02 < frame["sex"].isna().mean() < 0.25
    assert frame.loc[frame["age"] < 50, "ward"].value_counts(normalize=True)["a"] > 0.6


def test_numbers_are_scored_beside_categories(release, visits):
    assert np.isfinite(release.score_samples(visits[["age", "visits"]].to_numpy(float)[:10])).all()


def test_a_type_declares_its_categories(visits):
    polars = pytest.importorskip("polars")
    table = polars.DataFrame({"age": visits["age"].to_numpy(), "ward": polars.Series(list(visits["ward"]), dtype=polars.Enum(["a", "b, d", "c"]))})
    schema = {"columns": [{"name": "age"}, {"name": "ward", "kind": "category"}]}
    with pytest.warns(UserWarning, match="taken from its type"):
        release = gauze.GaussianMixture(epsilon=4, delta=1e-6, schema=schema, n_components=1, method="gaussian").fit(table).release_
    assert list(release.categories["ward"]) == ["a", "b, d", "c", ""]
    assert release.sample_frame(10, library="polars")["ward"].dtype == polars.Enum(["a", "b, d", "c"])


def test_categories_have_to_be_declared(visits):
    schema = {"unit": "none", "columns": [{"name": "age"}, {"name": "ward", "kind": "category"}]}
    with pytest.raises(gauze.InputError, match="never read off the rows"):
        gauze.GaussianMixture(epsilon=1, delta=1e-6, schema=schema).fit(visits)


def test_values_are_found(visits):
    table = visits.assign(ward=visits["ward"].where(visits.index > 9, "rare"))
    schema = {"unit": "none", "columns": [{"name": "age"}, {"name": "ward", "kind": "category", "categories": "find"}]}
    release = gauze.GaussianMixture(epsilon=4, delta=1e-6, schema=schema, n_components=1, method="gaussian").fit(table).release_
    assert sorted(release.categories["ward"]) == ["", "(other)", "a", "b, d", "c"]
    assert release.verify()
    assert set(release.sample_frame(500, seed=1)["ward"].cat.categories) == {"(other)", "a", "b, d", "c"}


def test_table_one_has_categories(visits):
    release = gauze.describe(visits, epsilon=2, delta=1e-6, schema=SCHEMA)
    values = {v["value"]: v["share"] for c in release.profile if c["name"] == "ward" for v in c["values"]}
    assert values["c"] == pytest.approx(0.48, abs=0.05)
    assert len(release.profile_frame()) == 5


def test_simulate_has_categories():
    model = {"kind": "gaussian-mixture", "columns": ["age"], "weights": [1], "means": [[40]], "covariances": [[[4]]],
             "categories": {"ward": {"values": ["x", ""], "probabilities": [[0.5, 0.5]]}}}
    rows = gauze.simulate(json.loads(json.dumps(model)), 50, seed=1)
    assert rows.shape == (50, 2) and set(rows[:, 1]) == {"x", None}


def test_dates_go_in_and_come_out(visits):
    days = np.datetime64("2020-01-01") + np.random.default_rng().integers(0, 1000, len(visits)).astype("timedelta64[D]")
    table = pd.DataFrame({"at": days.astype("datetime64[s]"), "age": visits["age"]})
    schema = {"unit": "none", "columns": [{"name": "at", "kind": "date", "at_least": "2019-01-01"}, {"name": "age"}]}
    release = gauze.GaussianMixture(epsilon=4, delta=1e-6, schema=schema, n_components=1).fit(table).release_
    frame = release.sample_frame(500, seed=1)
    assert frame["at"].dtype.kind == "M" and frame["at"].min() >= pd.Timestamp("2019-01-01")
    assert abs(frame["at"].mean() - pd.Timestamp("2021-05-15")) < pd.Timedelta(days=60)
    assert release.sample(10, seed=1).dtype == float
    polars = pytest.importorskip("polars")
    assert release.sample_frame(10, library="polars")["at"].dtype == polars.Datetime("ms")


def test_logarithms_are_in_the_units_of_the_table():
    random = np.random.default_rng()
    first = random.random(20_000) < 0.4
    x = pd.DataFrame({"income": np.round(np.exp(np.where(first, 9, 11) + random.normal(0, 0.4, 20_000))), "share": 1 / (1 + np.exp(random.normal(np.where(first, 1, -1), 1)))})
    schema = {"unit": "none", "columns": [{"name": "income", "kind": "log", "rounded_to": 1}, {"name": "share", "kind": "log", "at_most": 1}]}
    fitted = gauze.GaussianMixture(epsilon=4, delta=1e-6, schema=schema).fit(x)
    frame = fitted.release_.sample_frame(5000, seed=1)
    assert frame["income"].dtype == np.int64 and frame["income"].min() >= 0 and frame["share"].between(0, 1).all()
    assert frame["income"].median() == pytest.approx(x["income"].median(), rel=0.3)
    assert fitted.sample(1000, random_state=1)[0][:, 0].min() >= -1
    rows = x.to_numpy(float)[:200]
    scores = fitted.release_.score_samples(rows)
    assert np.isfinite(scores).all() and fitted.predict(x).shape == (20_000,)
    assert fitted.release_.score_samples(np.array([[-1, 0.5], [9, 2]])).max() == -np.inf
    # the density of values: by differences of the distribution that samples have
    inside = frame["income"].between(2_000, 30_000) & frame["share"].between(0.05, 0.95)
    grid = np.stack(np.meshgrid(np.linspace(2_000, 30_000, 400), np.linspace(0.05, 0.95, 200), indexing="ij"), axis=-1).reshape(-1, 2)
    assert np.exp(fitted.release_.score_samples(grid)).mean() * 28_000 * 0.9 == pytest.approx(inside.mean(), abs=0.04)


def test_gaps_are_drawn_where_they_are_asked_for():
    random = np.random.default_rng()
    x = pd.DataFrame({"age": random.normal(50, 9, 20_000), "visits": random.poisson(4, 20_000).astype(float), "born": random.integers(0, 9_000, 20_000).astype(float),
                      "smoker": random.choice([0.0, 1.0], 20_000), "sex": random.choice(["f", "m"], 20_000)})
    x.loc[random.random(20_000) < 0.2, "visits"] = np.nan
    x.loc[random.random(20_000) < 0.1, ["born", "smoker"]] = np.nan
    schema = {"unit": "none", "columns": [{"name": "age"}, {"name": "visits", "kind": "count"}, {"name": "born", "kind": "date"}, {"name": "smoker", "kind": "yes-no"},
                                          {"name": "sex", "kind": "category", "categories": ["f", "m"]}]}
    release = gauze.GaussianMixture(epsilon=4, delta=1e-6, schema=schema).fit(x).release_
    whole, gaps = release.sample_frame(4000), release.sample_frame(4000, missing=True)
    # one fit in 40 takes noise for a missing category or two of 10,000
    assert not whole.drop(columns=["smoker", "sex"]).isna().any().any() and whole["sex"].isna().mean() < 0.01
    assert list(gaps.columns) == list(x.columns)
    assert gaps.isna().mean().to_numpy() == pytest.approx([0, 0.2, 0.1, 0.1, 0], abs=0.05)
    assert gaps["born"].dtype.kind == "M" and set(gaps["smoker"].dropna()) == {True, False}
    assert np.isnan(release.sample(500, missing=True)[:, 1].astype(float)).any()
