"""Changes in the relevance of features, and of the most relevant ones together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from streamsieve.protocols import FloatArray, IntArray
from streamsieve.rows.drift.change_points import MOST_BUCKETS, ChangePoints
from streamsieve.state import Int, Nested, Part, register

#: Maximum expected number of false alarms in ROWS rows.
FALSE_ALARMS, ROWS = 1.0, 100_000
#: Number of standard errors by which a feature must differ at the change point of another to change with it.
FOLLOWS = 2.0


class Changes(NamedTuple):
    """Features whose relevance has changed, and their mean normal score before and after."""

    features: IntArray
    before: FloatArray
    after: FloatArray


@register
class RelevanceChanges(Part):
    """Detects changes in the normal scores of single features, and of the most relevant ones together.

    Signal 0 is the sum of the scores, in the next block, of the k features that were most relevant so far,
    divided by the square root of k.  It falls when the selection loses its relevance, which shows much
    earlier than in any single feature.  The choice of the features does not bias it, because they are chosen
    before the block.  The other signals are the features.

    An alarm restarts all features that differ by two standard errors at the same point; an alarm of signal 0
    restarts those of the most relevant features that have become less relevant.

    Parameters
    ----------
    every : rows per block
    k : number of features to watch together

    Notes
    -----
    Half of the false alarms are spent on signal 0, half on all features.  The thresholds follow from the
    union bound over features and change points; see :class:`ChangePoints`.
    """

    fields = {"every": Int(2), "k": Int(1), "_points": Nested(ChangePoints)}

    def __init__(self, every: int, k: int) -> None:
        self.every, self.k = every, k
        self._points = ChangePoints()
        self._points.grow(1)

    @property
    def n_signals(self) -> int:
        """Number of features."""
        return self._points.n_signals - 1

    def grow(self, n_signals: int) -> None:
        """Add features."""
        self._points.grow(n_signals + 1)

    def thresholds(self) -> tuple[float, float]:
        """Return the standardized differences that raise an alarm, for the selection and for a feature."""
        level = min(0.05, FALSE_ALARMS * self.every / ROWS) / 2 / (MOST_BUCKETS - 1)
        return float(-ndtri(level)), float(-ndtri(level / (2 * max(1, self.n_signals))))

    def update(self, scores: FloatArray) -> Changes:
        """Add the next score of every feature, and return which features have changed."""
        points = self._points
        together = self._most_relevant()
        overall = scores[together].sum() / np.sqrt(max(1, len(together)))
        points.update(np.append(overall, scores))
        if points.n_values == 1:
            points.clear(0)  # no feature was known to be relevant before
        differences = points.differences()
        sizes = np.abs(differences)
        sizes[:, 0] = -differences[:, 0]  # a selection that becomes more relevant is no drift
        selection, feature = self.thresholds()
        alarms = sizes.max(axis=0, initial=0.0) > np.append(selection, np.full(self.n_signals, feature))
        if not alarms.any():
            nothing = np.zeros(0)
            return Changes(np.zeros(0, np.int64), nothing, nothing)
        where = sizes.argmax(axis=0)
        common = np.unique(where[alarms])
        where = np.where(alarms, where, common[sizes[common].argmax(axis=0)])
        every = np.arange(len(where))
        moved = alarms | (sizes[where, every] >= FOLLOWS)
        if alarms[0]:
            moved[together + 1] |= differences[where[0], together + 1] < 0
            where[together + 1] = np.where(alarms[together + 1], where[together + 1], where[0])
        moved[0] = False
        return self._restarted(np.flatnonzero(moved), where)

    def _most_relevant(self) -> IntArray:
        means = self._points.means[1:]
        return np.argsort(-means, kind="stable")[: self.k]

    def _restarted(self, signals: IntArray, where: IntArray) -> Changes:
        """Forget the scores of some features before their change points, and return the changes."""
        points = where[signals]
        _, _, first, second = self._points.sides()
        changes = Changes(signals - 1, first[points, signals], second[points, signals])
        self._points.restart(signals, points)
        self._points.clear(0)  # other features will be the most relevant ones
        return changes

    def _consistent(self) -> Iterator[str]:
        if self._points.n_signals < 1:
            yield "the signal of the selection is missing"
