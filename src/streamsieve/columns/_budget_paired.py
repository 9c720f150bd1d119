"""A buffer of k columns with missing values: every pair is compared over the rows where both are seen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve._kernels import paired
from streamsieve.columns._budget import OUTSCORED, Budget, Candidates, Outcome, unsettled
from streamsieve.columns._correlated import TIE, _pieces
from streamsieve.independence.fisher_z import FisherZ, Relevance, p_value_given
from streamsieve.protocols import Arrays, FloatArray, IntArray, Reason, Task
from streamsieve.state import Array, Part, expect, register
from streamsieve.verdicts import REASON_CODE

if TYPE_CHECKING:
    from streamsieve.protocols import Matrix

RELEVANT, CONSTANT = REASON_CODE[Reason.RELEVANT], REASON_CODE[Reason.CONSTANT]
IRRELEVANT, UNRELIABLE = REASON_CODE[Reason.IRRELEVANT], REASON_CODE[Reason.UNRELIABLE]
#: Fewer rows, and the correlation of two columns says nothing.
FEWEST = 4


@register
class PairedTarget(Part):
    """Correlation with a target over the rows where a column is seen, beside a test for complete columns.

    Parameters
    ----------
    y : labels or numbers, one a row
    task : what kind of target they are
    """

    fields = {"labels": Array("i8", "labels", codes=True)}

    def __init__(self, y: npt.NDArray[Any], task: Task) -> None:
        many = task is Task.MULTICLASS
        #: Codes of more than two classes; else nothing, and the test has the numbers.
        self.labels: IntArray = np.unique(y, return_inverse=True)[1] if many else np.zeros(0, np.int64)

    def measure(self, X: Matrix, test: FisherZ, alpha: float | None) -> tuple[Relevance, FloatArray]:
        """Measure every column of a block; return p-values as well, since each has rows of its own."""
        gaps = self.gaps(X)
        if not gaps.any():
            measured = test.relevance(X)
            return measured, test.p_value(measured.r)
        measured, p_value = self._complete(X, ~gaps, test)
        holes = np.flatnonzero(gaps)
        measured.reason[holes], measured.r[holes], p_value[holes] = self._over_joint_rows(
            X, holes, test, alpha
        )
        return measured, p_value

    @staticmethod
    def gaps(X: Matrix) -> npt.NDArray[np.bool_]:
        """Return which columns of a block have missing values."""
        if not sp.issparse(X):
            gaps: npt.NDArray[np.bool_] = np.isnan(X).any(axis=0)
            return gaps
        gaps = np.zeros(X.shape[1], bool)
        gaps[np.searchsorted(X.indptr, np.flatnonzero(np.isnan(X.data)), side="right") - 1] = True
        return gaps

    def _complete(
        self, X: Matrix, whole: npt.NDArray[np.bool_], test: FisherZ
    ) -> tuple[Relevance, FloatArray]:
        """Measure the columns without gaps, and leave room for the others."""
        m = X.shape[1]
        places = np.flatnonzero(whole)
        measured = Relevance(np.zeros(m, np.uint8), np.zeros(m), np.zeros(m), np.zeros(m))
        if len(places):
            found = test.relevance(X[:, places])
            measured.reason[places], measured.r[places] = found.reason, found.r
            measured.mean[places], measured.norm[places] = found.mean, found.norm
        return measured, test.p_value(measured.r)

    def _over_joint_rows(
        self, X: Matrix, chosen: IntArray, test: FisherZ, alpha: float | None
    ) -> tuple[npt.NDArray[np.uint8], FloatArray, FloatArray]:
        pieces, m = _pieces(X, chosen), len(chosen)
        seen, classes = np.zeros(m, np.int64), np.full(m, 2)
        spread, r, p_value = np.zeros(m), np.zeros(m), np.ones(m)
        if len(self.labels):
            counts = np.bincount(self.labels).astype(np.int64)
            paired.with_classes(
                *pieces, sp.issparse(X), self.labels, counts, seen, spread, r, classes
            )  # fmt: skip
        else:
            y = np.ascontiguousarray(test.basis[:, 0])
            paired.with_numbers(*pieces, sp.issparse(X), y, seen, spread, r, classes)
        for number in np.unique(classes).tolist():
            some = classes == number
            if number >= 2:
                freedom = seen[some] - (3 if number == 2 else number)
                p_value[some] = p_value_given(r[some], freedom, number - 1)
        significant = True if alpha is None else p_value <= alpha
        reason = np.where(significant, RELEVANT, IRRELEVANT)
        reason = np.where(spread > 0, reason, CONSTANT)
        reason = np.where((seen < FEWEST) | (classes < 2) | (seen <= classes), UNRELIABLE, reason)
        return reason.astype(np.uint8), r, p_value


@register
class PairedBudget(Budget):
    """Members as columns of unit length with 0 for what is missing, and where they are seen."""

    def __init__(self, n: int, k: int, weight: float) -> None:
        self._columns, self._seen = np.zeros((0, n)), np.zeros((0, n))
        super().__init__(n, k, weight)

    def _grow(self, slots: int) -> None:
        super()._grow(slots)
        more = slots - len(self._columns)
        self._columns, self._seen = (np.pad(a, ((0, more), (0, 0))) for a in (self._columns, self._seen))

    def settle(self, X: Matrix, new: Candidates) -> Outcome:
        """Let candidates compete with the members, in order."""
        outcome, limit = unsettled(len(new.feature)), self.limit
        if not len(new.chosen):
            return outcome
        sparse, gaps = sp.issparse(X), PairedTarget.gaps(X)[new.chosen]
        pointers, rows, values = _pieces(X, new.chosen)
        for j in range(len(new.chosen)):
            # a copy with gaps may depend on y less than its member, and yet is redundant, not outscored
            if new.values[0, j] <= limit and not gaps[j]:
                outcome.fate[j] = OUTSCORED
                continue
            part = slice(pointers[j], pointers[j + 1])
            column = values[part]
            if sparse:
                column = np.zeros(self.n)
                column[rows[part]] = values[part]
            x, seen = _standard(column)
            shared, joint = np.zeros(len(self._feature) + 1), np.zeros(len(self._feature) + 1)
            paired.compare(x, seen, self._columns, self._seen, self._q, shared, joint)
            # a copy, and seen nowhere that the member is not: it tells nothing new
            alike = (shared >= 1 - TIE) & (joint == seen.sum())
            slot = self._place(j, shared, self._first(alike[: self._q]), new, outcome)
            if slot >= 0:
                self._columns[slot], self._seen[slot] = x, seen
                limit = self.limit
        return outcome

    def state(self) -> Arrays:
        """Return the members and their columns, slot by slot."""
        held = {"columns": self._columns[: self._q], "seen": self._seen[: self._q]}
        return super().state() | held

    def _fill(self, q: int, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        self._columns[:q] = expect(arrays, "columns", np.float64, (q, self.n))
        self._seen[:q] = expect(arrays, "seen", np.float64, (q, self.n))


def _standard(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return a column without its mean, of unit length, 0 where it is missing; and where it is seen."""
    seen = ~np.isnan(x)
    values = x[seen] - x[np.argmax(seen)]
    for _ in range(2):  # the second time takes out what rounding left
        values -= values.mean()
    out = np.zeros(len(x))
    out[seen] = values / np.sqrt(values @ values)
    return out, seen.astype(np.float64)
