"""Fisher's z test of (partial) correlation, and the F test of the correlation ratio."""

from __future__ import annotations

import math
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.special import betaincinv, fdtrc, ndtr, ndtri

from streamsieve._kernels import column_products as kernel
from streamsieve.decisions import CONSTANT, IRRELEVANT, RELEVANT, UNRELIABLE, PValues
from streamsieve.dependence.blocks import column_products, without_offsets
from streamsieve.dependence.contract import Relevance, RelevanceTest
from streamsieve.dependence.target import contrasts
from streamsieve.independence.p_values import OF_CORRELATIONS, chosen
from streamsieve.protocols import FloatArray, IntArray, Matrix, Reason, Task
from streamsieve.state import Array, Bool, Choice, Float, register


def critical(alpha: float, n: int, conditioned: int = 0) -> float:
    """Return the smallest |partial correlation| that is significant at level alpha over n rows.

    ``atanh(r) sqrt(n - k - 3)`` is standard normal under independence given k columns.  With too few rows
    nothing is significant: infinity.
    """
    freedom = n - conditioned - 3
    # the lower tail, because 1 - alpha loses small levels
    return math.tanh(-ndtri(alpha / 2) / math.sqrt(freedom)) if freedom > 0 else math.inf


def p_value(r: FloatArray, n: int, conditioned: int = 0) -> FloatArray:
    """Return the two-sided p-values of (partial) correlations over n rows."""
    return p_value_given(r, np.array(n - conditioned - 3))


def p_value_given(r: FloatArray, freedom: IntArray, contrasts: int = 1) -> FloatArray:
    """Return p-values of (partial) correlations, or correlation ratios, and their degrees of freedom.

    With several contrasts, ``freedom`` is what the variance within classes has.  None left: nothing is
    significant, 1.
    """
    some = np.maximum(freedom, 1)
    size = np.minimum(np.abs(r), 1.0)
    with np.errstate(divide="ignore"):
        if contrasts == 1:
            p = 2 * ndtr(-np.arctanh(size) * np.sqrt(some))
        else:
            p = fdtrc(contrasts, some, size**2 / (1 - size**2) * some / contrasts)
    p_values: FloatArray = np.where(freedom > 0, p, 1.0)
    return p_values


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
    that of z.

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
        self.critical = self._critical()
        self._scale = math.sqrt(max(self.n - 3, 0))

    def _critical(self) -> float:
        if self.alpha is None:
            return 0.0
        if self.n_contrasts == 1:
            return critical(self.alpha, self.n)
        return math.sqrt(1 - self.share_left()) if self.freedom() > 0 else math.inf

    def freedom(self, conditioned: int = 0) -> int:
        """Return the degrees of freedom of a test given ``conditioned`` columns; below 1 there is no test."""
        return self.n - conditioned - (3 if self.n_contrasts == 1 else self.n_contrasts + 1)

    @property
    def level(self) -> float:
        """Level of the test, 1 where there is none."""
        return 1.0 if self.alpha is None else self.alpha

    def share_left(self, conditioned: int = 0) -> float:
        """Return the share of a column's variance that the target must leave for independence.

        Given ``conditioned`` columns, a column with a larger share is independent; that is, one whose squared
        partial correlation (ratio) is below 1 minus the share.  Without freedom every column is: -1.
        """
        freedom = self.freedom(conditioned)
        if freedom <= 0:
            return -1.0
        if self.n_contrasts == 1:
            return 1 / math.cosh(-ndtri(self.level / 2) / math.sqrt(freedom)) ** 2
        # the share of variance within classes has a beta distribution under independence
        return float(betaincinv(freedom / 2, self.n_contrasts / 2, self.level))

    def p_values(self, r: FloatArray) -> FloatArray:
        """Return p-values of correlations (or correlation ratios) with the target."""
        return p_value_given(r, np.array(self.freedom()), self.n_contrasts)

    def measure(self, X: Matrix) -> Relevance:
        """Test every column of a block against the target; rules want the means and norms again."""
        found = self.relevance(X)
        statistic = found.r if self.signed else np.abs(found.r, out=found.r)
        test = partial(p_value_given, freedom=np.array(self.freedom()), contrasts=self.n_contrasts)
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
        z = math.atanh(size) * self._scale
        return reason, r if self.signed else size, math.erfc(z / math.sqrt(2.0))

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
