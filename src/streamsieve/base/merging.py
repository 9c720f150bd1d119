"""Merging of row selectors that learned parts of one stream."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import deepcopy
from typing import Any, ClassVar, Self

from streamsieve.base.covered import CoveredParts
from streamsieve.base.open_features import OpenFeatures
from streamsieve.exceptions import CapabilityError, MergeError
from streamsieve.protocols import IntArray
from streamsieve.state import untouched_on_error


class MergingRows(OpenFeatures):
    """Mixin for row selectors with ``merge`` and ``merge_many``."""

    #: Whether ``merge`` is offered although its result is not that of one pass over all rows.
    _merges_approximately: ClassVar[bool] = False

    def merge(self, other: Self) -> Self:
        """Merge another selector into this one, as if its rows had been learned after this one's.

        Counts are then equal to those of one process, moments equal up to rounding, and quantiles within the
        same certified rank error, so that features with almost equal scores over bins may change their rank.

        Parameters
        ----------
        other : selector of the same class and parameters
            Fixed features must be the same in the same order; open features are matched by name, and new ones
            are appended.  Two states that contain the same part of an engine's run are refused.

        Returns
        -------
        self
        """
        self._merge_one(other)
        return self

    def merge_many(self, others: Iterable[Self]) -> Self:
        """Merge several selectors into this one, in their order.

        Summaries that support it are merged all at once, which is faster and needs less memory than one by
        one: quantiles are compressed once, not at every merge.

        Parameters
        ----------
        others : iterable of selectors
            As for :meth:`merge`; they are not changed.

        Returns
        -------
        self
        """
        if not isinstance(others, Iterable):
            raise MergeError(f"merge_many takes a list of selectors, not a {type(others).__name__}")
        self._merge_several(list(others))
        return self

    def _merge_one(self: Any, other: Any) -> None:
        self._check_mergeable(other)
        joined, columns = self._joined_vocabulary(other)
        covered = self._covered_with([other])
        with untouched_on_error(self):
            if self._holds_nothing:  # declared without rows: the neutral element, bit for bit
                parameters = self.get_params(deep=False)
                self.__dict__.update({k: v for k, v in vars(deepcopy(other)).items() if k not in parameters})
                self._invalidate()
            elif not other._holds_nothing:  # noqa: SLF001 - a twin's
                self._absorb(other, joined, columns)
            if covered is not None:
                self._covered_ = covered

    def _merge_several(self: Any, others: list[Any]) -> None:
        for other in others:
            self._check_mergeable(other)
        rest = [other for other in others if not other._holds_nothing]  # noqa: SLF001
        if self._holds_nothing or any(hasattr(each, "_vocabulary_") for each in (self, *rest)):
            twin = deepcopy(self)  # all are merged, or none
            for other in others:
                twin.merge(other)
            self.__dict__.update(vars(twin))
            return
        for other in rest:
            self._joined_vocabulary(other)  # refuses other features
        covered = self._covered_with(others)
        with untouched_on_error(self):
            self._merge_rows(rest)
            self._invalidate()
            self.n_samples_seen_ += sum(other.n_samples_seen_ for other in rest)
            if covered is not None:
                self._covered_ = covered

    @property
    def _holds_nothing(self: Any) -> bool:
        """Whether it was declared, and has learned no rows."""
        return bool(self._fixed_ and self.n_samples_seen_ == 0)

    def _check_mergeable(self: Any, other: Any) -> None:
        self._check_same(other)
        self._flush_buffer()
        other._flush_buffer()  # noqa: SLF001
        if not (self.traits.merges or self._merges_approximately):
            raise CapabilityError(
                f"{type(self).__name__} cannot merge: its result depends on the order of rows; "
                "Screen with any criterion can"
            )

    def _covered_with(self: Any, others: Iterable[Any]) -> CoveredParts | None:
        """Return the union of the parts of runs; ``MergeError`` if a part is in two of them."""
        covered: CoveredParts | None = getattr(self, "_covered_", None)
        for theirs in (getattr(other, "_covered_", None) for other in others):
            covered = (
                covered.joined(theirs) if covered is not None and theirs is not None else covered or theirs
            )
        return covered

    def _begin_part(self: Any) -> None:
        """Prepare, before the first rows, to learn one part of a stream whose parts will be merged."""

    def _end_part(self: Any) -> None:
        """Shrink to what has to be sent to the process that merges."""
        self._flush_buffer()
        self._buffer = None  # spare capacity is not sent

    def _merge_rows(self: Any, others: Sequence[Any]) -> None:
        """Merge selectors with the same features."""
        twin = deepcopy(self)
        for other in others:
            twin._merge(other)  # noqa: SLF001
        self.__dict__.update(vars(twin))

    def _absorb(self: Any, other: Any, vocabulary: Any, columns: IntArray | None) -> None:
        """Merge one selector; named features are those of the joined vocabulary."""
        if vocabulary is not None:
            self._vocabulary_ = vocabulary
            self.n_features_in_ = vocabulary.width
        self._merge(other, columns)
        self._invalidate()
        self.n_samples_seen_ += other.n_samples_seen_
        self._buffer = None  # it holds the vocabulary from before
