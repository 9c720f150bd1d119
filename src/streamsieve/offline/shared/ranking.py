"""The best of some scores, with ties resolved in favor of the first column."""

from __future__ import annotations

import numpy as np

from streamsieve.protocols import FloatArray, IntArray

#: Numbers that differ by less than this fraction of their size are equal up to rounding.
TIE = 1e-10


def best_first(scores: FloatArray, k: int) -> IntArray:
    """Return the columns of the k largest scores, in that order.

    Of scores that are equal but for rounding, the first column comes first.
    """
    order = np.argsort(-scores, kind="stable")
    falling = scores[order]
    drop = falling[:-1] - falling[1:] > TIE * np.maximum(np.abs(falling[:-1]), np.abs(falling[1:]))
    group = np.concatenate([[0], np.cumsum(drop)])[: len(order)]
    return order[np.lexsort((order, group))][:k]


def first_best(values: FloatArray, scale: float) -> int:
    """Return the place of the largest value; of those equal to it but for rounding, the first.

    ``scale`` is the size of the numbers that the values are sums or differences of.
    """
    return int(np.argmax(values >= float(values.max()) - TIE * scale))
