"""Online substitution: a model of at most ``budget`` columns, in which each newcomer is weighed at once.

The loss is 0 squared (half) or 1 logistic, over a target of mean 0 and variance 1 or of 0 and 1.  Columns in
the model have mean 0 and variance 1, and coefficients are in these units, so that a step of 1 (4 for the
logistic loss, whose curvature is a quarter at most) times the mean product with the residual never goes too
far.  A block comes as pieces: pointers, rows (none if it is dense) and values, column after column.

The column of place k is ``store[where[k]]``.  ``counts`` holds the places taken, the arrivals since the last
round of steps, whether that round moved nothing, the free rows of the store (``free`` is a stack of them) and
those that become free when the block is through.  ``level`` holds the intercept and the mean of the residual.
"""

from __future__ import annotations

import math

import numba as nb
import numpy as np
import numpy.typing as npt

from streamsieve.protocols import BoolArray, FloatArray, IntArray


@nb.njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def _sums(x: FloatArray, residual: FloatArray) -> tuple[float, float, float]:
    """Sum, sum of squares and product with the residual of x - x[0].

    Both halves at once, because memory serves two streams faster than one.
    """
    n = len(x)
    half = n // 2
    z = x[0]
    a, b = x[:half], x[half : 2 * half]
    ra, rb = residual[:half], residual[half : 2 * half]
    s = 0.0
    q = 0.0
    c = 0.0
    for i in range(half):
        d, e = a[i] - z, b[i] - z
        s += d + e
        q += d * d + e * e
        c += d * ra[i] + e * rb[i]
    if n % 2:
        d = x[n - 1] - z
        s += d
        q += d * d
        c += d * residual[n - 1]
    return s, q, c


@nb.njit(nogil=True, cache=True)
def measure(
    pointers: IntArray, rows: npt.NDArray[np.int32], values: FloatArray, residual: FloatArray, mean: float,
    low: int, high: int, limit: float, facts: FloatArray,
) -> None:  # fmt: skip
    """Fill in mean, deviation and gradient of columns low..high, and the mean relative to the first value.

    ``mean`` is that of the residual.  The deviation is 0 for a constant, and -1 if the square of the first
    value or those of the differences from it are ``limit`` or more, or no number.  Sums are relative to the
    first value (to 0 for a sparse column that has zeros), so that an offset costs no digits and a constant is
    one exactly.
    """
    n = len(residual)
    largest = math.sqrt(limit)
    for j in range(low, high):
        begin, end = pointers[j], pointers[j + 1]
        x = values[begin:end]
        if end - begin == n:  # all rows, in order, sparse or not
            s, q, c = _sums(x, residual)
            facts[j, 0] = x[0] + s / n
            facts[j, 3] = s / n
        else:
            at = rows[begin:end]
            s, q, c = 0.0, 0.0, 0.0
            for t in range(end - begin):
                s += x[t]
                q += x[t] * x[t]
                c += x[t] * residual[at[t]]
            facts[j, 0], facts[j, 3] = s / n, s / n
        spread = q - s * s / n
        facts[j, 1], facts[j, 2] = 0.0, 0.0
        if not q < limit or (len(x) > 0 and not abs(x[0]) < largest):
            facts[j, 1] = -1.0
        elif spread > 0.0:
            facts[j, 1] = math.sqrt(spread / n)
            facts[j, 2] = (c - s * mean) / (n * facts[j, 1])


@nb.njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def _respond(target: FloatArray, predictor: FloatArray, residual: FloatArray) -> float:
    """Fill in the residual of a logistic model, and return its mean."""
    total = 0.0
    for i in range(len(target)):
        z = predictor[i]
        small = math.exp(-abs(z))
        residual[i] = target[i] - (1.0 if z >= 0.0 else small) / (1.0 + small)
        total += residual[i]
    return total / len(target)


@nb.njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def _move(residual: FloatArray, by: float, u: FloatArray, v: FloatArray) -> float:
    """Take ``by`` times u from the residual, and return what is left times v."""
    s = 0.0
    for i in range(len(residual)):
        r = residual[i] - by * u[i]
        residual[i] = r
        s += r * v[i]
    return s


@nb.njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def _round(
    loss: int, target: FloatArray, predictor: FloatArray, residual: FloatArray, level: FloatArray,
    store: FloatArray, where: IntArray, theta: FloatArray, q: int, share: float,
) -> float:  # fmt: skip
    """Let every coefficient take a step, one after the other; returns how far the largest went.

    A step for the logistic loss takes the intercept along, which is orthogonal to every column.
    """
    n = len(target)
    longest = 0.0
    product = _move(residual, 0.0, store[where[0]], store[where[0]])
    for k in range(q):
        u = store[where[k]]
        following = store[where[(k + 1) % q]]
        by = share * (product / n)
        if loss == 0:
            theta[k] += by
            longest = max(longest, abs(by))
            product = _move(residual, by, u, following)
        else:
            by, lift = 4.0 * by, share * 4.0 * level[1]
            theta[k] += by
            level[0] += lift
            longest = max(longest, abs(by), abs(lift))
            for i in range(n):
                predictor[i] += by * u[i] + lift
            level[1] = _respond(target, predictor, residual)
            product = _move(residual, 0.0, u, following)
    return longest


@nb.njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def _replace(
    changed: FloatArray, out: float, old: FloatArray, into: float, new: FloatArray,
    at: npt.NDArray[np.int32], x: FloatArray, mean: float, scale: float,
) -> None:  # fmt: skip
    """Put x, standardized, into ``new``; add ``into`` times it and take ``out`` times ``old``.

    ``mean`` is relative to the first value, or to 0 if not all values are there.
    """
    n = len(changed)
    factor = 1.0 / scale
    if len(x) == n:
        z = x[0]
        for i in range(n):
            u = ((x[i] - z) - mean) * factor
            changed[i] += into * u - out * old[i]
            new[i] = u
        return
    new[:] = -mean * factor
    for t in range(len(x)):
        new[at[t]] = (x[t] - mean) * factor
    for i in range(n):
        changed[i] += into * new[i] - out * old[i]


@nb.njit(nogil=True, cache=True)
def commit(
    pointers: IntArray, rows: npt.NDArray[np.int32], values: FloatArray, facts: FloatArray, start: int,
    low: int, high: int,
    loss: int, target: FloatArray, predictor: FloatArray, residual: FloatArray, level: FloatArray,
    store: FloatArray, where: IntArray, fresh: BoolArray, free: IntArray, later: IntArray,
    theta: FloatArray, feature: IntArray, known: FloatArray, counts: IntArray,
    budget: int, refresh: int, share: float, least: float, evicted: IntArray, was: FloatArray,
) -> int:  # fmt: skip
    """Weigh columns low..high that were measured, in order; those in the model already are passed over.

    The gradients in ``facts`` become coefficients.  A column is kept if ``evicted`` is -1 (there was room) or
    the feature that had to leave, whose coefficient was ``was``; it is rejected if that is -2.  Returns the
    first column whose deviation is -1, before which it stops, or ``high``.

    Rows of the store that are not ``fresh`` are never written: the model can be put back as it was.
    """
    for j in range(low, high):
        evicted[j] = -2
        mean, scale = facts[j, 0], facts[j, 1]
        if scale < 0.0:
            return j
        q = counts[0]
        inside = False
        for k in range(q):
            inside = inside or feature[k] == start + j
        if inside or scale == 0.0:
            continue
        new = share * facts[j, 2] * (4.0 if loss == 1 else 1.0)
        facts[j, 2] = new
        counts[1] += 1
        if counts[1] >= refresh:
            counts[1] = 0
            if q > 0 and counts[2] == 0:
                longest = _round(
                    loss, target, predictor, residual, level, store, where, theta, q, share
                )  # fmt: skip
                counts[2] = int(longest <= least)
        if abs(new) <= least:
            continue
        k, out = q, 0.0
        if q == budget:
            weakest = abs(theta[0])
            for other in range(1, q):
                weakest = min(weakest, abs(theta[other]))
            # of equals, up to rounding, the last to arrive goes
            weakest *= 1.0 + 1e-9
            if abs(new) <= weakest:
                continue
            k = -1
            for other in range(q):
                if abs(theta[other]) <= weakest and (k < 0 or feature[other] > feature[k]):
                    k = other
            evicted[j], was[j], out = feature[k], theta[k], theta[k]
        else:
            evicted[j] = -1
            counts[0] = q + 1
        counts[3] -= 1
        row = free[counts[3]]
        old = where[k] if q == budget else row
        x, at = values[pointers[j] : pointers[j + 1]], rows
        if len(rows) > 0:
            at = rows[pointers[j] : pointers[j + 1]]
        if loss == 0:
            _replace(residual, -out, store[old], -new, store[row], at, x, facts[j, 3], scale)
        else:
            _replace(predictor, out, store[old], new, store[row], at, x, facts[j, 3], scale)
            level[1] = _respond(target, predictor, residual)
        if q == budget and fresh[old]:
            free[counts[3]] = old
            counts[3] += 1
        elif q == budget:
            later[counts[4]] = old
            counts[4] += 1
        where[k], fresh[row] = row, True
        theta[k], feature[k], known[k, 0], known[k, 1] = new, start + j, mean, scale
        counts[2] = 0
    return high


@nb.njit(nogil=True, cache=True)
def substitute(
    pointers: IntArray, rows: npt.NDArray[np.int32], values: FloatArray, facts: FloatArray, start: int,
    limit: float,
    loss: int, target: FloatArray, predictor: FloatArray, residual: FloatArray, level: FloatArray,
    store: FloatArray, where: IntArray, fresh: BoolArray, free: IntArray, later: IntArray,
    theta: FloatArray, feature: IntArray, known: FloatArray, counts: IntArray,
    budget: int, refresh: int, share: float, least: float, evicted: IntArray, was: FloatArray,
) -> int:  # fmt: skip
    """Measure and weigh all columns of a block, one after the other; returns as ``commit`` does."""
    for j in range(len(evicted)):
        measure(pointers, rows, values, residual, level[1], j, j + 1, limit, facts)
        done = commit(
            pointers, rows, values, facts, start, j, j + 1, loss, target, predictor, residual, level,
            store, where, fresh, free, later, theta, feature, known, counts,
            budget, refresh, share, least, evicted, was,
        )  # fmt: skip
        if done == j:
            return j
    return len(evicted)
