"""Groups of columns: class separability, redundancy, and the elastic net between groups."""

from __future__ import annotations

import numba as nb
import numpy as np
import numpy.typing as npt

from streamsieve.protocols import FloatArray, IntArray


@nb.njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def products(columns: FloatArray, some: IntArray, others: IntArray) -> FloatArray:
    """Inner products of columns that lie in the rows of a table.

    A loop, not a matrix product: groups are small, and threads would cost more than they do.
    """
    n = columns.shape[1]
    out = np.empty((len(some), len(others)))
    for j in range(len(others)):
        b = columns[others[j]]
        for i in range(len(some)):
            a = columns[some[i]]
            s = 0.0
            for t in range(n):
                s += a[t] * b[t]
            out[i, j] = s
    return out


@nb.njit(nogil=True, cache=True)
def admitted(
    between: FloatArray, within: FloatArray, known: int, epsilon: float, critical: FloatArray, literal: bool,
    pairs: FloatArray, limit: float, separate: bool, either: bool,
) -> tuple[npt.NDArray[np.uint8], IntArray]:  # fmt: skip
    """Say which columns of a group, in order, are admitted beside earlier ones and each other.

    Fates are 0 (admitted), 1 (redundant) and 2 (does not separate classes); the first ``known`` columns are
    admitted already.  Row j of ``pairs`` holds how much column j shares with the earlier columns, then with
    those of the group: it is redundant if that is above the limit for an earlier column or an admitted one.
    By whom, by position in the row, is the second answer, -1 if none.

    If columns must ``separate`` classes: admitted columns have the separability ``sum of between / sum of
    within``, nothing has 0; a column's own score is its ratio.  A column separates if it raises the
    separability by more than epsilon, or if its score is large beside those admitted so far (two at least,
    that differ): a t statistic for one more draw exceeds ``critical[number admitted - 1]``.  ``literal``: the
    paper's t (how far the mean of the scores lies above the score, in standard errors of the mean) exceeds
    ``critical[0]``.

    Both are asked, or, if ``either``, one of them is enough.
    """
    m = len(between)
    compared = limit < np.inf  # without a limit nothing is redundant, and the pairs are not looked at
    earlier = pairs.shape[1] - m
    fate, by = np.zeros(m, np.uint8), np.full(m, -1)
    total_between = total_within = mean = squares = 0.0
    count = 0
    for j in range(m):
        score = between[j] / within[j]
        if j >= known:
            for i in range(earlier + j if compared else 0):
                there = i < earlier or fate[i - earlier] == 0
                more = by[j] < 0 or pairs[j, i] > pairs[j, by[j]] + 1e-12
                if there and more and pairs[j, i] > limit:
                    by[j] = i
            redundant = by[j] >= 0
            separates = not separate
            if separate:
                now = total_between / total_within if count > 0 else 0.0
                then = (total_between + between[j]) / (total_within + within[j])
                separates = then - now > epsilon + 1e-12 * (1.0 + now)
                spread = np.sqrt(squares / (count - 1)) if count > 1 else 0.0
                if not separates and spread > 1e-9 * (1.0 + abs(mean)):
                    if literal:
                        separates = (mean - score) / (spread / np.sqrt(count)) > critical[0]
                    else:
                        t = (score - mean) / (spread * np.sqrt(1.0 + 1.0 / count))
                        separates = t > critical[count - 1]
            if either and separate and (separates or not redundant):
                by[j] = -1
            elif redundant:
                fate[j] = 1
            elif not separates:
                fate[j] = 2
        if fate[j] == 0:
            total_between += between[j]
            total_within += within[j]
            count += 1
            change = score - mean
            mean += change / count
            squares += change * (score - mean)
    return fate, by


@nb.njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def descend(
    gram: FloatArray, rest: FloatArray, weights: FloatArray, penalty: float, ridge: float,
    tolerance: float, most_sweeps: int,
) -> None:  # fmt: skip
    """Minimize ``|Y - Z W|^2 / 2 + penalty sum |W_j| + ridge |W|^2 / 2`` in place, one column of Z at a time.

    ``gram`` is Z'Z with ones on its diagonal, ``rest`` is Z'(Y - Z W), and row j of W belongs to column j of
    Z.  A row is 0 unless the penalty is exceeded by a billionth: what lies at the border (a copy of a column
    that is in) stays out, whatever rounding says.
    """
    q, k = weights.shape
    # by contrast and then column: an update runs along memory, which halves the time
    remaining, fitted = np.ascontiguousarray(rest.T), np.ascontiguousarray(weights.T)
    new = np.empty(k)
    border = penalty * (1.0 + 1e-9) + 1e-12
    for _ in range(most_sweeps):
        moved = 0.0
        for j in range(q):
            length = 0.0
            for c in range(k):
                new[c] = remaining[c, j] + fitted[c, j]
                length += new[c] * new[c]
            length = np.sqrt(length)
            factor = (1.0 - penalty / length) / (1.0 + ridge) if length > border else 0.0
            row = gram[j]
            for c in range(k):
                change = new[c] * factor - fitted[c, j]
                if change != 0.0:
                    fitted[c, j] += change
                    moved = max(moved, abs(change))
                    line = remaining[c]
                    for other in range(q):
                        line[other] -= change * row[other]
        if moved <= tolerance:
            break
    rest[:] = remaining.T
    weights[:] = fitted.T
