"""Groups of columns by correlation, and by mutual information of codes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.special import xlogy

from streamsieve._kernels import codes as coding
from streamsieve._kernels import groups as kernel
from streamsieve.columns._groups import DENSE_VALUES, Candidates, unit_columns
from streamsieve.columns._groups_rivals import RivalGroups
from streamsieve.decisions import KEPT, REASON_CODE
from streamsieve.dependence.blocks import TIE
from streamsieve.exceptions import StateError
from streamsieve.independence import FisherZ
from streamsieve.independence.multiple_testing import OnlineFDRProcedure
from streamsieve.protocols import Arrays, FloatArray, IntArray, Reason
from streamsieve.state import expect, register

if TYPE_CHECKING:
    from streamsieve.protocols import Matrix

CONSTANT, IRRELEVANT = REASON_CODE[Reason.CONSTANT], REASON_CODE[Reason.IRRELEVANT]
_TEST, _GATE = "test_", "gate_"


@register
class CorrelatedGroups(RivalGroups):
    """Groups that compete by absolute correlation.

    Parameters
    ----------
    test : the test of relevance, bound to the target
    gate : gives every column a level of its own for this test; None: the level of the test
    """

    test: FisherZ

    def __init__(self, test: FisherZ, gate: OnlineFDRProcedure | None = None) -> None:
        self.test, self.gate = test, gate
        super().__init__(test.n)

    def _empty(self, slots: int) -> dict[str, npt.NDArray[Any]]:
        return {"columns": np.zeros((slots, self.n))}

    def _candidates(
        self, X: Matrix, reason: npt.NDArray[np.uint8], statistic: FloatArray
    ) -> Iterator[Candidates]:
        measured = self.test.relevance(X)
        if self.gate is not None:
            self.gate.retest(measured.reason, self.test.p_value(measured.r))
        reason[:], statistic[:] = measured.reason, measured.r
        for some, Z in unit_columns(X, np.flatnonzero(reason == KEPT), measured):
            yield Candidates(some, np.abs(measured.r[some]), {"columns": Z})

    def _pairs(self, some: IntArray, others: IntArray) -> FloatArray:
        pairs: FloatArray = kernel.correlations(self.tables["columns"], some, others)
        return pairs

    def state(self) -> Arrays:
        """Return the test and the gate as well."""
        gate = {} if self.gate is None else {f"{_GATE}{name}": a for name, a in self.gate.state().items()}
        test = {f"{_TEST}{name}": a for name, a in self.test.state().items()}
        return {**super().state(), **test, **gate}

    @classmethod
    def from_state(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Rebuild."""
        test, gate = (
            {name.removeprefix(part): a for name, a in arrays.items() if name.startswith(part)}
            for part in (_TEST, _GATE)
        )
        groups = cls(FisherZ.from_state(test), OnlineFDRProcedure.from_state(gate) if gate else None)
        groups._fill(arrays)
        return groups


@register
class CodedGroups(RivalGroups):
    """Groups that compete by mutual information, or symmetric uncertainty, of codes.

    Parameters
    ----------
    y : codes of the target, 0, 1, 2, ...
    bins : number of bins for columns with more than 32 distinct values
    normalised : symmetric uncertainty instead of mutual information
    delta : dependence on y up to which a column is irrelevant
    """

    def __init__(self, y: npt.NDArray[np.uint16], bins: int, *, normalised: bool, delta: float) -> None:
        self._y, self._bins, self._normalised, self._delta = y, bins, normalised, delta
        n = len(y)
        self._g = xlogy(np.arange(n + 1.0), np.arange(n + 1.0))
        levels = np.array([int(y.max()) + 1])
        self._target = y[None, :], levels, kernel.entropies(y[None, :], levels, self._g)
        super().__init__(n)

    def _empty(self, slots: int) -> dict[str, npt.NDArray[Any]]:
        return {
            "codes": np.zeros((slots, self.n), np.uint16),
            "levels": np.zeros(slots, np.int64),
            "entropy": np.zeros(slots),
        }

    def _candidates(
        self, X: Matrix, reason: npt.NDArray[np.uint8], statistic: FloatArray
    ) -> Iterator[Candidates]:
        size = max(1, DENSE_VALUES // self.n)
        for low in range(0, X.shape[1], size):
            rows = self._coded(X[:, low : low + size])
            part = slice(low, low + len(rows["levels"]))
            every, only = np.arange(len(rows["levels"])), np.zeros(1, np.int64)
            found = kernel.informations(*rows.values(), every, *self._target, only, self._g, self._normalised)
            constant = rows["entropy"] <= TIE * self.n
            statistic[part] = np.where(constant, 0.0, found[:, 0])
            irrelevant = statistic[part] <= self._delta + TIE
            reason[part] = np.where(constant, CONSTANT, np.where(irrelevant, IRRELEVANT, KEPT))
            chosen = np.flatnonzero(~(constant | irrelevant))
            some = {name: table[chosen] for name, table in rows.items()}
            yield Candidates(chosen + low, statistic[part][chosen], some)

    def _coded(self, X: Matrix) -> dict[str, npt.NDArray[Any]]:
        """Return codes, numbers of levels and entropies of columns, in the order the kernel takes them."""
        X = sp.csc_array(X)
        n, m = X.shape
        codes, levels = np.zeros((m, n), np.uint16), np.zeros(m, np.int64)
        rows, some, counts = np.empty(n, np.int32), np.empty(n, np.uint16), np.empty(self._widest, np.int64)
        data, indices, ends = X.data, X.indices, X.indptr.tolist()
        for j in range(m):
            low, high = ends[j], ends[j + 1]
            length, levels[j] = coding.encode(
                data[low:high], indices[low:high], high - low, n, self._bins, rows, some, counts
            )
            codes[j, rows[:length]] = some[:length]
        return {"codes": codes, "levels": levels, "entropy": kernel.entropies(codes, levels, self._g)}

    @property
    def _widest(self) -> int:
        return max(coding.LEVELS + 1, self._bins)

    def _pairs(self, some: IntArray, others: IntArray) -> FloatArray:
        tables = tuple(self.tables[name] for name in ("codes", "levels", "entropy"))
        pairs: FloatArray = kernel.informations(*tables, some, *tables, others, self._g, self._normalised)
        return pairs

    def state(self) -> Arrays:
        """Return the target and the parameters as well."""
        coding_ = np.array([self._bins, self._normalised, self._delta], np.float64)
        return {**super().state(), "y": self._y, "coding": coding_}

    @classmethod
    def from_state(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Rebuild, after checking that every code is one that its table has."""
        y = np.array(expect(arrays, "y", np.uint16, (None,)))
        bins, normalised, delta = expect(arrays, "coding", np.float64, (3,)).tolist()
        if len(y) == 0 or bins not in range(2, 1025) or normalised not in (0, 1) or not delta >= 0:
            raise StateError(f"the state claims {len(y)} rows, {bins} bins and delta={delta}")
        groups = cls(y, int(bins), normalised=bool(normalised), delta=delta)
        groups._fill(arrays)
        slots = np.concatenate([groups._kept, groups._open])
        levels = groups.tables["levels"][slots]
        top = groups.tables["codes"][slots].max(axis=1, initial=0)
        if np.any((levels < 1) | (levels > groups._widest) | (top >= levels)):
            raise StateError("the state's coded columns do not fit together")
        return groups
