"""Runs of entries (prefix, value, mass), sorted by prefix and value: made, merged, pooled and renamed.

Threads take ranges of prefixes, and what becomes of a prefix does not depend on the ranges.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from streamsieve._kernels import entries as kernel
from streamsieve._kernels.quantiles_sparse import first_of
from streamsieve._kernels.threads import over_features
from streamsieve.protocols import FloatArray, IntArray

#: More values than any (feature, class) has: nothing is thinned.
ALL = 2**62
#: An entry takes as long as this many of the values by which threads judge whether they pay.
EFFORT = 16


@dataclass(frozen=True, slots=True)
class Run:
    """Entries by prefix and value, no two alike.  Never changed in place, so that runs may be shared."""

    prefix: IntArray
    value: FloatArray
    mass: FloatArray
    #: How far thinning may have moved the mass up to any x, as a share of the prefix's mass.
    error: float = 0.0

    def __len__(self) -> int:
        return len(self.prefix)

    @property
    def nbytes(self) -> int:
        return self.prefix.nbytes + self.value.nbytes + self.mass.nbytes

    def part(self, which: Any) -> Run:
        """Some of the entries."""
        return Run(self.prefix[which], self.value[which], self.mass[which], self.error)


def _room(n: int, mass: FloatArray | None) -> Any:
    """Arrays for n entries."""
    return np.empty(n, np.int64), np.empty(n), None if mass is None else np.empty(n)


def sorted_run(prefix: IntArray, value: FloatArray, mass: FloatArray | None, most: int = ALL) -> Run:
    """Make a run of staged entries, which may be overwritten; no prefix keeps more than ``most`` values.

    Threads take ranges of prefixes, and what becomes of a prefix does not depend on the ranges.
    """
    sample = np.sort(prefix[:: max(1, len(prefix) // 1024)])
    parts = [(0, Run(prefix[:0], value[:0], value[:0]))]

    def work(low: int, high: int) -> None:
        staged: Any = (prefix, value, mass)
        if low == high:
            return
        if high - low < len(sample):
            least, limit = sample[low] if low else 0, sample[high] if high < len(sample) else 2**63 - 1
            room = _room(len(prefix) + 1, mass)
            n = kernel.take_range(*staged, least, limit, *room)
            staged = tuple(None if a is None else a[:n] for a in room)
        kernel.sort_stage(*staged, *_room(len(staged[0]), mass))
        masses = np.empty(len(staged[0])) if mass is None else staged[2]
        n, error = kernel.compact(*staged, masses, most)
        parts.append((low, Run(staged[0], staged[1], masses, error).part(slice(n))))

    over_features(len(sample), EFFORT * len(prefix), work)
    runs = [run for _, run in sorted(parts, key=lambda part: part[0])]
    return Run(
        np.concatenate([run.prefix for run in runs]),
        np.concatenate([run.value for run in runs]),
        np.concatenate([run.mass for run in runs]),
        max(run.error for run in runs),
    )


def joined(a: Run, b: Run, most: int = ALL) -> Run:
    """Merge two runs, equal entries into one; no prefix keeps more than ``most`` values.

    As for :func:`_sorted`, threads do not change the result.
    """
    if len(a) < len(b):
        a, b = b, a
    if not len(b):
        return a
    n = len(a) + len(b)
    out = (np.empty(n, np.int64), np.empty(n), np.empty(n))
    done: list[tuple[int, int, float]] = []

    def cut(place: int) -> tuple[int, int]:
        if place in (0, len(a)):
            return (0, 0) if place == 0 else (len(a), len(b))
        prefix = a.prefix[place]
        return int(np.searchsorted(a.prefix, prefix)), int(np.searchsorted(b.prefix, prefix))

    def work(low: int, high: int) -> None:
        (i, j), (i_end, j_end) = cut(low), cut(high)
        here, there = a.part(slice(i, i_end)), b.part(slice(j, j_end))
        prefix, value, mass = (array[i + j : i_end + j_end] for array in out)
        kernel.merge_runs(
            here.prefix, here.value, here.mass, there.prefix, there.value, there.mass, prefix, value, mass
        )
        done.append((i + j, *kernel.compact(prefix, value, mass, mass, most)))

    over_features(len(a), EFFORT * n, work)
    end = 0
    for start, length, _ in sorted(done):
        for array in out:
            if start != end:
                array[end : end + length] = array[start : start + length]
        end += length
    for array in out:
        array.resize(end, refcheck=False)  # gives the rest of the memory back; a slice would hold it
    return Run(*out, error=max(a.error, b.error) + max(error for *_, error in done))


def with_classes_pooled(run: Run, shift: int) -> Run:
    """Reorder the entries of a run by feature and value."""
    if shift == 0:
        return run
    run = Run(run.prefix.copy(), run.value.copy(), run.mass.copy())
    other_prefix, other_value, other_mass = _room(len(run), run.mass)

    def cut(place: int) -> int:
        # while other threads work, entries change places with entries of the same feature only
        if place == len(run):
            return place
        return int(first_of(run.prefix, shift, run.prefix[place] >> shift))

    def work(low: int, high: int) -> None:
        kernel.pool_classes(
            run.prefix, run.value, run.mass, shift, other_prefix, other_value, other_mass, cut(low), cut(high)
        )

    over_features(len(run), EFFORT * len(run), work)
    return run


def renamed(
    prefix: IntArray, shift: int, new_shift: int, columns: IntArray | None, classes: IntArray | None
) -> IntArray:
    """Prefixes with feature ``columns[i]`` for feature i and class ``classes[c]`` for class c."""
    feature, code = prefix >> shift, prefix & ((1 << shift) - 1)
    feature = feature if columns is None else columns[feature]
    return feature << new_shift | (code if classes is None else classes[code])


def run_renamed(
    run: Run, shift: int, new_shift: int, columns: IntArray | None, classes: IntArray | None
) -> Run:
    """Rename a run's prefixes and put them in order; the values of a prefix keep theirs on the way."""
    prefix = renamed(run.prefix, shift, new_shift, columns, classes)
    value, mass = run.value, run.mass
    if np.any(prefix[1:] < prefix[:-1]):
        value, mass = value.copy(), mass.copy()
        kernel.by_prefix(prefix, value, mass, *_room(len(run), mass))
    return Run(prefix, value, mass, run.error)
