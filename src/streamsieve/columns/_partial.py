"""Kept columns that judge newcomers by partial correlation."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve._kernels import partial as kernel
from streamsieve.columns._blanket import LARGEST_SET, Measured, PValueGiven, Settled
from streamsieve.columns._correlated import _pieces
from streamsieve.exceptions import StateError
from streamsieve.independence.fisher_z import FisherZ, p_value_given
from streamsieve.protocols import Arrays, FloatArray, IntArray, Reason
from streamsieve.state import expect, register
from streamsieve.verdicts import REASON_CODE

if TYPE_CHECKING:
    from streamsieve.protocols import Matrix

#: Columns that a store has room for at first.
FIRST_SLOTS = 16

KEPT, REDUNDANT, COLLINEAR, UNRELIABLE = (
    REASON_CODE[r] for r in (Reason.RELEVANT, Reason.REDUNDANT, Reason.COLLINEAR, Reason.UNRELIABLE)
)


@register
class PartialColumns:
    """Columns centred, of unit length, and all their correlations; memory grows with the columns kept.

    Two matrices hold what tests need: the correlations of the kept columns, and what the target leaves of
    them.  A newcomer costs one product with every kept column; whether a set makes it redundant is then
    arithmetic on a few numbers, however many rows there are.

    Parameters
    ----------
    test : bound to the target
    most : members that a conditioning set may have, 0 to 3
    skip : pass over sets that the rows do not suffice to test, instead of calling the test independent
    """

    def __init__(self, test: FisherZ, *, most: int, skip: bool) -> None:
        self.n = test.n
        self._test, self._most, self._skip = test, most, skip
        testable = sum(test.freedom(size) > 0 for size in range(1, most + 1))
        self._searched = testable if skip else most
        self._share = np.array([test.share_left(size) for size in range(LARGEST_SET + 1)])
        self._basis = np.ascontiguousarray(test.basis.T)
        # zeros are mapped, not written: a slot costs nothing until a column moves in
        self._columns = np.zeros((FIRST_SLOTS, self.n))
        self._total, self._within = np.zeros((2, FIRST_SLOTS, FIRST_SLOTS))
        self._loads = np.zeros((FIRST_SLOTS, test.n_contrasts))
        self._feature = np.zeros(FIRST_SLOTS, np.int64)
        self._order = np.arange(FIRST_SLOTS)
        self._kept = 0

    @property
    def features(self) -> IntArray:
        """Arrival numbers of the columns kept, in order."""
        return self._feature[: self._kept].copy()

    @property
    def nbytes(self) -> int:
        """Memory of the kept columns and their correlations, in bytes."""
        return 8 * self._kept * (self.n + 2 * self._kept + self._test.n_contrasts)

    def relevance(self, X: Matrix) -> Measured:
        """Test every column of a block against the target, given nothing."""
        measured = self._test.relevance(X)
        statistic = np.abs(measured.r, out=measured.r)
        freedom = np.broadcast_to(np.int64(self._test.freedom()), statistic.shape)
        return Measured(measured.reason, statistic, freedom, (measured.mean, measured.norm))

    def irrelevant_one(self, x: FloatArray) -> tuple[float, float] | None:
        """Return (statistic, p-value) of a single column if it is plainly irrelevant, else None."""
        found = self._test.irrelevant_one(x)
        return None if found is None else (abs(found[0]), found[1])

    def p_value_of(self) -> PValueGiven:
        """Return the function that gives p-values to statistics and their degrees of freedom."""
        return partial(p_value_given, contrasts=self._test.n_contrasts)

    def settle(
        self, X: Matrix, start: int, chosen: IntArray, measured: Measured, *, newcomer_first: bool
    ) -> Settled:
        """Let the chosen columns of a block compete with the kept ones, in order."""
        m = len(chosen)
        mean, norm = (values[chosen] for values in measured.columns)
        verdict, statistic, by = np.zeros(m, np.int64), np.zeros(m), np.full((m, LARGEST_SET), -1)
        room = self._kept + m
        evicted, evicted_at, evicted_verdict = np.zeros((3, room), np.int64)
        evicted_statistic, evicted_by = np.zeros(room), np.full((room, LARGEST_SET), -1)
        pieces = _pieces(X, chosen)
        done = n_evicted = 0
        while True:
            done, self._kept, n_evicted = kernel.decide(
                *pieces, sp.issparse(X), mean, norm, chosen + start, done,
                newcomer_first, self._searched, self._share, self._basis,
                self._columns, self._total, self._within, self._loads, self._feature, self._order, self._kept,
                verdict, statistic, by,
                evicted, evicted_at, evicted_verdict, evicted_statistic, evicted_by, n_evicted,
            )  # fmt: skip
            if done == m:
                break
            self._grow(2 * len(self._order))
        gone = slice(n_evicted)
        return Settled(
            self._reasons(verdict), statistic, self._freedoms(verdict), by,
            evicted[gone], evicted_at[gone], self._reasons(evicted_verdict[gone]), evicted_statistic[gone],
            self._freedoms(evicted_verdict[gone]), evicted_by[gone],
        )  # fmt: skip

    def _reasons(self, verdict: IntArray) -> npt.NDArray[np.uint8]:
        """Return codes for sizes of sets; negative where the set leaves nothing of the column."""
        reasons = np.where(verdict < 0, COLLINEAR, REDUNDANT).astype(np.uint8)
        reasons[self._freedoms(verdict) <= 0] = UNRELIABLE
        reasons[verdict == 0] = KEPT
        return reasons

    def _freedoms(self, verdict: IntArray) -> IntArray:
        return self._test.freedom() - np.abs(verdict)

    def _grow(self, slots: int) -> None:
        """Make room for so many columns."""
        old = len(self._order)
        more = slots - old
        self._columns, self._loads, self._feature = (
            np.concatenate([a, np.zeros((more, *a.shape[1:]), a.dtype)])
            for a in (self._columns, self._loads, self._feature)
        )
        self._total, self._within = (np.pad(a, (0, more)) for a in (self._total, self._within))
        self._order = np.concatenate([self._order, np.arange(old, slots)])

    def state(self) -> Arrays:
        """Return the test, and the kept columns in order of arrival with all their correlations."""
        q = self._kept
        return {
            **{f"test_{name}": array for name, array in self._test.state().items()},
            "rules": np.array([self._most, self._skip], np.int64),
            "columns": self._columns[self._order[:q]],
            "total": self._total[:q, :q],
            "within": self._within[:q, :q],
            "loads": self._loads[:q],
            "feature": self._feature[:q],
        }

    @classmethod
    def from_state(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Rebuild."""
        prefix = "test_"
        test = FisherZ.from_state(
            {name.removeprefix(prefix): a for name, a in arrays.items() if name.startswith(prefix)}
        )
        most, skip = expect(arrays, "rules", np.int64, (2,)).tolist()
        if not 0 <= most <= LARGEST_SET or skip not in (0, 1):
            raise StateError(f"the state claims sets of {most} columns and a rule {skip} for small ones")
        feature = expect(arrays, "feature", np.int64, (None,))
        q, n = len(feature), test.n
        shapes = {"columns": (q, n), "total": (q, q), "within": (q, q), "loads": (q, test.n_contrasts)}
        found = {name: expect(arrays, name, np.float64, shape) for name, shape in shapes.items()}
        for name, array in found.items():
            if not np.all(np.abs(array) <= 1 + 1e-6):  # NaN is not
                raise StateError(f"the state's {name!r} of the kept columns are no correlations")
        kept = cls(test, most=most, skip=bool(skip))
        if q > FIRST_SLOTS:
            kept._grow(q)
        for name, array in found.items():
            getattr(kept, f"_{name}")[:q, : array.shape[1]] = array
        kept._feature[:q] = feature
        kept._kept = q
        return kept
