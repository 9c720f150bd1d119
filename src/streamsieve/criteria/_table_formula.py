"""Criteria over contingency tables of classes and bins, and the test of independence they share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.special import chdtrc

from streamsieve._parameters import check_choice, check_number
from streamsieve.criteria._formula import Formula
from streamsieve.protocols import CLASSIFICATION, BoolArray, FloatArray, Task
from streamsieve.summaries import Contingency, Quantiles
from streamsieve.summaries._tables import TableBlock

#: The smallest normal number: it stands for 0 where one divides or takes a logarithm.
TINY = float(np.finfo(np.float64).tiny)
#: A share this small is rounding of sums, or faded to as little: nothing is there.
DUST = 1e-12
#: Values in the tables a formula takes at once: with a few arrays of as many, they stay in cache.
PIECE = 2**15
#: A level counts if it holds half a row (less the rounding of a weight of exactly one half) ...
HALF_A_ROW = 0.5 - 1e-9
#: ... of so many rows at least: where weights are small numbers, n says little about what is rare.
AT_LEAST_ROWS = 1e4


@dataclass(frozen=True)
class TableFormula(Formula):
    """A criterion written as a formula over tables of mass by class and bin."""

    tasks: ClassVar[frozenset[Task]] = CLASSIFICATION
    summary_type: ClassVar[type[Any]] = Quantiles

    bins: int = 5
    discrete: bool = False

    def check_parameters(self) -> None:
        """Refuse parameters out of their range."""
        check_number("bins", self.bins, low=2, integer=True)
        check_choice("discrete", self.discrete, (True, False))

    def new_summary(self, *, half_life: float | None = None, epsilon: float = 1e-3) -> Any:
        """Make the empty summary this formula reads: quantiles, or counts of values that are levels."""
        self.check_parameters()
        return Contingency(half_life) if self.discrete else Quantiles(epsilon, half_life)

    def serves(self, summary: Any) -> bool:
        """Whether this formula can read a summary."""
        return isinstance(summary, Contingency if self.discrete else Quantiles)

    def blocks(self, summary: Any) -> Iterator[TableBlock]:
        """Yield the tables of all features, some at a time."""
        self.check_parameters()
        for block in summary.tables(self.bins):
            step = max(1, PIECE // max(1, block.counts[:1].size))
            for low in range(0, len(block.n), step):
                part = slice(low, low + step)
                yield TableBlock(block.counts[part], block.n[part], block.ordered)

    def p_value(self, block: TableBlock) -> FloatArray:
        """That of the likelihood-ratio test of independence, G^2 = 2 n I."""
        s = shares(block)
        return chi2_p_value(2 * s.n * information(s), s.freedom)


class Shares(NamedTuple):
    """Tables of some features as shares of their mass.  The features are the last axis of every array."""

    #: Share of every (class, bin, feature).
    cells: FloatArray
    #: The same of (class, feature) and of (bin, feature).
    classes: FloatArray
    bins: FloatArray
    #: Rows, by their information.
    n: FloatArray
    #: Whether a class and a bin count for degrees of freedom.
    classes_count: BoolArray
    bins_count: BoolArray

    @property
    def freedom(self) -> FloatArray:
        """Degrees of freedom of a table: (classes - 1) (bins - 1), over those that count."""
        classes, bins = self.classes_count.sum(axis=0), self.bins_count.sum(axis=0)
        freedom: FloatArray = np.maximum(classes - 1.0, 0.0) * np.maximum(bins - 1.0, 0.0)
        return freedom

    @property
    def two_classes(self) -> BoolArray:
        """Whether there is anything to tell apart."""
        return np.asarray((self.classes > DUST).sum(axis=0) > 1)

    @property
    def two_bins(self) -> BoolArray:
        """Whether a feature is not constant."""
        return np.asarray((self.bins > DUST).sum(axis=0) > 1)


def shares(block: TableBlock) -> Shares:
    """Divide every table by its mass.

    A level counts for degrees of freedom if it holds half a row.  What has faded below that leaves no trace
    in a table; its level would otherwise cost power for ever.
    """
    # Features last: a sum over a handful of bins then runs along long rows.
    cells = np.ascontiguousarray(block.counts.transpose(1, 2, 0))
    mass = np.maximum(cells.sum(axis=0).sum(axis=0), TINY)
    cells = cells / mass
    classes, bins = cells.sum(axis=1), cells.sum(axis=0)
    scale = np.maximum(block.n, AT_LEAST_ROWS)
    return Shares(cells, classes, bins, block.n, classes * scale >= HALF_A_ROW, bins * scale >= HALF_A_ROW)


def lift(s: Shares) -> tuple[FloatArray, FloatArray]:
    """Return the share each cell would have under independence, and how many times that it has."""
    expected = np.maximum(s.classes[:, None] * s.bins, TINY)
    return expected, s.cells / expected


def information(s: Shares) -> FloatArray:
    """Mutual information of feature and class in nats; exactly 0 where one of them is constant."""
    # sum e (l ln l - l + 1) = sum p ln l, as e and p = e l both sum to 1.  No term of the left side is below
    # 0, so nothing cancels where feature and class are nearly independent.
    expected, lifted = lift(s)
    terms = np.log(np.maximum(lifted, TINY))
    terms *= lifted
    terms -= lifted - 1
    terms *= expected
    total = np.maximum(terms.sum(axis=0).sum(axis=0), 0.0)
    return np.where(s.two_classes & s.two_bins, total, 0.0)


def entropy(share: FloatArray) -> FloatArray:
    """Entropy over the first axis, in nats."""
    nats: FloatArray = -(share * np.log(np.maximum(share, TINY))).sum(axis=0)
    return np.maximum(nats, 0.0)


def chi2_p_value(statistic: FloatArray, freedom: FloatArray) -> FloatArray:
    """Probability of such a statistic under independence; 1 where there is nothing to test."""
    p = np.ones(len(statistic))
    testable = (freedom > 0) & (statistic > 0)
    p[testable] = chdtrc(freedom[testable], statistic[testable])
    return p
