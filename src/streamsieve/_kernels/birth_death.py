"""A walk over linear models by births and deaths of columns, for the posterior under Zellner's g-prior.

Columns are centered and of length 1, and so is the target, so that products are correlations.  Of the columns
in the model, ``gram`` holds their products with all columns, ``factor`` the Cholesky factor L of their own,
and ``z`` the solution of ``L z = c`` for their products c with the target; R^2 is ``|z|^2``.

* A birth of column j appends a row l with ``L l = gram[:, j]``, and ``sqrt(1 - |l|^2)``: R^2 grows by the
  square of one number.  The products of the newcomer with all columns are computed only if it is accepted.
* A death of column i shrinks R^2 by ``b_i^2 / (G^-1)_ii``, with the coefficients b from ``L' b = z``.  The
  factor is computed again if it is accepted, so rounding never adds up.

``order`` is a permutation of all columns that begins with those in the model.
"""

from __future__ import annotations

import math

import numba as nb
import numpy as np

from streamsieve.protocols import FloatArray, IntArray


@nb.njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def dot(a: FloatArray, b: FloatArray) -> float:
    """Return the product of two columns."""
    s = 0.0
    for i in range(len(a)):
        s += a[i] * b[i]
    return s


@nb.njit(nogil=True, cache=True)
def log_evidence(q: int, r2: float, n: int, g: float) -> float:
    """Return the log of the Bayes factor of a model of q columns against the one of none."""
    return 0.5 * (n - 1 - q) * math.log1p(g) - 0.5 * (n - 1) * math.log1p(g * max(1.0 - r2, 0.0))


@nb.njit(nogil=True, cache=True)
def arrive(X: FloatArray, order: IntArray, q: int, p: int, gram: FloatArray) -> None:
    """Add column p, the next after those known, to the space of models."""
    order[p] = p
    for i in range(q):
        gram[i, p] = dot(X[order[i]], X[p])


@nb.njit(nogil=True, cache=True)
def factorize(
    order: IntArray, q: int, c: FloatArray, gram: FloatArray, factor: FloatArray, z: FloatArray
) -> None:
    """Compute factor and z of the model's columns."""
    for i in range(q):
        for k in range(i + 1):
            s = 1.0 if i == k else gram[k, order[i]]
            for t in range(k):
                s -= factor[i, t] * factor[k, t]
            factor[i, k] = math.sqrt(max(s, 1e-300)) if i == k else s / factor[k, k]
        s = c[order[i]]
        for t in range(i):
            s -= factor[i, t] * z[t]
        z[i] = s / factor[i, i]


@nb.njit(nogil=True, cache=True)
def coefficients(factor: FloatArray, z: FloatArray, q: int, b: FloatArray) -> None:
    """Solve ``L' b = z``."""
    for i in range(q - 1, -1, -1):
        s = z[i]
        for k in range(i + 1, q):
            s -= factor[k, i] * b[k]
        b[i] = s / factor[i, i]


@nb.njit(nogil=True, cache=True)
def walk(
    X: FloatArray, usable: FloatArray, c: FloatArray, order: IntArray, q: int, p: int,
    gram: FloatArray, factor: FloatArray, z: FloatArray,
    n: int, g: float, log_odds: float, most: int, draws: FloatArray,
    stays: FloatArray, sums: FloatArray, history: IntArray,
) -> tuple[int, int]:  # fmt: skip
    """Make one move for every row of ``draws``; return the number of columns in the model, and of moves made.

    They are fewer than asked for if the model outgrows the memory of ``z``.

    A row decides by its first number between birth and death, by its second which column, by its third
    whether it is accepted.  ``stays`` counts the moves after which a column was in the model, ``sums`` adds
    up its coefficients after every move, and ``history`` says what happened: j + 1 for a birth of column j,
    -(j + 1) for its death, 0 for a refusal.
    """
    room, done = len(z), len(draws)
    row, b, e = np.empty(room), np.empty(room), np.empty(room)
    shrink = g / (1.0 + g)
    r2 = 0.0
    for i in range(q):
        r2 += z[i] * z[i]
    coefficients(factor, z, q, b)
    since = 0
    for t in range(len(draws)):
        history[t] = 0
        birth_probability = 1.0 if q == 0 else (0.0 if q == most else 0.5)
        if draws[t, 0] < birth_probability:
            if q == room:
                done = t
                break
            place = q + min(int(draws[t, 1] * (p - q)), p - q - 1)
            j = order[place]
            if usable[j] == 0.0:
                continue
            outside = 1.0
            along = c[j]
            for i in range(q):
                s = gram[i, j]
                for k in range(i):
                    s -= factor[i, k] * row[k]
                row[i] = s / factor[i, i]
                outside -= row[i] * row[i]
                along -= row[i] * z[i]
            if outside <= 1e-10:  # inside the model: no such model has a likelihood
                continue
            along /= math.sqrt(outside)
            back = 1.0 if q + 1 == most else 0.5
            log_ratio = (
                log_evidence(q + 1, r2 + along * along, n, g) - log_evidence(q, r2, n, g) + log_odds
                + math.log(back / (q + 1)) - math.log(birth_probability / (p - q))
            )  # fmt: skip
            if math.log(max(draws[t, 2], 1e-300)) >= log_ratio:
                continue
            _settle(order, q, b, shrink, t - since, stays, sums)
            since = t
            for i in range(q):
                factor[q, i] = row[i]
            factor[q, q] = math.sqrt(outside)
            z[q] = along
            r2 += along * along
            order[place], order[q] = order[q], j
            for other in range(p):
                gram[q, other] = dot(X[j], X[other])
            q += 1
            history[t] = j + 1
        else:
            place = min(int(draws[t, 1] * q), q - 1)
            # column `place` of the inverse of L: its squares sum up to the diagonal of the inverse of the
            # products
            inverse = 0.0
            for i in range(place, q):
                s = 1.0 if i == place else 0.0
                for k in range(place, i):
                    s -= factor[i, k] * e[k]
                e[i] = s / factor[i, i]
                inverse += e[i] * e[i]
            less = b[place] * b[place] / inverse
            there = 1.0 if q - 1 == 0 else 0.5
            log_ratio = (
                log_evidence(q - 1, r2 - less, n, g) - log_evidence(q, r2, n, g) - log_odds
                + math.log(there / (p - q + 1)) - math.log((1.0 - birth_probability) / q)
            )  # fmt: skip
            if math.log(max(draws[t, 2], 1e-300)) >= log_ratio:
                continue
            _settle(order, q, b, shrink, t - since, stays, sums)
            since = t
            j = order[place]
            q -= 1
            order[place], order[q] = order[q], j
            for other in range(p):
                gram[place, other] = gram[q, other]
            factorize(order, q, c, gram, factor, z)
            r2 = 0.0
            for i in range(q):
                r2 += z[i] * z[i]
            history[t] = -(j + 1)
        coefficients(factor, z, q, b)
    _settle(order, q, b, shrink, done - since, stays, sums)
    return q, done


@nb.njit(nogil=True, cache=True)
def _settle(
    order: IntArray, q: int, b: FloatArray, shrink: float, moves: int, stays: FloatArray, sums: FloatArray
) -> None:
    """Account for the moves after which the model was this one."""
    for i in range(q):
        stays[order[i]] += moves
        sums[order[i]] += moves * shrink * b[i]
