"""Fits of a server's data sets. The server is of a whole program; the one in a wheel, which has none, asks it."""

import json
import os
import shutil
import signal
import socket
import subprocess
import threading
import time
import urllib.request
from pathlib import Path

import numpy as np
import pytest

import gauze
from gauze import _program

BUDGET = {"epsilon": 1, "delta": 1e-7}


def whole(program, folder):
    """A program with a server: the one under test, or one built from the clone around."""
    if subprocess.run([program, "serve", "token", "list", "--database", folder / "none.db"], capture_output=True).returncode == 0:
        return program
    root = Path(__file__).resolve().parents[2]
    if not shutil.which("go") or not (root / "cmd" / "gauze").is_dir():
        pytest.skip("the program under test has no server, and there is no Go, or no clone, to build one from")
    subprocess.run(["go", "build", "-o", folder / "gauze", "./cmd/gauze"], cwd=root, env={**os.environ, "CGO_ENABLED": "0"}, check=True)
    return folder / "gauze"


@pytest.fixture(scope="module")
def site(program, rows, tmp_path_factory):
    """A server of kim's data set, of which lee was granted something: its URL, and the file with lee's token."""
    folder = tmp_path_factory.mktemp("server")
    serve = [whole(program, folder), "serve"]
    tokens = {
        name: subprocess.run([*serve, "token", "add", "--role", role, "--name", name], cwd=folder, capture_output=True, text=True, check=True).stdout.strip()
        for name, role in (("kim", "custodian"), ("lee", "analyst"))
    }
    (folder / "data" / "kim").mkdir(parents=True)
    np.savetxt(folder / "data" / "kim" / "people.csv", rows, "%.17g", delimiter=",", header="age,bmi", comments="")
    (folder / "lee.token").write_text(tokens["lee"] + "\n")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    # Fits take a fraction of a second; a machine that is busy with other tests may need all of four slots.
    child = subprocess.Popen([*serve, "--listen", f"127.0.0.1:{port}", "--slot", "4s"], cwd=folder, stderr=subprocess.PIPE)
    try:
        for line in child.stderr:
            if b"listening" in line:
                break
        threading.Thread(target=child.stderr.read, daemon=True).start()
        post(url, tokens["kim"], "/datasets", {"name": "people", "input": "people.csv", "columns": ["age", "bmi"]})
        post(url, tokens["kim"], "/datasets/people/grants", {"analyst": "lee", "epsilon": 4, "delta": 1e-5})
        yield {"server": url, "token": folder / "lee.token"}
    finally:
        child.terminate()
        assert child.wait(60) == 0, "a server that is told to stop ends well"


def post(url, token, path, body):
    request = urllib.request.Request(f"{url}/api/v1{path}", json.dumps(body).encode(), {"Authorization": f"Bearer {token}"})
    urllib.request.urlopen(request).close()


def test_fit(site):
    planned = gauze.plan("people", n_components=2, **BUDGET, **site)
    assert planned.content["rows"] == 20_000 and planned.content["columns"] == 2
    fit = gauze.GaussianMixture(2, **BUDGET, **site).fit("people")
    order = np.argsort(fit.means_[:, 0])
    assert np.allclose(fit.means_[order], [[0, 5], [20, 5]], atol=0.5)
    assert list(fit.feature_names_in_) == ["age", "bmi"] and 0 < fit.spent_["epsilon"] <= 1
    assert fit.release_.verify()["consistent"]
    assert gauze.Covariance(schema=["bmi"], **{**BUDGET, "epsilon": 0.5}, **site).fit("people").location_.shape == (1,)


def test_describe(site):
    lines = gauze.describe("people", **{**BUDGET, "epsilon": 0.5}, **site).profile
    assert [c["name"] for c in lines] == ["age", "bmi"] and abs(lines[1]["mean"]["value"] - 5) < 0.5


def test_refusals(site, rows):
    with pytest.raises(gauze.BudgetError):
        gauze.Covariance(**{**BUDGET, "epsilon": 8}, **site).fit("people")
    for asked, x, field in (
        ({}, rows, "X"), ({}, Path("people"), "X"), ({}, "nobody's", None), ({"token": "gauze_secret"}, "people", "token"), ({"server": "http://192.0.2.1"}, "people", "--server"),
        ({"schema": {"columns": []}}, "people", "schema"), ({"ledger": "l.json"}, "people", "--ledger"), ({"unit": "age"}, "people", "--unit"),
        ({"relation": "add-remove-one"}, "people", "relation"), ({"server": None}, "people", "token"), ({"schema": ["a,b"]}, "people", "schema"),
    ):
        with pytest.raises(gauze.InputError) as error:
            gauze.Covariance(**{**BUDGET, **site, **asked}).fit(x)
        assert field is None or error.value.field == field, str(error.value)
        assert "gauze_secret" not in str(error.value) and not any(error.value.spent.values())


def test_token_of_environment(site, monkeypatch):
    monkeypatch.setenv("GAUZE_TOKEN", site["token"].read_text().strip())
    assert gauze.plan("people", n_components=1, **BUDGET, server=site["server"]).method
    assert gauze.plan(rows=5000, dim=3, n_components=1, epsilon=1, delta=1e-6, server=site["server"]).content["columns"] == 3
    monkeypatch.setenv("GAUZE_TOKEN", "gauze_of_nobody")
    with pytest.raises(gauze.InputError):
        gauze.plan("people", n_components=1, **BUDGET, server=site["server"])


@pytest.mark.skipif(os.name == "nt", reason="signals of another kind")
def test_interrupted(site, monkeypatch):
    """What the server has reserved is said: the fit goes on there."""
    begun, run = [], _program.run
    fit = gauze.GaussianMixture(3, epsilon=0.75, delta=1e-7, **site)

    def stop():
        while not begun:
            time.sleep(0.01)
        time.sleep(0.2)  # slots take longer than this and what it takes to ask for one
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(_program, "run", lambda *a, **k: (begun.append(1), run(*a, **k))[1])
    threading.Thread(target=stop, daemon=True).start()
    with pytest.raises(gauze.Interrupted) as stopped:
        fit.fit("people")
        time.sleep(1)
    assert stopped.value.spent.get("epsilon", 0) in (0, 0.75)
