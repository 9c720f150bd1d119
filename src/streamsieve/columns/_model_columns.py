"""What models that grow by columns share: a block column by column, a target in units, and verdicts."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve.decisions import Eviction
from streamsieve.protocols import FloatArray, IntArray


class Offered(NamedTuple):
    """What became of the columns of a block."""

    #: Codes of the ledger.
    reason: npt.NDArray[np.uint8]
    statistic: FloatArray
    evictions: list[Eviction]


class Pieces(NamedTuple):
    """The columns of a block, one after the other."""

    pointers: IntArray
    #: Rows of the values; none if all are there.
    rows: npt.NDArray[np.int32]
    values: FloatArray


def pieces_of(X: Any) -> Pieces:
    """Return the columns of a block one after the other; without a copy where they stand so."""
    if sp.issparse(X):
        return Pieces(X.indptr.astype(np.int64), X.indices, X.data)
    n, m = X.shape
    values = np.ascontiguousarray(X.T, np.float64).reshape(-1)
    return Pieces(np.arange(m + 1) * n, np.zeros(0, np.int32), values)


def standardised(y: FloatArray) -> tuple[float, float, FloatArray]:
    """Return mean and deviation of a target that varies, and the target at mean 0 and variance 1.

    Relative to its first value and its largest, so that neither an offset nor a tiny unit costs digits.
    """
    rest = y - y[0]
    rest -= rest.mean()
    most = float(np.abs(rest).max())
    target = rest / most
    spread = math.sqrt(float(np.mean(target**2)))
    target /= spread
    target -= target.mean()
    least = 5e-324  # of numbers so small that half of one is 0
    return float(y[0] + (y - y[0]).mean()), max(most * spread, least), target
