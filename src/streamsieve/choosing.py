"""Choice of a method by a fixed rule, from the shape of the data and the goal of the selection.

========== =============================================== ================== ============
goal       data                                            method             rival to try
========== =============================================== ================== ============
accurate   at most 20,000 columns                          top_k              fast_osfs
accurate   otherwise                                       top_k              saola
smallest   at most 10 classes, at most 20,000 columns      fast_osfs          osfs
smallest   otherwise                                       saola              top_k
fdr        any                                             online_fdr         saola
explain    any                                             interaction_scan   fast_osfs
========== =============================================== ================== ============

``top_k`` tests at level 0.01 and keeps at most 20 columns, or five per class if that is more, but never more
than half of them.

Evidence: ``python -m studies defaults`` compares the rule with fixed choices on real data sets, and reports
separately on the sets that were not used to choose the rule.  Only a scan of pairs detects an exclusive or
(XOR), and only ``OnlineFDR`` bounds the false discovery rate of the kept columns: for independent rows, and
columns that are independent of each other.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from streamsieve._parameters import check_choice
from streamsieve._validation import task_of
from streamsieve.column_types import guessed_types, type_names
from streamsieve.protocols import Task
from streamsieve.registry import selector as selector_of

GOALS = ("smallest", "accurate", "fdr", "explain")
#: Classes beyond which searching conditioning sets takes too long.
MANY_CLASSES = 10
#: Columns beyond which searching conditioning sets takes too long.
MANY_COLUMNS = 20_000
#: Columns that are kept for prediction, at most, unless there are many classes; and the level of their test.
BUDGET, LEVEL = 20, 0.01
#: Columns that are kept for each class, if that is more.
PER_CLASS = 5


@dataclass(frozen=True, kw_only=True)
class Profile:
    """What is known about a data set before a method is chosen.

    Attributes
    ----------
    rows, columns : size of the matrix
    task : type of target
    classes : number of classes; 0 for a numeric target
    types : number of columns of each type, as ``{"numeric": 30}``
    density : proportion of nonzero values, in [0, 1]
    """

    rows: int
    columns: int
    task: Task
    classes: int = 0
    types: dict[str, int] = field(default_factory=dict)
    density: float = 1.0

    @classmethod
    def of(cls, X: Any, y: Any, *, task: str = "auto", types: dict[str, int] | None = None) -> Self:
        """Describe a float matrix, dense or sparse, and its target.

        Parameters
        ----------
        X : (rows, columns) array or SciPy matrix
        y : the target, one value per row
        task : {"auto", "classification", "regression"}, default="auto"
            Type of target, as selectors take it.
        types : number of columns of each type; guessed from the values if None

        Returns
        -------
        Profile
        """
        y, kind = task_of(y, task)
        rows, columns = X.shape
        filled = X.nnz if sp.issparse(X) else np.count_nonzero(X)
        return cls(
            rows=rows,
            columns=columns,
            task=kind,
            classes=0 if kind is Task.REGRESSION else len(np.unique(y)),
            types=dict(Counter(type_names(guessed_types(X)))) if types is None else types,
            density=float(filled) / max(rows * columns, 1),
        )


@dataclass(frozen=True, kw_only=True)
class Choice:
    """A method, why it was chosen, and what to compare it with.

    Attributes
    ----------
    method : name of a selector, as ``streamsieve methods`` lists them
    parameters : arguments of its constructor
    reason : one clause
    rival : name of the method to try next
    """

    method: str
    parameters: dict[str, Any]
    reason: str
    rival: str

    def __str__(self) -> str:
        return f"method {self.method}: {self.reason}; also try {self.rival}"

    def selector(self, **parameters: Any) -> Any:
        """Return the selector; ``parameters`` override those chosen."""
        return selector_of(self.method)(**{**self.parameters, **parameters})


def choose(profile: Profile, goal: str = "accurate") -> Choice:
    """Choose a method by the table of this module.

    Parameters
    ----------
    profile : description of the data; see `Profile.of`
    goal : {"smallest", "accurate", "fdr", "explain"}, default="accurate"
        What the selection is for: as few columns as possible, prediction, a bound on the false discovery
        rate, or every column that takes part, alone or in a pair.

    Returns
    -------
    Choice
    """
    check_choice("goal", goal, GOALS)
    if goal == "fdr":
        reason = "it bounds the false discovery rate of the columns kept, for independent rows and columns"
        return Choice(method="online_fdr", parameters={}, reason=reason, rival="saola")
    if goal == "explain":
        reason = "it finds columns that matter alone or in pairs, and keeps redundant ones"
        return Choice(method="interaction_scan", parameters={}, reason=reason, rival="fast_osfs")
    return _accurate(profile) if goal == "accurate" else _smallest(profile)


def _accurate(profile: Profile) -> Choice:
    # the number of columns is 0 where a source does not know it
    budget = max(BUDGET, PER_CLASS * profile.classes)
    k = min(budget, max(profile.columns // 2, 1)) if profile.columns else budget
    reason = f"it keeps up to {k} column{'s' * (k != 1)}, by relevance and redundancy"
    rival = "fast_osfs" if profile.columns <= MANY_COLUMNS else "saola"
    return Choice(method="top_k", parameters={"k": k, "alpha": LEVEL}, reason=reason, rival=rival)


def _smallest(profile: Profile) -> Choice:
    if profile.classes > MANY_CLASSES:
        reason = f"it is fast with {profile.classes} classes"
        return Choice(method="saola", parameters={}, reason=reason, rival="top_k")
    if profile.columns > MANY_COLUMNS:
        reason = f"it takes {profile.columns:,} columns in one pass"
        return Choice(method="saola", parameters={}, reason=reason, rival="top_k")
    reason = "it drops every column that up to three others make redundant"
    return Choice(method="fast_osfs", parameters={}, reason=reason, rival="osfs")
