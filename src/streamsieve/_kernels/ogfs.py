"""Groups of columns: class separability, redundancy, and the elastic net between groups."""

from __future__ import annotations

import numba as nb
import numpy as np
import numpy.typing as npt

from streamsieve.protocols import FloatArray, IntArray

#: Sweeps of coordinate descent that are extrapolated.
EXTRAPOLATED = 8
#: Rounding of an objective for targets of length 1.
ROUNDING = 1e-14
#: Slack in weights and products of what is certain: more than rounding, and than what lies at the border.
CLEAR = 1e-8


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
def _subtract(gram: FloatArray, low: int, change: FloatArray, remaining: FloatArray) -> None:
    """Take the effect of up to four columns from ``low`` on, whose weights change, off the products."""
    last = len(gram) - 1
    first, second, third, fourth = (
        gram[low], gram[min(low + 1, last)], gram[min(low + 2, last)], gram[min(low + 3, last)],
    )  # fmt: skip
    for c in range(len(remaining)):
        line = remaining[c]
        w, x, y, z = change[0, c], change[1, c], change[2, c], change[3, c]
        for other in range(len(line)):
            line[other] -= w * first[other] + x * second[other] + y * third[other] + z * fourth[other]


@nb.njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def _sweep(
    gram: FloatArray, remaining: FloatArray, fitted: FloatArray, change: FloatArray, penalty: float,
    ridge: float,
) -> float:  # fmt: skip
    """Minimize over each column in turn; return the largest change of a weight.

    Four columns at a time, so that the products are read and written once for the four.
    """
    k, q = fitted.shape
    border = penalty * (1.0 + 1e-9) + 1e-12
    moved = 0.0
    for low in range(0, q, 4):
        change[:] = 0.0
        for i in range(min(4, q - low)):
            j = low + i
            length = 0.0
            for c in range(k):
                alone = remaining[c, j] + fitted[c, j]
                for before in range(i):
                    alone -= change[before, c] * gram[low + before, j]
                change[i, c] = alone
                length += alone * alone
            length = np.sqrt(length)
            factor = (1.0 - penalty / length) / (1.0 + ridge) if length > border else 0.0
            for c in range(k):
                change[i, c] = change[i, c] * factor - fitted[c, j]
                fitted[c, j] += change[i, c]
                moved = max(moved, abs(change[i, c]))
        _subtract(gram, low, change, remaining)
    return moved


@nb.njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def _mixture(fits: FloatArray) -> FloatArray:
    """Return the coefficients, of sum 1, that make the mixture of the last steps of an iteration shortest."""
    steps, k, q = len(fits) - 1, fits.shape[1], fits.shape[2]
    inner, mixture = np.empty((steps, steps)), np.ones(steps)
    total = 0.0
    for a in range(steps):
        for b in range(a + 1):
            s = 0.0
            for c in range(k):
                for j in range(q):
                    s += (fits[a + 1, c, j] - fits[a, c, j]) * (fits[b + 1, c, j] - fits[b, c, j])
            inner[a, b] = inner[b, a] = s
        total += inner[a, a]
    for a in range(steps):  # elimination, which needs no pivots for a positive definite matrix
        inner[a, a] += 1e-10 * total  # steps may be collinear
        for b in range(a + 1, steps):
            factor = inner[b, a] / inner[a, a]
            mixture[b] -= factor * mixture[a]
            for c in range(a + 1, steps):
                inner[b, c] -= factor * inner[a, c]
    total = 0.0
    for a in range(steps - 1, -1, -1):
        for b in range(a + 1, steps):
            mixture[a] -= inner[a, b] * mixture[b]
        mixture[a] /= inner[a, a]
        total += mixture[a]
    return mixture / total


@nb.njit(nogil=True, cache=True)
def _objective(
    products: FloatArray, remaining: FloatArray, fitted: FloatArray, penalty: float, ridge: float
) -> float:
    """Return what `descend` minimizes, up to a constant."""
    total = 0.0
    for j in range(len(products)):
        square = 0.0
        for c in range(len(fitted)):
            square += fitted[c, j] * fitted[c, j]
            total -= 0.5 * fitted[c, j] * (products[j, c] + remaining[c, j])
        total += penalty * np.sqrt(square) + 0.5 * ridge * square
    return total


@nb.njit(nogil=True, cache=True)
def _certain(
    remaining: FloatArray, fitted: FloatArray, penalty: float, ridge: float, least: float, near: float
) -> bool:
    """Whether the columns with a weight above ``least`` are those of the minimum, not farther than ``near``.

    Let x be a subgradient of the objective, and D the way to the minimum.  By strong convexity
    ``ridge |D|^2 + |Z D|^2 <= |x| |D|``, so ``|D| <= |x| / ridge`` and ``|Z D| <= |x| / (2 sqrt(ridge))``.  A
    weight is on its side of ``least`` if it is farther than |D| from it; and a row is 0 at the minimum if
    its product with the residual, which moves by at most |Z D|, stays below the penalty.
    """
    k, q = fitted.shape
    square = 0.0
    nearest = largest = -np.inf  # of weights to the threshold, with a minus sign; of products of rows of 0
    for j in range(q):
        weight = product = 0.0
        for c in range(k):
            weight += fitted[c, j] * fitted[c, j]
            product += remaining[c, j] * remaining[c, j]
        weight, product = np.sqrt(weight), np.sqrt(product)
        if weight > 0.0:
            pull = ridge + penalty / weight
            for c in range(k):
                off = remaining[c, j] - pull * fitted[c, j]
                square += off * off
        else:
            square += max(product - penalty, 0.0) ** 2
        if weight > 0.0 or least > 0.0:
            nearest = max(nearest, -abs(weight - least))
        else:
            largest = max(largest, product)
    length = np.sqrt(square)
    known = nearest + length / ridge < -CLEAR and length / ridge <= near
    certain: bool = known and largest + length / (2.0 * np.sqrt(ridge)) < penalty - CLEAR
    return certain


@nb.njit(nogil=True, cache=True)
def descend(
    gram: FloatArray, products: FloatArray, weights: FloatArray, penalty: float, ridge: float,
    tolerance: float, most_sweeps: int, least: float, near: float,
) -> tuple[FloatArray, int]:  # fmt: skip
    """Minimize ``|Y - Z W|^2 / 2 + penalty sum |W_j| + ridge |W|^2 / 2`` in place, one column of Z at a time.

    ``gram`` is Z'Z with ones on its diagonal, ``products`` is Z'Y, and row j of W belongs to column j of Z;
    Z'(Y - Z W) and the number of sweeps are returned.  Unless ``least`` is negative or there is no ridge, the
    descent ends as soon as it is certain which rows are longer than ``least`` at the minimum, and that its
    distance is at most ``near``; otherwise when no weight moves by more than the tolerance.  A row is 0
    unless the penalty is exceeded by a billionth: what lies at the border (a copy of a column that is in)
    stays out, whatever rounding says.

    With a ridge the minimum is unique, and every eight sweeps are extrapolated (Bertrand and Massias,
    Anderson acceleration of coordinate descent, AISTATS 2021), so that fewer are needed.  An extrapolation is
    undone if it raises the objective, or if the next sweep moves farther than the last one did: otherwise
    nearly collinear columns may make it go in circles.  Without a ridge, copies make the minimum depend on
    the way to it.
    """
    q, k = weights.shape
    # by contrast and then column: an update runs along memory
    remaining, fitted = np.ascontiguousarray(products.T), np.ascontiguousarray(weights.T)
    change = np.zeros((4, k))
    for low in range(0, q, 4):
        change[:] = 0.0
        some = weights[low : low + 4]
        change[: len(some)] = some
        _subtract(gram, low, change, remaining)
    room = EXTRAPOLATED + 1 if ridge > 0.0 else 0
    fits, left = np.empty((room, k, q)), np.empty((room, k, q))
    known, before, mixed, sweeps = 0, np.inf, False, 0
    early = least >= 0.0 and ridge > 0.0
    while sweeps < most_sweeps and not (early and _certain(remaining, fitted, penalty, ridge, least, near)):
        moved = _sweep(gram, remaining, fitted, change, penalty, ridge)
        sweeps += 1
        if moved <= tolerance:
            break
        if room == 0:
            continue
        if mixed and moved > before:
            remaining[:], fitted[:] = left[-1], fits[-1]
        else:
            before = moved
        fits[known], left[known] = fitted, remaining
        known, mixed = known + 1, False
        if known == room and sweeps < most_sweeps:  # a sweep must tell whether it helped
            share = _mixture(fits)
            remaining[:], fitted[:] = 0.0, 0.0
            for a in range(EXTRAPOLATED):
                remaining += share[a] * left[a + 1]
                fitted += share[a] * fits[a + 1]
            before_it = _objective(products, left[-1], fits[-1], penalty, ridge)
            mixed = _objective(products, remaining, fitted, penalty, ridge) <= before_it + ROUNDING
            if not mixed:
                remaining[:], fitted[:] = left[-1], fits[-1]
            known = 0
    weights[:] = fitted.T
    return np.ascontiguousarray(remaining.T), sweeps
