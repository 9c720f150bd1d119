"""Test of the mutual information of discretized columns with the target."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.special import chdtrc, chdtri

from streamsieve._kernels import discrete as kernel
from streamsieve._threads import over_features
from streamsieve.decisions import CONSTANT, IRRELEVANT, RELEVANT
from streamsieve.dependence.contract import Relevance, RelevanceTest
from streamsieve.dependence.information import c_log_c
from streamsieve.independence.g_squared import GSquared
from streamsieve.independence.p_values import OF_TABLES, resolve_auto
from streamsieve.lazy_p_values import PValues
from streamsieve.protocols import FloatArray, IntArray, Matrix, Task
from streamsieve.state import Array, Bool, Choice, Float, Int, register

#: Level below which p-values of sparse tables are confirmed where there is no test.
NO_LEVEL = 0.05


@register
class InformationTest(RelevanceTest):
    """Mutual information I or symmetric uncertainty with a discrete target.

    By "chi2" it is tested by G = 2 n I; by "moments" the table is tested as by `GSquared`.

    Parameters
    ----------
    y : codes of the target, 0, 1, 2, ...
    bins : number of bins for columns with more than 32 distinct values
    alpha : level of the test, in (0, 1); None for no test: every column that varies is relevant
    normalized : symmetric uncertainty instead of mutual information in nats
    p_value : "auto" or one of ``p_values.OF_TABLES``: how p-values are computed
    exact : Fisher's exact test of every 2 x 2 table, for an online rule
    """

    fields = {
        "y": Array("u2", "rows", codes=True, nonempty=True),
        "bins": Int(2, 1024),
        "alpha": Float(0, 1, open_low=True, open_high=True, optional=True),
        "normalized": Bool(),
        "p_value": Choice(*OF_TABLES),
        "exact": Bool(),
    }

    def __init__(
        self,
        y: npt.NDArray[np.uint16],
        bins: int,
        alpha: float | None,
        *,
        normalized: bool,
        p_value: str = "auto",
        exact: bool = False,
    ) -> None:
        self.n, self.y, self.bins, self.alpha, self.normalized = len(y), y, bins, alpha, normalized
        self.p_value, self.exact = resolve_auto(p_value, OF_TABLES), exact
        level = NO_LEVEL if alpha is None else alpha
        self._tables = GSquared(y, Task.MULTICLASS, level, bins=bins, p_value=self.p_value, exact=exact)
        self._c_log_c = c_log_c(self.n)
        self._counts = np.bincount(y).astype(np.int64)
        self._entropy = kernel.entropy(self._counts, len(self._counts), self.n, self._c_log_c)

    def measure(self, X: Matrix) -> Relevance:
        """Test every column of a block against the target."""
        tables = self._tables.relevance(X) if self.p_value == "moments" else None
        X = sp.csc_array(X)
        indptr, m = X.indptr.astype(np.int64, copy=False), X.shape[1]
        shared, spread, levels = np.empty(m), np.empty(m), np.empty(m, np.int64)

        def work(low: int, high: int) -> None:
            kernel.measure(
                indptr, X.indices, X.data, self.bins, self.y, self._counts, self._entropy, self._c_log_c,
                shared, spread, levels, low, high,
            )  # fmt: skip

        over_features(m, 32 * (X.nnz + m), work)  # values may have to be sorted
        whole = (spread + self._entropy) / 2 if self.normalized else self.n
        if tables is not None:
            reason = tables.reason
            if self.alpha is None:
                reason = np.where(levels == 1, CONSTANT, RELEVANT).astype(np.uint8)
            p_value = self._tables.p_values(tables.tested, tables.freedom)
            return Relevance(reason, shared / whole, p_value, discrete=np.ones(m, bool))
        freedom = np.maximum((levels - 1) * (len(self._counts) - 1), 1)
        g = 2 * shared
        significant = True if self.alpha is None else g >= _critical(self.alpha, freedom)
        reason = np.where(levels == 1, CONSTANT, np.where(significant, RELEVANT, IRRELEVANT))
        p_value = PValues(_p_value, g, freedom)
        return Relevance(reason.astype(np.uint8), shared / whole, p_value, discrete=np.ones(m, bool))


def _p_value(g: FloatArray, freedom: IntArray) -> FloatArray:
    p_value: FloatArray = chdtrc(freedom, g)
    return p_value


def _critical(alpha: float, freedom: IntArray) -> FloatArray:
    """Return the smallest significant G; few different degrees of freedom occur in a block."""
    some, at = np.unique(freedom, return_inverse=True)
    critical: FloatArray = chdtri(some, alpha)[at]
    return critical
