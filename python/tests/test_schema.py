"""Which columns are fitted, and whose a row is: the caller says it, or has to ask for cells to say it."""

import json

import numpy as np
import pytest

import gauze

BUDGET = {"epsilon": 1, "delta": 1e-6}


@pytest.fixture(scope="module")
def people(rows):
    pd = pytest.importorskip("pandas")
    return pd.DataFrame(rows[8000:], columns=["a", "b"])


def nothing_spent(error):
    assert isinstance(error, ValueError) and not any(error.spent.values())


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_text_among_the_columns(rows, library):
    """A column that is not of numbers by its type is named or left out, whatever its cells are."""
    module = pytest.importorskip(library)
    make = module.table if library == "pyarrow" else module.DataFrame
    columns = {"a": rows[8000:, 0], "code": [str(b) for b in rows[8000:, 1]], "b": rows[8000:, 1]}
    table = make(columns)
    with pytest.raises(gauze.InputError) as error:
        gauze.Covariance(**BUDGET).fit(table)
    nothing_spent(error.value)
    assert error.value.field == "column 'code'" and "schema=['a', 'b']" in error.value.hint
    assert gauze.Covariance(schema=["a", "b"], **BUDGET).fit(table).release_.columns == ["a", "b"]
    fit = gauze.Covariance(schema=["a", "code"], **BUDGET).fit(table)  # the text of numbers, which the caller names
    assert fit.release_.columns == ["a", "code"] and fit.certificate_["schema"] == "declared"
    assert np.allclose(fit.location_, [20, 5], atol=0.5)


def test_arrays_of_objects(rows, capsys):
    x = rows[8000:].astype(object)
    assert np.allclose(gauze.Covariance(**BUDGET).fit(x).location_, [20, 5], atol=0.5)
    x[7, 0] = "<5"
    with pytest.raises(gauze.InputError) as error:
        gauze.Covariance(**BUDGET).fit(x)
    nothing_spent(error.value)
    with pytest.raises(gauze.InputError) as error:
        gauze.Covariance(schema=["x0", "x1"], **BUDGET).fit(x)
    nothing_spent(error.value)
    assert error.value.field == "X" and "x0" in capsys.readouterr().err  # which cells, the terminal is told
    fit = gauze.Covariance(schema=["x0", "x1"], unreadable="missing", **BUDGET).fit(x)
    assert fit.certificate_["rows"] == len(x)


def test_cells_that_do_not_read(people, capsys):
    """Numbers with thousands separators would be dropped, and exactly the large ones."""
    table = people.assign(cost=[f"{1000 + i:,}.5" for i in range(len(people))])
    for more in ({}, {"unreadable": None}):
        with pytest.raises(gauze.InputError) as error:
            gauze.Covariance(schema=["a", "cost"], **more, **BUDGET).fit(table)
        nothing_spent(error.value)
        assert "cost" in capsys.readouterr().err and "cost" not in str(error.value)
    table.loc[len(people) // 2 :, "cost"] = "17"
    assert gauze.Covariance(schema=["a", "cost"], unreadable="missing", **BUDGET).fit(table).release_.columns == ["a", "cost"]


def test_files(people, tmp_path, capsys):
    file, german = tmp_path / "people.csv", tmp_path / "leute.csv"
    people.to_csv(file, index=False)
    people.to_csv(german, index=False, sep=";", decimal=",")
    with pytest.raises(gauze.InputError) as error:
        gauze.Covariance(**BUDGET).fit(file)
    nothing_spent(error.value)
    assert "a,b" in capsys.readouterr().err and "a,b" not in str(error.value)  # which columns hold numbers depends on cells
    assert gauze.Covariance(infer_schema=True, **BUDGET).fit(file).certificate_["schema"] == "inferred"
    with pytest.raises(gauze.InputError, match="csv: wanted a file"):
        gauze.Covariance(csv="decimal=,", **BUDGET).fit(people)
    fit = gauze.Covariance(schema=["a", "b"], csv="delimiter=; decimal=,", **BUDGET).fit(german)
    assert np.allclose(fit.location_, [20, 5], atol=0.5)


def test_inferred(people):
    table = people.assign(name="x", code=[str(b) for b in people["b"]])
    fit = gauze.Covariance(infer_schema=True, **BUDGET).fit(table)
    assert fit.release_.columns == ["a", "b", "code"] == list(fit.feature_names_in_) and fit.certificate_["schema"] == "inferred"
    with pytest.raises(gauze.InputError) as error:
        gauze.Covariance(infer_schema=True, schema=["a"], **BUDGET).fit(table)
    nothing_spent(error.value)
    assert error.value.field == "infer_schema"


@pytest.mark.parametrize("settings", [{}, {"schema": ["a", "b"]}])
@pytest.mark.parametrize("name", ["patient_id", "SubjectNo"])
@pytest.mark.parametrize("text", [False, True])
def test_whose_a_row_is(people, capsys, settings, name, text):
    """A column of identifiers that come back: which are persons has to be said, fitted or not."""
    ids = np.arange(len(people)) // 3 * 7
    table = people.assign(**{name: ids.astype(str) if text else ids})
    if text and not settings:
        settings = {"schema": ["a", "b"]}
    with pytest.raises(gauze.InputError) as error:
        gauze.Covariance(**settings, **BUDGET).fit(table)
    nothing_spent(error.value)
    assert name in capsys.readouterr().err and name not in str(error.value)
    rows = gauze.Covariance(unit="none", **{**settings, "schema": ["a", "b"]}, **BUDGET).fit(table)
    assert "unit" not in rows.certificate_ and rows.certificate_["rows"] == len(people)
    persons = gauze.Covariance(unit=name, **settings, **BUDGET).fit(table)
    assert persons.certificate_["unit"] == name and persons.release_.columns == ["a", "b"]
    said = gauze.Covariance(schema={"unit": "none", "columns": [{"name": "a"}]}, **BUDGET).fit(table)
    assert said.certificate_["rows"] == len(people)


def test_groups_of_a_schema(people, tmp_path, capsys):
    """The groups of a schema are fitted without by; by="none" leaves them out."""
    pd = pytest.importorskip("pandas")
    table = people.assign(sex=np.where(np.arange(len(people)) % 2, "f", "m"))
    schema = {"columns": [{"name": "a"}, {"name": "b"}], "by": [{"name": "sex", "categories": ["f", "m"]}]}
    file = tmp_path / "schema.json"
    file.write_text(json.dumps(schema))
    for one in (schema, file):
        fit = gauze.GaussianMixture(1, schema=one, epsilon=4, delta=1e-6).fit(table)
        assert list(fit.groups_) == ["f", "m"] and list(fit.groups_["f"].feature_names_in_) == ["a", "b"]
    assert not hasattr(gauze.GaussianMixture(1, schema=schema, by="none", **BUDGET).fit(table), "groups_")
    typed = table.assign(sex=pd.Categorical(table["sex"]))  # of which pandas made the categories, by reading the rows
    with pytest.raises(gauze.InputError, match="groups are public") as error:
        gauze.GaussianMixture(1, by="sex", schema=["a", "b"], **BUDGET).fit(typed)
    nothing_spent(error.value)
    assert "by={'sex': ['f', 'm']}" in capsys.readouterr().err and "'m'" not in str(error.value).replace("by={'sex': ['f', 'm']}", "")


def test_missing_codes(people):
    """999 is no blood pressure: codes and limits of the schema make missing cells."""
    table = people.copy()
    table.loc[: len(table) // 20, "a"] = 999
    for column in ({"name": "a", "missing": [999]}, {"name": "a", "at_least": -300, "at_most": 300}):
        fit = gauze.Covariance(schema={"columns": [column, {"name": "b"}]}, **BUDGET).fit(table)
        assert abs(fit.location_[0] - 20) < 1 and fit.release_.facts[0] == column


def test_columns_as_objects(rows):
    """A schema may list names and objects beside each other; one of neither is refused by name."""
    x = {"age": rows[:, 0], "sex": np.where(rows[:, 1] > 0, "f", "m")}
    fitted = gauze.Covariance(schema=["age", {"name": "sex", "kind": "category", "categories": ["f", "m"]}], unit="none", epsilon=1, delta=1e-6).fit(pytest.importorskip("pandas").DataFrame(x))
    assert fitted.release_.columns == ["age"] and list(fitted.release_.model["categories"]) == ["sex"]
    for odd in ([{"kind": "category"}], [3]):
        with pytest.raises(gauze.InputError) as error:
            gauze.Covariance(schema=odd, epsilon=1, delta=1e-6).fit(rows)
        assert "schema: wanted columns as names or as objects with a name" in str(error.value)


@pytest.mark.parametrize("components", [-2, 0, 1.5, True, "two"])
def test_components(rows, components):
    with pytest.raises(gauze.InputError, match="n_components: wanted a positive number"):
        gauze.GaussianMixture(components, epsilon=1, delta=1e-6).fit(rows)
