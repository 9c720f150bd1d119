"""Many classes, where almost every difference is significant and hundreds of columns stay."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import streamsieve as ss
from benchmarks._cases import Race, Size, case
from benchmarks._data import Labels, real

#: Rows, columns and classes of Isolet, COIL-20 and two sets of tumors.
SHAPES = {
    "Isolet-like": (7_800, 617, 26),
    "COIL20-like": (1_440, 1_024, 20),
    "tumors of 11 classes": (174, 5_000, 11),
    "tumors of 14 classes": (190, 8_000, 14),
}
FACTORS = 40


def _sets(_: Size) -> dict[str, str]:
    return {name: name for name in (*SHAPES, "lymphoma_disc")}


@case("FastOSFS, ", bar="ours <= 2 s", over=_sets)
def many_classes(size: Size, name: str) -> Race:
    X, y = _drawn(*SHAPES[name]) if name in SHAPES else real(name)
    X = X[:, : size(X.shape[1], 50)]
    last: list[Any] = []

    def ours() -> None:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".* columns are kept, ")
            last[:] = [ss.FastOSFS(task="classification").fit(X, y)]

    def note() -> str:
        classes = len(np.unique(y))
        return (
            f"{X.shape[0]:,} rows x {X.shape[1]:,} columns, {classes} classes, {len(last[0].selected_)} kept"
        )

    return Race(ours, work=X.shape[1], unit="columns", note=note, rounds=3)


@case("DOFS, 190 rows, 14 classes, 10,000 columns", bar="ours <= 10 s")
def groups(size: Size) -> Race:
    X, y = _drawn(190, size(10_000, 50), 14)
    last: list[Any] = []

    def ours() -> None:
        last[:] = [ss.DOFS(task="classification").fit(X, y)]

    def note() -> str:
        return f"{X.shape[1]:,} columns, {len(last[0].selected_)} kept"

    return Race(ours, work=X.shape[1], unit="columns", note=note, rounds=1)


def _drawn(n: int, p: int, classes: int) -> tuple[Any, Labels]:
    """Columns that share factors, whose means differ between all classes."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, classes, n)
    means, weights = rng.normal(size=(classes, FACTORS)), rng.normal(size=(FACTORS, p)) / np.sqrt(FACTORS)
    factors = 0.6 * means[y] + rng.normal(size=(n, FACTORS))
    return factors @ weights + 0.7 * rng.normal(size=(n, p)), y
