"""Permutation p-values of correlations with one target."""

from __future__ import annotations

from typing import Any

import numpy as np

from streamsieve._kernels import permuted_targets as kernel
from streamsieve.protocols import BoolArray, FloatArray, IntArray

#: Values of the target, over all permutations of it that are drawn or listed: a tenth of a second or so for a
#: column that needs them all.
MOST_VALUES = 2_000_000
#: Permutations drawn at most; the number as extreme as the observed one that ends the sampling, and the
#: fewest from which a p-value is estimated.
MOST_DRAWS, STOP, FEWEST = 100_000, 30, 10
#: Permutations below which sampling resolves too little.
LEAST_DRAWS = 2_000
#: Values of all permutations up to which they are listed, and of the random ones that are remembered: 8 MB.
LISTED_VALUES = REMEMBERED_VALUES = 2**20
#: Permutations that are drawn first, and values that are drawn at a time: 2 MB.
FIRST_DRAWS, DRAWN_VALUES = 128, 2**18
#: Share by which squared correlations may differ by rounding.
ROUNDING = 1e-9
#: Random bits of all permutations: the same for every target, so that p-values do not depend on how columns
#: are divided into blocks.
SEED = 20_261_118


class PermutedTargets:
    """Permutation p-values of squared correlations (ratios) with one target.

    Under independence all orders of the target are equally probable, whatever its distribution and that of
    the column.  If there are few distinct orders, all are counted and the p-value is exact; of the most
    extreme order it is an upper bound, because it is the same however far the order stands out (2 / 70 for
    two classes of four rows), unless the relation is perfect.  Else random ones are drawn until 30 are as
    extreme as the observed order, the k-th of them the last: 30 / k is a p-value (Besag and Clifford,
    Biometrika 78, 1991).  If all B have been drawn, b of them as extreme, it is
    (1 + b) / (1 + B).

    Parameters
    ----------
    values : orthonormal contrasts of the target, a row for each of its distinct values
    codes : distinct value of each row
    orders : number of distinct orders

    Attributes
    ----------
    resolution : the smallest p-value that is estimated, 0 if all orders are listed; infinity with too many
        rows
    """

    def __init__(self, values: FloatArray, codes: IntArray, orders: float) -> None:
        self._values, self._codes = values, codes
        n = len(codes)
        all_values = orders * n * values.shape[1]
        self._most = int(min(MOST_DRAWS, MOST_VALUES // (n * values.shape[1])))
        self._listed = round(orders) if all_values <= min(LISTED_VALUES, MOST_VALUES) else 0
        self.resolution = (FEWEST + 1) / (self._most + 1) if self._most >= LEAST_DRAWS else np.inf
        if self._listed:
            self.resolution = 0.0
        #: Batches of permutations that are remembered, and their number of values.
        self._batches: list[FloatArray] = []
        self._remembered = 0

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_batches": [], "_remembered": 0}

    def p_values(self, Z: FloatArray) -> tuple[FloatArray, BoolArray]:
        """Return p-values of columns, and which of them are known; the others are upper bounds.

        ``Z`` has columns as rows, centered and of unit length.
        """
        observed = np.sum((self._values[self._codes].T @ Z.T) ** 2, axis=0) * (1 - ROUNDING)
        if self._listed:
            (orders,) = self._batches or [self._list()]
            squares = _squares(orders, Z)
            beyond = squares.max(axis=0) * (1 - ROUNDING) > observed * (1 + ROUNDING)
            return np.mean(squares >= observed, axis=0), beyond | (observed > 1 - 3 * ROUNDING)
        p_values, extreme, drawn = np.full(len(Z), self.resolution), np.zeros(len(Z), np.int64), 0
        left, number = np.arange(len(Z)), 0
        while len(left) and drawn < self._most:
            orders = self._batch(number, drawn)
            reached = _squares(orders, Z[left]) >= observed[left]
            counts = extreme[left] + reached.sum(axis=0)
            ended = np.flatnonzero(counts >= STOP)
            for j in ended.tolist():
                last = np.flatnonzero(reached[:, j])[STOP - 1 - extreme[left[j]]]
                p_values[left[j]] = STOP / (drawn + last + 1)
            extreme[left] = counts
            left, drawn, number = np.delete(left, ended), drawn + orders.shape[1], number + 1
        some = left[extreme[left] >= FEWEST]
        p_values[some] = (1 + extreme[some]) / (1 + drawn)
        return p_values, extreme >= FEWEST

    def _list(self) -> FloatArray:
        """Return all distinct orders."""
        orders = np.empty((self._values.shape[1], self._listed, len(self._codes)))
        kernel.listed(np.sort(self._codes), self._values, orders)
        self._batches = [orders]
        return orders

    def _batch(self, number: int, drawn: int) -> FloatArray:
        """Return a batch of random orders; ``drawn``: the number of orders before it."""
        if number < len(self._batches):
            return self._batches[number]
        n, columns = len(self._codes), self._values.shape[1]
        most = max(FIRST_DRAWS, DRAWN_VALUES // (n * columns))
        size = min(most, FIRST_DRAWS << min(number, 20), self._most - drawn)
        bits, words = np.random.PCG64(SEED), n // 2  # two numbers of 31 bits each
        bits.advance(drawn * words)
        raw = bits.random_raw(size * words).reshape(size, words)
        numbers = np.concatenate([raw >> 33, raw & (2**31 - 1)], axis=1).astype(np.int64)
        orders = np.empty((columns, size, n))
        kernel.shuffled(np.ascontiguousarray(self._values[self._codes]), numbers, orders)
        if number == len(self._batches) and self._remembered + orders.size <= REMEMBERED_VALUES:
            self._batches.append(orders)
            self._remembered += orders.size
        return orders


def _squares(orders: FloatArray, Z: FloatArray) -> FloatArray:
    """Return squared correlations (ratios) of columns (rows of Z) with orders of the target."""
    squares: FloatArray = np.sum([(order @ Z.T) ** 2 for order in orders], axis=0)
    return squares
