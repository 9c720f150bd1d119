"""DOFS: diverse columns by a determinantal point process, local criteria, and an elastic net."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from streamsieve._parameters import check_choice
from streamsieve.base import ColumnSelector, Stop
from streamsieve.base.changing_ledgers import ProvisionalLedger
from streamsieve.base.seeded import Seeded
from streamsieve.columns.groups.class_separability import SCATTER, Separability
from streamsieve.columns.groups.diverse import REDUNDANCY, DiverseGroups, DOFSConfig, redundancy_limit
from streamsieve.columns.groups.dpp import KernelFunction, Sampler, Similarity
from streamsieve.columns.groups.elastic_net import ElasticNet
from streamsieve.columns.groups.process import GroupProcess, OffersGroups
from streamsieve.decisions import Outcome
from streamsieve.exceptions import ParameterError
from streamsieve.independence import FisherZ
from streamsieve.protocols import ANY_TASK, CLASSIFICATION, ColumnBlock, Statistic, Task, Traits
from streamsieve.state import Choice, Float, Int, Nested

STAGES = ("all", "unsupervised", "draw")
KERNELS = ("rbf", "squared_correlation")
SAMPLERS = ("dpp", "fixed_size", "greedy")
READINGS = ("corrected", "literal")
LOCAL = ("both", "either")
REFITS = ("group", "column")


class DOFS(Seeded, OffersGroups, ColumnSelector):
    """Diverse online feature selection (DOFS) by a determinantal point process and an elastic net.

    For each group: (1) columns are drawn by a determinantal point process, which favors diverse sets, given
    the kept columns; (2) a drawn column must not be redundant with a kept one and, if ``stages="all"``,
    must raise the class separability of its group; (3) an elastic net over the kept columns and the new ones
    decides which of them stay.

    Offer whole groups with ``offer_group``, or give ``fit`` a label for each column, or let ``group_size``
    cut the stream into groups of equal size.

    Parameters
    ----------
    stages : {"all", "unsupervised", "draw"}, default="all"
        All three stages; all but class separability; or the draw alone.  Only "all" needs class labels.
    kernel : {"rbf", "squared_correlation"} or callable, default="rbf"
        Similarity of two columns of unit variance.  "rbf" is exp(-gamma times their mean squared difference);
        "squared_correlation" does not distinguish a column from its negative.  A function gets two matrices
        of standardized columns and returns the similarities of the columns of the first (rows) with those of
        the second; it must be symmetric and positive semidefinite, and is not saved.
    gamma : float, default=1.0
        For "rbf", above 0 and at most 1e6: larger values make columns less similar.
    sampler : {"dpp", "fixed_size", "greedy"}, default="dpp"
        Draw a set of random size; draw as many columns as there are leading eigenvalues; or choose that
        number greedily, without randomness, each time the column least similar to the others.
    truncation : float, default=0.05
        Proportion of a group's total similarity that may be lost with the smallest eigenvalues, in [0, 1).
    redundancy_test : {"spearman", "wilcoxon_literal", "wilcoxon_reversed"}, default="spearman"
        A column is redundant if its rank correlation with a kept one reaches ``max_rank_correlation``; or if
        Wilcoxon's signed-rank test against one has p > alpha ("wilcoxon_literal", as in the paper) or p <
        alpha ("wilcoxon_reversed").
    max_rank_correlation : float, default=0.9
        For "spearman", in (0, 1].
    scatter : {"moments", "pairwise", "moments_literal", "labels_literal"}, default="moments"
        Variance between classes and within them, from class means, or from distances of pairs of rows.  The
        literal ones are the paper's formulas: classes of equal weight, and label graphs that are swapped.
    reading : {"corrected", "literal"}, default="corrected"
        Columns in order of arrival, and a t test; or best first, and the paper's t against alpha.
    local : {"both", "either"}, default="both"
        Whether a column must pass both redundancy and separability, or one of them.
    min_gain : float, default=0.001
        Least increase in the separability of a group, at least 0.
    alpha : float, default=0.05
        Significance level of the t test and of Wilcoxon's, in (0, 1), for independent rows.
    l1 : float, default=0.15
        Penalty of the elastic net, at least 0, for columns and target of unit variance.  If 0, no model.
    l1_ratio : float, default=0.5
        Proportion of the penalty that is L1, in (0, 1]; the rest is L2.
    least_weight : float, default=0.0
        Columns with a smaller absolute weight in the elastic net are evicted; at least 0.  The paper uses the
        penalty.
    refit : {"group", "column"}, default="group"
        Fit the elastic net once per group or, as in the paper's listing, for every column.
    group_size : int or None, default=10
        Number of consecutive columns that form a group in ``offer`` and ``fit``, at least 1.  If None, each
        column is a group of its own.
    random_state : int or None, default=0
        Seed of the draws, in [0, 2^32).  If None, a seed is drawn when a fit begins, and saved with the
        state.
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
        correlation ratio); for a column that was not sampled, the probability that it is; for a redundant or
        evicted one, its redundancy with the one in ``by``: rank correlation (or Wilcoxon's p-value, or 1
        minus that), or correlation if the elastic net dropped it
    n_features_in_ : number of columns offered
    stopped_ : which rule of ``stop`` was met, or None

    Notes
    -----
    **Formula.** A set Y of a group is drawn with probability proportional to ``det(M_Y)``, where M is the
    group's similarity matrix given the kept columns; then ``|Spearman| < max_rank_correlation`` and the class
    separability ``sum b / sum w`` admit columns, and an elastic net keeps those of non-zero coefficient.

    **When it fails.** The draw ignores the target, so an informative column of a large group may never be
    looked at, and another seed gives another selection. See :class:`GroupSAOLA` for a rule without draws.

    The uniform draw for a column depends only on ``random_state`` and its arrival number, so that neither the
    size of blocks nor reading attributes changes anything.  A group is decided when it is complete; until
    then ``selected_``, ``groups_`` and the last lines of ``ledger_`` are provisional, as if it ended here.
    Memory grows with the columns kept and one group.

    A set is drawn item by item from the marginal kernel, which is the same distribution as drawing
    eigenvectors first.  Given kept columns, the similarities are conditional ones (the Schur complement), so
    that a copy of a kept column is never drawn.  The paper does not define its reconstruction error; here the
    smallest eigenvalues are dropped as long as their sum is below ``truncation`` times the trace of the
    group's similarities.

    Literal readings of the paper: Wilcoxon's test compares the locations of two columns, not their
    dependence, so that under the literal rule all centered columns are redundant; two prototypes of the
    author differ in its direction.  The paper's label graphs are swapped, which inverts the score; its t has
    the wrong sign and is compared with a level.  Sorted from best to worst, a group has hardly more than one
    column that raises separability.  The tables of the paper cannot be reproduced from its text; these
    options show what each reading does.

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
    >>> sieve = DOFS(sampler="greedy").begin(y)
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

    _statistic = Statistic("correlation", redundancy="redundancy")
    parameters = {
        "stages": Choice(*STAGES),
        "gamma": Float(0, 1e6, open_low=True),
        "sampler": Choice(*SAMPLERS),
        "truncation": Float(0, 1, open_high=True),
        "redundancy_test": Choice(*REDUNDANCY),
        "max_rank_correlation": Float(0, 1, open_low=True),
        "scatter": Choice(*SCATTER),
        "reading": Choice(*READINGS),
        "local": Choice(*LOCAL),
        "min_gain": Float(0),
        "alpha": Float(0, 1, open_low=True, open_high=True),
        "l1": Float(0),
        "l1_ratio": Float(0, 1, open_low=True),
        "least_weight": Float(0),
        "refit": Choice(*REFITS),
        "group_size": Int(1, optional=True),
    }
    fields = {"ledger_": Nested(ProvisionalLedger), "_process_": Nested(GroupProcess, shares=("rows",))}

    _elsewhere = "use stages='unsupervised', or Grafting"
    _process_: GroupProcess[DiverseGroups]

    def __init__(
        self,
        stages: str = "all",
        *,
        kernel: str | KernelFunction = "rbf",
        gamma: float = 1.0,
        sampler: str = "dpp",
        truncation: float = 0.05,
        redundancy_test: str = "spearman",
        max_rank_correlation: float = 0.9,
        scatter: str = "moments",
        reading: str = "corrected",
        local: str = "both",
        min_gain: float = 0.001,
        alpha: float = 0.05,
        l1: float = 0.15,
        l1_ratio: float = 0.5,
        least_weight: float = 0.0,
        refit: str = "group",
        group_size: int | None = 10,
        random_state: int | None = 0,
        task: str = "auto",
        ledger: str = "all",
        stop: Stop | None = None,
    ) -> None:
        self.stages = stages
        self.kernel = kernel
        self.gamma = gamma
        self.sampler = sampler
        self.truncation = truncation
        self.redundancy_test = redundancy_test
        self.max_rank_correlation = max_rank_correlation
        self.scatter = scatter
        self.reading = reading
        self.local = local
        self.min_gain = min_gain
        self.alpha = alpha
        self.l1 = l1
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
        """Yield the three values of stages, the other draws, and the paper's own criteria."""
        yield cls()
        yield cls(stages="unsupervised", kernel="squared_correlation", sampler="fixed_size", group_size=5)
        yield cls(stages="draw", sampler="greedy", truncation=0.9, group_size=3)
        yield cls(scatter="pairwise", local="either", l1=0, gamma=0.1, truncation=0.3, group_size=4)
        yield cls(
            redundancy_test="wilcoxon_literal", scatter="labels_literal", reading="literal",
            least_weight=0.15, refit="column", group_size=None,
        )  # fmt: skip

    @property
    def traits(self) -> Traits:
        """Capabilities of the selector: class separability needs classes."""
        tasks = CLASSIFICATION if self.stages == "all" else ANY_TASK
        return Traits(tasks=tasks, draws_features=True, defers=True)

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters; a kernel takes effect at once, because a function is not saved."""
        super().set_params(**parameters)
        if "_process_" in self.__dict__:
            self._process_.store.compare_by(Similarity(self.kernel, self.gamma))
        return self

    def _compose(self, y: npt.NDArray[Any], task: Task) -> GroupProcess[DiverseGroups]:
        if not callable(self.kernel):  # a file has None for a function
            check_choice("kernel", self.kernel, KERNELS)
        classes = None
        if self.stages == "all":
            classes = np.unique(y, return_inverse=True)[1].astype(np.int64)
        store = DiverseGroups(
            FisherZ(y, task, self.alpha, p_value="t"), classes, compared=self.stages != "draw"
        )
        store.config = self._config()
        return GroupProcess(store, self.group_size)

    def _config(self) -> DOFSConfig:
        literal, cost = self.reading == "literal", float(self.l1)
        lasso, ridge = cost * self.l1_ratio, cost * (1.0 - self.l1_ratio)
        return DOFSConfig(
            similarity=Similarity(self.kernel, self.gamma),
            sampler=Sampler(self.sampler, self.truncation, self._seed),
            redundancy=None if self.stages == "draw" else self.redundancy_test,
            limit=redundancy_limit(self.redundancy_test, self.max_rank_correlation, self.alpha),
            scatter=self.scatter,
            separability=Separability(
                self.min_gain, self.alpha, self.stages == "all", literal, self.local == "either"
            ),
            best_first=literal and self.stages == "all",
            model=ElasticNet(lasso, ridge, float(self.least_weight)) if cost > 0 else None,
            one_by_one=self.refit == "column",
        )

    def _offer(self, block: ColumnBlock) -> Outcome:
        if self.kernel in KERNELS:
            return super()._offer(block)
        before = self._process_.copy()
        try:
            return super()._offer(block)
        except ParameterError:  # a function may fail for the hundredth group of a block
            before.store.config = self._process_.store.config
            self._process_ = before
            raise

    def _restored(self) -> None:
        self._process_.store.config = self._config()
        super()._restored()

    def _consistent(self) -> Iterator[str]:
        yield from super()._consistent()
        yield from self._process_.problems(DiverseGroups, self.group_size, self.n_features_in_)
        store = self._process_.store
        if isinstance(store, DiverseGroups) and (
            store.compared is (self.stages == "draw") or (store.classes is None) is (self.stages == "all")
        ):
            yield "its groups are not those of its parameters"
