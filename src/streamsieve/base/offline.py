"""Selectors that need all data at hand: the baselines that streams are compared with."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Self

from streamsieve._validation import check_rows
from streamsieve.base.selector import Selector
from streamsieve.protocols import RowBatch
from streamsieve.state import untouched_on_error


class OfflineSelector(Selector):
    """Choose features from the whole data at once.

    A subclass writes :meth:`_fit` and :meth:`_support`.
    """

    _fitted_by: ClassVar[str] = "fit"

    @property
    def _target(self) -> str | None:
        """What ``y`` must be: "classes", "numeric", "either", or None if it is not needed."""
        return "classes"

    @abstractmethod
    def _fit(self, batch: RowBatch) -> None:
        """Learn from all rows."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose features.

        Parameters
        ----------
        X : all rows (dense, sparse or dataframe)
        y : one label or number a row

        Returns
        -------
        self
        """
        with untouched_on_error(self):
            self._forget()
            self._fit(check_rows(self, X, y, None, target=self._target, reset=True))
        return self
