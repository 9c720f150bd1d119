"""Selectors by a linear model of two classes that learns row by row."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from streamsieve.base.fitted import fitted_property
from streamsieve.exceptions import StateError
from streamsieve.protocols import BoolArray, FloatArray, RowBatch, Stateful, Task, Traits
from streamsieve.rows._choice import best
from streamsieve.rows._ranked import DEFAULT_K, RankedSelector
from streamsieve.rows._row_entries import RowEntries, row_entries
from streamsieve.rows._signs import Signs
from streamsieve.state import Int, Nested

#: Features that a loaded model may claim without names for them; its scores then take 1 GB.
WIDEST = 2**27


class LinearModel(Stateful, Protocol):
    """What such a selector has learnt; it may know fewer features than there are by now."""

    def coefficients(self, n_features: int) -> FloatArray:
        """Return the weights, positive where a feature speaks for the positive class."""
        ...

    def scores(self, n_features: int) -> FloatArray:
        """Return what features are ranked by: 0 where nothing was learnt, positive elsewhere."""
        ...

    def check(self, n_features: int, most: int) -> None:
        """Refuse (``StateError``) to be the model of so many features, of which so many may have weights."""
        ...


class LinearSelector(RankedSelector):
    """Choose the features of a linear model that learns from one row after the other.

    A subclass writes :meth:`_check_parameters`, :meth:`_new_model` and :meth:`_advance`.
    """

    common_fields = {
        **RankedSelector.common_fields,
        "_signs_": Nested(Signs),
        "_mistakes_": Int(),
    }
    _traits: ClassVar[Traits] = Traits(tasks=frozenset({Task.BINARY}), size_parameter="k")

    @abstractmethod
    def _new_model(self) -> LinearModel:
        """Make a model that has learnt nothing."""

    @abstractmethod
    def _advance(self, entries: RowEntries, signs: FloatArray) -> int:
        """Learn rows in their order; return how many signs the model had wrong before it learnt them."""

    # ---------------------------------------------------------------- learning

    def _start(self, batch: RowBatch) -> None:
        self._check_k(batch.X.shape[1])
        self._check_parameters()
        self._start_ranking()
        self._signs_ = Signs()
        self._model_: Any = self._new_model()
        self._mistakes_ = 0

    def _learn(self, batch: RowBatch) -> None:
        signs = self._signs_.encode(np.asarray(batch.y), type(self).__name__)
        self._mistakes_ += self._advance(row_entries(batch.X), signs)
        self._cache_.clear()

    @property
    def _most(self) -> int:
        """How many features may have weights; open features may still be fewer."""
        return DEFAULT_K if self.k is None else self.k

    def _known_labels(self) -> Iterable[Any]:
        known = self._signs_.classes
        return known if len(known) == 2 else ()

    # ---------------------------------------------------------------- what was learnt

    @fitted_property
    def mistakes_(self) -> int:
        """Rows whose label the model had wrong, or no opinion of, before it learnt them."""
        return self._mistakes_

    @fitted_property
    def classes_(self) -> npt.NDArray[Any]:
        """The labels seen, the negative one first."""
        return np.array(self._signs_.classes)

    @fitted_property
    def coef_(self) -> FloatArray:
        """One weight a feature, 0 for those that are not kept."""
        coefficients: FloatArray = self._model_.coefficients(self.n_features_in_)
        return coefficients

    @fitted_property
    def scores_(self) -> FloatArray:
        """One score a feature, larger is better, 0 where nothing was learnt."""
        if "scores" not in self._cache_:
            scores = self._model_.scores(self.n_features_in_)
            scores.setflags(write=False)  # shared with whoever asks next
            self._cache_["scores"] = scores
        cached: FloatArray = self._cache_["scores"]
        return cached

    def _choose(self) -> BoolArray:
        # a feature of which nothing was learnt is not worth a place, even if places are left
        return best(self.scores_, self._budget) & (self.scores_ > 0)

    # ---------------------------------------------------------------- saving

    def _consistent(self) -> Iterator[str]:
        # few weights prove nothing about the number of features, and ``scores_`` has one number for each
        yield from self._proven_features(WIDEST)

    def _restored(self) -> None:
        super()._restored()
        self._check_k(self.n_features_in_)
        self._check_parameters()
        if not isinstance(self._signs_, Signs) or type(self._model_) is not type(self._new_model()):
            raise StateError(f"the state's model is not one of {type(self).__name__}")
        self._model_.check(self.n_features_in_, self._most)
        self._check_count("_mistakes_", self.n_rows_seen_)

    def _check_count(self, name: str, most: int) -> None:
        count = getattr(self, name)
        if type(count) is not int or not 0 <= count <= most:
            raise StateError(f"the state claims {count!r} {name.strip('_')}, which its rows cannot give")
