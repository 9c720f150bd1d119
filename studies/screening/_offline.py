"""The offline twin: exact quantile bins of data that is all at hand.

With n values, ``d = floor(n / K)`` and ``cut_i`` the (i d)-th smallest value, i = 1 .. K - 1; a value's bin
is the number of cuts below it.  Equal values share a bin.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve.protocols import FloatArray
from streamsieve.summaries.table_block import TableBlock

Labels = npt.NDArray[np.int64]


def offline_tables(X: Any, y: Labels, bins: int) -> TableBlock:
    """Return the counts of (feature, class, bin)."""
    counts = _sparse(sp.csc_array(X), y, bins) if sp.issparse(X) else _dense(X, y, bins)
    return TableBlock(counts, np.full(len(counts), float(len(y))), ordered=True)


def _dense(X: npt.NDArray[np.float64], y: Labels, bins: int) -> FloatArray:
    cuts = np.sort(X, axis=0)[_ranks(len(X), bins)]
    code = np.zeros(X.shape, np.int8)
    for cut in cuts:
        code += cut < X
    return np.array(
        [[np.sum(code[y == c] == b, axis=0) for b in range(bins)] for c in range(y.max() + 1)], np.float64
    ).transpose(2, 0, 1)


def _sparse(X: sp.csc_array, y: Labels, bins: int) -> FloatArray:
    n, p = X.shape
    n_classes = int(y.max()) + 1
    stored = np.diff(X.indptr)
    column = np.repeat(np.arange(p), stored)
    values = X.data[np.lexsort((X.data, column))]
    below = np.bincount(column[X.data < 0], minlength=p)  # values below zero, for every feature
    zeros = n - stored
    code, code_of_zero = np.zeros(len(column), np.int64), np.zeros(p, np.int64)
    for rank in _ranks(n, bins):
        # in sorted order a feature is its negative values, its zeros, its positive values
        place = np.where(rank < below, rank, rank - zeros)
        is_zero = (rank >= below) & (rank < below + zeros)
        cut = np.zeros(p)
        cut[~is_zero] = values[X.indptr[:-1][~is_zero] + place[~is_zero]]
        code += cut[column] < X.data
        code_of_zero += cut < 0
    cell = (column * n_classes + y[X.indices]) * bins + code
    counts = np.bincount(cell, minlength=p * n_classes * bins).reshape(p, n_classes, bins).astype(np.float64)
    absent = np.bincount(y, minlength=n_classes) - counts.sum(axis=2)
    counts[np.arange(p)[:, None], np.arange(n_classes), code_of_zero[:, None]] += absent
    return counts


def _ranks(n: int, bins: int) -> npt.NDArray[np.int64]:
    """Return the places, from 0, of the cuts in sorted order; with few values there are fewer cuts."""
    places = np.arange(1, bins) * max(1, n // bins) - 1
    return places[places < n]
