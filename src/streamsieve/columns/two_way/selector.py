"""TwoWay: new columns are offered while rows keep arriving."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self, cast

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from streamsieve._validation import check_target
from streamsieve._values import refuse_non_finite
from streamsieve.base import ColumnSelector, RowSelector, Selector, Stop
from streamsieve.base.row_fingerprints import Fingerprints, RowsIdentity, fingerprints, index_of
from streamsieve.columns.osfs import FastOSFS
from streamsieve.columns.saola import SAOLA
from streamsieve.columns.two_way.numbering import Numbering
from streamsieve.columns.two_way.row_values import kept_values
from streamsieve.columns.two_way.table import GrowingTable
from streamsieve.decisions import Decisions, Eviction, Outcome
from streamsieve.exceptions import ParameterError, SchemaError, TargetError
from streamsieve.protocols import (
    CLASSIFICATION,
    ColumnBlock,
    Decision,
    Event,
    FloatArray,
    IntArray,
    Matrix,
    Reason,
    RowBatch,
    Task,
    Traits,
)
from streamsieve.state import Int, Nested, encode


class TwoWay(ColumnSelector):
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
        Learns the rows as they come, in the kept columns; at a review, columns that it does not select are
        evicted first.  ``Screen("f", alpha=0.01, half_life=5000)`` drops columns that are no longer relevant,
        ``Screen("f", k=50)`` keeps at most 50.  It is cloned.  If None, ``column_selector`` alone decides.
    window : int or None, default=None
        Number of latest rows to hold, at least 2 and at least those given to ``begin``.  If None, all.
    review_every : int or None, default=None
        Number of rows between reviews, at least 1, also if no columns are offered.
    ledger : {"all", "kept", "none"}, default="all"
        Which decisions to remember.
    stop : Stop or None, default=None
        Rules that end the run over columns early.

    Attributes
    ----------
    selected_ : arrival numbers of the columns kept
    ledger_ : every decision; an eviction at a review has the reason and the statistic of the selector that
        evicts, and as ``step`` the number of columns offered so far; "left the top set" is the reason of
        ``row_screen``, with its score
    n_features_in_ : columns offered
    n_samples_held_ : number of rows held, at most ``window``
    n_samples_seen_ : number of rows so far
    screen_ : the row screen over the kept columns, or None
    stopped_ : which rule of ``stop`` was met, or None

    Notes
    -----
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
    None: the composition is ours; each of the two selectors names its paper.

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
    _columns_: ColumnSelector
    _screen_: RowSelector | None = None
    _table_: GrowingTable

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

    # ---------------------------------------------------------------- what the parts can do

    @property
    def _inner(self) -> ColumnSelector:
        """The selector to clone."""
        inner = SAOLA() if self.column_selector is None else self.column_selector
        if not isinstance(inner, ColumnSelector):
            raise ParameterError(
                f"column_selector must be a selector over columns, such as FastOSFS(), or None; got {inner!r}"
            )
        if inner.traits.defers or isinstance(inner, TwoWay):
            raise ParameterError(
                f"column_selector must decide on every column at once, which {type(inner).__name__} does "
                "not: use SAOLA or FastOSFS"
            )
        if inner.stop is not None:
            raise ParameterError(f"give stop to TwoWay, not to its column_selector; got {inner!r}")
        return inner

    @property
    def traits(self) -> Traits:
        """What the selector over columns can do."""
        inner = SAOLA() if self.column_selector is None else self.column_selector
        known = inner.traits if isinstance(inner, ColumnSelector) else Traits()
        return replace(known, merges=False, weights=False, size_parameter=None)

    @property
    def task(self) -> str:  # type: ignore[override]  # not a parameter here
        """Type of target of the selector over columns."""
        return self._inner.task

    @property
    def _elsewhere(self) -> str:  # type: ignore[override]  # it depends on the selector
        return self._inner._elsewhere  # noqa: SLF001 - one's own kind

    def _fresh(self) -> ColumnSelector:
        """Return a clone of the selector over columns for the type of target given to ``begin``."""
        task = "classification" if self._table_.labels is not None else "regression"
        fresh: ColumnSelector = clone(self._inner).set_params(task=task, ledger="none")
        return fresh

    def _fresh_screen(self, width: int) -> RowSelector | None:
        if self.row_screen is None or width == 0:
            return None
        screen: RowSelector = clone(self.row_screen)
        k = screen.get_params(deep=False).get("k")
        if isinstance(k, int) and k > width:
            screen.set_params(k=width)
        return screen

    # ---------------------------------------------------------------- beginning

    def _check_together(self) -> None:
        _ = self._inner
        if self.row_screen is not None and not isinstance(self.row_screen, RowSelector):
            raise ParameterError(
                "row_screen must be a selector over rows, such as Screen('f', alpha=0.01), or None; "
                f"got {self.row_screen!r}"
            )

    def _begin(self, y: npt.NDArray[Any]) -> None:
        self._check_parameters()
        screen = self.row_screen
        if screen is not None and screen.traits.tasks and Task(self.task_) not in screen.traits.tasks:
            known = " or ".join(sorted(screen.traits.tasks))
            raise ParameterError(
                f"row_screen needs a {known} target, but y is {self.task_}: choose another one; got "
                f"{screen!r}"
            )
        if getattr(self.row_screen, "_target", None) == "numeric" and y.dtype.kind == "U":
            raise ParameterError(
                f"row_screen needs numbers, but y holds text such as {y[0].item()!r}: choose another one; "
                f"got {self.row_screen!r}"
            )
        if self.window is not None and self.window < len(y):
            raise ParameterError(
                f"window={self.window}, but {len(y)} rows are there to begin with: choose window >= "
                f"{len(y)}, or give fewer rows"
            )
        self._table_ = GrowingTable(y, classes=Task(self.task_) in CLASSIFICATION)
        self._columns_ = self._fresh().begin(self._table_.y)
        self._screen_ = None
        self.n_samples_held_ = len(y)
        #: Number of rows that came since the last review.
        self._unjudged_ = 0
        self._numbering_ = Numbering(np.zeros(0, np.int64), 0)
        #: Fingerprints of the targets and identifiers of rows that the identity does not have yet.
        self._prints_: list[tuple[Fingerprints, Fingerprints | None]] = []
        self.__dict__.pop("_values_", None)  # the table has them

    # ---------------------------------------------------------------- columns

    @property
    def _n_rows(self) -> int:
        return self.n_samples_held_

    def _selected(self) -> IntArray:
        return self._numbering_.outer(self._columns_.selected_)

    def _checked(self, X: Any, names: Sequence[str] | None) -> ColumnBlock:
        rows = np.shape(X)[0] if hasattr(X, "shape") and np.ndim(X) else self.n_samples_held_
        if rows != self.n_samples_held_:
            raise SchemaError(
                f"the block has {rows} rows, but {self.n_samples_held_} rows are held "
                f"({self.n_samples_seen_} came so far): give a value for each of them, oldest first"
            )
        return super()._checked(X, names)

    def _offer_checked(self, X: Any, names: Sequence[str] | None, shape: Any = None) -> Decisions:
        self._settle_identity()
        return super()._offer_checked(X, names, shape)

    def _offer(self, block: ColumnBlock) -> Outcome:
        evicted = self._review() if self._unjudged_ else []
        start = self.n_features_in_
        self._numbering_ = self._numbering_.at(start, self._columns_.n_features_in_)
        try:
            inner = _offered(self._columns_, block.X)
        except BaseException:  # the review stands, and is on record
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
            self._columns_.n_features_in_ += 1
        return rejected

    def _keep_values(self, X: Any, start: int) -> None:
        """Nothing: the table has the values."""

    def _kept_values(self) -> FloatArray:
        return self._table_.values()

    # ---------------------------------------------------------------- rows

    def learn_rows(self, X: Any, y: Any = None, names: Sequence[str] | None = None, rows: Any = None) -> Self:
        """Learn new rows, with their values in the kept columns.

        Parameters
        ----------
        X : a dataframe with at least the kept columns, an array or sparse matrix with ``names``, a batch of a
            source, or an array with the kept columns in order of arrival or with all columns offered so far
        y : their targets
        names : names of the columns of an array, the kept ones among them
        rows : one identifier per row; a pandas X brings its index

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
        target = self._new_target(y, len(values))
        prints = fingerprints(target), None if rows is None else RowsIdentity.of(target, rows).rows
        low = 0
        while low < len(values):
            part = slice(low, low + self._until_review(len(values) - low))
            # a review on the way may have evicted some
            self._take_rows(values[part][:, np.isin(kept, self._table_.features)], target[part])
            low = part.stop
        self._prints_.append(prints)
        if sum(len(each) for each, _ in self._prints_) > self.n_samples_held_:
            self._settle_identity()
        return self

    def _new_target(self, y: Any, n: int) -> npt.NDArray[Any]:
        """Return the targets of new rows, or refuse those of another kind."""
        labels = self._table_.labels
        target = check_target(y, n, "numeric" if labels is None else "classes")
        if labels is None:
            return target
        if n and (target.dtype.kind == "U") != (labels.dtype.kind == "U"):
            came, known = target[0].item(), labels[0].item()
            raise TargetError(
                f"y holds {came!r}, but the labels before were such as {known!r}: give the same"
            )
        new = self._table_.news(target)
        for taker in (self._columns_, self.row_screen):
            if taker is not None and new and taker.traits.tasks and Task.MULTICLASS not in taker.traits.tasks:
                raise TargetError(
                    f"y holds a label that was not there before, {new[0]!r}, and {type(taker).__name__} "
                    "takes two classes only: give rows of those two"
                )
        return target

    def _until_review(self, most: int) -> int:
        """Return the number of rows to take before the next review."""
        every = self.review_every
        return most if every is None else min(most, every - self.n_samples_seen_ % every)

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
            fresh = self._fresh_screen(len(self._table_.features))
            self._screen_ = None if fresh is None else fresh.fit(self._table_.values(), self._table_.y)
        return self._screen_

    # ---------------------------------------------------------------- reviews

    def review(self) -> list[Decision]:
        """Decide on the kept columns again over all rows held, if rows came since the last review.

        Returns
        -------
        list of Decision : the evictions
        """
        self._check_begun("a review")
        return self._note(self._review()) if self._unjudged_ else []

    def _review(self) -> list[Eviction]:
        """Review the kept columns, and return the evictions, which the ledger does not have yet."""
        table, step = self._table_, self.n_features_in_
        evicted, stays = self._screened(step)
        columns = self._fresh().begin(table.y)
        numbering = Numbering(table.features[stays], step)
        if np.any(stays):
            evicted += numbering.lost(_offered(columns, table.values()[:, stays]))
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
        decisions = [
            Decision(
                e.step, names[e.feature], Event.EVICTED, e.reason, e.statistic, e.p_value,
                tuple(names[i] for i in e.by),
            )
            for e in evicted
        ]  # fmt: skip
        for decision in decisions:
            self.ledger_.note(decision)
        if self.ledger_.keep != "all":
            names.forget(e.feature for e in evicted)
        return decisions

    # ---------------------------------------------------------------- the rows' identity, saving

    def same_rows(self, y: Any = None, rows: Any = None) -> Self:
        """Check that columns are offered over the rows held; see ``ColumnSelector.same_rows``.

        Parameters
        ----------
        y : the targets of the rows held, oldest first
        rows : their identifiers
        """
        self._check_begun("comparing rows")
        self._settle_identity()
        return super().same_rows(y, rows)

    def _settle_identity(self) -> None:
        """Bring the identity of the rows up to date with the rows held."""
        if not self._prints_:
            return
        old, n = self._identity_, self.n_samples_held_
        ys = _joined([old.y, *(y for y, _ in self._prints_)])
        ids = _joined([old.rows, *(rows for _, rows in self._prints_)])
        self._identity_ = RowsIdentity(n, None if ys is None else ys[-n:], None if ids is None else ids[-n:])
        self._prints_ = []

    def _record(self) -> Mapping[str, Any]:
        self._settle_identity()
        return super()._record()

    def _restored(self) -> None:
        self._prints_ = []
        super()._restored()

    def _consistent(self) -> Iterator[str]:
        yield from super()._consistent()
        table, columns, numbering = self._table_, self._columns_, self._numbering_
        offered = len(numbering.first) + self.n_features_in_ - numbering.step
        screen, fresh = self._screen_, self._fresh_screen(len(table.features))
        if not _alike(columns, self._fresh()) or (screen is not None and not _alike(screen, fresh)):
            yield "the inner selectors are not those of the parameters"
        elif screen is not None and screen.n_features_in_ != len(table.features):
            yield "the row screen is about other columns"
        elif not len(numbering.first) <= columns.n_features_in_ <= offered:  # fewer after a stop
            yield "the selector over columns was offered other columns"
        elif not np.array_equal(self._selected(), table.features):
            yield "the table has other columns than are kept"
        elif not self._unjudged_ and columns.n_samples_seen_ != self.n_samples_held_:
            yield "the selector over columns was offered other rows"


def _offered(selector: ColumnSelector, X: Matrix) -> Outcome:
    """Offer a block to a selector, and return what it decides."""
    return cast(Decisions, selector.offer(X)).outcome


def _alike(one: Selector, other: Selector | None) -> bool:
    """Whether two selectors have one class and equal parameters."""
    mine, theirs = (
        {name: encode(name, value) for name, value in each.get_params(deep=False).items()} if each else None
        for each in (one, other)
    )
    return type(one) is type(other) and mine == theirs


def _joined(prints: list[Fingerprints | None]) -> Fingerprints | None:
    """Return all fingerprints, or None if some are unknown."""
    known = [each for each in prints if each is not None]
    return np.concatenate(known) if len(known) == len(prints) else None
