"""TwoWay: new columns are offered while rows keep arriving."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from streamsieve.base import ColumnSelector, RowSelector, Stop
from streamsieve.columns.osfs import FastOSFS
from streamsieve.columns.saola import SAOLA
from streamsieve.columns.two_way.inner import (
    alike,
    check_row_screen,
    check_target_of_screen,
    column_part,
    fresh_screen,
    offered,
)
from streamsieve.columns.two_way.new_rows import NewPrints
from streamsieve.columns.two_way.numbering import Numbering
from streamsieve.columns.two_way.rows import LearnsRows
from streamsieve.columns.two_way.table import GrowingTable
from streamsieve.decisions import Decisions, Outcome
from streamsieve.exceptions import ParameterError, SchemaError
from streamsieve.protocols import CLASSIFICATION, ColumnBlock, FloatArray, Reason, Task, Traits
from streamsieve.state import Int, Nested


class TwoWay(LearnsRows, ColumnSelector):
    """Column selection while rows keep arriving, with reviews of the kept columns.

    A table holds the rows so far: their targets and their values in the kept columns.  It grows both ways:

    * ``offer(X, names)`` brings new columns, with a value for every row held, oldest first.
    * ``learn_rows(X, y)`` brings new rows, with a value for every kept column.
    * ``review()`` decides on the kept columns again, over all rows held.  If rows have come since the last
      review, one takes place before columns are offered, so that all decisions are over the same rows.

    Parameters
    ----------
    column_selector : selector over columns or None, default=None
        Decides on columns; it is cloned.  If None, ``SAOLA()``.  It must not defer decisions (as
        ``GroupSAOLA`` does).
    row_screen : selector over rows or None, default=None
        Learns arriving rows in the kept columns; at a review, columns that it does not select are evicted
        first.  ``Screen("f", alpha=0.01, half_life=5000)`` drops columns that are no longer relevant,
        ``Screen("f", k=50)`` keeps at most 50.  It is cloned.  If None, ``column_selector`` alone decides.
    window : int or None, default=None
        Number of latest rows to hold, at least 2 and at least those given to ``begin``.  If None, all.
    review_every : int or None, default=None
        Number of rows between reviews, at least 1, also if no columns are offered.
    ledger : {"all", "kept", "none"}, default="all"
        Which decisions to record.
    stop : Stop or None, default=None
        Early-stopping rules.

    Attributes
    ----------
    selected_ : arrival numbers of the columns kept
    ledger_ : every decision; an eviction at a review has the reason and the statistic of the selector that
        evicts, and as ``step`` the number of columns offered so far; "left the top set" is the reason of
        ``row_screen``, with its score
    n_features_in_ : number of columns offered
    n_samples_held_ : number of rows held, at most ``window``
    n_samples_seen_ : number of rows so far
    screen_ : the row screen over the kept columns, or None
    stopped_ : which rule of ``stop`` was met, or None

    Notes
    -----
    **Formula.** The state after a review is that of ``column_selector.fit(X[:, kept], y)`` over all rows
    held.

    **When it fails.** A column rejected early, on few rows, does not come back by itself. What each of the
    two selectors misses is missed here as well.

    *Reviews.* First, columns that ``row_screen`` does not select are evicted.  Then a clone of
    ``column_selector`` begins with the targets of the rows held and is offered the remaining columns in order
    of arrival; those that it does not keep are evicted.  Its other state (wealth, levels of tests) starts
    again as well.  After a review, the state is therefore that of a fresh ``column_selector`` fitted to the
    kept columns over all rows held.  Between reviews, rows change only the table and the screen; the size of
    batches never matters.

    *What is not stored.* Values of rejected and evicted columns, and of rows outside the window.  A column
    that was rejected over few rows may be relevant over more: offer it again under another name.

    *The screen* is fitted to the rows held whenever the kept columns change, and learns the rows after that;
    without ``window`` these are all rows.  A screen with a larger k than there are columns keeps all.

    *Cost.* Memory is rows held x columns kept in float64, and what ``column_selector`` holds of these columns
    itself.  A batch of rows costs an update of the screen; a review costs a fit of ``column_selector`` to the
    kept columns over the rows held.

    *Targets.* Whether they are labels or numbers is decided at ``begin``.  Labels may appear late, unless
    ``column_selector`` takes two classes only.  A review needs two classes among the rows held; if a window
    has only one, ``offer`` raises an error and ``review_every`` waits.

    *Identifiers of rows.* If new rows come without identifiers, those of the earlier ones are dropped.

    References
    ----------
    The composition has no paper; see those of the two selectors.

    Examples
    --------
    >>> import numpy as np, streamsieve as ss
    >>> from streamsieve.columns.two_way import TwoWay
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 200)
    >>> both = TwoWay(ss.FastOSFS(), row_screen=ss.Screen("f", alpha=0.01, half_life=200)).begin(y)
    >>> _ = both.offer(np.c_[y + rng.normal(size=200), y - rng.normal(size=200)], names=["dose", "fad"])
    >>> both.get_feature_names_out()
    array(['dose', 'fad'], dtype=object)

    A thousand rows later, "fad" is no longer associated with the target:

    >>> new = rng.integers(0, 2, 1000)
    >>> both = both.learn_rows(np.c_[new + rng.normal(size=1000), rng.normal(size=1000)], new)
    >>> y = np.r_[y, new]
    >>> both.offer(y + rng.normal(size=1200), names="age")[0]
    Decision(step=2, feature='fad', event=<Event.EVICTED: 'evicted'>, ...)
    >>> both.get_feature_names_out()
    array(['dose', 'age'], dtype=object)
    """

    _caches: ClassVar[frozenset[str]] = frozenset({"_prints_"})
    _no_holdout: ClassVar[str] = (
        "reviews look at all rows, those that come later included: test the kept columns on rows that you do "
        "not give to it"
    )
    parameters = {"window": Int(2, optional=True), "review_every": Int(1, optional=True)}
    fields = {
        "n_samples_seen_": Int(1),
        "n_samples_held_": Int(1, 2**31, size="rows"),
        "_table_": Nested(GrowingTable, shares=("rows",)),
        "_columns_": Nested(ColumnSelector, derived=True),
        "_numbering_": Nested(Numbering),
        "_screen_": Nested(RowSelector, derived=True, optional=True),
        "_unjudged_": Int(0),
    }

    def __init__(
        self,
        column_selector: ColumnSelector | None = None,
        *,
        row_screen: RowSelector | None = None,
        window: int | None = None,
        review_every: int | None = None,
        ledger: str = "all",
        stop: Stop | None = None,
    ) -> None:
        self.column_selector = column_selector
        self.row_screen = row_screen
        self.window = window
        self.review_every = review_every
        self.ledger = ledger
        self.stop = stop

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """Yield the default and another selector; screens of rows do not matter before rows come."""
        yield cls()
        yield cls(FastOSFS(alpha=0.05), window=1000, review_every=10)

    @property
    def traits(self) -> Traits:
        """What the selector over columns can do."""
        inner = SAOLA() if self.column_selector is None else self.column_selector
        known = inner.traits if isinstance(inner, ColumnSelector) else Traits()
        # streaming rows have no groups, and every review has other rows
        return replace(
            known, merges=False, weights=False, size_parameter=None, grouped_rows=False, dependent_rows=False
        )

    @property
    def _decider(self) -> ColumnSelector:
        return getattr(self, "_columns_", None) or column_part(self.column_selector)

    @property
    def task(self) -> str:  # type: ignore[override]  # not a parameter here
        """Type of target of the selector over columns."""
        return column_part(self.column_selector).task

    @property
    def _elsewhere(self) -> str:  # type: ignore[override]  # it depends on the selector
        return column_part(self.column_selector)._elsewhere  # noqa: SLF001 - one's own kind

    def _fresh(self) -> ColumnSelector:
        """Return a clone of the selector over columns for the type of target given to ``begin``."""
        task = "classification" if self._table_.labels is not None else "regression"
        fresh: ColumnSelector = clone(column_part(self.column_selector)).set_params(task=task, ledger="none")
        return fresh

    def _check_together(self) -> None:
        column_part(self.column_selector)
        check_row_screen(self.row_screen)

    def _begin(self, y: npt.NDArray[Any]) -> None:
        check_target_of_screen(self.row_screen, y, Task(self.task_))
        if self.window is not None and self.window < len(y):
            raise ParameterError(
                f"window={self.window}, but {len(y)} rows are there to begin with: choose window >= "
                f"{len(y)}, or give fewer rows"
            )
        self._table_ = GrowingTable(y, classes=Task(self.task_) in CLASSIFICATION)
        self._columns_ = self._fresh().begin(self._table_.y, serial=False)
        self._screen_ = None
        self.n_samples_held_ = len(y)
        self._unjudged_ = 0
        self._numbering_ = Numbering(np.zeros(0, np.int64), 0)
        self._prints_ = NewPrints()
        self.__dict__.pop("_values_", None)  # the table has them

    @property
    def _n_rows(self) -> int:
        return self.n_samples_held_

    def _checked(self, X: Any, names: Sequence[str] | None) -> ColumnBlock:
        rows = X.shape[0] if getattr(X, "shape", ()) else self.n_samples_held_
        if rows != self.n_samples_held_:
            raise SchemaError(
                f"the block has {rows} rows, but {self.n_samples_held_} rows are held "
                f"({self.n_samples_seen_} seen so far): give a value for each of them, oldest first"
            )
        return super()._checked(X, names)

    def _offer_checked(self, X: Any, names: Sequence[str] | None, extend: Any = None) -> Decisions:
        self._settle_identity()
        return super()._offer_checked(X, names, extend)

    def _offer(self, block: ColumnBlock) -> Outcome:
        evicted = self._review() if self._unjudged_ else []
        start = self.n_features_in_
        self._numbering_ = self._numbering_.at(start, self._columns_.n_features_in_)
        try:
            inner = offered(self._columns_, block.X)
        except BaseException:  # the review remains valid, and is recorded
            self._note(evicted)
            raise
        self._table_.keep(self._selected(), block.X, start)
        if len(inner.kept()) or inner.evictions:
            self._screen_ = None
        p_value = inner.p_values()  # of as many rows as there are now
        return self._numbering_.outcome(inner, start, p_value, evicted)

    def _offer_one(self, x: FloatArray) -> tuple[Reason, float, float] | None:
        if self._unjudged_:
            return None
        rejected = self._columns_._offer_one(x)  # noqa: SLF001 - the quick path, which records nothing
        if rejected is not None:
            self._numbering_ = self._numbering_.at(self.n_features_in_, self._columns_.n_features_in_)
            self._columns_._note_type(x)  # noqa: SLF001 - as `offer` would
            self._columns_.n_features_in_ += 1
        return rejected

    def _keep_values(self, block: ColumnBlock, start: int) -> None:
        """Nothing: the table has the values."""

    def _kept_values(self) -> FloatArray:
        return self._table_.values()

    def same_rows(self, y: Any = None, rows: Any = None, *, groups: Any = None) -> Self:
        """Check that columns are offered over the rows held; see ``ColumnSelector.same_rows``.

        Parameters
        ----------
        y : array-like, default=None
            The targets of the rows held, oldest first.
        rows : array-like, default=None
            Their identifiers.
        groups : None
            Not supported for streaming rows.
        """
        self._check_begun("comparing rows")
        self._settle_identity()
        return super().same_rows(y, rows, groups=groups)

    def _record(self) -> Mapping[str, Any]:
        self._settle_identity()
        return super()._record()

    def _restored(self) -> None:
        self._prints_ = NewPrints()
        super()._restored()

    def _consistent(self) -> Iterator[str]:
        yield from super()._consistent()
        table, columns, numbering = self._table_, self._columns_, self._numbering_
        came = len(numbering.first) + self.n_features_in_ - numbering.step
        screen, fresh = self._screen_, fresh_screen(self.row_screen, len(table.features))
        if not alike(columns, self._fresh()) or (screen is not None and not alike(screen, fresh)):
            yield "the inner selectors are not those of the parameters"
        elif screen is not None and screen.n_features_in_ != len(table.features):
            yield "the row screen is about other columns"
        elif not len(numbering.first) <= columns.n_features_in_ <= came:  # fewer after a stop
            yield "the selector over columns was offered other columns"
        elif not np.array_equal(self._selected(), table.features):
            yield "the table has other columns than are kept"
        elif not self._unjudged_ and columns.n_samples_seen_ != self.n_samples_held_:
            yield "the selector over columns was offered other rows"
