"""Mutual information and symmetric uncertainty of discretized columns with the target."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.special import xlogy

from streamsieve._kernels import discrete as kernel
from streamsieve.decisions import CONSTANT, IRRELEVANT, REDUNDANT, RELEVANT
from streamsieve.dependence.blocks import TIE
from streamsieve.dependence.contract import Relevance, RelevanceTest
from streamsieve.protocols import FloatArray, IntArray, Matrix
from streamsieve.state import Array, Bool, Float, Int, register

#: The ledger's codes in the order that the kernel knows.
LEDGER_CODES = (RELEVANT, CONSTANT, IRRELEVANT, REDUNDANT)


def c_log_c(n: int) -> FloatArray:
    """Return c ln c of every count up to n."""
    counts = np.arange(n + 1.0)
    logs: FloatArray = xlogy(counts, counts)
    return logs


def information_strengths(g: FloatArray, freedom: Any, n: Any) -> FloatArray:
    """Return the correlations of normal variables with the information ``g / (2 n)``, less its bias.

    ``g`` are likelihood-ratio statistics with ``freedom`` degrees of freedom over ``n`` rows.
    """
    excess = np.maximum(g - np.maximum(freedom - 1, 0), 0.0)
    strengths: FloatArray = np.sqrt(np.maximum(-np.expm1(-excess / np.maximum(n, 1)), 0.0))
    return strengths


@register
class Information(RelevanceTest):
    """Information of discretized columns about a target, with a threshold instead of a test.

    Parameters
    ----------
    y : codes of the target, 0, 1, 2, ...
    bins : number of bins for columns with more than 32 distinct values
    normalized : symmetric uncertainty instead of mutual information in nats
    delta : a column at or below it is irrelevant
    """

    fields = {
        "y": Array("u2", "rows", codes=True, nonempty=True),
        "bins": Int(2, 1024),
        "normalized": Bool(),
        "delta": Float(0),
    }

    def __init__(self, y: npt.NDArray[np.uint16], bins: int, *, normalized: bool, delta: float) -> None:
        self.n, self.y, self.bins, self.normalized, self.delta = len(y), y, bins, normalized, delta
        self.g = c_log_c(self.n)
        counts = np.bincount(y).astype(np.int64)
        #: The target as the kernel takes it: codes, counts, entropy in nats times n.
        self.target = y, counts, kernel.entropy(counts, len(counts), self.n, self.g)
        #: Categories that a column may have.
        self.width = max(kernel.most_levels(self.n) + 1, bins)

    def measure(self, X: Matrix) -> Relevance:
        """Measure every column of a block: the kernel that settles, with no column kept and none relevant."""
        X = sp.csc_array(X)
        m = X.shape[1]
        reason, statistic = np.zeros(m, np.uint8), np.zeros(m)
        nothing = (
            np.zeros((1, self.n), np.uint16), np.zeros((1, self.width), np.int64), np.zeros(1, np.int64),
            np.zeros(1), np.zeros(1), np.zeros(1, np.int64),
        )  # fmt: skip
        kernel.decide(
            X.indptr.astype(np.int64, copy=False), X.indices, X.data, 0, 0, self.bins,
            *self.target, self.normalized, np.inf, False, False, TIE, *nothing, 0,  # noqa: FBT003
            reason, statistic, nothing[-1], nothing[-1], nothing[-1], nothing[-2], 0,
            self.g, self.table(), LEDGER_CODES,
        )  # fmt: skip
        reason[(reason != CONSTANT) & (statistic > self.delta + TIE)] = RELEVANT
        return Relevance(reason, statistic, None)

    def table(self) -> IntArray:
        """Return work space for the contingency table of two columns, or of a column and the target."""
        return np.zeros(self.width * max(self.width, len(self.target[1])), np.int64)
