"""Selectors of parts of a stream become one of the whole."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import deepcopy
from typing import Any, ClassVar, Self

from streamsieve.base.covered import CoveredParts
from streamsieve.base.open_features import OpenFeatures
from streamsieve.exceptions import CapabilityError
from streamsieve.protocols import IntArray
from streamsieve.state import untouched_on_error


class MergingRows(OpenFeatures):
    """The part of a row selector that takes in the rows of others like it."""

    #: Whether ``merge`` is offered although its result is not that of one pass over all rows.
    _merges_approximately: ClassVar[bool] = False

    def merge(self, other: Self) -> Self:
        """Take the rows of another selector into account, as if they had come after one's own.

        Parameters
        ----------
        other : a selector of the same class and parameters.  Where features are fixed, they must be the
            same in the same order; open ones are found by name, and those new to this one are appended.
            Parts of a run with an engine are known, and two states that hold the same part do not merge.

        Returns
        -------
        self
        """
        self._merge_one(other)
        return self

    def merge_many(self, others: Iterable[Self]) -> Self:
        """Take the rows of several selectors into account, in their order.

        Where the summary can, it merges all at once, which is quicker than one by one and takes less memory:
        quantiles are reduced once, not at every merge.

        Parameters
        ----------
        others : as for :meth:`merge`; they are not changed

        Returns
        -------
        self
        """
        self._merge_several(list(others))
        return self

    def _merge_one(self: Any, other: Any) -> None:
        self._check_mergeable(other)
        joined, columns = self._joined_vocabulary(other)
        covered = self._covered_with([other])
        with untouched_on_error(self):
            if self._holds_nothing:  # declared: the neutral element, to the last bit
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
        """Whether it was declared, and no rows came since."""
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
        """Return the parts of runs that all of them hold together; a part may be in one of them only."""
        covered: CoveredParts | None = getattr(self, "_covered_", None)
        for theirs in (getattr(other, "_covered_", None) for other in others):
            covered = (
                covered.joined(theirs) if covered is not None and theirs is not None else covered or theirs
            )
        return covered

    def _begin_part(self: Any) -> None:
        """Be ready, before the first rows, to learn one of several parts of a stream that are merged."""

    def _end_part(self: Any) -> None:
        """Be what is sent of a part: small."""
        self._flush_buffer()
        self._buffer = None  # spare room does not travel

    def _merge_rows(self: Any, others: Sequence[Any]) -> None:
        """Take several twins' rows into account, whose features are the same."""
        twin = deepcopy(self)
        for other in others:
            twin._merge(other)  # noqa: SLF001
        self.__dict__.update(vars(twin))

    def _absorb(self: Any, other: Any, vocabulary: Any, columns: IntArray | None) -> None:
        """Take the rows of a twin; features known by name are those of the joined vocabulary."""
        if vocabulary is not None:
            self._vocabulary_ = vocabulary
            self.n_features_in_ = vocabulary.width
        self._merge(other, columns)
        self._invalidate()
        self.n_samples_seen_ += other.n_samples_seen_
        self._buffer = None  # it holds the vocabulary from before
