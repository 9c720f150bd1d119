"""Selectors for rows that stream in."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from streamsieve._frames import names_of
from streamsieve._validation import (
    bad_value,
    check_named_rows,
    check_rows,
    check_traits,
    refuse_non_finite,
)
from streamsieve.base._open_input import Anyone, dict_row, one_target, refuse_infinite_named
from streamsieve.base._pending import SMALL, Pending, PendingDicts
from streamsieve.base._vocabulary import Arrival, HashedVocabulary, Vocabulary, scattered, spread
from streamsieve.base.selector import Selector
from streamsieve.exceptions import (
    BadValueError,
    CapabilityError,
    InputError,
    InputTypeError,
    MergeError,
    SchemaError,
    StateError,
)
from streamsieve.protocols import IntArray, RowBatch
from streamsieve.state import untouched_on_error


class RowSelector(Selector):
    """Choose features from rows that arrive in batches, in one pass.

    A subclass writes :meth:`_start`, :meth:`_learn` and :meth:`_support`, and :meth:`_merge` if its
    traits say that it merges.  ``_learn`` takes a batch wholly or, on an error, not at all.

    The features are fixed by the first batch (``fit``, ``partial_fit``, ``learn``) or open (``learn_one``,
    ``learn_many``).  Open features are known by name and may come and go at any time.  What an absent one
    means depends on the rows: 0 in a dict or a sparse batch, which leave zeros out; missing in a dense
    batch, whose columns hold whatever there is (0 where the traits have no missing values).  A late
    feature was absent before.

    With a number of ``hashed`` slots, open features share these slots and memory stays bounded; a slot
    holds the sum of its features, so absent means 0 in any kind of rows.
    """

    #: Whether small batches may be kept for a while and learnt together; see :meth:`_known_labels`.
    _gathers: ClassVar[bool] = False
    _pending: Pending | PendingDicts | None = None

    @property
    def _slots(self) -> int | None:
        """How many slots open features are hashed into; None gives each its own."""
        slots: int | None = getattr(self, "hashed", None)
        return slots

    @property
    def _target(self) -> str | None:
        """What ``y`` must be: "classes", "numeric", or None if it is not needed."""
        return "classes"

    @abstractmethod
    def _start(self, batch: RowBatch) -> None:
        """Check parameters and make the empty state, on the first batch."""

    @abstractmethod
    def _learn(self, batch: RowBatch) -> None:
        """Take a batch into account."""

    def _merge(self, other: Self, columns: IntArray | None = None) -> None:
        """Take the other's rows into account; its feature i is our ``columns[i]``, or i where None."""

    def _known_labels(self) -> Iterable[Any]:
        """Return the labels that :meth:`_learn` cannot refuse, where small batches are gathered."""
        return ()

    # ---------------------------------------------------------------- learning

    def fit(self, X: Any, y: Any = None) -> Self:
        """Forget everything and learn from these rows alone.

        Parameters
        ----------
        X : rows (dense, sparse or dataframe); NaN means missing where the traits say so
        y : one label or number a row

        Returns
        -------
        self
        """
        return self._fit(X, y, None)

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn from some more rows.

        Parameters
        ----------
        X, y : as for :meth:`fit`; the features must be those of the first batch

        Returns
        -------
        self
        """
        return self._partial_fit(X, y, None)

    def _fit(self, X: Any, y: Any, weight: Any) -> Self:
        with untouched_on_error(self):
            self._forget()
            return self._take(X, y, weight, first=True)

    def _partial_fit(self, X: Any, y: Any, weight: Any) -> Self:
        if self._pending is not None and weight is None and self._pending.take(X, y):
            self.n_rows_seen_ += len(y)
            self._stale()
            return self
        first = not hasattr(self, "n_features_in_")
        if not first and not self._fixed_:
            self._learn_frame(X, y, weight)
            return self
        if not first:
            return self._take(X, y, weight, first=False)
        with untouched_on_error(self):
            return self._take(X, y, weight, first=True)

    def learn(self, batch: RowBatch) -> Self:
        """Learn a batch of a source, with its names and weights.

        Parameters
        ----------
        batch : what a source's ``rows`` yields; all batches have the features of the first one, unless
            it came by :meth:`learn_one` or :meth:`learn_many`

        Returns
        -------
        self
        """
        if not isinstance(batch, RowBatch):
            raise InputTypeError(
                f"learn takes a batch of a source, got a {type(batch).__name__}: "
                "use partial_fit(X, y) for arrays"
            )
        if batch.names is None:
            return self._partial_fit(batch.X, batch.y, batch.weight)
        first = not hasattr(self, "n_features_in_")
        width = batch.X.shape[1]
        if not first and not self._fixed_:
            checked = check_named_rows(Anyone(), batch, None, target=self._target)
            if len(batch.names) != width:
                raise SchemaError(f"the batch has {width} features, but {len(batch.names)} names")
            self._learn_open([str(name) for name in batch.names], checked)
            return self
        known = None if first else getattr(self, "_names_in_", None)
        if not first and known is None:
            raise SchemaError(
                "earlier rows came without names, this batch has some: give names always or never"
            )
        if not first and width != self.n_features_in_:
            raise SchemaError(f"the batch has {width} features, but {self.n_features_in_} were seen")
        checked = check_named_rows(self, batch, known, target=self._target)
        with untouched_on_error(self):
            if first:
                self.n_features_in_: int = width
                self._names_in_ = np.array(list(batch.names), dtype=object)
                self._begin_rows(checked)
            return self._learn_named(checked)

    def _begin_rows(self, batch: RowBatch) -> None:
        if batch.weight is not None and not batch.weight.any():
            raise InputError("all sample weights are zero: there is nothing to learn from")
        self._fixed_ = True
        self.n_rows_seen_ = 0
        self._start(batch)

    def _take(self, X: Any, y: Any, weight: Any, *, first: bool) -> Self:
        batch = check_rows(self, X, y, weight, target=self._target, reset=first)
        if first:
            self._begin_rows(batch)
        self._learn_named(batch)
        if self._gathers and batch.X.shape[0] <= SMALL and not hasattr(self, "feature_names_in_"):
            self._gather(batch)
        return self

    def _gather(self, batch: RowBatch) -> None:
        """Prepare to keep small batches like this one, so that many of them cost one pass."""
        if not isinstance(batch.X, np.ndarray) or batch.X.dtype.kind != "f":
            return
        pending = self._pending
        if not isinstance(pending, Pending) or pending.rows.dtype != batch.X.dtype:
            pending = Pending(batch.X.shape[1], batch.X.dtype, numeric=self._target == "numeric")
        pending.known = frozenset(self._known_labels())
        self._pending = pending

    def _gather_dicts(self) -> None:
        """Prepare to keep dict rows, so that many of them cost one pass."""
        vocabulary = getattr(self, "_vocabulary_", None)
        if not self._gathers or type(vocabulary) is not Vocabulary:
            return
        pending = self._pending
        if not isinstance(pending, PendingDicts) or pending.vocabulary is not vocabulary:
            pending = PendingDicts(vocabulary, numeric=self._target == "numeric")
        pending.known = frozenset(self._known_labels())
        self._pending = pending

    def _catch_up(self) -> None:
        """Learn the rows that were kept."""
        pending = self._pending
        if pending is not None and pending.labels:
            X, y = pending.drain()
            self.n_rows_seen_ -= len(y)
            self._learn(RowBatch(X, y))
            self.n_rows_seen_ += len(y)

    def _stale(self) -> None:
        """Drop what was computed before rows were kept."""

    def _forget(self) -> None:
        super()._forget()
        self._pending = None

    def _learnt(self) -> dict[str, Any]:
        self._catch_up()
        return super()._learnt()

    def _learn_named(self, batch: RowBatch) -> Self:
        self._catch_up()
        try:
            self._learn(batch)
        except BadValueError as error:
            names = getattr(self, "feature_names_in_", None)
            raise bad_value(error.feature, error.value, names) from error
        self.n_rows_seen_ += batch.X.shape[0]
        return self

    # ---------------------------------------------------------------- open vocabularies (river)

    def learn_one(self, x: Mapping[str, float], y: Any = None) -> None:
        """Learn one row given as ``{feature: value}``; new features are welcome, absent ones are 0."""
        pending = self._pending
        if pending is not None and pending.take(x, y):
            self.n_rows_seen_ += 1
            self.n_features_in_ = pending.width
            self._stale()
            return
        names, values = dict_row(x)
        target = None if self._target is None else one_target(y, self._target)
        if not self.traits.missing:
            refuse_non_finite(values[None, :], names)
        vocabulary, arrival = self._meet(names)
        collided = 0
        if arrival.foreign:
            collided = int(np.count_nonzero(values[arrival.foreign]))
            refuse_infinite_named(values[None, :], names)
        X = scattered(values, arrival.ids, np.array([0, len(names)], np.int32), arrival)
        self._learn_arrived(vocabulary, arrival, names, RowBatch(X, target), collided)
        self._gather_dicts()

    def learn_many(self, X: Any, y: Any = None) -> None:
        """Learn rows of a dataframe whose columns may come and go.

        Parameters
        ----------
        X : dataframe; an absent column is missing in these rows if they are dense, and 0 if they are
            sparse or the selector's traits have no missing values
        y : as for :meth:`fit`

        Notes
        -----
        Dense rows take memory for all features known.
        """
        self._learn_frame(X, y, None)

    def _learn_frame(self, X: Any, y: Any, weight: Any) -> None:
        names = names_of(X)
        if names is None:
            raise SchemaError(
                "features are known by name here (learn_one, learn_many): give a dataframe; arrays go to "
                "partial_fit of a selector that began with arrays"
            )
        if not names:
            raise SchemaError("the dataframe has no columns: give at least one, or leave its rows out")
        self._learn_open(names, check_rows(Anyone(), X, y, weight, target=self._target, reset=True))

    def _learn_open(self, names: list[str], batch: RowBatch) -> None:
        """Learn rows whose columns are in the order of the names."""
        X, missing = batch.X, self.traits.missing
        # columns, because the check counts on them to say which feature it is
        by_columns = X.tocsc() if sp.issparse(X) and not missing else X
        check_traits(self, by_columns, batch.weight, names)
        vocabulary, arrival = self._meet(names)
        collided = 0
        if missing and not sp.issparse(X) and not isinstance(vocabulary, HashedVocabulary):
            X = spread(X, arrival)
        else:
            X = sp.csr_array(X)
            if arrival.foreign:
                collided = int(np.count_nonzero(X.data[np.isin(X.indices, arrival.foreign)]))
                refuse_infinite_named(X, names)
            X = scattered(X.data, arrival.ids[X.indices], X.indptr, arrival)
        self._learn_arrived(vocabulary, arrival, names, RowBatch(X, batch.y, batch.weight), collided)

    def _meet(self, names: list[str]) -> tuple[Vocabulary | HashedVocabulary, Arrival]:
        vocabulary = self._vocabulary()
        arrival = vocabulary.meet(names)
        if not getattr(self, "_fixed_", False):
            return vocabulary, arrival
        if arrival.new:
            raise SchemaError(
                f"feature {next(iter(arrival.new))!r} was not among those of the first batch; features are "
                "fixed once fit or partial_fit was called: start with learn_one or learn_many instead"
            )
        return vocabulary, arrival._replace(width=self.n_features_in_)

    def _learn_arrived(
        self, vocabulary: Vocabulary | HashedVocabulary, arrival: Arrival, names: list[str],
        batch: RowBatch, collided: int,
    ) -> None:  # fmt: skip
        self._catch_up()  # before the vocabulary grows
        with untouched_on_error(self), vocabulary.adding(arrival):
            first = not hasattr(self, "n_features_in_")
            self.n_features_in_ = arrival.width
            if first:
                self._fixed_ = False
                self.n_rows_seen_ = 0
                self._vocabulary_ = vocabulary
                self._start(batch)
            try:
                self._learn(batch)
            except BadValueError as error:
                column = arrival.ids.tolist().index(error.feature)
                raise bad_value(column, error.value, names) from error
            self.n_rows_seen_ += batch.X.shape[0]
        if isinstance(vocabulary, HashedVocabulary):
            vocabulary.share(arrival, collided)

    def _vocabulary(self) -> Vocabulary | HashedVocabulary:
        """Return the features known by name; an open vocabulary grows by what is added to it."""
        known: Vocabulary | HashedVocabulary | None = getattr(self, "_vocabulary_", None)
        if known is not None:
            return known
        if hasattr(self, "n_features_in_"):
            return Vocabulary(map(str, getattr(self, "feature_names_in_", ())))
        return Vocabulary() if self._slots is None else HashedVocabulary(self._slots)

    @property
    def collisions_(self) -> int:
        """Slots in which two features met; 0 where features are not hashed."""
        check_is_fitted(self)
        known = getattr(self, "_vocabulary_", None)
        return known.collisions if isinstance(known, HashedVocabulary) else 0

    @property
    def feature_names_in_(self) -> npt.NDArray[Any]:
        """Names of the features seen; there are none if plain arrays came in."""
        if hasattr(self, "_vocabulary_"):
            return np.array(self._vocabulary_.names, dtype=object)
        if not hasattr(self, "_names_in_"):
            raise AttributeError("no feature names were seen")
        return self._names_in_

    @feature_names_in_.setter
    def feature_names_in_(self, names: npt.NDArray[Any]) -> None:
        self._names_in_ = names

    @feature_names_in_.deleter
    def feature_names_in_(self) -> None:
        del self._names_in_

    def _restored(self) -> None:
        if type(self.n_rows_seen_) is not int or type(self.n_features_in_) is not int:
            raise TypeError("the numbers of rows and features are not numbers")
        if self._fixed_ is not ("_vocabulary_" not in self.__dict__):
            raise StateError("the state does not say whether its features are fixed")
        names = self.__dict__.get("_names_in_")
        if names is not None and (not self._fixed_ or np.shape(names) != (self.n_features_in_,)):
            raise StateError("the state's names do not fit its features")
        if self._fixed_:
            return
        kind = Vocabulary if self._slots is None else HashedVocabulary
        if type(self._vocabulary_) is not kind or self._vocabulary_.width != self.n_features_in_:
            raise StateError("the state's names do not fit its features")
        if self._slots not in (None, self.n_features_in_):
            raise StateError(f"the state has {self.n_features_in_} slots, but hashed={self._slots}")

    def transform_one(self, x: Mapping[str, float]) -> dict[str, float]:
        """Return the selected features of one row given as ``{feature: value}``."""
        check_is_fitted(self)
        support, ids = self.get_support(), self._vocabulary()
        return {k: v for k, v in x.items() if (j := ids.get(str(k))) is not None and support[j]}

    # ---------------------------------------------------------------- merging

    def merge(self, other: Self) -> Self:
        """Take the rows of another selector into account, as if they had come after one's own.

        Parameters
        ----------
        other : a selector of the same class and parameters.  Where features are fixed, they must be the
            same in the same order; open ones are found by name, and those new to this one are appended.

        Returns
        -------
        self
        """
        self._check_same(other)
        self._catch_up()
        other._catch_up()
        if not self.traits.merges:
            raise CapabilityError(
                f"{type(self).__name__} cannot merge: its result depends on the order of rows; "
                "Screen with any criterion can"
            )
        mine, theirs = (getattr(s, "_vocabulary_", None) for s in (self, other))
        if mine is None or theirs is None:
            self._check_same_features(other)
            joined, columns = mine, None
        else:
            joined, columns = mine.joined(theirs)
        with untouched_on_error(self):
            if joined is not None:
                self._vocabulary_ = joined
                self.n_features_in_ = joined.width
            self._merge(other, columns)
            self.n_rows_seen_ += other.n_rows_seen_
            self._pending = None  # it knows the vocabulary from before
        return self

    def _check_same_features(self, other: Self) -> None:
        mine, theirs = (getattr(s, "feature_names_in_", None) for s in (self, other))
        same_names = np.array_equal(() if mine is None else mine, () if theirs is None else theirs)
        if self.n_features_in_ != other.n_features_in_ or not same_names:
            raise MergeError(
                f"the features differ ({self.n_features_in_} here, {other.n_features_in_} there): "
                "selectors merge over the same features in the same order; those that both began with "
                "learn_one or learn_many merge by name"
            )
