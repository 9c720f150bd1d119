"""Criterion: a score per feature, computed from a summary of the rows.  The class to derive from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from enum import StrEnum
from typing import Any, ClassVar

import numpy as np

from streamsieve.exceptions import CapabilityError
from streamsieve.protocols import FloatArray, Task

LARGEST = float(np.finfo(np.float64).max)


class Needs(StrEnum):
    """What a criterion reads; :func:`streamsieve.criteria.summary_for` makes the summary that provides it."""

    #: Mean and variance per class: blocks of :class:`~streamsieve.summaries.Moments`.
    MOMENTS = "moments"
    #: Covariance with a numeric target: blocks of :class:`~streamsieve.summaries.CoMoments`.
    COMOMENTS = "co-moments"
    #: Contingency tables over equal-frequency bins: :class:`~streamsieve.summaries.Quantiles`.
    QUANTILES = "quantiles"
    #: Contingency tables over the values themselves: :class:`~streamsieve.summaries.Contingency`.
    COUNTS = "counts"
    #: The last rows themselves, ``window`` of them.
    ROWS = "a window of rows"


class Criterion(ABC):
    """A score per feature, larger is better, never NaN.

    A subclass says what it ``needs`` and writes :meth:`score`, which maps one block of that summary to one
    number per feature.  That is all: batches, weights, half-lives, windows, merges and files follow from the
    summary.  To be saved as a parameter, the subclass is a frozen dataclass and registered.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import numpy as np, streamsieve as ss
    >>> from streamsieve.criteria import Criterion, Needs, ratio
    >>> from streamsieve.protocols import Task
    >>> from streamsieve.state import register
    >>> @register
    ... @dataclass(frozen=True)
    ... class SignalToNoise(Criterion):
    ...     name = "signal_to_noise"
    ...     tasks = frozenset({Task.BINARY})
    ...     needs = Needs.MOMENTS
    ...
    ...     def score(self, block):
    ...         deviations = np.sqrt(block.variance).sum(axis=0)
    ...         return ratio(np.abs(np.diff(block.mean, axis=0)).sum(axis=0), deviations)
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 500)
    >>> X = np.c_[rng.normal(size=500), y + rng.normal(size=500)]
    >>> ss.Screen(SignalToNoise(), k=1).fit(X, y).selected_
    array([1])
    """

    name: ClassVar[str]
    tasks: ClassVar[frozenset[Task]]
    #: What :meth:`score` reads: one of :class:`Needs`, or a summary class of your own; a property where
    #: it depends on a parameter.
    needs: ClassVar[Needs | type[Any]]
    #: Whether there are p-values: set for every class that writes :meth:`p_value`.
    has_p_values: ClassVar[bool] = False
    #: Score of a feature that carries no information.
    worst: ClassVar[float] = 0.0
    #: Number of classes it can compare, or None for any.
    most_classes: ClassVar[int | None] = None
    #: Bins of equal frequency that a numeric target is cut into where labels are needed.
    bins: int = 5
    #: With ``Needs.ROWS``: rows in the window if the caller gives none.
    default_window: ClassVar[int] = 1000

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.has_p_values = cls.p_value is not Criterion.p_value

    @abstractmethod
    def score(self, block: Any) -> FloatArray:
        """Return one score per feature of a block."""

    def p_value(self, block: Any) -> FloatArray:  # noqa: ARG002
        """Return one p-value per feature of a block."""
        raise CapabilityError(
            f"criterion={self.name!r} has no p-values: use 'mutual_info' for those of a test over bins"
        )

    def check_values(self) -> None:  # noqa: B027 - most criteria have no parameters
        """Raise ``ParameterError`` for parameters out of range."""

    def check(self, summary: Any) -> None:  # noqa: B027 - most criteria take any summary of their kind
        """Raise an error for a summary that this criterion has no meaning for."""

    def blocks(self, summary: Any) -> Iterator[Any]:
        """Yield what :meth:`score` takes, some features at a time, so that a block stays in cache."""
        return iter(summary.blocks())

    def __call__(self, summary: Any) -> FloatArray:
        """Score every feature of a summary."""
        self.check(summary)
        return _concatenated([self.score(block) for block in self.blocks(summary)])

    def p_values(self, summary: Any) -> FloatArray:
        """Return, for every feature, the probability of such a score under independence."""
        self.check(summary)
        return _concatenated([self.p_value(block) for block in self.blocks(summary)])

    def exact(self, columns: Any) -> FloatArray:
        """Score every feature from its sorted values; called if ``exact=True``."""
        return self(columns)

    def new_summary(self, **options: Any) -> Any:
        """Return an empty summary for this criterion; see :func:`streamsieve.criteria.summary_for`."""
        from streamsieve.criteria.summary_for import summary_for  # noqa: PLC0415 - it needs all summaries

        return summary_for(self, **options)

    def relevance_index(self, block: Any) -> FloatArray:
        """Return the relevance of each feature from 0 to 1, comparable between criteria.

        ``-log10(p) / 10``: 0 for a p-value of 1, 0.2 for 0.01, and 1 from 1e-10 on.
        """
        exponent = np.abs(np.log10(np.maximum(self.p_value(block), 1e-10)))
        return np.minimum(exponent / 10, 1.0)


def ratio(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """Divide; 0/0 is 0 (no information), x/0 the largest number (perfect separation)."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        out = numerator / denominator
    out[numerator <= 0] = 0.0
    return np.minimum(np.nan_to_num(out, nan=0.0, posinf=LARGEST, neginf=0.0), LARGEST)


def _concatenated(parts: list[FloatArray]) -> FloatArray:
    return np.concatenate(parts) if parts else np.zeros(0)
