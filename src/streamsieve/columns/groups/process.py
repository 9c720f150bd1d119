"""The process of selectors of grouped columns: group boundaries, labels, and decisions on complete groups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

import numpy as np

from streamsieve.base import ColumnSelector
from streamsieve.columns.deferred import DeferredColumns, outcome_of
from streamsieve.columns.groups.store import GroupStore
from streamsieve.decisions import Outcome
from streamsieve.exceptions import SchemaError
from streamsieve.protocols import ColumnBlock, Decision, FloatArray, IntArray
from streamsieve.state import Int, Json, Nested, Part, register, untouched_on_error

Label = str | int
Store = TypeVar("Store", bound=GroupStore[Any])


@dataclass(frozen=True, slots=True)
class GroupBlock(ColumnBlock):
    """A block of columns, and the positions at which groups end."""

    ends: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))

    def cut(self, part: slice) -> GroupBlock:
        """Return consecutive columns, without their names."""
        begun = self.ends >= part.start if part.start == 0 else self.ends > part.start
        ends = self.ends[begun & (self.ends <= part.stop)] - part.start
        return GroupBlock(self.X[:, part], ends=ends)


@register
class GroupProcess(Part, Generic[Store]):
    """A store of columns and the groups they come in; the process of a selector that defers decisions.

    Parameters
    ----------
    store : decides on complete groups
    group_size : number of consecutive columns in a group, for blocks without group boundaries; None for
        groups of one column
    """

    fields = {
        "store": Nested(GroupStore, derived=True, shares=("rows",)),
        "group_size": Int(1, optional=True),
        "labels": Json(),
    }
    because: ClassVar[str] = "their group is open"

    def __init__(self, store: Store, group_size: int | None) -> None:
        self.store, self.group_size = store, None if group_size is None else int(group_size)
        #: Labels of the groups, in order; empty if groups have none.
        self.labels: list[Label] = []

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.store.n

    @property
    def features(self) -> IntArray:
        """Arrival numbers of the columns kept, as if the open group were complete."""
        return self.store.selection()[0]

    @property
    def named(self) -> IntArray:
        """Arrival numbers of the columns kept, and of those of the open group that may still be kept."""
        features: IntArray = self.store.slots["feature"][self.store.members]
        return features

    @property
    def n_open(self) -> int:
        """Number of columns in the open group."""
        return len(self.store.deferred)

    def groups(self) -> dict[Label, IntArray]:
        """Return the columns kept by group, as if the open group were complete."""
        feature, group = self.store.selection()
        return {self.labels[g] if self.labels else g: feature[group == g] for g in np.unique(group).tolist()}

    def announce(self, labels: Sequence[Label] | None) -> None:
        """Register the labels of the next groups, which must be new; None if they have none."""
        labels = None if labels is None else [_label(label) for label in labels]
        begun = self.store.closed > 0 or self.n_open > 0 or len(self.labels) > 0
        if begun and (labels is None) != (not self.labels):
            raise SchemaError(
                "some groups have a label and some have none; give offer_group a group= for all of them, or "
                "for none"
            )
        known = set(self.labels) if labels else set()
        for label in labels or ():
            if label in known:
                raise SchemaError(
                    f"the group {label!r} is complete already: offer all its columns at once, or "
                    "give it another label"
                )
        # a new list, so that a failed call can restore the old one
        self.labels = [*self.labels, *(labels or ())]

    def offer(self, block: ColumnBlock, start: int) -> Outcome:
        """Decide on the groups that a block completes; its first column has arrival number ``start``."""
        if isinstance(block, GroupBlock):
            ends = block.ends
        else:
            self.announce(None)
            size = self.group_size or 1
            ends = np.arange(size - self.n_open % size, block.X.shape[1] + 1, size)
        return self._settled(self.store.take(block.X, ends, start))

    def offer_one(self, x: FloatArray) -> None:
        """Return None: single columns need `offer`."""

    def outlook(self) -> Outcome:
        """Return the decisions on the open group as if it were complete; changes nothing."""
        return self._settled(self.store.outlook())

    def finish(self, coming: int) -> Outcome:
        """Decide the open group as it is; ``coming`` is the arrival number of the next column."""
        return self._settled(self.store.close(coming))

    def _settled(self, decided: DeferredColumns) -> Outcome:
        return outcome_of(decided, self.store.p_values(decided), self.store.test)

    def problems(self, store: type[GroupStore[Any]], group_size: int | None, offered: int) -> Iterator[str]:
        """Yield the inconsistencies with a selector with this kind of store and ``offered`` columns."""
        if type(self.store) is not store or self.group_size != group_size:
            yield f"its groups are not those of its parameters, which need a {store.__name__}"
        yield from self.store.deferred.problems(offered)

    def _consistent(self) -> Iterator[str]:
        labels = self.labels
        if not isinstance(labels, list) or any(type(label) not in (str, int) for label in labels):
            yield "a label of a group is neither text nor a whole number"
        elif len({*labels}) < len(labels):
            yield "two groups have the same label"
        elif labels and len(labels) < self.store.closed + (self.n_open > 0):
            yield "some groups have no label"


if TYPE_CHECKING:
    MixinBase = ColumnSelector
else:
    MixinBase = object


class OffersGroups(MixinBase):
    """Mixin for a `ColumnSelector` with a `GroupProcess`: ``offer_group``, and attributes of groups."""

    _process_: GroupProcess[Any]

    def offer_group(
        self, X: Any, names: Sequence[str] | str | None = None, group: Label | None = None
    ) -> Sequence[Decision]:
        """Offer a whole group of columns, which is decided at once.

        An open group (see ``group_size``) is closed first.

        Parameters
        ----------
        X : array-like of shape (n_rows,) or (n_rows, n_columns)
            The columns of the group, over the rows given to ``begin``.
        names : sequence of str, default=None
            Names of the columns, different from all earlier ones.  If None, those of the dataframe, else x0,
            x1, ...
        group : str or int, default=None
            Label of the group, different from all earlier ones.  Either all groups have a label or none has.

        Returns
        -------
        sequence of Decision
            One for each column, in order, and one for each earlier feature evicted on the way.
        """
        self._check_begun("offering columns")

        def whole(block: ColumnBlock) -> GroupBlock:
            if block.names is not None:  # everything that may fail comes before the label is registered
                self.names_.check(block.names, self.n_features_in_)
            self._process_.announce(None if group is None else [group])
            # an open group ends before this one
            ends = [0] * (self._process_.n_open > 0) + [block.X.shape[1]]
            return GroupBlock(block.X, block.names, types=block.types, ends=np.array(ends))

        known, offered = self._process_.labels, self.n_features_in_
        try:
            return self._offer_checked(X, [names] if isinstance(names, str) else names, whole)
        except BaseException:
            # no column of the group was decided, so its label is free again
            if self.n_features_in_ == offered:
                self._process_.labels = known
            raise

    def fit(
        self, X: Any, y: Any = None, groups: Any = None, serial: Any = None, *, holdout: Any = None
    ) -> Self:
        """Select features from a whole matrix, by offering its columns group by group.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            All columns.
        y : array-like of shape (n_rows,)
            The target: one label or number per row.
        groups : array-like of shape (n_features,), default=None
            Group label of each column, text or integers; the columns of a group must be adjacent.  If None,
            groups of ``group_size`` columns.
        serial : bool, default=None
            False states that rows are independent, and silences the warning about autocorrelation.  True is
            not supported.
        holdout : float or boolean mask, default=None
            Rows to hold out from selection; see ``begin``.

        Returns
        -------
        self
        """
        if groups is None:
            return super().fit(X, y, serial=serial, holdout=holdout)
        labels, ends = _runs(groups)
        done = 0
        with untouched_on_error(self):
            for block in self._fit_blocks(X, y, serial=serial, holdout=holdout):
                if not done:
                    self._process_.announce(labels)
                inside = ends[(ends > done) & (ends <= done + block.X.shape[1])] - done
                self._offer_block(GroupBlock(block.X, block.names, types=block.types, ends=inside))
                done += block.X.shape[1]
            if len(ends) == 0 or done != ends[-1]:
                raise SchemaError(f"groups has labels for {ends[-1:].sum()} columns, but X has {done}")
        return self

    @property
    def groups_(self) -> dict[Label, IntArray]:
        """Arrival numbers of the columns kept, by group, as if the open group were complete."""
        groups: dict[Label, IntArray] = self._process_for("groups_").groups()
        return groups

    @property
    def n_groups_(self) -> int:
        """Number of groups of which some column is kept."""
        return len(self._process_for("n_groups_").groups())

    @property
    def n_open_(self) -> int:
        """Number of columns in the group that is not complete yet."""
        n_open: int = self._process_for("n_open_").n_open
        return n_open


def _label(label: Any) -> Label:
    if isinstance(label, str):
        return str(label)
    if isinstance(label, (int, np.integer)) and not isinstance(label, bool):
        return int(label)
    raise SchemaError(f"the label of a group must be text or a whole number; got {label!r}")


def _runs(groups: Any) -> tuple[list[Label], IntArray]:
    """Return the label and the end of each run of equal labels."""
    try:
        labels = [_label(label) for label in groups]
    except TypeError as error:
        raise SchemaError(f"groups must hold one label per column; got {groups!r}") from error
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
