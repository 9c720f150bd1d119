"""Mixin for row selectors with sample weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from streamsieve.base.rows import RowSelector

    MixinBase = RowSelector
else:
    MixinBase = object


class WeightedRows(MixinBase):
    """Mixin for row selectors with sample weights; weight k is equivalent to k copies of a row.

    It precedes `RowSelector` in the bases.  Only selectors that use weights have the parameter, because
    scikit-learn and its users inspect the signature of ``fit`` to see whether weights are supported.
    """

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Discard everything learned and learn from these rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Rows; NaN means missing if the selector supports missing values.
        y : array-like of shape (n_samples,), default=None
            The target: one label or number per row.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the rows.  If None, all weights are 1.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn a batch of rows.

        Parameters
        ----------
        X, y, sample_weight : as for :meth:`fit`
            The features must be those of the first batch.
        classes : array-like, default=None
            All labels that may occur, as for scikit-learn's incremental estimators.  Not needed, as labels
            may appear at any time; if given, other labels in ``y`` are an error.

        Returns
        -------
        self
        """
        return self._partial_fit(X, y, sample_weight, classes)

    def learn_many(self, X: Any, y: Any = None, sample_weight: Any = None) -> None:
        """Learn rows of a dataframe whose columns may differ from those of earlier rows.

        Parameters
        ----------
        X : dataframe of shape (n_samples, n_columns)
            Known features without a column here are missing in these rows, or 0 if the dataframe is sparse or
            the selector does not support missing values.
        y, sample_weight : as for :meth:`fit`

        Notes
        -----
        A dense batch is expanded to all features known so far.
        """
        self._learn_frame(X, y, sample_weight)
