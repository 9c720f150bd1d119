"""Student's t test of correlations.

SciPy's incomplete beta function takes 5 us for one number, more than its column, and a microsecond in arrays.
"""

from __future__ import annotations

import math

import numba as nb

from streamsieve.protocols import FloatArray, IntArray

#: Coefficients of s^0, s^2, ... in the expansion of (sinh(s / 2) / (s / 2))^(-1/2).
EVEN = (
    1.0,
    -0.020833333333333332,
    0.000390625,
    -7.879670965608466e-06,
    1.6967665791721782e-07,
    -3.805064191721906e-09,
    8.748377596315407e-11,
    -2.044523359411974e-12,
    4.833351797967704e-14,
    -1.152434101767386e-15,
    2.76605204359937e-17,
)
#: Freedom and logarithm of 1 / (1 - r^2) for which the expansion has all digits.
LEAST_FREEDOM, LARGEST_LOG = 40, 1.0
#: Terms after which the continued fraction has long converged: it needs about the root of the freedom.
MOST_TERMS = 100_000


@nb.njit(nogil=True, cache=True)
def p_value(r: float, freedom: int, log_beta: float) -> float:
    """Return the two-sided p-value of a correlation below 1; ``log_beta`` is ln B(freedom / 2, 1 / 2).

    It is the regularized incomplete beta function at 1 - r^2.  With many rows, its integral over
    s = -ln(1 - r^2) is a series of incomplete gamma functions; else it is the continued fraction that
    converges faster (DLMF 8.17.22, evaluated by Lentz's method).
    """
    a, b = 0.5 * freedom, 0.5
    rest = (1.0 - r) * (1.0 + r)
    square = r * r
    if not 0.0 < square < 1.0:
        return 1.0 - square  # 1, 0, or NaN for NaN
    s = -math.log1p(-square)
    if freedom >= LEAST_FREEDOM and s < LARGEST_LOG:
        return float(_series(a - 0.25, s))
    factor = math.exp(a * math.log(rest) + b * math.log(square) - log_beta)
    if rest < (a + 1.0) / (a + b + 2.0):
        return float(factor * _fraction(a, b, rest) / a)
    return float(1.0 - factor * _fraction(b, a, square) / b)


@nb.njit(nogil=True, cache=True)
def p_values(r: FloatArray, freedom: IntArray, log_beta: FloatArray, out: FloatArray) -> None:
    """Fill the two-sided p-values of absolute correlations up to 1."""
    for j in range(len(r)):
        out[j] = p_value(r[j], freedom[j], log_beta[j])


@nb.njit(nogil=True, cache=True)
def _series(scale: float, s: float) -> float:
    """Return the sum of EVEN[k] Gamma(2 k + 1/2, scale s) / scale^(2 k), over the same for s = 0.

    That sum is the complete beta function but for a factor; its logarithm would cost digits for many rows.
    """
    x = scale * s
    whole = math.sqrt(math.pi)
    gamma = whole * math.erfc(math.sqrt(x))
    power = math.sqrt(x) * math.exp(-x)  # x^(i + 1/2) exp(-x)
    total, everything = gamma, whole
    shrink = 1.0
    order = 0.5
    for k in range(1, len(EVEN)):
        for _ in range(2):
            gamma = order * gamma + power
            whole *= order
            power *= x
            order += 1.0
        shrink /= scale * scale
        term = EVEN[k] * shrink
        total += term * gamma
        everything += term * whole
        if abs(term * gamma) < 1e-17 * total and abs(term * whole) < 1e-17 * everything:
            break
    return total / everything


@nb.njit(nogil=True, cache=True)
def _fraction(a: float, b: float, x: float) -> float:
    tiny = 1e-300
    c = 1.0
    d = 1.0 - (a + b) * x / (a + 1.0)
    d = 1.0 / (d if abs(d) > tiny else tiny)
    h = d
    for m in range(1, MOST_TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1.0) * (a + 2 * m))
        d = 1.0 + even * d
        c = 1.0 + even / c
        d = 1.0 / (d if abs(d) > tiny else tiny)
        c = c if abs(c) > tiny else tiny
        h *= d * c
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0))
        d = 1.0 + odd * d
        c = 1.0 + odd / c
        d = 1.0 / (d if abs(d) > tiny else tiny)
        c = c if abs(c) > tiny else tiny
        h *= d * c
        if abs(d * c - 1.0) < 1e-15:
            break
    return h
