"""Table one. The mean's noise is below 0.1 here and the quantiles' below 0.01 of the rows, and both are asked to be
within ten times that: a false alarm is less likely than one in 10^9."""

import numpy as np
import pytest

import gauze

BUDGET = {"epsilon": 1, "delta": 1e-6}


@pytest.fixture(scope="module")
def described():
    pd = pytest.importorskip("pandas")
    random = np.random.default_rng()
    rare = np.full(20_000, np.nan)
    rare[::400] = 1.0
    return gauze.describe(pd.DataFrame({"age": np.round(random.normal(50, 12, 20_000)), "rare": rare}), **BUDGET)


def test_frame(described):
    out = described.profile_frame()
    assert list(out.index) == described.columns == ["age", "rare"]
    assert abs(out.loc["age", "mean"] - 50) < 1 and abs(out.loc["age", "sd"] - 12) < 1.2 and 47 <= out.loc["age", "0.5"] <= 53
    assert out.loc["age", "grid"] == 1 and abs(out.loc["age", "missing"]) < 0.1
    assert out.loc["rare", "held_out"].startswith("too few values") and np.isnan(out.loc["rare", "mean"])
    assert abs(out.loc["rare", "missing"] - 0.9975) < 0.1


def test_release(described):
    assert described.certificate["method"] == "profile" and described.certificate["rows"] == 20_000 and 0 < described.spent["epsilon"] <= 1
    assert described.verify()["consistent"] and described.profile[0]["name"] == "age"
    assert "a profile of age, rare" in repr(described) and "<svg" in described.report().html and "median" in str(described.report())
    with pytest.raises(gauze.InputError, match="profile of columns"):
        described.means
    with pytest.raises(gauze.InputError, match="describe measures one"):
        gauze.Release.from_json({"weights": [1], "means": [[0]], "covariances": [[[1]]], "columns": ["x"]}).profile_frame()


def test_settings(rows):
    with pytest.raises(gauze.InputError, match="n_components"):
        gauze.describe(rows, n_components=2, **BUDGET)
    with pytest.raises(gauze.InputError, match="epsilon"):
        gauze.describe(rows)


def test_groups(rows):
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame(rows, columns=["a", "b"]).assign(far=np.where(rows[:, 0] > 10, "yes", "no"))
    by = gauze.describe(table, by={"far": ["no", "yes"]}, **BUDGET).groups()
    assert list(by) == [("no",), ("yes",)] and [c["name"] for c in by[("yes",)].profile] == ["a", "b"]
    assert abs(by[("yes",)].profile_frame().loc["a", "mean"] - 20) < 1
    with pytest.raises(gauze.InputError, match="a column of the table"):
        gauze.describe(table[["a", "b"]], by={"near": ["no", "yes"]}, **BUDGET)
