"""InteractionScan: columns that are informative alone, or in pairs within a bounded pool."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from streamsieve._caller import warn
from streamsieve._kernels.interaction_scan import LEVELS
from streamsieve.base import ColumnSelector, Stop
from streamsieve.base.changing_ledgers import ProvisionalLedger
from streamsieve.column_types import ColumnTypes, TypesParameter
from streamsieve.columns.redundancy.interactions import Interactions, bins_for
from streamsieve.columns.redundancy.partner_pools import LARGEST_POOL, POOL_BYTES, PartnerPools
from streamsieve.decisions import Outcome
from streamsieve.dependence.target import discretize_target
from streamsieve.independence.p_values import OF_TABLES, resolve_auto
from streamsieve.protocols import ColumnBlock, IntArray, Statistic, Task, Traits
from streamsieve.state import Choice, Float, IntOr, Nested


class InteractionScan(ColumnSelector):
    """Marginal and pairwise information from streaming columns, within a bounded pool of partners.

    Every column is tested alone, and with each of the last ``pool`` marginally irrelevant columns and of the
    last ``pool`` columns kept.  If a pair is more informative about y than the better of the two, both are
    kept.  This finds an exclusive or, of which neither column is associated with y.

    Parameters
    ----------
    pool : int or "auto", default="auto"
        Number of marginally irrelevant columns to remember as partners, and as many kept ones, in
        [1, 65536].  A pair farther apart is not found; ``n_missed_pairs_`` counts such pairs.  "auto" is the
        number that fits into 256 MiB: 65,536 columns of 2,000 rows, 1,500 of 100,000 rows.  A column is
        tested with every partner in the pool, so over a long stream a smaller pool takes less time.
    alpha : float, default=0.05
        Bound on the family-wise error rate, the probability of any false rejection among all tests of the
        stream, in (0, 1).  It holds for any dependence between columns, as far as the p-values hold (they are
        asymptotic) and if rows are independent.
    bins : int or "auto", default="auto"
        Number of equal-frequency bins for columns with more than 8 distinct values, in [2, 8].  "auto" is the
        largest of 4, 3 and 2 for which the expected count of a cell of two binned columns and y is at least 5
        (Cochran's rule): 4 from 80 rows per class, 3 from 45.  Two bins cannot detect a symmetric effect,
        such as that of the distance from the center.
    types : dict of str to str, str or None, default=None
        Types of columns by name, as ``{"zip": "nominal"}``, or one type for all: "numeric", "ordinal",
        "nominal" or "binary".  A nominal column keeps its 7 most frequent levels, and the others are pooled
        into one with a warning; other columns of more than 8 values are cut into bins.  Other types are
        inferred from the dtype or guessed.
    p_value : {"auto", "moments", "chi2"}, default="auto"
        How p-values are computed.  "moments", the default, takes the mean and variance of Pearson's
        statistic over all permutations, with Fisher's exact test for every 2 x 2 table of a column and y;
        see ``GSquared``.  "chi2" is the limiting chi-squared distribution of G, with which ``alpha`` does
        not hold for columns of many levels: 0.20 instead of 0.05 for 40 columns of 8 levels, 5 classes and
        1,200 rows.
    task : {"auto", "classification", "regression"}, default="auto"
        Type of target; "auto" infers it: fractional numbers, or more than 20 distinct whole numbers with
        fewer than 10 rows each, mean regression, anything else classification.  A numeric y is discretized
        into 5 classes of equal frequency.
    ledger : {"all", "kept", "none"}, default="all"
        Which decisions to record.
    stop : Stop or None, default=None
        Rules that end the run early; a pair may bring two columns at once.

    Attributes
    ----------
    selected_ : arrival numbers of the columns kept
    pairs_ : arrival numbers of the columns kept together, one pair per row, in the order they were found
    n_pairs_ : number of pairs tested
    n_pooled_ : number of columns in the pool
    n_missed_pairs_ : number of pairs that were not tested because one column had left the pool before the
        other arrived; with ``pool="auto"``, the first raises a warning
    ledger_ : every decision; the statistic is the likelihood ratio statistic (G) of the column and y, or for
        a column kept for a pair that of the pair given the better of the two, with the partner in ``by``
    n_features_in_ : number of columns offered
    column_types_ : types of the columns by name
    stopped_ : which rule of ``stop`` was met, or None

    Notes
    -----
    **Formula.** ``G = 2 n I(b; y | a)`` over the table of two columns and the class, tested by chi-squared at
    level ``alpha / (4.22 (t + 1) ln^2(t + 1))`` divided by the number of pairs of the t-th column.

    **When it fails.** Partners further apart in the stream than ``pool`` irrelevant columns never meet.
    Numeric columns are cut into bins, and with few rows the tables of pairs are too sparse to be tested.

    The decision on a marginally irrelevant column is deferred as long as it is in the pool: until then
    ``ledger_`` and ``selected_`` are provisional, and ``offer`` returns decisions as they become final.

    G is reported; by "moments" Pearson's statistic of the same table is tested, and confirmed by exact tests
    where an expected count is below 1.  The G of a pair is 2 n I(b; y | a), where a has the larger mutual
    information with y; degrees of freedom count the categories that occur.  Testing b given any other
    column, as is sometimes done, would find a pair for every partner of a column that is relevant by itself.
    A table with fewer than five rows per degree of freedom is not tested.

    The t-th column that varies is tested at the level ``alpha / (2.11 (t + 1) ln^2(t + 1))``, half of which
    is for the column alone and half for all its pairs together (Bonferroni); the levels sum to alpha.

    Redundant columns are kept, and three columns that are informative only together are not found.

    References
    ----------
    Zhou, Li, Zhao, Wu: Feature interaction for streaming feature selection, IEEE TNNLS 32(10), 2021 (the aim;
    there a column that fails alone is dropped before pairs are examined, so that this is another method).
    Spirtes, Glymour, Scheines: Causation, Prediction, and Search, 2000 (the test).

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve.columns.interaction_scan import InteractionScan
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 2, (500, 100))
    >>> y = X[:, 20] ^ X[:, 70] ^ (rng.random(500) < 0.1)
    >>> sieve = InteractionScan().fit(X, y)
    >>> sieve.selected_
    array([20, 70])
    >>> print(sieve.ledger_.why("x20"))
    x20 (binary): kept, relevant given {x70} (G2 394, p 2.4e-74)
    """

    _traits = Traits(text=True, defers=True, grouped_rows=True)
    _most_levels: ClassVar[int | None] = LEVELS
    _no_holdout: ClassVar[str] = (
        "a column kept for a pair is informative only together with its partner, but confirm tests single "
        "columns: test the pairs_ on rows of your own"
    )
    _statistic = Statistic("G2")
    parameters = {
        "pool": IntOr("auto", 1, LARGEST_POOL),
        "alpha": Float(0, 1, open_low=True, open_high=True),
        "bins": IntOr("auto", 2, LEVELS),
        "types": TypesParameter(),
        "p_value": Choice("auto", *OF_TABLES),
    }
    fields = {"ledger_": Nested(ProvisionalLedger), "_process_": Nested(Interactions, shares=("rows",))}

    def __init__(
        self,
        pool: int | str = "auto",
        *,
        alpha: float = 0.05,
        bins: int | str = "auto",
        types: ColumnTypes = None,
        p_value: str = "auto",
        task: str = "auto",
        ledger: str = "all",
        stop: Stop | None = None,
    ) -> None:
        self.pool = pool
        self.alpha = alpha
        self.bins = bins
        self.types = types
        self.p_value = p_value
        self.task = task
        self.ledger = ledger
        self.stop = stop

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """Yield the automatic pool, which is large, and a small one."""
        yield cls()
        yield cls(pool=7, alpha=0.5, bins=3)

    @property
    def _knows_types(self) -> bool:
        return self._dependence.independent

    def _compose(self, y: npt.NDArray[Any], task: Task) -> Interactions:
        pools = PartnerPools(discretize_target(y, task), None if self.pool == "auto" else int(self.pool))
        bins = self._bins(len(y), len(pools.class_counts))
        return Interactions(pools, float(self.alpha), bins, resolve_auto(self.p_value, OF_TABLES))

    def _bins(self, n: int, classes: int) -> int:
        return bins_for(n, classes) if self.bins == "auto" else int(self.bins)

    def _offer(self, block: ColumnBlock) -> Outcome:
        pools: PartnerPools = self._process_.pools
        complete = pools.n_left == 0
        outcome = super()._offer(block)
        if self.pool == "auto" and complete and pools.n_left:
            warn(
                f"the pool is full: {POOL_BYTES // 2**20} MiB hold {pools.size} columns of {pools.n} rows, "
                "so columns farther apart are not tested as pairs (n_missed_pairs_ counts them); set pool= "
                "to the number of columns to remember"
            )
        return outcome

    def _consistent(self) -> Iterator[str]:
        yield from super()._consistent()
        process, pools = self._process_, self._process_.pools
        bound = pools.size, process.alpha, process.bins, process.p_value
        size = pools.affordable if self.pool == "auto" else self.pool
        bins = self._bins(pools.n, len(pools.class_counts))
        if bound != (size, self.alpha, bins, resolve_auto(self.p_value, OF_TABLES)):
            yield "the process has other parameters"
        if max([pools.tests - 1, *pools.kept]) >= self.n_features_in_:
            yield "a column was tested or kept that was never offered"
        yield from process.deferred.problems(self.n_features_in_)

    @property
    def pairs_(self) -> IntArray:
        """Arrival numbers of the columns kept together, one pair per row."""
        return np.array(self._process_for("pairs_").pools.pairs, np.int64).reshape(-1, 2)

    @property
    def n_pairs_(self) -> int:
        """Number of pairs tested."""
        n_pairs: int = self._process_for("n_pairs_").pools.n_pairs
        return n_pairs

    @property
    def n_missed_pairs_(self) -> int:
        """Number of pairs not tested because one column had left the pool before the other arrived."""
        n_missed: int = self._process_for("n_missed_pairs_").pools.n_missed
        return n_missed

    @property
    def n_pooled_(self) -> int:
        """Number of columns in the pool."""
        return len(self._process_for("n_pooled_").pools.pooled)
