"""What selectors share whose columns arrive in groups: whole groups, labels, groups that are still open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np

from streamsieve._parameters import check_number
from streamsieve.base import ColumnSelector
from streamsieve.columns._groups import GroupedColumns, Lines
from streamsieve.columns._groups_ledger import GroupLedger
from streamsieve.decisions import REASON_CODE, Decisions, Eviction, PValues, Settled
from streamsieve.exceptions import SchemaError
from streamsieve.independence import fisher_z
from streamsieve.protocols import ColumnBlock, Decision, FloatArray, IntArray, Reason
from streamsieve.state import untouched_on_error

REDUNDANT = REASON_CODE[Reason.REDUNDANT]

Label = str | int


@dataclass(frozen=True, slots=True)
class GroupBlock(ColumnBlock):
    """Some columns of a stream, and after how many of them a group ends."""

    ends: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))


class GroupSelector(ColumnSelector):
    """Choose from columns that arrive in groups; a group is decided when it is complete.

    A subclass has the parameter ``group_size`` and calls :meth:`_begin_groups` in ``_begin`` with its store;
    ``_restored`` makes sure that the store is of its kind.
    """

    _caches: ClassVar[frozenset[str]] = frozenset({"_known_"})
    group_size: int | None
    _groups_: GroupedColumns[Any]
    #: Labels of the groups, in order; none where groups came without.
    _labels_: list[Label]
    _known_: set[Label]

    # ---------------------------------------------------------------- offering

    def offer_group(
        self, X: Any, names: Sequence[str] | str | None = None, group: Label | None = None
    ) -> Sequence[Decision]:
        """Offer a whole group of columns; it is decided at once.

        A group that ``group_size`` left open ends here.

        Parameters
        ----------
        X : a block of columns (or one column) over the rows given to ``begin``
        names : their names, unlike any before; a dataframe brings its own; else x0, x1, ...
        group : text or a whole number that names the group, unlike any before; all groups have one, or none

        Returns
        -------
        sequence of Decision
            One for each column, in order, and one for each earlier feature evicted on the way.
        """
        self._check_begun("offering columns")

        def whole(block: ColumnBlock) -> GroupBlock:
            if block.names is not None:  # whatever may be refused is refused before the label is taken
                self.names_.check(block.names, self.n_features_in_)
            self._announce(None if group is None else [group])
            ends = [0] * (self._groups_.held > 0) + [block.X.shape[1]]  # an open group ends before this one
            return GroupBlock(block.X, block.names, ends=np.array(ends))

        known, offered = (self._labels_, self._known_), self.n_features_in_
        try:
            return self._offer_checked(X, [names] if isinstance(names, str) else names, whole)
        except BaseException:
            if self.n_features_in_ == offered:  # nothing of the group was taken, so its label is free
                self._labels_, self._known_ = known
            raise

    def fit(self, X: Any, y: Any = None, groups: Any = None) -> Self:
        """Offer the columns of X in order: ``begin(y)``, then group after group.

        Parameters
        ----------
        X : all columns (dense, sparse or dataframe)
        y : one label or number a row
        groups : the group of each column, as text or whole numbers, columns of a group side by side; None:
            groups of ``group_size``

        Returns
        -------
        self
        """
        if groups is None:
            return super().fit(X, y)
        label, ends = _runs(groups)
        done = 0
        with untouched_on_error(self):
            for block in self._fit_blocks(X, y):
                if not done:
                    self._announce(label)
                width = block.X.shape[1]
                inside = ends[(ends > done) & (ends <= done + width)] - done
                self._offer_block(GroupBlock(block.X, block.names, ends=inside))
                done += width
            if len(ends) == 0 or done != ends[-1]:
                raise SchemaError(f"groups names the group of {ends[-1:].sum()} columns, but X has {done}")
        return self

    def _announce(self, labels: Sequence[Label] | None) -> None:
        """Take the labels of the next groups, which must be new."""
        labels = None if labels is None else [_label(label) for label in labels]
        begun = self._groups_.closed > 0 or self._groups_.held > 0 or len(self._labels_) > 0
        if begun and (labels is None) != (not self._labels_):
            raise SchemaError(
                "some groups have a label and some have none; give offer_group a group= for all of them, or "
                "for none"
            )
        for label in labels or ():
            if label in self._known_:
                raise SchemaError(
                    f"the group {label!r} came twice, but it is closed: offer all its columns at once, or "
                    "name it anew"
                )
        # new lists, so that a refused call can go back to the old ones
        self._labels_ = [*self._labels_, *(labels or ())]
        self._known_ = self._known_ | set(labels or ())

    # ---------------------------------------------------------------- looking

    @property
    def groups_(self) -> dict[Label, IntArray]:
        """Arrival numbers of the columns kept, by group, as if the open group were complete."""
        feature, group = self._standing_groups()
        return {self._label_of(g): feature[group == g] for g in np.unique(group).tolist()}

    @property
    def n_groups_(self) -> int:
        """Number of groups of which something is kept."""
        return len(np.unique(self._standing_groups()[1]))

    @property
    def n_open_(self) -> int:
        """Number of columns in the group that is not complete yet."""
        self._standing_groups()
        return self._groups_.held

    def _standing_groups(self) -> tuple[IntArray, IntArray]:
        if not hasattr(self, "ledger_"):
            raise AttributeError("groups are there after begin(y) or fit(X, y)")
        return self._groups_.selection()

    def _label_of(self, number: int) -> Label:
        return self._labels_[number] if self._labels_ else number

    # ---------------------------------------------------------------- deciding

    def _begin_groups(self, groups: GroupedColumns[Any]) -> None:
        """Begin with a store of no columns."""
        self._groups_ = groups
        self._labels_ = []
        self._known_ = set()
        self.ledger_: GroupLedger = GroupLedger(self.ledger)
        self.ledger_.outlook = self._outlook

    def _check_group_size(self) -> None:
        if self.group_size is not None:
            check_number("group_size", self.group_size, low=1, integer=True)

    def _selected(self) -> IntArray:
        return self._groups_.selection()[0]

    def _named(self) -> IntArray:
        return self._groups_.standing

    def _offer(self, block: ColumnBlock) -> Settled:
        if isinstance(block, GroupBlock):
            ends = block.ends
        else:
            self._announce(None)
            size = self.group_size or 1
            ends = np.arange(size - self._groups_.held % size, block.X.shape[1] + 1, size)
        return self._settled(self._groups_.take(block.X, ends, self.n_features_in_))

    def _cut(self, block: ColumnBlock, part: slice) -> ColumnBlock:
        if not isinstance(block, GroupBlock):
            return super()._cut(block, part)
        from_here = block.ends >= part.start if part.start == 0 else block.ends > part.start
        ends = block.ends[from_here & (block.ends <= part.stop)] - part.start
        return GroupBlock(block.X[:, part], ends=ends)

    def _finish(self) -> Settled:
        return self._settled(self._groups_.close(self.n_features_in_ - self._groups_.held))

    def _outlook(self) -> Decisions:
        lines = self._groups_.present(self.n_features_in_ - self._groups_.held)
        return self._decisions(self._settled(lines), range(0), None)

    def _settled(self, lines: Lines) -> Settled:
        redundant = np.flatnonzero(lines.reason == REDUNDANT)
        p_value, evictions = self._line_p_values(lines, redundant), self._evictions(lines)
        by = {lines.start + j: (int(lines.by[j]),) for j in redundant.tolist()}
        return Settled(lines.start, lines.reason, lines.statistic, p_value, by, evictions)

    def _line_p_values(self, lines: Lines, redundant: IntArray) -> PValues | FloatArray | None:
        """Return p-values, computed on access where all follow from the statistics in one way."""
        test = self._groups_.test
        if test is None:
            return None
        if test.n_contrasts == 1:
            return PValues(test.p_value, lines.statistic)
        # two columns have a correlation even where a column and many classes have a ratio
        p_value = test.p_value(lines.statistic)
        p_value[redundant] = self._pair_p_values(lines.statistic[redundant])
        return p_value

    def _evictions(self, lines: Lines) -> list[Eviction]:
        gone = lines.departures
        statistic, by = (np.array([getattr(d, name) for d in gone]) for name in ("pair", "by"))
        p_value, test = self._pair_p_values(statistic), self._groups_.test
        if test is not None and np.any(by < 0):
            p_value = np.where(by < 0, test.p_value(statistic), p_value)
        return [
            Eviction(d.step, d.feature, Reason.REDUNDANT, d.pair, p, (d.by,))
            if d.by >= 0
            else Eviction(d.step, d.feature, Reason.IRRELEVANT, d.pair, p, ())
            for d, p in zip(gone, p_value.tolist(), strict=True)
        ]

    def _pair_p_values(self, pair: FloatArray) -> FloatArray:
        """Return p-values of dependences between two columns."""
        return pair * np.nan if self._groups_.test is None else fisher_z.p_value(pair, self.n_rows_)

    def _restored(self) -> None:
        self._labels_ = [_label(label) for label in self._labels_]
        self._known_ = set(self._labels_)
        groups = self._groups_
        if not isinstance(self.ledger_, GroupLedger):
            raise TypeError("its ledger is not one of groups")
        if groups.held > self.n_features_in_ or np.any(groups.standing >= self.n_features_in_):
            raise ValueError("a kept column was never offered")
        if self._labels_ and len(self._labels_) < groups.closed + (groups.held > 0):
            raise ValueError("some groups have no label")
        self.ledger_.outlook = self._outlook
        super()._restored()


def _label(label: Any) -> Label:
    if isinstance(label, str):
        return str(label)
    if isinstance(label, (int, np.integer)) and not isinstance(label, bool):
        return int(label)
    raise SchemaError(f"a group is named by text or a whole number; got {label!r}")


def _runs(groups: Any) -> tuple[list[Label], IntArray]:
    """Return the label of each run of equal labels, and where it ends."""
    try:
        labels = [_label(label) for label in groups]
    except TypeError as error:
        raise SchemaError(f"groups must hold one label a column; got {groups!r}") from error
    ends = [j for j in range(1, len(labels) + 1) if j == len(labels) or labels[j] != labels[j - 1]]
    firsts = [labels[end - 1] for end in ends]
    seen: set[Label] = set()
    for label, end in zip(firsts, ends, strict=True):
        if label in seen:
            raise SchemaError(
                f"columns of the group {label!r} are not side by side: it comes again before column {end}; "
                "sort the columns by group"
            )
        seen.add(label)
    return firsts, np.array(ends, np.int64)
