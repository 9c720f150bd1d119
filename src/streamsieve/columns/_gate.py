"""At what level to test the next column, so that few of all columns kept are junk, however many come."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from streamsieve._kernels import online_fdr
from streamsieve._kernels.online_fdr import AHEAD, CLOCK, FOUND, OPENED, TABLED, TESTS, WINDOW
from streamsieve._parameters import check_choice, check_number
from streamsieve.exceptions import StateError
from streamsieve.protocols import Arrays, BoolArray, FloatArray, Reason
from streamsieve.state import expect, register
from streamsieve.verdicts import REASON_CODE

#: Longest lag: what an account pays when it is opened must still stand in the table of weights.
LONGEST_LAG = 2**16
#: Discoveries that there is room for at first.
FIRST_ROOM = 64
#: No limit to the discoveries of a call.
ANY_NUMBER = 2**62
#: P-values of few rows can be 1/4 or 1/2 up to rounding, which must not decide whether they tick.
EDGE = 1 + 1e-9

RELEVANT, IRRELEVANT = REASON_CODE[Reason.RELEVANT], REASON_CODE[Reason.IRRELEVANT]


class Rule(NamedTuple):
    """What tells one rule from another; ``_kernels/online_fdr.py`` has the recursion they share."""

    #: Which tests tick: 0 all, 1 p <= high, 2 p > low, 3 low < p <= high, 4 those that found nothing.
    ticking: int
    #: Whether the weights are those of LORD, or fall as a power.
    lord_weights: bool
    #: Share of alpha to spend before the first discovery.
    first: float
    low: float = 0.0
    high: float = 1.0
    #: 0 the level as it is, 1 v / (1 + v), 2 LOND.
    form: int = 0

    def plan(self, alpha: float) -> tuple[float, float, float, float, float, float, float, int, int]:
        """Return the numbers that the kernel works with."""
        amount = alpha * self.high if self.ticking == 1 else alpha
        first = amount * self.first
        # the share of null p-values that tick, and the largest level
        factor = {2: 1.0 - self.low, 3: self.high - self.low}.get(self.ticking, 1.0)
        cap = {1: self.high, 2: self.low, 3: self.low}.get(self.ticking, 1.0)
        low, high = self.low * EDGE, self.high * EDGE
        return first, amount - first, amount, factor, cap, low, high, self.ticking, self.form


RULES = {
    "lord": Rule(0, lord_weights=True, first=0.1),
    "dlord": Rule(1, lord_weights=True, first=0.1, high=0.5),
    "saffron": Rule(2, lord_weights=False, first=0.5, low=0.5),
    "addis": Rule(3, lord_weights=False, first=0.5, low=0.25, high=0.5),
    "alpha_investing": Rule(4, lord_weights=False, first=0.5, form=1),
    "lond": Rule(0, lord_weights=True, first=0.0, form=2),
}


@register
class Gate:
    """The levels of a stream of tests; what was found so far pays for what is tested next.

    For a selector that tests columns for relevance, so that a test at a fixed level becomes one of a stream:

    * in ``_begin``: ``check_gate(fdr, alpha, lag, optional=True)``; ``self._gate_ = Gate(fdr, alpha, lag)``;
    * in ``_offer``, once a block: ``self._gate_.regrade(reason, p_values)``, with the reasons that the test
      at a fixed level gave and the p-values of all columns, in order; then go on with what is relevant.  The
      level of that test does not matter, but a column that could not be tested must have a reason that says
      so: it is no test, and costs nothing;
    * ``_offer_one`` returns None: a single column is a block like any other;
    * ``self._gate_.check(fdr, alpha, lag, n_features_in_)`` in ``_restored``.

    Parameters
    ----------
    rule : one of ``RULES``
    alpha : share of false ones among all columns kept that is not to be exceeded in expectation
    lag : tests whose outcome must not influence the level of a test, because neighbours are alike

    References
    ----------
    Javanmard, Montanari (2018); Ramdas, Yang, Wainwright, Jordan (2017); Ramdas, Zrnic, Wainwright, Jordan
    (2018); Tian, Ramdas (2019); Aharoni, Rosset (2014).  The lag: Zrnic, Ramdas, Jordan (2021).
    """

    def __init__(self, rule: str, alpha: float, lag: int = 0) -> None:
        self.rule, self.alpha, self.lag = rule, float(alpha), int(lag)
        self._plan = RULES[rule].plan(self.alpha)
        self._counters = np.zeros(6, np.int64)
        self._counters[AHEAD] = -1
        self._ticks = np.zeros(self.lag + 1, bool)
        self._found_at = np.zeros(FIRST_ROOM, np.int64)
        self._opened_at = np.zeros(FIRST_ROOM, np.int64)
        self._ahead = np.zeros(WINDOW)
        self._weights = np.zeros(0)

    @property
    def tests(self) -> int:
        """Tests made so far."""
        return int(self._counters[TESTS])

    @property
    def discoveries(self) -> int:
        """Tests that found something."""
        return int(self._counters[FOUND])

    # ---------------------------------------------------------------- testing

    def decide(self, p_values: FloatArray, *, until_found: bool = False) -> tuple[BoolArray, FloatArray]:
        """Judge p-values in order; return which are discoveries, and the level of each test.

        ``until_found``: come back after the first discovery, with as many answers as tests were made.  A
        p-value that is NaN counts as 1.
        """
        p_values = np.where(np.isnan(p_values), 1.0, p_values)
        n = len(p_values)
        found, levels = np.zeros(n, bool), np.empty(n)
        self._make_weights(n)
        most = self.discoveries + 1 if until_found else ANY_NUMBER
        done = 0
        while True:
            done += online_fdr.decide(
                p_values[done:], self._plan, self.lag, most, self._weights, RULES[self.rule].lord_weights,
                self._counters, self._ticks, self._found_at, self._opened_at, self._ahead,
                levels[done:], found[done:],
            )  # fmt: skip
            if done == n or self.discoveries == most:
                return found[:done], levels[:done]
            self._found_at, self._opened_at = (
                np.concatenate([room, np.zeros_like(room)]) for room in (self._found_at, self._opened_at)
            )

    def regrade(self, reason: npt.NDArray[np.uint8], p_values: FloatArray) -> tuple[BoolArray, FloatArray]:
        """Put this gate in the place of a test at a fixed level: change the reasons of a block.

        Every column that was found relevant or irrelevant is tested, once, and becomes relevant if it is a
        discovery, else irrelevant.  A column with another reason (it is constant, there are too few rows) was
        not tested: the reason stays, and its level is NaN.  Returns discoveries and levels of all columns.
        """
        tested = np.flatnonzero((reason == RELEVANT) | (reason == IRRELEVANT))
        found, levels = np.zeros(len(reason), bool), np.full(len(reason), np.nan)
        found[tested], levels[tested] = self.decide(np.asarray(p_values[tested]))
        reason[tested] = np.where(found[tested], RELEVANT, IRRELEVANT)
        return found, levels

    def _make_weights(self, more: int) -> None:
        wanted = min(TABLED, self.tests + more + WINDOW + self.lag + 2)
        if len(self._weights) < wanted:
            room = min(TABLED, max(wanted, 2 * len(self._weights)))
            self._weights = online_fdr.weights(room, RULES[self.rule].lord_weights)

    # ---------------------------------------------------------------- wealth

    def wealth(self) -> float:
        """Return what is left in all accounts; LOND has none: NaN.

        At a lag, discoveries too young to be used do not count yet, and tests without outcome count as ticks.
        """
        first, second, amount, *_, form = self._plan
        if form == 2:
            return float("nan")
        before, clock = self.tests, int(self._counters[CLOCK])
        resolved = max(0, before - self.lag)
        if self.lag > 0 and resolved > 0 and self._ticks[resolved % len(self._ticks)]:
            clock += 1
        found_at = self._found_at[: self.discoveries]
        found_at = found_at[found_at + self.lag <= before]
        age = np.minimum(self.lag, before - found_at - self.lag)
        opened_at = self._opened_at[: len(found_at)].copy()
        opened_at[self._counters[OPENED] :] = clock
        has_account = found_at + self.lag <= resolved
        age[has_account] = (clock - opened_at + self.lag)[has_account]
        amounts = np.full(1 + len(age), amount)
        amounts[:2] = (first, second)[: len(amounts)]
        ages = np.concatenate([[clock + before - resolved], age])
        order = np.argsort(ages, kind="stable")
        left = 1.0 - online_fdr.spent(ages[order], RULES[self.rule].lord_weights)
        return float(amounts[order] @ left)

    # ---------------------------------------------------------------- state

    def state(self) -> Arrays:
        """Return the rule, the clock and the discoveries."""
        found = self.discoveries
        return {
            "rule": np.array([list(RULES).index(self.rule), self.lag], np.int64),
            "alpha": np.array([self.alpha]),
            "counters": self._counters[:AHEAD],
            "ticks": self._ticks,
            "found_at": self._found_at[:found],
            "opened_at": self._opened_at[:found],
        }

    def check(self, rule: str, alpha: float, lag: int, offered: int) -> None:
        """Refuse (``ValueError``) a selector with other parameters, or fewer columns than tests."""
        if (self.rule, self.alpha, self.lag) != (rule, float(alpha), lag):
            raise ValueError("the gate's rule, alpha and lag are not those of the selector")
        if self.tests > offered:
            raise ValueError(f"the gate made {self.tests} tests, but {offered} columns were offered")

    @classmethod
    def from_state(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Rebuild, after checking that the clock fits the discoveries."""
        number, lag = expect(arrays, "rule", np.int64, (2,)).tolist()
        alpha = float(expect(arrays, "alpha", np.float64, (1,))[0])
        if not 0 <= number < len(RULES) or not 0 <= lag <= LONGEST_LAG or not 0 < alpha < 1:
            raise StateError(f"the state claims rule {number} with alpha={alpha} and lag={lag}")
        ticks = expect(arrays, "ticks", np.bool_, (lag + 1,))
        counters = expect(arrays, "counters", np.int64, (AHEAD,))
        tests, clock, found, usable, opened = counters.tolist()
        if not 0 <= opened <= usable <= found <= tests or not 0 <= clock <= tests:
            raise StateError("the state's counts of tests do not fit together")
        found_at = expect(arrays, "found_at", np.int64, (found,))
        opened_at = expect(arrays, "opened_at", np.int64, (found,))
        if np.any(np.diff(found_at) <= 0) or np.any((found_at < 1) | (found_at > tests)):
            raise StateError("the state's discoveries are not in order")
        if np.any(np.diff(opened_at[:opened]) < 0) or np.any((opened_at < 0) | (opened_at > clock)):
            raise StateError("the state's clock runs backwards")
        if np.any(found_at[:usable] + lag > tests) or np.any(found_at[:opened] + 2 * lag > tests):
            raise StateError("the state's discoveries pay before their time")
        gate = cls(list(RULES)[number], alpha, lag)
        gate._counters[:AHEAD] = counters
        gate._ticks[:] = ticks
        room = np.zeros(FIRST_ROOM, np.int64)
        gate._found_at, gate._opened_at = (np.concatenate([at, room]) for at in (found_at, opened_at))
        return gate


def check_gate(fdr: str | None, alpha: float, lag: int, *, optional: bool = False) -> None:
    """Refuse parameters of a gate that make no sense, by name; an optional one may be None."""
    check_choice("fdr", fdr, (None, *RULES) if optional else RULES)
    check_number("alpha", alpha, low=0, high=1, open_low=True, open_high=True)
    check_number("lag", lag, low=0, high=LONGEST_LAG, integer=True)
