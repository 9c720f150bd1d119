"""Comparing selectors: what it costs beside the fits themselves, and the thesis's protocol at full size."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

import streamsieve as ss
from benchmarks._cases import Race, Size, case
from benchmarks._data import dense, real
from streamsieve.cli import run
from streamsieve.evaluation import screening_protocol, size_grid

SIZES = (5, 10, 20, 50, 100)
LEARNERS = {"knn": KNeighborsClassifier(), "logistic": LogisticRegression(max_iter=300), "nb": GaussianNB()}
SELECTORS = {"f": ss.Screen("f"), "saola": ss.SAOLA(), "fast_osfs": ss.FastOSFS()}


@case("streamsieve compare, 2,000 rows x 1,000 features", bar="ours <= 1.1x")
def compare(size: Size) -> Race:
    n, p, runs, folds = size(2_000, 600), size(1_000, 12), size(2, 1), size(5, 2)
    X, y = dense(n, p)
    sizes = [wanted for wanted in SIZES if wanted < p]
    deals = [
        _scaled(X, y, train, test)
        for seed in range(runs)
        for train, test in StratifiedKFold(folds, shuffle=True, random_state=seed).split(X, y)
    ]
    holder = tempfile.TemporaryDirectory()  # goes with the function that fills it
    file = Path(holder.name) / "data.parquet"
    parquet.write_table(pa.table({"y": y, **{f"x{j}": column for j, column in enumerate(X.T)}}), file)

    def ours() -> None:
        with tempfile.TemporaryDirectory(dir=holder.name) as out:
            code = run([
                "compare", str(file), "--target", "y", "--selectors", ",".join(SELECTORS),
                "--learners", ",".join(LEARNERS), "--sizes", ",".join(map(str, sizes)),
                "--runs", str(runs), "--folds", str(folds), "--jobs", "1", "--quiet", "--out", out,
            ])  # fmt: skip
            if code:
                raise RuntimeError(f"streamsieve compare left with {code}")

    def peer() -> None:
        for train, y_train, test in deals:
            for name, selector in SELECTORS.items():
                fitted = _asked_for(selector, max(sizes)).fit(train, y_train)
                for wanted in sizes if name == "f" else [p]:
                    kept = fitted.selected_[:wanted]
                    for learner in LEARNERS.values():
                        clone(learner).fit(train[:, kept], y_train).predict_proba(test[:, kept])

    note = (
        f"{len(SELECTORS)} selectors x {len(LEARNERS)} learners, {len(sizes)} sizes, {runs} runs of {folds} "
        "folds, one process; ours reads the file, scales, scores, tests, fits to all rows and writes the page"
    )
    return Race(ours, peer, "the bare fits and predictions, in a loop by hand", note=note, rounds=3)


def _scaled(X: Any, y: Any, train: Any, test: Any) -> tuple[Any, Any, Any]:
    scaler = StandardScaler().fit(X[train])
    return scaler.transform(X[train]), y[train], scaler.transform(X[test])


def _asked_for(selector: Any, most: int) -> Any:
    """Return a copy that keeps so many features, if it can be told."""
    copy = clone(selector)
    return copy.set_params(k=most) if "k" in copy.get_params() else copy


@case("7 runs of 7 folds on madelon: 4 screens x 5 learners x 10 sizes", bar="ours <= 600 s")
def seven_by_seven(size: Size) -> Race:
    X, y = real("madelon")
    X, y = X[: size(2_600, 80), : size(500, 20)], y[: size(2_600, 80)]
    runs = folds = size(7, 2)
    jobs = size(os.cpu_count() or 1, 1)  # starting processes takes longer than a tiny run
    resumed = 0.0

    def ours() -> None:
        nonlocal resumed
        with tempfile.TemporaryDirectory() as folder:
            _protocol(X, y, runs, folds, folder, jobs)
            started = time.perf_counter()
            _protocol(X, y, runs, folds, folder, jobs, resume=True)
            resumed = time.perf_counter() - started

    def note() -> str:
        return (
            f"fisher, mutual_info, gini, relief with boosting, fsa, svm, nb, logistic on {X.shape[0]:,} rows "
            f"x {X.shape[1]} features, all processors; resuming when all is there takes {resumed:.1f} s of it"
        )

    return Race(ours, note=note, rounds=1, warm_up=False)


def _protocol(X: Any, y: Any, runs: int, folds: int, folder: str, jobs: int, *, resume: bool = False) -> None:
    screens = {
        "fisher": ss.Screen("fisher"), "mutual_info": ss.Screen("mutual_info"),
        "gini": ss.Screen("gini", exact=True), "relief": ss.ReliefF(),
    }  # fmt: skip
    grid = size_grid(X.shape[1], 30, 1.25)
    report = screening_protocol(
        X, y, screens, ["boosting", "fsa", "svm", "nb", "logistic"], sizes=sorted({*grid[2::3]}), runs=runs,
        folds=folds, folder=folder, resume=resume, n_jobs=jobs,
    )  # fmt: skip
    if report.failures:
        raise RuntimeError(f"parts failed: {report.failures[0]}")
