"""One epoch of stochastic gradient descent with momentum, over dense or sparse standardized rows.

A step takes ``batch`` rows or one fewer.  With the mean gradient g of their losses,

    v <- m v + (1 - m) g        b <- decay b - rate v

for every weight; intercepts do the same without decay.

**Steps may be limited.**  A non-negative loss of curvature at most K has ``|g|^2 <= 2 K L``, so a rate of at
most 1 / K never exceeds ``2 L / |g|^2``, with the mean loss L of the minibatch.  Where the rate does exceed
it, the minibatch is more curved than was thought, and its gradient is shortened to match.

**Sparse rows are never centered in memory.**  A standardized value is ``x / s - c`` with the column's mean c
in units of its deviation s; ``x / s`` is stored.  The means contribute ``-c_j D`` to the gradient with the
same D for all columns.  So the weights are kept as ``b = a - c U`` and ``v = w - c A``, where the numbers U
and A follow D, and a and w change by stored values alone.

**Momentum is lazy.**  A column absent from a step decays by tabulated powers of m and decay, and catches up
when a later step meets it.  The products of a and w with c follow their own recursions.
"""

from __future__ import annotations

import math

import numba as nb
import numpy as np
import numpy.typing as npt

from streamsieve.protocols import FloatArray, IntArray


@nb.njit(nogil=True, cache=True)
def loss_and_slope(kind: int, u: float) -> tuple[float, float]:  # noqa: PLR0911 - one for each loss
    """Return a loss and its derivative; 0 to 3 are of a margin u, 4 and 5 of a residual u."""
    if kind == 0:  # logistic, written so that nothing overflows
        small = math.exp(-abs(u))
        if u > 0.0:
            return math.log1p(small), -small / (1.0 + small)
        return math.log1p(small) - u, -1.0 / (1.0 + small)
    if kind == 1:  # Lorenz
        d = min(u - 1.0, 0.0)
        return math.log1p(d * d), 2.0 * d / (1.0 + d * d)
    if kind == 2:  # hinge with a corner rounded off from 0.9 to 1.1
        if u >= 1.1:
            return 0.0, 0.0
        if u <= 0.9:
            return 1.0 - u, -1.0
        return (1.1 - u) * (1.1 - u) / 0.4, -(1.1 - u) / 0.2
    if kind == 3:
        return 0.5 * (u - 1.0) * (u - 1.0), u - 1.0
    if kind == 4:
        return 0.5 * u * u, u
    return math.log1p(u * u), 2.0 * u / (1.0 + u * u)


@nb.njit(nogil=True, cache=True)
def slopes(kind: int, y: float, f: FloatArray, weight: float, out: FloatArray) -> float:
    """Write the slopes of one row's loss along its outputs; return the loss.

    One output: y is -1 or 1, or the number to predict.  Several: y is the class, and the loss is the sum over
    the margins to all other classes.
    """
    if len(f) == 1:
        if kind >= 4:
            loss, slope = loss_and_slope(kind, f[0] - y)
        else:
            loss, slope = loss_and_slope(kind, y * f[0])
            slope *= y
        out[0] = weight * slope
        alone: float = weight * loss
        return alone
    label = int(y)
    total = 0.0
    own = 0.0
    for c in range(len(f)):
        if c != label:
            loss, slope = loss_and_slope(kind, f[label] - f[c])
            total += loss
            own += slope
            out[c] = -weight * slope
    out[label] = weight * own
    return weight * total


@nb.njit(nogil=True, cache=True)
def all_slopes(
    kind: int, y: FloatArray, outputs: FloatArray, weight: FloatArray, losses: FloatArray, out: FloatArray
) -> None:
    """Write the loss of every row and its slopes along the outputs."""
    for i in range(len(y)):
        losses[i] = slopes(kind, y[i], outputs[i], weight[i], out[i])


@nb.njit(nogil=True, cache=True)
def shortening(loss: float, square: float, rate: float) -> float:
    """Return the factor that makes a gradient's step safe; ``square`` is its own, times the rows' number."""
    if rate * square > 2.0 * loss:
        return 2.0 * loss / (rate * square)
    return 1.0


@nb.njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def epoch_dense(
    X: FloatArray, center: FloatArray, scale: FloatArray, order: IntArray, y: FloatArray, weight: FloatArray,
    beta: FloatArray, velocity: FloatArray, head: FloatArray,
    batch: int, rate: float, momentum: float, decay: float, kind: int, limited: bool,
) -> float:  # fmt: skip
    """Pass once over the rows of X in order; return the sum of the losses met on the way.

    A value counts as ``(x - center) * scale``, which is never made in memory.  ``beta`` and ``velocity`` are
    (outputs, columns) and stay 0 where ``scale`` is; ``head`` holds the intercepts and their velocities.
    """
    n, width = len(order), X.shape[1]
    outputs = beta.shape[0]
    steps = (n + batch - 1) // batch
    slope, f, sums = np.zeros((4, outputs)), np.empty(outputs), np.empty(outputs)
    gradient, scaled, moved = np.empty((outputs, width)), np.empty((outputs, width)), np.empty(outputs)
    total = 0.0
    for t in range(steps):
        low, high = t * n // steps, (t + 1) * n // steps
        met = 0.0
        sums[:] = 0.0
        for c in range(outputs):
            own, coefficients, factors = gradient[c], beta[c], scaled[c]
            s = 0.0
            for j in range(width):
                own[j] = 0.0
                factors[j] = scale[j] * coefficients[j]
                s += factors[j] * center[j]
            moved[c] = head[0, c] - s
        # four rows at a time are predicted and added to the gradient, while they are in the cache
        for first in range(low, high, 4):
            many = min(4, high - first)
            for k in range(many):
                r = order[first + k]
                row = X[r]
                for c in range(outputs):
                    factors = scaled[c]
                    s = 0.0
                    for j in range(width):
                        s += row[j] * factors[j]
                    f[c] = moved[c] + s
                met += slopes(kind, y[r], f, weight[r], slope[k])
                for c in range(outputs):
                    sums[c] += slope[k, c]
            for k in range(many, 4):
                slope[k] = 0.0
            last = first + many - 1
            r0, r1 = X[order[first]], X[order[min(first + 1, last)]]
            r2, r3 = X[order[min(first + 2, last)]], X[order[min(first + 3, last)]]
            for c in range(outputs):
                own = gradient[c]
                d0, d1, d2, d3 = slope[0, c], slope[1, c], slope[2, c], slope[3, c]
                for j in range(width):
                    own[j] += (r0[j] * d0 + r1[j] * d1) + (r2[j] * d2 + r3[j] * d3)
        square = 0.0
        for c in range(outputs):
            own = gradient[c]
            square += sums[c] * sums[c]
            for j in range(width):
                slant = (own[j] - sums[c] * center[j]) * scale[j]
                own[j] = slant
                square += slant * slant
        total += met
        share = 1.0 / (high - low)
        if limited:
            share *= shortening(met, square * share, rate)
        for c in range(outputs):
            own, coefficients, speed = gradient[c], beta[c], velocity[c]
            for j in range(width):
                v = momentum * speed[j] + (1.0 - momentum) * share * own[j]
                speed[j] = v
                coefficients[j] = decay * coefficients[j] - rate * v
            head[1, c] = momentum * head[1, c] + (1.0 - momentum) * (sums[c] * share)
            head[0, c] -= rate * head[1, c]
    return total


@nb.njit(nogil=True, cache=True)
def pack(flat: FloatArray, n: int, width: int, columns: IntArray) -> None:
    """Move some columns of n rows to the front of the memory that holds them; columns in order."""
    m = len(columns)
    for i in range(n):
        source = flat[i * width : (i + 1) * width]
        target = flat[i * m : (i + 1) * m]
        for k in range(m):  # a target never lies behind its source
            target[k] = source[columns[k]]


@nb.njit(nogil=True, cache=True)
def moments_csr(
    indices: npt.NDArray[np.int32], data: FloatArray, n: int, mean: FloatArray, ss: FloatArray
) -> None:
    """Mean and centered sum of squares of every column of CSR rows, in two passes."""
    count = np.zeros(len(mean), np.int32)
    mean[:] = 0.0
    ss[:] = 0.0
    for e in range(len(indices)):
        mean[indices[e]] += data[e]
        count[indices[e]] += 1
    for j in range(len(mean)):
        mean[j] /= n
    for e in range(len(indices)):
        d = data[e] - mean[indices[e]]
        ss[indices[e]] += d * d
    for j in range(len(mean)):
        ss[j] += (n - count[j]) * mean[j] * mean[j]


@nb.njit(nogil=True, cache=True)
def take_csr(
    indptr: npt.NDArray[np.int32], indices: npt.NDArray[np.int32], data: FloatArray,
    number: npt.NDArray[np.int32], shift: FloatArray, scale: FloatArray,
    new_indptr: npt.NDArray[np.int32], new_indices: npt.NDArray[np.int32], new_data: FloatArray,
) -> int:  # fmt: skip
    """Write columns of CSR rows that have a new number, as ``(x - shift) * scale``; return how many values.

    The new arrays may be the old ones: what is written never lies behind what is read.
    """
    at = 0
    high = indptr[0]
    new_indptr[0] = 0
    for i in range(len(indptr) - 1):
        low, high = high, indptr[i + 1]
        for e in range(low, high):
            j = number[indices[e]]
            if j >= 0:
                x = (data[e] - shift[indices[e]]) * scale[indices[e]]
                new_indices[at] = j
                new_data[at] = x
                at += 1
        new_indptr[i + 1] = at
    return at


@nb.njit(nogil=True, cache=True)
def epoch_sparse(
    indptr: npt.NDArray[np.int32], indices: npt.NDArray[np.int32], data: FloatArray, offset: FloatArray,
    center: FloatArray, order: IntArray, y: FloatArray, weight: FloatArray,
    cells: FloatArray, head: FloatArray,
    batch: int, rate: float, momentum: float, decay: float, kind: int, limited: bool,
) -> float:  # fmt: skip
    """Pass once over sparse rows in order; return the sum of the losses met on the way.

    ``offset`` are the products of the rows with ``center``, the columns' means.  A row of ``cells`` is a
    column: the step up to which it is known, its weights, their velocities, and the gradient of this step.
    """
    n, outputs = len(order), head.shape[1]
    steps = (n + batch - 1) // batch
    # after q steps without a gradient: b <- powers[q, 0] b - powers[q, 1] v, v <- powers[q, 2] v
    powers = np.empty((steps + 1, 3))
    powers[0] = (1.0, 0.0, 1.0)
    mixed, still = 0.0, 1.0
    for q in range(1, steps + 1):
        still *= momentum
        mixed = decay * mixed + still
        powers[q] = (powers[q - 1, 0] * decay, rate * mixed, still)
    size = 0.0
    common = np.zeros((4, outputs))  # U, A, and the products of the columns' means with a and w
    for j in range(len(center)):
        size += center[j] * center[j]
        for c in range(outputs):
            common[2, c] += center[j] * cells[j, 1 + c]
            common[3, c] += center[j] * cells[j, 1 + outputs + c]
    slope = np.empty((n // steps + 1, outputs))
    f, sums, with_offsets = np.empty(outputs), np.empty(outputs), np.empty(outputs)
    total = 0.0
    for t in range(steps):
        low, high = t * n // steps, (t + 1) * n // steps
        met = 0.0
        for i in range(low, high):
            r = order[i]
            for c in range(outputs):
                f[c] = head[0, c] - common[0, c] * (offset[r] - size) - common[2, c]
            for e in range(indptr[r], indptr[r + 1]):
                cell = cells[indices[e]]
                missed = t - int(cell[0])
                if missed > 0:
                    cell[0] = t
                    for c in range(outputs):
                        v = cell[1 + outputs + c]
                        cell[1 + c] = powers[missed, 0] * cell[1 + c] - powers[missed, 1] * v
                        cell[1 + outputs + c] = powers[missed, 2] * v
                for c in range(outputs):
                    f[c] += data[e] * cell[1 + c]
            met += slopes(kind, y[r], f, weight[r], slope[i - low])
        # square of the gradient, from that of its stored part and the means' part, with D = sums
        square = 0.0
        for i in range(low, high):
            r = order[i]
            for e in range(indptr[r], indptr[r + 1]):
                cell = cells[indices[e]]
                for c in range(outputs):
                    more = slope[i - low, c] * data[e]
                    square += more * (2.0 * cell[1 + 2 * outputs + c] + more)
                    cell[1 + 2 * outputs + c] += more
        for c in range(outputs):
            sums[c], with_offsets[c] = 0.0, 0.0
            for i in range(low, high):
                sums[c] += slope[i - low, c]
                with_offsets[c] += slope[i - low, c] * offset[order[i]]
            square += sums[c] * (sums[c] * (1.0 + size) - 2.0 * with_offsets[c])
        total += met
        share = 1.0 / (high - low)
        if limited:
            share *= shortening(met, square * share, rate)
        share *= 1.0 - momentum
        for i in range(low, high):
            r = order[i]
            for e in range(indptr[r], indptr[r + 1]):
                cell = cells[indices[e]]
                if int(cell[0]) == t:
                    cell[0] = t + 1
                    for c in range(outputs):
                        v = momentum * cell[1 + outputs + c] + share * cell[1 + 2 * outputs + c]
                        cell[1 + outputs + c] = v
                        cell[1 + c] = decay * cell[1 + c] - rate * v
                        cell[1 + 2 * outputs + c] = 0.0
        for c in range(outputs):
            head[1, c] = momentum * head[1, c] + share * sums[c]
            head[0, c] -= rate * head[1, c]
            common[1, c] = momentum * common[1, c] + share * sums[c]
            common[0, c] = decay * common[0, c] - rate * common[1, c]
            common[3, c] = momentum * common[3, c] + share * with_offsets[c]
            common[2, c] = decay * common[2, c] - rate * common[3, c]
    for j in range(len(center)):
        cell = cells[j]
        missed = steps - int(cell[0])
        for c in range(outputs):
            v = cell[1 + outputs + c]
            cell[1 + c] = powers[missed, 0] * cell[1 + c] - powers[missed, 1] * v - center[j] * common[0, c]
            cell[1 + outputs + c] = powers[missed, 2] * v - center[j] * common[1, c]
    return total
