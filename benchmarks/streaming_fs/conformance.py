"""Part 6: p-values, decisions, scores and sketches beside those of other libraries."""

from __future__ import annotations

import importlib.util
from typing import Any, NamedTuple

import numpy as np
from sklearn.feature_selection import f_classif

import streamsieve as ss
from benchmarks.streaming_fs.bench import Bench
from benchmarks.streaming_fs.boards import Board, Cell
from streamsieve.summaries import Quantiles
from studies.calibration.oracles import Agreement, agreements, compared

#: Values of a sketch, and where its ranks are asked for.
VALUES, PROBES = 100_000, 400
ORDERS = ("random order", "sorted", "zoom-in")


class Conformance(NamedTuple):
    """What was compared number by number, and the sketches."""

    agreements: list[Agreement]
    sketches: Board | None


def run(bench: Bench) -> Conformance:
    """Compare with the libraries that are installed."""
    found = bench.measure("conformance", {}, numbers)
    return Conformance([Agreement(*each) for each in found or ()], _sketches(bench))


def numbers() -> list[list[Any]]:
    """Return all agreements: tests, online rules, scores."""
    return [[*each] for each in (*agreements(), *_scores(), *_river())]


def _scores() -> list[Agreement]:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(500, 50)), rng.integers(0, 3, 500)
    X[:, :10] += y[:, None]
    return [
        compared(
            "F of classes", "sklearn f_classif", ss.Screen("f", k=5).fit(X, y).scores_, f_classif(X, y)[0]
        )
    ]


def _river() -> list[Agreement]:
    if importlib.util.find_spec("river") is None:
        return []
    from river import stats  # noqa: PLC0415 - may be absent

    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(300, 10)), rng.integers(0, 2, 300)
    theirs = []
    for column in X.T:
        running = stats.PearsonCorr()
        for value, label in zip(column.tolist(), y.tolist(), strict=True):
            running.update(value, label)
        theirs.append(abs(running.get()))
    f = ss.Screen("f", k=5).fit(X, y).scores_
    return [compared("correlation, from F", "river PearsonCorr", np.sqrt(f / (f + len(y) - 2)), theirs)]


def _sketches(bench: Bench) -> Board | None:
    if importlib.util.find_spec("datasketches") is None:
        bench.desk.skip("sketches", "datasketches is not installed: pip install 'streamsieve[judges]'")
        return None
    found: dict[str, dict[str, Cell]] = {}
    for case in bench.cases("sketches", ORDERS):
        result = bench.measure(f"sketch {case}", {"values": VALUES}, sketched, case)
        for name, error in (result or {}).items():
            found.setdefault(name, {})[case] = Cell(error)
    about = (
        f"Largest rank error at {PROBES} values, as a share of {VALUES:,} values of one column; the "
        "KLL sketch has at least the bytes of ours."
    )
    kinds = {name: "peer" if "KLL" in name else "ours" for name in found}
    return Board("Sketches at equal bytes", "rank error", about, kinds, found, lower_is_better=True)


def sketched(order: str) -> dict[str, float]:
    """Return the largest rank error, by sketch."""
    import datasketches  # noqa: PLC0415 - may be absent

    values = np.sort(np.random.default_rng(2).normal(size=VALUES).astype(np.float32))
    if order == "random order":
        values = np.random.default_rng(3).permutation(values)
    elif order == "zoom-in":  # the extremes first, the middle last
        values = np.column_stack([values[: VALUES // 2], values[: VALUES // 2 - 1 : -1]]).ravel()
    ours = Quantiles(max_rank_error=1e-3)
    for part in np.array_split(values.astype(np.float64), 100):
        ours.update(part[:, None], np.zeros(len(part), np.int64))
    k = 200
    while True:
        theirs = datasketches.kll_floats_sketch(k)
        theirs.update(values)
        if len(theirs.serialize()) >= ours.nbytes or k >= 30_000:
            break
        k = int(k * 1.2)
    ordered = np.sort(values)
    probes = ordered[np.linspace(0, VALUES - 1, PROBES).astype(int)]
    true = np.searchsorted(ordered, probes, side="right") / VALUES
    errors = {
        "Quantiles": ours.cdf(0, probes.astype(np.float64))[0] / VALUES - true,
        "datasketches KLL": np.array([theirs.get_rank(float(x), True) for x in probes]) - true,  # noqa: FBT003
    }
    return {name: float(np.abs(each).max()) for name, each in errors.items()}
