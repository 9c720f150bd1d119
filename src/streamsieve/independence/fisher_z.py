"""Tests of (partial) correlation by t or Fisher's z, and the F test of the correlation ratio."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.special import betainc, betainccinv, betaincinv, ndtr, ndtri, stdtr

from streamsieve._kernels import column_products as kernel
from streamsieve.decisions import CONSTANT, IRRELEVANT, RELEVANT, UNRELIABLE, PValues
from streamsieve.dependence.blocks import column_products, without_offsets
from streamsieve.dependence.contract import Relevance, RelevanceTest
from streamsieve.dependence.target import contrasts
from streamsieve.independence.p_values import OF_CORRELATIONS, chosen
from streamsieve.protocols import FloatArray, IntArray, Matrix, Reason, Task
from streamsieve.state import Array, Bool, Choice, Float, register


def p_value_given(r: FloatArray, freedom: IntArray, contrasts: int = 1, way: str = "t") -> FloatArray:
    """Return p-values of (partial) correlations, or correlation ratios, and their degrees of freedom.

    Given k columns, over n rows, r squared has a beta distribution under independence if the target is normal
    given them; its degrees of freedom are n - k - 2, or n - k - C for C classes.  That is the t test, or the
    F test.  With ``way="z"``, one contrast has Fisher's transformation, which is normal in the limit, and
    n - k - 3.  Without freedom nothing is significant: 1.
    """
    some = np.maximum(freedom, 1)
    size = np.minimum(np.abs(r), 1.0)
    if way == "z" and contrasts == 1:
        with np.errstate(divide="ignore"):
            p = 2 * ndtr(-np.arctanh(size) * np.sqrt(some))
    else:
        p = betainc(some / 2, contrasts / 2, (1 - size) * (1 + size))
    p_values: FloatArray = np.where(freedom > 0, p, 1.0)
    return p_values


def critical_given(level: float, freedom: IntArray, contrasts: int = 1, way: str = "t") -> FloatArray:
    """Return the smallest significant (partial) correlations, or ratios; infinity without freedom."""
    some = np.maximum(freedom, 1)
    if way == "z" and contrasts == 1:
        r = np.tanh(-ndtri(level / 2) / np.sqrt(some))  # the lower tail, because 1 - level loses small levels
    else:
        r = np.sqrt(betainccinv(contrasts / 2, some / 2, level))
    critical: FloatArray = np.where(freedom > 0, r, np.inf)
    return critical


_RELEVANT, _IRRELEVANT = Reason.RELEVANT, Reason.IRRELEVANT
_CODES = (RELEVANT, IRRELEVANT, CONSTANT)
#: Too few rows for any test.
_UNTESTABLE = (RELEVANT, UNRELIABLE, CONSTANT)


class Correlations(NamedTuple):
    """Correlation of every column of a block with the target, and its mean and norm."""

    #: Codes of the ledger: relevant, irrelevant (or unreliable test), constant.
    reason: npt.NDArray[np.uint8]
    #: Correlation, or for more than two classes the correlation ratio; 0 for a constant column.
    r: FloatArray
    mean: FloatArray
    #: Length of the centred column; 0 for a constant one.
    norm: FloatArray


@register
class FisherZ(RelevanceTest):
    """Correlation with a target, tested at a level, for whole blocks of columns.

    Two classes count as 0 and 1.  For more, the label is no number: the correlation ratio eta (the square
    root of the share of variance between classes, which is |r| for two) takes its place, and the F test
    that of t.

    Parameters
    ----------
    y : labels or numbers, one per row
    task : what kind of target they are
    alpha : level of the test, in (0, 1); None for no test: every column that varies is relevant
    signed : whether the statistic keeps the sign of the correlation
    p_value : "auto" or one of ``p_values.OF_CORRELATIONS``: how p-values are computed

    References
    ----------
    Fisher (1915); Spirtes, Glymour and Scheines (2000).
    """

    fields = {
        "basis": Array("f8", "rows", "contrasts", low=-1 - 1e-6, high=1 + 1e-6, nonempty=True),
        "alpha": Float(0, 1, open_low=True, open_high=True, optional=True),
        "signed": Bool(),
        "p_value": Choice(*OF_CORRELATIONS),
    }

    def __init__(
        self,
        y: npt.NDArray[Any],
        task: Task,
        alpha: float | None,
        *,
        signed: bool = True,
        p_value: str = "auto",
    ) -> None:
        way = chosen(p_value, OF_CORRELATIONS)
        self._bind(contrasts(y, task), alpha, signed=signed, p_value=way)

    def _bind(self, basis: FloatArray, alpha: float | None, *, signed: bool, p_value: str) -> None:
        self.n: int = basis.shape[0]
        self.n_contrasts: int = basis.shape[1]
        self.basis, self.alpha, self.signed, self.p_value = basis, alpha, signed, p_value
        self._y = np.ascontiguousarray(basis[:, 0])
        #: Smallest significant correlation; infinite with too few rows for a test.
        self.critical = 0.0
        self._way = "z" if p_value == "z" else "t"
        if alpha is not None:
            freedom = np.array(self.freedom())
            self.critical = float(critical_given(alpha, freedom, self.n_contrasts, self._way))

    def freedom(self, conditioned: int = 0) -> int:
        """Return the degrees of freedom of a test given ``conditioned`` columns; below 1 there is no test."""
        lost = 3 if self.p_value == "z" and self.n_contrasts == 1 else self.n_contrasts + 1
        return self.n - conditioned - lost

    @property
    def level(self) -> float:
        """Level of the test, 1 where there is none."""
        return 1.0 if self.alpha is None else self.alpha

    def share_left(self, conditioned: int = 0) -> float:
        """Return the share of a column's variance that the target must leave for independence.

        Given ``conditioned`` columns, a column with a larger share is independent; that is, one whose squared
        partial correlation (ratio) is below 1 minus the share.  Without freedom every column is: -1.
        """
        return float(self.shares(np.array(self.freedom(conditioned))))

    def shares(self, freedom: IntArray) -> FloatArray:
        """Return the shares of variance as in `share_left`, by degrees of freedom."""
        some = np.maximum(freedom, 1)
        if self.p_value == "z" and self.n_contrasts == 1:
            share = 1 / np.cosh(-ndtri(self.level / 2) / np.sqrt(some)) ** 2
        else:  # the share of variance within classes has a beta distribution under independence
            share = betaincinv(some / 2, self.n_contrasts / 2, self.level)
        shares: FloatArray = np.where(freedom > 0, share, -1.0)
        return shares

    def p_values(self, r: FloatArray) -> FloatArray:
        """Return p-values of correlations (or correlation ratios) with the target."""
        return self.p_value_of(r, np.array(self.freedom()))

    @property
    def p_value_of(self) -> Callable[..., FloatArray]:
        """The function from partial correlations and degrees of freedom to p-values; it can be pickled."""
        return partial(p_value_given, contrasts=self.n_contrasts, way=self._way)

    def measure(self, X: Matrix) -> Relevance:
        """Test every column of a block against the target; rules want the means and norms again."""
        found = self.relevance(X)
        statistic = found.r if self.signed else np.abs(found.r, out=found.r)
        test = partial(self.p_value_of, freedom=np.array(self.freedom()))
        return Relevance(found.reason, statistic, PValues(test, statistic), (found.mean, found.norm))

    def one(self, x: FloatArray) -> tuple[Reason, float, float] | None:
        """Test a single column; None if it is constant or not finite, or with several contrasts."""
        critical = self.critical
        if self.n_contrasts > 1 or critical == math.inf:
            return None
        ss, dot = kernel.one_column(x, self._y)
        if not 0.0 < ss < math.inf:
            return None
        r = dot / math.sqrt(ss)
        size = abs(r)
        if size >= 1:
            return None
        reason = _IRRELEVANT if dot * dot < critical * critical * ss else _RELEVANT
        freedom = self.n - (3 if self._way == "z" else 2)
        if self._way == "z":
            p = math.erfc(math.atanh(size) * math.sqrt(freedom / 2))
        else:
            p = 2 * float(stdtr(freedom, -math.sqrt(freedom * ss / (ss - dot * dot)) * size))
        return reason, r if self.signed else size, p

    def relevance(self, X: Matrix) -> Correlations:
        """Return correlations, means and norms of every column, in one pass."""
        mean, ss, dot = column_products(X, self._y)
        if self.n_contrasts > 1:  # the square root of the sum of squares between classes
            products = (without_offsets(X) if sp.issparse(X) else X - mean).T @ self.basis
            dot = np.sqrt(np.einsum("ij,ij->i", products, products))
        reason = np.empty(len(ss), np.uint8)
        kernel.grade(ss, dot, self.critical, _CODES if self.critical < math.inf else _UNTESTABLE, reason)
        return Correlations(reason, r=dot, mean=mean, norm=ss)

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        test = cls.__new__(cls)
        test._bind(**record)  # noqa: SLF001
        return test
