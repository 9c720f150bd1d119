"""Mixin for row selectors based on one mergeable summary."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self

from streamsieve._validation import is_numeric
from streamsieve.base import WeightedRows
from streamsieve.base.fitted import fitted_property
from streamsieve.protocols import IntArray, LearnsInParts, MergesMany, RowBatch


class SummarizedRows(WeightedRows):
    """Mixin before `RowSelector`; a subclass sets ``_summary_`` and whether its target is numeric."""

    _summary_: Any
    _regression_: bool

    def _takes_numbers(self, batch: RowBatch) -> bool:
        """Whether the target of the first batch is numeric: by the parameters, or by its values."""
        return self._target == "numeric" or (self._target == "auto" and is_numeric(batch.y, warns=False))

    def _known_labels(self) -> Iterable[Any]:
        return () if self._regression_ else self._summary_.classes

    def _merge(self, other: Self, columns: IntArray | None = None) -> None:
        theirs = other._summary_
        if columns is not None:
            theirs = theirs.reindexed(columns, self.n_features_in_)
        self._summary_.merge(theirs)

    def _merge_rows(self, others: Sequence[Self]) -> None:
        if isinstance(self._summary_, MergesMany):
            self._summary_.merge_many([other._summary_ for other in others])
        else:
            super()._merge_rows(others)

    def _begin_part(self) -> None:
        if isinstance(self._summary_, LearnsInParts):
            self._summary_.begin_part()

    def _end_part(self) -> None:
        super()._end_part()
        if isinstance(self._summary_, LearnsInParts):
            self._summary_.end_part()

    @fitted_property
    def summary_(self) -> Any:
        """The summary behind the scores."""
        return self._summary_
