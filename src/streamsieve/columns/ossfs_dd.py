"""OSSFS-DD: three-way decisions by how a column's dependence on y compares with all columns so far."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Self

import numpy.typing as npt

from streamsieve._parameters import check_number
from streamsieve.base import ColumnSelector, Stop
from streamsieve.base.changing_ledgers import ProvisionalLedger
from streamsieve.columns.redundancy.three_way import ThreeWay, ThreeWayConfig
from streamsieve.independence import FisherZ
from streamsieve.independence.p_values import OF_CORRELATIONS
from streamsieve.protocols import Statistic, Task, Traits
from streamsieve.state import Choice, Float, Int, Nested

VARIANTS = ("code", "paper")


class OSSFSDD(ColumnSelector):
    """Online streaming feature selection by three-way dynamic decisions (OSSFS-DD).

    With the mean and the standard deviation of all dependences on y so far, a column up to ``lower``
    standard deviations above the mean is discarded.  From ``upper`` standard deviations on it is a candidate:
    if it and a member are redundant, the weaker of the two leaves.  In between it waits; when ``pool``
    columns wait, or the run ends, pairs of them that are informative together are kept and the others are
    discarded.

    As long as fewer than ``floor`` columns are kept, the best ``floor`` columns by mRMR (``TopK``) are
    selected instead.

    Parameters
    ----------
    lower : float, default=1.0
        Standard deviations above the mean up to which a column is discarded, at least 0.
    upper : float, default=2.0
        Standard deviations above the mean from which on a column is a candidate, at least ``lower``.
    pool : int, default=100
        Largest number of waiting columns, at least 1.
    floor : int, default=15
        Minimum number of columns to select, if enough are significant; 0 for no minimum.
    variant : {"code", "paper"}, default="code"
        Whether to follow the authors' code or the text of the paper; see Notes.
    alpha : float, default=0.05
        Significance level, in (0, 1), of the test of two columns ("code") and of columns below the floor, for
        independent rows.
    p_value : {"auto", "confirmed", "t", "z"}, default="auto"
        How p-values are computed; see ``SAOLA``.  The test of two columns given y is by t, or by "z" as in
        the authors' code.
    task : {"auto", "classification", "regression"}, default="auto"
        Type of target; "auto" infers it: fractional numbers, or more than 20 distinct whole numbers with
        fewer than 10 rows each, mean regression, anything else classification.
    ledger : {"all", "kept", "none"}, default="all"
        Which decisions to record.
    stop : Stop or None, default=None
        Early-stopping rules.

    Attributes
    ----------
    selected_ : arrival numbers of the columns selected, as if no more columns arrived
    n_waiting_ : number of columns that wait for a partner
    thresholds_ : dependences on y up to which a column is discarded, and from which on it is a candidate
    ledger_ : every decision; the statistic is the correlation with y (for more than two classes the
        correlation ratio), or for a redundant or evicted column its correlation with the one in ``by``.  A
        column kept after it waited has its partner in ``by``.  Below the floor, decisions are those of
        ``TopK``
    n_features_in_ : number of columns offered
    stopped_ : which rule of ``stop`` was met, or None

    Notes
    -----
    **Formula.** With mu and sigma the mean and standard deviation of all dependences ``v = dep(f, y)`` so
    far: discarded if ``v <= mu + lower sigma``, candidate if ``v >= mu + upper sigma``, deferred in between.
    Members s and f are redundant if ``dep(s, y) + dep(s, y | f) < 2 (mu + upper sigma)``.

    **When it fails.** The thresholds are relative: where nearly all columns are informative few stand out,
    and where none is some still do. There is no bound on false discoveries.

    Dependence is the absolute correlation, or the correlation ratio.  Two columns s and f are redundant if
    dep(s, y) + dep(s, y | f) < 2 upper; two waiting columns are a pair if that is above 2 upper.  "code"
    keeps the first two columns without examining them, does not look for redundancy where dep(s, y | f) is
    not significant, and evicts nothing for a candidate that is rejected itself.  Copies are always redundant;
    the code would keep them.

    The paper's thresholds fail where columns are few or their dependences skewed: hardly any stands out.  The
    floor is our safeguard.  Below it no decision is final, and ``ledger_`` and ``selected_`` are provisional,
    as if no more columns arrived; ``offer`` returns decisions as they become final, which is when no earlier
    column waits.  Once the floor is reached, no column is evicted that would take the selection below it.
    Memory grows with the columns kept and waiting, and 25 bytes per deferred decision.

    The result depends on the order of columns, but not on the size of blocks.

    References
    ----------
    Zhou, Zhao, Yan, Wu: Online streaming feature selection via three-way dynamic decision, ACM TKDD, 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve.columns.ossfs_dd import OSSFSDD
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 300)
    >>> X = rng.normal(size=(300, 500))
    >>> X[:, 100::50] += y[:, None]
    >>> sieve = OSSFSDD(floor=0, variant="paper").fit(X, y)
    >>> sieve.selected_[sieve.selected_ % 50 == 0]
    array([100, 150, 200, 250, 300, 350, 400, 450])
    >>> print(sieve.ledger_.why("x17"))
    x17: rejected, irrelevant (correlation 0.0283 with class 1, p 0.63)
    """

    _traits = Traits(defers=True, grouped_rows=True)
    _statistic = Statistic("correlation", redundancy="between")
    parameters = {
        "lower": Float(0),
        "upper": Float(),
        "pool": Int(1),
        "floor": Int(0),
        "variant": Choice(*VARIANTS),
        "alpha": Float(0, 1, open_low=True, open_high=True),
        "p_value": Choice("auto", *OF_CORRELATIONS),
    }
    fields = {"ledger_": Nested(ProvisionalLedger), "_process_": Nested(ThreeWay, shares=("rows",))}

    def __init__(
        self,
        lower: float = 1.0,
        *,
        upper: float = 2.0,
        pool: int = 100,
        floor: int = 15,
        variant: str = "code",
        alpha: float = 0.05,
        p_value: str = "auto",
        task: str = "auto",
        ledger: str = "all",
        stop: Stop | None = None,
    ) -> None:
        self.lower = lower
        self.upper = upper
        self.pool = pool
        self.floor = floor
        self.variant = variant
        self.alpha = alpha
        self.p_value = p_value
        self.task = task
        self.ledger = ledger
        self.stop = stop

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """Yield both variants, with and without a floor."""
        yield cls()
        yield cls(floor=0, pool=3)
        yield cls(lower=0.5, upper=1.5, pool=4, floor=3, variant="paper")

    def _check_together(self) -> None:
        check_number("upper", self.upper, low=self.lower)

    def _config(self) -> ThreeWayConfig:
        return ThreeWayConfig(
            float(self.lower), float(self.upper), int(self.pool), int(self.floor), self.variant == "code"
        )

    def _compose(self, y: npt.NDArray[Any], task: Task) -> ThreeWay:
        return ThreeWay(FisherZ(y, task, self.alpha, p_value=self.p_value), self._config())

    def _consistent(self) -> Iterator[str]:
        yield from super()._consistent()
        if self._process_.config != self._config():
            yield "the process has other parameters"
        if self.p_value not in ("auto", self._process_.test.p_value):
            yield f"the test has other p-values than p_value={self.p_value!r}"
        yield from self._process_.deferred.problems(self.n_features_in_)

    @property
    def n_waiting_(self) -> int:
        """Number of columns that wait for a partner."""
        return len(self._process_for("n_waiting_").columns.waiting)

    @property
    def thresholds_(self) -> tuple[float, float]:
        """Dependences up to which a column is discarded, and from which on it is a candidate."""
        thresholds: tuple[float, float] = self._process_for("thresholds_").thresholds
        return thresholds
