"""Protocols of relevance: the result of measuring a block, and the interface of user-defined measures."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np
import numpy.typing as npt

from streamsieve._values import number_from
from streamsieve.decisions import KEPT
from streamsieve.dependence.blocks import ColumnSlices
from streamsieve.lazy_p_values import PValues
from streamsieve.protocols import ANY_TASK, BoolArray, ColumnBlock, FloatArray, IntArray, Matrix, Reason, Task
from streamsieve.state import Part


@runtime_checkable
class Measure(Protocol):
    """Protocol of dependence measures for ``SAOLA(measure=...)`` and ``TopK(measure=...)``.

    A measure may also have ``p_value(dependence, n)``, the p-value of a dependence over n rows under
    independence.  With it columns are tested at ``alpha`` and ``fdr=`` works; without it ``SAOLA`` compares
    with ``delta`` and ``TopK`` needs ``alpha=None``.

    The target is one of the two columns; labels arrive as 0, 1, 2, ...  A measure that treats labels as
    numbers must set ``tasks = frozenset({Task.BINARY, Task.REGRESSION})``, so that other targets are refused.
    """

    def dependence(self, x: FloatArray, z: FloatArray) -> float:
        """Return the dependence of two columns: symmetric, at least 0, larger is stronger, never NaN."""
        ...


def tasks_of(part: Any) -> frozenset[Task]:
    """Return the types of target that a measure or test supports: its ``tasks``, or any."""
    return frozenset(getattr(part, "tasks", ANY_TASK))


def dependence_of(measure: Measure, x: FloatArray, z: FloatArray) -> float:
    """Return the dependence of two columns by a measure; refuse what is none, such as NaN."""
    found = number_from(measure, "the dependence of two columns", measure.dependence(x, z))
    if not found >= 0:
        raise ValueError(f"{measure!r} returned a dependence of {found}: it must be at least 0")
    return found


def p_value_of(measure: Measure, dependence: float, n: int) -> float:
    """Return the p-value of a dependence over ``n`` rows; NaN if the measure has none."""
    p_value = getattr(measure, "p_value", None)
    if p_value is None:
        return math.nan
    found = number_from(measure, "a p-value", p_value(dependence, n))
    if not 0 <= found <= 1:
        raise ValueError(f"{measure!r} returned a p-value of {found}: it must be in [0, 1]")
    return found


class Relevance(NamedTuple):
    """Association of each column of a block with the target, on its own."""

    #: Codes of the ledger: RELEVANT, IRRELEVANT at the fixed level, CONSTANT, or UNRELIABLE (no test).
    reason: npt.NDArray[np.uint8]
    #: The statistic for the ledger; its absolute value is the dependence that rules compare.
    statistic: FloatArray
    #: Computed on access; None where the measure has no test.
    p_value: PValues | FloatArray | None
    #: Intermediate results for the redundancy rule, one entry per column: means and norms, or numbers of
    #: categories.
    columns: tuple[npt.NDArray[Any], ...] = ()
    #: Which p-values are discrete, a property of column and target and not of their association; None: none.
    #: They are valid, but need not be uniformly conservative, as "addis" and "dlord" assume of all others.
    discrete: BoolArray | None = None
    #: Positions in the block of all relevant columns, and their values; None if they were not gathered.
    gathered: tuple[IntArray, ColumnSlices] | None = None

    @classmethod
    def unmeasured(cls, m: int) -> Self:
        """Return placeholders for m columns, for a rule that measures relevance itself."""
        return cls(np.full(m, KEPT, np.uint8), np.full(m, np.nan), None)

    def at(self, chosen: IntArray, places: IntArray | None = None) -> Self:
        """Return some columns; ``places`` are their positions in ``columns`` if that has fewer entries."""
        p_value = None if self.p_value is None else PValues(self.p_value.__getitem__, chosen)
        columns = tuple(array[chosen if places is None else places] for array in self.columns)
        discrete = None if self.discrete is None else self.discrete[chosen]
        gathered = self.gathered
        return type(self)(self.reason[chosen], self.statistic[chosen], p_value, columns, discrete, gathered)

    def owned(self) -> Self:
        """Return a copy with writable arrays."""
        return self._replace(reason=self.reason.copy(), statistic=self.statistic.copy())


@dataclass(frozen=True, slots=True)
class MeasuredBlock(ColumnBlock):
    """A block with its measured relevance: the result of ``selector.measure_block``, for ``selector.offer``.

    It can be pickled, so blocks may be measured in other processes and offered, in order, in this one.  At a
    fixed level ``X`` and ``relevance.columns`` have only the columns that may still be kept; ``held`` are
    their positions in the block.
    """

    relevance: Relevance = field(default_factory=lambda: Relevance.unmeasured(0))
    held: IntArray | None = None
    #: Fingerprint of the test that measured it; `offer` takes blocks of an equal test only.
    measured_by: str = ""

    def places(self, chosen: IntArray) -> IntArray:
        """Return where in ``X`` some columns of the block are."""
        return chosen if self.held is None else np.searchsorted(self.held, chosen)

    def arrived(self, start: int) -> Sequence[int] | IntArray:
        """Return the arrival numbers of the columns of ``X`` in a block that begins with column ``start``."""
        return range(start, start + self.X.shape[1]) if self.held is None else start + self.held

    def cut(self, part: slice) -> Self:
        """Return consecutive columns, without their names."""
        low, high, _ = part.indices(len(self.relevance.reason))
        chosen = np.arange(low, high)
        types = None if self.types is None else self.types[part]
        some = replace(self, names=None, types=types)
        if self.held is None:
            return replace(some, X=self.X[:, part], relevance=self.relevance.at(chosen))
        inside = np.flatnonzero((self.held >= low) & (self.held < high))
        relevance = self.relevance.at(chosen, inside)
        return replace(some, X=self.X[:, inside], relevance=relevance, held=self.held[inside] - low)


class RelevanceTest(Part, ABC):
    """A measure or test bound to the target, without side effects: equal blocks give equal relevance."""

    #: Number of rows.
    n: int

    @abstractmethod
    def measure(self, X: Matrix) -> Relevance:
        """Measure every column of a block; changes nothing."""

    def measure_block(self, block: ColumnBlock) -> Relevance:
        """Measure every column of a block that may know their types; most tests need none."""
        return self.measure(block.X)

    def measure_one(self, x: FloatArray) -> tuple[Reason, float, float] | None:  # noqa: ARG002 - optional
        """Measure a single column quickly: (reason, statistic, p-value), or None to leave it to `measure`.

        ``x`` may hold NaN or be constant; then the answer must be None.
        """
        return None

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        """Build a test from its fields, which are the arguments of its constructor."""
        return cls(**record)
