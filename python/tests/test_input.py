"""Tables of every library reach the program as the same text, and hostile ones are refused there."""

import os
import pickle
import signal
import threading
import time

import numpy as np
import pytest

import gauze
from gauze import _program, _table

BUDGET = {"epsilon": 1, "delta": 1e-6}
CELLS = {"a": [1.5, float("nan"), 0.1], "ä,b": [2**53 + 1, -3, 0], "sex": ["f", None, 'x"y,z']}


def text(x, names):
    return b"".join(_table.of(x).csv(names)).decode()


def pandas_table(pd):
    return pd.DataFrame(CELLS)


def polars_table(pl):
    return pl.DataFrame(CELLS, strict=False)


def arrow_table(pa):
    return pa.table(CELLS)


@pytest.mark.parametrize("library, make", [("pandas", pandas_table), ("polars", polars_table), ("pyarrow", arrow_table)])
def test_same_text(library, make):
    x = make(pytest.importorskip(library))
    want = 'a,"ä,b",sex\n1.5,9007199254740993,f\nnan,-3,\n0.1,0,"x""y,z"\n'
    assert text(x, ["a", "ä,b", "sex"]) == want
    with pytest.raises(gauze.InputError, match="'sex': wanted numbers"):
        gauze.Covariance(**BUDGET).fit(x)


def test_arrow_streams():
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"a": [1.5, None], "b": [True, None]})
    for x in (table.to_batches()[0], table.to_reader(), pa.dataset.dataset(table) if hasattr(pa, "dataset") else table):
        assert text(x, ["a", "b"]) in ("a,b\n1.5,1.0\nnan,nan\n", "a,b\n1.5,1\nnan,nan\n")


def test_arrow_and_csv_are_one_table(one, tmp_path):
    pa = pytest.importorskip("pyarrow")
    import io

    x = np.random.default_rng().normal(size=(50_000, 3)).astype(np.float32)
    x[3, 1] = np.nan
    table = _table.of(x)
    read = pa.ipc.open_stream(io.BytesIO(b"".join(table.stream(["x2", "x1"])))).read_all()
    assert read.column_names == ["x2", "x1"] and read.num_rows == len(x)
    assert np.array_equal(read["x1"].to_numpy(), x[:, 1], equal_nan=True)
    model = tmp_path / "model.json"
    model.write_text(gauze.Release.from_json({**one, "columns": ["x0", "x1"]}).to_json())
    score = ["score", str(model), "-", "--not-private"]
    by_csv, by_arrow = (_program.run(score, how(["x0", "x1"]))[0] for how in (table.csv, table.stream))
    assert by_csv == by_arrow


def test_types_of_pandas():
    pd = pytest.importorskip("pandas")
    x = pd.DataFrame({"i": pd.array([1, None], "Int64"), "b": [True, False], "f": np.array([0.1, 2], np.float32)})
    assert text(x, ["i", "b", "f"]) == "i,b,f\n1.0,1,0.1\nnan,0,2.0\n"


def test_floats_are_exact():
    x = np.random.default_rng().normal(size=(1000, 3)) * np.float64(10) ** np.random.default_rng().integers(-300, 300, (1000, 1))
    lines = text(x, ["x0", "x2"]).splitlines()[1:]
    assert (np.array([line.split(",") for line in lines], float) == x[:, [0, 2]]).all()
    assert text(np.float32([[0.1], [np.inf]]), ["x0"]) == "x0\n0.1\ninf\n"


@pytest.mark.parametrize("x, match", [
    ([[1 + 1j]], "real numbers"), ([[]], "column"), (np.empty((0, 2)), "rows"), ([1, 2], "two dimensions"),
    (np.array([["a"]]), "numbers"), (np.array([[{}]], object), "numbers"), (np.zeros((30, 10_000)), "rows"), ("no such file.csv", "file"),
    (np.full((3000, 2), np.nan), "at least one number"),
])
def test_hostile(x, match):
    with pytest.raises(gauze.InputError, match=match) as error:
        gauze.GaussianMixture(**BUDGET).fit(x)
    assert not any(error.value.spent.values()) and error.value.hint


def test_error_says_field():
    with pytest.raises(ValueError) as error:
        gauze.GaussianMixture(epsilon=1).fit(np.zeros((9, 1)))
    assert (error.value.field, error.value.wanted, error.value.got) == ("--delta", "a number beside --epsilon", "nothing")
    assert "--delta 1e-6" in error.value.hint and pickle.loads(pickle.dumps(error.value)).got == "nothing"
    with pytest.raises(gauze.InputError) as error:
        gauze.GaussianMixture(epsilon=50, delta=1e-6).fit(np.zeros((9, 1)))
    assert (error.value.field, error.value.got) == ("epsilon", "50")
    with pytest.raises(gauze.InputError, match="covariance_type"):
        gauze.GaussianMixture(covariance_type="tied", **BUDGET).fit(np.zeros((9, 1)))


def test_bad_cells_are_no_exception(rows):
    x = rows.copy()
    x[:5, 0], x[5:9, 1] = np.nan, np.inf
    fit = gauze.GaussianMixture(2, **BUDGET).fit(x)
    assert fit.certificate_["rows"] == len(x)
    with pytest.raises(gauze.InputError, match="finite"):
        fit.predict(x)


def test_no_release():
    random = np.random.default_rng()
    x = random.normal(size=(2000, 1)) * 0 + np.arange(2000)[:, None] % 2
    try:
        gauze.GaussianMixture(2, epsilon=0.02, delta=1e-9, force=True).fit(x)
    except gauze.NoRelease as none:
        assert none.spent["epsilon"] > 0 and "spent" in str(none)
    except gauze.InputError as refused:
        assert not any(refused.spent.values())


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_half_a_table_is_never_fitted(rows, tmp_path, error):
    ledger = gauze.Ledger(tmp_path / "ledger.json").init()
    ledger.grant("people", epsilon=1, delta=1e-6)

    def pieces():
        yield b"a,b\n"
        yield "".join(f"{a},{b}\n" for a, b in rows).encode()
        raise error

    flags = ["--columns", "a,b", "--epsilon", "1", "--delta", "1e-6", "--ledger", ledger.location, "--dataset", "people"]
    with pytest.raises(gauze.Interrupted if error is KeyboardInterrupt else error):
        _program.run(["fit", "-", *flags], pieces())
    assert ledger.show("people")[0]["spent"]["epsilon"] == 0


@pytest.mark.skipif(os.name == "nt", reason="signals of another kind")
def test_interrupted():
    x = np.random.default_rng().normal(size=(200_000, 4))
    try:
        import polars

        polars.DataFrame({"a": [1]}).filter(polars.col("a") > 0)  # with its own handler of signals
    except ImportError:
        pass
    timer = threading.Timer(0.4, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt) as stopped:
        gauze.GaussianMixture(**BUDGET).fit(x)
        time.sleep(1)
    assert isinstance(stopped.value, gauze.Interrupted) and "spent" in str(stopped.value)
    assert stopped.value.spent.get("epsilon", 0) < 0.9  # it was stopped: a whole fit spends 0.997
