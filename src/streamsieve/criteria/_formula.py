"""What all criteria share: they go through a summary block by block and never return NaN."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from streamsieve.protocols import FloatArray, Task

LARGEST = float(np.finfo(np.float64).max)


class Formula(ABC):
    """A criterion written as a formula over one block of a summary.

    A subclass gives ``name``, ``tasks``, ``summary_type`` and two methods, :meth:`score` and
    :meth:`p_value`; both map a block of a summary to one number a feature.
    """

    name: ClassVar[str]
    tasks: ClassVar[frozenset[Task]]
    summary_type: ClassVar[type[Any]]
    has_p_values: ClassVar[bool] = True
    #: What a feature scores that says nothing.
    worst: ClassVar[float] = 0.0
    #: The number of classes it can compare, or None for any.
    most_classes: ClassVar[int | None] = None

    def new_summary(self, *, half_life: float | None = None, epsilon: float = 1e-3) -> Any:  # noqa: ARG002
        """Make the empty summary this formula reads; ``epsilon`` is the rank error of one over quantiles."""
        return self.summary_type(half_life)

    def serves(self, summary: Any) -> bool:
        """Whether this formula can read a summary."""
        return isinstance(summary, self.summary_type)

    def blocks(self, summary: Any) -> Iterator[Any]:
        """Yield what :meth:`score` and :meth:`p_value` take, some features at a time."""
        blocks: Iterator[Any] = summary.blocks()
        return blocks

    def __call__(self, summary: Any) -> FloatArray:
        """Score every feature of a summary."""
        self.check(summary)
        return _concatenated([self.score(block) for block in self.blocks(summary)])

    def p_values(self, summary: Any) -> FloatArray:
        """Return, for every feature, the probability of such a score under independence."""
        self.check(summary)
        return _concatenated([self.p_value(block) for block in self.blocks(summary)])

    def check(self, summary: Any) -> None:  # noqa: B027 - most formulas take any summary
        """Refuse a summary this formula has no meaning for."""

    @abstractmethod
    def score(self, block: Any) -> FloatArray:
        """Return one score a feature."""

    @abstractmethod
    def p_value(self, block: Any) -> FloatArray:
        """Return one p-value a feature."""

    def surprise(self, block: Any) -> FloatArray:
        """Return the relevance of each feature on a scale from 0 to 1 that all criteria share.

        ``-log10(p) / 10``: 0 for a p-value of 1, 0.2 for 0.01, and 1 from 1e-10 on.
        """
        exponent = np.abs(np.log10(np.maximum(self.p_value(block), 1e-10)))
        return np.minimum(exponent / 10, 1.0)


def ratio(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """Divide; 0/0 is 0 (nothing to see), x/0 the largest number (perfect separation)."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        out = numerator / denominator
    out[numerator <= 0] = 0.0
    return np.minimum(np.nan_to_num(out, nan=0.0, posinf=LARGEST, neginf=0.0), LARGEST)


def _concatenated(parts: list[FloatArray]) -> FloatArray:
    return np.concatenate(parts) if parts else np.zeros(0)
