"""OGFS: class separability inside every group of columns, the lasso between groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Self

import numpy.typing as npt

from streamsieve.base import ColumnSelector, Stop
from streamsieve.base.changing_ledgers import ProvisionalLedger
from streamsieve.columns.groups.class_separability import SeparabilityGroups
from streamsieve.columns.groups.process import GroupProcess, OffersGroups
from streamsieve.independence import FisherZ
from streamsieve.protocols import Statistic, Task, Traits
from streamsieve.state import Float, Int, Nested


class OGFS(OffersGroups, ColumnSelector):
    """Class separability inside groups of columns, and the lasso between groups (OGFS).

    Inside a group, in order of arrival, a column is accepted if it raises the separability of those accepted
    so far (variance between classes, summed over columns, divided by that within classes), or if its own
    ratio is significantly larger than theirs by a t test.  When the group is complete, a lasso over the kept
    columns and the accepted ones decides which of them stay.

    Offer whole groups with ``offer_group``, or give ``fit`` a label for each column, or let ``group_size``
    cut the stream into groups of equal size.

    Parameters
    ----------
    min_gain : float, default=0.001
        Least increase in the separability of a group, at least 0.
    alpha : float, default=0.05
        Significance level of the t test, in (0, 1), for independent rows.
    l1 : float, default=0.15
        L1 penalty, above 0, for columns and target of unit variance.  A column is not kept on its own unless
        its absolute correlation with y exceeds it.
    group_size : int or None, default=10
        Number of consecutive columns that form a group in ``offer`` and ``fit``, at least 1.  If None, each
        column is a group of its own.
    task : {"auto", "classification", "regression"}, default="auto"
        Type of target; "auto" infers it: fractional numbers, or more than 20 distinct whole numbers with
        fewer than 10 rows each, mean regression, anything else classification.
    ledger : {"all", "kept", "none"}, default="all"
        Which decisions to record.
    stop : Stop or None, default=None
        Early-stopping rules, checked after every column as if its group ended there.

    Attributes
    ----------
    selected_ : arrival numbers of the columns kept
    groups_ : arrival numbers of the columns kept, by the label of their group, or by its number if groups
        have no labels
    n_groups_ : number of groups of which some column is kept
    n_open_ : number of columns in the group that is not complete yet
    ledger_ : every decision; the statistic is the correlation with y (for more than two classes the
        correlation ratio), or for a redundant or evicted column its correlation with the one in ``by``
    n_features_in_ : number of columns offered
    stopped_ : which rule of ``stop`` was met, or None

    Notes
    -----
    **Formula.** With b and w the variance of a column between and within classes and U the accepted columns
    of the group: accept if ``F(U + f) - F(U) > min_gain``, ``F(U) = sum b / sum w``, or if ``(b_f / w_f -
    mean) / (sd sqrt(1 + 1 / |U|))`` is significant. Then the lasso with penalty ``l1``.

    **When it fails.** The result depends on the order inside a group (below). Columns that are informative
    only jointly are rejected, and the level of the t test bounds no false discovery rate.

    A column is irrelevant if it was not accepted, or if the lasso would give it no weight even alone; it is
    redundant if the lasso would.  ``by`` is the kept column that absorbs most of its effect.

    A group is decided when it is complete: ``offer`` returns the decisions on the groups that the call
    completed.  Until then ``selected_``, ``groups_`` and the last lines of ``ledger_`` are provisional, as if
    the open group ended here.  Reading them changes nothing, and the result does not depend on the size of
    blocks.  Memory grows with the columns kept and those accepted of one group.

    Separability rises if and only if a column's own ratio is above it: of a group sorted from best to worst
    one column is accepted, and nearly all if sorted the other way.  The paper intends the order of arrival;
    its published code stops after the first column of a group.

    Deviations: columns have unit variance, so that units do not matter.  The paper's t statistic has the
    wrong sign, compares one score with the standard error of a mean, and is undefined for a single column;
    here it is the t test for one more draw, and needs at least two accepted columns that differ.  The lasso
    has an intercept; more than two classes are contrasts that share their penalty (a group lasso).  For a
    numeric target, the variance explained by a linear fit takes the place of that between classes.

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

    _traits = Traits(defers=True, grouped_rows=True)
    _statistic = Statistic("correlation", redundancy="between")
    parameters = {
        "min_gain": Float(0),
        "alpha": Float(0, 1, open_low=True, open_high=True),
        "l1": Float(0, open_low=True),
        "group_size": Int(1, optional=True),
    }
    fields = {"ledger_": Nested(ProvisionalLedger), "_process_": Nested(GroupProcess, shares=("rows",))}

    def __init__(
        self,
        min_gain: float = 0.001,
        *,
        alpha: float = 0.05,
        l1: float = 0.15,
        group_size: int | None = 10,
        task: str = "auto",
        ledger: str = "all",
        stop: Stop | None = None,
    ) -> None:
        self.min_gain = min_gain
        self.alpha = alpha
        self.l1 = l1
        self.group_size = group_size
        self.task = task
        self.ledger = ledger
        self.stop = stop

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """Yield groups of several sizes, and a small penalty."""
        yield cls()
        yield cls(group_size=None)
        yield cls(min_gain=0, alpha=0.5, l1=0.1, group_size=3)

    def _compose(self, y: npt.NDArray[Any], task: Task) -> GroupProcess[SeparabilityGroups]:
        test = FisherZ(y, task, self.alpha, p_value="t")
        return GroupProcess(SeparabilityGroups(test, self.l1, self.min_gain, self.alpha), self.group_size)

    def _consistent(self) -> Iterator[str]:
        yield from super()._consistent()
        yield from self._process_.problems(SeparabilityGroups, self.group_size, self.n_features_in_)
