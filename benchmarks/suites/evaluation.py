"""Comparing selectors: what it costs beside the fits themselves, and the thesis's protocol at full size."""

from __future__ import annotations

import io
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
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
from threadpoolctl import threadpool_limits

import streamsieve as ss
from benchmarks._cases import Race, Size, SkipCase, case
from benchmarks._data import dense
from streamsieve import datasets
from streamsieve.cli import run
from streamsieve.evaluation import screening_protocol, size_grid
from streamsieve.exceptions import SourceError

#: What ``streamsieve compare`` does by default: sizes, runs, folds, selectors and learners.
SIZES, RUNS, FOLDS = (5, 10, 20, 50, 100, 200), 5, 5
LEARNERS = (KNeighborsClassifier(), LogisticRegression(max_iter=300), GaussianNB())
#: Selectors that are asked for sizes, one fit for all of them; those that are fitted for each; and others.
RANKED = (ss.Screen("f"), ss.ReliefF())
SIZED = (ss.TopK(measure="fisher_z"),)
OWN = (ss.SAOLA(measure="fisher_z"), ss.FastOSFS(test="fisher_z"))


def _rows(size: Size) -> dict[str, int]:
    return {f"{n:,} rows x 1,000 features": size(n, 600) for n in (2_000, 3_000)}


@case("streamsieve compare, as it comes, ", bar="ours <= 1.1x", over=_rows)
def compare(size: Size, n: int) -> Race:
    p, runs, folds = size(1_000, 12), size(RUNS, 1), size(FOLDS, 2)
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
    given = ["--sizes", ",".join(map(str, sizes)), "--runs", str(runs), "--folds", str(folds), "--jobs", "1"]

    def ours() -> None:
        with tempfile.TemporaryDirectory(dir=holder.name) as out, redirect_stdout(io.StringIO()):
            code = run(["compare", str(file), "--target", "y", *given, "--quiet", "--out", out])
        if code:
            raise RuntimeError(f"streamsieve compare left with {code}")

    @threadpool_limits.wrap(limits=1)  # as in ours; with more threads small fits take longer
    def peer() -> None:
        for train, y_train, test in deals:
            for kept in _choices(train, y_train, sizes):
                for learner in LEARNERS:
                    clone(learner).fit(train[:, kept], y_train).predict_proba(test[:, kept])

    note = (
        f"6 selectors x 3 learners, {len(sizes)} sizes, {runs} runs of {folds} folds, one process; ours "
        "reads the file, scales, scores, tests, fits to all rows and writes the page besides"
    )
    return Race(ours, peer, "the bare fits and predictions, in a loop by hand", note=note, rounds=3)


def _scaled(X: Any, y: Any, train: Any, test: Any) -> tuple[Any, Any, Any]:
    scaler = StandardScaler().fit(X[train])
    return scaler.transform(X[train]), y[train], scaler.transform(X[test])


def _choices(X: Any, y: Any, sizes: Sequence[int]) -> Iterator[Any]:
    """Yield what the selectors choose, at every size where they are asked for one, and all features."""
    yield slice(None)
    for selector in RANKED:
        fitted = _asked_for(selector, sizes[-1]).fit(X, y)
        yield from (fitted.ranked_[:size] for size in sizes)
    for selector in SIZED:
        yield from (_asked_for(selector, size).fit(X, y).selected_ for size in sizes)
    for selector in OWN:
        yield clone(selector).fit(X, y).selected_


def _asked_for(selector: Any, size: int) -> Any:
    return clone(selector).set_params(k=size)


@case("7 runs of 7 folds on madelon: 4 screens x 5 learners x 10 sizes", bar="ours <= 600 s")
def seven_by_seven(size: Size) -> Race:
    try:
        data = datasets.load("madelon", source="local")  # the rows of training and validation
    except SourceError as error:
        raise SkipCase(str(error)) from error
    X, y = data.X[: size(2_600, 80), : size(500, 20)], data.y[: size(2_600, 80)]
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
