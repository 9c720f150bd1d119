"""Arrival numbers of columns in a stream, from those in a selector that was restarted at a review."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from streamsieve.decisions import KEPT, REASONS, Eviction, Outcome
from streamsieve.lazy_p_values import PValues
from streamsieve.protocols import FloatArray, IntArray
from streamsieve.state import Array, Int, Part, register


@register
class Numbering(Part):
    """The inner selector was offered the columns ``first`` at the last review, then those from ``step``."""

    fields = {"first": Array("i8", "first", low=0, order="rising"), "step": Int(0, 2**31 - 1)}

    def __init__(self, first: IntArray, step: int) -> None:
        self.first, self.step = first, step

    def outer(self, numbers: IntArray | Sequence[int]) -> IntArray:
        """Return arrival numbers in the stream."""
        inner, first = np.asarray(numbers, np.int64), self.first
        after = self.step + inner - len(first)
        if len(first) == 0:
            return after
        return np.where(inner < len(first), first[np.minimum(inner, len(first) - 1)], after)

    def at(self, start: int, offered: int) -> Numbering:
        """Return the numbering after ``offered`` columns if the next one has number ``start``.

        It is another one if columns came after a stop, which the inner selector never saw.
        """
        if self.step + offered - len(self.first) == start:
            return self
        return Numbering(self.outer(np.arange(offered)), start)

    def outcome(
        self, inner: Outcome, start: int, p_value: PValues | FloatArray | None, before: list[Eviction]
    ) -> Outcome:
        """Return what the inner selector decided on a block, after some evictions."""
        by = {
            int(self.outer([index])[0]): tuple(self.outer(causes).tolist())
            for index, causes in inner.by.items()
        }
        evictions = [*before, *map(self._eviction, inner.evictions)]
        return Outcome(inner.reason, inner.statistic, p_value, by, evictions, start, inner.found)

    def _eviction(self, eviction: Eviction) -> Eviction:
        step, feature, *by = self.outer([eviction.step, eviction.feature, *eviction.by]).tolist()
        return eviction._replace(step=step, feature=feature, by=tuple(by))

    def lost(self, review: Outcome) -> list[Eviction]:
        """Return which of the columns offered at the review were not kept, in order."""
        features, p_values = self.first, review.p_values()
        lost: list[tuple[int, int, Eviction]] = []
        for e in review.evictions:
            by = tuple(features[list(e.by)].tolist())
            left = Eviction(self.step, int(features[e.feature]), e.reason, e.statistic, e.p_value, by)
            lost.append((e.step, 0, left))
        for i in np.flatnonzero(review.reason != KEPT).tolist():
            by = tuple(features[list(review.by.get(i, ()))].tolist())
            reason, statistic = REASONS[review.reason[i]], float(review.statistic[i])
            left = Eviction(self.step, int(features[i]), reason, statistic, float(p_values[i]), by)
            lost.append((i, 1, left))
        return [left for *_, left in sorted(lost, key=lambda each: each[:2])]

    def _consistent(self) -> Iterator[str]:
        if np.any(self.first >= self.step):
            yield "a column was reviewed before it was offered"
