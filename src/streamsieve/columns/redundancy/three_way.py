"""Three-way decisions: reject a column, keep it, or let it wait for a partner (OSSFS-DD).

A column is routed by comparing its dependence on the target with those of all columns so far.  A candidate
competes with every member.  Waiting columns become members in pairs, when the pool is full or the run ends.
While there are too few members, a top-k buffer of the best columns by mRMR is maintained as a substitute.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from streamsieve._kernels import ossfs_dd as kernel
from streamsieve.columns.deferred import DeferredColumns, correlation_p_values, eviction_of, outcome_of
from streamsieve.columns.redundancy.contract import Candidates
from streamsieve.columns.redundancy.top_k.correlation import TopKCorrelation
from streamsieve.columns.redundancy.waiting import Column, ThreeWayColumns
from streamsieve.decisions import CONSTANT, IRRELEVANT, KEPT, REASON_CODE, REDUNDANT, Outcome
from streamsieve.dependence.blocks import TIE, unit_columns
from streamsieve.dependence.contract import Relevance
from streamsieve.independence import FisherZ
from streamsieve.lazy_p_values import ReplacedPValues
from streamsieve.protocols import ColumnBlock, FloatArray, IntArray, Matrix
from streamsieve.state import Array, Bool, Float, Int, Nested, Part, register

#: Columns that the authors' code keeps without examining them.
UNSEEN = 2
DISCARD, WAIT, CHALLENGE, ADMIT = range(4)


class ThreeWayConfig(NamedTuple):
    """Parameters of ``OSSFSDD``."""

    lower: float
    upper: float
    #: Largest number of waiting columns.
    pool: int
    #: Number of members below which none is evicted any more.
    floor: int
    #: Whether to follow the authors' code instead of their text.
    as_coded: bool


#: The configuration as fields of a state.
CONFIG_FIELDS = {
    "lower": Float(0), "upper": Float(), "pool": Int(1), "floor": Int(0), "as_coded": Bool(),
}  # fmt: skip


@register
class ThreeWay(Part):
    """Columns routed by their dependence on the target; the process of ``OSSFSDD``."""

    fields = {
        **CONFIG_FIELDS,
        "test": Nested(FisherZ, shares=("rows", "contrasts")),
        "columns": Nested(ThreeWayColumns, shares=("rows", "contrasts")),
        "deferred": Nested(DeferredColumns),
        "moments": Array("f8", 3, low=0, finite=True),
        "threshold": Float(),
        "enough": Bool(),
        "buffer": Nested(TopKCorrelation, shares=("rows",), optional=True),
        "buffer_deferred": Nested(DeferredColumns, optional=True),
    }
    because: ClassVar[str] = "later ones may change them"

    def __init__(self, test: FisherZ, config: ThreeWayConfig) -> None:
        self.n, self.test, self.config = test.n, test, config
        self.columns = ThreeWayColumns(test.n, test.n_contrasts)
        self.deferred = DeferredColumns()
        #: Number, mean and centered sum of squares of all dependences so far.
        self.moments = np.zeros(3)
        #: Dependence from which on a column is a candidate, as of the last column.
        self.threshold = 0.0
        #: Whether the number of members has reached ``floor``.
        self.enough = config.floor == 0
        #: The best columns so far, and the decisions on all columns if these were selected; None once there
        #: are enough members.
        self.buffer = None if self.enough else TopKCorrelation(test.n, config.floor, 1.0)
        self.buffer_deferred = None if self.enough else DeferredColumns()

    def offer(self, block: ColumnBlock, start: int) -> Outcome:
        """Route every column of a block, and return the decisions that are final."""
        config, deferred = self.config, self.deferred
        deferred.resume(start)
        measured = self.test.measure(block.X)
        r, counted = measured.statistic, measured.columns[1] > 0
        score = np.abs(r)
        unseen = UNSEEN - int(self.moments[0]) if config.as_coded else 0
        lower, upper = kernel.thresholds(score, counted, self.moments, config.lower, config.upper)
        self.threshold = float(upper[-1]) if len(upper) else self.threshold
        way = np.where(score >= upper - TIE, CHALLENGE, WAIT)
        way[score <= lower + TIE] = DISCARD
        way[np.flatnonzero(counted)[: max(unseen, 0)]] = ADMIT
        way[~counted] = DISCARD
        reason = np.where(way >= CHALLENGE, KEPT, IRRELEVANT).astype(np.uint8)
        reason[~counted] = CONSTANT
        p_value = np.full(len(r), np.nan)
        if isinstance(measured.p_value, ReplacedPValues):
            measured.p_value.write_to(p_value)
        deferred.append(reason, r, p_value)
        self._fill_buffer(block.X, start, measured)
        self._route(block.X, start, measured, way, upper)
        self._settle(start + block.X.shape[1])
        if self.enough:
            self.buffer = self.buffer_deferred = None
        return self._settled(deferred.release())

    def offer_one(self, x: FloatArray) -> None:
        """Return None: single columns need `offer`."""

    def _settle(self, coming: int) -> None:
        """Make decisions final, before column ``coming`` is examined, up to the first waiting column."""
        if self.enough:
            first = self.columns.features(self.columns.waiting[:1]).tolist()
            self.deferred.settled = first[0] if first else coming

    def _route(self, X: Matrix, start: int, measured: Relevance, way: IntArray, upper: FloatArray) -> None:
        """Route each surviving column: accept it, or place it in the waiting pool."""
        columns, most = self.columns, self.config.pool
        for some, Z in unit_columns(X, np.flatnonzero(way != DISCARD), *measured.columns):
            products = Z @ self.test.basis
            for i, j in enumerate(some.tolist()):
                self._settle(start + j)
                r = float(measured.statistic[j])
                column = Column(start + j, Z[i], products[i], abs(r), r)
                if way[j] == CHALLENGE:
                    self._challenge(column, float(upper[j]))
                elif way[j] == ADMIT:
                    columns.members.append(columns.put(column))
                else:
                    columns.waiting.append(columns.put(column))
                    if len(columns.waiting) >= most:
                        self._flush(float(upper[j]))
                self.enough |= len(columns.members) >= self.config.floor

    def _challenge(self, column: Column, upper: float) -> None:
        """Compare a candidate with every member; of two redundant columns the weaker one is removed."""
        columns, config = self.columns, self.config
        slot, members = columns.put(column), np.array(columns.members, np.int64)
        pair, given, share = kernel.given(*columns.slots.of("columns", "products"), members, slot)
        pair, score = np.abs(pair), columns.slots["score"][members]
        copies = pair >= 1.0 - TIE
        redundant = score + given < 2.0 * upper - TIE
        if config.as_coded:  # where the test accepts independence, the code does not look for redundancy
            redundant &= share <= self.test.share_left(1)
        lost = copies | (redundant & (score >= column.score - TIE))
        weaker = np.flatnonzero(redundant & ~lost)
        feature = columns.slots["feature"][members]
        if lost.any():
            first = int(np.argmax(lost))
            self.deferred.change(column.feature, REDUNDANT, float(pair[first]), int(feature[first]))
            columns.drop(slot)
            # in the paper the earlier members have been removed by then; in the authors' code they stay
            weaker = weaker[:0] if config.as_coded else weaker[weaker < first]
        else:
            columns.members.append(slot)
        if self.enough:
            weaker = weaker[: max(len(members) - config.floor, 0)]
        for i in weaker.tolist():
            self._evict(int(feature[i]), float(pair[i]), column.feature)
            columns.members.remove(int(members[i]))
            columns.drop(int(members[i]))

    def _evict(self, feature: int, statistic: float, by: int) -> None:
        """Remove a member: by changing its decision if that is deferred, by an eviction if it was final."""
        if feature >= self.deferred.settled:
            self.deferred.change(feature, REDUNDANT, statistic, by)
        else:
            self.deferred.evictions.append(eviction_of(by, feature, statistic, by))

    def _flush(self, upper: float) -> None:
        """Empty the waiting pool: columns that have a partner become members, the others are dropped."""
        columns = self.columns
        pairs = columns.pairs(upper)
        for slot, partner in pairs.items():
            feature, by = columns.features([slot, partner]).tolist()
            self.deferred.change(feature, KEPT, float(columns.slots["statistic"][slot]), by)
        columns.drop(*(slot for slot in columns.waiting if slot not in pairs))
        columns.members = sorted([*columns.members, *pairs], key=columns.slots["feature"].__getitem__)
        columns.waiting = []

    def _fill_buffer(self, X: Matrix, start: int, measured: Relevance) -> None:
        """Offer a block to the buffer of the best columns, as long as it may be needed."""
        if self.buffer is None or self.buffer_deferred is None:
            return
        deferred, r = self.buffer_deferred, measured.statistic
        p_value = np.asarray(measured.p_value)
        reason = measured.reason.copy()
        chosen = np.flatnonzero(reason == KEPT)
        found = Relevance(reason, r, p_value, measured.columns)
        new = Candidates(X, chosen, chosen + start, found.at(chosen))
        outcome = self.buffer.settle(new)
        deferred.append(reason, r, p_value)
        evicted = iter(outcome.evictions)
        gone = next(evicted, None)
        for i, (feature, why) in enumerate(zip(new.feature.tolist(), outcome.reason.tolist(), strict=True)):
            if why != KEPT:
                j = chosen[i]
                deferred.change(feature, why, r[j], outcome.by.get(feature, (-1,))[0], p_value[j])
            if gone is not None and gone.step == feature:
                deferred.change(gone.feature, REASON_CODE[gone.reason], gone.statistic, feature, gone.p_value)
                gone = next(evicted, None)

    def finish(self, coming: int) -> Outcome:
        """Make all decisions final; without enough members, the best columns replace them."""
        self.deferred.resume(coming)
        decided, columns = self.deferred, self.columns
        self._flush(self.threshold)
        if not self.enough and len(columns.members) < self.config.floor and self.buffer is not None:
            decided = self.buffer_deferred or decided
            columns.drop(*columns.members)
            columns.members = [columns.put(column) for column in self._buffered(self.buffer)]
        self.enough = True
        self.buffer = self.buffer_deferred = None
        self.deferred = DeferredColumns(decided.end)
        return self._settled(decided)

    def _buffered(self, buffer: TopKCorrelation) -> list[Column]:
        """Return the columns of a buffer, in order of arrival."""
        record = buffer.state()
        columns, kept, feature = record["columns"], record["kept"], record["feature"]
        return [
            Column(int(feature[i]), columns[i], columns[i] @ self.test.basis, kept[0, i], kept[1, i])
            for i in np.argsort(feature)
        ]

    @property
    def thresholds(self) -> tuple[float, float]:
        """Dependences up to which a column is discarded, and from which on it is a candidate."""
        count, mean, squares = self.moments.tolist()
        spread = (squares / max(count, 1.0)) ** 0.5
        return mean + self.config.lower * spread, mean + self.config.upper * spread

    def _outlook(self) -> tuple[dict[int, int], bool]:
        """Return the pairs of waiting columns, and whether there are enough members with them."""
        columns = self.columns
        pairs = columns.pairs(self.threshold) if columns.waiting else {}
        return pairs, self.enough or len(columns.members) + len(pairs) >= self.config.floor

    @property
    def features(self) -> IntArray:
        """Arrival numbers of the columns selected, as if no more columns arrived."""
        pairs, enough = self._outlook()
        if not enough and self.buffer is not None:
            return self.buffer.features
        return np.sort(self.columns.features([*self.columns.members, *pairs]))

    @property
    def named(self) -> IntArray:
        """Arrival numbers of the members, and of the columns with deferred decisions."""
        return np.concatenate([self.columns.features(self.columns.members), self.deferred.named])

    def outlook(self) -> Outcome:
        """Return the deferred decisions as if no more columns arrived; changes nothing."""
        pairs, enough = self._outlook()
        if not enough and self.buffer_deferred is not None:
            return self._settled(self.buffer_deferred.copy())
        deferred = self.deferred.copy()
        for slot, partner in pairs.items():
            feature, by = self.columns.features([slot, partner]).tolist()
            deferred.reason[feature - deferred.start], deferred.by[feature - deferred.start] = KEPT, by
        return self._settled(deferred)

    def _settled(self, decided: DeferredColumns) -> Outcome:
        return outcome_of(decided, correlation_p_values(decided, self.test), self.test)

    def _record(self) -> Mapping[str, Any]:
        own = {name: getattr(self, name) for name in self.fields if name not in CONFIG_FIELDS}
        return {**own, **self.config._asdict()}

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        config = ThreeWayConfig(**{name: record.pop(name) for name in CONFIG_FIELDS})
        made = cls.__new__(cls)
        made.__dict__.update(record, config=config, n=record["test"].n)
        return made

    def _consistent(self) -> Iterator[str]:
        deferred, columns, buffer, replacing = self.deferred, self.columns, self.buffer, self.buffer_deferred
        members, waiting = columns.features(columns.members), columns.features(columns.waiting)
        if (buffer is None) != self.enough or (replacing is None) != self.enough:
            yield "there are enough members and columns to replace them, or too few of them and none"
        elif np.any((waiting < deferred.start) | (waiting >= deferred.end)) or np.any(
            members >= deferred.end
        ):
            yield "a column waits whose decision is final, or is a member that was never offered"
        elif buffer is None or replacing is None:
            return
        elif (buffer.k, buffer.weight) != (self.config.floor, 1.0):
            yield "the columns to replace members are not those of the parameters"
        elif (
            (deferred.start, replacing.start, replacing.end) != (0, 0, deferred.end)
            or replacing.evictions
            or np.any(buffer.features >= deferred.end)
        ):
            yield "the decisions on members and on the columns to replace them are about different columns"
