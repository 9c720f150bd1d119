"""Tests between columns of different types: Wilks' lambda of numbers and indicators of categories.

A nominal column is embedded as the indicators of its levels, any other as itself; the target as its
contrasts.  Independence of two columns given others is then that of two groups of residuals of a linear
regression, tested by Wilks' lambda with Rao's F.  Special cases are the t test of a (partial) correlation,
the analysis of variance and the analysis of covariance.

References: Andrews, Ramsey, Cooper: Learning high-dimensional directed acyclic graphs with mixed data types,
PMLR 104, 2019; Rao: An asymptotic expansion of the distribution of Wilks' criterion, 1951.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import betainc, betaincc, chdtrc

from streamsieve._kernels import mixed_pairs as kernel
from streamsieve.column_types import NOMINAL, NUMERIC
from streamsieve.dependence.information import c_log_c
from streamsieve.protocols import FloatArray, IntArray

#: Share of its variance below which a residual is rounding: the column is a linear function of the others.
COLLINEAR = 1e-10
#: Maximum number of numeric columns compared without matrices: two, given at most three.
MOST_NUMBERS = 5


class Levels(NamedTuple):
    """A column of levels as a margin of contingency tables."""

    codes: npt.NDArray[np.int32]
    many: int
    #: Sum of c ln c over its levels' counts.
    entropy: float


class Embedded(NamedTuple):
    """A column in the form in which it is compared with others."""

    #: Position in ``column_types.TYPES``.
    kind: int
    values: FloatArray
    #: Centered columns of unit length, (rows, indicators).
    basis: FloatArray
    #: Levels for contingency tables; None for numbers.
    levels: Levels | None

    @property
    def discrete(self) -> bool:
        """Whether its values are levels."""
        return self.kind != NUMERIC


class Comparison(NamedTuple):
    """How strongly two columns are associated, given others or nothing."""

    #: ``sqrt(1 - lambda)``: the absolute (partial) correlation of two numbers.
    strength: float
    p_value: float
    #: Degrees of freedom: the product of the numbers of indicators.
    freedom: int


def embedded(values: FloatArray, kind: int) -> Embedded:
    """Return a column and its embedding; the last level of a nominal one is implied by the others."""
    levels = None
    if kind != NUMERIC:
        found, codes = np.unique(values, return_inverse=True)
        entropy = float(logs(len(codes))[np.bincount(codes)].sum())
        levels = Levels(codes.astype(np.int32), len(found), entropy)
    if kind == NOMINAL:
        basis = (values[:, None] == found[None, :-1]).astype(np.float64)
    else:
        basis = (values - values[0])[:, None]
    basis -= basis.mean(axis=0)
    norms = np.sqrt(np.einsum("ij,ij->j", basis, basis))
    return Embedded(kind, values, basis / np.where(norms > 0, norms, 1.0), levels)


@lru_cache(maxsize=4)
def logs(n: int) -> FloatArray:
    """Return c ln c of every count up to n; cached, as the same numbers of rows recur."""
    logs = c_log_c(n)
    logs.flags.writeable = False
    return logs


def compared(gram: FloatArray, n: int, x: IntArray, y: IntArray, z: IntArray) -> Comparison | None:
    """Compare two groups of columns of unit length given a third one, by all their products.

    Parameters
    ----------
    gram : products of centered columns of unit length
    n : number of rows
    x, y, z : which columns belong to each group

    Returns
    -------
    Comparison
        With p = 1 if x or y is a linear function of z; None if there are too few rows.
    """
    if len(gram) <= MOST_NUMBERS and len(x) == len(y) == 1:
        return compared_numbers(gram.tolist(), n, int(x[0]), int(y[0]), z.tolist())
    both = np.concatenate([x, y])
    left = gram[np.ix_(both, both)]
    rank = 0
    if len(z):
        root = _inverse_root(gram[np.ix_(z, z)])
        rank = root.shape[1]
        explained = root.T @ gram[np.ix_(z, both)]
        left = left - explained.T @ explained
    a = len(x)
    of_x, of_y = _inverse_root(left[:a, :a]), _inverse_root(left[a:, a:])
    p, q = of_x.shape[1], of_y.shape[1]
    if p == 0 or q == 0:
        return Comparison(0.0, 1.0, 0)
    squares = np.linalg.svd(of_x.T @ left[:a, a:] @ of_y, compute_uv=False) ** 2
    wilks = float(np.prod(1.0 - np.minimum(squares, 1.0)))
    rest = n - 1 - rank
    power = math.sqrt((p * p * q * q - 4) / (p * p + q * q - 5)) if p * p + q * q > 5 else 1.0
    freedom = (rest - (p + q + 1) / 2) * power - p * q / 2 + 1
    if freedom < 1:
        return None
    share = math.sqrt(max(1.0 - wilks ** (1 / power), 0.0))
    return Comparison(math.sqrt(max(1.0 - wilks, 0.0)), _tail(share, freedom, p * q), p * q)


def compared_numbers(gram: list[list[float]], n: int, x: int, y: int, given: list[int]) -> Comparison | None:
    """Compare two numbers given a few, by eliminating one after the other, the least explained first.

    As `compared`, for groups of one column each; ``gram`` is overwritten.
    """
    rank, rest = 0, [*given]
    while rest:
        pivot = max(rest, key=lambda k: gram[k][k])
        rest.remove(pivot)
        top = gram[pivot]
        if top[pivot] <= COLLINEAR:
            break
        rank += 1
        for i in (x, y, *rest):
            share = gram[i][pivot] / top[pivot]
            gram[i] = [value - share * above for value, above in zip(gram[i], top, strict=True)]
    freedom = n - 2.0 - rank
    if gram[x][x] <= COLLINEAR or gram[y][y] <= COLLINEAR:
        return Comparison(0.0, 1.0, 0)
    if freedom < 1:
        return None
    strength = min(abs(gram[x][y]) / math.sqrt(gram[x][x] * gram[y][y]), 1.0)
    return Comparison(strength, _tail(strength, freedom, 1), 1)


def _tail(share: float, freedom: float, contrasts: int) -> float:
    """Return the p-value of one correlation, as `p_value_given` does for arrays."""
    if share > 0.5:  # computed from the other tail, which keeps the precision
        return float(betainc(freedom / 2, contrasts / 2, (1 - share) * (1 + share)))
    return float(betaincc(contrasts / 2, freedom / 2, share * share))


def _inverse_root(products: FloatArray) -> FloatArray:
    """Return W with W'AW = 1 over the space in which the symmetric matrix A is not 0."""
    if products.shape == (1, 1):
        only = products[0, 0]
        return np.array([[1 / math.sqrt(only)]]) if only > COLLINEAR else np.zeros((1, 0))
    values, vectors = np.linalg.eigh(products)
    some = values > COLLINEAR * max(1.0, values[-1])
    root: FloatArray = vectors[:, some] / np.sqrt(values[some])
    return root


def dependence(a: Embedded, b: Embedded) -> Comparison:
    """Compare two columns given nothing: tables for two discrete ones, else by their embeddings.

    The strength is ``sqrt(1 - exp(-2 I))``, where I is the information of two normal variables of that
    correlation, or of the table; its bias under independence, (freedom - 1) / (2 n), is taken off.
    """
    n = len(a.values)
    if a.levels is not None and b.levels is not None:
        g, freedom = table_statistic(a.levels, b.levels)
        return Comparison(information_strength(g, freedom, n), float(chdtrc(max(freedom, 1), g)), freedom)
    k, m = a.basis.shape[1], b.basis.shape[1]
    basis = np.column_stack([a.basis, b.basis])
    found = compared(basis.T @ basis, n, np.arange(k), k + np.arange(m), np.zeros(0, np.int64))
    if found is None:
        return Comparison(0.0, 1.0, 0)
    if found.freedom <= 1:
        return found
    g = -n * math.log(max(1.0 - found.strength**2, 1e-300))
    return found._replace(strength=information_strength(g, found.freedom, n))


def information_strength(g: float, freedom: int, n: int) -> float:
    """Return the correlation of normal variables with the information ``g / (2 n)``, less its bias."""
    return math.sqrt(max(-math.expm1(-max(g - max(freedom - 1, 0), 0.0) / n), 0.0))


def table_statistic(a: Levels, b: Levels) -> tuple[float, int]:
    """Return G squared of the table of two columns, and its degrees of freedom."""
    cells, known = np.zeros(a.many * b.many, np.int64), a.entropy + b.entropy
    g = kernel.table_statistic(a.codes, b.codes, b.many, known, logs(len(a.codes)), cells)
    return float(g), (a.many - 1) * (b.many - 1)
