"""Three-way decisions: running thresholds, and dependence on the target given another column."""

from __future__ import annotations

import numba as nb
import numpy as np
import numpy.typing as npt

from streamsieve.protocols import BoolArray, FloatArray, IntArray


@nb.njit(nogil=True, cache=True)
def thresholds(
    score: FloatArray, counted: BoolArray, moments: FloatArray, low: float, high: float
) -> tuple[FloatArray, FloatArray]:
    """Return mean + low sd and mean + high sd of all scores up to each one, which is counted itself.

    ``moments`` are number, mean and sum of squares about it of the scores before (Welford), and are kept up.
    Scores that are not counted get the thresholds of before.
    """
    lower, upper = np.empty(len(score)), np.empty(len(score))
    count, mean, squares = moments[0], moments[1], moments[2]
    spread = np.sqrt(squares / count) if count > 0.0 else 0.0
    for j in range(len(score)):
        if counted[j]:
            count += 1.0
            change = score[j] - mean
            mean += change / count
            squares += change * (score[j] - mean)
            spread = np.sqrt(squares / count)
        lower[j] = mean + low * spread
        upper[j] = mean + high * spread
    moments[0], moments[1], moments[2] = count, mean, squares
    return lower, upper


@nb.njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def given(
    columns: FloatArray, products: FloatArray, some: IntArray, other: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return correlations of some columns with another one, and their dependence on the target given it.

    Columns, centered and of unit length, lie in rows; ``products`` are theirs with an orthonormal basis of
    what the target can say.  Given the other column, a column has the variance ``1 - r^2``; third, the share
    of it that the target leaves, which is what it has within the target, given the other one there.
    """
    n, k = columns.shape[1], products.shape[1]
    b, cb = columns[other], products[other]
    pair, dependence, share = np.empty(len(some)), np.zeros(len(some)), np.ones(len(some))
    inside_b = 1.0
    for c in range(k):
        inside_b -= cb[c] * cb[c]
    for i in range(len(some)):
        a, ca = columns[some[i]], products[some[i]]
        r = 0.0
        for t in range(n):
            r += a[t] * b[t]
        inside, both = 1.0, r
        for c in range(k):
            inside -= ca[c] * ca[c]
            both -= ca[c] * cb[c]
        pair[i] = r
        left = 1.0 - r * r
        if left <= 1e-10:  # nothing is left of the column
            continue
        if inside_b > 1e-10:
            inside -= both * both / inside_b
        share[i] = min(max(inside / left, 0.0), 1.0)
        dependence[i] = np.sqrt(1.0 - share[i])
    return pair, dependence, share


@nb.njit(nogil=True, cache=True)
def partners(
    columns: FloatArray, products: FloatArray, score: FloatArray, some: IntArray, limit: float
) -> npt.NDArray[np.int64]:
    """Return for each of some columns another of them with which it makes a pair; -1 if there is none.

    A pair is two of which one depends on the target, alone and given the other together, by more than the
    limit.  Of several partners it is the first.
    """
    m = len(some)
    out = np.full(m, -1)
    for j in range(m):
        _, dependence, _ = given(columns, products, some, some[j])
        for i in range(m):
            if i != j and score[some[i]] + dependence[i] > limit:
                if out[i] < 0 or j < out[i]:
                    out[i] = j
                if out[j] < 0 or i < out[j]:
                    out[j] = i
    return out
