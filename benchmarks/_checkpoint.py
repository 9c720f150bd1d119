"""What checkpoints cost a stream: the longest stall, and the share of the time."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import streamsieve as ss
from streamsieve import state
from streamsieve.protocols import Position, RowBatch
from streamsieve.running.checkpointer import Copies, Snapshots


@dataclass(frozen=True)
class Figures:
    """What checkpoints of a state of this size cost, in seconds; the best of several rounds.

    Attributes
    ----------
    state_bytes : size of the state
    stall : the longest time between a batch that was learnt and the next that was asked for
    plain, kept : time of the same stretch of a stream without and with one checkpoint, which is written
        while the stretch lasts
    snapshot, write : time of taking one copy of the state, and of writing it in whatever thread
    """

    state_bytes: int
    stall: float
    plain: float
    kept: float
    snapshot: float
    write: float

    def cost(self, every: float = 10.0) -> float:
        """Return the share of time that a checkpoint every so many seconds takes."""
        return max(0.0, self.kept - self.plain) / every


@dataclass
class Repeating:
    """A source that yields a few batches again and again, and costs nothing itself."""

    batches: list[tuple[Any, Any]]
    n_rows: int
    names: list[str] | None = None
    #: When each batch was asked for.
    asked: list[float] = field(default_factory=list)

    def identity(self) -> dict[str, Any]:
        return {"kind": "Repeating", "rows": self.n_rows}

    def check_identity(self, known: Mapping[str, Any]) -> None:
        if known != self.identity():
            raise ss.exceptions.SourceError("another stream")

    def rows(self, batch_size: int, start: Position | None = None) -> Iterator[RowBatch]:
        row = 0 if start is None else start["row"]
        while row < self.n_rows:
            X, y = self.batches[row // batch_size % len(self.batches)]
            row += len(y)
            self.asked.append(time.perf_counter())
            yield RowBatch(X, y, None, self.names, {"row": row})
        self.asked.append(time.perf_counter())


def dense_quantiles(p: int = 2_000, batch: int = 4_096) -> tuple[Callable[[], Any], list[tuple[Any, Any]]]:
    """Return a maker of screens and batches: quantiles of wide dense rows, about 150 MB of state."""
    rng = np.random.default_rng(0)
    batches = [(rng.standard_normal((batch, p), np.float32), rng.integers(0, 2, batch)) for _ in range(4)]
    return lambda: ss.Screen("mutual_info"), batches


def sparse_moments(
    p: int = 2_000_000, batch: int = 4_096, per_row: int = 100
) -> tuple[Callable[[], Any], list[tuple[Any, Any]]]:
    """Return a maker of screens and batches: moments of millions of sparse features, 128 MB of state."""
    rng = np.random.default_rng(0)
    batches = []
    for _ in range(4):
        indices = np.sort(rng.integers(0, p, (batch, per_row), dtype=np.int32), axis=1).ravel()
        indptr = np.arange(0, batch * per_row + 1, per_row, dtype=np.int32)
        X = sp.csr_array((rng.standard_normal(batch * per_row), indices, indptr), shape=(batch, p))
        X.sum_duplicates()
        batches.append((X, rng.integers(0, 2, batch)))
    return lambda: ss.Screen("f"), batches


def measure(
    make: Callable[[], Any], batches: list[tuple[Any, Any]], *, grown: int = 60, rounds: int = 10
) -> Figures:
    """Let a selector grow over so many batches, then learn on without and with a checkpoint, in turn.

    Such a stretch lasts four times as long as it takes to write the state, and the checkpoint comes half-way.
    """
    rows = len(batches[0][1])
    selector = make()
    per_batch = _stretch(selector, batches, grown)[0] / grown
    snapshots, copies = Snapshots(selector), Copies()
    with tempfile.TemporaryDirectory() as folder:
        snapshot = min(_timed(lambda: copies.of(snapshots.take()[1])) for _ in range(rounds))
        header, arrays = snapshots.take()
        write = min(_timed(lambda: state.write(f"{folder}/x.sieve", header, arrays)) for _ in range(rounds))
        n = max(6, round(4 * write / per_batch))
        size = sum(array.nbytes for array in arrays.values())
        plain, kept = [], []
        for turn in range(rounds):
            plain.append(_stretch(selector, batches, n))
            options = {"checkpoint": Path(folder) / f"{turn}.sieve", "every": rows * (n // 2 + 1)}
            kept.append(_stretch(selector, batches, n, **options))
    stall = min(waited for _, waited in kept)
    return Figures(size, stall, min(s for s, _ in plain), min(s for s, _ in kept), snapshot, write)


def _stretch(selector: Any, batches: list[tuple[Any, Any]], n: int, **options: Any) -> tuple[float, float]:
    """Learn so many batches; return the time from the first to the end of the last, and the longest wait.

    The last checkpoint, which every run writes at its end, is not in that time.
    """
    rows = len(batches[0][1])
    source = Repeating(batches, n * rows)
    learnt: list[float] = []
    learn = type(selector).learn

    def timed(batch: RowBatch) -> None:
        learn(selector, batch)
        learnt.append(time.perf_counter())

    selector.learn = timed
    ss.run(source, selector, batch_size=rows, **options)
    del selector.learn
    waits = [asked - done for done, asked in zip(learnt, source.asked[1:], strict=True)]
    return source.asked[-1] - source.asked[0], max(waits)


def _timed(function: Callable[[], Any]) -> float:
    started = time.perf_counter()
    function()
    return time.perf_counter() - started


def main() -> None:
    """Print the figures of both kinds of state."""
    for name, (make, batches) in {"quantiles": dense_quantiles(), "moments": sparse_moments()}.items():
        f = measure(make, batches)
        print(
            f"{name}: state {f.state_bytes / 1e6:.0f} MB, longest stall {f.stall:.3f} s (snapshot "
            f"{f.snapshot:.3f} s, write {f.write:.2f} s); {f.plain:.2f} s of the stream take {f.kept:.2f} s "
            f"with a checkpoint: {f.cost():.1%} if there is one every 10 s"
        )


if __name__ == "__main__":
    main()
