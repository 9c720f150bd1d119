"""Fisher's z: when is a correlation too large to be chance?"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.special import betaincinv, fdtrc, ndtr, ndtri

from streamsieve._kernels import screen as kernel
from streamsieve.exceptions import StateError
from streamsieve.independence._screen import screen, without_offsets
from streamsieve.protocols import FloatArray, IntArray, Reason, Task
from streamsieve.state import Array, Float, Part, register
from streamsieve.verdicts import REASON_CODE

if TYPE_CHECKING:
    from streamsieve.protocols import Matrix


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


_CODES = tuple(REASON_CODE[r] for r in (Reason.RELEVANT, Reason.IRRELEVANT, Reason.CONSTANT))


#: Too few rows for any test.
_UNTESTABLE = (_CODES[0], REASON_CODE[Reason.UNRELIABLE], _CODES[2])


class Relevance(NamedTuple):
    """How every column of a block stands to the target."""

    #: Codes of the ledger: relevant, irrelevant (or unreliable test), constant.
    reason: npt.NDArray[np.uint8]
    #: Correlation, or for more than two classes the correlation ratio; 0 for a constant column.
    r: FloatArray
    mean: FloatArray
    #: Length of the centred column; 0 for a constant one.
    norm: FloatArray


@register
class FisherZ(Part):
    """Correlation with a target, bound to it once, for whole blocks of columns.

    Two classes count as 0 and 1.  For more, the label is no number: the correlation ratio eta (the square
    root of the share of variance between classes, which is |r| for two) takes its place, and the F test
    that of z.

    Parameters
    ----------
    y : labels or numbers, one a row
    task : what kind of target they are
    alpha : level of the test, 0 < alpha < 1

    References
    ----------
    Fisher (1915); Spirtes, Glymour and Scheines (2000).
    """

    fields = {
        "basis": Array("f8", "rows", "contrasts", low=-1 - 1e-6, high=1 + 1e-6),
        "alpha": Float(0, 1, open_low=True, open_high=True),
    }

    def __init__(self, y: npt.NDArray[Any], task: Task, alpha: float) -> None:
        self._bind(_basis(y, task), alpha)

    def _bind(self, basis: FloatArray, alpha: float) -> None:
        self.n: int = basis.shape[0]
        self.n_contrasts: int = basis.shape[1]
        self.basis, self.alpha = basis, alpha
        self._y = np.ascontiguousarray(basis[:, 0])
        self.critical = self._critical()

    def _critical(self) -> float:
        if self.n_contrasts == 1:
            return critical(self.alpha, self.n)
        return math.sqrt(1 - self.share_left()) if self.freedom() > 0 else math.inf

    def freedom(self, conditioned: int = 0) -> int:
        """Return the degrees of freedom of a test given so many columns; below 1 there is no test."""
        return self.n - conditioned - (3 if self.n_contrasts == 1 else self.n_contrasts + 1)

    def share_left(self, conditioned: int = 0) -> float:
        """Return the share of a column's variance that the target must leave for independence.

        Given so many columns, a column with a larger share is independent; that is, one whose squared
        partial correlation (ratio) is below 1 minus the share.  Without freedom every column is: -1.
        """
        freedom = self.freedom(conditioned)
        if freedom <= 0:
            return -1.0
        if self.n_contrasts == 1:
            return 1 / math.cosh(-ndtri(self.alpha / 2) / math.sqrt(freedom)) ** 2
        # the share of variance within classes has a beta distribution under independence
        return float(betaincinv(freedom / 2, self.n_contrasts / 2, self.alpha))

    def p_value(self, r: FloatArray) -> FloatArray:
        """Return p-values of correlations (or correlation ratios) with the target."""
        return p_value_given(r, np.array(self.freedom()), self.n_contrasts)

    def relevance(self, X: Matrix) -> Relevance:
        """Measure every column of a block, in one pass."""
        mean, ss, dot = screen(X, self._y)
        if self.n_contrasts > 1:
            dot = self._between(X, mean)
        reason = np.empty(len(ss), np.uint8)
        kernel.grade(ss, dot, self.critical, _CODES if self.critical < math.inf else _UNTESTABLE, reason)
        return Relevance(reason, r=dot, mean=mean, norm=ss)

    def _between(self, X: Matrix, mean: FloatArray) -> FloatArray:
        """Return the square root of the sum of squares between classes."""
        centred = without_offsets(X) if sp.issparse(X) else X - mean
        products = centred.T @ self.basis
        length: FloatArray = np.sqrt(np.einsum("ij,ij->i", products, products))
        return length

    def irrelevant_one(self, x: FloatArray) -> tuple[float, float] | None:
        """Return (r, p-value) of a single column if it is plainly irrelevant, else None."""
        if self.n_contrasts > 1 or self.critical == math.inf:
            return None
        ss, dot = kernel.screen_one(x, self._y)
        if not (0.0 < ss < math.inf and dot * dot < self.critical * self.critical * ss):
            return None  # constant, not finite, or relevant: somebody else decides
        r = dot / math.sqrt(ss)
        z = math.atanh(abs(r)) * math.sqrt(self.n - 3)
        return r, math.erfc(z / math.sqrt(2.0))

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        if 0 in record["basis"].shape:
            raise StateError("the state's target has no rows, or no contrast")
        test = cls.__new__(cls)
        test._bind(**record)  # noqa: SLF001
        return test


def _basis(y: npt.NDArray[Any], task: Task) -> FloatArray:
    """Orthonormal columns, each summing to 0, that span what the target can say: (n, 1) or (n, C - 1)."""
    if task is Task.MULTICLASS:
        indicators = (y[:, None] == np.unique(y)[None, :]).astype(np.float64)
        # the last class is what is left; Q of the centred indicators spans all contrasts between classes
        return np.linalg.qr(indicators[:, :-1] - indicators[:, :-1].mean(axis=0))[0]
    numbers = (y == np.unique(y)[1]) if task is Task.BINARY else y
    centred = numbers.astype(np.float64) - float(numbers[0])
    for _ in range(2):  # the second time takes out what rounding left, so that the sum is 0 to the last digit
        centred -= centred.mean()
    return np.ascontiguousarray(centred[:, None] / np.sqrt(centred @ centred))
