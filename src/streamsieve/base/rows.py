"""Base class for selectors of streaming rows: the life cycle (fit, partial_fit, learn, merge)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import ne
from typing import Any, ClassVar, Self

import numpy as np

from streamsieve._one_thread import changes
from streamsieve._text import shown
from streamsieve._validation import check_batch, check_classes, check_named_rows, check_rows, question_labels
from streamsieve._values import LIGHTEST, bad_value
from streamsieve.base.covered import CoveredParts
from streamsieve.base.fitted import fitted_property
from streamsieve.base.merging import MergingRows
from streamsieve.base.open_features import NullEstimator
from streamsieve.base.ranking import OUTPUTS, RankedFeatures
from streamsieve.base.row_buffer import SMALL, RowBuffer
from streamsieve.base.selector import Selector
from streamsieve.base.top_set import TopSet
from streamsieve.base.vocabulary import HashedVocabulary, Vocabulary
from streamsieve.exceptions import BadValueError, CapabilityError, InputError, SchemaError
from streamsieve.feature_names import FeatureNames
from streamsieve.ledger import KEEP, Ledger
from streamsieve.protocols import IntArray, RowBatch, Task
from streamsieve.state import Bool, Choice, Field, Int, Nested, Texts, untouched_on_error
from streamsieve.state.tree import UNPROVEN

#: Maximum number of labels in the text representation of a selector.
SHOWN_LABELS = 6


class RowSelector(MergingRows, RankedFeatures, Selector):
    """Base class for selecting features from rows that arrive in batches, in one pass.

    A subclass implements three methods: :meth:`_start` creates the empty state, :meth:`_learn` learns a batch
    (entirely or, on an error, not at all), and :meth:`_scores` returns one score per feature, larger is
    better.  It implements :meth:`_merge` if its traits say that it merges, and :meth:`_choose` if the
    selection is not simply the k best.  Parameters and fitted attributes are declared in ``parameters`` and
    ``fields``; the same rules check them on the first batch and on loading.

    The base class provides the rest: ``fit``, ``partial_fit``, ``learn``, dict rows, ``selected_``,
    ``ranked_``, ``scores_``, ``ledger_``, ``transform`` with ``output="drop"``, ``"zero"`` or ``"frozen"``,
    ``save`` and ``load``.

    The features are fixed by the first batch (``fit``, ``partial_fit``, ``learn``) or open (``learn_one``,
    ``learn_many``), in which case later batches may be wider; see
    :class:`~streamsieve.base.open_features.OpenFeatures`.  Small batches are buffered if ``_buffers_rows`` is
    set.  An object is for one thread at a time: a second one gets ``ConcurrentUseError``.

    Examples
    --------
    >>> import numpy as np, streamsieve as ss
    >>> from streamsieve.protocols import Traits
    >>> from streamsieve.state import Array, Int, register
    >>> @register
    ... class NonZero(ss.RowSelector):
    ...     '''Keep the features that are most often different from 0.'''
    ...     _traits = Traits(merges=True)
    ...     fields = {"counts_": Array("i8", "features", low=0)}
    ...     def __init__(self, k=None, *, output="drop", ledger="all"):
    ...         self.k, self.output, self.ledger = k, output, ledger
    ...     def _start(self, batch):
    ...         self.counts_ = np.zeros(0, np.int64)
    ...     def _learn(self, batch):
    ...         late = self.n_features_in_ - len(self.counts_)  # with learn_one, features may appear
    ...         self.counts_ = np.pad(self.counts_, (0, late)) + np.asarray((batch.X != 0).sum(axis=0))
    ...     def _scores(self):
    ...         return self.counts_ / max(1, self.n_samples_seen_)
    >>> selector = NonZero(k=1).fit([[0.0, 1.0, 2.0], [0.0, 0.0, 3.0]], [0, 1])
    >>> selector.selected_, selector.scores_, len(selector.ledger_)
    (array([2]), array([0. , 0.5, 1. ]), 1)
    >>> NonZero.from_bytes(selector.to_bytes()).transform([[5.0, 6.0, 7.0]])
    array([[7.]])
    """

    parameters: ClassVar[Mapping[str, Any]] = {
        "k": Int(1, optional=True),
        "output": Choice(*OUTPUTS),
        "ledger": Choice(*KEEP),
    }
    fields: ClassVar[Mapping[str, Field]] = {
        "n_features_in_": Int(0, 2**31 - 1),
        "n_samples_seen_": Int(),
        "_fixed_": Bool(),
        "_names_in_": Texts("names", optional=True),
        "_vocabulary_": Nested(Vocabulary, HashedVocabulary, optional=True),
        "_ledger_": Nested(Ledger),
        "_top_": Nested(TopSet),
        "_covered_": Nested(CoveredParts, optional=True),
    }
    _caches: ClassVar[frozenset[str]] = frozenset({"_cache_"})
    #: Whether the result is independent of how rows are cut into batches: small batches may then be buffered.
    _buffers_rows: ClassVar[bool] = False
    _lazy: ClassVar[bool] = True

    @property
    def _target(self) -> str | None:
        """Type of ``y`` needed: "classes", "numeric", "auto" (by its values), or None for no target."""
        return "classes"

    @abstractmethod
    def _start(self, batch: RowBatch) -> None:
        """Create the empty state on the first batch; the parameters have been checked."""

    @abstractmethod
    def _learn(self, batch: RowBatch) -> None:
        """Learn a batch."""

    def _merge(self, other: Self, columns: IntArray | None = None) -> None:
        """Merge another selector, whose feature i is our ``columns[i]``, or i if that is None."""

    # ---------------------------------------------------------------- learning

    def fit(self, X: Any, y: Any = None) -> Self:
        """Discard everything learned and learn from these rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Rows; NaN means missing if the selector supports missing values.
        y : array-like of shape (n_samples,), default=None
            The target: one label or number per row.

        Returns
        -------
        self
        """
        return self._fit(X, y, None)

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None) -> Self:
        """Learn a batch of rows.

        Parameters
        ----------
        X, y : as for :meth:`fit`
            The features must be those of the first batch.
        classes : array-like, default=None
            All labels that may occur, as for scikit-learn's incremental estimators.  Not needed, as labels
            may appear at any time; if given, other labels in ``y`` are an error.

        Returns
        -------
        self
        """
        return self._partial_fit(X, y, None, classes)

    def _fit(self, X: Any, y: Any, weight: Any) -> Self:
        self._check_values()
        with untouched_on_error(self):
            self._forget()
            return self._take(X, y, weight, first=True)

    def _partial_fit(self, X: Any, y: Any, weight: Any, classes: Any = None) -> Self:
        if classes is not None:
            self._check_values()
            check_classes(y, classes, self._target)
        if self._buffer is not None and weight is None and self._buffer.take(X, y):
            self.n_samples_seen_ += len(y)
            self._invalidate()
            return self
        first = not hasattr(self, "n_features_in_")
        if not first and not self._fixed_:
            self._learn_frame(X, y, weight)
            return self
        if not first:
            return self._take(X, y, weight, first=False)
        self._check_values()
        with untouched_on_error(self):
            return self._take(X, y, weight, first=True)

    def learn(self, batch: RowBatch) -> Self:
        """Learn a batch of a source, with its names and weights.

        Parameters
        ----------
        batch : RowBatch
            A batch as yielded by the ``rows`` method of a source.  Its features must be those of the first
            batch, unless the first rows were learned by :meth:`learn_one` or :meth:`learn_many`.

        Returns
        -------
        self
        """
        check_batch(batch)
        if batch.names is None:
            return self._partial_fit(batch.X, batch.y, batch.weight)
        first = not hasattr(self, "n_features_in_")
        if not first and not self._fixed_:
            checked = check_named_rows(NullEstimator(), batch, target=self._target)
            self._learn_open([str(name) for name in batch.names], checked)
            return self
        if first:
            self._check_values()
            FeatureNames().check(batch.names, 0)
        else:
            self._check_names(batch.names)
        checked = check_named_rows(self, batch, target=self._target)
        with untouched_on_error(self):
            if first:
                self._begin_named(batch.names, checked)
            return self._learn_named(checked)

    def declare(self, batch: RowBatch) -> Self:
        """Fix the features, their names and the type of target by a batch, without learning its rows.

        The result has seen no rows: it is the neutral element of :meth:`merge`, and later batches must have
        the same features.  Use it where parts of a stream are learned separately.

        Parameters
        ----------
        batch : RowBatch
            A batch of the source.  Its values do not matter, except that fractions in ``y`` imply regression
            if the task is not given.

        Returns
        -------
        self

        Examples
        --------
        >>> import numpy as np, streamsieve as ss
        >>> source = ss.open(np.eye(4), target=[0, 1, 0, 1])
        >>> empty = ss.Screen("f", k=1).declare(next(source.rows()))
        >>> empty.n_samples_seen_, empty.merge(ss.run(source, ss.Screen("f", k=1))).n_samples_seen_
        (0, 4)
        """
        if hasattr(self, "n_features_in_"):
            raise CapabilityError(
                "declare must be called before the first rows, but some were learned already"
            )
        check_batch(batch)
        self._check_values()
        FeatureNames().check(() if batch.names is None else batch.names, 0)
        with untouched_on_error(self):
            if batch.names is None:
                target = self._target
                self._begin_rows(check_rows(self, batch.X, batch.y, batch.weight, target=target, reset=True))
            else:
                self._begin_named(batch.names, check_named_rows(self, batch, target=self._target))
        return self

    def _check_names(self, names: Sequence[str]) -> None:
        """Raise ``SchemaError`` if the features are not those of the first batch, in the same order."""
        known = getattr(self, "_names_in_", None)
        if known is None:
            raise SchemaError(
                "earlier rows had no feature names, but this batch has: give names always or never"
            )
        if len(names) != len(known):
            raise SchemaError(f"the batch has {len(names)} features, but {len(known)} were seen")
        if any(map(ne, names, known)):
            seen = set(known)
            new = next((name for name in names if name not in seen), None)
            what = "some are missing or in another order" if new is None else f"{new!r} is new"
            raise SchemaError(f"the features of this batch are not those of the first one: {what}")

    def _begin_named(self, names: Sequence[str], batch: RowBatch) -> None:
        """Fix the features by the names of the first batch."""
        self.n_features_in_: int = len(names)
        self._names_in_ = np.array(list(names), dtype=object)
        self._begin_rows(batch)

    def _begin_rows(self, batch: RowBatch) -> None:
        if batch.weight is not None and not batch.weight.any():
            raise InputError(
                f"all sample weights are zero, or below {LIGHTEST:g}: there is nothing to learn from"
            )
        tasks, has_task = self.traits.tasks, hasattr(self, "task")
        unsure = self._target == "classes" and Task.MULTICLASS in tasks
        if unsure and batch.y is not None and getattr(self, "task", "auto") == "auto":
            question_labels(batch.y, type(self).__name__, has_task=has_task)
        self._fixed_ = True
        self._begin(batch)

    def _begin(self, batch: RowBatch) -> None:
        """Check the parameters and make the empty state; the features are known."""
        self._check_parameters()
        self._check_k()
        self.n_samples_seen_ = 0
        self._start_ranking()
        self._start(batch)

    def _learn_rows(self, batch: RowBatch) -> None:
        """Learn a batch, and drop cached results."""
        self._learn(batch)
        self._invalidate()

    def _take(self, X: Any, y: Any, weight: Any, *, first: bool) -> Self:
        batch = check_rows(self, X, y, weight, target=self._target, reset=first)
        if first:
            self._begin_rows(batch)
        self._learn_named(batch)
        if self._buffers_rows and batch.X.shape[0] <= SMALL and not hasattr(self, "feature_names_in_"):
            self._buffer_arrays(batch.X)
        return self

    # ---------------------------------------------------------------- the buffer of small batches

    def _known_labels(self) -> Iterable[Any]:
        """Return the labels that ``_learn`` is sure to accept; only rows with these are buffered."""
        return ()

    def _buffer_arrays(self, X: Any) -> None:
        """Set up the buffer for batches like this one."""
        if isinstance(X, np.ndarray) and X.dtype.kind == "f":
            if not isinstance(self._buffer, RowBuffer) or self._buffer.rows.dtype != X.dtype:
                self._buffer = RowBuffer(X.shape[1], X.dtype, numeric=self._target == "numeric")
            self._buffer.known = frozenset(self._known_labels())

    def _flush_buffer(self) -> None:
        """Learn the rows that are buffered."""
        if self._unchecked and hasattr(self, "n_features_in_"):
            self._check_changed()
        if self._buffer is not None and self._buffer.labels:
            self._learn_buffered(self._buffer)

    @changes
    def _learn_buffered(self, buffer: Any) -> None:
        X, y = buffer.drain()
        self.n_samples_seen_ -= len(y)
        self._learn_rows(RowBatch(X, y))
        self.n_samples_seen_ += len(y)

    def _refresh(self) -> None:
        self._flush_buffer()

    def _forget(self) -> None:
        super()._forget()
        self._buffer = None

    def _fitted_attributes(self) -> dict[str, Any]:
        self._flush_buffer()
        return super()._fitted_attributes()

    def _learn_named(self, batch: RowBatch) -> Self:
        self._flush_buffer()
        try:
            self._learn_rows(batch)
        except BadValueError as error:
            names = getattr(self, "feature_names_in_", None)
            raise bad_value(error.feature, error.value, names) from error
        self.n_samples_seen_ += batch.X.shape[0]
        return self

    @fitted_property
    def task_(self) -> str:
        """Type of target: "regression", "binary" if at most two labels were seen, or "multiclass"."""
        if self._learns_numbers:
            return str(Task.REGRESSION)
        n_labels = 2 if self.traits.tasks == {Task.BINARY} else len({*self._remembered_labels()})
        if n_labels == 0:
            raise AttributeError(f"{type(self).__name__} remembers no labels, so there is no task_")
        return str(Task.BINARY if n_labels <= 2 else Task.MULTICLASS)

    def _target_line(self) -> str:
        if self._target is None:
            return ""
        if self._learns_numbers:
            return "target: numeric"
        labels = sorted(map(shown, self._remembered_labels()))
        some = f"{', '.join(labels[:SHOWN_LABELS])}{', ...' * (len(labels) > SHOWN_LABELS)}"
        return f"target: {len(labels)} class{'es' * (len(labels) != 1)} ({some})" if labels else ""

    def _remembered_labels(self) -> Iterable[Any]:
        """Return the labels seen, or None if they are not stored."""
        return self._known_labels()

    @property
    def _learns_numbers(self) -> bool:
        """Whether the target is numeric."""
        return bool(getattr(self, "_regression_", False))

    def _restored(self) -> None:
        self._cache_ = {}

    def _consistent(self) -> Iterator[str]:
        yield from super()._consistent()
        yield from self._name_problems()
        top = self._top_
        if (top.names is not None) is not self._forgets_names:
            yield "the selected features have names that they should not have, or lack them"
        if top.rows > self.n_samples_seen_:
            yield f"the selection is of row {top.rows:,}, and {self.n_samples_seen_:,} were learned"
        for columns in (top.features, top.frozen) if top.names is None else ():
            if (
                columns is not None
                and len(columns)
                and (columns[-1] >= self.n_features_in_ or np.any(np.diff(columns) <= 0))
            ):
                yield "the selected features are not among its features"

    def _proven_features(self, *widths: int) -> Iterator[str]:
        """Yield a problem if no array in the state has the claimed number of features."""
        named = "_names_in_" in self.__dict__ or "_vocabulary_" in self.__dict__
        if not named and self.n_features_in_ > max(UNPROVEN, *widths):
            yield f"it claims {self.n_features_in_:,} features, but has no array of that size"
