"""Nothing that the custodian's terminal is told is reachable from an estimator, a release, an exception or a pickle of one.

A stub stands in for the program: whatever it is fed, it answers with one and the same public part, and writes to standard error a word that
only this table leads to. Two neighbouring tables must then give the same bytes, and no object may lead to the word."""

import copy
import io
import logging
import os
import pickle
import re
import sys
import types
import warnings

import numpy as np
import pytest

import gauze
from gauze import _program

BUDGET = {"epsilon": 1, "delta": 1e-6}
SECRET = "canary"
pytestmark = pytest.mark.skipif(os.name == "nt", reason="the stub is a script")

STUB = """#!{python}
import hashlib, json, sys
rows = sys.stdin.buffer.read()
word = "canary" + hashlib.sha256(rows).hexdigest()
what = json.load(open({what!r}))
sys.stdout.write(what["out"])
private = {{"message": word, "hint": word, "faults": [{{"message": word, "field": word, "wanted": word, "got": word, "hint": word}}]}}
end = {{**what["end"], **({{}} if what["end"].get("public") or "progress" in what else private), "notes": [word, "5,003 rows read, 1 bad"]}}
print(json.dumps({{"progress": word + " rows read", "spent": 0.5}}), file=sys.stderr)
print(word if what.get("torn") else json.dumps(end), file=sys.stderr)
sys.exit(what["code"])
"""
SPENT = {"epsilon": 0.5, "delta": 1e-7, "mu": 0.1, "rho": 0.005}
PUBLIC = {"message": "too few rows", "hint": "ask for more", "spent": SPENT, "public": True}
ENDS = {
    "no release": (3, {"outcome": "no-release", **PUBLIC}), "refused": (4, {"outcome": "refused", **PUBLIC}),
    "bad request": (2, {"outcome": "error", **PUBLIC, "faults": [{"message": "too few rows", "field": "rows"}]}),
    "bad rows": (2, {"outcome": "error"}), "failed while running": (1, {"outcome": "error", "spent": SPENT}), "not known": (7, {"outcome": "error"}),
    "an old program": (3, {"outcome": "no-release", "spent": SPENT}),
}


@pytest.fixture
def stub(tmp_path, monkeypatch):
    """Makes the stub the program, with an answer."""
    import json

    def make(code=0, end=None, release=None, **more):
        what, script = tmp_path / "what.json", tmp_path / "stub"
        end = end or {"outcome": "released", **PUBLIC}
        what.write_text(json.dumps({"code": code, "end": end, "out": "" if release is None else json.dumps(release), **more}))
        script.write_text(STUB.format(python=sys.executable, what=str(what)))
        script.chmod(0o755)
        monkeypatch.setenv("GAUZE_BINARY", str(script))

    return make


def model_of(columns):
    d = len(columns)
    return {"kind": "gaussian-mixture", "columns": columns, "weights": [1], "means": [[0] * d], "covariances": [np.eye(d).tolist()], "covariance_type": "full"}


CERTIFICATE = {"relation": "add-remove-one", **BUDGET, "spent": SPENT, "rows": None, "schema": "declared", "method": "gaussian", "plan": []}
ONE = {"format": "gauze/release/v1", "model": model_of(["a", "b"]), "columns": [{"name": "a"}, {"name": "b"}], "certificate": CERTIFICATE}
GROUPED = {
    "format": "gauze/release/v1", "columns": [{"name": "a"}, {"name": "b"}], "certificate": CERTIFICATE,
    "groups": [{"by": {"sex": "f"}, "rows": 90.5, "model": model_of(["a", "b"]), "diagnostics": {}},
               {"by": {"sex": "m"}, "no_release": {"reason": "too few rows", "advice": "ask for more"}}],
}


def tables(kind):
    """Two tables of which one has a row more, and that row's cell missing: as much as neighbours can differ in."""
    x = np.random.default_rng().normal(size=(101, 2))
    x[100, 0] = np.nan
    for rows in (x[:100], x):
        if kind == "numpy":
            yield rows
        elif kind == "path":
            yield None
        elif kind == "float32":
            yield rows.astype(np.float32)
        elif kind == "lists":
            yield rows.tolist()
        else:
            sex = np.where(np.arange(len(rows)) % 2, "f", "m").tolist()
            columns = {"a": rows[:, 0], "b": rows[:, 1], **({"sex": sex} if "groups" in kind else {})}
            library = pytest.importorskip(kind.split()[0])
            yield library.table(columns) if kind.startswith("pyarrow") else library.DataFrame(columns)


FITS = {
    "mixture": (gauze.GaussianMixture, {}, "numpy", ONE), "covariance": (gauze.Covariance, {}, "numpy", ONE), "narrow": (gauze.Covariance, {}, "float32", ONE),
    "lists": (gauze.GaussianMixture, {}, "lists", ONE), "pandas": (gauze.GaussianMixture, {"schema": ["a", "b"]}, "pandas", ONE),
    "polars": (gauze.Covariance, {}, "polars", ONE), "pyarrow": (gauze.GaussianMixture, {"n_components": 2}, "pyarrow", ONE),
    "groups": (gauze.GaussianMixture, {"by": {"sex": ["f", "m"]}}, "pandas groups", GROUPED),
    "a file": (gauze.GaussianMixture, {"schema": ["a", "b"]}, "path", ONE),
    "a server": (gauze.GaussianMixture, {"server": "https://example.org", "relation": "replace-one"}, "path", ONE),
}


def fit(which, x, **more):
    kind, settings, _, _ = FITS[which]
    made = kind(**{**BUDGET, "relation": "add-remove-one", **settings, **more})
    return made.fit("people" if x is None else x)


def pickles(thing):
    """Whatever of a thing is stored, sent or printed."""
    yield from (pickle.dumps(thing, protocol) for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1))
    yield pickle.dumps(copy.deepcopy(thing), 4)
    yield f"{thing!r} {thing!s}".encode()
    try:
        import joblib
    except ImportError:
        return
    file = io.BytesIO()
    joblib.dump(thing, file)
    yield file.getvalue()


def reached(thing):
    """All texts that an object leads to: by attributes, items, closures, causes, contexts, and the package's frames of a traceback."""
    seen, todo, texts = set(), [thing], []
    while todo:
        one = todo.pop()
        if id(one) in seen or isinstance(one, (type, types.ModuleType, logging.Logger)):
            continue
        seen.add(id(one))
        if isinstance(one, (str, bytes)):
            texts.append(one if isinstance(one, str) else one.decode(errors="replace"))
        elif isinstance(one, dict):
            todo += [*one, *one.values()]
        elif isinstance(one, (list, tuple, set, frozenset)):
            todo += one
        elif isinstance(one, types.TracebackType):
            inside = one.tb_frame.f_code.co_filename.startswith(os.path.dirname(gauze.__file__))
            todo += [one.tb_next, *(one.tb_frame.f_locals.values() if inside else ())]
        elif isinstance(one, types.FunctionType):
            todo += [c.cell_contents for c in one.__closure__ or ()]
        else:
            todo.append(getattr(one, "__dict__", None))
            if isinstance(one, BaseException):
                todo += [one.args, one.__cause__, one.__context__, one.__traceback__]
            if hasattr(one, "get_params"):
                todo.append(one.get_params())
    return texts


def words(text):
    """The secret words in a text."""
    return set(re.findall(rf"{SECRET}\w+", text))


def check_nothing_kept(capsys, caplog, one, other, told):
    """Fails unless two things are the same in whatever is stored of them, and lead to no word of the terminal."""
    shown = capsys.readouterr().err
    assert len(words(shown)) == (2 if told else 0), "what the terminal was told"
    assert not caplog.records
    for a, b in zip(pickles(one), pickles(other), strict=True):
        assert a == b and SECRET.encode() not in a and b"5,003" not in a
    for thing in (one, other):
        assert not [t for t in reached(thing) if SECRET in t or "5,003" in t]
    for module in [m for name, m in sys.modules.items() if name.startswith("gauze")]:
        assert SECRET not in repr(getattr(module, "__warningregistry__", {}))


@pytest.mark.parametrize("progress", [True, None, False])
@pytest.mark.parametrize("which", FITS)
def test_estimators_and_releases(stub, capsys, caplog, which, progress):
    stub(release=FITS[which][3])
    with warnings.catch_warnings(record=True) as stored:
        warnings.simplefilter("always")
        fits = [fit(which, x, progress=progress) for x in tables(FITS[which][2])]
    assert not [w for w in stored if SECRET in str(w.message)]
    distinct = progress is True and FITS[which][2] != "path"  # of a path the stub is fed nothing, and its word is one
    shown = capsys.readouterr().err
    assert ("5,003 rows read" in shown) == (progress is True)
    if distinct:
        assert len(words(shown)) == 2
    check_nothing_kept(capsys, caplog, *fits, told=False)
    check_nothing_kept(capsys, caplog, *(f.release_ for f in fits), told=False)
    for a, b in zip(*(getattr(f, "groups_", {}).values() for f in fits)):
        check_nothing_kept(capsys, caplog, a, b, told=False)
    assert vars(fits[0]).keys() == vars(fits[1]).keys()
    if hasattr(fits[0], "__sklearn_clone__") or "sklearn" in sys.modules:
        from sklearn.base import clone

        check_nothing_kept(capsys, caplog, *map(clone, fits), told=False)


@pytest.mark.parametrize("torn", [False, True])
@pytest.mark.parametrize("end", ENDS)
def test_exceptions(stub, capsys, caplog, end, torn):
    code, outcome = ENDS[end]
    stub(code, outcome, **({"torn": True} if torn else {}))
    for which in ("mixture", "groups", "covariance"):
        raised = []
        for x in tables(FITS[which][2]):
            with pytest.raises(gauze.GauzeError) as error:
                fit(which, x, progress=False)
            raised.append(error.value)
        public = outcome.get("public") and not torn
        assert (raised[0].message == "too few rows") == bool(public)
        assert type(raised[0]) is {2: gauze.InputError, 3: gauze.NoRelease, 4: gauze.BudgetError}.get(code, gauze.GauzeError)
        assert torn or raised[0].spent == outcome.get("spent", {})
        check_nothing_kept(capsys, caplog, *raised, told=not public)


def test_interrupted(stub, capsys, caplog, monkeypatch):
    stub(1, {"outcome": "error", **PUBLIC, "message": "interrupted"})
    wait = _program._wait

    def stopped(child):
        wait(child)
        monkeypatch.setattr(_program, "_wait", wait)
        raise KeyboardInterrupt

    raised = []
    for x in tables("numpy"):
        monkeypatch.setattr(_program, "_wait", stopped)
        with pytest.raises(gauze.Interrupted) as error:
            fit("mixture", x, progress=False)
        raised.append(error.value)
    assert raised[0].spent == SPENT
    check_nothing_kept(capsys, caplog, *raised, told=False)


class Broken:
    """A library's table that fails while it is read, in words that quote a cell."""

    __module__ = "pyarrow.lib"

    def __init__(self, x):
        self.word = SECRET + str(len(x))

    def __arrow_c_stream__(self, *_):
        raise ValueError(f"cannot convert {self.word!r}")


def broken_reader(x):
    pa = pytest.importorskip("pyarrow")

    def batches():
        yield pa.record_batch({"a": x[:, 0], "b": x[:, 1]})
        raise ValueError(f"cannot convert '{SECRET}{len(x)}'")

    return pa.RecordBatchReader.from_batches(pa.schema({"a": pa.float64(), "b": pa.float64()}), batches())


def lazy(x):
    pl = pytest.importorskip("polars")
    return pl.LazyFrame({"a": ["1"] * len(x) + [f"{SECRET}{len(x)}"], "b": 1.0}).with_columns(pl.col("a").cast(pl.Float64))


@pytest.mark.parametrize("make", [Broken, broken_reader, lazy])
def test_words_of_libraries(stub, capsys, caplog, monkeypatch, make):
    """What a library says while it reads rows may quote a cell."""
    pytest.importorskip("pyarrow")
    monkeypatch.setattr(_program, "_interrupt", lambda child: (child.kill(), child.wait()))  # a stub that is only starting may miss a signal
    stub(release=ONE)
    raised = []
    for x in tables("numpy"):
        with pytest.raises(gauze.InputError) as error:
            fit("mixture", make(x), progress=False)
        raised.append(error.value)
        error.value.__traceback__ = None  # its frames hold the table, which is the caller's own
    check_nothing_kept(capsys, caplog, *raised, told=True)


@pytest.mark.parametrize("make", [
    lambda x: [list(r) for r in x[:99]] + [[1.0]] * (len(x) - 99), lambda x: [[f"{SECRET}{len(x)}", "1"]] * 3, lambda x: np.array([[f"{SECRET}{len(x)}"]] * 3, object),
    lambda x: [[f"{SECRET}{len(x)}".encode()]] * 3, lambda x: np.empty((len(x), 0)), lambda x: x[: len(x) - 100], lambda x: np.full((3, 2), SECRET),
])
def test_refusals_of_the_package(capsys, caplog, make):
    """What the package itself refuses: no length of a text, number of rows, or shape."""
    raised = []
    for x in tables("numpy"):
        with pytest.raises(gauze.InputError) as error:
            fit("covariance", make(x))
        raised.append(error.value)
        error.value.__traceback__ = None
    check_nothing_kept(capsys, caplog, *raised, told=False)


def test_the_program_itself(rows, capsys, tmp_path):
    """The real program with a private number of rows: what is kept of a fit and of its refusals does not hold it."""
    x = np.vstack([rows[:5002], [[np.nan, 1]]])
    fitted = gauze.Covariance(relation="add-remove-one", progress=True, **BUDGET).fit(x)
    assert "5,003 rows read, 1 bad" in capsys.readouterr().err
    kept = [pickle.dumps(fitted), fitted.release_.to_json().encode()]
    with pytest.raises(gauze.InputError) as error:
        gauze.Covariance(relation="add-remove-one", **BUDGET).fit(np.full((5003, 2), np.nan))
    assert "at least one number" in capsys.readouterr().err and error.value.field == "X"
    kept.append(pickle.dumps(error.value))
    with pytest.raises(gauze.NoRelease) as none:
        gauze.GaussianMixture(2, relation="add-remove-one", epsilon=0.02, delta=1e-6, progress=True).fit(x)
    assert "5,003 rows read" in capsys.readouterr().err and none.value.spent["epsilon"] > 0
    # Its message has a count with noise, a thousand rows wide, which is any one number in about one run of 4,000.
    kept.append(re.sub(rb"about \d+ rows are too few", b"", pickle.dumps(none.value)))
    assert kept[-1] != pickle.dumps(none.value)
    file = tmp_path / "people.csv"
    file.write_text("a,b\n" + "1,2\n" * 5001 + "1,2,canary\n")
    with pytest.raises(gauze.InputError) as error:
        gauze.Covariance(schema=["a", "b"], **BUDGET).fit(file)
    assert "line 5003" in capsys.readouterr().err
    kept.append(pickle.dumps(error.value))
    # The number as one by itself: among the digits of a release it is there by chance in one of ten.
    words = [rb"(?<![\d.])5,?003(?![\d.])", rb"\bline\b", b"canary", b"at least one number"]
    assert [word for text in kept for word in words if re.search(word, text)] == []
