"""The table of groups: which combinations of a screen and a learner perform alike on one data set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from streamsieve._parameters import check_number
from streamsieve.evaluation.significance.paired import pairwise_p_values
from streamsieve.evaluation.significance.scores import as_floats, check_member, text_table
from streamsieve.exceptions import InputError, ParameterError
from streamsieve.protocols import BoolArray, FloatArray, IntArray

#: A method, or a screen and a learner.
Name: TypeAlias = str | tuple[str, str]


@dataclass(frozen=True, eq=False)
class Groups:
    """Combinations in groups that are not significantly different.

    Attributes
    ----------
    names : combinations, best first
    means : float64 array: their mean performance, in that order
    groups : (first place, last place) of every group, from the top tier down; groups overlap
    tiers : int64 array: the best tier that every combination is in, from 1
    alpha : level of the paired t-tests
    test_over_train : ratio of their correction; 0 for plain ones
    """

    names: tuple[Name, ...]
    means: FloatArray
    groups: tuple[tuple[int, int], ...]
    tiers: IntArray
    alpha: float
    test_over_train: float

    def tier(self, name: Name) -> int:
        """Return the best tier that a combination is in."""
        if name in self.names:
            return int(self.tiers[self.names.index(name)])
        texts = [label(each) for each in self.names]
        return int(self.tiers[check_member(label(name), texts)])

    def __str__(self) -> str:
        columns = [str(tier) for tier in range(1, len(self.groups) + 1)]
        rows = [
            (
                label(name),
                f"{mean:.4f}",
                *("x" if first <= place <= last else "" for first, last in self.groups),
            )
            for place, (name, mean) in enumerate(zip(self.names, self.means.tolist(), strict=True))
        ]
        how = f", corrected with {self.test_over_train:.3g}" if self.test_over_train else ""
        return f"{text_table(('combination', 'mean', *columns), rows)}\npaired t-tests at {self.alpha:g}{how}"


def label(name: Name) -> str:
    """Return a combination as text."""
    return name if isinstance(name, str) else " + ".join(name)


def table_of_groups(
    runs: npt.ArrayLike,
    names: Sequence[Name],
    *,
    alpha: float = 0.05,
    test_over_train: float = 0.0,
    higher_is_better: bool = True,
) -> Groups:
    """Put combinations that are not significantly different into groups.

    Combinations are sorted, best first.  From each one, F, down to the last one that a paired t-test does not
    tell apart from F, all are in a group, even those between that differ significantly: the relation is not
    transitive.  A group within an earlier one is left out; the t-th that stays is tier t.

    Parameters
    ----------
    runs : (combination, run) array: performance at each combination's best number of features
    names : for each combination a name, or a pair of names (screen, learner)
    alpha : float, default=0.05
        Level of each test, 0 < alpha < 1.
    test_over_train : float, default=0
        Rows tested over rows trained on, to correct the tests (:func:`paired_t`); 0 is the thesis's way.
    higher_is_better : bool, default=True
        Whether a high value is good; False for errors.

    References
    ----------
    Wang, Online and offline feature screening and applications, thesis, Florida State University, 2021,
    section 2.7.  It leaves open what a tier is where groups overlap; here a group counts if it is not within
    an earlier one.

    Examples
    --------
    >>> from streamsieve.evaluation.significance import table_of_groups
    >>> runs = [[0.90, 0.92, 0.91, 0.90], [0.91, 0.90, 0.89, 0.90],
    ...         [0.88, 0.89, 0.89, 0.87], [0.7, 0.6, 0.7, 0.6]]
    >>> names = [("relief", "svm"), ("relief", "tree"), ("none", "tree"), ("none", "svm")]
    >>> print(table_of_groups(runs, names))
    combination      mean  1  2  3
    relief + svm   0.9075  x
    relief + tree  0.9000  x  x
    none + tree    0.8825     x
    none + svm     0.6500        x
    paired t-tests at 0.05
    """
    check_number("alpha", alpha, low=0, high=1, open_low=True, open_high=True)
    table = np.atleast_1d(as_floats(runs, "runs"))
    known = _checked_names(names, len(table))
    p_values = pairwise_p_values(table, test_over_train=test_over_train)
    means = table.mean(axis=1)
    order = np.argsort(-means if higher_is_better else means, kind="stable")
    groups = _groups(p_values[np.ix_(order, order)] >= alpha)
    tiers = np.zeros(len(known), np.int64)
    for tier, (first, last) in reversed(list(enumerate(groups, start=1))):
        tiers[first : last + 1] = tier  # the best one is written last
    return Groups(
        tuple(known[i] for i in order.tolist()), means[order], groups, tiers, float(alpha), test_over_train
    )


def _checked_names(names: Sequence[Name], n: int) -> tuple[Name, ...]:
    wrong = [name for name in names if not isinstance(name, str) and np.shape(name) != (2,)]
    if wrong:
        raise ParameterError(f"a name is text, or a pair of selector and learner; got {wrong[0]!r}")
    known = tuple(name if isinstance(name, str) else (str(name[0]), str(name[1])) for name in names)
    if len(known) != n:
        raise InputError(f"there must be a name for each of {n} rows of runs; got {len(known)}")
    twice = next((name for name in known if known.count(name) > 1), None)
    if twice is not None:
        raise ParameterError(f"names must differ; {label(twice)!r} is there twice: rename one")
    return known


def _groups(alike: BoolArray) -> tuple[tuple[int, int], ...]:
    """Return the groups that are in no earlier one, from a sorted matrix of equivalence."""
    groups: list[tuple[int, int]] = []
    for first in range(len(alike)):
        last = int(np.flatnonzero(alike[first]).max(initial=first))
        if not groups or last > groups[-1][1]:
            groups.append((first, last))
    return tuple(groups)
