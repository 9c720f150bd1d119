"""Selectors for rows that may count more or less than one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from streamsieve._validation import check_classes

if TYPE_CHECKING:
    from streamsieve.base.rows import RowSelector

    Beside = RowSelector
else:
    Beside = object


class WeightedRows(Beside):
    """Stands before `RowSelector` where rows may carry weights; weight k is the same as k copies of a row.

    The parameter stands only where it has a meaning: scikit-learn and its users look at the signature of
    ``fit`` to see whether a selector takes weights.
    """

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Forget everything and learn from these rows alone.

        Parameters
        ----------
        X : rows (dense, sparse or dataframe); NaN means missing where the traits say so
        y : one label or number per row
        sample_weight : one non-negative number per row

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from some more rows.

        Parameters
        ----------
        X, y, sample_weight : as for :meth:`fit`; the features must be those of the first batch
        classes : all labels that may occur, as scikit-learn's incremental estimators take them.  Not
            needed: labels may appear at any time.  If given, a label in ``y`` that is not among them is
            refused.

        Returns
        -------
        self
        """
        check_classes(y, classes, self._target)
        return self._partial_fit(X, y, sample_weight)

    def learn_many(self, X: Any, y: Any = None, sample_weight: Any = None) -> None:
        """Learn rows of a dataframe whose columns may come and go.

        Parameters
        ----------
        X : dataframe; an absent column is missing in these rows if they are dense, and 0 if they are
            sparse or the selector's traits have no missing values
        y, sample_weight : as for :meth:`fit`

        Notes
        -----
        Dense rows take memory for all features known.
        """
        self._learn_frame(X, y, sample_weight)
