"""Online FDR: test every column at a level that keeps the share of junk among those kept small."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from streamsieve._parameters import check_choice
from streamsieve.base import ColumnSelector, Stop
from streamsieve.columns._orthonormal import OrthonormalModel
from streamsieve.columns._stepwise import Tried, offer_stepwise
from streamsieve.decisions import PValues, Settled
from streamsieve.independence import FisherZ
from streamsieve.independence.multiple_testing import RULES, OnlineFDRProcedure, check_fdr
from streamsieve.protocols import BoolArray, ColumnBlock, FloatArray, IntArray, Task, Traits

TESTS = ("marginal", "conditional")
CONDITIONAL = Traits(tasks=frozenset({Task.BINARY, Task.REGRESSION}))


class OnlineFDR(ColumnSelector):
    """Keep columns so that of all that are kept, however many come, a small share is junk.

    Column t is kept if its p-value is at most its level.  A level depends on what was found before: it
    falls while nothing is found, and every column kept pays for larger ones.  The expected share of false
    ones among those kept, the false discovery rate (FDR), then stays below ``alpha`` at any time, for a
    stream of any length and whatever the size of blocks.  Nothing is ever evicted.

    Parameters
    ----------
    fdr : {"addis", "saffron", "lord", "dlord", "alpha_investing", "lond"}, default="addis"
        How levels follow from what was found.  "addis" charges for a column only if its p-value is between
        1/4 and 1/2, and finds most in simulations; "saffron" charges above 1/2.  "lord" (LORD++) charges for
        every column and suffers least from columns that depend on each other; "dlord" does not charge above
        1/2.  "alpha_investing" (the generalised form, GAI) charges for all columns that are not kept.  "lond"
        is the oldest rule, and the most cautious.
    alpha : float, default=0.05
        Share of false ones among the columns kept that is not to be exceeded in expectation, 0 < alpha < 1.
    lag : int, default=0
        How many columns before a column must not influence its level, 0 to 65,536: about as far as
        neighbouring columns are correlated.  Without it, such neighbours can double the FDR.
    test : {"marginal", "conditional"}, default="marginal"
        What a column is tested for: that it depends on y at all (correlation, or for more than two classes
        the F test), or that it adds to a linear model of y from the columns kept so far (t test).
    task : {"auto", "classification", "regression"}, default="auto"
        What y is; "auto" takes fractional numbers for regression and everything else for labels.
    ledger : {"all", "kept", "none"}, default="all"
        Which decisions to remember.
    stop : Stop or None, default=None
        Rules that end the run early.

    Attributes
    ----------
    selected_ : arrival numbers of the columns kept
    levels_ : the level of each column that the ledger holds, in order; NaN for one that was not tested
    wealth_ : what is left to spend on levels; not there for "lond", which has none
    ledger_ : every decision; the statistic is the correlation (or correlation ratio) with y, or the signed t
        of the column's coefficient
    n_features_in_ : columns offered
    stopped_ : which rule of ``stop`` was met, or None

    Notes
    -----
    With "marginal" every proxy of a true feature is a true discovery, so that many columns are kept that
    repeat each other: use the gate of a selector that looks at redundancy (``SAOLA(fdr=...)``), or
    "conditional".  The guarantee is for independent p-values.  Correlated neighbours break "saffron" and
    "alpha_investing" most: simulated with a correlation of 0.8 and alpha = 0.05, their FDR was 0.12 and 0.10,
    that of "addis" 0.07, and of "addis" with a lag of 5 it was 0.02.

    A column that cannot be tested (constant, collinear, too few rows) is no test: it costs nothing and does
    not count for the lag.  Weights, thresholds and the share of alpha to begin with are those that the papers
    and the R package onlineFDR recommend.  The level of LOND is ``alpha w_t max(1, found)``; its first paper
    has ``found + 1``.

    References
    ----------
    Tian, Ramdas: ADDIS, NeurIPS 2019.  Ramdas, Zrnic, Wainwright, Jordan: SAFFRON, ICML 2018.  Ramdas, Yang,
    Wainwright, Jordan: Online control of the false discovery rate with decaying memory, NeurIPS 2017.
    Javanmard, Montanari: Online rules for control of false discovery rate, Annals of Statistics 2018.
    Aharoni, Rosset: Generalized alpha-investing, JRSS B 2014.  The lag: Zrnic, Ramdas, Jordan: Asynchronous
    online testing of multiple hypotheses, JMLR 2021.

    Examples
    --------
    >>> import numpy as np, streamsieve as ss
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 1000))
    >>> y = X[:, 7] - 2 * X[:, 30] + X[:, 700] + rng.normal(size=200)
    >>> ss.OnlineFDR(alpha=0.1).fit(X, y).selected_
    array([  7,  30, 700])
    >>> sum(d.p_value <= 0.1 for d in ss.OnlineFDR().fit(X, y).ledger_)  # what a fixed level would keep
    113
    """

    _elsewhere: ClassVar[str] = (
        "use test='marginal', say task='regression' if it is a quantity, or offer the columns once for each "
        "class against the rest"
    )

    def __init__(
        self,
        fdr: str = "addis",
        alpha: float = 0.05,
        lag: int = 0,
        test: str = "marginal",
        task: str = "auto",
        ledger: str = "all",
        stop: Stop | None = None,
    ) -> None:
        self.fdr = fdr
        self.alpha = alpha
        self.lag = lag
        self.test = test
        self.task = task
        self.ledger = ledger
        self.stop = stop

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """Each rule, a lag, and the test given the columns kept."""
        for rule in RULES:
            yield cls(rule)
        yield cls(lag=3)
        yield cls(test="conditional")

    @property
    def traits(self) -> Traits:
        """What the selector can do: a linear model has no meaning for many classes."""
        return CONDITIONAL if self.test == "conditional" else self._traits

    def _begin(self, y: npt.NDArray[Any]) -> None:
        check_fdr(self.fdr, self.alpha, self.lag)
        check_choice("test", self.test, TESTS)
        self._gate_ = OnlineFDRProcedure(self.fdr, self.alpha, self.lag)
        self._levels_: list[FloatArray] = []
        if self.test == "marginal":
            self._test_ = FisherZ(y, Task(self.task_), self.alpha)
            self._chosen_: list[IntArray] = []
        else:
            numbers = y == np.unique(y)[1] if self.task_ == Task.BINARY else y
            self._model_ = OrthonormalModel(np.asarray(numbers, np.float64))

    def _selected(self) -> IntArray:
        return _joined(self._chosen_, np.int64) if self.test == "marginal" else self._model_.features

    @property
    def levels_(self) -> FloatArray:
        """The level of each column that the ledger holds, in order; NaN for one that was not tested."""
        return _joined(self._levels_, np.float64)

    @property
    def wealth_(self) -> float:
        """What is left to spend on levels."""
        if self.fdr == "lond":
            raise AttributeError("wealth_ has no meaning for fdr='lond'")
        return self._gate_.wealth()

    # ---------------------------------------------------------------- one block

    def _offer(self, block: ColumnBlock) -> Settled:
        start = self.n_features_in_
        if self.test == "conditional":
            return offer_stepwise(self._model_, block.X, start, self._try)
        measured = self._test_.relevance(block.X)
        found, levels = self._gate_.retest(measured.reason, self._test_.p_value(measured.r))
        self._remember(found, levels)
        if found.any():
            self._chosen_.append(start + np.flatnonzero(found))
        return Settled(start, measured.reason, measured.r, PValues(self._test_.p_value, measured.r))

    def _try(self, drop: FloatArray, testable: BoolArray, _: int) -> Tried:
        """Test columns given the model until one is accepted."""
        f = self._model_.f_statistic(drop)
        p_value = self._model_.p_value(f)
        tested = np.flatnonzero(testable)
        found, some_levels = self._gate_.decide(p_value[tested], until_found=True)
        tested, accepted = tested[: len(found)], bool(found.any())
        done = int(tested[-1]) + 1 if accepted else len(drop)
        levels = np.full(done, np.nan)
        levels[tested] = some_levels
        self._remember(np.isin(np.arange(done), tested[found]), levels)
        return Tried(np.sqrt(f[:done]), p_value[:done], accepted)

    def _remember(self, found: BoolArray, levels: FloatArray) -> None:
        """Keep levels as the ledger keeps decisions, so that memory follows what the user asked for."""
        if self.ledger != "none":
            self._levels_.append(levels if self.ledger == "all" else levels[found])

    # ---------------------------------------------------------------- state

    def _learnt(self) -> dict[str, Any]:
        learnt = super()._learnt()
        for name, kind in (("_levels_", np.float64), ("_chosen_", np.int64)):
            if name in learnt:
                learnt[name] = _joined(learnt[name], kind)
        return learnt

    def _restored(self) -> None:
        gate, levels = self._gate_, self._levels_
        if self.test == "marginal":
            self._chosen_ = [_checked(self._chosen_, np.int64)]
        self._levels_ = [_checked(levels, np.float64)]
        super()._restored()
        kept = self.selected_
        for problem in gate.problems(self.fdr, self.alpha, self.lag, self.n_features_in_):
            raise ValueError(problem)
        if np.any(np.diff(kept) <= 0) or np.any((kept < 0) | (kept >= self.n_features_in_)):
            raise ValueError("the kept columns are none of those offered, or not in order")
        if len(kept) != gate.discoveries:
            raise ValueError("the kept columns are not those that the tests found")


def _joined(parts: list[Any], kind: type) -> npt.NDArray[Any]:
    return np.concatenate([np.zeros(0, kind), *parts])


def _checked(array: Any, kind: type) -> npt.NDArray[Any]:
    if not isinstance(array, np.ndarray) or array.dtype != kind or array.ndim != 1:
        raise ValueError("levels and kept columns are lists of numbers")
    return array
