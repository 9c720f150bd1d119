"""Selectors by the weights of an online linear classifier for two classes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from streamsieve.base import RowSelector
from streamsieve.base.choose import best
from streamsieve.base.fitted import fitted_property
from streamsieve.protocols import BoolArray, FloatArray, RowBatch, Task, Traits
from streamsieve.rows.linear.constant_columns import ConstantColumns
from streamsieve.rows.linear.entries import RowEntries, row_entries
from streamsieve.rows.linear.signed_labels import SignedLabels
from streamsieve.state import Int, Nested

if TYPE_CHECKING:
    MixinBase = RowSelector
else:
    MixinBase = object

#: Maximum number of features that a state may claim without names; their scores take 1 GB.
WIDEST = 2**27


class LinearScores(MixinBase):
    """Mixin for selectors that keep the largest scores of a linear model, learned row by row.

    It precedes `RowSelector` in the bases.  A subclass declares ``_model_``, names its class in
    ``_empty_model``, and implements `_advance`.  A model, which may not know the latest features yet, has
    ``coefficients(n_features)`` (positive where a feature is evidence for the positive class),
    ``scores(n_features)`` (0 where nothing was learned, positive elsewhere) and ``problems(n_features,
    most)``: why it is not a valid model of n_features features, at most ``most`` of them with weights.

    A constant column may have a weight, as an intercept, but its score is 0 and it is never selected.
    """

    fields = {"_labels_": Nested(SignedLabels), "_mistakes_": Int(), "_constants_": Nested(ConstantColumns)}
    #: Class of the model, called without arguments for an empty one.
    _empty_model: ClassVar[type[Any]]
    _traits: ClassVar[Traits] = Traits(tasks=frozenset({Task.BINARY}), size_parameter="k")

    @abstractmethod
    def _advance(self, entries: RowEntries, signs: FloatArray) -> int:
        """Learn rows in order; return how many were misclassified before they were learned."""

    def _start(self, batch: RowBatch) -> None:  # noqa: ARG002 - the models grow with the features
        self._labels_ = SignedLabels()
        self._model_: Any = self._empty_model()
        self._mistakes_ = 0
        self._constants_ = ConstantColumns()

    def _learn(self, batch: RowBatch) -> None:
        signs = self._labels_.encode(np.asarray(batch.y), type(self).__name__)
        entries = row_entries(batch.X)
        self._mistakes_ += self._advance(entries, signs)
        self._constants_.update(entries)

    def _known_labels(self) -> Iterable[Any]:
        known = self._labels_.classes
        return known if len(known) == 2 else ()

    @fitted_property
    def mistakes_(self) -> int:
        """Number of rows that the model misclassified, or could not classify, before it learned them."""
        return self._mistakes_

    @fitted_property
    def classes_(self) -> npt.NDArray[Any]:
        """The labels seen, sorted."""
        return np.sort(np.array(self._labels_.classes))

    @fitted_property
    def coef_(self) -> FloatArray:
        """One weight per feature, positive where it is evidence for ``classes_[1]``; 0 if it is not kept."""
        coefficients: FloatArray = self._model_.coefficients(self.n_features_in_)
        return coefficients if self._labels_.positive_is_larger else 0.0 - coefficients

    def _scores(self) -> FloatArray:
        scores: FloatArray = self._model_.scores(self.n_features_in_)
        scores[self._constants_.columns] = 0.0
        return scores

    @property
    def _budget(self) -> int:
        """Number of weights that the model may keep."""
        return self._most

    def _choose(self) -> BoolArray:
        # features with score 0 are not selected, even if fewer than k are left
        return best(self.scores_, self._k) & (self.scores_ > 0)

    def _consistent(self) -> Iterator[str]:
        yield from super()._consistent()
        # few weights prove nothing about the number of features, and ``scores_`` has one number for each
        yield from self._proven_features(WIDEST)
        yield from self._model_.problems(self.n_features_in_, self._budget)
        if np.any(self._constants_.candidates >= self.n_features_in_):
            yield "a constant column is not among its features"
        if self._mistakes_ > self.n_samples_seen_:
            yield f"{self._mistakes_} mistakes in {self.n_samples_seen_} rows"
