"""Rows in groups within which the target varies: the cluster-robust t test."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from scipy.special import betainc

from streamsieve.independence.dependent_rows.correlation import Conditions, DependentRowsTest
from streamsieve.independence.fisher_z import FisherZ
from streamsieve.protocols import FloatArray, IntArray
from streamsieve.state import Array, Nested, register


@register
class ClusterRobustCorrelation(DependentRowsTest):
    """Correlation of a column with a target over groups of dependent rows; groups are independent.

    The slope b of the target on a column has the cluster-robust variance ``sum_g (u_g / c_g)^2 / S^2``, where
    ``u_g`` is the group's sum of column times residual, ``s_g`` its sum of squares of the column and S their
    total; ``c_g^2 = 1 - s_g / S - h_g`` corrects for the leverage of the column and, ``h_g``, of intercept
    and conditioning set.  The test is t with ``S^2 / sum s_g^2 - 1 - k`` degrees of freedom given k columns:
    few groups, or a column that varies in few of them, need a larger t.  For more than two classes, it is
    Hotelling's test of the slopes of all contrasts between classes.

    Parameters
    ----------
    independent : the test for independent rows
    groups : code of each row's group, 0, 1, 2, ...

    References
    ----------
    Liang, Zeger, Biometrika 73, 1986.  Bell, McCaffrey: Bias reduction in standard errors for linear
    regression with multi-stage samples, Survey Methodology 28, 2002.  Pustejovsky, Tipton: Small-sample
    methods for cluster-robust variance estimation, Journal of Business and Economic Statistics 36, 2018.
    """

    fields = {"independent": Nested(FisherZ, shares=("rows",)), "groups": Array("i8", "rows", codes=True)}

    def __init__(self, independent: FisherZ, groups: IntArray) -> None:
        super().__init__(independent)
        self.groups = groups
        self._sums = sp.csr_array((np.ones(self.n), (groups, np.arange(self.n))))

    def p_values(self, Z: FloatArray, under: Conditions) -> FloatArray:
        """Return p-values of columns, the rows of Z."""
        basis, given = under
        leverage = self._sums @ (1 / self.n + (given**2).sum(axis=1))
        # columns x groups, a row at a time from here on, so that blocks never matter; sums of s are 1
        s = np.ascontiguousarray((self._sums @ (Z * Z).T).T)
        slopes = np.array([(Z * b).sum(axis=1) for b in basis.T])
        room = 1 - s - leverage
        freedom = 1 / (s**2).sum(axis=1) - 1 - given.shape[1]
        scale = np.sqrt(np.where(room > 0, room, 1))
        # of each contrast: sums of column times residual of the target, corrected for leverage
        u = [
            np.ascontiguousarray(((self._sums @ (Z * b).T).T - slope[:, None] * s) / scale)
            for b, slope in zip(basis.T, slopes, strict=True)
        ]
        V = np.array([[(one * other).sum(axis=1) for other in u] for one in u])
        testable = (room.min(axis=1) > 0) & (freedom > basis.shape[1] - 1)
        p_values = np.full(len(Z), np.nan)
        p_values[testable] = _hotelling(slopes.T[testable], V.transpose(2, 0, 1)[testable], freedom[testable])
        return p_values

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        return cls(record["independent"], record["groups"])


def _hotelling(b: FloatArray, V: FloatArray, freedom: FloatArray) -> FloatArray:
    """Return p-values of slopes with estimated covariances of some degrees of freedom.

    One slope: the t test.  NaN if the groups do not show how the slopes vary.
    """
    k, size = b.shape[1], (b**2).sum(axis=1)
    values, vectors = np.linalg.eigh(V)
    # the column explains the target without residual
    exact = values[:, -1] <= size * np.finfo(float).eps ** 2
    unknown = ~exact & (values[:, 0] <= values[:, -1] * 1e-10)
    squares = (vectors * b[:, :, None]).sum(axis=1) ** 2
    statistic = (squares / np.where((exact | unknown)[:, None], 1, values)).sum(axis=1)
    rest = freedom - k + 1  # statistic * rest / (k freedom) has the F distribution with k and rest
    p_values: FloatArray = betainc(rest / 2, k / 2, 1 / (1 + statistic / freedom))
    p_values = np.where(exact, np.where(size > 0, 0.0, 1.0), p_values)
    return np.where(unknown, np.nan, p_values)
