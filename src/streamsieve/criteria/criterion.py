"""The contract of criteria, the formulas that several of them share, and the summary that each one needs."""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator
from enum import StrEnum
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.special import fdtrc, gammaln, ndtri

from streamsieve._parameters import check_choice
from streamsieve.exceptions import CapabilityError, ParameterError, TargetError
from streamsieve.protocols import FloatArray, Task
from streamsieve.summaries import (
    CoMoments,
    Contingency,
    Moments,
    Quantiles,
    RecentRows,
    SortedColumns,
    TargetBins,
    Window,
)
from streamsieve.summaries.class_totals import FREQUENCY
from streamsieve.summaries.moments import MomentsBlock

LARGEST = float(np.finfo(np.float64).max)
#: Name of the automatic choice of a criterion by the target.
AUTO = "auto"


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

    Base class of criteria.  A subclass sets ``needs`` and implements :meth:`score`, which maps one block of
    that summary to one number per feature; batches, weights, half-lives, windows, merging and saving are
    those of the summary.  To be saved as a parameter, the subclass must be a frozen dataclass and registered.

    Attributes
    ----------
    name : text for messages.
    tasks : supported types of target, a frozenset of ``Task``.
    needs : what :meth:`score` reads, one of ``Needs`` or the class of a summary.
    worst : score of a feature without information, 0 by default.
    bins : number of quantile bins, and of classes that a numeric target is cut into, 5 by default.
    default_window : rows in the window with ``Needs.ROWS``, 1000 by default.

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
    #: Number of classes it can compare, or None for any; 2 for every class whose ``tasks`` have
    #: ``Task.BINARY`` without ``Task.MULTICLASS``.
    most_classes: ClassVar[int | None] = None
    #: Bins of equal frequency of the tables that ``Needs.QUANTILES`` gives, and of a numeric target where
    #: labels are needed.
    bins: int = 5
    #: With ``Needs.ROWS``: rows in the window if the caller gives none.
    default_window: ClassVar[int] = 1000

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.has_p_values = cls.p_value is not Criterion.p_value
        tasks: Any = getattr(cls, "tasks", None)
        if isinstance(tasks, frozenset) and Task.BINARY in tasks and Task.MULTICLASS not in tasks:
            cls.most_classes = 2

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

    def check(self, summary: Any) -> None:
        """Raise an error for a summary that this criterion does not support: one with too many classes."""
        # a criterion for numeric targets may read their bins, which count as classes
        if self.most_classes is not None and Task.REGRESSION not in self.tasks:
            self.check_classes(summary.classes)

    def check_classes(self, labels: Collection[Any]) -> None:
        """Raise ``TargetError`` for more labels than ``most_classes``."""
        if self.most_classes is not None and len(labels) > self.most_classes:
            shown = ", ".join(sorted(map(repr, labels))[:4])
            raise TargetError(
                f"criterion={self.name!r} compares {self.most_classes} classes, but y holds {len(labels)} "
                f"({shown}, ...): use a criterion for more classes, such as 'f' or 'fisher'"
            )

    def blocks(self, summary: Any) -> Iterator[Any]:
        """Yield the arguments of :meth:`score`, some features at a time, so that a block stays in cache.

        By default ``summary.tables(self.bins)`` where the criterion needs tables, else ``summary.blocks()``.
        """
        tables = self.needs in (Needs.QUANTILES, Needs.COUNTS)
        return iter(summary.tables(self.bins) if tables else summary.blocks())

    def __call__(self, summary: Any) -> FloatArray:
        """Score every feature of a summary."""
        self.check(summary)
        return self._per_feature("score", summary)

    def p_values(self, summary: Any) -> FloatArray:
        """Return, for every feature, the probability of such a score under independence."""
        self.check(summary)
        return self._per_feature("p_value", summary)

    def _per_feature(self, method: str, summary: Any) -> FloatArray:
        """Return the result of a method for every feature, block by block."""
        parts = [getattr(self, method)(block) for block in self.blocks(summary)]
        shapes = [np.shape(part) for part in parts]
        if any(len(shape) != 1 for shape in shapes) or sum(n for (n,) in shapes) != summary.n_features:
            found = shapes[0] if len(shapes) == 1 else shapes
            raise ValueError(
                f"{type(self).__name__}.{method} returned an array of shape {found} for "
                f"{summary.n_features} features: return one number per feature of the block"
            )
        return np.concatenate(parts) if parts else np.zeros(0)

    def exact(self, columns: Any) -> FloatArray:
        """Score every feature from its sorted values; called if ``exact=True``."""
        return self(columns)

    def new_summary(self, **options: Any) -> Any:
        """Return an empty summary for this criterion; see :func:`streamsieve.criteria.summary_for`."""
        return summary_for(self, **options)

    def relevance_index(self, block: Any) -> FloatArray:
        """Return the relevance of each feature from 0 to 1, comparable between criteria.

        ``-log10(p) / 10``: 0 for a p-value of 1, 0.2 for 0.01, and 1 from 1e-10 on.
        """
        exponent = np.abs(np.log10(np.maximum(self.p_value(block), 1e-10)))
        return np.minimum(exponent / 10, 1.0)

    def normal_score(self, block: Any) -> FloatArray:
        """Return the p-value of each feature as a two-sided normal score, from 0 to 8.

        It is comparable between criteria: for a relevant feature about the square root of the number of rows
        times the size of the effect, with a variance of about 1.
        """
        scores: FloatArray = np.minimum(-ndtri(np.maximum(self.p_value(block), 1e-30) / 2), 8.0)
        return scores


def ratio(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """Divide; 0/0 is 0 (no information), x/0 the largest number (perfect separation)."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        out = numerator / denominator
    out[numerator <= 0] = 0.0
    return np.minimum(np.nan_to_num(out, nan=0.0, posinf=LARGEST, neginf=0.0), LARGEST)


PROVIDES: dict[Needs, type[Any]] = {
    Needs.MOMENTS: Moments,
    Needs.COMOMENTS: CoMoments,
    Needs.QUANTILES: Quantiles,
    Needs.COUNTS: Contingency,
    Needs.ROWS: RecentRows,
}
#: Rows whose targets decide where a numeric target is cut if all rows are kept.
ALL_ROWS = 2**31 - 1


def summary_for(
    criterion: Criterion,
    *,
    target: str = "classes",
    half_life: float | None = None,
    window: int | None = None,
    max_rank_error: float = 1e-3,
    exact: bool = False,
    weight_kind: str = FREQUENCY,
) -> Any:
    """Return an empty summary of what a criterion needs.

    Parameters
    ----------
    criterion : says what it ``needs``
    target : "classes" or "numeric"; a numeric one is cut into bins where the summary needs classes
    half_life : number of rows after which the weight of an observation is halved
    window : number of last rows to summarize
    max_rank_error : largest rank error of quantiles
    exact : keep all rows and sort their columns, where the criterion needs quantiles
    weight_kind : "frequency" or "importance", what a weight is
    """
    criterion.check_values()
    needs = criterion.needs
    if weight_kind != FREQUENCY and (needs is Needs.ROWS or isinstance(needs, type)):
        raise CapabilityError(
            f"criterion={criterion.name!r} treats weights as copies of rows, so weight_kind={weight_kind!r} "
            "means nothing to it: leave it out, or use another criterion"
        )
    if needs is Needs.ROWS:
        if half_life is not None:
            raise CapabilityError(
                f"criterion={criterion.name!r} needs {needs}, which cannot fade by half_life={half_life:g}: "
                "use window, or criterion='mutual_info'"
            )
        return RecentRows(target, size=criterion.default_window if window is None else window)
    sorts = exact and sorts_columns(criterion)
    if sorts:
        summary: Any = SortedColumns(weight_kind=weight_kind)
    else:
        summary = _plain(needs, half_life, max_rank_error, weight_kind)
    if target == "numeric" and summary.target == "classes":
        warm_up = {"warm_up": ALL_ROWS} if sorts else {}
        summary = TargetBins(summary, bins=criterion.bins, **warm_up)
    return summary if window is None else Window(summary, size=window)


def _plain(needs: Needs | type[Any], half_life: float | None, max_rank_error: float, weight_kind: str) -> Any:
    if isinstance(needs, type):
        if half_life is not None:
            raise CapabilityError(f"a {needs.__name__} does not fade by half_life={half_life:g}: use window")
        return needs()
    if needs is Needs.QUANTILES:
        return Quantiles(max_rank_error, half_life=half_life, weight_kind=weight_kind)
    return PROVIDES[needs](half_life, weight_kind=weight_kind)


def sorts_columns(criterion: Criterion) -> bool:
    """Whether ``exact=True`` changes anything: sums and counts are exact anyway."""
    return criterion.needs is Needs.QUANTILES


def _kind(needs: Needs | type[Any]) -> type[Any]:
    return needs if isinstance(needs, type) else PROVIDES[needs]


def serves(criterion: Criterion, summary: Any, *, exact: bool = False) -> bool:
    """Whether a summary, without windows and bins around it, is one that a criterion can read."""
    sorts = exact and sorts_columns(criterion)
    return isinstance(summary, SortedColumns if sorts else _kind(criterion.needs))


def target_of(criterion: Criterion) -> str | None:
    """Return the type of target that a criterion's summary requires: "numeric", or None for any."""
    return "numeric" if getattr(_kind(criterion.needs), "target", None) == "numeric" else None


class Split(NamedTuple):
    """Sums of squares of some features, and the degrees of freedom behind them."""

    between: FloatArray
    within: FloatArray
    df_between: FloatArray
    df_within: FloatArray


def split(block: MomentsBlock) -> Split:
    """Split sums of squares into between and within classes, ignoring classes without values."""
    # only shares of the mass matter, and the product of a faded mass with a square might overflow
    mass = block.mass / max(float(block.mass.max(initial=0.0)), 1e-300)
    present = mass > 0
    total = mass.sum(axis=0)
    # Means relative to the first class present: equal ones then differ by exactly 0, whatever their size,
    # and a constant column cannot be mistaken for a perfect one.
    first = present.argmax(axis=0) if len(mass) else np.zeros(0, np.intp)
    mean = np.where(present, block.mean - np.take_along_axis(block.mean, first[None], axis=0), 0.0)
    center = np.divide((mass * mean).sum(axis=0), total, out=np.zeros_like(total), where=total > 0)
    n_classes = present.sum(axis=0)
    return Split(
        (mass * (mean - center) ** 2).sum(axis=0),
        (mass * block.variance).sum(axis=0),
        n_classes - 1.0,
        block.n.sum(axis=0) - n_classes,
    )


def f_statistic(s: Split) -> FloatArray:
    """One-way analysis of variance."""
    usable = (s.df_between > 0) & (s.df_within > 0)
    numerator = np.where(usable, s.between, 0.0) * np.maximum(s.df_within, 0.0)
    return ratio(numerator, s.within * np.maximum(s.df_between, 1.0))


def f_p_value(block: MomentsBlock) -> FloatArray:
    """Probability of such an F under equal means; 1 where it cannot be tested.

    A feature without spread within classes is discrete, so that F has no F distribution.  There the value is
    the proportion of assignments of rows to classes (times C!, for those that exchange classes) that give it.
    """
    s = split(block)
    usable, score = (s.df_between > 0) & (s.df_within > 0), f_statistic(s)
    p = np.ones(len(usable))
    p[usable] = fdtrc(s.df_between[usable], s.df_within[usable], score[usable])
    perfect = usable & (score > 0) & (s.within <= 0)
    n = block.n[:, perfect]
    log_share = gammaln(s.df_between[perfect] + 2) + gammaln(n + 1).sum(axis=0) - gammaln(n.sum(axis=0) + 1)
    p[perfect] = np.exp(np.minimum(log_share, 0.0))
    return p


@functools.cache
def named_criteria() -> dict[str, Criterion]:
    """Return one instance of each built-in criterion; they are frozen and may be shared."""
    from streamsieve import criteria  # noqa: PLC0415 - they derive from the class in this file

    return {name: kind() for name, kind in criteria.by_name().items()}


class CriterionParameter:
    """A parameter that is the name of a criterion or a :class:`Criterion`, or one of some ``other`` words."""

    def __init__(self, *other: str) -> None:
        self.other = other

    def check_value(self, name: str, value: Any) -> None:
        """Raise ``ParameterError`` unless the value is a criterion with legal parameters."""
        if isinstance(value, str):
            check_choice(name, value, (*self.other, *named_criteria()))
        if not isinstance(value, str) or value not in self.other:
            self.of(name, value).check_values()

    @staticmethod
    def of(name: str, value: Any) -> Criterion:
        """Return the criterion."""
        if isinstance(value, Criterion):
            return value
        if isinstance(value, str):
            return named_criteria()[check_choice(name, value, named_criteria())]
        raise ParameterError(
            f"{name} must be a name ({', '.join(map(repr, named_criteria()))}) or a streamsieve.criteria."
            f"Criterion, which has needs, tasks and score(block); got {value!r}"
        )
