"""Selectors for columns that stream in over fixed rows."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from streamsieve._frames import names_of, take_named
from streamsieve._validation import check_block, matrix, refuse_non_finite, task_of
from streamsieve.base._kept_values import KeptValues
from streamsieve.base._rows_identity import RowsIdentity, index_of
from streamsieve.base.selector import Selector
from streamsieve.base.stop import Stop
from streamsieve.exceptions import NotBegunError, ParameterError, SchemaError, TargetError
from streamsieve.ledger import Ledger
from streamsieve.protocols import (
    BoolArray,
    ColumnBlock,
    Decision,
    Event,
    FloatArray,
    IntArray,
    Position,
    Reason,
    Task,
)
from streamsieve.state import untouched_on_error
from streamsieve.verdicts import REASON_CODE, PValue, Verdicts

#: Values in a block when a whole matrix is offered: 8 MB, so that a block passes through the cache.
BLOCK_VALUES = 2**20

_FLOAT64 = np.dtype(np.float64)


class ColumnSelector(Selector):
    """Choose features from columns that arrive one by one or in blocks, over fixed rows.

    A subclass has the parameters ``task``, ``ledger`` and ``stop`` among its own and writes
    :meth:`_begin`, :meth:`_offer` and :meth:`_selected`.  It keeps only the columns it still needs.

    A stream may go on next week: ``save``, then ``load`` and ``offer`` new columns for the same rows.
    Dataframes with an index are compared with the rows before; for anything else :meth:`same_rows` asks.

    Examples
    --------
    >>> import tempfile, numpy as np, streamsieve as ss
    >>> rng = np.random.default_rng(0)
    >>> y, customers = rng.integers(0, 2, 200), [f"customer {i}" for i in range(200)]
    >>> folder = tempfile.TemporaryDirectory()
    >>> sieve = ss.SAOLA().begin(y, rows=customers)
    >>> _ = sieve.offer(y + rng.normal(size=200), names="visits")
    >>> sieve.save(f"{folder.name}/monday.sieve")

    A week later:

    >>> sieve = ss.load(f"{folder.name}/monday.sieve").same_rows(y, customers)
    >>> _ = sieve.offer(y + rng.normal(size=200), names="orders")
    >>> sieve.get_feature_names_out().tolist()
    ['visits', 'orders']
    >>> sieve.same_rows(rows=customers[::-1])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    streamsieve.exceptions.SchemaError: these are not the rows of the columns before: 200 of 200 ...
    >>> folder.cleanup()
    """

    #: Where to go with a kind of target that this method has no meaning for.
    _elsewhere: ClassVar[str] = ""

    task: str
    ledger: str
    stop: Stop | None

    @abstractmethod
    def _begin(self, y: npt.NDArray[Any]) -> None:
        """Check parameters and bind to the target; ``self.task_`` says what kind it is."""

    @abstractmethod
    def _offer(self, block: ColumnBlock) -> Verdicts:
        """Decide on a block whose first column has arrival number ``self.n_features_in_``.

        Verdicts may be held back: they begin with the first column that has none yet, and may end early.
        """

    @abstractmethod
    def _selected(self) -> Sequence[int] | IntArray:
        """Return the arrival numbers of the columns kept, in order of arrival."""

    def _offer_one(self, x: FloatArray) -> tuple[Reason, float, float] | None:  # noqa: ARG002
        """Reject a single column at once, as (reason, statistic, p-value), or leave it to `_offer`.

        Optional: the fast way for the many columns of a generator that turn out to be junk.  ``x`` is
        a float64 array of the right length that may still hold NaN; then the answer must be None.  Not for
        selectors that hold verdicts back.
        """
        return None

    def _named(self) -> Sequence[int] | IntArray:
        """Return the arrival numbers of the columns that are kept or may still be: their names stay."""
        return self._selected()

    def _cut(self, block: ColumnBlock, part: slice) -> ColumnBlock:
        """Return some columns of a block, without their names."""
        return ColumnBlock(block.X[:, part])

    def _finish(self) -> Verdicts | None:
        """Decide what was held back, because the run has ended; None where nothing ever is."""
        return None

    def _p_value_of(self) -> PValue | None:
        """Return the function that gives p-values to verdicts that came without, when they are read.

        It must not depend on what the selector does later: verdicts may outlive the next ``begin``.
        """
        return None

    # ---------------------------------------------------------------- offering

    def begin(self, y: Any = None, rows: Any = None) -> Self:
        """Start a stream of columns over the rows of y; whatever was kept before is forgotten.

        Parameters
        ----------
        y : one label or number a row
        rows : one identifier a row (text, numbers or dates), by which the rows are known again; a pandas y
            brings its index

        Returns
        -------
        self
        """
        with untouched_on_error(self):
            rows = index_of(y) if rows is None else rows
            y, task = task_of(y, self.task)
            if task not in self.traits.tasks:
                known = " or ".join(sorted(self.traits.tasks))
                raise TargetError(
                    f"{type(self).__name__} needs a {known} target, but y is {task}: {self._elsewhere}"
                )
            if self.stop is not None:
                if not isinstance(self.stop, Stop):
                    raise ParameterError(f"stop must be a Stop or None; got {self.stop!r}")
                self.stop.check()
            self._forget()
            self.task_, self.n_rows_ = str(task), len(y)
            self._identity_ = RowsIdentity.of(y, rows)
            self.n_features_in_ = 0
            #: Where the source of the columns stands, as pairs; None if they had no source.
            self._position_: list[list[Any]] | None = None
            self.stopped_: str | None = None
            self._started_ = time.monotonic()
            self.ledger_ = Ledger(self.ledger)
            if self.stop is not None and self.stop.accuracy is not None:
                self._values_ = KeptValues(len(y))
            self._begin(y)
            self.ledger_.p_value_of = self._p_value_of()
        return self

    def same_rows(self, y: Any = None, rows: Any = None) -> Self:
        """Make sure that a stream goes on over the rows it began with; refuse others.

        Parameters
        ----------
        y : the target, as it was given to ``begin``; a pandas y is compared by its index as well
        rows : the rows' identifiers, as they were given to ``begin``

        Returns
        -------
        self

        Raises
        ------
        TargetError : the target differs; the message names the first row
        SchemaError : the rows differ, or stand in another order; likewise
        """
        self._check_begun("comparing rows")
        if y is None and rows is None:
            raise SchemaError(
                "nothing to compare: give same_rows the target y, the identifiers rows, or both"
            )
        if rows is not None and self._identity_.rows is None:
            raise SchemaError(
                "the rows have no identifiers to compare with: pass begin(y, rows=...), or compare y alone"
            )
        if y is not None:
            self._identity_.check_target(task_of(y, self.task)[0])
            rows = index_of(y) if rows is None else rows
        if rows is not None:
            self._identity_.check_rows(rows)
        return self

    def _check_begun(self, what: str) -> None:
        if not hasattr(self, "ledger_"):
            raise NotBegunError(f"call {type(self).__name__}.begin(y) before {what}")

    def offer(self, X: Any, names: Sequence[str] | str | None = None) -> Sequence[Decision]:
        """Offer one column or a block of columns; each is decided at once.

        Parameters
        ----------
        X : a column (1-d) or a block (2-d, dense, sparse or dataframe) over the rows given to ``begin``, or a
            block of a source with all it knows; a pandas index must be that of ``begin`` or of the first
            dataframe, in the same order
        names : their names, unlike any before; a dataframe brings its own; else x0, x1, ...

        Returns
        -------
        sequence of Decision
            One for each column, in order, and one for each earlier feature evicted on the way.
        """
        self._check_begun("offering columns")
        names = [names] if isinstance(names, str) else names
        if type(X) is np.ndarray and X.ndim == 1 and X.dtype is _FLOAT64 and self.stopped_ is None:
            decided = self._offer_fast(X, names)
            if decided is not None:
                return decided
        if isinstance(X, ColumnBlock):
            return self._offer_read(X, X.names if names is None else names)
        return self._offer_checked(X, names)

    def _offer_read(self, block: ColumnBlock, names: Sequence[str] | None) -> Sequence[Decision]:
        """Offer a block of a source, and remember what the source says about it."""
        X, start = block.X, self.n_features_in_
        try:
            if type(X) is np.ndarray and X.shape[1] == 1 and X.dtype is _FLOAT64 and self.stopped_ is None:
                decided = self._offer_fast(X[:, 0], names)
                if decided is not None:
                    return decided
            return self._offer_checked(X, names)
        finally:  # if a callback failed, some columns were decided before
            self._note_source(block, start)

    def _note_source(self, block: ColumnBlock, start: int) -> None:
        """Remember where the source stands, and how long the columns since ``start`` took."""
        done, width = self.n_features_in_ - start, block.X.shape[1]
        if done == 0:
            return
        position = dict(block.position)
        if done < width:
            position = {"column": position.get("column", 0) - width + done}
        self._position_ = [[key, int(at)] for key, at in position.items()]
        if block.seconds is not None:
            columns: Sequence[int] = range(start, start + done)
            if self.ledger_.keep == "kept":
                named = {int(feature) for feature in self._named()}
                columns = [feature for feature in columns if feature in named]
            self.ledger_.clock(columns, (block.seconds[feature - start] for feature in columns))

    @property
    def position_(self) -> Position | None:
        """Where the source stands of which the last block was offered: ``start`` for going on after it.

        None if the columns came without a source.  It is saved with the selector.
        """
        self._check_begun("asking for the position")
        return None if self._position_ is None else {str(key): at for key, at in self._position_}

    def _offer_checked(
        self, X: Any, names: Sequence[str] | None, shape: Callable[[ColumnBlock], ColumnBlock] | None = None
    ) -> Verdicts:
        """Offer a block after a look at its values and its rows; ``shape`` may add to it."""
        block, rows = self._checked(X, names), index_of(X)
        if rows is not None:
            self._identity_.check_rows(rows)
        verdicts = self._offer_block(block if shape is None else shape(block))
        if rows is not None:
            self._identity_.learn_rows(rows)
        self.__dict__.pop("feature_names_in_", None)  # of a fit before: no longer all there is
        return verdicts

    def _checked(self, X: Any, names: Sequence[str] | None) -> ColumnBlock:
        """Return a block whose shape and values were looked at."""
        plain = type(X) is np.ndarray and X.dtype is _FLOAT64 and X.ndim == 2 and X.shape[1] > 0
        if plain and X.shape[0] == self.n_rows_ and (names is None or len(names) == X.shape[1]):
            # scikit-learn's look at it would take longer than most decisions, and find nothing
            refuse_non_finite(X, names, missing=self.traits.missing)
            return ColumnBlock(X, None if names is None else tuple(names))
        return check_block(X, names, self.n_rows_, missing=self.traits.missing)

    def _offer_fast(self, x: FloatArray, names: Sequence[str] | None) -> tuple[Decision] | None:
        step, ledger = self.n_features_in_, self.ledger_
        if x.shape[0] != self.n_rows_ or (names is not None and len(names) != 1):
            return None
        if names is not None:
            ledger.names.check(names, step)
        verdict = self._offer_one(x)
        if verdict is None:
            return None
        if names is not None:
            ledger.names.claim(names, step)
        decision = Decision(step, ledger.names[step], Event.REJECTED, *verdict)
        ledger.note(decision)
        if names is not None and ledger.keep != "all":
            ledger.names.forget((step,))
        self.n_features_in_ = step + 1
        self.__dict__.pop("feature_names_in_", None)
        if self.stop is not None:
            self.stopped_ = self.stop.reached(self, self._started_, kept_one=False)
        return (decision,)

    def _offer_block(self, block: ColumnBlock) -> Verdicts:
        start, width = self.n_features_in_, block.X.shape[1]
        names = self.ledger_.names
        if block.names is not None:
            names.claim(block.names, start)
        try:
            verdicts = self._offer(block) if self.stop is None else self._offer_until_stop(block)
        except BaseException:
            names.forget(range(self.n_features_in_, start + width), for_good=True)
            raise
        self.n_features_in_ = start + width
        decided = range(verdicts.start, verdicts.start + len(verdicts.reason))
        as_offered = decided == range(start, start + width)
        verdicts.given = block.names
        if not as_offered:
            verdicts.given = tuple(names[i] for i in decided) if names.given else None
        verdicts.departed = {e.feature: names[e.feature] for e in verdicts.evictions}
        self.ledger_.record(verdicts)
        if verdicts.given is not None and self.ledger_.keep != "all":
            kept = {*self._named()}
            names.forget(i for i in decided if i not in kept)
            names.forget(eviction.feature for eviction in verdicts.evictions)
        return verdicts

    def _offer_until_stop(self, block: ColumnBlock) -> Verdicts:
        """Offer pieces so small that rules on numbers are met exactly, whatever the size of the block."""
        stop, start, width = self.stop, self.n_features_in_, block.X.shape[1]
        parts: list[Verdicts] = []
        done = 0
        try:
            while done < width and self.stopped_ is None and stop is not None:
                size = 1 if stop.watches_features else width - done
                if stop.max_offers is not None:
                    size = min(size, stop.max_offers - self.n_features_in_)
                if size > 0:
                    part = self._offer(self._cut(block, slice(done, done + size)))
                    parts.append(part)
                    self.n_features_in_ += size
                    if stop.accuracy is not None:
                        self._keep_values(block.X[:, done : done + size], start + done)
                    done += size
                kept_one = size > 0 and len(part.kept()) > 0
                self.stopped_ = stop.reached(self, self._started_, kept_one=kept_one)
            rest = self._finish() if self.stopped_ is not None else None
            parts += [rest] if rest is not None else []
        except BaseException:  # a callback failed: what was decided before stands, and is on record
            self.ledger_.record(_joined(start, parts, 0, block.names))
            raise
        self.n_features_in_ = start
        return _joined(start, parts, width - done, block.names)

    def _keep_values(self, X: Any, start: int) -> None:
        """Remember the values of the columns that are kept or may still be, for ``stop.accuracy``."""
        if not hasattr(self, "_values_"):
            raise ParameterError(
                "stop.accuracy came when columns had been offered already, whose values are gone: give it "
                "before begin(y)"
            )
        self._values_.take(X, start, self._named())

    def _kept_values(self) -> FloatArray:
        """Return the values of the kept columns, rows x kept, in order of arrival."""
        return self._values_.of(self.selected_)

    # ---------------------------------------------------------------- the scikit-learn face

    def fit(self, X: Any, y: Any = None) -> Self:
        """Offer the columns of X in order: ``begin(y)``, then block after block.

        Parameters
        ----------
        X : all columns (dense, sparse or dataframe)
        y : one label or number a row

        Returns
        -------
        self
        """
        with untouched_on_error(self):
            for block in self._fit_blocks(X, y):
                self._offer_block(block)
        return self

    def _fit_blocks(self, X: Any, y: Any) -> Iterator[ColumnBlock]:
        """Begin, and yield the blocks to offer."""
        names, rows = names_of(X), index_of(X)
        self.__dict__.pop("feature_names_in_", None)
        X = matrix(self, X, reset=True, sparse="csc")
        feature_names = self.__dict__.get("feature_names_in_")
        self.begin(y)
        if X.shape[0] != self.n_rows_:
            raise TargetError(f"X has {X.shape[0]} rows, but y has {self.n_rows_}: one label a row")
        if rows is not None:  # X and y belong together by order, as everywhere in scikit-learn
            self._identity_ = self._identity_.over(rows)
        for part in _pieces(X):
            some = None if names is None else tuple(names[part])
            piece = X if part == slice(0, X.shape[1]) else X[:, part]
            piece = piece.astype(np.float64, copy=False)
            refuse_non_finite(piece, some, missing=self.traits.missing)  # all else was looked at above
            yield ColumnBlock(piece, some)
        self.n_features_in_ = X.shape[1]
        if feature_names is not None:
            self.feature_names_in_ = feature_names

    @property
    def selected_(self) -> IntArray:
        """Arrival numbers of the columns kept, in order of arrival."""
        if not hasattr(self, "ledger_"):
            raise AttributeError("selected_ is there after begin(y) or fit(X, y)")
        return np.asarray(self._selected(), np.int64)

    def _support(self) -> BoolArray:
        mask = np.zeros(self.n_features_in_, bool)
        mask[self.selected_] = True
        return mask

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[Any]:
        """Return the names of the kept columns, in order of arrival.

        Parameters
        ----------
        input_features : names of all columns, where scikit-learn passes them on; must fit those known
        """
        known = self.get_support()
        if hasattr(self, "feature_names_in_") or input_features is not None:
            names: npt.NDArray[Any] = super().get_feature_names_out(input_features)
            return names
        return np.array([self.ledger_.names[int(i)] for i in np.flatnonzero(known)], dtype=object)

    def _transform_frame(self, X: Any) -> Any:
        if hasattr(self, "feature_names_in_") or names_of(X) is None:
            return super()._transform_frame(X)
        return take_named(X, self.get_feature_names_out().tolist())

    def _learnt(self) -> dict[str, Any]:
        # time already spent, so that a resumed run keeps to its budget of seconds
        return {**super()._learnt(), "_started_": time.monotonic() - self._started_}

    def _restored(self) -> None:
        self._started_ = time.monotonic() - float(self._started_)
        self.ledger_.p_value_of = self._p_value_of()
        Task(self.task_)
        self.__dict__.setdefault("_identity_", RowsIdentity(self.n_rows_, None, None))
        self.__dict__.setdefault("_position_", None)
        for part in self.__dict__.values():  # kernels trust that every part stands over the same rows
            if getattr(part, "n", self.n_rows_) != self.n_rows_:
                raise ValueError(f"a {type(part).__name__} has {part.n} rows, but the target {self.n_rows_}")
        if not 0 <= len(self.selected_) <= self.n_features_in_:
            raise ValueError("more columns are kept than were offered")
        if self.ledger_.clocked > self.n_features_in_:
            raise ValueError("there are times of columns that were never offered")


def _pieces(X: Any) -> Iterator[slice]:
    """Cut the columns of a matrix into blocks that pass through the cache."""
    n, p = X.shape
    values = X.nnz if hasattr(X, "nnz") else n * p
    size = max(1, min(p, int(BLOCK_VALUES * p / max(values, 1))))
    return (slice(low, min(low + size, p)) for low in range(0, p, size))


def _joined(start: int, parts: list[Verdicts], rest: int, names: Sequence[str] | None) -> Verdicts:
    """Put the verdicts on the pieces of a block together; the rest came after the stop."""
    if parts and parts[0].start < start:  # verdicts had been held back: the names are not those of the block
        start, names = parts[0].start, None
    stopped = np.full(rest, REASON_CODE[Reason.STOPPED], np.uint8)
    no_value = [np.full(rest, np.nan)]
    all_p = [part.p_value for part in parts if part.p_value is not None]
    whole = Verdicts(
        start,
        np.concatenate([*(part.reason for part in parts), stopped]),
        np.concatenate([*(part.statistic for part in parts), *no_value]),
        np.concatenate([*all_p, *no_value]) if len(all_p) == len(parts) else None,
        {index: by for part in parts for index, by in part.by.items()},
        [eviction for part in parts for eviction in part.evictions],
    )
    whole.given = names
    return whole
