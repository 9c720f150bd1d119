"""Nonlinear dependence by a basis of ranks: the joint F test of Legendre polynomials of degree 1 to 3."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import betainc, ndtri
from scipy.stats import rankdata

from streamsieve._kernels import rank_basis as kernel
from streamsieve._kernels.rank_basis import DEGREE
from streamsieve._threads import over_features
from streamsieve.decisions import CONSTANT, IRRELEVANT, RELEVANT, UNRELIABLE
from streamsieve.dependence.blocks import DENSE_VALUES, dense_columns
from streamsieve.dependence.contract import Relevance, RelevanceTest
from streamsieve.dependence.target import contrasts
from streamsieve.independence.arrangements import Arrangements
from streamsieve.independence.discreteness import is_discrete, with_few_values
from streamsieve.protocols import FloatArray, IntArray, Matrix, Task
from streamsieve.state import Array, Bool, Float, register

#: Share of a function's variance below which it is a linear combination of the others.
COLLINEAR = 1e-10
#: Squared correlation that is 1 up to rounding.
PERFECT = 1 - 1e-12


def rank_bases(columns: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return orthonormal bases (columns, 3, rows) of columns, one per row, and the functions each has."""
    m, n = columns.shape
    bases, rank = np.empty((m, DEGREE, n)), np.empty(m, np.int64)
    over_features(m, 8 * m * n, lambda low, high: kernel.rank_bases(columns, low, high, bases, rank))
    return bases, rank


def scored_target(y: npt.NDArray[Any], task: Task) -> FloatArray:
    """Return orthonormal columns that span the target: contrasts of classes, or normal scores of numbers.

    With scores the tails of a numeric target do not matter, nor does any increasing transformation of it.
    """
    if task is Task.REGRESSION:
        y = ndtri((rankdata(y) - 0.5) / len(y))
    return contrasts(y, task)


def wilks_p_value(left: FloatArray, added: IntArray, b: int, freedom: IntArray) -> FloatArray:
    """Return p-values of Wilks' lambda (``left``) by Rao's F, exact if one of both sides has up to 2 columns.

    Parameters
    ----------
    left : share of the generalized variance of ``b`` columns that ``added`` others leave
    freedom : rows, minus the columns given, minus 1
    """
    a = np.maximum(added, 1)
    few = a**2 + b**2 <= 5
    s = np.sqrt(np.where(few, 1.0, (a**2 * b**2 - 4) / np.where(few, 1, a**2 + b**2 - 5)))
    d1, d2 = a * b, (freedom - (a + b + 1) / 2) * s - a * b / 2 + 1
    tested = (added > 0) & (d2 >= 1)
    shares = np.clip(left, 0.0, 1.0) ** (1 / s)
    p: FloatArray = np.where(tested, betainc(np.maximum(d2, 1) / 2, d1 / 2, shares), 1.0)
    return p


def strength(squared: FloatArray, n: int, added: IntArray, b: int = 1) -> FloatArray:
    """Return squared canonical correlations, adjusted for the number of columns on both sides, as roots."""
    freedom = n - added - b
    adjusted = 1 - (1 - squared) * (n - 1) / np.maximum(freedom, 1)
    out: FloatArray = np.sqrt(np.where(freedom > 0, np.clip(adjusted, 0.0, 1.0), 0.0))
    return out


class Joint(NamedTuple):
    """A joint test: largest squared canonical correlation, Wilks' lambda, and added functions."""

    squared: FloatArray
    left: FloatArray
    added: IntArray


def joint(loads: FloatArray, rank: IntArray) -> Joint:
    """Return the joint tests of orthonormal functions, by their products (..., 3, b) with the target's."""
    explained = loads @ np.swapaxes(loads, -1, -2)
    squared = np.clip(np.linalg.eigvalsh(explained), 0.0, 1.0)
    squared[squared > PERFECT] = 1.0
    return Joint(squared[..., -1], np.prod(1 - squared, axis=-1), rank)


@register
class RankBasisF(RelevanceTest):
    """The joint F test of a rank basis, bound to the target (``measure="basis"``).

    Ranks of a column, mapped to [-1, 1], have Legendre polynomials of degree 1 to 3; their regression on y
    detects trends, U-shapes and thresholds at once.  Its F test is exact for normal y.  A numeric y is
    replaced by its normal scores; labels are contrasts between classes, tested by Wilks' lambda with Rao's F.
    With few rows, ties or rare classes p-values are confirmed by random `Arrangements` of the target.
    """

    fields = {
        "basis": Array("f8", "rows", "contrasts", low=-1 - 1e-6, high=1 + 1e-6, nonempty=True),
        "alpha": Float(0, 1, open_low=True, open_high=True, optional=True),
        "discrete": Bool(),
    }

    def __init__(self, basis: FloatArray, alpha: float | None, *, discrete: bool) -> None:
        self.basis, self.alpha, self.discrete = basis, alpha, discrete
        self.n, self.n_contrasts = basis.shape
        self._arrangements = Arrangements(basis)

    @classmethod
    def of(cls, y: npt.NDArray[Any], task: Task, alpha: float | None, *, online: bool) -> RankBasisF:
        """Bind the test to a target; ``online``: an FDR procedure asks which p-values are discrete."""
        return cls(scored_target(y, task), alpha, discrete=online and is_discrete(y))

    def measure(self, X: Matrix) -> Relevance:
        """Test every column of a block."""
        m = X.shape[1]
        reason = np.full(m, CONSTANT, np.uint8)
        statistic, p_value = np.zeros(m), np.ones(m)
        size = max(1, DENSE_VALUES // self.n)
        for low in range(0, m, size):
            part = slice(low, low + size)
            columns = dense_columns(X, part)
            bases, rank = rank_bases(columns)
            found = joint(bases @ self.basis, rank)
            statistic[part] = strength(found.squared, self.n, rank, self.n_contrasts)
            p_value[part] = self._arrangements.p_values(
                columns, bases, rank, found.left, self.p_value_of(found)
            )
            testable = self.n - rank - self.n_contrasts >= 1
            level = 1.0 if self.alpha is None else self.alpha
            relevant = np.where(p_value[part] <= level, RELEVANT, IRRELEVANT)
            reason[part] = np.where(rank == 0, CONSTANT, np.where(testable, relevant, UNRELIABLE))
        discrete = with_few_values(X) if self.discrete else None
        return Relevance(reason, statistic, p_value, discrete=discrete)

    def p_value_of(self, found: Joint, given: int = 0) -> FloatArray:
        """Return p-values of joint tests given a number of functions."""
        freedom = np.asarray(self.n - 1 - given)
        return wilks_p_value(found.left, found.added, self.n_contrasts, freedom)

    def _consistent(self) -> Iterator[str]:
        if not np.allclose(self.basis.T @ self.basis, np.eye(self.n_contrasts), atol=1e-6):
            yield "the target's contrasts are not orthonormal"


@register
@dataclass(frozen=True)
class RankBasis:
    """Dependence of two columns: the larger adjusted multiple correlation of ranks on the other's basis."""

    def dependence(self, x: FloatArray, z: FloatArray) -> float:
        """Return the dependence of two columns: symmetric, in [0, 1]."""
        bases, rank = rank_bases(np.stack([x, z]))
        products = bases[0] @ bases[1].T
        squared = np.minimum([np.sum(products[:, 0] ** 2), np.sum(products[0] ** 2)], 1.0)
        return float(strength(squared, len(x), rank).max()) if rank.min() > 0 else 0.0

    def __repr__(self) -> str:
        return "RankBasis()"


class BasisGram:
    """Products of the bases of some columns with each other and with the target, computed once per pair."""

    def __init__(self, test: RankBasisF) -> None:
        self.test = test
        self._bases: dict[int, FloatArray] = {}
        self._loads: dict[int, FloatArray] = {}
        self._products: dict[tuple[int, int], FloatArray] = {}

    def enter(self, feature: int, column: FloatArray) -> None:
        """Add a column."""
        bases, rank = rank_bases(column[None])
        self._bases[feature] = bases[0, : rank[0]]
        self._loads[feature] = self._bases[feature] @ self.test.basis

    def leave(self, feature: int) -> None:
        """Forget a column."""
        del self._bases[feature], self._loads[feature]
        self._products = {pair: found for pair, found in self._products.items() if feature not in pair}

    def _product(self, a: int, b: int) -> FloatArray:
        if a > b:
            return self._product(b, a).T
        if (a, b) not in self._products:
            self._products[a, b] = self._bases[a] @ self._bases[b].T
        return self._products[a, b]

    def tested(self, feature: int, given: tuple[int, ...]) -> tuple[float, float]:
        """Return (strength, p-value) of a column and the target given others; NaN with too few rows.

        Both sides are replaced by their residuals, of which all that is needed are products.
        """
        n, b = self.test.n, self.test.n_contrasts
        own, loads = np.eye(len(self._bases[feature])), self._loads[feature]
        target, known = np.eye(b), 0
        if given:
            within = np.block([[self._product(a, c) for c in given] for a in given])
            across = np.vstack([self._product(a, feature) for a in given])
            known_loads = np.vstack([self._loads[a] for a in given])
            white = _whitening(within)
            known, across, known_loads = white.shape[0], white @ across, white @ known_loads
            own, loads = own - across.T @ across, loads - across.T @ known_loads
            target = target - known_loads.T @ known_loads
        mine, theirs = _whitening(own), _whitening(target)
        added, b = mine.shape[0], theirs.shape[0]
        if not added or not b:  # a function of the others, or the target is
            return 0.0, 1.0
        if n - known - added - b < 1:
            return math.nan, math.nan
        found = joint(mine @ loads @ theirs.T, np.asarray(added))
        freedom = np.asarray(n - 1 - known)
        p = wilks_p_value(found.left, found.added, b, freedom)
        return float(strength(found.squared, n - known, found.added, b)), float(p)


def _whitening(products: FloatArray) -> FloatArray:
    """Return W with W A W' = 1, one row per dimension that A has."""
    values, vectors = np.linalg.eigh(products)
    some = values > COLLINEAR
    white: FloatArray = (vectors[:, some] / np.sqrt(values[some])).T
    return white
