"""A buffer of k columns that share information, as codes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.special import chdtrc, chdtri, xlogy

from streamsieve._kernels import budget_codes as kernel
from streamsieve._kernels.budget_codes import LEVELS
from streamsieve._kernels.threads import over_features
from streamsieve.columns._blanket_selector import PValues
from streamsieve.columns._budget import OUTSCORED, Budget, Candidates, Outcome, unsettled
from streamsieve.columns._correlated import TIE
from streamsieve.exceptions import StateError
from streamsieve.protocols import Arrays, FloatArray, IntArray, Reason
from streamsieve.state import expect, register
from streamsieve.verdicts import REASON_CODE

if TYPE_CHECKING:
    from streamsieve.protocols import Matrix

RELEVANT, CONSTANT = REASON_CODE[Reason.RELEVANT], REASON_CODE[Reason.CONSTANT]
IRRELEVANT = REASON_CODE[Reason.IRRELEVANT]


def _c_log_c(n: int) -> FloatArray:
    """Return c ln c of every count up to n."""
    counts = np.arange(n + 1.0)
    logs: FloatArray = xlogy(counts, counts)
    return logs


def _p_value(strength: FloatArray, freedom: IntArray) -> FloatArray:
    """Return the p-values of G."""
    p_value: FloatArray = chdtrc(freedom, strength)
    return p_value


def _critical(alpha: float, freedom: IntArray) -> FloatArray:
    """Return the smallest significant G; there are few different degrees of freedom."""
    some, at = np.unique(freedom, return_inverse=True)
    critical: FloatArray = chdtri(some, alpha)[at]
    return critical


def _check_bins(bins: int) -> None:
    if not 2 <= bins <= 1024:
        raise StateError(f"the state claims {bins} bins")


@register
class CodedTarget:
    """Information of columns about a target of codes, and its G test, for whole blocks.

    Parameters
    ----------
    y : codes of the target, 0, 1, 2, ...
    bins : number of bins for columns with more than 32 distinct values
    """

    def __init__(self, y: npt.NDArray[np.uint16], bins: int) -> None:
        self.n, self._y, self._bins = len(y), y, bins
        self._g = _c_log_c(self.n)
        self._counts = np.bincount(y).astype(np.int64)
        self._entropy = kernel.entropy(self._counts, len(self._counts), self.n, self._g)

    def measure(
        self, X: Matrix, alpha: float | None, *, normalised: bool
    ) -> tuple[npt.NDArray[np.uint8], FloatArray, FloatArray]:
        """Return reasons (relevant, irrelevant, constant), dependences and p-values of all columns."""
        X = sp.csc_array(X)
        indptr, m = X.indptr.astype(np.int64, copy=False), X.shape[1]
        shared, spread, levels = np.empty(m), np.empty(m), np.empty(m, np.int64)

        def work(low: int, high: int) -> None:
            kernel.measure(
                indptr, X.indices, X.data, self._bins, self._y, self._counts, self._entropy, self._g,
                shared, spread, levels, low, high,
            )  # fmt: skip

        over_features(m, 8 * (X.nnz + m), work)  # coding a value costs as much as adding up eight
        freedom = np.maximum((levels - 1) * (len(self._counts) - 1), 1)
        strength = 2 * shared
        significant = True if alpha is None else strength >= _critical(alpha, freedom)
        reason = np.where(levels == 1, CONSTANT, np.where(significant, RELEVANT, IRRELEVANT))
        whole = (spread + self._entropy) / 2 if normalised else self.n
        p_value = cast("FloatArray", PValues(_p_value, strength, freedom))  # reads like one
        return reason.astype(np.uint8), shared / whole, p_value

    def state(self) -> Arrays:
        """Return the target and the number of bins."""
        return {"y": self._y, "bins": np.array([self._bins], np.int64)}

    @classmethod
    def from_state(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Rebuild."""
        y = np.array(expect(arrays, "y", np.uint16, (None,)))
        bins = int(expect(arrays, "bins", np.int64, (1,))[0])
        _check_bins(bins)
        if len(y) == 0 or len(np.unique(y)) != int(y.max()) + 1:
            raise StateError("the state's target has codes that no row has")
        return cls(y, bins)


@register
class CodedBudget(Budget):
    """Members as small codes, row by row.

    Parameters
    ----------
    n, k, weight : as for ``Budget``
    bins : number of bins for columns with more than 32 distinct values
    normalised : symmetric uncertainty instead of mutual information
    """

    def __init__(self, n: int, k: int, weight: float, bins: int, *, normalised: bool) -> None:
        self._bins, self._normalised = bins, normalised
        self._g = _c_log_c(n)
        self._codes = np.zeros((0, n), np.uint16)
        self._counts = np.zeros((0, max(LEVELS + 1, bins)), np.int64)
        self._spread = np.zeros(0)
        super().__init__(n, k, weight)

    def _grow(self, slots: int) -> None:
        super()._grow(slots)
        more = slots - len(self._codes)
        self._codes = np.pad(self._codes, ((0, more), (0, 0)))
        self._counts = np.pad(self._counts, ((0, more), (0, 0)))
        self._spread = np.pad(self._spread, (0, more))

    def settle(self, X: Matrix, new: Candidates) -> Outcome:
        """Let candidates compete with the members, in order."""
        X = sp.csc_array(X)
        outcome = unsettled(len(new.feature))
        codes, counts = np.empty(self.n, np.uint16), np.empty(self._counts.shape[1], np.int64)
        limit = self.limit
        for j, place in enumerate(new.chosen.tolist()):
            if new.values[0, j] <= limit:
                outcome.fate[j] = OUTSCORED
                continue
            part = slice(X.indptr[place], X.indptr[place + 1])
            shared = np.zeros(len(self._spread) + 1)
            spread = kernel.compare(
                X.indices[part], X.data[part], self._bins, self._codes, self._counts, self._spread, self._q,
                self._g, shared, codes, counts,
            )  # fmt: skip
            members = slice(0, self._q)
            alike = 2 * shared[members] / (spread + self._spread[members])
            copied = self._first(alike >= 1 - TIE)
            shared[members] = alike if self._normalised else shared[members] / self.n
            slot = self._place(j, shared, copied, new, outcome)
            if slot >= 0:
                self._codes[slot], self._counts[slot], self._spread[slot] = codes, counts, spread
                limit = self.limit
        return outcome

    def state(self) -> Arrays:
        """Return the members and their codes, slot by slot."""
        flags = np.array([self._bins, self._normalised], np.int64)
        return super().state() | {"codes": self._codes[: self._q], "coding": flags}

    @classmethod
    def _empty(cls, n: int, k: int, weight: float, arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        bins, normalised = expect(arrays, "coding", np.int64, (2,)).tolist()
        _check_bins(bins)
        return cls(n, k, weight, bins, normalised=bool(normalised))

    def _fill(self, q: int, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        self._codes[:q] = expect(arrays, "codes", np.uint16, (q, self.n))
        levels = self._counts.shape[1]
        if q and self._codes[:q].max() >= levels:
            raise StateError(f"the state has a code above {levels - 1}")
        for slot in range(q):
            self._counts[slot] = np.bincount(self._codes[slot], minlength=levels)
            self._spread[slot] = kernel.entropy(self._counts[slot], levels, self.n, self._g)
        if not np.all(self._spread[:q] > 0):
            raise StateError("the state has a member that is constant")
