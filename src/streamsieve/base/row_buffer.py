"""Buffers that collect rows arriving one or a few at a time, to learn them in one pass over all features.

Only rows that cannot fail later are buffered; all others go through validation at once.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve._kernels.quantiles_dense import beyond
from streamsieve._values import LARGEST_VALUE, LIMIT
from streamsieve.base.vocabulary import Vocabulary
from streamsieve.protocols import Matrix

#: Batches of more rows than this are learned at once.
SMALL = 64
#: Maximum number of buffered rows, and of values for wide rows.
MOST_ROWS, MOST_VALUES = 256, 2**20
#: Maximum number of buffered entries of dict rows, which the last row may exceed.
MOST_ENTRIES = 2**17


class RowBuffer:
    """Buffer of array rows, for selectors whose result does not depend on how rows are cut into batches.

    It accepts plain arrays of the known width and dtype, finite or NaN, with labels already known.

    Parameters
    ----------
    width : number of features
    dtype : of the rows, float32 or float64
    numeric : whether the target is numeric
    """

    def __init__(self, width: int, dtype: np.dtype[Any], *, numeric: bool) -> None:
        self.width = width
        self.rows = np.empty((max(1, min(MOST_ROWS, MOST_VALUES // max(1, width))), width), dtype)
        self.limit = LARGEST_VALUE[self.rows.dtype]
        self.numeric = numeric
        self.labels: list[Any] = []
        self.known: frozenset[Any] = frozenset()

    def take(self, X: Any, y: Any) -> bool:
        """Buffer rows and return True, or return False if they need full validation."""
        rows, filled = self.rows, len(self.labels)
        if (
            type(X) is not np.ndarray
            or type(y) is not np.ndarray
            or X.ndim != 2
            or y.ndim != 1
            or not 0 < (n := len(y)) <= SMALL
            or X.shape != (n, rows.shape[1])
            or X.dtype != rows.dtype
            or filled + n > len(rows)
            or not X.flags.c_contiguous
            or y.dtype.kind not in "fiubU"
        ):
            return False
        labels = y.tolist()
        if not (all(map(_is_number, labels)) if self.numeric else self.known.issuperset(labels)):
            return False
        if beyond(X, self.limit):
            return False
        rows[filled : filled + n] = X
        self.labels += labels
        return True

    def drain(self) -> tuple[Matrix, npt.NDArray[Any]]:
        """Return the rows and their targets, and clear the buffer."""
        labels, self.labels = self.labels, []
        return self.rows[: len(labels)], _targets(labels, numeric=self.numeric)


class DictBuffer:
    """Buffer of dict rows, for selectors with an open vocabulary; new names are added to it at once.

    It accepts plain dicts with text or integer keys, finite values, and labels already known.

    Parameters
    ----------
    vocabulary : the names known
    numeric : whether the target is numeric
    """

    #: The names of the latest row and their ids: the next row often has the same names.
    _names: tuple[Any, ...] | None
    #: Types of these names; None if all are text.  ``1 == True``, but their texts differ.
    _types: tuple[type, ...] | None
    _ids_of_names: list[int]

    def __init__(self, vocabulary: Vocabulary, *, numeric: bool) -> None:
        self.vocabulary = vocabulary
        self.numeric = numeric
        self.known: frozenset[Any] = frozenset()
        self._empty()

    @property
    def n_features(self) -> int:
        """Number of features, with those of the rows buffered."""
        return self.vocabulary.n_features

    def take(self, x: Any, y: Any) -> bool:
        """Buffer a row and return True, or return False if it needs full validation."""
        if type(x) is not dict or len(self.labels) >= MOST_ROWS or len(self._values) > MOST_ENTRIES:
            return False
        try:
            if not (_is_number(y) if self.numeric else y in self.known):
                return False
            values = x.values()
            # one call detects NaN, infinities and huge values; text and lists raise TypeError
            if not math.hypot(*values) <= LIMIT:
                return False
        except (TypeError, OverflowError, ValueError):
            return False
        names = tuple(x)
        if (names != self._names or self._types is not None) and not self._meet(names):
            return False
        self._ids += self._ids_of_names
        self._values += values
        self._ends.append(len(self._values))
        self.labels.append(y)
        return True

    def _meet(self, names: tuple[Any, ...]) -> bool:
        """Find the ids of names; False if some are neither text nor whole numbers, or equal as text."""
        types = tuple(map(type, names))
        if names == self._names and types == self._types:
            return True
        numbered = int in types
        if numbered and not {*types} <= {int, str}:
            return False
        try:
            texts = tuple(map(str, names)) if numbered else names
        except ValueError:  # a whole number of thousands of digits
            return False
        ids = self.vocabulary.ids_of(texts) if len({*texts}) == len(texts) else None
        if ids is None:
            return False
        self._names, self._ids_of_names, self._types = names, ids, types if numbered else None
        return True

    def drain(self) -> tuple[Matrix, npt.NDArray[Any]]:
        """Return the rows and their targets, and clear the buffer."""
        indices = np.array(self._ids, np.int32)
        values = np.array(self._values, np.float64)
        shape = len(self.labels), self.vocabulary.width
        X = sp.csr_array((values, indices, np.array(self._ends, np.int32)), shape)
        X.sort_indices()
        y = _targets(self.labels, numeric=self.numeric)
        self._empty()
        return X, y

    def _empty(self) -> None:
        self.labels: list[Any] = []
        self._ids: list[int] = []
        self._values: list[float] = []
        self._ends = [0]
        self._names, self._ids_of_names, self._types = None, [], None


def _is_number(target: Any) -> bool:
    return not isinstance(target, str) and math.isfinite(target) and abs(target) <= LIMIT


def _targets(labels: list[Any], *, numeric: bool) -> npt.NDArray[Any]:
    return np.array(labels, np.float64) if numeric else np.array(labels)
