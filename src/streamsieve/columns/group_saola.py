"""Group-SAOLA: SAOLA inside every group of columns, then between the groups, pair by pair."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from streamsieve._parameters import check_choice, check_number
from streamsieve.base import ColumnSelector, Stop
from streamsieve.columns._gate import Gate, check_gate
from streamsieve.columns._groups import Lines
from streamsieve.columns._groups_ledger import GroupLedger
from streamsieve.columns._groups_measured import CodedGroups, CorrelatedGroups
from streamsieve.columns.saola import MEASURES, _coded_target
from streamsieve.exceptions import ParameterError, SchemaError
from streamsieve.independence import FisherZ, fisher_z
from streamsieve.protocols import ColumnBlock, Decision, FloatArray, IntArray, Reason, Task
from streamsieve.state import untouched_on_error
from streamsieve.verdicts import REASON_CODE, Eviction, PValue, Verdicts

MODES = ("live", "literal")
REDUNDANT = REASON_CODE[Reason.REDUNDANT]

Label = str | int


@dataclass(frozen=True, slots=True)
class GroupBlock(ColumnBlock):
    """Some columns of a stream, and after how many of them a group ends."""

    ends: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))


class GroupSAOLA(ColumnSelector):
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

    _caches: ClassVar[frozenset[str]] = frozenset({"_known_"})
    _groups_: CorrelatedGroups | CodedGroups
    #: Labels of the groups, in order; none where groups came without.
    _labels_: list[Label]
    _known_: set[Label]

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

    # ---------------------------------------------------------------- groups

    def offer_group(
        self, X: Any, names: Sequence[str] | str | None = None, group: Label | None = None
    ) -> Sequence[Decision]:
        """Offer a whole group of columns; it is decided at once.

        A group that ``group_size`` left open ends here.

        Parameters
        ----------
        X : a block of columns (or one column) over the rows given to ``begin``
        names : their names, unlike any before; a dataframe brings its own; else x0, x1, ...
        group : text or a whole number that names the group, unlike any before; all groups have one, or none

        Returns
        -------
        sequence of Decision
            One for each column, in order, and one for each earlier feature evicted on the way.
        """
        self._check_begun("offering columns")

        def whole(block: ColumnBlock) -> GroupBlock:
            if block.names is not None:  # whatever may be refused is refused before the label is taken
                self.ledger_.names.check(block.names, self.n_features_in_)
            self._announce(None if group is None else [group])
            ends = [0] * (self._groups_.held > 0) + [block.X.shape[1]]  # an open group ends before this one
            return GroupBlock(block.X, block.names, ends=np.array(ends))

        return self._offer_checked(X, [names] if isinstance(names, str) else names, whole)

    def fit(self, X: Any, y: Any = None, groups: Any = None) -> Self:
        """Offer the columns of X in order: ``begin(y)``, then group after group.

        Parameters
        ----------
        X : all columns (dense, sparse or dataframe)
        y : one label or number a row
        groups : the group of each column, as text or whole numbers, columns of a group side by side; None:
            groups of ``group_size``

        Returns
        -------
        self
        """
        if groups is None:
            return super().fit(X, y)
        label, ends = _runs(groups)
        done = 0
        with untouched_on_error(self):
            for block in self._fit_blocks(X, y):
                if not done:
                    self._announce(label)
                width = block.X.shape[1]
                inside = ends[(ends > done) & (ends <= done + width)] - done
                self._offer_block(GroupBlock(block.X, block.names, ends=inside))
                done += width
            if len(ends) == 0 or done != ends[-1]:
                raise SchemaError(f"groups names the group of {ends[-1:].sum()} columns, but X has {done}")
        return self

    def _announce(self, labels: Sequence[Label] | None) -> None:
        """Take the labels of the next groups, which must be new."""
        labels = None if labels is None else [_label(label) for label in labels]
        begun = self._groups_.closed > 0 or self._groups_.held > 0 or len(self._labels_) > 0
        if begun and (labels is None) != (not self._labels_):
            raise SchemaError(
                "some groups have a label and some have none; give offer_group a group= for all of them, or "
                "for none"
            )
        for label in labels or ():
            if label in self._known_:
                raise SchemaError(
                    f"the group {label!r} came twice, but it is closed: offer all its columns at once, or "
                    "name it anew"
                )
        # new lists, so that a refused call can go back to the old ones
        self._labels_ = [*self._labels_, *(labels or ())]
        self._known_ = self._known_ | set(labels or ())

    @property
    def groups_(self) -> dict[Label, IntArray]:
        """Arrival numbers of the columns kept, by group, as if the open group were complete."""
        feature, group = self._standing_groups()
        return {self._label_of(g): feature[group == g] for g in np.unique(group).tolist()}

    @property
    def n_groups_(self) -> int:
        """Number of groups of which something is kept."""
        return len(np.unique(self._standing_groups()[1]))

    @property
    def n_open_(self) -> int:
        """Number of columns in the group that is not complete yet."""
        self._standing_groups()
        return self._groups_.held

    def _standing_groups(self) -> tuple[IntArray, IntArray]:
        if not hasattr(self, "ledger_"):
            raise AttributeError("groups are there after begin(y) or fit(X, y)")
        return self._groups_.selection(literal=self.mode == "literal")

    def _label_of(self, number: int) -> Label:
        return self._labels_[number] if self._labels_ else number

    # ---------------------------------------------------------------- deciding

    def _begin(self, y: npt.NDArray[Any]) -> None:
        check_number("alpha", self.alpha, low=0, high=1, open_low=True, open_high=True)
        check_choice("measure", self.measure, MEASURES)
        check_number("delta", self.delta, low=0)
        check_number("bins", self.bins, low=2, high=1024, integer=True)
        check_choice("mode", self.mode, MODES)
        if self.group_size is not None:
            check_number("group_size", self.group_size, low=1, integer=True)
        check_gate(self.fdr, self.alpha, self.lag, optional=True)
        if self.fdr is not None and self.measure != "fisher_z":
            raise ParameterError(
                f"fdr={self.fdr!r} needs p-values, which measure={self.measure!r} does not give: take "
                "measure='fisher_z', or fdr=None and delta for a threshold"
            )
        task = Task(self.task_)
        if self.measure == "fisher_z":
            gate = None if self.fdr is None else Gate(self.fdr, self.alpha, self.lag)
            self._groups_ = CorrelatedGroups(FisherZ(y, task, self.alpha), gate)
        else:
            self._groups_ = CodedGroups(
                _coded_target(y, task), self.bins, normalised=self.measure == "su", delta=self.delta
            )
        self._labels_ = []
        self._known_ = set()
        self.ledger_: GroupLedger = GroupLedger(self.ledger)
        self.ledger_.outlook = self._outlook

    def _selected(self) -> IntArray:
        return self._groups_.selection(literal=self.mode == "literal")[0]

    def _named(self) -> IntArray:
        return self._groups_.standing

    def _offer(self, block: ColumnBlock) -> Verdicts:
        if isinstance(block, GroupBlock):
            ends = block.ends
        else:
            self._announce(None)
            size = self.group_size or 1
            ends = np.arange(size - self._groups_.held % size, block.X.shape[1] + 1, size)
        literal = self.mode == "literal"
        return self._verdicts(self._groups_.take(block.X, ends, self.n_features_in_, literal=literal))

    def _cut(self, block: ColumnBlock, part: slice) -> ColumnBlock:
        if not isinstance(block, GroupBlock):
            return super()._cut(block, part)
        from_here = block.ends >= part.start if part.start == 0 else block.ends > part.start
        ends = block.ends[from_here & (block.ends <= part.stop)] - part.start
        return GroupBlock(block.X[:, part], ends=ends)

    def _finish(self) -> Verdicts:
        groups = self._groups_
        start = self.n_features_in_ - groups.held
        return self._verdicts(groups.close(start, literal=self.mode == "literal"))

    def _outlook(self) -> Verdicts:
        groups = self._groups_
        start = self.n_features_in_ - groups.held
        return self._verdicts(groups.present(start, literal=self.mode == "literal"))

    def _verdicts(self, lines: Lines) -> Verdicts:
        redundant = np.flatnonzero(lines.reason == REDUNDANT)
        p_value = None
        if isinstance(self._groups_, CorrelatedGroups) and self._groups_.test.n_contrasts > 1:
            # two columns have a correlation even where a column and many classes have a ratio
            p_value = self._groups_.test.p_value(lines.statistic)
            p_value[redundant] = self._pair_p_values(lines.statistic[redundant])
        p_values = self._pair_p_values(np.array([pair for _, _, pair in lines.evictions])).tolist()
        evictions = [
            Eviction(by, feature, Reason.REDUNDANT, pair, p, (by,))
            for (by, feature, pair), p in zip(lines.evictions, p_values, strict=True)
        ]
        by = {lines.start + j: (int(lines.by[j]),) for j in redundant.tolist()}
        return Verdicts(lines.start, lines.reason, lines.statistic, p_value, by, evictions)

    def _pair_p_values(self, pair: FloatArray) -> FloatArray:
        """Return p-values of dependences between two columns."""
        return fisher_z.p_value(pair, self.n_rows_) if self.measure == "fisher_z" else pair * np.nan

    def _p_value_of(self) -> PValue | None:
        groups = self._groups_
        return groups.test.p_value if isinstance(groups, CorrelatedGroups) else None

    def _restored(self) -> None:
        self._labels_ = [_label(label) for label in self._labels_]
        self._known_ = set(self._labels_)
        groups = self._groups_
        wanted = CorrelatedGroups if self.measure == "fisher_z" else CodedGroups
        if not isinstance(groups, wanted) or not isinstance(self.ledger_, GroupLedger):
            raise TypeError("its parts are not those of the measure")
        if groups.held > self.n_features_in_ or np.any(groups.standing >= self.n_features_in_):
            raise ValueError("a kept column was never offered")
        if self._labels_ and len(self._labels_) < groups.closed + (groups.held > 0):
            raise ValueError("some groups have no label")
        self.ledger_.outlook = self._outlook
        super()._restored()
        if isinstance(groups, CorrelatedGroups):
            if (groups.gate is None) != (self.fdr is None):
                raise ValueError("fdr asks for a gate, and there is none, or the other way round")
            if groups.gate is not None and self.fdr is not None:
                groups.gate.check(self.fdr, self.alpha, self.lag, self.n_features_in_)


def _label(label: Any) -> Label:
    if isinstance(label, str):
        return str(label)
    if isinstance(label, (int, np.integer)) and not isinstance(label, bool):
        return int(label)
    raise SchemaError(f"a group is named by text or a whole number; got {label!r}")


def _runs(groups: Any) -> tuple[list[Label], IntArray]:
    """Return the label of each run of equal labels, and where it ends."""
    try:
        labels = [_label(label) for label in groups]
    except TypeError as error:
        raise SchemaError(f"groups must hold one label a column; got {groups!r}") from error
    ends = [j for j in range(1, len(labels) + 1) if j == len(labels) or labels[j] != labels[j - 1]]
    firsts = [labels[end - 1] for end in ends]
    seen: set[Label] = set()
    for label, end in zip(firsts, ends, strict=True):
        if label in seen:
            raise SchemaError(
                f"columns of the group {label!r} are not side by side: it comes again before column {end}; "
                "sort the columns by group"
            )
        seen.add(label)
    return firsts, np.array(ends, np.int64)
