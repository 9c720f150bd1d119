"""DOFS: columns drawn to be diverse, judged one by one, and then by an elastic net."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from streamsieve._parameters import check_choice, check_number
from streamsieve.base import Stop
from streamsieve.columns._dofs_groups import DiverseGroups
from streamsieve.columns._dofs_judgement import NOT_SAMPLED, Plan
from streamsieve.columns._dofs_local import REDUNDANCY, SCATTER, limit
from streamsieve.columns._dofs_sampling import KernelFunction, Sampler, Similarity
from streamsieve.columns._groups import Lines
from streamsieve.columns._groups_selector import GroupSelector
from streamsieve.columns._ogfs_groups import Penalty
from streamsieve.columns._ogfs_separating import Separability
from streamsieve.decisions import Settled
from streamsieve.exceptions import ParameterError
from streamsieve.independence import FisherZ
from streamsieve.protocols import ANY_TASK, CLASSIFICATION, ColumnBlock, FloatArray, IntArray, Task, Traits

SUPERVISED = (True, False, "dpp_only")
KERNELS = ("rbf", "squared_correlation")
SAMPLES = ("dpp", "fixed_size", "greedy")
CRITERIA = ("corrected", "literal")
LOCAL = ("both", "either")
REFITS = ("group", "column")


class DOFS(GroupSelector):
    """Keep a diverse set of columns: drawn to be unlike, then tested for redundancy, relevance and weight.

    For each group: (1) columns are drawn by a determinantal point process, which favours sets of unlike
    columns, given those kept; (2) a drawn column must not share too much with those kept and, if
    ``supervised``, must raise the class separability of its group; (3) an elastic net over the kept columns
    and the new ones decides who stays.

    Offer whole groups with ``offer_group``, or give ``fit`` a label for each column, or let ``group_size``
    cut the stream into groups of equal size.

    Parameters
    ----------
    supervised : {True, False, "dpp_only"}, default=True
        All three stages; no class separability; or the draw alone.  Only True needs classes.
    kernel : {"rbf", "squared_correlation"} or callable, default="rbf"
        Similarity of two columns.  "rbf" is exp(-gamma times their mean squared difference), columns being
        of unit variance; the square of a correlation takes a column and its negative for equal.  A function
        gets two matrices of standardised columns and returns the similarities of the columns of the first
        (rows) with those of the second; it must be symmetric and positive, and is not saved.
    gamma : float, default=1.0
        For "rbf", above 0: the larger, the less alike columns are.
    sample : {"dpp", "fixed_size", "greedy"}, default="dpp"
        Draw a set of any size; draw as many columns as there are leading eigenvalues; or take that many,
        each time the one least like the others, without chance.
    truncation : float, default=0.05
        Share of a group's variation that may be lost with the smallest eigenvalues, 0 <= truncation < 1.
    redundancy : {"spearman", "wilcoxon_literal", "wilcoxon_reversed"}, default="spearman"
        A column is redundant if its rank correlation with a kept one reaches ``threshold``; or if Wilcoxon's
        signed-rank test against one has p > alpha, as the paper says; or p < alpha.
    threshold : float, default=0.9
        For "spearman", 0 < threshold <= 1.
    scatter : {"moments", "pairwise", "moments_literal", "labels_literal"}, default="moments"
        Variance between classes and within them, from class means, or from distances of pairs of rows.  The
        literal ones are the paper's formulas: classes that all weigh the same, and label graphs that are
        swapped.
    criterion : {"corrected", "literal"}, default="corrected"
        Columns in order of arrival, and a t test; or best first, and the paper's t against alpha.
    local : {"both", "either"}, default="both"
        Whether a column must pass both redundancy and separability, or one of them.
    epsilon : float, default=0.001
        A column must raise the separability of its group by more than this, at least 0.
    alpha : float, default=0.05
        Level of the t test and of Wilcoxon's, 0 < alpha < 1.
    penalty : float, default=0.15
        Penalty of the elastic net, at least 0, for columns and target of unit variance.  0: no model.
    l1_ratio : float, default=0.5
        Share of the penalty that is the lasso's, 0 < l1_ratio <= 1; the rest is for squares.
    least_weight : float, default=0.0
        A column with a smaller weight in the elastic net leaves, at least 0.  The paper takes the penalty.
    refit : {"group", "column"}, default="group"
        Fit the elastic net once a group, or, as the paper's listing says, for every column.
    group_size : int or None, default=10
        ``offer`` and ``fit`` make a group of so many columns in a row, at least 1.  None: each column is a
        group of its own.
    random_state : int, default=0
        Seed of the draws, 0 <= random_state < 2^63.
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
        correlation ratio); for a column that was not sampled its chance to be; for a redundant or evicted one
        what it shares with the one in ``by``: rank correlation (or Wilcoxon's p-value, or 1 minus that), or
        correlation if the elastic net found it so
    n_features_in_ : columns offered
    stopped_ : which rule of ``stop`` was met, or None

    Notes
    -----
    The lot of a column is a function of ``random_state`` and its arrival number, so that neither blocks nor
    looking change anything.  A group is decided when it is complete; until then ``selected_``, ``groups_``
    and the last lines of ``ledger_`` tell how things would stand if it ended here.  Memory grows with the
    columns kept and one group.

    A set is drawn item by item from the marginal kernel, which is the same distribution as drawing
    eigenvectors first.  Given kept columns, the similarities are those that conditioning leaves (the Schur
    complement), so that a copy of a kept column is never drawn.  The paper does not define its reconstruction
    error; here small eigenvalues go, as long as their sum is below ``truncation`` of the group's own
    similarities.

    What is literal and what is not: Wilcoxon's test asks whether two columns lie at the same place, not
    whether they depend on each other, so the literal rule takes all centred columns for redundant; two
    prototypes of the author differ in its direction.  The paper's label graphs are swapped, which turns the
    score upside down; its t has the wrong sign and is compared with a level.  Sorted from best to worst, a
    group has hardly more than one column that raises separability.  Tables of the paper cannot be reproduced
    from its text; these options show what each reading does.

    References
    ----------
    Siu, Xu: Diverse online feature selection, 2018.
    Kulesza, Taskar: Determinantal point processes for machine learning, Foundations and Trends in ML, 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve.columns.dofs import DOFS
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 300)
    >>> dose, weight = y + rng.normal(size=(2, 300))
    >>> sieve = DOFS(sample="greedy").begin(y)
    >>> _ = sieve.offer_group(np.c_[dose, weight], names=["dose", "weight"])
    >>> X = np.c_[2 * dose, weight**3, rng.normal(size=300)]
    >>> for decision in sieve.offer_group(X, names=["twice", "cubed", "noise"]):
    ...     print(decision.feature, decision.event, decision.reason, *decision.by)
    twice rejected not sampled
    cubed rejected redundant weight
    noise rejected irrelevant
    >>> sieve.get_feature_names_out().tolist()
    ['dose', 'weight']
    """

    _elsewhere = "use supervised=False, or Grafting"
    _groups_: DiverseGroups

    def __init__(
        self,
        supervised: bool | str = True,  # noqa: FBT001, FBT002 - one of three
        kernel: str | KernelFunction = "rbf",
        gamma: float = 1.0,
        sample: str = "dpp",
        truncation: float = 0.05,
        redundancy: str = "spearman",
        threshold: float = 0.9,
        scatter: str = "moments",
        criterion: str = "corrected",
        local: str = "both",
        epsilon: float = 0.001,
        alpha: float = 0.05,
        penalty: float = 0.15,
        l1_ratio: float = 0.5,
        least_weight: float = 0.0,
        refit: str = "group",
        group_size: int | None = 10,
        random_state: int = 0,
        task: str = "auto",
        ledger: str = "all",
        stop: Stop | None = None,
    ) -> None:
        self.supervised = supervised
        self.kernel = kernel
        self.gamma = gamma
        self.sample = sample
        self.truncation = truncation
        self.redundancy = redundancy
        self.threshold = threshold
        self.scatter = scatter
        self.criterion = criterion
        self.local = local
        self.epsilon = epsilon
        self.alpha = alpha
        self.penalty = penalty
        self.l1_ratio = l1_ratio
        self.least_weight = least_weight
        self.refit = refit
        self.group_size = group_size
        self.random_state = random_state
        self.task = task
        self.ledger = ledger
        self.stop = stop

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """The three modes, the other draws, and the paper's own criteria."""
        yield cls()
        yield cls(supervised=False, kernel="squared_correlation", sample="fixed_size", group_size=5)
        yield cls(supervised="dpp_only", sample="greedy", truncation=0.9, group_size=3)
        yield cls(scatter="pairwise", local="either", penalty=0, gamma=0.1, truncation=0.3, group_size=4)
        yield cls(
            redundancy="wilcoxon_literal", scatter="labels_literal", criterion="literal", least_weight=0.15,
            refit="column", group_size=None,
        )  # fmt: skip

    @property
    def traits(self) -> Traits:
        """What the selector can do: class separability needs classes."""
        return Traits(tasks=CLASSIFICATION if self.supervised is True else ANY_TASK, draws_features=True)

    # ---------------------------------------------------------------- deciding

    def _begin(self, y: npt.NDArray[Any]) -> None:
        self._check_parameters()
        classes = np.zeros(0, np.int64)
        if self.supervised is True:
            classes = np.unique(y, return_inverse=True)[1].astype(np.int64)
        test = FisherZ(y, Task(self.task_), self.alpha)
        groups = DiverseGroups(test, classes, paired=self.supervised != "dpp_only")
        groups.plan = self._plan
        self._begin_groups(groups)

    def _check_parameters(self) -> None:
        check_choice("supervised", self.supervised, SUPERVISED)
        if not callable(self.kernel):
            check_choice("kernel", self.kernel, KERNELS)
        check_number("gamma", self.gamma, low=0, open_low=True)
        for name, choices in (
            ("sample", SAMPLES),
            ("redundancy", REDUNDANCY),
            ("scatter", SCATTER),
            ("criterion", CRITERIA),
            ("local", LOCAL),
            ("refit", REFITS),
        ):
            check_choice(name, getattr(self, name), choices)
        check_number("truncation", self.truncation, low=0, high=1, open_high=True)
        check_number("threshold", self.threshold, low=0, high=1, open_low=True)
        check_number("epsilon", self.epsilon, low=0)
        check_number("alpha", self.alpha, low=0, high=1, open_low=True, open_high=True)
        check_number("penalty", self.penalty, low=0)
        check_number("l1_ratio", self.l1_ratio, low=0, high=1, open_low=True)
        check_number("least_weight", self.least_weight, low=0)
        check_number("random_state", self.random_state, low=0, high=2**63 - 1, integer=True)
        self._check_group_size()

    def _plan(self) -> Plan:
        literal, cost = self.criterion == "literal", float(self.penalty)
        lasso, ridge = cost * self.l1_ratio, cost * (1.0 - self.l1_ratio)
        return Plan(
            similarity=Similarity(self.kernel, self.gamma),
            sampler=Sampler(self.sample, self.truncation, int(self.random_state)),
            redundancy=None if self.supervised == "dpp_only" else self.redundancy,
            limit=limit(self.redundancy, self.threshold, self.alpha),
            scatter=self.scatter,
            rule=Separability(
                self.epsilon, self.alpha, self.supervised is True, literal, self.local == "either"
            ),
            best_first=literal and self.supervised is True,
            penalty=Penalty(lasso, ridge, float(self.least_weight)) if cost > 0 else None,
            one_by_one=self.refit == "column",
        )

    def _offer(self, block: ColumnBlock) -> Settled:
        if self.kernel in KERNELS:
            return super()._offer(block)
        before = self._groups_.state()
        try:
            return super()._offer(block)
        except ParameterError:  # a kernel may fail for the hundredth group of a block
            self._groups_ = DiverseGroups.from_state(before)
            self._groups_.plan = self._plan
            raise

    def _line_p_values(self, lines: Lines, redundant: IntArray) -> FloatArray:
        p_value = self._groups_.test.p_value(lines.statistic)
        p_value[redundant] = self._pair_p_values(lines.statistic[redundant])
        if lines.p_value is not None:
            p_value = np.where(np.isnan(lines.p_value), p_value, lines.p_value)
        p_value[lines.reason == NOT_SAMPLED] = np.nan
        return p_value

    def _restored(self) -> None:
        groups = self._groups_
        if not isinstance(groups, DiverseGroups) or groups.paired == (self.supervised == "dpp_only"):
            raise TypeError("its groups are not those of its parameters")
        if (self.supervised is True) != (len(groups.classes) > 0):
            raise ValueError("its classes are not those of the target")
        groups.plan = self._plan
        super()._restored()
