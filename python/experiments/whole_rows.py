"""Whole rows, numbers and categories: python whole_rows.py DATA [--runs 3] [--out PAGE]

DATA is a folder with adult_mixed.csv.gz and german_credit_mixed.csv; a survey of marriages is
statsmodels' own. Of each run four fifths of the
rows are fitted, and synthetic rows are compared with the others: total variation of single columns
and of pairs, numbers in tenths of the fitted rows. Beside Gauze stands MST (McKenna, Miklau and
Sheldon 2021), written here on mbi's estimation, with numbers in twenty equal bins between bounds
that its user has to state, and 200 steps of mirror descent. Needs
numpy, pandas, scikit-learn, statsmodels and mbi beside gauze.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import platform
import subprocess
import tempfile
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import gauze

warnings.simplefilter("ignore")
BOUNDS = {
    "adult_mixed.csv.gz": {"age": (0, 100), "fnlwgt": (0, 1.5e6), "education_num": (1, 16), "capital_gain": (0, 1e5), "capital_loss": (0, 5000), "hours_per_week": (0, 100)},
    # Its other four numbers, from 1 to 4, are categories for all.
    "german_credit_mixed.csv": {"month": (0, 80), "credit_amount": (0, 20000), "age": (18, 80)},
    "fair": {"age": (15, 50), "yrs_married": (0, 30), "children": (0, 10), "educ": (8, 20)},
}
# Amounts of money, for which the manual says "log".
MONEY = {"capital_gain", "capital_loss", "credit_amount"}
# What a classifier predicts, and a value of it.
TARGETS = {"adult_mixed.csv.gz": ("income_per_year", ">50K"), "german_credit_mixed.csv": ("credit", "2"), "fair": ("affair", "yes")}
DELTA, BINS, DRAWN = 1e-6, 20, 40_000

WORDS = """Total variation between synthetic rows and the test rows, numbers in tenths of the fitted rows: of single columns, and of pairs, means by kind; δ = 1e-6. "Rows themselves"
are the fitted rows, which differ from the test by sampling alone. MST (McKenna, Miklau and Sheldon 2021) is written in the script on mbi's estimation, with 200 steps of
mirror descent, under add-or-remove-one; its user states bounds of every number, which is cut into twenty equal bins. Gauze is under replace-one, which takes twice the
noise variance, and is told kinds and values of categories: amounts of money are "log", other numbers counts. Gauze counts pairs of categories over all rows where rows suffice, and a tree of pairs has one table of odds ratios
in all components; else pairs with the last column, which is the classifier's; MST measures the pairs that depend most, numbers included. The classifier is a logistic regression of a column (income, credit, whether there was an affair) on
the others, fitted to the synthetic rows: its area under the ROC curve on the test rows. "Values alone" has cells of its own for values that a tenth of the fitted rows have,
and tenths of the others: tenths of all rows put nearly all capital gains, most of them 0, in one cell. MST draws within its bins, so that what is shared becomes a range. The
log-likelihood is that of a test row under the release, in nats, with the numbers' densities in their own units; rows drawn from bins have none. Whole numbers from 1 to 4 of the German table are categories for both."""


def commit() -> str:
    """The commit of the tree that this file is in, and whether it has changes."""
    git = lambda *words: subprocess.run(["git", *words], cwd=Path(__file__).parent, capture_output=True, text=True).stdout.strip()
    return git("rev-parse", "--short=8", "HEAD") + (" with changes" if git("status", "--porcelain", "--untracked-files=no") else "")


def read(path: Path) -> pd.DataFrame:
    """A table of texts, missing cells empty: a file, or the survey of marriages that statsmodels brings."""
    if path.name == "fair":
        import statsmodels.api

        table = statsmodels.api.datasets.fair.load_pandas().data
        table["affair"] = np.where(table.pop("affairs") > 0, "yes", "no")
        return table.apply(lambda c: c.map("{:g}".format) if pd.api.types.is_numeric_dtype(c) else c).astype(str)
    return pd.read_csv(path, dtype=str, keep_default_na=False).replace({"?": "", "NA": ""})


def values(table: pd.DataFrame, numbers: dict[str, Any]) -> dict[str, list[str]]:
    """What categories can be: taken for public here."""
    return {c: sorted(set(table[c]) - {""}) for c in table if c not in numbers}


def by_gauze(table: pd.DataFrame, numbers: dict[str, Any], categories: dict[str, list[str]], epsilon: float) -> tuple[pd.DataFrame, gauze.Release]:
    """Rows of a fit in which nothing is stated but kinds and values."""
    number = lambda c: {"name": c, "kind": "log", "rounded_to": 1} if c in MONEY else {"name": c, "kind": "count"}
    columns = [number(c) if c in numbers else {"name": c, "kind": "category", "categories": categories[c]} for c in table]
    numeric = table.assign(**{c: pd.to_numeric(table[c]) for c in numbers})
    release = gauze.GaussianMixture(epsilon=epsilon, delta=DELTA, schema={"columns": columns, "unit": "none"}, progress=False).fit(numeric).release_
    frame = release.sample_frame(DRAWN)
    return pd.DataFrame({c: frame[c] if c in numbers else frame[c].astype(object).fillna("") for c in table}), release


def scored(release: gauze.Release, test: pd.DataFrame) -> float:
    """The mean log-likelihood of the test rows, in nats."""
    with tempfile.TemporaryDirectory() as folder:
        release.write(f"{folder}/release.json")
        test.to_csv(f"{folder}/test.csv", index=False)
        said = json.loads(gauze._program.run(["score", f"{folder}/release.json", f"{folder}/test.csv", "--not-private", "--json"]))
    return math.nan if said["mean_log_likelihood"] is None else float(said["mean_log_likelihood"])


def rho_of(epsilon: float) -> float:
    """The zCDP that (epsilon, DELTA) buys (Canonne, Kamath and Steinke 2020)."""
    low, high = 0.0, epsilon
    orders = 1 + np.logspace(-2, 4, 4000)
    for _ in range(60):
        rho = (low + high) / 2
        delta = np.exp((orders - 1) * (orders * rho - epsilon) + orders * np.log1p(-1 / orders)) / (orders - 1)
        low, high = (rho, high) if delta.min() <= DELTA else (low, rho)
    return low


def by_mst(table: pd.DataFrame, numbers: dict[str, Any], categories: dict[str, list[str]], epsilon: float, random: np.random.Generator) -> pd.DataFrame:
    """Rows of MST under add-or-remove-one, which has half the noise variance of replace-one."""
    import mbi

    names = list(table)
    codes = {}
    for c in names:
        if c in numbers:
            low, high = numbers[c]
            codes[c] = np.clip(((pd.to_numeric(table[c]) - low) / (high - low) * BINS).astype(int), 0, BINS - 1).to_numpy()
        else:
            codes[c] = table[c].map({v: i for i, v in enumerate([*categories[c], ""])}).to_numpy()
    size = {c: BINS if c in numbers else len(categories[c]) + 1 for c in names}
    data, rho = mbi.Dataset(codes, mbi.Domain(names, [size[c] for c in names])), rho_of(epsilon)
    counts = lambda clique: np.asarray(data.project(clique).datavector())
    measured = []

    def measure(cliques: list[tuple[str, ...]]) -> None:
        sigma = math.sqrt(len(cliques) / (2 * rho / 3))
        for clique in cliques:
            x = counts(clique)
            measured.append(mbi.LinearMeasurement(x + random.normal(0, sigma, x.size), clique, sigma))

    measure([(c,) for c in names])
    single = {m.clique[0]: np.maximum(np.asarray(m.noisy_measurement), 0) for m in measured}
    single = {c: v / v.sum() for c, v in single.items()}
    gain = {pair: np.abs(counts(pair) - len(table) * np.outer(single[pair[0]], single[pair[1]]).ravel()).sum() for pair in itertools.combinations(names, 2)}
    tree, part, step = [], {c: c for c in names}, math.sqrt(8 * rho / 3 / (len(names) - 1))
    while len(tree) < len(names) - 1:  # the exponential mechanism, among pairs that join two parts
        left = [pair for pair in gain if part[pair[0]] != part[pair[1]]]
        score = step / 2 * np.array([gain[pair] for pair in left])
        a, b = left[random.choice(len(left), p=np.exp(score - score.max()) / np.exp(score - score.max()).sum())]
        tree.append((a, b))
        part = {c: part[a] if p == part[b] else p for c, p in part.items()}
    measure(tree)
    drawn = mbi.estimation.MirrorDescent().estimate(data.domain, measured, iters=200).synthetic_data(DRAWN).to_dict()
    out = {}
    for c in names:
        if c in numbers:
            low, high = numbers[c]
            out[c] = np.round(low + (np.asarray(drawn[c]) + random.random(DRAWN)) * (high - low) / BINS)
        else:
            out[c] = np.array([*categories[c], ""], dtype=object)[np.asarray(drawn[c])]
    return pd.DataFrame(out)


def apart(test: pd.DataFrame, drawn: pd.DataFrame, train: pd.DataFrame, numbers: dict[str, Any]) -> dict[str, float]:
    """Total variation of single columns and pairs, the mean by kind."""

    def cells(table: pd.DataFrame, c: str) -> list[str]:
        if c not in numbers:
            return list(table[c])
        edges = np.unique(np.quantile(pd.to_numeric(train[c]), np.linspace(0, 1, 11)))
        return [str(i) for i in np.searchsorted(edges[1:-1], pd.to_numeric(table[c]), side="right")]

    def tv(x: list[str], y: list[str]) -> float:
        return float(0.5 * pd.Series(x).value_counts(normalize=True).sub(pd.Series(y).value_counts(normalize=True), fill_value=0).abs().sum())

    def alone(table: pd.DataFrame, c: str) -> list[str]:
        fitted, values = pd.to_numeric(train[c]), pd.to_numeric(table[c])
        often = fitted.value_counts(normalize=True)
        kept = set(often[often >= 0.1].index)
        edges = np.unique(np.quantile(rest, np.linspace(0, 1, 11))) if len(rest := fitted[~fitted.isin(kept)]) else np.zeros(2)
        return [f"={v:g}" if v in kept else str(i) for v, i in zip(values, np.searchsorted(edges[1:-1], values, side="right"))]

    a, b = ({c: cells(t, c) for c in test} for t in (test, drawn))
    single = {c: tv(a[c], b[c]) for c in test}
    join = lambda of, pair: [f"{x}|{y}" for x, y in zip(of[pair[0]], of[pair[1]])]
    pairs = {pair: tv(join(a, pair), join(b, pair)) for pair in itertools.combinations(test, 2)}
    among = lambda many: float(np.mean([v for pair, v in pairs.items() if sum(c in numbers for c in pair) == many]))
    return {
        "categories": float(np.mean([v for c, v in single.items() if c not in numbers])), "numbers": float(np.mean([v for c, v in single.items() if c in numbers])),
        "values alone": float(np.mean([tv(alone(test, c), alone(drawn, c)) for c in numbers])),
        "pairs of categories": among(0), "a category and a number": among(1), "pairs of numbers": among(2),
    }


def predicted(test: pd.DataFrame, drawn: pd.DataFrame, numbers: dict[str, Any], target: tuple[str, str]) -> float:
    """The area under the ROC curve, on the test rows, of a logistic regression fitted to drawn ones."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    def features(table: pd.DataFrame) -> pd.DataFrame:
        rest = table.drop(columns=target[0])
        return pd.get_dummies(rest.assign(**{c: np.sign(v := pd.to_numeric(rest[c])) * np.log1p(v.abs()) for c in numbers}), dtype=float)

    x, y = features(drawn), (drawn[target[0]].astype(str) == target[1]).to_numpy()
    if y.all() or not y.any():
        return 0.5
    own = features(test).reindex(columns=x.columns, fill_value=0.0)
    fitted = make_pipeline(StandardScaler(), LogisticRegression(max_iter=300)).fit(x, y)
    return float(roc_auc_score((test[target[0]].astype(str) == target[1]).to_numpy(), fitted.predict_proba(own)[:, 1]))


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("data", type=Path)
    words.add_argument("--runs", type=int, default=3)
    words.add_argument("--out", type=Path)
    asked = words.parse_args()
    lines = []
    for name, numbers in BOUNDS.items():
        table = read(asked.data / name)
        categories = values(table, numbers)
        for epsilon in (1, 3):
            found: dict[str, list[dict[str, float]]] = {"rows themselves": [], "Gauze": [], "MST": []}
            none = 0
            for run in range(asked.runs):
                order = np.random.default_rng(run).permutation(len(table))
                train, test = table.iloc[order[: len(table) * 4 // 5]], table.iloc[order[len(table) * 4 // 5 :]]
                measured = lambda drawn: apart(test, drawn, train, numbers) | {"classifier": predicted(test, drawn, numbers, TARGETS[name]), "nats": math.nan}
                found["rows themselves"].append(measured(train))
                try:
                    drawn, release = by_gauze(train, numbers, categories, epsilon)
                    found["Gauze"].append(measured(drawn) | {"nats": scored(release, test)})
                except gauze.GauzeError:
                    none += 1
                found["MST"].append(measured(by_mst(train, numbers, categories, epsilon, np.random.default_rng(run))))
            for who, runs in found.items():
                if runs:
                    mean = pd.DataFrame(runs).mean()
                    lines.append(f"| {name.split('_')[0]} | {epsilon} | {who} | " + " | ".join("" if math.isnan(v) else f"{v:.3f}" for v in mean) + " |")
                    print(lines[-1], flush=True)
                if who == "Gauze" and none:
                    lines.append(f"| {name.split('_')[0]} | {epsilon} | Gauze: no release in {none} of {asked.runs} runs | | | | | | | | |")
                    print(lines[-1], flush=True)
    head = ["| table | ε | rows of | categories | numbers | numbers, values alone | pairs of categories | a category and a number | pairs of numbers | classifier | log-likelihood |", "|---|---|---|---|---|---|---|---|---|---|---|"]
    made = [
        f"- Command: `python python/experiments/whole_rows.py DATA --runs {asked.runs} --out docs/experiments/python/whole_rows.md`",
        f"- Runs: {asked.runs}; a fifth of the rows, at random, is the test",
        "- Seeds: that of the choice and of MST is the number of the run; the noise of Gauze has none",
        f"- Commit: {commit()}; mbi {version('mbi')}, Python {platform.python_version()}",
    ]
    page = "\n".join(["# Whole rows: numbers and categories beside MST", "", *made, "", WORDS, "", *head, *lines, ""])
    if asked.out:
        asked.out.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
