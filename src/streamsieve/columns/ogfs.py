"""OGFS: class separability inside every group of columns, the lasso between groups."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

import numpy.typing as npt

from streamsieve._parameters import check_number
from streamsieve.base import Stop
from streamsieve.columns._groups_selector import GroupSelector
from streamsieve.columns._ogfs_groups import Penalty
from streamsieve.columns._ogfs_separating import Separability, SeparatingGroups
from streamsieve.independence import FisherZ
from streamsieve.protocols import Task


class OGFS(GroupSelector):
    """Keep columns that tell classes apart better than their group before them, and that a lasso needs.

    Inside a group, in order of arrival, a column is accepted if it raises the separability of those accepted
    so far, which is the variance between classes over that within them, summed over columns; or if its own
    ratio is large beside theirs by a t test.  When the group is complete, a lasso over the kept columns and
    the accepted ones decides who stays.

    Offer whole groups with ``offer_group``, or give ``fit`` a label for each column, or let ``group_size``
    cut the stream into groups of equal size.

    Parameters
    ----------
    epsilon : float, default=0.001
        A column must raise the separability of its group by more than this, at least 0.
    alpha : float, default=0.05
        Level of the t test, 0 < alpha < 1.
    penalty : float, default=0.15
        Penalty of the lasso, above 0, for columns and target of unit variance: a column whose correlation
        with y is not above it never stays on its own.
    group_size : int or None, default=10
        ``offer`` and ``fit`` make a group of so many columns in a row, at least 1.  None: each column is a
        group of its own.
    task : {"auto", "classification", "regression"}, default="auto"
        What y is; "auto" takes fractional numbers for regression and everything else for labels.
    ledger : {"all", "kept", "none"}, default="all"
        Which decisions to remember.
    stop : Stop or None, default=None
        Rules that end the run early, checked after every column as if its group ended there.

    Attributes
    ----------
    selected_ : arrival numbers of the columns kept
    groups_ : arrival numbers of the columns kept, by group: its label, or its number if it came without
    n_groups_ : number of groups of which something is kept
    n_open_ : number of columns in the group that is not complete yet
    ledger_ : every decision; the statistic is the correlation with y (for more than two classes the
        correlation ratio), or for a redundant or evicted column its correlation with the one in ``by``
    n_features_in_ : columns offered
    stopped_ : which rule of ``stop`` was met, or None

    Notes
    -----
    "irrelevant" is a column that separability did not accept, or that the lasso would give no weight even if
    it were alone; "redundant" one that it would.  ``by`` is the column that took most of its work over.

    A group is decided when it is complete, so that ``offer`` returns the decisions on the columns of all
    groups that this call completed.  Until then ``selected_``, ``groups_`` and the last lines of ``ledger_``
    tell how things would stand if the open group ended here.  Looking never changes anything, and neither
    does the size of blocks.  Memory grows with the columns kept and those accepted of one group.

    Separability rises if and only if a column's own ratio is above it, so that a group sorted from best to
    worst has one column accepted and nearly all if sorted the other way.  The order of arrival is what the
    paper means; its published code ends after the first column of a group.

    Deviations: columns have unit variance, so that units do not matter.  The paper's t statistic has the
    wrong sign, compares one score with the error of a mean, and is undefined for a single column; here it is
    the t test for one more draw, with two columns accepted or more that differ.  The lasso has an intercept;
    more than two classes are contrasts that share their penalty (a group lasso), whatever the labels are.
    For a numeric target a straight line takes the place of classes.

    References
    ----------
    Wang, Wang, Li, Liu, Zhao, Hu, Wu: Online feature selection with group structure analysis, IEEE TKDE
    27(11), 2015; Wang, Zhao, Hu, Cui, Wang, Wu: Online group feature selection, IJCAI 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve.columns.ogfs import OGFS
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 300)
    >>> dose, weight = y + rng.normal(size=(2, 300))
    >>> echo = dose + 0.5 * rng.normal(size=300)
    >>> sieve = OGFS().begin(y)
    >>> _ = sieve.offer_group(np.c_[echo, rng.normal(size=300)], names=["echo", "noise"], group="lab A")
    >>> for decision in sieve.offer_group(np.c_[dose, weight], names=["dose", "weight"], group="lab B"):
    ...     print(decision.feature, decision.event, decision.reason, *decision.by)
    echo evicted redundant dose
    dose kept relevant
    weight kept relevant
    >>> {group: kept.tolist() for group, kept in sieve.groups_.items()}
    {'lab B': [2, 3]}
    """

    _groups_: SeparatingGroups

    def __init__(
        self,
        epsilon: float = 0.001,
        alpha: float = 0.05,
        penalty: float = 0.15,
        group_size: int | None = 10,
        task: str = "auto",
        ledger: str = "all",
        stop: Stop | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.alpha = alpha
        self.penalty = penalty
        self.group_size = group_size
        self.task = task
        self.ledger = ledger
        self.stop = stop

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """Groups of several sizes, and a light penalty."""
        yield cls()
        yield cls(group_size=None)
        yield cls(epsilon=0, alpha=0.5, penalty=0.1, group_size=3)

    def _begin(self, y: npt.NDArray[Any]) -> None:
        check_number("epsilon", self.epsilon, low=0)
        check_number("alpha", self.alpha, low=0, high=1, open_low=True, open_high=True)
        check_number("penalty", self.penalty, low=0, open_low=True)
        self._check_group_size()
        self._begin_groups(self._configured(SeparatingGroups(FisherZ(y, Task(self.task_), self.alpha))))

    def _configured(self, groups: SeparatingGroups) -> SeparatingGroups:
        groups.penalty = Penalty(float(self.penalty))
        groups.rule = Separability(float(self.epsilon), float(self.alpha))
        return groups

    def _restored(self) -> None:
        if not isinstance(self._groups_, SeparatingGroups):
            raise TypeError("its groups are not those of the lasso")
        self._configured(self._groups_)
        super()._restored()
