"""Contingency tables of features: what criteria over bins read from a summary."""

from __future__ import annotations

from typing import NamedTuple

from streamsieve.protocols import FloatArray

#: Values in the tables of one block: they stay in cache while a formula goes over them.
BLOCK_VALUES = 2**18


class TableBlock(NamedTuple):
    """Contingency tables of some features."""

    #: Mass of (feature, class, bin), up to a common factor; missing values are in no bin.
    counts: FloatArray
    #: Effective number of rows per feature: (sum w)^2 / sum w^2 under fading.
    n: FloatArray
    #: Whether the bins are in the order of the values, so that a threshold between two has a meaning.
    ordered: bool


def table_block(counts: FloatArray, mass: FloatArray, squares: FloatArray, *, ordered: bool) -> TableBlock:
    """Make a block; rows count by their information, pooled over classes of such masses and squares.

    Per class, a class that has faded away would keep its effective rows indefinitely.
    """
    information = float(mass.sum() / squares.sum()) if squares.any() else 1.0
    return TableBlock(counts, counts.sum(axis=(1, 2)) * information, ordered)


def features_at_once(n_classes: int, n_bins: int) -> int:
    """Return how many features make a block."""
    return max(16, BLOCK_VALUES // max(1, n_classes * n_bins))
