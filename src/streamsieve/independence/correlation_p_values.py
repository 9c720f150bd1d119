"""The distribution of correlations under independence: p-values and critical values by t, F or Fisher's z."""

from __future__ import annotations

import numpy as np
from scipy.special import betainc, betaincc, betainccinv, betaln, ndtr, ndtri

from streamsieve._kernels import student_t
from streamsieve.protocols import FloatArray, IntArray

#: Correlations from this value on are 1 up to rounding.
PERFECT = 1 - 1e-12


def p_value_given(
    r: FloatArray, freedom: IntArray, contrasts: int = 1, way: str = "t", least: float = 0.0
) -> FloatArray:
    """Return p-values of (partial) correlations, or correlation ratios, and their degrees of freedom.

    Given k columns, over n rows, r squared has a beta distribution under independence if the target is normal
    given them; its degrees of freedom are n - k - 2, or n - k - C for C classes.  That is the t test, or the
    F test.  With ``way="z"``, one contrast has Fisher's transformation, which is normal in the limit, and
    n - k - 3.  Without degrees of freedom the p-value is 1.  ``least`` is the p-value of a perfect
    correlation, which no model of continuous values has.
    """
    some = np.maximum(freedom, 1)
    size = np.asarray(np.minimum(np.abs(r), 1.0))
    if way == "z" and contrasts == 1:
        with np.errstate(divide="ignore"):
            p = 2 * ndtr(-np.arctanh(size) * np.sqrt(some))
    elif contrasts == 1 and size.ndim == 1:
        p, log_beta = np.empty(len(size)), np.full(len(size), betaln(some / 2, 0.5))
        student_t.p_values(size, np.full(len(size), some), log_beta, p)
    else:
        p = betaincc(contrasts / 2, some / 2, size * size)
        near = size > 0.5  # computed from the other tail, which keeps the precision
        if np.any(near):
            p = np.where(near, betainc(some / 2, contrasts / 2, (1 - size) * (1 + size)), p)
    if least > 0:
        p = np.where(size >= PERFECT, np.maximum(p, least), p)
    p_values: FloatArray = np.where(freedom > 0, p, 1.0)
    return p_values


def critical_given(
    level: float | FloatArray, freedom: IntArray, contrasts: int = 1, way: str = "t"
) -> FloatArray:
    """Return the smallest significant (partial) correlations, or ratios; infinity without freedom."""
    some = np.maximum(freedom, 1)
    if way == "z" and contrasts == 1:
        r = np.tanh(-ndtri(level / 2) / np.sqrt(some))  # the lower tail, because 1 - level loses small levels
    else:
        r = np.sqrt(betainccinv(contrasts / 2, some / 2, level))
    critical: FloatArray = np.where(freedom > 0, r, np.inf)
    return critical
