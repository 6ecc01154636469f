"""Releases by themselves."""

import json

import numpy as np
import pytest

import gauze


def test_round_trip(fitted, tmp_path):
    release = fitted.release_
    release.write(tmp_path / "release.json")
    assert gauze.Release.read(tmp_path / "release.json") == release == gauze.Release.from_json(release.to_json())
    with pytest.raises(FileExistsError):
        release.write(tmp_path / "release.json")
    assert release.verify()["consistent"]
    forged = release.to_dict()
    forged["certificate"]["spent"]["epsilon"] = 0.1
    with pytest.raises(gauze.InputError):
        gauze.Release.from_json(forged).verify()


def test_draws(fitted, one):
    drawn = gauze.simulate(one, 1000, seed=1)
    assert drawn.shape == (1000, 2) and (drawn == gauze.simulate(one, 1000, seed=1)).all()
    assert (fitted.release_.sample(50, seed=3) == fitted.release_.sample(50, seed=3)).all()


def test_distances(fitted, one):
    found = fitted.release_.compare(fitted.release_, rows=1000)
    assert found["tv"] == 0 and len(found["matching"]) == 2
    other = json.loads(json.dumps(one))
    other["means"] = [[40, 171]]
    assert 0 < gauze.Release.from_json(one).compare(other)["tv"] < 0.2


def test_to_scikit_learn(fitted, rows):
    pytest.importorskip("sklearn")
    release = fitted.release_
    for background in (True, False):
        theirs = release.to_sklearn(background).score_samples(rows)
        assert np.abs(theirs - release.score_samples(rows, background)).max() < 1e-12
    assert np.abs(release.to_sklearn(False).score_samples(rows) - fitted.score_samples(rows)).max() < 1e-12
    assert (release.to_sklearn(False).predict(rows) == fitted.predict(rows)).all()


def test_garbage():
    for text in ("", "[]", "{"):
        with pytest.raises(gauze.InputError):
            gauze.Release(text)


def test_flags(one):
    assert gauze.Release.from_json(one).flags == []
    low = {"code": "left-out", "columns": ["a"], "share": 0.25, "noise": 0.5, "text": "a quarter is left out"}
    thin = {"code": "few-rows", "text": "too few rows"}
    text = {"model": one, "diagnostics": {"flags": [low, "said by an earlier version"], "components": [{}, {"flags": [thin]}]}}
    whole, old, of_component = gauze.Release.from_json(text).flags
    assert whole == gauze.Flag("left-out", "a quarter is left out", ("a",), 0.25, 0.5, None)
    assert (old.code, str(old), old.share) == ("uncoded", "said by an earlier version", None)
    assert (of_component.code, of_component.component, f"{of_component}") == ("few-rows", 1, "too few rows")
