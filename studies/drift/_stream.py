"""The stream, and what screens find in it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from streamsieve.evaluation import detection_curve, track
from streamsieve.protocols import FloatArray, IntArray, RowBatch
from streamsieve.rows import Screen
from streamsieve.sources import DriftingStream

ALPHAS = (0.9, 0.95, 0.98, 0.99, 1.0)
SHIFTS = (250, 500, 1000, 2000)
#: Rows of the minibatches that a fading factor of the thesis refers to.
MINIBATCH = 250


@dataclass(frozen=True)
class Size:
    """How large the study is.

    Attributes
    ----------
    n_rows, n_features, n_relevant : of the stream
    tops : how many features are selected, the most first
    seeds : streams over which figures are means
    """

    n_rows: int = 100_000
    n_features: int = 1_000
    n_relevant: int = 100
    tops: tuple[int, ...] = (500, 200)
    seeds: int = 12

    def stream(self, shift_every: int, seed: int) -> DriftingStream:
        """Return a stream in which a relevant feature changes every so many rows."""
        return DriftingStream(self.n_rows, self.n_features, self.n_relevant, shift_every, seed)


def half_life(alpha: float) -> float | None:
    """Return the half-life in rows of a fading factor a minibatch."""
    return None if alpha == 1 else MINIBATCH * math.log(0.5) / math.log(alpha)


class FadedByMinibatch:
    """A screen in which rows of a minibatch weigh alike, as the thesis has it.

    All old weights times alpha is the same as new weights over alpha: every statistic is a ratio.

    Parameters
    ----------
    screen : one that never forgets
    alpha : fading factor a minibatch
    """

    def __init__(self, screen: Screen, alpha: float) -> None:
        self.screen, self.alpha, self.batches = screen, alpha, 0

    def learn(self, batch: RowBatch) -> None:
        """Learn a minibatch."""
        weight = np.full(batch.X.shape[0], self.alpha**-self.batches)
        self.screen.partial_fit(batch.X, batch.y, sample_weight=weight)
        self.batches += 1

    @property
    def ranked_(self) -> IntArray:
        """Columns on top, best first."""
        return self.screen.ranked_

    @property
    def scores_(self) -> FloatArray:
        """One score a feature."""
        return self.screen.scores_


def screens(alphas: Sequence[float], k: int) -> dict[str, Screen]:
    """Return a T-score screen for each fading factor; it fades by row, at the same speed."""
    return {f"{alpha:g}": Screen("t", k=k, half_life=half_life(alpha), ledger="none") for alpha in alphas}


def truths(stream: DriftingStream, rows: Sequence[int] | IntArray) -> list[IntArray]:
    """Return the relevant features of the rows that came last before each look."""
    return [stream.relevant(int(row) - 1) for row in rows]


def rates(
    stream: DriftingStream, screens: Mapping[str, Any], tops: Sequence[int], share: float = 0.25
) -> dict[str, list[float]]:
    """Return, for each screen and each number of features selected, the detection rate.

    The rate is the share of the relevant features that are selected, looked at after every minibatch; the
    mean over the last quarter of the stream, or another share of it.
    """
    seen = track(stream, screens, MINIBATCH, batch=MINIBATCH)
    last = np.flatnonzero(seen.rows > seen.rows[-1] * (1 - share))
    relevant = truths(stream, seen.rows[last])
    return {
        name: [float(detection_curve([shown.selected[i] for i in last], relevant, k).mean()) for k in tops]
        for name, shown in seen.screens.items()
    }
