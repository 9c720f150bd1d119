"""Group-SAOLA: pairwise redundancy inside every group of columns, then between groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Self

import numpy.typing as npt

from streamsieve.base import ColumnSelector, Stop
from streamsieve.base.changing_ledgers import ProvisionalLedger
from streamsieve.column_types import ColumnTypes, TypesParameter
from streamsieve.columns.composition import TABLE_MEASURES, check_types
from streamsieve.columns.groups.pairwise import (
    PairwiseCorrelationGroups,
    PairwiseDiscreteGroups,
    PairwiseGroups,
)
from streamsieve.columns.groups.process import GroupProcess, OffersGroups
from streamsieve.dependence.target import discretize_target
from streamsieve.exceptions import ParameterError
from streamsieve.independence import FisherZ
from streamsieve.independence.online_fdr import LONGEST_LAG, RULES, OnlineFDRProcedure
from streamsieve.independence.p_values import CHOICES, check_p_value
from streamsieve.protocols import Statistic, Task, Traits
from streamsieve.state import Choice, Float, Int, Nested

MEASURES = ("fisher_z", *TABLE_MEASURES)
VARIANTS = ("corrected", "paper")


class GroupSAOLA(OffersGroups, ColumnSelector):
    """Pairwise redundancy for columns in groups (Group-SAOLA).

    Inside a group, columns compete as in ``SAOLA``: of two that depend on each other at least as strongly as
    the weaker one on y, the weaker one is rejected.  When a group is complete, its remaining columns compete
    with the kept columns of every earlier group.

    Offer whole groups with ``offer_group``, or give ``fit`` a label for each column, or let ``group_size``
    cut the stream into groups of equal size.

    Parameters
    ----------
    alpha : float, default=0.01
        Significance level of the relevance test for ``measure="fisher_z"``, in (0, 1), for independent rows.
    measure : {"fisher_z", "su", "mutual_info"}, default="fisher_z"
        Dependence of two columns: absolute correlation, symmetric uncertainty, or mutual information in
        nats; see ``SAOLA``.
    delta : float, default=0.0
        For "su" and "mutual_info": a column at or below it is irrelevant.
    p_value : {"auto", "confirmed", "t", "z"}, default="auto"
        How p-values of "fisher_z" are computed.  "t" is Student's t (F for more than two classes), exact if y
        or the column is normal.  "confirmed", the default, is t, but if both are skewed or heavy-tailed its
        permutation p-value or, over many rows, the larger of t and a test of normal scores, and Fisher's
        exact test for small 2 x 2 tables; see ``FisherZ``.  "z" is Fisher's transformation, as in the paper:
        liberal at small levels.
    bins : int, default=5
        For "su" and "mutual_info": number of equal-frequency bins for columns with more than 32 distinct
        values, in [2, 1024]. Whole numbers that repeat keep their levels, see docs/column_types.md.
    types : dict of str to str, str or None, default=None
        For "su" and "mutual_info": types of columns by name, as ``{"zip": "nominal"}``, or one type for all:
        "numeric", "ordinal", "nominal" or "binary"; nominal columns keep their levels, numeric ones are cut
        into bins.  Other types are inferred from the dtype or guessed, see docs/column_types.md.
    variant : {"corrected", "paper"}, default="corrected"
        Whether a column that was eliminated between groups still eliminates others ("paper", as in the
        authors' toolbox) or not ("corrected").
    group_size : int or None, default=None
        Number of consecutive columns that form a group in ``offer`` and ``fit``, at least 1.  If None, each
        column is a group of its own.
    fdr : {None, "addis", "saffron", "lord", "dlord", "alpha_investing", "lond", "lond_any", \
"alpha_spending"}, default=None
        Online FDR procedure that sets the level of each relevance test, so that alpha bounds the false
        discovery rate of the columns found relevant, not of those kept (see ``n_found_``); rows must be
        independent.  See ``OnlineFDR`` for the assumptions of each procedure.  For "fisher_z".  If None, all
        levels are alpha.
    lag : int, default=0
        For ``fdr``: number of preceding tests whose outcome may not affect the current level; it must reach
        the range over which columns depend on each other.
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
    ledger_ : every decision; the statistic is the dependence on y, or for a redundant or evicted column
        its dependence on the one in ``by``
    n_found_, n_kept_ : number of columns found relevant, and of those kept.  The bound on the false discovery
        rate applies to the former; a redundancy rule may drop more true columns than false ones
    n_features_in_ : number of columns offered
    column_types_ : types of the columns by name, for "su" and "mutual_info"
    stopped_ : which rule of ``stop`` was met, or None

    Notes
    -----
    **Formula.** SAOLA's rule with association s(., .), first within a group and then between groups: the
    weaker one f of a pair (f, k) leaves if ``s(k, y) >= s(f, y)`` and ``s(f, k) >= s(f, y)``.

    **When it fails.** As for :class:`SAOLA`: pairs only. A group is decided when it is complete, so an
    endless group is never decided.

    A group is decided when it is complete: ``offer`` returns the decisions on the groups that the call
    completed.  Until then ``selected_``, ``groups_`` and the last lines of ``ledger_`` are provisional, as if
    the open group ended here; ``n_open_`` is their number.  Reading them changes nothing, and the result does
    not depend on the size of blocks.  Memory grows with the columns kept and one group.

    Ties: of two equals, the new column is rejected inside a group, and the older one is evicted between
    groups, for all measures, as in the authors' toolbox.  Values within 1e-12 are equal.  The toolbox skips
    columns whose *sum* is 0; here only constant columns are skipped.  More than two classes: see ``FisherZ``.
    With a stop at ``max_features``, more columns may be kept than that: a column can eliminate one of its
    group that had eliminated earlier ones.

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

    _traits = Traits(defers=True, grouped_rows=True)
    _statistic = Statistic("correlation", redundancy="between")
    parameters = {
        "alpha": Float(0, 1, open_low=True, open_high=True),
        "measure": Choice(*MEASURES),
        "delta": Float(0),
        "p_value": Choice(*CHOICES),
        "bins": Int(2, 1024),
        "types": TypesParameter(),
        "variant": Choice(*VARIANTS),
        "group_size": Int(1, optional=True),
        "fdr": Choice(None, *RULES),
        "lag": Int(0, LONGEST_LAG),
    }
    fields = {"ledger_": Nested(ProvisionalLedger), "_process_": Nested(GroupProcess, shares=("rows",))}

    def __init__(
        self,
        alpha: float = 0.01,
        *,
        measure: str = "fisher_z",
        delta: float = 0.0,
        p_value: str = "auto",
        bins: int = 5,
        types: ColumnTypes = None,
        variant: str = "corrected",
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
        self.p_value = p_value
        self.bins = bins
        self.types = types
        self.variant = variant
        self.group_size = group_size
        self.fdr = fdr
        self.lag = lag
        self.task = task
        self.ledger = ledger
        self.stop = stop

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """Yield each measure and variant, groups of several sizes, and an FDR procedure."""
        yield cls(group_size=5)
        yield cls()
        yield cls(measure="su", group_size=3)
        yield cls(measure="mutual_info", group_size=7, variant="paper")
        yield cls(alpha=0.1, group_size=4, fdr="addis", lag=1)

    @property
    def traits(self) -> Traits:
        """Capabilities of the selector: correlation does not support text."""
        return replace(self._traits, text=self.measure in TABLE_MEASURES)

    @property
    def _knows_types(self) -> bool:
        return self.measure in TABLE_MEASURES and self._dependence.independent

    def _check_together(self) -> None:
        check_p_value(self.p_value, "measure", self.measure, tables=False)
        check_types(self.types, "measure", self.measure, instead="su")
        if self.fdr is not None and self.measure != "fisher_z":
            raise ParameterError(
                f"fdr={self.fdr!r} needs p-values, which measure={self.measure!r} does not have: use "
                "measure='fisher_z', or fdr=None and delta for a threshold"
            )

    def _compose(self, y: npt.NDArray[Any], task: Task) -> GroupProcess[PairwiseGroups]:
        literal = self.variant == "paper"
        if self.measure == "fisher_z":
            fdr = OnlineFDRProcedure.of(self.fdr, self.alpha, self.lag)
            test = FisherZ(y, task, self.alpha, p_value=self.p_value, online=self.fdr is not None)
            return GroupProcess(PairwiseCorrelationGroups(test, fdr, literal=literal), self.group_size)
        discrete = PairwiseDiscreteGroups(
            discretize_target(y, task), int(self.bins), normalized=self.measure == "su",
            delta=float(self.delta), literal=literal,
        )  # fmt: skip
        return GroupProcess(discrete, self.group_size)

    def _consistent(self) -> Iterator[str]:
        yield from super()._consistent()
        store = PairwiseCorrelationGroups if self.measure == "fisher_z" else PairwiseDiscreteGroups
        yield from self._process_.problems(store, self.group_size, self.n_features_in_)
        fdr = getattr(self._process_.store, "fdr", None)
        test = self._process_.store.test
        if test is not None and self.p_value not in ("auto", test.p_value):
            yield f"the test has other p-values than p_value={self.p_value!r}"
        if (fdr is None) is not (self.fdr is None):
            yield "there is an FDR procedure too many or too few"
        elif fdr is not None:
            yield from fdr.problems(self.fdr, self.alpha, self.lag, self.n_features_in_)
