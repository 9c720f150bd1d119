"""HITON-PC: features that no subset of the others renders conditionally independent of the target."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from streamsieve._validation import TASKS
from streamsieve.base.offline import OfflineSelector, Why
from streamsieve.column_types import BINARY, NUMERIC, ORDINAL, ColumnTypes
from streamsieve.decisions import REASON_CODE
from streamsieve.independence import FisherZ
from streamsieve.independence.by_type import relevance_by_type
from streamsieve.independence.contingency_test import DEGREES, RELIABLE
from streamsieve.independence.p_values import CHOICES, OF_CORRELATIONS, OF_TABLES, check_p_value
from streamsieve.offline.shared.separating_sets import (
    LARGEST_SET,
    TABLE_TESTS,
    Alone,
    ByCorrelation,
    ByTables,
    ByType,
    Separation,
)
from streamsieve.offline.shared.typed_features import TypedFeatures, refuse_types_of_numbers
from streamsieve.protocols import IntArray, Matrix, Reason, Statistic, Task, Traits
from streamsieve.state import Array, Choice, Float, Int

TESTS = ("auto", "fisher_z", *TABLE_TESTS)
UNRELIABLE = ("independent", "skip")


class HITONPC(TypedFeatures, OfflineSelector):
    """HITON-PC: the parents and children of the target in a Bayesian network.

    Features that are associated with y are processed by decreasing association.  Each joins the set PC; it
    and every other member are removed if some small subset of the others renders them conditionally
    independent of y.  For data of a Bayesian network, the parents and children of the target remain.

    Parameters
    ----------
    alpha : float, default=0.01
        Significance level of every test, in (0, 1), for independent rows; there is no correction for multiple
        testing.
    test : {"auto", "fisher_z", "g2", "chi2"}, default="auto"
        "auto" chooses by the types of the features: "fisher_z" if all are numbers, "g2" if all have levels,
        else the tests of mixed types, see docs/column_types.md.  The others treat all features alike: partial
        correlation, or tables of levels by likelihood ratio or Pearson's statistic; see
        ``streamsieve.independence``.
    max_conditioning : int, default=3
        Maximum size of a conditioning set, in [0, 3].
    degrees : {"strata", "nominal", "zero_cells"}, default="strata"
        For tables: how degrees of freedom are counted; see ``GSquared``.
    reliable : {"occupied", "nominal"}, default="occupied"
        For tables: when a table has enough rows; see ``GSquared``.
    unreliable : {"skip", "independent"}, default="skip"
        How to treat a test with too few rows: skip the conditioning set, or accept independence.
    p_value : {"auto", "confirmed", "t", "z", "moments", "chi2"}, default="auto"
        How p-values are computed; must be available for the test.  Correlations: "t" is Student's t (F for
        more than two classes), exact if y or the column is normal.  "confirmed", the default, is t, but if
        both are skewed or heavy-tailed its permutation p-value or, over many rows, the larger of t and a test
        of normal scores, and Fisher's exact test for small 2 x 2 tables; see ``FisherZ``.  "z" is Fisher's
        transformation, as in the papers: liberal at small levels.
        Tables: "moments", the default, takes the mean and variance of Pearson's statistic over all
        permutations, and Fisher's exact test for small 2 x 2 tables; see ``GSquared``.  "chi2" is the
        limiting chi-squared distribution, as in the papers: liberal in sparse tables.
    bins : int, default=5
        For tables: number of equal-frequency bins for features with more than 32 distinct values, in [2,
        1024]. Whole numbers that repeat keep their levels, see docs/column_types.md.
    types : dict of str to str, str or None, default=None
        For "auto" and tables: types of features by name, as ``{"zip": "nominal"}``, or one type for all:
        "numeric", "ordinal", "nominal" or "binary".  Other types are inferred from the dtype or guessed.
    task : {"auto", "classification", "regression"}, default="auto"
        Type of target; "auto" infers it: fractional numbers, or more than 20 distinct whole numbers with
        fewer than 10 rows each, mean regression, anything else classification.
    ledger : {"all", "kept", "none"}, default="all"
        Which decisions to record: on all features, on the selected ones, or none.

    Attributes
    ----------
    scores_ : float64 array, one per feature: the statistic of the test given nothing (absolute correlation,
        or correlation ratio for more than two classes; G2 or chi-squared; of mixed types the strength on the
        scale of a correlation)
    pvalues_ : float64 array, one per feature: the p-value of that test
    selected_ : columns of the selected features, in column order
    ranked_ : the same columns, the most associated first
    separated_by_ : int64 array (features, 3): the set that made a feature independent of y, -1 where there is
        none or it is smaller
    ledger_ : one decision per feature: why it was kept or rejected
    task_ : "binary", "multiclass" or "regression"

    Notes
    -----
    **Formula.** Feature f is a neighbor of y if no set Z of at most ``max_conditioning`` members has ``p(f, y
    | Z) > alpha``.

    **When it fails.** Assumes faithfulness and enough rows for the conditional tests. Spouses are not
    neighbors and are not found; neither are features that are informative only jointly.

    Association is correlation, or for tables the p-value and then the statistic; of equals the first column
    comes first.  A newcomer is tested given all sets of members.  If it stays, each older member, the latest
    first, is tested given the sets that contain the newcomer; sets without it were tried before, which is why
    the paper's final backward pass would find nothing new, and is left out.

    PC may keep a feature that is neither parent nor child: one that is separated only by sets with a feature
    that was
    removed.  The symmetry correction for that needs a run for every member, and is not part of HITON-PC.
    Unlike :class:`FastOSFS`, which processes columns in order of arrival, the strongest come first here.

    References
    ----------
    Aliferis, Tsamardinos and Statnikov, HITON, AMIA 2003; Aliferis, Statnikov, Tsamardinos, Mani and
    Koutsoukos, Local causal and Markov blanket induction, JMLR 11, 2010.

    Examples
    --------
    >>> import numpy as np, streamsieve as ss
    >>> rng = np.random.default_rng(0)
    >>> cause, noise = rng.normal(size=(2, 500))
    >>> dose = cause + rng.normal(size=500)
    >>> y = dose + rng.normal(size=500)
    >>> sieve = ss.HITONPC().fit(np.c_[cause, noise, dose], y)
    >>> sieve.selected_, sieve.separated_by_[0]
    (array([2]), array([ 2, -1, -1]))
    """

    _statistic = Statistic("absolute correlation", with_types="one test")
    parameters = {
        "alpha": Float(0, 1, open_low=True, open_high=True),
        "test": Choice(*TESTS),
        "max_conditioning": Int(0, LARGEST_SET),
        "degrees": Choice(*DEGREES),
        "reliable": Choice(*RELIABLE),
        "unreliable": Choice(*UNRELIABLE),
        "p_value": Choice(*CHOICES),
        "bins": Int(2, 1024),
        "task": Choice(*TASKS),
        **OfflineSelector.parameters,
    }
    fields = {
        **OfflineSelector.fields,
        "scores_": Array("f8", "features", finite=True),
        "pvalues_": Array("f8", "features", low=0, high=1),
        "separated_by_": Array("i8", "features", LARGEST_SET, low=-1),
    }

    def __init__(
        self,
        alpha: float = 0.01,
        *,
        test: str = "auto",
        max_conditioning: int = 3,
        degrees: str = "strata",
        reliable: str = "occupied",
        unreliable: str = "skip",
        p_value: str = "auto",
        bins: int = 5,
        types: ColumnTypes = None,
        task: str = "auto",
        ledger: str = "all",
    ) -> None:
        self.alpha = alpha
        self.test = test
        self.max_conditioning = max_conditioning
        self.degrees = degrees
        self.reliable = reliable
        self.unreliable = unreliable
        self.p_value = p_value
        self.bins = bins
        self.types = types
        self.task = task
        self.ledger = ledger

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """Each test, smaller sets, and the other rule for unreliable tests."""
        yield cls(test="fisher_z")
        yield cls(test="g2")
        yield cls(alpha=0.05, test="chi2", max_conditioning=1, unreliable="independent")
        yield cls()

    @property
    def traits(self) -> Traits:
        """What it can do with its test: correlation knows no names."""
        return replace(self._traits, text=self.test != "fisher_z")

    def _check_together(self) -> None:
        check_p_value(self.p_value, "test", self.test)
        refuse_types_of_numbers(self.types, self.test)

    def _choose(self, X: Matrix, y: npt.NDArray[Any], wanted: int) -> IntArray:  # noqa: ARG002 - it decides itself
        store = self._store(X, y, Task(self.task_))
        self.scores_, self.pvalues_ = store.alone.statistic, store.alone.p_value
        self.separated_by_ = np.full((X.shape[1], LARGEST_SET), -1)
        kept: list[int] = []
        for feature in _by_association(store.alone):
            store.enter(feature)
            members = [*kept, feature]
            for place in range(len(members) - 1, -1, -1):
                found = store.separating(place)
                if found is None:
                    continue
                self.separated_by_[members[place], : len(found)] = sorted(members[i] for i in found)
                store.leave(place)
                if place == len(members) - 1:
                    break  # the newcomer is gone, and with it all sets that were not examined
            kept = store.features()
        return np.array(kept, np.int64)

    def _why(self) -> Why:
        redundant = self.separated_by_[:, 0] >= 0
        reason = np.where(redundant, REASON_CODE[Reason.REDUNDANT], REASON_CODE[Reason.IRRELEVANT])
        by = {
            j: tuple(i for i in self.separated_by_[j].tolist() if i >= 0)
            for j in np.flatnonzero(redundant).tolist()
        }
        return Why(reason.astype(np.uint8), self.scores_.copy(), self.pvalues_.copy(), by)

    def _consistent(self) -> Iterator[str]:
        yield from super()._consistent()
        if np.any(self.separated_by_ >= self.n_features_in_):
            yield "a feature was separated by none of the features"

    def _store(self, X: Matrix, y: npt.NDArray[Any], task: Task) -> Separation:
        most, skip = self.max_conditioning, self.unreliable == "skip"
        test = self._chosen_test(task)
        if test == "auto":
            by_type = relevance_by_type(
                y, task, self.alpha, self.p_value, self.bins, comparable=True, degrees=self.degrees,
                reliable=self.reliable,
            )  # fmt: skip
            return ByType(X, self._types_.astype(np.int64), by_type, most=most, skip=skip)
        if test == "fisher_z":
            p_value = self.p_value if self.p_value in OF_CORRELATIONS else "auto"
            return ByCorrelation(X, FisherZ(y, task, self.alpha, p_value=p_value), most=most, skip=skip)
        p_value = self.p_value if self.p_value in OF_TABLES else "auto"
        tables = TABLE_TESTS[test](y, task, self.alpha, self.degrees, self.bins, self.reliable, p_value)
        return ByTables(X, tables, most=most, skip=skip)

    def _chosen_test(self, task: Task) -> str:
        """Return the test for features of one kind, or "auto" for mixed types."""
        if self.test != "auto":
            return self.test
        types = {*self._types_.tolist()}
        if task is not Task.REGRESSION and NUMERIC not in types:
            return "g2"
        numbers = {NUMERIC, BINARY} if task is not Task.REGRESSION else {NUMERIC, BINARY, ORDINAL}
        return "fisher_z" if types <= numbers else "auto"


def _by_association(alone: Alone) -> list[int]:
    """Return the relevant features, the most associated first.

    Numbers are compared by their first nine digits: sums in another order differ in the last ones.
    """
    columns = np.flatnonzero(alone.relevant)
    rank, statistic = (
        np.array([float(f"{v:.9e}") for v in values[columns].tolist()])
        for values in (alone.rank, alone.statistic)
    )
    return columns[np.lexsort((columns, -statistic, rank))].tolist()  # type: ignore[no-any-return]
