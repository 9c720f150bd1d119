"""Pairs of columns that are informative together: every column is tested alone and with partners in pools."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
from scipy.special import chdtri, ndtri

from streamsieve._kernels.interaction_scan import LEVELS
from streamsieve.columns.deferred import DeferredColumns, outcome_of
from streamsieve.columns.redundancy.partner_pools import ROWS_PER_FREEDOM, Coded, Pairs, PartnerPools
from streamsieve.decisions import CONSTANT, IRRELEVANT, KEPT, UNRELIABLE, Outcome
from streamsieve.dependence.blocks import DENSE_VALUES, dense_columns
from streamsieve.independence.p_values import OF_TABLES
from streamsieve.independence.table_p_values import (
    confirmed,
    draws_for,
    moments,
    p_value,
    p_value_or_fisher,
    tables_of,
)
from streamsieve.protocols import ColumnBlock, FloatArray, IntArray
from streamsieve.state import Choice, Float, Int, Nested, Part, register

#: Sum of 1 / (k ln^2 k) over k = 2, 3, ...
SUM_OF_WEIGHTS = 2.109742801236892
#: Outcomes for a column: rejected, a possible partner that is irrelevant alone, or kept.
OUT, POOLED, CHOSEN = range(3)


#: Minimum expected count of a cell by Cochran's rule.
EXPECTED = 5


def bins_for(n: int, classes: int) -> int:
    """Return the largest number of bins, from 2 to 4, with enough rows per cell of two columns and y.

    Quartiles are enough to detect a symmetric effect (center against both ends); more bins would only make
    the table sparser.
    """
    enough = (bins for bins in (4, 3) if n >= EXPECTED * bins**2 * classes)
    return next(enough, 2)


def levels_of(t: IntArray, alpha: float) -> FloatArray:
    """Return the significance level for all tests of the t-th column; the levels sum to alpha."""
    ahead = np.maximum(t, 1) + 1.0
    levels: FloatArray = alpha / (SUM_OF_WEIGHTS * ahead * np.log(ahead) ** 2)
    return levels


@register
class Interactions(Part):
    """Columns that are informative alone or in pairs; the process of ``InteractionScan``."""

    fields = {
        "pools": Nested(PartnerPools, shares=("rows",)),
        "deferred": Nested(DeferredColumns),
        "alpha": Float(0, 1, open_low=True, open_high=True),
        "bins": Int(2, LEVELS),
        "p_value": Choice(*OF_TABLES),
    }
    because: ClassVar[str] = "later ones may change them"

    def __init__(self, pools: PartnerPools, alpha: float, bins: int, p_value: str) -> None:
        self.pools, self.alpha, self.bins, self.p_value = pools, alpha, bins, p_value
        self.deferred = DeferredColumns()

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.pools.n

    @property
    def features(self) -> IntArray:
        """Arrival numbers of the columns kept, in order."""
        return np.sort(np.array(self.pools.kept, np.int64))

    @property
    def named(self) -> IntArray:
        """Arrival numbers of the columns kept, and of the deferred ones."""
        return np.concatenate([self.features, self.deferred.named])

    def offer(self, block: ColumnBlock, start: int) -> Outcome:
        """Test every column of a block alone and in pairs, and return the decisions that are final."""
        self.deferred.resume(start)
        size = max(1, DENSE_VALUES // self.n)
        for low in range(0, block.X.shape[1], size):
            values = dense_columns(block.X, slice(low, low + size))
            features = start + low + np.arange(len(values))
            self._take(self.pools.encode(values, self.bins, features))
        return self._release(start + block.X.shape[1])

    def offer_one(self, x: FloatArray) -> None:
        """Return None: single columns need `offer`."""

    def outlook(self) -> Outcome:
        """Return the deferred decisions as if no more columns arrived; changes nothing."""
        decided = self.deferred.copy()
        return outcome_of(decided, decided.p_value)

    def finish(self, coming: int) -> Outcome:
        """Make all decisions final."""
        self.deferred.resume(coming)
        self.pools.clear()
        return self._release(coming)

    def _release(self, coming: int) -> Outcome:
        """Make decisions final up to the first column in the pool of marginally irrelevant ones."""
        pooled = self.pools.pooled
        self.deferred.settled = int(pooled[0]) if len(pooled) else coming
        decided = self.deferred.release()
        return outcome_of(decided, decided.p_value)

    def _take(self, coded: Coded) -> None:
        """Test columns alone, then in pairs, one after the other."""
        pools = self.pools
        statistic, freedom = pools.alone(coded)
        reason = np.full(len(statistic), IRRELEVANT, np.uint8)
        reason[self.n < ROWS_PER_FREEDOM * freedom] = UNRELIABLE
        reason[coded.levels < 2] = CONSTANT
        counted = reason == IRRELEVANT
        level = levels_of(pools.tests + np.cumsum(counted), self.alpha) / 2
        pools.tests += int(counted.sum())
        p = self._alone(coded, statistic, freedom, np.where(counted, level, 0.0))
        reason[counted & (p <= level)] = KEPT
        way = np.where(reason == KEPT, CHOSEN, np.where(counted, POOLED, OUT)).astype(np.uint8)
        self.deferred.append(reason, statistic, p)
        pools.kept += coded.feature[way == CHOSEN].tolist()
        bound, at = self._bound(level), 0
        while at < len(way):
            pairs = pools.scan(coded, way, bound, at, moments=self.by_moments)
            at = pairs.at
            if at < len(way):
                found = self._found(coded, at, pairs, float(level[at]), chosen=way[at] == CHOSEN)
                pools.join(coded, at, chosen=found)
                at += 1

    @property
    def by_moments(self) -> bool:
        """Whether p-values are those of permutation moments."""
        return self.p_value == "moments"

    def _alone(self, coded: Coded, statistic: FloatArray, freedom: IntArray, level: FloatArray) -> FloatArray:
        """Return the p-values of columns and target; those of sparse tables are confirmed at their level."""
        if not self.by_moments:
            return p_value(np.where(freedom > 0, statistic, 1.0), freedom.astype(np.float64))
        counts, classes = coded.counts, self.pools.class_counts
        value, mean, variance, _ = moments(counts)
        scale = np.divide(2.0 * mean, variance, out=np.zeros(len(mean)), where=variance > 0)
        p = p_value(np.where(variance > 0, value * scale, 1.0), mean * scale)
        two = np.flatnonzero((coded.levels == 2) & (len(classes) == 2))
        if len(two):
            fewest, corner = counts[two, 0].sum(axis=1), counts[two, 0, 1]
            p[two] = p_value_or_fisher(self.n, int(classes[1]), corner.astype(float), -fewest.astype(float))
        for j in np.flatnonzero((p <= level) & (level > 0) & (freedom > 1)).tolist():
            draws = draws_for(float(level[j]))
            p[j] = confirmed(float(p[j]), [counts[j, : coded.levels[j]]], draws, tail=True)
        return p

    def _bound(self, level: FloatArray) -> FloatArray:
        """Return a lower bound on the statistic of a pair that is significant at a level.

        The likelihood ratio has the smallest bound with one degree of freedom.  By moments it is the smallest
        value that the transformation of Wilson and Hilferty takes a significant statistic to: that of half a
        degree of freedom, the fewest for which it is accurate, or in the limit of many the normal quantile.
        """
        bound: FloatArray = chdtri(1.0, level)
        if self.by_moments:
            h = 2 / (9 * 0.5)
            few = (np.cbrt(chdtri(0.5, level) / 0.5) - 1 + h) / np.sqrt(h)
            bound = np.minimum(few, -ndtri(level)) - 0.05
        return bound

    def _found(self, coded: Coded, at: int, pairs: Pairs, level: float, *, chosen: bool) -> bool:
        """Keep the partners of a column, and return whether it is kept itself."""
        pools, feature = self.pools, int(coded.feature[at])
        p, level = p_value(pairs.tested, pairs.freedom), level / max(len(pairs.slots), 1)
        if self.by_moments:
            for i in np.flatnonzero(p <= level).tolist():
                x, given = pools.given(int(pairs.slots[i]), coded, at)
                p[i] = confirmed(float(p[i]), tables_of(x, pools.y, given), draws_for(level), tail=True)
        found = np.flatnonzero(p <= level)
        if not len(found):
            return chosen
        partners = pools.features(pairs.slots).tolist()
        # of equal p-values, which may all be 0, the larger statistic
        best = min(found.tolist(), key=lambda i: (p[i], -pairs.statistic[i]))
        if not chosen:
            self.deferred.change(feature, KEPT, pairs.statistic[best], partners[best], p[best])
            pools.kept.append(feature)
        for i in found.tolist():
            pools.pairs.append((partners[i], feature))
            if pools.promote(int(pairs.slots[i])):
                self.deferred.change(partners[i], KEPT, pairs.statistic[i], feature, p[i])
                pools.kept.append(partners[i])
        return True

    def _consistent(self) -> Iterator[str]:
        pooled, deferred = self.pools.pooled, self.deferred
        if np.any((pooled < deferred.start) | (pooled >= deferred.end)) or deferred.evictions:
            yield "a column in the pool has a final decision"
