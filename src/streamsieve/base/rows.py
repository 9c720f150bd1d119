"""Selectors for rows that stream in."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from streamsieve._frames import names_of
from streamsieve._validation import bad_value, check_named_rows, check_rows, check_target, check_traits
from streamsieve.base.selector import Selector
from streamsieve.exceptions import (
    BadValueError,
    CapabilityError,
    InputError,
    InputTypeError,
    MergeError,
    SchemaError,
)
from streamsieve.protocols import RowBatch, Traits
from streamsieve.state import untouched_on_error


class RowSelector(Selector):
    """Choose features from rows that arrive in batches, in one pass.

    A subclass writes :meth:`_start`, :meth:`_learn` and :meth:`_support`, and :meth:`_merge` if its
    traits say that it merges.  ``_learn`` takes a batch wholly or, on an error, not at all.

    The features are fixed by the first batch (``fit``, ``partial_fit``) or open (``learn_one``,
    ``learn_many``): then they are known by name, may appear at any time, and are 0 where absent.
    """

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

    def _merge(self, other: Self) -> None:
        """Take the other's rows into account; it has the same features."""

    # ---------------------------------------------------------------- learning

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Forget everything and learn from these rows alone.

        Parameters
        ----------
        X : rows (dense, sparse or dataframe); NaN means missing where the traits say so
        y : one label or number a row
        sample_weight : one non-negative number a row; weight k is the same as k copies

        Returns
        -------
        self
        """
        with untouched_on_error(self):
            self._forget()
            return self._take(X, y, sample_weight, first=True)

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from some more rows.

        Parameters
        ----------
        X, y, sample_weight : as for :meth:`fit`; the features must be those of the first batch

        Returns
        -------
        self
        """
        first = not hasattr(self, "n_features_in_")
        if not first and not self._fixed_:
            self.learn_many(X, y, sample_weight)
            return self
        if not first:
            return self._take(X, y, sample_weight, first=False)
        with untouched_on_error(self):
            return self._take(X, y, sample_weight, first=True)

    def learn(self, batch: RowBatch) -> Self:
        """Learn a batch of a source, with its names and weights.

        Parameters
        ----------
        batch : what a source's ``rows`` yields; all batches have the features of the first one

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
            return self.partial_fit(batch.X, batch.y, batch.weight)
        first = not hasattr(self, "n_features_in_")
        width = batch.X.shape[1]
        if not first and not self._fixed_:
            rows, names = sp.csr_array(batch.X), [str(name) for name in batch.names]
            y = check_target(batch.y, rows.shape[0], self._target or "classes")
            self._learn_open(names, rows.data, rows.indices, rows.indptr, y, batch.weight)
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

    def _take(self, X: Any, y: Any, sample_weight: Any, *, first: bool) -> Self:
        batch = check_rows(self, X, y, sample_weight, target=self._target, reset=first)
        if first:
            self._begin_rows(batch)
        return self._learn_named(batch)

    def _learn_named(self, batch: RowBatch, names: Sequence[str] | None = None) -> Self:
        try:
            self._learn(batch)
        except BadValueError as error:
            if names is None:
                names = getattr(self, "feature_names_in_", None)
            raise bad_value(error.feature, error.value, names) from error
        self.n_rows_seen_ += batch.X.shape[0]
        return self

    # ---------------------------------------------------------------- open vocabularies (river)

    def learn_one(self, x: Mapping[str, float], y: Any) -> None:
        """Learn one row given as ``{feature: value}``; new features are welcome, absent ones are 0."""
        if not isinstance(x, Mapping):
            raise InputTypeError(
                f"learn_one takes a row as {{feature: value}}, got a {type(x).__name__}: "
                "use partial_fit for arrays"
            )
        names = [str(name) for name in x]
        try:
            values = np.array(list(x.values()), np.float64)
        except (TypeError, ValueError) as error:
            bad = next((k for k, v in x.items() if not isinstance(v, (int, float, np.number))), names[0])
            raise InputTypeError(
                f"feature {bad!r} holds {x[bad]!r}, but a number is wanted: encode text first"
            ) from error
        target = np.zeros(1) if self._target is None else check_target([y], 1, self._target)
        self._learn_open(names, values, np.arange(len(names)), [0, len(names)], target, None)

    def learn_many(self, X: Any, y: Any, sample_weight: Any = None) -> None:
        """Learn rows of a dataframe whose columns may come and go; absent columns are 0."""
        names = names_of(X)
        if names is None:
            raise SchemaError(
                "features are known by name here (learn_one, learn_many): give a dataframe; arrays go to "
                "partial_fit of a selector that began with arrays"
            )
        batch = check_rows(_Anyone(), X, y, sample_weight, target=self._target, reset=True)
        rows = sp.csr_array(batch.X)
        y = np.zeros(rows.shape[0]) if batch.y is None else batch.y
        self._learn_open(names, rows.data, rows.indices, rows.indptr, y, batch.weight)

    def _learn_open(
        self, names: list[str], values: npt.NDArray[Any], columns: npt.NDArray[Any], indptr: Any,
        y: npt.NDArray[Any], weight: npt.NDArray[np.float64] | None,
    ) -> None:  # fmt: skip
        if len(set(names)) != len(names):
            twice = next(name for i, name in enumerate(names) if name in names[:i])
            raise SchemaError(f"the feature {twice!r} came twice in one row; names must differ as text")
        first = not hasattr(self, "n_features_in_")
        known = self._vocabulary()
        new = {name: len(known) + i for i, name in enumerate(n for n in names if n not in known)}
        if new and not first and self._fixed_:
            raise SchemaError(
                f"feature {next(iter(new))!r} was not among those of the first batch; features are fixed "
                "once fit or partial_fit was called: start with learn_one or learn_many instead"
            )
        ids = np.array([known[n] if n in known else new[n] for n in names], np.int32)
        width = len(known) + len(new)
        X = sp.csr_array(
            (np.asarray(values, np.float64), ids[columns], np.asarray(indptr, np.int32)),
            shape=(len(y), width),
        )
        # names are listed only for a check that may have to speak of them
        check_traits(self, X, weight, None if self.traits.missing else [*known, *new])
        with untouched_on_error(self):
            self.n_features_in_ = width
            batch = RowBatch(X, y, weight)
            if first:
                self._fixed_ = False
                self.n_rows_seen_ = 0
                self._vocabulary_ = known
                self._start(batch)
            self._learn_named(batch, [*known, *new] if new else None)
        known.update(new)

    def _vocabulary(self) -> dict[str, int]:
        """Return the features known by name; in an open vocabulary this very dict grows."""
        known: dict[str, int] | None = getattr(self, "_vocabulary_", None)
        if known is None:
            names = getattr(self, "feature_names_in_", ())
            known = {str(name): i for i, name in enumerate(names)}
        return known

    @property
    def feature_names_in_(self) -> npt.NDArray[Any]:
        """Names of the features seen; there are none if plain arrays came in."""
        if hasattr(self, "_vocabulary_"):
            return np.array(list(self._vocabulary_), dtype=object)
        if not hasattr(self, "_names_in_"):
            raise AttributeError("no feature names were seen")
        return self._names_in_

    @feature_names_in_.setter
    def feature_names_in_(self, names: npt.NDArray[Any]) -> None:
        self._names_in_ = names

    @feature_names_in_.deleter
    def feature_names_in_(self) -> None:
        del self._names_in_

    def _learnt(self) -> dict[str, Any]:
        learnt = super()._learnt()
        if learnt.pop("_vocabulary_", None) is not None:
            learnt["_names_in_"] = self.feature_names_in_
        return learnt

    def _restored(self) -> None:
        if type(self.n_rows_seen_) is not int or type(self.n_features_in_) is not int:
            raise TypeError("the numbers of rows and features are not numbers")
        if not self._fixed_:
            self._vocabulary_ = {str(name): i for i, name in enumerate(self.__dict__.pop("_names_in_"))}

    def transform_one(self, x: Mapping[str, float]) -> dict[str, float]:
        """Return the selected features of one row given as ``{feature: value}``."""
        check_is_fitted(self)
        support, ids = self.get_support(), self._vocabulary()
        return {k: v for k, v in x.items() if str(k) in ids and support[ids[str(k)]]}

    # ---------------------------------------------------------------- merging

    def merge(self, other: Self) -> Self:
        """Take the rows of another selector into account, as if they had come after one's own.

        Parameters
        ----------
        other : a selector of the same class and parameters, fitted on rows with the same features

        Returns
        -------
        self
        """
        self._check_same(other)
        if not self.traits.merges:
            raise CapabilityError(
                f"{type(self).__name__} cannot merge: its result depends on the order of rows; "
                "Screen with any criterion can"
            )
        mine, theirs = (getattr(s, "feature_names_in_", None) for s in (self, other))
        same_names = np.array_equal(() if mine is None else mine, () if theirs is None else theirs)
        if self.n_features_in_ != other.n_features_in_ or not same_names:
            raise MergeError(
                f"the features differ ({self.n_features_in_} here, {other.n_features_in_} there): "
                "selectors merge over the same features in the same order"
            )
        with untouched_on_error(self):
            self._merge(other)
            self.n_rows_seen_ += other.n_rows_seen_
        return self


class _Anyone:
    """Stands in for a selector where scikit-learn's validation wants one but must not remember names."""

    traits = Traits(missing=True, weights=True)

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import Tags, TargetTags  # noqa: PLC0415

        return Tags(estimator_type=None, target_tags=TargetTags(required=False))
