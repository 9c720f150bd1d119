"""The values of the columns that are kept, for whoever wants to know how good they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve.exceptions import StateError
from streamsieve.protocols import Arrays, FloatArray, IntArray, Matrix
from streamsieve.state import expect, register


@register
class KeptValues:
    """Columns as they were offered, by arrival number; those that leave are dropped.

    Parameters
    ----------
    n : number of rows
    """

    def __init__(self, n: int) -> None:
        self.n = n
        self._columns: dict[int, FloatArray] = {}

    def take(self, X: Matrix, start: int, wanted: Sequence[int] | IntArray) -> None:
        """Take from columns ``start, start + 1, ...`` what is wanted, and drop whatever no longer is."""
        old, wanted = self._columns, [int(feature) for feature in wanted]
        columns: dict[int, FloatArray] = {}
        for feature in wanted:
            if start <= feature < start + X.shape[1]:
                column = X[:, [feature - start]]
                columns[feature] = np.array(column.toarray() if sp.issparse(column) else column).ravel()
            elif feature in old:
                columns[feature] = old[feature]
        self._columns = columns

    def of(self, features: Sequence[int] | IntArray) -> FloatArray:
        """Return some of the columns side by side, in this order."""
        columns = [self._columns[int(feature)] for feature in features]
        return np.array(columns).reshape(-1, self.n).T

    def state(self) -> Arrays:
        """Return the columns."""
        return {
            "n": np.array([self.n], np.int64),
            "features": np.array(list(self._columns), np.int64),
            "values": np.array(list(self._columns.values()), np.float64).reshape(-1, self.n),
        }

    @classmethod
    def from_state(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Rebuild."""
        n = int(expect(arrays, "n", np.int64, (1,))[0])
        features = expect(arrays, "features", np.int64, (None,))
        values = expect(arrays, "values", np.float64, (len(features), n))
        if n < 1 or np.any(np.diff(features, prepend=-1) <= 0):
            raise StateError("the state's kept values belong to no columns")
        kept = cls(n)
        kept._columns = dict(zip(features.tolist(), np.array(values), strict=True))
        return kept
