"""Paired t-tests of runs of two methods, and how often a method wins, ties or loses."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr

from streamsieve._parameters import check_number
from streamsieve.evaluation.significance.scores import (
    as_floats,
    check_member,
    check_methods,
    check_scores,
    order_of_pairs,
    p_text,
    rounding,
    text_table,
)
from streamsieve.exceptions import InputError
from streamsieve.protocols import FloatArray, IntArray


@dataclass(frozen=True)
class PairedT:
    """What a paired t-test says.

    Attributes
    ----------
    difference : mean of first minus second
    t : statistic; infinite if all differences are the same and not zero
    df : degrees of freedom
    p_value : two-sided; 1 if no values differ
    test_over_train : ratio that the variance was corrected with; 0 for the plain test
    """

    difference: float
    t: float
    df: int
    p_value: float
    test_over_train: float

    def __str__(self) -> str:
        ratio = self.test_over_train
        how = f", corrected for a test/train ratio of {ratio:.3g}" if ratio else ""
        size = f"mean difference {self.difference:+.4g}"
        return f"{size}, t({self.df}) = {self.t:.3f}, p {p_text(self.p_value)}{how}"


def paired_t(first: npt.ArrayLike, second: npt.ArrayLike, *, test_over_train: float = 0.0) -> PairedT:
    """Test whether two methods differ over runs or folds that both went through.

    Parameters
    ----------
    first, second : one value for each run or fold, in the same order, at least 2
    test_over_train : float, default=0
        Rows tested over rows trained on, which corrects for the training rows that runs share (Nadeau and
        Bengio): 1 / (folds - 1) for cross-validation, 1/6 for seven folds.  0 is the plain test.

    Notes
    -----
    The plain test takes runs for independent.  Runs on the same rows are not, and it then finds differences
    that are not there far more often than it says.  The correction multiplies the variance of the mean by
    1 + J test_over_train for J values.  It was derived for one value per fold; where a value is one
    cross-validation, as in Wang 2021, the same factor is a convention on the safe side.

    References
    ----------
    Nadeau and Bengio, Inference for the generalization error, Machine Learning 52, 2003.
    Bouckaert and Frank, Evaluating the replicability of significance tests for comparing learning algorithms,
    PAKDD 2004.

    Examples
    --------
    >>> from streamsieve.evaluation.significance import paired_t
    >>> saola, osfs = [0.91, 0.93, 0.90, 0.92, 0.94], [0.90, 0.91, 0.90, 0.91, 0.91]
    >>> print(paired_t(saola, osfs))
    mean difference +0.014, t(4) = 2.746, p 0.0516
    >>> print(paired_t(saola, osfs, test_over_train=1 / 4))
    mean difference +0.014, t(4) = 1.830, p 0.1412, corrected for a test/train ratio of 0.25
    """
    a, b = np.asarray(first, np.float64), np.asarray(second, np.float64)
    if a.ndim != 1 or a.shape != b.shape:
        raise InputError(f"paired values must be two rows of equal length; got {a.shape} and {b.shape}")
    t, p = _all_pairs(_checked_runs(np.stack([a, b])), test_over_train)
    return PairedT(float(a.mean() - b.mean()), float(t[0, 1]), len(a) - 1, float(p[0, 1]), test_over_train)


def pairwise_p_values(runs: npt.ArrayLike, *, test_over_train: float = 0.0) -> FloatArray:
    """Return the (method, method) p-values of paired t-tests of (method, run) values, not adjusted."""
    return _all_pairs(_checked_runs(np.asarray(runs, np.float64)), test_over_train)[1]


def _checked_runs(runs: FloatArray) -> FloatArray:
    if runs.ndim != 2 or runs.shape[1] < 2:
        raise InputError(
            f"a paired t-test needs at least 2 runs of every method; got an array of shape {runs.shape}"
        )
    if not np.isfinite(runs).all():
        method, run = (int(i) for i in np.argwhere(~np.isfinite(runs))[0])
        raise InputError(
            f"values must be finite; method {method} has {runs[method, run]} in run {run}: leave out the run "
            "for all methods, or the method"
        )
    return runs


def _all_pairs(runs: FloatArray, test_over_train: float) -> tuple[FloatArray, FloatArray]:
    """Return t and p of all pairs of rows."""
    check_number("test_over_train", test_over_train, low=0)
    n = runs.shape[1]
    sizes = rounding(runs).max(axis=1)
    noise = np.maximum(sizes[:, None], sizes)
    differences = runs[:, None] - runs
    differences[np.abs(differences) <= noise[:, :, None]] = 0.0
    mean = differences.mean(axis=2)
    # equal differences have no variance, though rounding may say so
    deviation = np.where(np.ptp(differences, axis=2) <= noise, 0.0, differences.std(axis=2, ddof=1))
    error = deviation * math.sqrt(1 / n + test_over_train)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(mean == 0, 0.0, mean / error)
    return t, 2 * stdtr(n - 1, -np.abs(t))


@dataclass(frozen=True, eq=False)
class WinTieLoss:
    """How often one method won, tied and lost against others.

    Attributes
    ----------
    control : the method whose wins are counted
    methods : the others
    wins, ties, losses : int64 arrays, one number per other method: data sets on which the control was better,
        not significantly different, worse
    outcomes : (data set, method) int64 array of 1, 0 and -1: won, tied, lost
    alpha : level of the test of each data set; None where single scores were compared as they are
    """

    control: str
    methods: tuple[str, ...]
    outcomes: IntArray
    alpha: float | None

    @property
    def wins(self) -> IntArray:
        """Data sets on which the control was better, for each of the others."""
        return np.asarray((self.outcomes > 0).sum(axis=0), np.int64)

    @property
    def ties(self) -> IntArray:
        """Data sets on which the control was not significantly different, for each of the others."""
        return np.asarray((self.outcomes == 0).sum(axis=0), np.int64)

    @property
    def losses(self) -> IntArray:
        """Data sets on which the control was worse, for each of the others."""
        return np.asarray((self.outcomes < 0).sum(axis=0), np.int64)

    def __str__(self) -> str:
        rows = [
            (f"{self.control} vs {name}", f"{win}/{tie}/{loss}")
            for name, win, tie, loss in zip(
                self.methods, self.wins.tolist(), self.ties.tolist(), self.losses.tolist(), strict=True
            )
        ]
        how = "scores as they are" if self.alpha is None else f"paired t-tests at {self.alpha:g}"
        return f"{text_table(('pair', 'win/tie/loss'), rows)}\n{len(self.outcomes)} data sets, {how}"


def win_tie_loss(
    values: Any,
    methods: Sequence[str],
    control: str,
    *,
    alpha: float = 0.05,
    test_over_train: float = 0.0,
    higher_is_better: bool = True,
) -> WinTieLoss:
    """Count the data sets on which a method is better than others, not significantly different, or worse.

    Parameters
    ----------
    values : for each data set a (method, run) array, with any number of runs; a paired t-test decides.  Or a
        (data set, method) array of single scores, which are compared as they are
    methods : names of the methods
    control : the method whose wins are counted
    alpha : float, default=0.05
        Level of each test, 0 < alpha < 1.
    test_over_train : float, default=0
        As for :func:`paired_t`.
    higher_is_better : bool, default=True
        Whether a high value is good; False for errors and times.

    Examples
    --------
    >>> from streamsieve.evaluation.significance import win_tie_loss
    >>> print(win_tie_loss([[0.9, 0.8], [0.7, 0.7], [0.8, 0.6]], ["SAOLA", "OSFS"], "SAOLA"))
    pair           win/tie/loss
    SAOLA vs OSFS         2/1/0
    3 data sets, scores as they are
    """
    names = check_methods(methods)
    at = check_member(control, names)
    check_number("alpha", alpha, low=0, high=1, open_low=True, open_high=True)
    tables = [as_floats(each, "scores") for each in values]
    single = all(table.ndim == 1 for table in tables)
    if single:
        scores, _ = check_scores(tables, names)
        won = order_of_pairs(scores)[:, at].astype(np.int64)
    else:
        won = np.array([_tested(table, names, at, alpha, test_over_train) for table in tables], np.int64)
    won = won if higher_is_better else -won
    others = [i for i in range(len(names)) if i != at]
    return WinTieLoss(
        control, tuple(names[i] for i in others), won[:, others], None if single else float(alpha)
    )


def _tested(
    runs: FloatArray, names: Sequence[str], at: int, alpha: float, test_over_train: float
) -> IntArray:
    if runs.ndim != 2 or len(runs) != len(names):
        raise InputError(
            f"every data set must have a row of runs for each of {len(names)} methods; got an array of "
            f"shape {runs.shape}"
        )
    t, p = _all_pairs(_checked_runs(runs), test_over_train)
    return np.where(p[at] < alpha, np.sign(t[at]), 0).astype(np.int64)
