"""Tests of correlation with missing values: each column is tested over the rows where it is observed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve._kernels import paired
from streamsieve.decisions import CONSTANT, IRRELEVANT, RELEVANT, UNRELIABLE
from streamsieve.dependence.blocks import CenteredColumns, column_slices, dense_column, with_missing
from streamsieve.dependence.contract import Relevance, RelevanceTest
from streamsieve.dependence.target import contrasts as target_contrasts
from streamsieve.independence.confirmation import Confirmation
from streamsieve.independence.correlation_p_values import p_value_given
from streamsieve.independence.discreteness import with_few_values
from streamsieve.independence.fisher_z import ONLINE_LEVEL, FisherZ
from streamsieve.lazy_p_values import PValues, ReplacedPValues
from streamsieve.protocols import FloatArray, IntArray, Matrix, Reason, Task
from streamsieve.state import Bool, Nested, register

#: With fewer rows a correlation is no evidence.
FEWEST_ROWS = 4


@register
class CompletePairsFisherZ(RelevanceTest):
    """Correlation with a target over the rows where a column is observed (test-wise deletion).

    Parameters
    ----------
    complete : the test of columns without missing values
    observed_classes : whether the test counts only classes that occur in the observed rows, instead of all
    """

    fields = {"complete": Nested(FisherZ, shares=("rows",)), "observed_classes": Bool()}

    def __init__(self, complete: FisherZ, *, observed_classes: bool) -> None:
        self._bind(complete, observed_classes)

    def _bind(self, complete: FisherZ, observed_classes: bool) -> None:  # noqa: FBT001
        #: The test of complete columns.
        self.complete, self.n = complete, complete.n
        #: How p-values are computed.
        self.p_value = complete.p_value
        #: Codes of more than two classes; else nothing.
        self.labels, self.observed_classes = complete.labels, observed_classes

    @property
    def _p_value_of(self) -> Callable[..., FloatArray]:
        return partial(_p_values, way="z" if self.p_value == "z" else "t")

    def measure(self, X: Matrix) -> Relevance:
        """Test every column of a block against the target."""
        missing = with_missing(X)
        if not missing.any():
            return self.complete.measure(X)._replace(columns=())
        m, some, rest = X.shape[1], np.flatnonzero(missing), np.flatnonzero(~missing)
        reason, statistic = np.zeros(m, np.uint8), np.zeros(m)
        freedom, contrasts = np.full(m, self.complete.freedom()), np.full(m, self.complete.n_contrasts)
        reason[some], statistic[some], freedom[some], contrasts[some] = self._observed(X, some)
        p_value = PValues(self._p_value_of, statistic, freedom, contrasts)
        p_value = self._confirmed(X, some, reason, p_value)
        if len(rest):
            found = self.complete.measure(X[:, rest])
            reason[rest], statistic[rest] = found.reason, found.statistic
            if isinstance(found.p_value, PValues):
                p_value = ReplacedPValues(p_value, rest, found.p_value)
        discrete = with_few_values(X) if self.complete.discrete_target else None
        return Relevance(reason, statistic, p_value, discrete=discrete)

    def _confirmed(
        self, X: Matrix, some: IntArray, reason: npt.NDArray[np.uint8], p_value: PValues
    ) -> PValues:
        """Confirm p-values of columns with missing values, each against the target where it is observed."""
        complete = self.complete
        if complete.alpha is None or self.p_value != "confirmed":
            return p_value
        before, level = p_value[some], max(complete.alpha, ONLINE_LEVEL * complete.online)
        looked_at = np.flatnonzero((before <= level) & np.isin(reason[some], (RELEVANT, IRRELEVANT)))
        if not len(looked_at):
            return p_value
        p = np.array([self._confirm(dense_column(X, int(some[j])), before[j]) for j in looked_at.tolist()])
        at = some[looked_at]
        reason[at] = np.where(p <= complete.alpha, RELEVANT, IRRELEVANT)
        return ReplacedPValues(p_value, at, p)

    def _confirm(self, x: FloatArray, p_value: float) -> float:
        seen = ~np.isnan(x)
        x = np.ascontiguousarray(x[seen])
        labels = np.unique(self.labels[seen], return_inverse=True)[1] if len(self.labels) else self.labels
        task = Task.MULTICLASS if len(labels) and labels.max() > 1 else Task.REGRESSION
        y = labels if len(labels) else self.complete.basis[seen, 0]
        many = labels if task is Task.MULTICLASS else labels[:0]
        confirmation = Confirmation(target_contrasts(y.astype(np.float64), task), many)
        centered = x - x[0]
        mean = float(x[0] + centered.mean())
        norm = np.array([np.linalg.norm(centered - centered.mean())])
        column = CenteredColumns(column_slices(x[:, None]), sparse=False, mean=np.array([mean]), norm=norm)
        p = confirmation.p_values(column, np.array([p_value]), exact=self.complete.online)
        return float(p[0])

    def _observed(
        self, X: Matrix, chosen: IntArray
    ) -> tuple[npt.NDArray[np.uint8], FloatArray, IntArray, IntArray]:
        """Return reasons, statistics, degrees of freedom and contrasts of columns with missing values."""
        slices, m = column_slices(X, chosen), len(chosen)
        rows, found_classes, (spread, r) = np.zeros(m, np.int64), np.full(m, 2), np.zeros((2, m))
        if len(self.labels):
            counts = np.bincount(self.labels).astype(np.int64)
            paired.with_classes(*slices, sp.issparse(X), self.labels, counts, rows, spread, r, found_classes)
        else:
            y = np.ascontiguousarray(self.complete.basis[:, 0])
            paired.with_numbers(*slices, sp.issparse(X), y, rows, spread, r, found_classes)
        statistic = r if self.complete.signed else np.abs(r)
        classes = found_classes if self.observed_classes else np.full(m, self.complete.n_contrasts + 1)
        two = 3 if self.p_value == "z" else 2
        freedom, contrasts = rows - np.where(classes == 2, two, classes), classes - 1
        alpha = self.complete.alpha
        significant = True if alpha is None else self._p_value_of(statistic, freedom, contrasts) <= alpha
        reason = np.where(significant, RELEVANT, IRRELEVANT)
        reason = np.where(spread > 0, reason, CONSTANT)
        untestable = (rows < FEWEST_ROWS) | (found_classes < 2) | (rows <= classes)
        freedom[untestable] = 0  # no test: the p-value is 1
        return np.where(untestable, UNRELIABLE, reason).astype(np.uint8), statistic, freedom, contrasts

    def measure_one(self, x: FloatArray) -> tuple[Reason, float, float] | None:
        """Test a single complete column; None if it has missing values."""
        return self.complete.measure_one(x)

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        test = cls.__new__(cls)
        test._bind(**record)  # noqa: SLF001 - its own class
        return test


def _p_values(statistic: FloatArray, freedom: IntArray, contrasts: IntArray, *, way: str) -> FloatArray:
    """Return p-values of correlations whose number of contrasts differs; 1 without a contrast."""
    p_values = np.ones(len(statistic))
    for number in np.unique(contrasts[contrasts > 0]).tolist():
        some = contrasts == number
        p_values[some] = p_value_given(statistic[some], freedom[some], number, way)
    return p_values
