"""What selectors by changing scores share: a ledger of changes, and output that copes with them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.validation import _check_feature_names_in

from streamsieve._frames import take_columns, zero_columns
from streamsieve._parameters import check_choice, check_number
from streamsieve._validation import check_output
from streamsieve.base import RowSelector
from streamsieve.exceptions import ParameterError, StateError
from streamsieve.ledger import Ledger
from streamsieve.protocols import BoolArray, FloatArray, IntArray
from streamsieve.rows._top_set import TopSet

OUTPUTS = ("drop", "zero", "frozen")
#: Features kept where nobody says how many.
DEFAULT_K = 10


class RankedSelector(RowSelector):
    """Choose features by scores that change as rows arrive.

    A subclass writes ``scores_`` and :meth:`_choose`, has the parameters ``k``, ``output`` and ``ledger``,
    calls :meth:`_check_k` and :meth:`_start_ranking` on the first batch, and empties ``_cache_`` whenever it
    has learnt something.
    """

    _caches: ClassVar[frozenset[str]] = frozenset({"_cache_"})

    k: int | None
    output: str
    ledger: str

    @property
    @abstractmethod
    def scores_(self) -> FloatArray:
        """One score a feature, larger is better."""

    @abstractmethod
    def _choose(self) -> BoolArray:
        """Return a mask of the features that are chosen now."""

    def _check_k(self, n_features: int, otherwise: str = "") -> None:
        """Refuse a k that is no number of features; ``otherwise`` says what else there is to choose."""
        if self.k is None:
            return
        check_number("k", self.k, low=1, integer=True)
        if self._fixed_ and self.k > n_features:
            raise ParameterError(
                f"k={self.k}, but the rows have {n_features} features: choose k <= {n_features}{otherwise}"
            )

    @property
    def _budget(self) -> int:
        """How many features to keep, at most all."""
        return min(self.n_features_in_, DEFAULT_K if self.k is None else self.k)

    def _start_ranking(self) -> None:
        check_choice("output", self.output, OUTPUTS)
        self._ledger_ = Ledger(check_choice("ledger", self.ledger, ("all", "none")))
        self._top_ = TopSet()
        self._cache_: dict[str, Any] = {}

    def _names(self) -> npt.NDArray[Any] | None:
        """Return the names of all features, if they have any."""
        return getattr(self, "feature_names_in_", None)

    # ---------------------------------------------------------------- choosing

    @property
    def ledger_(self) -> Ledger:
        """Which features entered and left the top set, up to now."""
        if not hasattr(self, "_ledger_"):
            raise AttributeError("ledger_ is there after fit or partial_fit")
        self._support()
        return self._ledger_

    @property
    def selected_(self) -> IntArray:
        """Columns of the selected features, best first."""
        chosen = np.flatnonzero(self._support())
        return chosen[np.argsort(-self.scores_[chosen], kind="stable")]

    def _support(self) -> BoolArray:
        self._catch_up()
        mask: BoolArray | None = self._cache_.get("mask")
        if mask is None:
            mask = self._choose()
            self._top_.change(mask, self.scores_, self._names, self.n_rows_seen_, self._ledger_)
            self._cache_["mask"] = mask
        return mask

    # ---------------------------------------------------------------- output

    def _columns(self) -> IntArray:
        """Columns that ``transform`` lets through as they are."""
        mask = self.get_support()
        if self.output == "frozen" and self._top_.frozen is not None:
            return self._top_.frozen
        return np.flatnonzero(mask)

    def transform(self, X: Any) -> Any:
        """Reduce X to the selected features, or set the others to 0, as ``output`` says.

        Parameters
        ----------
        X : array, sparse matrix or dataframe with all features, in the order they were seen

        Returns
        -------
        The same kind of container; a dataframe stays a dataframe.
        """
        out = super().transform(X)
        self._top_.freeze()
        return out

    def _output(self, X: Any) -> Any:
        columns = self._columns()
        if self.output != "zero":
            return X[:, columns]
        through = np.zeros(X.shape[1], bool)
        through[columns] = True
        if not sp.issparse(X):
            return np.where(through, X, X.dtype.type(0))
        X = X.copy()  # not a product: 0 times a missing value would stay missing
        X.data[~through[X.indices]] = 0
        X.eliminate_zeros()
        return X

    def _columns_out(self, X: Any) -> Any:
        columns = self._columns()
        if self.output != "zero":
            return take_columns(X, columns)
        gone = np.ones(self.n_features_in_, bool)
        gone[columns] = False
        return zero_columns(X, gone)

    def inverse_transform(self, X: Any) -> Any:
        """Put the columns that ``transform`` let through back in their places, zeros elsewhere.

        Parameters
        ----------
        X : what ``transform`` returned
        """
        if self.output == "drop":
            return super().inverse_transform(X)
        X = check_output(X, self.n_features_in_ if self.output == "zero" else len(self._columns()))
        if self.output == "zero":
            return X
        out = np.zeros((X.shape[0], self.n_features_in_), X.dtype)
        out[:, self._columns()] = X
        return out

    def transform_one(self, x: Mapping[str, float]) -> dict[str, float]:
        """Return the features of one row that ``transform`` would let through; others 0 or left out."""
        ids, through = self._vocabulary(), {*self._columns().tolist()}
        if self.output == "zero":
            return {k: v if ids[str(k)] in through else 0.0 for k, v in x.items() if str(k) in ids}
        return {k: v for k, v in x.items() if ids.get(str(k)) in through}

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[Any]:
        """Return the names of the columns that ``transform`` puts out.

        Parameters
        ----------
        input_features : names of all columns, where scikit-learn passes them on; must fit those known
        """
        if self.output == "drop":
            names: npt.NDArray[Any] = super().get_feature_names_out(input_features)
            return names
        columns = self._columns()
        names = _check_feature_names_in(self, input_features)
        return names if self.output == "zero" else names[columns]

    def _restored(self) -> None:
        super()._restored()
        for columns in (self._top_.columns, self._top_.frozen):
            if columns is not None and np.any((columns < 0) | (columns >= self.n_features_in_)):
                raise StateError("the state's top features are not among its features")
        self._cache_ = {}

    def _stale(self) -> None:
        self._cache_.clear()
