"""Compact sketches: everything that a class holds as one sorted run.

The values at the mass positions (h + 1/2) W / k, h = 0 .. k - 1, of all runs and buffered rows together,
each of weight W / k.  The mass up to any x moves by W / (2k) at most, however many sketches are joined at
once: joined two by two they would pay that at every level of the tree.  Errors of the parts add up.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from streamsieve._kernels import quantiles_compact as kernel
from streamsieve.protocols import FloatArray
from streamsieve.summaries.quantiles.sketch import WIDEST, QuantileSketch, SortedRun
from streamsieve.summaries.quantiles.weighted import WeightedSketch, ordered

#: Sorted values (feature, place) and their masses.
Piece: TypeAlias = tuple[npt.NDArray[Any], FloatArray]


def fitting_width(sketches: Sequence[QuantileSketch], wanted: int | None) -> int | None:
    """Return the number of values of one run for all of these: as requested, or as the bound requires.

    Without a requested width, half of the remaining error is reserved for later merges: widths then double
    with every level of a tree of merges, while the number of its leaves is multiplied.  None if no width
    fits, because the sketches have used up the error.
    """
    epsilon = sketches[0].epsilon
    mass, error = sum(s.mass for s in sketches), sum(s.error for s in sketches)
    room = (epsilon * mass - error) * (0.5 if wanted is None else 1.0)
    k = 32
    while k <= WIDEST:
        fits = 2 * k * epsilon >= 1 and mass / (2 * k) <= room
        if fits and (wanted is None or k >= wanted):
            return k
        k *= 2
    return None


def joined(sketches: Sequence[WeightedSketch], k: int) -> WeightedSketch:
    """Return one run of ``k`` values for all sketches, which have the same type and features.

    The sketches are destroyed.
    """
    first = sketches[0]
    made = WeightedSketch(first.n_features, first.epsilon, first.dtype)
    made.k = k
    pieces: list[Piece] = []
    weights: list[FloatArray] = []
    for sketch in sketches:
        pieces += [(run.values, np.broadcast_to(run.weight, run.values.shape)) for run in sketch.runs]
        weights += [np.full(run.values.shape[1], run.weight) for run in sketch.runs]
        weights.append(sketch.weights[: sketch.filled].copy())
        pieces += _buffered(sketch)
        made.in_runs += sketch.in_runs
        made.error += sketch.error
        made.shift += sketch.shift
        made.missing += sketch.missing
        made.few.merge(sketch.few)
    c = float(np.concatenate(weights).sum()) / k
    edges = np.cumsum([0, *(values.shape[1] for values, _ in pieces)])
    out = np.empty((made.n_features, k), made.dtype)

    def work(low: int, high: int) -> None:
        values, masses = (
            np.concatenate([each[low:high] for each in kind], axis=1) for kind in zip(*pieces, strict=True)
        )
        kernel.merge_and_thin(values, masses, edges, c, out[low:high])

    made._over_blocks(int(edges[-1]), 16, work)  # noqa: SLF001 - a sketch of this folder
    made.error += c / 2
    level = max(0, int(np.log2(max(c, 1.0))))  # where runs of this weight are after ordinary rows
    made._level(level).append(SortedRun(out, c))  # noqa: SLF001
    return made


def _buffered(sketch: WeightedSketch) -> list[Piece]:
    """Return the buffered rows, each feature sorted, and count them among those in runs."""
    rows, u = sketch.rows[: sketch.filled], sketch.weights[: sketch.filled].copy()
    if not len(rows):
        return []
    values, cumulative = ordered(rows, u, sketch.missing)
    if sketch.few.prepare():
        sketch.few.tally(0, sketch.n_features, values, cumulative)
        sketch.few.release()
    sketch.in_runs += float(u.sum())
    sketch.filled = 0
    if np.all(u == u[0]):
        return [(values, np.broadcast_to(u[0], values.shape))]
    values = np.where(np.isnan(rows), np.inf, rows).T.astype(sketch.dtype)
    order = np.argsort(values, axis=1, kind="stable")
    return [(np.take_along_axis(values, order, axis=1), u[order])]
