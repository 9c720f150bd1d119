"""IAMB and inter-IAMB: the Markov blanket of the target, spouses included."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve._validation import TASKS
from streamsieve.base.offline import OfflineSelector, Why
from streamsieve.column_types import NOMINAL, NUMERIC, ColumnTypes
from streamsieve.decisions import REASON_CODE
from streamsieve.dependence.target import contrasts
from streamsieve.exceptions import ParameterError
from streamsieve.independence import GSquared
from streamsieve.independence.correlation_p_values import p_value_given
from streamsieve.independence.incremental_association import incremental_association
from streamsieve.independence.joint_tables import given_strata, joint_strata
from streamsieve.offline.shared.typed_features import TypedFeatures, refuse_types_of_numbers
from streamsieve.protocols import FloatArray, IntArray, Matrix, Reason, Statistic, Task, Traits
from streamsieve.state import Array, Choice, Float, Int

TESTS = ("auto", "fisher_z", "g2")
P_VALUES = ("auto", "moments", "chi2")
#: Share of a column's variance below which it is a function of what is given.
COLLINEAR = 1e-10


class GivenBlanket(ABC):
    """Tests of features and the target given all members of a blanket but themselves."""

    @abstractmethod
    def tested(self, features: list[int], given: list[int]) -> tuple[FloatArray, FloatArray]:
        """Return statistics and p-values of features given others."""


class ByTables(GivenBlanket):
    """Tests within the joint levels of the blanket."""

    def __init__(self, X: Matrix, test: GSquared) -> None:
        X = sp.csc_array(X) if sp.issparse(X) else X
        self._test, p = test, X.shape[1]
        self._codes = test.encode(test.pieces(X), np.arange(p), np.arange(test.n), test.n).astype(np.int64)

    def tested(self, features: list[int], given: list[int]) -> tuple[FloatArray, FloatArray]:
        """Count one table per feature."""
        strata = joint_strata(self._codes[given], self._test.n)
        found = [given_strata(self._test, self._codes[j], strata) for j in features]
        statistic, p_value = np.array(found).reshape(-1, 2).T
        return statistic, p_value


class ByCorrelation(GivenBlanket):
    """Tests of partial correlations, or of partial correlation ratios with more than two classes."""

    def __init__(self, X: Matrix, y: npt.NDArray[Any], task: Task) -> None:
        dense = X.toarray() if sp.issparse(X) else np.asarray(X)
        centered = dense - dense[0]
        centered = centered - centered.mean(axis=0)
        norm = np.sqrt(np.einsum("ij,ij->j", centered, centered))
        self._columns = centered / np.where(norm > 0, norm, 1.0)
        self._target = contrasts(y, task)

    def tested(self, features: list[int], given: list[int]) -> tuple[FloatArray, FloatArray]:
        """Compare what the blanket leaves of the features with what it leaves of the target."""
        columns, target = self._columns[:, features], self._target
        known = _orthonormal(self._columns[:, given])
        for _ in range(2):  # the second time removes what rounding left
            columns, target = columns - known @ (known.T @ columns), target - known @ (known.T @ target)
        left = np.einsum("ij,ij->j", columns, columns)
        products = _orthonormal(target).T @ columns
        explained = np.einsum("ij,ij->j", products, products)
        r = np.sqrt(np.where(left > COLLINEAR, explained / np.where(left > COLLINEAR, left, 1.0), 0.0))
        r = np.minimum(r, 1.0)
        width = self._target.shape[1]
        freedom = np.full(len(r), len(target) - known.shape[1] - width - 1)
        return r, p_value_given(r, freedom, width)


def _orthonormal(columns: FloatArray) -> FloatArray:
    """Return an orthonormal basis of some columns; those that vanish are left out."""
    if not columns.shape[1]:
        return columns
    U, size, _ = np.linalg.svd(columns, full_matrices=False)
    basis: FloatArray = U[:, size > np.sqrt(COLLINEAR)]
    return basis


class BlanketSelector(TypedFeatures):
    """What IAMB and inter-IAMB share: parameters, tests and steps; it stands before `OfflineSelector`."""

    #: Whether members are tested again after every feature that joins, or once at the end.
    _interleaved: ClassVar[bool]
    _statistic = Statistic("absolute correlation", with_types="one test")
    parameters = {
        "alpha": Float(0, 1, open_low=True, open_high=True),
        "test": Choice(*TESTS),
        "p_value": Choice(*P_VALUES),
        "bins": Int(2, 1024),
        "task": Choice(*TASKS),
        **OfflineSelector.parameters,
    }
    fields = {
        **OfflineSelector.fields,
        "scores_": Array("f8", "features", finite=True),
        "pvalues_": Array("f8", "features", low=0, high=1),
    }

    def __init__(
        self,
        alpha: float = 0.01,
        *,
        test: str = "auto",
        p_value: str = "auto",
        bins: int = 5,
        types: ColumnTypes = None,
        task: str = "auto",
        ledger: str = "all",
    ) -> None:
        self.alpha = alpha
        self.test = test
        self.p_value = p_value
        self.bins = bins
        self.types = types
        self.task = task
        self.ledger = ledger

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """Yield both tests."""
        yield cls()
        yield cls(alpha=0.05, test="g2")

    @property
    def traits(self) -> Traits:
        """What it can do with its test: correlation knows no names."""
        return replace(self._traits, text=self.test != "fisher_z")

    def _check_together(self) -> None:
        refuse_types_of_numbers(self.types, self.test)
        if self.test != "g2" and self.p_value != "auto":
            raise ParameterError(
                f"p_value={self.p_value!r} goes with test='g2': correlations take p_value='auto'"
            )

    def _by_tables(self, task: Task) -> bool:
        """Whether features are compared by tables."""
        if self.test != "auto":
            return self.test == "g2"
        types = {*self._types_.tolist()}
        return NOMINAL in types or (task is not Task.REGRESSION and NUMERIC not in types)

    def _choose(self, X: Matrix, y: npt.NDArray[Any], wanted: int) -> IntArray:  # noqa: ARG002 - it decides itself
        task = Task(self.task_)
        by_tables = self._by_tables(task)
        tests: GivenBlanket
        if by_tables:
            tests = ByTables(X, GSquared(y, task, self.alpha, bins=self.bins, p_value=self.p_value))
        else:
            tests = ByCorrelation(X, y, task)
        self.scores_, self.pvalues_ = tests.tested([*range(X.shape[1])], [])
        blanket = incremental_association(
            range(X.shape[1]), tests.tested, self.alpha,
            interleaved=self._interleaved, by_statistic=not by_tables,
        )  # fmt: skip
        return np.array(blanket, np.int64)

    def _why(self) -> Why:
        relevant = self.pvalues_ <= self.alpha
        reason = np.where(relevant, REASON_CODE[Reason.REDUNDANT], REASON_CODE[Reason.IRRELEVANT])
        return Why(reason.astype(np.uint8), self.scores_.copy(), self.pvalues_.copy())


class IAMB(BlanketSelector, OfflineSelector):
    """IAMB (incremental association): the Markov blanket of the target in a Bayesian network.

    Features join the blanket while the most associated one, given all members, is significant; then members
    that are independent of y given all others leave.  A child's other parent (spouse), which may be
    independent of y by itself, joins after the child.

    Parameters
    ----------
    alpha : float, default=0.01
        Significance level of every test, in (0, 1), for independent rows; there is no correction for multiple
        testing.
    test : {"auto", "fisher_z", "g2"}, default="auto"
        One test for all features: partial correlation by t (F for more than two classes), or contingency
        tables within the joint levels of the blanket.  "auto" is "g2" if all features have levels and y is
        classes, or if some feature is nominal, else "fisher_z".  p-values of "fisher_z" are too small if
        column and target are both skewed: .033 at level .01 for counts with many zeros and a class of 5 %
        (``python -m studies.calibration.promises``); take "g2" there.
    p_value : {"auto", "moments", "chi2"}, default="auto"
        For "g2": p-values by permutation moments of Pearson's statistic, the default, or by the limiting
        chi-squared distribution of G, which is liberal in sparse tables; see ``GSquared``.
    bins : int, default=5
        For "g2": number of equal-frequency bins for features with more than 32 distinct values, in [2, 1024].
        Whole numbers that repeat keep their levels, see docs/column_types.md.
    types : dict of str to str, str or None, default=None
        For "auto" and "g2": types of features by name, as ``{"zip": "nominal"}``, or one type for all:
        "numeric", "ordinal", "nominal" or "binary".  Other types are inferred from the dtype or guessed.
    task : {"auto", "classification", "regression"}, default="auto"
        Type of target; "auto" infers it: fractional numbers, or more than 20 distinct whole numbers with
        fewer than 10 rows each, mean regression, anything else classification.
    ledger : {"all", "kept", "none"}, default="all"
        Which decisions to record.

    Attributes
    ----------
    scores_ : float64 array, one per feature: the statistic given nothing (absolute correlation or correlation
        ratio; G)
    pvalues_ : float64 array, one per feature: the p-value of that test
    selected_ : columns of the selected features, in column order
    ranked_ : the same columns, in the order they joined
    ledger_ : one decision per feature
    task_ : "binary", "multiclass" or "regression"

    Notes
    -----
    **Formula.** While the smallest ``p(f, y | B) <= alpha`` over features outside the blanket B, f joins;
    then each g with ``p(g, y | B - g) > alpha`` leaves.

    **When it fails.** Every test conditions on the whole blanket, so that rows run out as it grows. Assumes
    faithfulness; pairs that are informative only jointly are not found unless one of them joins for another
    reason.

    Of several features the one with the smallest p-value is the most associated, then the one with the
    largest statistic, then the first.  The paper ranks by conditional mutual information, whose estimate is
    biased toward columns with many levels.

    References
    ----------
    Tsamardinos, Aliferis, Statnikov: Algorithms for large scale Markov blanket discovery, FLAIRS 2003.

    Examples
    --------
    >>> import numpy as np, streamsieve as ss
    >>> rng = np.random.default_rng(0)
    >>> y, spouse, noise = rng.normal(size=(3, 500))
    >>> child = y + spouse + rng.normal(size=500)
    >>> ss.IAMB().fit(np.c_[spouse, noise, child], y).selected_
    array([0, 2])
    """

    _interleaved: ClassVar[bool] = False


class InterIAMB(BlanketSelector, OfflineSelector):
    """Inter-IAMB: the Markov blanket of the target, pruned after every feature that joins.

    As :class:`IAMB`, but members that became independent of y given all others leave at once, so that the
    blanket stays small and tests keep their power.

    Parameters
    ----------
    alpha : float, default=0.01
        Significance level of every test, in (0, 1), for independent rows; there is no correction for multiple
        testing.
    test : {"auto", "fisher_z", "g2"}, default="auto"
        One test for all features: partial correlation by t (F for more than two classes), or contingency
        tables within the joint levels of the blanket.  "auto" is "g2" if all features have levels and y is
        classes, or if some feature is nominal, else "fisher_z".  p-values of "fisher_z" are too small if
        column and target are both skewed: .033 at level .01 for counts with many zeros and a class of 5 %
        (``python -m studies.calibration.promises``); take "g2" there.
    p_value : {"auto", "moments", "chi2"}, default="auto"
        For "g2": p-values by permutation moments of Pearson's statistic, the default, or by the limiting
        chi-squared distribution of G, which is liberal in sparse tables; see ``GSquared``.
    bins : int, default=5
        For "g2": number of equal-frequency bins for features with more than 32 distinct values, in [2, 1024].
        Whole numbers that repeat keep their levels, see docs/column_types.md.
    types : dict of str to str, str or None, default=None
        For "auto" and "g2": types of features by name, as ``{"zip": "nominal"}``, or one type for all:
        "numeric", "ordinal", "nominal" or "binary".  Other types are inferred from the dtype or guessed.
    task : {"auto", "classification", "regression"}, default="auto"
        Type of target; "auto" infers it: fractional numbers, or more than 20 distinct whole numbers with
        fewer than 10 rows each, mean regression, anything else classification.
    ledger : {"all", "kept", "none"}, default="all"
        Which decisions to record.

    Attributes
    ----------
    scores_, pvalues_ : float64 arrays, one number per feature: the test given nothing
    selected_ : columns of the selected features, in column order
    ranked_ : the same columns, in the order they joined
    ledger_ : one decision per feature
    task_ : "binary", "multiclass" or "regression"

    Notes
    -----
    **Formula.** As :class:`IAMB`, where each g in the blanket B with ``p(g, y | B - g) > alpha`` leaves after
    every feature that joins.

    **When it fails.** As for :class:`IAMB`: tests lose power as the blanket grows, only more slowly.

    Features are ranked by p-value, as in :class:`IAMB`; the paper ranks by conditional mutual information.

    References
    ----------
    Tsamardinos, Aliferis, Statnikov: Algorithms for large scale Markov blanket discovery, FLAIRS 2003.

    Examples
    --------
    >>> import numpy as np, streamsieve as ss
    >>> rng = np.random.default_rng(0)
    >>> y, spouse, noise = rng.normal(size=(3, 500))
    >>> child = y + spouse + rng.normal(size=500)
    >>> ss.InterIAMB().fit(np.c_[spouse, noise, child], y).selected_
    array([0, 2])
    """

    _interleaved: ClassVar[bool] = True
