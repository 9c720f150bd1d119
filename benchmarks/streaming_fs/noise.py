"""Part 3: pure noise.  False columns per thousand offered, for every entry that decides itself."""

from __future__ import annotations

import time

import numpy as np

from benchmarks.streaming_fs.bench import Bench
from benchmarks.streaming_fs.boards import Board, Cell, filled
from benchmarks.streaming_fs.entries import ENTRIES, Entry

ROWS = 200
KINDS = ("normal", "codes", "heavy-tailed")


def run(bench: Bench) -> list[Board]:
    """Run all entries that decide themselves."""
    streams, columns = (2, 200) if bench.quick else (10, 1000)
    found: dict[str, dict[str, Cell]] = {name: {} for name in ENTRIES}
    settings = {"streams": streams, "columns": columns}
    for kind in bench.cases("noise", KINDS):
        for entry in bench.able(f"noise, {kind}", ROWS * columns, decides=True):
            result = bench.measure(f"noise {kind} {entry.name}", settings, one, entry, kind, streams, columns)
            if result:
                found[entry.name][kind] = Cell(*result)
    about = f"{streams} streams of {ROWS} rows and {columns:,} columns that are independent of two classes."
    kinds = {name: entry.kind for name, entry in ENTRIES.items()}
    return [Board("Pure noise", "false columns per 1,000", about, kinds, filled(found), lower_is_better=True)]


def one(entry: Entry, kind: str, streams: int, columns: int) -> list[float]:
    """Return the false columns per thousand, how many that are, and the seconds."""
    trials = []
    for seed in range(streams):
        rng = np.random.default_rng([seed, KINDS.index(kind)])
        draw = {
            "normal": lambda size, rng=rng: rng.normal(size=size),
            "codes": lambda size, rng=rng: rng.integers(0, 4, size).astype(np.float64),
            "heavy-tailed": lambda size, rng=rng: rng.standard_t(2, size),
        }[kind]
        X, y = draw((ROWS, columns)), rng.permutation(np.arange(ROWS) % 2)
        started = time.perf_counter()
        kept = len(entry.select(np.asfortranarray(X), y, None))
        trials.append([1000 * kept / columns, float(kept), time.perf_counter() - started])
    return np.mean(trials, axis=0).tolist()
