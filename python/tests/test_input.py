"""Tables of every library reach the program as the same text, and hostile ones are refused there."""

import io
import json
import os
import pickle
import re
import signal
import threading
import time

import numpy as np
import pytest

import gauze
from gauze import _program, _table

BUDGET = {"epsilon": 1, "delta": 1e-6}
CELLS = {"a": [1.5, float("nan"), 0.1], "ä,b": [2**53 + 1, -3, 0], "sex": ["f", None, 'x"y,z'], "yes": [True, False, True]}


def read(x, names, labels=()):
    """The stream of these columns, as the program reads it."""
    stream = io.BytesIO(b"".join(_table.of(x).stream(names, labels)))
    assert stream.read(8) == b"\xffGAUZE\x00\x01"

    def numbers(kind, n):
        return np.frombuffer(stream.read(n * np.dtype(kind).itemsize), kind).tolist()

    columns = json.loads(stream.read(*numbers("<u4", 1)))
    assert [name for name, _ in columns] == list(names)
    out = {name: [] for name in names}
    while rows := numbers("<u4", 1)[0]:
        for name, kind in columns:
            if kind != "text":
                out[name] += numbers({"float64": "<f8", "float32": "<f4"}[kind], rows)
                continue
            out[name] += [None if size < 0 else stream.read(size).decode() for size in numbers("<i4", rows)]
    assert not stream.read()
    return out


def pandas_table(pd):
    return pd.DataFrame(CELLS)


def polars_table(pl):
    return pl.DataFrame(CELLS, strict=False)


def arrow_table(pa):
    return pa.table(CELLS)


@pytest.mark.parametrize("library, make", [("pandas", pandas_table), ("polars", polars_table), ("pyarrow", arrow_table)])
def test_same_stream(library, make):
    x = make(pytest.importorskip(library))
    got = read(x, ["a", "ä,b", "sex", "yes"])
    assert got["a"][::2] == [1.5, 0.1] and np.isnan(got["a"][1]) and got["ä,b"] == [2.0**53, -3, 0]
    assert got["sex"] == ["f", None, 'x"y,z'] and got["yes"] == [1, 0, 1]
    got = read(x, ["ä,b", "a", "yes"], labels=["a", "ä,b", "yes"])
    assert got == {"ä,b": ["9007199254740993", "-3", "0"], "a": ["1.5", None, "0.1"], "yes": ["true", "false", "true"]}
    with pytest.raises(gauze.InputError, match="'sex': wanted numbers") as error:
        gauze.Covariance(**BUDGET).fit(x)
    assert error.value.field == "column 'sex'" and error.value.hint


def test_kinds_of_arrow():
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"a": [1.5, None], "b": [True, None]})
    for x in (table, table.to_batches()[0], table.to_reader(), pa.dataset.dataset(table) if hasattr(pa, "dataset") else table):
        got = read(x, ["a", "b"])
        assert got["a"][0] == 1.5 and got["b"][0] == 1 and np.isnan([got["a"][1], got["b"][1]]).all()


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_a_stream_and_csv_are_one_table(one, tmp_path, kind):
    x = np.random.default_rng().normal(size=(50_000, 3)).astype(kind)
    x[3, 1] = np.nan
    model, file = tmp_path / "model.json", tmp_path / "rows.csv"
    model.write_text(gauze.Release.from_json({**one, "columns": ["x0", "x1"]}).to_json())
    file.write_text("x2,x1,x0\n" + "".join(f"{a!s},{b!s},{c!s}\n" for c, b, a in x))
    by_file = _program.run(["score", str(model), str(file), "--not-private"])
    assert _program.run(["score", str(model), "-", "--not-private"], _table.of(x).stream(["x2", "x1", "x0"])) == by_file


def test_types_of_pandas():
    pd = pytest.importorskip("pandas")
    x = pd.DataFrame({"i": pd.array([1, None], "Int64"), "b": [True, False], "f": np.array([0.1, 2], np.float32)})
    got = read(x, ["i", "b", "f"])
    assert got["i"][0] == 1 and np.isnan(got["i"][1]) and got["b"] == [1, 0] and got["f"] == [np.float32(0.1), 2]


@pytest.mark.parametrize("library, make", [
    ("pandas", lambda pd: pd.DataFrame({"yes": pd.array([True, None, False], "boolean")})),
    ("polars", lambda pl: pl.DataFrame({"yes": [True, None, False]})), ("pyarrow", lambda pa: pa.table({"yes": [True, None, False]})),
])
def test_truth_with_gaps(library, make):
    x = make(pytest.importorskip(library))
    assert read(x, ["yes"], ["yes"])["yes"] == ["true", None, "false"]
    assert np.array_equal(read(x, ["yes"])["yes"], [1, np.nan, 0], equal_nan=True)


@pytest.mark.parametrize("library, make", [
    ("pandas", lambda pd: pd.DataFrame()), ("pandas", lambda pd: pd.DataFrame({"a": []})), ("polars", lambda pl: pl.DataFrame()),
    ("pyarrow", lambda pa: pa.table({"a": pa.array([], pa.float64())})), ("pyarrow", lambda pa: pa.table({"a": pa.array([], pa.float64())}).to_reader()),
])
def test_empty(library, make):
    with pytest.raises(gauze.InputError) as error:
        gauze.Covariance(**BUDGET).fit(make(pytest.importorskip(library)))
    assert not any(error.value.spent.values()) and error.value.field


def test_floats_are_exact():
    x = np.random.default_rng().normal(size=(1000, 3)) * np.float64(10) ** np.random.default_rng().integers(-300, 300, (1000, 1))
    got = read(x, ["x0", "x2"])
    assert np.array_equal(np.column_stack([got["x0"], got["x2"]]), x[:, [0, 2]])
    assert read(np.float16([[0.1], [np.inf]]), ["x0"])["x0"] == [0.1, np.inf]
    assert np.isnan(read(np.ma.masked_array([[3], [999]], [[0], [1]]), ["x0"])["x0"][1])


def test_facts_survive(rows):
    pa, pd = pytest.importorskip("pyarrow"), pytest.importorskip("pandas")
    fields = [pa.field("größe", pa.float64(), metadata={"unit_of_measure": "cm", "other": "x"}), pa.field("b", pa.float64())]
    frame = pd.DataFrame(rows, columns=["größe", "b"])
    frame.attrs = {"units": {"größe": "cm"}, "labels": {"b": "Body mass"}}
    for x, label in ((pa.table([rows[:, 0], rows[:, 1]], schema=pa.schema(fields)), {}), (frame, {"label": "Body mass"})):
        fit = gauze.Covariance(**BUDGET).fit(x)
        assert fit.release_.facts == [{"name": "größe", "unit_of_measure": "cm"}, {"name": "b", **label}]
        assert list(fit.feature_names_in_) == ["größe", "b"]
    drawn = fit.release_.sample_frame(5, seed=1)
    assert list(drawn) == ["größe", "b"] and drawn.attrs["units"] == {"größe": "cm"} and drawn.attrs["labels"] == {"b": "Body mass"}


def test_urls(rows, tmp_path):
    alchemy = pytest.importorskip("sqlalchemy")
    import sqlite3

    file = tmp_path / "people.db"
    with sqlite3.connect(file) as database:
        database.execute("create table visits (a real, b real)")
        database.executemany("insert into visits values (?, ?)", rows.tolist())
    url = alchemy.make_url(f"sqlite:///{file}").update_query_dict({"table": "visits"})
    assert gauze.Covariance(schema=["a", "b"], **BUDGET).fit(url).certificate_["rows"] == len(rows)
    table = _table.of(alchemy.make_url("postgresql+psycopg://me:s3cret@host:5433/db?query=select+1"))
    assert "s3cret" not in table.path and table.path.startswith("postgresql://me@host:5433/db?query=")
    assert table.environment == {"PGPASSWORD": "s3cret"}
    with pytest.raises(gauze.InputError, match="mysql"):
        _table.of(alchemy.make_url("mysql://host/db"))


@pytest.mark.parametrize("x, match", [
    ([[1 + 1j]], "real numbers"), ([[]], "column"), (np.empty((0, 2)), "rows"), ([1, 2], "two dimensions"),
    (np.array([["a"]] * 2), "numbers"), (np.array([[{}]] * 2, object), "numbers"), (np.zeros((30, 10_000)), "rows"), ("no such file.csv", "file"),
    (np.full((3000, 2), np.nan), "at least one number"), (np.array([["2026-01-31"]] * 2, "M8[D]"), "numbers"), ([[b"1"], [b"x"]], "numbers"),
    ([[1, 2], [3]], "lengths"), (np.zeros((3, 2), [("a", float)]), "void|numbers"), (None, "two dimensions"), (7, "two dimensions"), ({"a": [1]}, "two"),
    (np.array([["x"], [None]], object), "numbers"), (np.empty((5, 0)), "column"), (np.full((40, 3), np.inf), "."),
])
def test_hostile(x, match, capsys):
    with pytest.raises(gauze.InputError) as error:
        gauze.GaussianMixture(**BUDGET).fit(x)
    assert re.search(match, str(error.value) + capsys.readouterr().err)
    assert not any(error.value.spent.values()) and error.value.hint


@pytest.mark.parametrize("names, match", [
    (["a", "a"], "twice"), (["", "b"], "name"), (["a\0", "b"], "."), (["a\nb", "b"], "line"), (["date", "b"], "datetime64"),
])
def test_hostile_names(names, match, capsys):
    pd = pytest.importorskip("pandas")
    x = pd.DataFrame(np.zeros((50, 2)), columns=names)
    if "date" in names:
        x["date"] = pd.Timestamp("2026-01-31")
    with pytest.raises(gauze.InputError) as error:
        gauze.Covariance(**BUDGET).fit(x)
    assert re.search(match, str(error.value) + capsys.readouterr().err)
    assert not any(error.value.spent.values()) and error.value.field


def test_half_a_character():
    with pytest.raises(gauze.InputError, match="Unicode"):
        _table.Table([_table.Column("\ud800", "numbers")], lambda names: iter(()), None, True)


@pytest.mark.parametrize("name", ["größe, cm", "年齢", 'a "b"', "🙂", "x" * 300])
def test_names_survive(rows, name):
    pd = pytest.importorskip("pandas")
    fit = gauze.Covariance(**BUDGET).fit(pd.DataFrame(rows, columns=[name, "b"]))
    assert fit.release_.columns == [name, "b"] == list(fit.feature_names_in_)


def test_error_says_field():
    with pytest.raises(ValueError) as error:
        gauze.GaussianMixture(epsilon=1).fit(np.zeros((9, 1)))
    assert (error.value.field, error.value.wanted, error.value.got) == ("delta", "a number beside epsilon", "nothing")
    assert "delta=1e-6" in error.value.hint and "--" not in error.value.hint and pickle.loads(pickle.dumps(error.value)).got == "nothing"
    with pytest.raises(gauze.InputError) as error:
        gauze.GaussianMixture(epsilon=50, delta=1e-6).fit(np.zeros((9, 1)))
    assert (error.value.field, error.value.got) == ("epsilon", "50") and str(error.value).startswith("epsilon: ")
    with pytest.raises(gauze.InputError) as error:  # in the words of Python, not of the command line
        gauze.GaussianMixture(n_components=0, **BUDGET).fit(np.zeros((9, 1)))
    assert error.value.field == "n_components" and str(error.value).startswith("n_components: wanted a positive number, or \"auto\"")
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


def test_a_refusal_is_all_that_is_shown():
    with pytest.raises(gauze.InputError, match="delta") as error:
        gauze.GaussianMixture(epsilon=1, delta=0.5).fit(np.zeros((100, 2)))
    assert error.value.__context__ is None  # Python shows what was handled when it was raised


@pytest.mark.skipif(os.name == "nt", reason="signals of another kind")
def test_interrupted(monkeypatch):
    x = np.random.default_rng().normal(size=(2_000_000, 4))
    try:
        import polars

        polars.DataFrame({"a": [1]}).filter(polars.col("a") > 0)  # with its own handler of signals
    except ImportError:
        pass
    waits = _program._wait

    def wait(child):  # it has every row by now: the fit is what is interrupted, on any machine
        monkeypatch.setattr(_program, "_wait", waits)
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
        waits(child)

    monkeypatch.setattr(_program, "_wait", wait)
    with pytest.raises(KeyboardInterrupt) as stopped:
        gauze.GaussianMixture(epsilon=1, delta=1e-7).fit(x)
        time.sleep(1)
    assert isinstance(stopped.value, gauze.Interrupted) and "spent" in str(stopped.value)
    assert stopped.value.spent.get("epsilon", 0) < 0.9  # it was stopped: a whole fit spends 0.997


def test_errors_name_arguments() -> None:
    """What the program says of flags is said of arguments, and sentences stay whole."""
    from gauze._errors import _in_python

    for said, want in {
        "for instance --epsilon 1 --delta 1e-6": "for instance epsilon=1 delta=1e-6",
        'say how numbers are written, as in --csv "thousands=,", if they are': 'say how numbers are written, as in csv="thousands=,", if they are',
        "or count them as missing: --unreadable missing, or as codes": 'or count them as missing: unreadable="missing", or as codes',
        "500 rows would do with: --covariance diagonal; or gauze describe, means": '500 rows would do with: covariance_type="diag"; or gauze.describe, means',
        "wanted --epsilon and --delta, or --rho": "wanted epsilon and delta, or rho",
        "--unit patient_id protects patients": 'unit="patient_id" protects patients',
        "--force asks for it all the same": "force=True asks for it all the same",
        "declare them with --columns or --schema": "declare them with schema",
        "as in --columns age,bmi": 'as in schema=["age", "bmi"]',
    }.items():
        assert _in_python(said) == want


def test_plan_is_in_units() -> None:
    """What a plan answers is in the columns' units, where their spread is stated."""
    plan = gauze.plan(np.zeros((9000, 2)), epsilon=1, delta=1e-6, typical_sd={"x1": 12})
    (age,) = plan.accuracy["columns"]
    assert age["name"] == "x1" and age["mean"] == pytest.approx(12 * plan.accuracy["mean"]) and 0 < age["no_method_below"] < age["mean"] < 2
    assert [g["groups"] for g in plan.accuracy["rows_for"]] == [1, 2, 3, 5]
