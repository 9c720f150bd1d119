"""Features identified by name, which may appear and disappear: ``learn_one``, ``learn_many``."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve._frames import names_of
from streamsieve._validation import check_rows, check_target, check_traits
from streamsieve._values import bad_value, refuse_non_finite
from streamsieve.base.fitted import fitted_property
from streamsieve.base.row_buffer import DictBuffer, RowBuffer
from streamsieve.base.vocabulary import Arrival, HashedVocabulary, Vocabulary, row_names, scattered, spread
from streamsieve.exceptions import BadValueError, InputTypeError, MergeError, SchemaError, TargetError
from streamsieve.protocols import FloatArray, IntArray, RowBatch, Traits
from streamsieve.state import untouched_on_error


class OpenFeatures:
    """Mixin for row selectors that learn rows with features identified by name.

    An absent feature is 0 in a dict or a sparse batch, which leave zeros out, and missing in a dense batch (0
    if the selector does not support missing values).  A feature that appears later counts as absent before.
    With hashing, features share a fixed number of slots, so memory is bounded; the value of a slot is the sum
    of its features, and an absent feature is always 0.
    """

    _buffer: RowBuffer | DictBuffer | None = None

    @property
    def _slots(self) -> int | None:
        """Number of slots that open features are hashed into; None if features are not hashed."""
        slots: int | None = getattr(self, "hashed", None)
        return slots

    def learn_one(self: Any, x: Mapping[str, float], y: Any = None) -> None:
        """Learn one row given as ``{feature: value}``; new features are added, absent ones are 0."""
        buffer = self._buffer
        if buffer is not None and buffer.take(x, y):
            self.n_samples_seen_ += 1
            self.n_features_in_ = buffer.n_features
            self._invalidate()
            return
        if not hasattr(self, "n_features_in_"):
            self._check_values()
        names, values = dict_row(x)
        target = None if self._target is None else one_target(y, self._target)
        if not self.traits.missing:
            refuse_non_finite(values[None, :], names)
        vocabulary, arrival = self._meet(names)
        collided = 0
        if arrival.foreign:
            collided = int(np.count_nonzero(values[arrival.foreign]))
            # checked before values that share a slot are added
            refuse_non_finite(values[None, :], names, missing=True)
        X = scattered(values, arrival.ids, np.array([0, len(names)], np.int32), arrival)
        self._learn_arrived(vocabulary, arrival, names, RowBatch(X, target), collided)
        if self._buffers_rows and vocabulary.accepts_buffering and not self._fixed_:
            buffer = self._buffer
            if not isinstance(buffer, DictBuffer) or buffer.vocabulary is not vocabulary:
                buffer = DictBuffer(vocabulary, numeric=self._target == "numeric")
            buffer.known = frozenset(self._known_labels())
            self._buffer = buffer

    def learn_many(self: Any, X: Any, y: Any = None) -> None:
        """Learn rows of a dataframe whose columns may differ from those of earlier rows.

        Parameters
        ----------
        X : dataframe of shape (n_samples, n_columns)
            Known features without a column here are missing in these rows, or 0 if the dataframe is sparse or
            the selector does not support missing values.
        y : array-like of shape (n_samples,), default=None
            The target, as for :meth:`fit`.

        Notes
        -----
        A dense batch is expanded to all features known so far.
        """
        self._learn_frame(X, y, None)

    def _learn_frame(self: Any, X: Any, y: Any, weight: Any) -> None:
        if not hasattr(self, "n_features_in_"):
            self._check_values()
        names = names_of(X)
        if names is None:
            raise SchemaError(
                "features are known by name here (learn_one, learn_many): give a dataframe; arrays go to "
                "partial_fit of a selector that began with arrays"
            )
        if not names:
            raise SchemaError("the dataframe has no columns: give at least one, or leave its rows out")
        self._learn_open(names, check_rows(NullEstimator(), X, y, weight, target=self._target, reset=True))

    def _learn_open(self: Any, names: list[str], batch: RowBatch) -> None:
        """Learn rows whose columns are in the order of the names."""
        X, missing = batch.X, self.traits.missing
        # in order of columns, by which the check names a feature
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
                refuse_non_finite(X, names, missing=True)
            X = scattered(X.data, arrival.ids[X.indices], X.indptr, arrival)
        self._learn_arrived(vocabulary, arrival, names, RowBatch(X, batch.y, batch.weight), collided)

    def _meet(self: Any, names: list[str]) -> tuple[Vocabulary | HashedVocabulary, Arrival]:
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
        self: Any, vocabulary: Vocabulary | HashedVocabulary, arrival: Arrival, names: list[str],
        batch: RowBatch, collided: int,
    ) -> None:  # fmt: skip
        with untouched_on_error(self), vocabulary.adding(arrival):
            first = not hasattr(self, "n_features_in_")
            self.n_features_in_ = arrival.width
            if first:
                self._fixed_ = False
                self._vocabulary_ = vocabulary
                self._begin(batch)
            try:
                self._learn_rows(batch)
            except BadValueError as error:
                column = arrival.ids.tolist().index(error.feature)
                raise bad_value(column, error.value, names) from error
            self.n_samples_seen_ += batch.X.shape[0]
        if isinstance(vocabulary, HashedVocabulary):
            vocabulary.share(arrival, collided)

    def _vocabulary(self: Any) -> Vocabulary | HashedVocabulary:
        """Return the features known by name; an open vocabulary grows by what is added to it."""
        self._flush_buffer()  # buffered rows must be learned before the vocabulary grows or forgets names
        known: Vocabulary | HashedVocabulary | None = getattr(self, "_vocabulary_", None)
        if known is not None:
            return known
        if hasattr(self, "n_features_in_"):
            return Vocabulary(map(str, getattr(self, "feature_names_in_", ())))
        return self._new_vocabulary()  # type: ignore[no-any-return]

    def _new_vocabulary(self) -> Vocabulary | HashedVocabulary:
        """Return an empty vocabulary for open features."""
        return Vocabulary() if self._slots is None else HashedVocabulary(self._slots)

    @fitted_property
    def collisions_(self: Any) -> int:
        """Number of slots shared by two or more features; 0 if features are not hashed."""
        known = getattr(self, "_vocabulary_", None)
        return known.collisions if isinstance(known, HashedVocabulary) else 0

    def _joined_vocabulary(self: Any, other: Any) -> tuple[Any, IntArray | None]:
        """Return the vocabulary of both streams, and the columns of the other's features in it.

        Both are None if features are fixed, and must then be the same.
        """
        mine, theirs = (getattr(s, "_vocabulary_", None) for s in (self, other))
        if mine is not None and theirs is not None:
            return mine.joined(theirs)  # type: ignore[no-any-return]
        if self._forgets_names or other._forgets_names:  # noqa: SLF001 - a twin's
            raise MergeError(
                "one selector has fixed columns, the other named features: only selectors that both began "
                "with learn_one or learn_many, or both with fit or partial_fit, merge"
            )
        self._check_same_features(other)
        return mine, None

    @property
    def feature_names_in_(self: Any) -> npt.NDArray[Any]:
        """Names of the features seen; not available if only plain arrays were learned."""
        if hasattr(self, "_vocabulary_"):
            self._flush_buffer()  # flushing may forget names
            return np.array(self._vocabulary_.names, dtype=object)
        if not hasattr(self, "_names_in_"):
            raise AttributeError("no feature names were seen")
        return self._names_in_  # type: ignore[no-any-return]

    @feature_names_in_.setter
    def feature_names_in_(self: Any, names: npt.NDArray[Any]) -> None:
        self._names_in_ = names

    @feature_names_in_.deleter
    def feature_names_in_(self: Any) -> None:
        del self._names_in_

    def _name_problems(self: Any) -> Iterator[str]:
        names, vocabulary = self.__dict__.get("_names_in_"), self.__dict__.get("_vocabulary_")
        kind = type(self._new_vocabulary())
        if self._fixed_ is not (vocabulary is None):
            yield "it does not say whether its features are fixed"
        elif names is not None and (not self._fixed_ or np.shape(names) != (self.n_features_in_,)):
            yield f"there are {len(names)} names for {self.n_features_in_} features"
        elif vocabulary is not None and (
            type(vocabulary) is not kind or vocabulary.n_features != self.n_features_in_
        ):
            yield f"a vocabulary of {vocabulary.n_features} for {self.n_features_in_} features"
        elif vocabulary is not None and self._slots not in (None, self.n_features_in_):
            yield f"{self.n_features_in_} slots, but hashed={self._slots}"

    def _check_same_features(self: Any, other: Any) -> None:
        mine, theirs = (getattr(s, "feature_names_in_", None) for s in (self, other))
        same_names = np.array_equal(() if mine is None else mine, () if theirs is None else theirs)
        if self.n_features_in_ != other.n_features_in_ or not same_names:
            raise MergeError(
                f"the features differ ({self.n_features_in_} here, {other.n_features_in_} there): "
                "selectors merge over the same features in the same order; those that both began with "
                "learn_one or learn_many merge by name"
            )


class NullEstimator:
    """Placeholder for scikit-learn's validation, which would store feature names on the selector itself."""

    traits = Traits(missing=True, weights=True)

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import Tags, TargetTags  # noqa: PLC0415

        return Tags(estimator_type=None, target_tags=TargetTags(required=False))


def dict_row(x: Any) -> tuple[list[str], FloatArray]:
    """Return the names and values of a row given as ``{feature: value}``."""
    names = row_names(x, "learn_one")
    return names, np.array([_number(name, value) for name, value in x.items()], np.float64)


def _number(name: Any, value: Any) -> float:
    """Return a value of a dict row as a number; None means missing."""
    try:
        if not isinstance(value, str):
            return math.nan if value is None else float(value)
    except (TypeError, ValueError, OverflowError):
        pass
    raise InputTypeError(f"feature {name!r} holds {value!r}, which is not a number: encode text first")


def one_target(y: Any, kind: str) -> npt.NDArray[Any]:
    """Return the target of one row as an array of one."""
    # the common cases first; anything else may be a series of any dataframe library
    if isinstance(y, (int, float, str, np.generic)):
        return check_target(np.array([y]), 1, kind)
    if y is None or np.ndim(y) != 0:
        raise TargetError(f"learn_one takes one label or number for y, got {y!r}")
    return check_target([y], 1, kind)
