"""Group-SAOLA: SAOLA inside every group of columns, then between the groups, pair by pair."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

import numpy.typing as npt

from streamsieve._parameters import check_choice, check_number
from streamsieve.base import Stop
from streamsieve.columns._groups_measured import CodedGroups, CorrelatedGroups
from streamsieve.columns._groups_selector import GroupSelector
from streamsieve.columns.saola import MEASURES
from streamsieve.dependence.target import discretize_target
from streamsieve.exceptions import ParameterError
from streamsieve.independence import FisherZ
from streamsieve.independence.multiple_testing import OnlineFDRProcedure, check_fdr
from streamsieve.protocols import Task

MODES = ("live", "literal")


class GroupSAOLA(GroupSelector):
    """Keep columns that arrive in groups if neither their own group nor another makes them redundant.

    Inside a group, columns compete as in ``SAOLA``: of two that depend on each other at least as much as
    the weaker one on y, the weaker one goes.  What is left of a complete group then competes with the kept
    columns of every earlier group.  A group of which nothing is left vanishes.

    Offer whole groups with ``offer_group``, or give ``fit`` a label for each column, or let ``group_size``
    cut the stream into groups of equal size.

    Parameters
    ----------
    alpha : float, default=0.01
        Level of the test of relevance for ``measure="fisher_z"``, 0 < alpha < 1.
    measure : {"fisher_z", "su", "mutual_info"}, default="fisher_z"
        Dependence of two columns: absolute correlation, symmetric uncertainty, or mutual information in
        nats; see ``SAOLA``.
    delta : float, default=0.0
        For "su" and "mutual_info": a column at or below it is irrelevant.
    bins : int, default=5
        For "su" and "mutual_info": columns with more than 32 distinct values are cut into so many bins
        of equal frequency, 2 to 1024.
    mode : {"live", "literal"}, default="live"
        Between groups, a column that fell fights no more ("live"), or still drives others out ("literal",
        as the authors' toolbox does).
    group_size : int or None, default=None
        ``offer`` and ``fit`` make a group of so many columns in a row, at least 1.  None: each column is a
        group of its own.
    fdr : {None, "addis", "saffron", "lord", "dlord", "alpha_investing", "lond"}, default=None
        With a rule, for "fisher_z", a column is tested for relevance at the level that this rule gives it,
        so that of all columns found relevant an expected share of at most alpha is not; see ``OnlineFDR``.
        With None every column is tested at alpha, and of many junk columns the share alpha is relevant.
    lag : int, default=0
        For a rule: how many columns before a column must not influence its level; see ``OnlineFDR``.
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
    ledger_ : every decision; the statistic is the dependence on y, or for a redundant or evicted column
        its dependence on the one in ``by``
    n_features_in_ : columns offered
    stopped_ : which rule of ``stop`` was met, or None

    Notes
    -----
    A group is decided when it is complete, so that ``offer`` returns the decisions on the columns of all
    groups that this call completed.  Until then ``selected_``, ``groups_`` and the last lines of ``ledger_``
    tell how things would stand if the open group ended here; ``n_open_`` and the ledger's ``repr`` say for
    how many columns.  Looking never changes anything, and neither does the size of blocks.  Memory grows with
    the columns kept and one group.

    Ties: inside a group the newcomer of two equals leaves, between groups the older one, for all measures;
    so does the authors' toolbox.  Equal is up to 1e-12.  The toolbox skips columns whose *sum* is 0; here
    only constant ones are skipped.  More than two classes: see ``FisherZ``.  With a stop at
    ``max_features``, a column can bring back earlier ones by driving out their rival inside its group, so
    that more are kept.

    References
    ----------
    Yu, Wu, Ding, Pei: Scalable and accurate online feature selection for big data, TKDD 11(2), 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve.columns.group_saola import GroupSAOLA
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 300)
    >>> dose = y + rng.normal(size=300)
    >>> copy = dose + 0.5 * rng.normal(size=300)
    >>> sieve = GroupSAOLA().begin(y)
    >>> _ = sieve.offer_group(np.c_[copy, rng.normal(size=300)], names=["copy", "noise"], group="lab A")
    >>> for decision in sieve.offer_group(np.c_[dose], names=["dose"], group="lab B"):
    ...     print(decision.feature, decision.event, decision.reason, *decision.by)
    copy evicted redundant dose
    dose kept relevant
    >>> {group: kept.tolist() for group, kept in sieve.groups_.items()}
    {'lab B': [2]}
    """

    _groups_: CorrelatedGroups | CodedGroups

    def __init__(
        self,
        alpha: float = 0.01,
        measure: str = "fisher_z",
        delta: float = 0.0,
        bins: int = 5,
        mode: str = "live",
        group_size: int | None = None,
        fdr: str | None = None,
        lag: int = 0,
        task: str = "auto",
        ledger: str = "all",
        stop: Stop | None = None,
    ) -> None:
        self.alpha = alpha
        self.measure = measure
        self.delta = delta
        self.bins = bins
        self.mode = mode
        self.group_size = group_size
        self.fdr = fdr
        self.lag = lag
        self.task = task
        self.ledger = ledger
        self.stop = stop

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """Each measure, each mode, groups of several sizes, and levels that follow what was found."""
        yield cls(group_size=5)
        yield cls()
        yield cls(measure="su", group_size=3)
        yield cls(measure="mutual_info", group_size=7, mode="literal")
        yield cls(alpha=0.1, group_size=4, fdr="addis", lag=1)

    def _begin(self, y: npt.NDArray[Any]) -> None:
        check_number("alpha", self.alpha, low=0, high=1, open_low=True, open_high=True)
        check_choice("measure", self.measure, MEASURES)
        check_number("delta", self.delta, low=0)
        check_number("bins", self.bins, low=2, high=1024, integer=True)
        check_choice("mode", self.mode, MODES)
        self._check_group_size()
        check_fdr(self.fdr, self.alpha, self.lag, optional=True)
        if self.fdr is not None and self.measure != "fisher_z":
            raise ParameterError(
                f"fdr={self.fdr!r} needs p-values, which measure={self.measure!r} does not give: take "
                "measure='fisher_z', or fdr=None and delta for a threshold"
            )
        task = Task(self.task_)
        groups: CorrelatedGroups | CodedGroups
        if self.measure == "fisher_z":
            gate = None if self.fdr is None else OnlineFDRProcedure(self.fdr, self.alpha, self.lag)
            groups = CorrelatedGroups(FisherZ(y, task, self.alpha), gate)
        else:
            groups = CodedGroups(
                discretize_target(y, task), self.bins, normalised=self.measure == "su", delta=self.delta
            )
        groups.literal = self.mode == "literal"
        self._begin_groups(groups)

    def _restored(self) -> None:
        wanted = CorrelatedGroups if self.measure == "fisher_z" else CodedGroups
        groups = self._groups_
        if not isinstance(groups, wanted):
            raise TypeError("its parts are not those of the measure")
        groups.literal = self.mode == "literal"
        super()._restored()
        if isinstance(groups, CorrelatedGroups):
            if (groups.gate is None) != (self.fdr is None):
                raise ValueError("fdr asks for a gate, and there is none, or the other way round")
            if groups.gate is not None and self.fdr is not None:
                for problem in groups.gate.problems(self.fdr, self.alpha, self.lag, self.n_features_in_):
                    raise ValueError(problem)
