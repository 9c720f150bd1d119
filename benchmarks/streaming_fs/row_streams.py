"""Part 5: rows in their real order, a total swap of the relevant columns, and microseconds per row."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import streamsieve as ss
from benchmarks.streaming_fs.bench import Bench
from benchmarks.streaming_fs.boards import Board, Cell, filled
from benchmarks.streaming_fs.row_entries import ROW_ENTRIES, RowsEntered
from streamsieve.evaluation import prequential
from studies.defaults.sets import loaded

#: Real streams, and how many columns are selected.
STREAMS = {"usenet1": 20, "emailing_list": 50, "electricity + 30 noise": 8, "spambase": 15}
SWAPS = (2_000, 20_000)
#: Rows that are learned before the clock runs.
FIRST = 100
#: Columns of a row, and what makes a name of their numbers.
LATENCY: dict[str, tuple[int, Callable[[int], Any]]] = {
    "p = 10": (10, "x{}".format),
    "p = 100": (100, "x{}".format),
    "p = 1000": (1000, "x{}".format),
    "p = 10, numbers as names": (10, int),
}
ALL = "all features"


def run(bench: Bench) -> list[Board]:
    """Run all entries over rows."""
    return [_real(bench), *_swaps(bench), _stationary(bench), _latency(bench)]


def _kinds() -> dict[str, str]:
    return {ALL: "baseline", **{name: entry.kind for name, entry in ROW_ENTRIES.items()}}


def _real(bench: Bench) -> Board:
    rows = 600 if bench.quick else 5000
    found: dict[str, dict[str, Cell]] = {name: {} for name in _kinds()}
    for case in bench.cases("row streams", [*STREAMS][:2] if bench.quick else STREAMS):
        data = bench.loaded(f"stream {case}", stream, case, rows)
        for name in found if data is not None else ():
            result = bench.measure(
                f"stream {case} {name}", {"rows": rows}, followed, name, *data, STREAMS[case]
            )
            if result:
                found[name][case] = Cell(*result)
    about = (
        f"Prequential accuracy of one SGD learner over at most {rows:,} rows in their order, batches of 50; "
        f"k is {', '.join(f'{k} for {name}' for name, k in STREAMS.items())}."
    )
    return Board("Row streams", "accuracy", about, _kinds(), filled(found))


def stream(case: str, rows: int) -> tuple[Any, Any]:
    """Return the first rows of a real stream, in its order, with columns of noise where the name says so."""
    name, _, noise = case.partition(" + ")
    data = loaded(name)
    if case.startswith("spambase"):  # the file is sorted by class
        order = np.random.default_rng(0).permutation(len(data.y))
    else:
        order = np.arange(len(data.y))
    X, y = np.asarray(data.X[order[:rows]]), data.y[order[:rows]]
    if noise:
        X = np.hstack([X, np.random.default_rng(1).normal(size=(len(y), int(noise.split()[0])))])
    return X, y


def followed(name: str, X: Any, y: Any, k: int) -> list[float]:
    """Return the accuracy over all rows, the columns selected, and the seconds that selecting took."""
    selector = None if name == ALL else RowsEntered(name, k)
    report = prequential(
        ss.open(X, target=y),
        {"selector": selector},
        ["sgd"],
        batch_size=50,
        every=len(y),
        task="classification",
    )
    table = report.table
    return [float(table["accuracy"][-1]), float(table["n_selected"][-1]), float(table["select_seconds"][-1])]


def _swaps(bench: Bench) -> list[Board]:
    sizes, seeds = (SWAPS[:1], 2) if bench.quick else (SWAPS, 5)
    right: dict[str, dict[str, Cell]] = {name: {} for name in ROW_ENTRIES}
    delay: dict[str, dict[str, Cell]] = {name: {} for name in ROW_ENTRIES}
    for case in bench.cases("swaps", [f"{n:,} rows" for n in sizes]):
        for name in ROW_ENTRIES:
            n = int(case.split()[0].replace(",", ""))
            result = bench.measure(f"swap {case} {name}", {"seeds": seeds}, swapped, name, n, seeds)
            if result:
                right[name][case], delay[name][case] = Cell(result[0], 5.0), Cell(result[1], 5.0)
    about = (
        "Five relevant columns of 20 are replaced by five others at half time; batches of 50, k = 5, "
        f"{seeds} seeds. "
    )
    wanted = "Of the five that are relevant at the end, the share selected then."
    late = "Rows after the swap until four of the five are selected; the rest of the stream if never."
    return [
        Board("Total swap, at the end", "share right", about + wanted, _kinds(), right),
        Board("Total swap, delay", "rows", about + late, _kinds(), delay, lower_is_better=True),
    ]


def swapped(name: str, n: int, seeds: int) -> list[float]:
    """Return the share that is right at the end, and the rows until four of five are; means over seeds."""
    trials = []
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        order = rng.permutation(20)
        before, after = order[:5], order[5:10]
        X = rng.normal(size=(n, 20))
        score = np.where(np.arange(n) < n // 2, X[:, before].sum(axis=1), X[:, after].sum(axis=1))
        y = (score + rng.normal(size=n) > 0).astype(np.int64)
        selector, late = RowsEntered(name, 5), n - n // 2
        for low in range(0, n, 50):
            selector.partial_fit(X[low : low + 50], y[low : low + 50])
            right = int(selector.get_support()[after].sum())
            if low >= n // 2 and right >= 4:
                late = min(late, low + 50 - n // 2)
        trials.append([right / 5, float(late)])
    return np.mean(trials, axis=0).tolist()


def _stationary(bench: Bench) -> Board:
    seeds = 2 if bench.quick else 5
    found: dict[str, dict[str, Cell]] = {name: {} for name in ROW_ENTRIES}
    for case in bench.cases("stationary", [f"{n:,} rows" for n in SWAPS[: 1 if bench.quick else 2]]):
        for name in ROW_ENTRIES:
            n = int(case.split()[0].replace(",", ""))
            result = bench.measure(f"stationary {case} {name}", {"seeds": seeds}, restless, name, n, seeds)
            if result is not None:
                found[name][case] = Cell(result, 5.0)
    about = (
        "Five of 20 columns are relevant from the first row to the last; batches of 50, k = 5. Columns that "
        f"enter the selection in the second half, per 1,000 rows, {seeds} seeds."
    )
    return Board("Stationary rows", "needless swaps", about, _kinds(), filled(found), lower_is_better=True)


def restless(name: str, n: int, seeds: int) -> float:
    """Return the columns that enter per 1,000 rows of the second half, a mean over seeds."""
    entered = 0
    for seed in range(seeds):
        rng = np.random.default_rng([seed, 1])
        X = rng.normal(size=(n, 20))
        y = (X[:, rng.permutation(20)[:5]].sum(axis=1) + rng.normal(size=n) > 0).astype(np.int64)
        selector, before = RowsEntered(name, 5), np.zeros(20, bool)
        for low in range(0, n, 50):
            selector.partial_fit(X[low : low + 50], y[low : low + 50])
            now = selector.get_support()
            entered += int(np.sum(now & ~before)) if low >= n // 2 else 0
            before = now
    return 1000 * entered / (seeds * (n - n // 2))


def _latency(bench: Bench) -> Board:
    rows = 300 if bench.quick else 2000
    found: dict[str, dict[str, Cell]] = {}
    for case in bench.cases("latency", LATENCY):
        result = bench.measure(
            f"latency {case}", {"rows": rows, "first": FIRST}, row_by_row, *LATENCY[case], rows
        )
        for name, value in (result or {}).items():
            found.setdefault(name, {})[case] = Cell(value)
    kinds = {name: "peer" if name.startswith("river") else "ours" for name in found}
    about = (
        "learn_one and transform_one with a dict per row, k = 5, after the first hundred rows; processor "
        "time, the best of five runs, interleaved."
    )
    return Board("Row by row", "microseconds per row", about, kinds, found, lower_is_better=True)


def row_by_row(p: int, name_of: Callable[[int], Any], rows: int) -> dict[str, float]:
    """Return microseconds per row, by selector."""
    rng = np.random.default_rng(0)
    names = [name_of(j) for j in range(p)]
    X = [dict(zip(names, row, strict=True)) for row in rng.normal(size=(FIRST + rows, p)).tolist()]
    y = rng.integers(0, 2, FIRST + rows).tolist()
    makers: dict[str, Any] = {"Screen(f)": partial(ss.Screen, "f", k=5, task="classification")}
    try:
        from river import feature_selection, stats  # noqa: PLC0415 - may be absent
    except ImportError:
        pass
    else:
        makers["river SelectKBest"] = lambda: feature_selection.SelectKBest(stats.PearsonCorr(), k=5)
    best = dict.fromkeys(makers, np.inf)
    for _ in range(5):
        for name, make in makers.items():
            selector = make()
            started = 0.0
            for number, (row, label) in enumerate(zip(X, y, strict=True)):
                if number == FIRST:
                    started = time.process_time()
                selector.learn_one(row, label)
                selector.transform_one(row)
            best[name] = min(best[name], time.process_time() - started)
    return {name: 1e6 * seconds / rows for name, seconds in best.items()}
