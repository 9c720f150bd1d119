"""Rows and columns at once: new columns are offered while rows keep arriving."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from streamsieve._parameters import check_number
from streamsieve._validation import check_target, refuse_non_finite
from streamsieve.base import ColumnSelector, RowSelector, Stop
from streamsieve.base._rows_identity import Fingerprints, RowsIdentity, fingerprints, index_of
from streamsieve.columns._growing_table import GrowingTable
from streamsieve.columns._nested import NestedSelector
from streamsieve.columns._row_cells import kept_cells
from streamsieve.columns.fast_osfs import FastOSFS
from streamsieve.columns.saola import SAOLA
from streamsieve.exceptions import ParameterError, SchemaError, StateError, TargetError
from streamsieve.protocols import (
    CLASSIFICATION,
    ColumnBlock,
    Decision,
    Event,
    FloatArray,
    IntArray,
    Reason,
    RowBatch,
    Task,
    Traits,
)
from streamsieve.verdicts import KEPT, REASONS, Eviction, Verdicts


class TwoWay(ColumnSelector):
    """Choose from columns that are offered while rows keep arriving, and judge the kept ones anew.

    A table is held: the rows so far, with their targets and with their values in the columns that are kept,
    and nothing else.  It grows both ways:

    * ``offer(X, names)`` brings new columns, with a value for every row held, oldest first.
    * ``learn_rows(X, y)`` brings new rows, with a value for every column kept.
    * ``review()`` judges the kept columns anew over all rows held.  It happens by itself before columns are
      offered, if rows came since the last time, so that newcomers never meet judgements of other rows.

    Parameters
    ----------
    column_selector : selector over columns or None, default=None
        Decides on columns; it is copied.  None: ``SAOLA()``.  It must decide on every column at once: not
        ``GroupSAOLA``.
    row_screen : selector over rows or None, default=None
        Learns the rows as they come, in the columns kept, and has the first word at a review: what it does
        not select is evicted.  ``Screen("f", alpha=0.01, half_life=5000)`` drops what is no longer relevant,
        ``Screen("f", k=50)`` keeps no more than 50.  It is copied.  None: nothing is dropped by rows alone.
    window : int or None, default=None
        Hold the latest so many rows, at least 2 and at least those given to ``begin``; None holds all.
    review_every : int or None, default=None
        Review after every so many rows, at least 1, also if no columns are offered.
    ledger : {"all", "kept", "none"}, default="all"
        Which decisions to remember.
    stop : Stop or None, default=None
        Rules that end the run over columns early.

    Attributes
    ----------
    selected_ : arrival numbers of the columns kept
    ledger_ : every decision; what a review evicts has the reason and the statistic of the selector that
        evicts it, and as ``step`` the number of columns offered by then; "left the top set" is the reason of
        ``row_screen``, with its score
    n_features_in_ : columns offered
    n_rows_ : rows held
    n_rows_seen_ : rows so far
    screen_ : the row screen over the columns kept, or None
    stopped_ : which rule of ``stop`` was met, or None

    Notes
    -----
    *What a review is.* First, columns that ``row_screen`` does not select leave.  Then ``column_selector``
    begins anew with the targets of the rows held, and is offered the remaining columns in order of arrival;
    what it does not keep leaves.  Whatever it had besides (wealth, levels of tests) begins anew as well.  So
    after a review the state is that of a fresh ``column_selector`` fitted to the kept columns over all rows
    held, and columns offered later are decided as this one decides them.  Between reviews rows change
    nothing but the table and the screen; batches of any size give the same.

    *What is not there.* Columns that were rejected or evicted are gone.  More rows may make a column relevant
    that was rejected when there were few; offer it again under another name.  Values of rows that left the
    window are gone too.

    *What the screen knows.* It was fitted to the rows held when the columns kept last changed, and has learnt
    the rows since; without ``window`` that is all rows.  A screen with a larger k than there are columns
    keeps all.

    *What it costs.* Memory is rows held x columns kept in float64, and what ``column_selector`` holds of
    these columns itself.  A batch of rows costs what the screen takes for it; a review what
    ``column_selector`` takes for the columns kept over the rows held.

    *Targets.* Whether they are labels or numbers is settled at ``begin``.  Labels may appear late, unless
    ``column_selector`` takes two classes only.  A review needs two classes among the rows held; if a window
    has one only, columns cannot be judged: ``offer`` says so, ``review_every`` waits.

    *Identifiers of rows.* If rows come without, those of the earlier ones are forgotten.

    References
    ----------
    None: the composition is ours; each of the two selectors names its paper.

    Examples
    --------
    >>> import numpy as np, streamsieve as ss
    >>> from streamsieve.columns.two_way import TwoWay
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 200)
    >>> both = TwoWay(ss.FastOSFS(), ss.Screen("f", alpha=0.01, half_life=200)).begin(y)
    >>> _ = both.offer(np.c_[y + rng.normal(size=200), y - rng.normal(size=200)], names=["dose", "fad"])
    >>> both.get_feature_names_out()
    array(['dose', 'fad'], dtype=object)

    A thousand rows later, "fad" says nothing any more:

    >>> new = rng.integers(0, 2, 1000)
    >>> both = both.learn_rows(np.c_[new + rng.normal(size=1000), rng.normal(size=1000)], new)
    >>> y = np.r_[y, new]
    >>> both.offer(y + rng.normal(size=1200), names="age")[0]
    Decision(step=2, feature='fad', event=<Event.EVICTED: 'evicted'>, ...)
    >>> both.get_feature_names_out()
    array(['dose', 'age'], dtype=object)
    """

    _caches: ClassVar[frozenset[str]] = frozenset({"_prints_"})
    _columns_: ColumnSelector
    _screen_: RowSelector | None
    _table_: GrowingTable

    def __init__(
        self,
        column_selector: ColumnSelector | None = None,
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
        """Around the default and around another selector; screens of rows do not matter before rows come."""
        yield cls()
        yield cls(FastOSFS(alpha=0.05), window=1000, review_every=10)

    # ---------------------------------------------------------------- what the parts can do

    @property
    def _inner(self) -> ColumnSelector:
        """The selector to copy."""
        inner = SAOLA() if self.column_selector is None else self.column_selector
        if not isinstance(inner, ColumnSelector):
            raise ParameterError(
                f"column_selector must be a selector over columns, such as FastOSFS(), or None; got {inner!r}"
            )
        holds_back = type(inner)._finish is not ColumnSelector._finish  # noqa: SLF001 - one's own kind
        if holds_back or isinstance(inner, TwoWay):
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
        """What the selector over columns takes the target for."""
        return self._inner.task

    @property
    def _elsewhere(self) -> str:  # type: ignore[override]  # it depends on the selector
        return self._inner._elsewhere  # noqa: SLF001 - one's own kind

    def _fresh(self) -> ColumnSelector:
        """Return a copy of the selector over columns that takes the target as it was taken at first."""
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

    def _begin(self, y: npt.NDArray[Any]) -> None:
        self._check_for_rows(len(y))
        if getattr(self.row_screen, "_target", None) == "numeric" and y.dtype.kind == "U":
            raise ParameterError(
                f"row_screen needs numbers, but y holds text such as {y[0].item()!r}: choose another one; "
                f"got {self.row_screen!r}"
            )
        self._table_ = GrowingTable(y, classes=Task(self.task_) in CLASSIFICATION)
        self._columns_ = self._fresh().begin(self._table_.y)
        self._screen_ = None
        self.n_rows_seen_ = len(y)
        #: Rows that came since the kept columns were judged.
        self._unjudged_ = 0
        #: Columns that the selector was offered at the last review, and the number of the first one after.
        self._reviewed_ = np.zeros(0, np.int64)
        self._review_step_ = 0
        #: Fingerprints of the rows that the identity does not know yet, and of their identifiers.
        self._prints_: list[tuple[Fingerprints, Fingerprints | None]] = []
        self.__dict__.pop("_values_", None)  # the table has them

    def _check_for_rows(self, n: int) -> None:
        screen = self.row_screen
        if screen is not None:
            if not isinstance(screen, RowSelector):
                raise ParameterError(
                    "row_screen must be a selector over rows, such as Screen('f', alpha=0.01), or None; "
                    f"got {screen!r}"
                )
            if screen.traits.tasks and Task(self.task_) not in screen.traits.tasks:
                known = " or ".join(sorted(screen.traits.tasks))
                raise ParameterError(
                    f"row_screen needs a {known} target, but y is {self.task_}: choose another one; got "
                    f"{screen!r}"
                )
        for name, low in (("window", 2), ("review_every", 1)):
            if getattr(self, name) is not None:
                check_number(name, getattr(self, name), low=low, integer=True)
        if self.window is not None and self.window < n:
            raise ParameterError(
                f"window={self.window}, but {n} rows are there to begin with: choose window >= {n}, or give "
                "fewer rows"
            )

    # ---------------------------------------------------------------- columns

    def _outer(self, numbers: IntArray | Sequence[int]) -> IntArray:
        """Return the arrival numbers of columns, from those in the selector over columns."""
        inner = np.asarray(numbers, np.int64)
        reviewed = self._reviewed_
        after = self._review_step_ + inner - len(reviewed)
        if len(reviewed) == 0:
            return after
        return np.where(inner < len(reviewed), reviewed[np.minimum(inner, len(reviewed) - 1)], after)

    def _selected(self) -> IntArray:
        return self._outer(self._columns_._selected())  # noqa: SLF001

    def _checked(self, X: Any, names: Sequence[str] | None) -> ColumnBlock:
        rows = np.shape(X)[0] if hasattr(X, "shape") and np.ndim(X) else self.n_rows_
        if rows != self.n_rows_:
            raise SchemaError(
                f"the block has {rows} rows, but {self.n_rows_} rows are held ({self.n_rows_seen_} came so "
                "far): give a value for each of them, oldest first"
            )
        return super()._checked(X, names)

    def _offer_checked(self, X: Any, names: Sequence[str] | None, shape: Any = None) -> Verdicts:
        self._settle_identity()
        return super()._offer_checked(X, names, shape)

    def _offer(self, block: ColumnBlock) -> Verdicts:
        evicted = self._review() if self._unjudged_ else []
        start = self.n_features_in_
        try:
            inner = self._columns_._offer_block(ColumnBlock(block.X))  # noqa: SLF001
        except BaseException:  # the review stands, and is on record
            self._note(evicted)
            raise
        self._table_.keep(self._selected(), block.X, start)
        if len(inner.kept()) or inner.evictions:
            self._screen_ = None
        p_value = inner._p_values(slice(None))  # noqa: SLF001 - of as many rows as there are now
        evicted += [self._outward(eviction) for eviction in inner.evictions]
        by = {
            int(self._outer([index])[0]): tuple(self._outer(causes).tolist())
            for index, causes in inner.by.items()
        }
        return Verdicts(start, inner.reason, inner.statistic, p_value, by, evicted)

    def _outward(self, eviction: Eviction) -> Eviction:
        step, feature, *by = self._outer([eviction.step, eviction.feature, *eviction.by]).tolist()
        return eviction._replace(step=step, feature=feature, by=tuple(by))

    def _offer_one(self, x: FloatArray) -> tuple[Reason, float, float] | None:
        if self._unjudged_:
            return None
        verdict = self._columns_._offer_one(x)  # noqa: SLF001
        if verdict is not None:
            self._columns_.n_features_in_ += 1
        return verdict

    def _keep_values(self, X: Any, start: int) -> None:
        """Nothing: the table has the values."""

    def _kept_values(self) -> FloatArray:
        return self._table_.values()

    # ---------------------------------------------------------------- rows

    def learn_rows(self, X: Any, y: Any = None, names: Sequence[str] | None = None, rows: Any = None) -> Self:
        """Take new rows, with their values in the columns that are kept.

        Parameters
        ----------
        X : a dataframe with at least the kept columns, an array or sparse matrix with ``names``, a batch of a
            source, or an array with the kept columns in order of arrival or with all columns ever offered
        y : their targets
        names : names of the columns of an array, the kept ones among them
        rows : one identifier a row; a pandas X brings its index

        Returns
        -------
        self
        """
        self._check_begun("learning rows")
        if isinstance(X, RowBatch):
            X, y, names = X.X, X.y if y is None else y, X.names if names is None else names
        rows = index_of(X) if rows is None else rows
        kept, known = self._table_.features, self.ledger_.names
        values = kept_cells(X, names, [known[int(i)] for i in kept], kept, self.n_features_in_)
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
        if sum(len(each) for each, _ in self._prints_) > self.n_rows_:
            self._settle_identity()
        return self

    def _new_target(self, y: Any, n: int) -> npt.NDArray[Any]:
        """Return the targets of new rows, which fit those before."""
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
        """Return how many rows may be taken at once."""
        every = self.review_every
        return most if every is None else min(most, every - self.n_rows_seen_ % every)

    def _take_rows(self, values: FloatArray, y: npt.NDArray[Any]) -> None:
        screen = self.screen_
        if screen is not None:
            screen.partial_fit(values, y)
        self._table_.append(values, y, self.window)
        self.n_rows_ = self._table_.n
        self.n_rows_seen_ += len(y)
        self._unjudged_ += len(y)
        due = self.review_every is not None and self.n_rows_seen_ % self.review_every == 0
        if due and len(np.unique(self._table_.y)) > 1:
            self._note(self._review())

    @property
    def screen_(self) -> RowSelector | None:
        """The row screen over the columns kept: their scores lately; None without columns or screen."""
        if not hasattr(self, "_table_"):
            raise AttributeError("screen_ is there after begin(y) or fit(X, y)")
        if self._screen_ is None:
            fresh = self._fresh_screen(len(self._table_.features))
            self._screen_ = None if fresh is None else fresh.fit(self._table_.values(), self._table_.y)
        return self._screen_

    # ---------------------------------------------------------------- judging anew

    def review(self) -> list[Decision]:
        """Judge the kept columns anew over all rows held, if rows came since the last time.

        Returns
        -------
        list of Decision : the columns that leave
        """
        self._check_begun("a review")
        return self._note(self._review()) if self._unjudged_ else []

    def _review(self) -> list[Eviction]:
        """Judge the kept columns anew, and return those that leave; the ledger does not know of them yet."""
        table, step = self._table_, self.n_features_in_
        evicted, stays = self._screened(step)
        columns = self._fresh().begin(table.y)
        reviewed = table.features[stays]
        if len(reviewed):
            verdicts = columns._offer_block(ColumnBlock(table.values()[:, stays]))  # noqa: SLF001
            evicted += _fallen(verdicts, reviewed, step)
        self._columns_, self._reviewed_, self._review_step_ = columns, reviewed, step
        self._unjudged_ = 0
        self.task_ = columns.task_
        if evicted:
            table.keep(self._selected())
            self._screen_ = None
        return evicted

    def _screened(self, step: int) -> tuple[list[Eviction], npt.NDArray[np.bool_]]:
        """Return what the row screen evicts, and which columns stay."""
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
        names = self.ledger_.names
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
        """Make sure that columns are offered over the rows held; see ``ColumnSelector.same_rows``.

        Parameters
        ----------
        y : the targets of the rows held, oldest first
        rows : their identifiers
        """
        self._check_begun("comparing rows")
        self._settle_identity()
        return super().same_rows(y, rows)

    def _settle_identity(self) -> None:
        """Let the identity of the rows be that of the rows held now."""
        if not self._prints_:
            return
        old, n = self._identity_, self.n_rows_
        ys = _joined([old.y, *(y for y, _ in self._prints_)])
        ids = _joined([old.rows, *(rows for _, rows in self._prints_)])
        self._identity_ = RowsIdentity(n, None if ys is None else ys[-n:], None if ids is None else ids[-n:])
        self._prints_ = []

    def _learnt(self) -> dict[str, Any]:
        self._settle_identity()
        learnt = super()._learnt()
        learnt["_columns_"] = NestedSelector.of(self._columns_)
        learnt["_screen_"] = None if self._screen_ is None else NestedSelector.of(self._screen_)
        return learnt

    def _restored(self) -> None:
        self._prints_ = []
        if not isinstance(self._table_, GrowingTable) or not isinstance(self._columns_, NestedSelector):
            raise StateError("the state lacks its table, or its selector over columns")
        self._check_for_rows(2)
        table = self._table_
        self._columns_ = self._columns_.revived(self._fresh(), "column_selector")
        fresh = self._fresh_screen(len(table.features))
        if self._screen_ is not None:
            if fresh is None or not isinstance(self._screen_, NestedSelector):
                raise StateError("the state has a row screen that there is not")
            self._screen_ = self._screen_.revived(fresh, "row_screen")
            if self._screen_.n_features_in_ != len(table.features):
                raise StateError("the state's row screen is about other columns")
        super()._restored()
        offered = len(self._reviewed_) + self.n_features_in_ - self._review_step_
        fits = np.array_equal(self._selected(), table.features) and self._columns_.n_features_in_ == offered
        if not fits or not 0 <= self._review_step_ <= self.n_features_in_ or self._unjudged_ < 0:
            raise StateError("the state's table and its selector over columns do not fit together")


def _joined(prints: list[Fingerprints | None]) -> Fingerprints | None:
    """Return all fingerprints, or None if some are unknown."""
    known = [each for each in prints if each is not None]
    return np.concatenate(known) if len(known) == len(prints) else None


def _fallen(verdicts: Verdicts, features: IntArray, step: int) -> list[Eviction]:
    """Return which of the columns that were offered again were not kept, in order of their fall."""
    p_values = verdicts._p_values(slice(None))  # noqa: SLF001 - of as many rows as there are now
    fallen: list[tuple[int, int, Eviction]] = []
    for e in verdicts.evictions:
        by = tuple(features[list(e.by)].tolist())
        left = Eviction(step, int(features[e.feature]), e.reason, e.statistic, e.p_value, by)
        fallen.append((e.step, 0, left))
    for i in np.flatnonzero(verdicts.reason != KEPT).tolist():
        reason, by = REASONS[verdicts.reason[i]], tuple(features[list(verdicts.by.get(i, ()))].tolist())
        left = Eviction(step, int(features[i]), reason, float(verdicts.statistic[i]), float(p_values[i]), by)
        fallen.append((i, 1, left))
    return [left for *_, left in sorted(fallen, key=lambda each: each[:2])]
