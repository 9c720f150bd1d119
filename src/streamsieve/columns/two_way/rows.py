"""The rows of a TwoWay: learning new ones, and reviewing the kept columns over those held."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from streamsieve._validation import check_target
from streamsieve._values import refuse_non_finite
from streamsieve.base import ColumnSelector, RowSelector
from streamsieve.base.row_fingerprints import RowsIdentity, fingerprints, index_of
from streamsieve.columns.two_way.inner import check_labels, fresh_screen, offered
from streamsieve.columns.two_way.new_rows import NewPrints, kept_values
from streamsieve.columns.two_way.numbering import Numbering
from streamsieve.columns.two_way.table import GrowingTable
from streamsieve.decisions import Eviction
from streamsieve.protocols import Decision, FloatArray, IntArray, Reason, RowBatch

if TYPE_CHECKING:
    MixinBase = ColumnSelector
else:
    MixinBase = object


class LearnsRows(MixinBase):
    """Mixin of `TwoWay` that learns rows and reviews the kept columns."""

    row_screen: RowSelector | None
    window: int | None
    review_every: int | None
    n_samples_held_: int
    _columns_: ColumnSelector
    _numbering_: Numbering
    _prints_: NewPrints
    _screen_: RowSelector | None = None
    _table_: GrowingTable
    #: Number of rows that came since the last review.
    _unjudged_: int

    @abstractmethod
    def _fresh(self) -> ColumnSelector:
        """Return a clone of the selector over columns."""

    def _selected(self) -> IntArray:
        return self._numbering_.outer(self._columns_.selected_)

    def _settle_identity(self) -> None:
        """Bring the identity of the rows up to date with the rows held."""
        if len(self._prints_):
            self._identity_ = self._prints_.after(self._identity_, self.n_samples_held_)
            self._prints_ = NewPrints()

    def learn_rows(self, X: Any, y: Any = None, names: Sequence[str] | None = None, rows: Any = None) -> Self:
        """Learn new rows, with their values in the kept columns.

        Parameters
        ----------
        X : {dataframe, array-like, sparse matrix, RowBatch}
            A dataframe with at least the kept columns, an array or sparse matrix with ``names``, a batch of a
            source, or an array with the kept columns in order of arrival or with all columns offered so far.
        y : array-like of shape (n_rows,)
            The targets of these rows.
        names : sequence of str, default=None
            Names of the columns of an array, which include the kept ones.
        rows : array-like of shape (n_rows,), default=None
            Row identifiers.  If None, the index of a pandas X.

        Returns
        -------
        self
        """
        self._check_begun("learning rows")
        if isinstance(X, RowBatch):
            X, y, names = X.X, X.y if y is None else y, X.names if names is None else names
        rows = index_of(X) if rows is None else rows
        kept, known = self._table_.features, self.names_
        values = kept_values(X, names, [known[int(i)] for i in kept], kept, self.n_features_in_)
        refuse_non_finite(values, [known[int(i)] for i in kept], missing=self.traits.missing)
        labels = self._table_.labels
        target = check_target(y, len(values), "numeric" if labels is None else "classes")
        if labels is not None:
            check_labels(target, labels, self._table_.news(target), (self._columns_, self.row_screen))
        prints = fingerprints(target), None if rows is None else RowsIdentity.of(target, rows).rows
        low, every = 0, self.review_every
        while low < len(values):  # up to the next review, which may evict some columns
            part = slice(low, None if every is None else low + every - self.n_samples_seen_ % every)
            self._take_rows(values[part][:, np.isin(kept, self._table_.features)], target[part])
            low += len(target[part])
        self._prints_.append(*prints)
        if len(self._prints_) > self.n_samples_held_:
            self._settle_identity()
        return self

    def _take_rows(self, values: FloatArray, y: npt.NDArray[Any]) -> None:
        screen = self.screen_
        if screen is not None:
            screen.partial_fit(values, y)
        self._table_.append(values, y, self.window)
        self.n_samples_held_ = self._table_.n
        self.n_samples_seen_ += len(y)
        self._unjudged_ += len(y)
        due = self.review_every is not None and self.n_samples_seen_ % self.review_every == 0
        if due and len(np.unique(self._table_.y)) > 1:
            self._note(self._review())

    @property
    def screen_(self) -> RowSelector | None:
        """The row screen over the kept columns; None without columns or screen."""
        if not hasattr(self, "_table_"):
            raise AttributeError(f"{type(self).__name__}.screen_ is available after begin or fit")
        if self._screen_ is None:
            fresh = fresh_screen(self.row_screen, len(self._table_.features))
            self._screen_ = None if fresh is None else fresh.fit(self._table_.values(), self._table_.y)
        return self._screen_

    def review(self) -> list[Decision]:
        """Decide on the kept columns again over all rows held, if rows arrived since the last review.

        Returns
        -------
        list of Decision
            The evictions.
        """
        self._check_begun("a review")
        return self._note(self._review()) if self._unjudged_ else []

    def _review(self) -> list[Eviction]:
        """Review the kept columns, and return the evictions, which the ledger does not have yet."""
        table, step = self._table_, self.n_features_in_
        evicted, stays = self._screened(step)
        columns = self._fresh().begin(table.y, serial=False)
        numbering = Numbering(table.features[stays], step)
        if np.any(stays):
            evicted += numbering.lost(offered(columns, table.values()[:, stays]))
        self._columns_, self._numbering_ = columns, numbering
        self._unjudged_ = 0
        self.task_ = columns.task_
        if evicted:
            table.keep(self._selected())
            self._screen_ = None
        return evicted

    def _screened(self, step: int) -> tuple[list[Eviction], npt.NDArray[np.bool_]]:
        """Return the evictions by the row screen, and which columns stay."""
        features, screen = self._table_.features, self.screen_
        if screen is None:
            return [], np.ones(len(features), bool)
        stays = screen.get_support()
        unknown = np.full(len(features), np.nan)
        scores, p_values = (getattr(screen, name, unknown) for name in ("scores_", "pvalues_"))
        evicted = [
            Eviction(step, int(features[j]), Reason.LEFT_TOP, float(scores[j]), float(p_values[j]), ())
            for j in np.flatnonzero(~stays)
        ]
        return evicted, stays

    def _note(self, evicted: list[Eviction]) -> list[Decision]:
        """Write evictions into the ledger."""
        names = self.names_
        decisions = [gone.named(names.__getitem__) for gone in evicted]
        for decision in decisions:
            self.ledger_.note(decision)
        if self.ledger_.keep != "all":
            names.forget(e.feature for e in evicted)
        return decisions
