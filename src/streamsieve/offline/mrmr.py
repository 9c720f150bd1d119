"""mRMR: minimum redundancy, maximum relevance."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from streamsieve._validation import TASKS
from streamsieve.base.offline import OfflineSelector, Why
from streamsieve.column_types import ColumnTypes
from streamsieve.exceptions import ParameterError
from streamsieve.offline.shared.discrete import CodedFeatures
from streamsieve.offline.shared.ranking import first_best
from streamsieve.offline.shared.standardized import CorrelatedFeatures
from streamsieve.offline.shared.typed_features import TypedFeatures
from streamsieve.protocols import FloatArray, IntArray, Matrix, Task, Traits
from streamsieve.state import Array, Choice, Int

SCHEMES = ("mid", "miq", "fcd", "fcq")
#: Added to the redundancy in a quotient, as it may be 0.
EPSILON = 1e-12

#: Function from a chosen feature and the remaining ones to their redundancy.
Redundancy = Callable[[int, IntArray], FloatArray]


class MRMR(TypedFeatures, OfflineSelector):
    """Minimum redundancy maximum relevance (mRMR): features chosen greedily.

    The first feature is the most relevant one.  Each next one has the best balance of its relevance and its
    mean redundancy with those chosen before.

    Parameters
    ----------
    k : int or None, default=None
        Number of features to keep, at least 1.  If None, 10, or all if there are fewer.
    scheme : {"mid", "miq", "fcd", "fcq"}, default="mid"
        "mi": relevance and redundancy are mutual information of codes, in nats.  "fc": relevance is the F
        statistic, redundancy the absolute correlation.  "d": relevance minus redundancy; "q": their quotient.
    bins : int, default=5
        For "mi": number of equal-frequency bins for features with more than 32 distinct values, in [2, 1024].
        Whole numbers that repeat keep their levels, see docs/column_types.md.
    types : dict of str to str, str or None, default=None
        For "mi": types of features by name, as ``{"zip": "nominal"}``, or one type for all: "numeric",
        "ordinal", "nominal" or "binary"; nominal features keep their levels, numeric ones are cut into bins.
        Other types are inferred from the dtype or guessed, see docs/column_types.md.
    task : {"auto", "classification", "regression"}, default="auto"
        Type of target; "auto" infers it: fractional numbers, or more than 20 distinct whole numbers with
        fewer than 10 rows each, mean regression, anything else classification.  For "mi" a
        numeric target is cut into five classes of equal frequency.
    ledger : {"all", "kept", "none"}, default="all"
        Which decisions to record: on all features, on the selected ones, or none.

    Attributes
    ----------
    selected_ : columns of the selected features, in column order
    ranked_ : the same columns, in the order they were chosen
    relevance_ : float64 array, one per feature: information or F with the target
    objective_ : float64 array, one per feature of ``ranked_``: its balance when it was chosen
    column_types_ : types of the features by name
    ledger_ : one decision per feature: why it was kept or rejected
    task_ : "binary", "multiclass" or "regression"

    Notes
    -----
    **Formula.** Next is the feature of largest ``relevance(f, y) - (1 / |S|) sum over S of redundancy(f, g)``
    ("mid", "fcd"), or of the quotient of the two ("miq", "fcq"), where S is the set chosen so far.

    **When it fails.** k features are chosen whether or not they are informative. Relevance is that of single
    features and redundancy pairwise, so that joint effects are not seen.

    Redundancies are summed as features are chosen, so each step costs one comparison per feature left.  Of
    equals the first is chosen.  Constant features always come last.

    "fcd" subtracts a correlation, at most 1, from an F that grows with the rows: with many, it ranks by F.
    "fcq" and "miq" divide by the redundancy plus 1e-12, so a feature unrelated to all chosen ones wins even
    if uninformative.  scikit-feature's ``mrmr`` is "mid", but without a number of features it stops at the
    first negative balance.  mrmr_selection is "fcq" with redundancies of at least 0.001.

    References
    ----------
    Ding and Peng, Minimum redundancy feature selection from microarray gene expression data, 2005; Peng,
    Long and Ding, TPAMI 27, 2005, whose program looks at the 1000 most relevant features only.

    Examples
    --------
    >>> import numpy as np, streamsieve as ss
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 400)
    >>> dose = y + 0.5 * rng.normal(size=400)
    >>> X = np.c_[dose, dose, y + rng.normal(size=400), rng.normal(size=400)]
    >>> ss.MRMR(k=2).fit(X, y).selected_  # not the copy
    array([0, 2])
    """

    _traits = Traits(size_parameter="k", nested_sizes=True)

    parameters = {
        "k": Int(1, optional=True),
        "scheme": Choice(*SCHEMES),
        "bins": Int(2, 1024),
        "task": Choice(*TASKS),
        **OfflineSelector.parameters,
    }
    fields = {
        **OfflineSelector.fields,
        "relevance_": Array("f8", "features", finite=True),
        "objective_": Array("f8", "selected", finite=True),
    }

    def __init__(
        self,
        k: int | None = None,
        *,
        scheme: str = "mid",
        bins: int = 5,
        types: ColumnTypes = None,
        task: str = "auto",
        ledger: str = "all",
    ) -> None:
        self.k = k
        self.scheme = scheme
        self.bins = bins
        self.types = types
        self.task = task
        self.ledger = ledger

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """Each scheme, and a numeric target."""
        for scheme in ("mid", "fcd", "fcq"):
            yield cls(scheme=scheme)
        yield cls(scheme="miq", bins=3, task="regression")

    @property
    def traits(self) -> Traits:
        """What it can do with its scheme: only information knows names."""
        return replace(self._traits, text=str(self.scheme).startswith("mi"))

    def _check_together(self) -> None:
        if self.types is not None and not self.scheme.startswith("mi"):
            raise ParameterError(
                f"types={self.types!r} does not go with scheme={self.scheme!r}, which takes all features for "
                "numbers: take scheme='mid' or 'miq'"
            )

    def _choose(self, X: Matrix, y: npt.NDArray[Any], wanted: int) -> IntArray:
        task = Task(self.task_)
        everything = np.arange(X.shape[1])
        if self.scheme.startswith("mi"):
            coded = CodedFeatures(X, y, task, self.bins)
            relevance, varies = coded.information(coded.target, everything), coded.levels > 1
            redundancy: Redundancy = coded.redundancy
        else:
            features = CorrelatedFeatures(X, y, task)
            relevance, varies, redundancy = features.f(), features.varies, features.correlations
        self.relevance_ = np.where(varies, relevance, 0.0)
        order, objective = balanced(
            self.relevance_, np.flatnonzero(varies), wanted, redundancy, quotient=self.scheme.endswith("q")
        )
        last = np.flatnonzero(~varies)[: wanted - len(order)]
        self.objective_ = np.concatenate([objective, np.zeros(len(last))])
        return np.concatenate([order, last])

    def _why(self) -> Why:
        return super()._why()._replace(statistic=self.relevance_.copy())


def balanced(
    relevance: FloatArray, left: IntArray, wanted: int, redundancy: Redundancy, *, quotient: bool
) -> tuple[IntArray, FloatArray]:
    """Return up to ``wanted`` of the columns ``left`` in the order of their balance, and that balance."""
    order: list[int] = []
    objective: list[float] = []
    total, value = np.zeros(len(left)), relevance[left]
    while len(order) < wanted and len(left):
        # a balance of large numbers may be small
        at = first_best(value, abs(float(value.max())) + (0.0 if quotient else float(total.max())))
        order.append(int(left[at]))
        objective.append(float(value[at]))
        left, total = np.delete(left, at), np.delete(total, at)
        if len(order) == wanted or not len(left):
            break
        total += redundancy(order[-1], left)
        mean = total / len(order)
        value = relevance[left] / (mean + EPSILON) if quotient else relevance[left] - mean
    return np.array(order, np.int64), np.array(objective)
