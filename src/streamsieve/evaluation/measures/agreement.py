"""Agreement of a selection with the truth, and of online with offline scores."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from streamsieve._parameters import check_number
from streamsieve.exceptions import InputError
from streamsieve.protocols import FloatArray


@dataclass(frozen=True)
class Recovered:
    """Precision and recall of a selection relative to the relevant features.

    Attributes
    ----------
    found : relevant features that were selected
    n_selected : features selected
    n_relevant : relevant features
    """

    found: int
    n_selected: int
    n_relevant: int

    @property
    def precision(self) -> float:
        """Proportion of the selected features that are relevant; NaN if none was selected."""
        return self.found / self.n_selected if self.n_selected else math.nan

    @property
    def recall(self) -> float:
        """Proportion of the relevant features that were selected; NaN if none is relevant."""
        return self.found / self.n_relevant if self.n_relevant else math.nan

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall; NaN if nothing is relevant and nothing was selected."""
        both = self.n_selected + self.n_relevant
        return 2 * self.found / both if both else math.nan

    def __str__(self) -> str:
        return (
            f"{self.found} of {self.n_relevant} relevant features among {self.n_selected} selected: "
            f"precision {self.precision:.3f}, recall {self.recall:.3f}, F1 {self.f1:.3f}"
        )


def recovered(selected: Iterable[int], relevant: Iterable[int], k: int | None = None) -> Recovered:
    """Compute precision and recall of selected features, given the relevant ones.

    Parameters
    ----------
    selected : columns of the selected features, best first where ``k`` is given
    relevant : columns of the relevant features
    k : int or None, default=None
        Number of best selected features to count, at least 0.  If None, all.

    Examples
    --------
    >>> from streamsieve.evaluation.measures.agreement import recovered
    >>> print(recovered([3, 1, 2], [1, 2, 4, 5]))
    2 of 4 relevant features among 3 selected: precision 0.667, recall 0.500, F1 0.571
    """
    if k is not None:
        check_number("k", k, low=0, integer=True)
    chosen = _distinct("selected", selected)[:k]
    truth = set(_distinct("relevant", relevant))
    return Recovered(len(truth.intersection(chosen)), len(chosen), len(truth))


def _distinct(what: str, columns: Iterable[int]) -> list[int]:
    listed = np.asarray(list(columns))
    if listed.size and (listed.ndim != 1 or listed.dtype.kind not in "iu"):
        raise InputError(
            f"{what} must be columns, that is whole numbers; got {listed.dtype} of shape {listed.shape}: "
            "for a mask, give np.flatnonzero(mask)"
        )
    if len(np.unique(listed)) < len(listed):
        raise InputError(f"{what} holds a column twice: give every column once")
    return [int(column) for column in listed.tolist()]


def score_difference(online: npt.ArrayLike, offline: npt.ArrayLike) -> float:
    """Return the mean difference of online and offline scores, relative to the range of the latter.

    Parameters
    ----------
    online, offline : one score per feature, finite

    Returns
    -------
    float
        Mean of ``|online - offline| / (max offline - min offline)``, equation 3.19 of Wang 2021;
        NaN if all offline scores are equal.

    Examples
    --------
    >>> from streamsieve.evaluation.measures.agreement import score_difference
    >>> score_difference([1.0, 2.5, 5.0], [1.0, 2.0, 5.0])
    0.041666666666666664
    """
    on, off = _two_scores(online, offline)
    spread = float(np.ptp(off))
    return float(np.abs(on - off).mean()) / spread if spread > 0 else math.nan


def rank_disagreement(
    online: npt.ArrayLike, offline: npt.ArrayLike, *, best: float = 0.1, higher_is_better: bool = True
) -> float:
    """Return the proportion of the best features, by offline score, whose online rank differs.

    Parameters
    ----------
    online, offline : one score per feature, finite
    best : float, default=0.1
        Proportion of the features to compare, in (0, 1]; at least one is.
    higher_is_better : bool, default=True
        Whether a high score ranks first; False for Gini's impurity.

    Returns
    -------
    float from 0 to 1

    Notes
    -----
    Equal scores rank in the order of their columns.  Wang 2021 divides by the number of all features in the
    formula; table 3.6 there reaches 1, so it was the number of those looked at.  The measure is strict: one
    feature that moves up displaces all that it passes.

    Examples
    --------
    >>> from streamsieve.evaluation.measures.agreement import rank_disagreement
    >>> rank_disagreement([9, 7, 8, 1], [9, 8, 7, 1], best=0.5)
    0.5
    """
    check_number("best", best, low=0, high=1, open_low=True)
    on, off = _two_scores(online, offline)
    n = max(1, round(best * len(off)))
    sign = -1.0 if higher_is_better else 1.0
    first = np.argsort(sign * off, kind="stable")[:n]
    return float(np.mean(np.argsort(sign * on, kind="stable")[:n] != first))


def _two_scores(online: npt.ArrayLike, offline: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    on, off = np.asarray(online, np.float64), np.asarray(offline, np.float64)
    if on.ndim != 1 or on.shape != off.shape or not len(on):
        raise InputError(f"online and offline must be one score per feature; got {on.shape} and {off.shape}")
    if not (np.isfinite(on).all() and np.isfinite(off).all()):
        bad = int(np.flatnonzero(~(np.isfinite(on) & np.isfinite(off)))[0])
        raise InputError(f"scores must be finite; feature {bad} has {on[bad]} online and {off[bad]} offline")
    return on, off
