"""Checks of the parts that a column selector is composed of: measures, tests, redundancy rules."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from streamsieve.columns import SAOLA, FastOSFS
from streamsieve.columns.redundancy.contract import Candidates, RedundancyRule
from streamsieve.decisions import KEPT, Outcome
from streamsieve.dependence.contract import Measure
from streamsieve.exceptions import StateError
from streamsieve.independence import FisherZ
from streamsieve.independence.contract import ConditionalTest
from streamsieve.protocols import FloatArray, Task
from streamsieve.testing._data import decisions

#: Pairs of independent columns by which the size of a test is estimated, and the level at which.
NULL_PAIRS, LEVEL = 400, 0.05
#: Rejections that a test of the right size exceeds once in a million times: about 4.75 standard deviations.
MOST_REJECTIONS = NULL_PAIRS * LEVEL + 4.75 * math.sqrt(NULL_PAIRS * LEVEL * (1 - LEVEL))


def check_measure(measure: Measure) -> None:
    """Check a measure of dependence for ``SAOLA(measure=...)`` and ``TopK(measure=...)``.

    It must have ``dependence(x, z)``: symmetric, at least 0, never NaN, independent of the order of rows,
    larger for a copy than for noise.  With ``p_value(dependence, n)`` the p-values must lie in [0, 1], fall
    as the dependence grows, and have the right size for independent Gaussian columns.

    Raises
    ------
    AssertionError : the first of these that does not hold, by name
    """
    _needs(measure, "dependence", "dependence(x, z)")
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=(2, 200))
    z += x
    before = x.copy(), z.copy()
    value = _number("dependence(x, z)", measure.dependence(x, z))
    assert np.array_equal([x, z], before), "dependence changed its arguments"
    assert value >= 0, f"dependence must be at least 0; got {value}"
    other = _number("dependence(z, x)", measure.dependence(z, x))
    assert math.isclose(value, other, rel_tol=1e-9, abs_tol=1e-12), f"not symmetric: {value} and {other}"
    order = rng.permutation(200)
    other = measure.dependence(x[order], z[order])
    assert math.isclose(value, other, rel_tol=1e-9, abs_tol=1e-12), "depends on the order of the rows"
    noise, copy = measure.dependence(x, rng.normal(size=200)), measure.dependence(x, x.copy())
    assert copy > noise, f"a copy ({copy}) must depend more than noise ({noise})"
    if callable(getattr(measure, "p_value", None)):
        _check_p_values(lambda x, z: measure.p_value(measure.dependence(x, z), len(x)))  # type: ignore[attr-defined]
        steps = [measure.p_value(d, 200) for d in np.linspace(noise, copy, 9)]  # type: ignore[attr-defined]
        assert all(a >= b - 1e-12 for a, b in pairwise(steps)), "p_value must not grow with the dependence"
    _check_blocks(lambda: SAOLA(measure=measure))


def check_independence_test(test: ConditionalTest) -> None:
    """Check a test of conditional independence for ``OSFS(test=...)`` and ``FastOSFS(test=...)``.

    It must have ``conditional(x, y, given)`` for 0 to 3 given columns and return (statistic, p-value), the
    p-value in [0, 1], 1 where there are too few rows; find a direct dependence; find none between the ends of
    a chain given its middle; and have the right size for independent Gaussian columns.

    Raises
    ------
    AssertionError : the first of these that does not hold, by name
    """
    _needs(test, "conditional", "conditional(x, y, given)")
    rng = np.random.default_rng(0)
    cause = rng.normal(size=400)
    dose = cause + rng.normal(size=400)
    y = dose + rng.normal(size=400)
    nothing = np.zeros((400, 0))
    for given in (nothing, *(rng.normal(size=(400, k)) for k in (1, 2, 3))):
        found = test.conditional(cause, y, given)
        assert len(found) == 2, f"conditional must return (statistic, p-value); got {found!r}"
        _number("the statistic", found[0])
        p = _probability(found[1])
        assert p < 1e-3, f"a direct dependence has p = {p} given {given.shape[1]} columns"
    separated = [test.conditional(c, t, d[:, None])[1] for c, d, t in _chains(rng, 60)]
    assert np.mean(np.array(separated) <= LEVEL) < 0.25, "the ends of a chain stay dependent given its middle"
    assert test.conditional(cause[:3], y[:3], np.zeros((3, 2)))[1] == 1, "with 3 rows there is no test: p = 1"
    _check_p_values(lambda x, z: test.conditional(x, z, np.zeros((len(x), 0)))[1])
    _check_p_values(lambda x, z: test.conditional(x, z, np.random.default_rng(1).normal(size=(len(x), 1)))[1])
    _check_blocks(lambda: FastOSFS(test=test, max_conditioning=2))


def check_rule(make: Callable[[FisherZ], RedundancyRule]) -> None:
    """Check a redundancy rule.

    Settling two blocks must be the same as settling one that holds both; every candidate gets a reason, and
    only kept features are evicted; ``features`` are what was kept and not evicted, in order of arrival.  A
    registered rule with ``fields`` must come back from its state and go on alike.

    Parameters
    ----------
    make : from a test, bound to the target, to the rule without columns

    Raises
    ------
    AssertionError : the first of these that does not hold, by name
    """
    rng = np.random.default_rng(0)
    y = rng.normal(size=120)
    source = rng.normal(size=(120, 6)) + y[:, None]
    X = source[:, rng.integers(0, 6, 40)] + rng.normal(size=(120, 40)) * rng.choice([0.05, 1.0], 40)
    test = FisherZ(y, Task.REGRESSION, 0.5)
    whole = make(test)
    assert isinstance(whole, RedundancyRule), f"{type(whole).__name__} must derive from RedundancyRule"
    expected = _settled(whole, test, X, [40])
    kept: set[int] = set()
    for feature, reason, gone in expected:
        assert gone <= kept, f"features {sorted(gone - kept)} were evicted, but not kept"
        kept -= gone
        kept |= {feature} if reason == KEPT else set()
    assert whole.features.tolist() == sorted(kept), "features are not those kept and not evicted, in order"
    assert whole.nbytes > 0, "nbytes must be the memory of the kept columns"
    for sizes in ([1] * 40, [7] * 5 + [5]):
        assert _settled(make(test), test, X, sizes) == expected, f"blocks of {sizes[0]} decide otherwise"
    half = make(test)
    first = _settled(half, test, X[:, :20], [20])
    try:
        half = type(half).from_state(half.state())
    except (StateError, AttributeError):
        return  # it cannot be saved, and says so when somebody tries
    rest = _settled(half, test, X[:, 20:], [20], start=20)
    assert first + rest == expected, "a rule that comes back from its state decides otherwise"


def _settled(
    rule: RedundancyRule, test: FisherZ, X: FloatArray, sizes: list[int], start: int = 0
) -> list[tuple[int, int, set[int]]]:
    """Return (feature, reason, features evicted) for every candidate, in order."""
    lines, low = [], 0
    for size in sizes:
        part = X[:, low : low + size]
        relevance = test.measure(part)
        at = np.flatnonzero(relevance.reason == KEPT)
        outcome: Outcome = rule.settle(Candidates(part, at, start + low + at, relevance.at(at)))
        assert len(outcome.reason) == len(at), "an outcome has one reason per candidate"
        for j, feature in enumerate((start + low + at).tolist()):
            gone = {eviction.feature for eviction in outcome.evictions if eviction.step == feature}
            lines.append((feature, int(outcome.reason[j]), gone))
        low += size
    return lines


def _needs(part: Any, method: str, signature: str) -> None:
    assert callable(getattr(part, method, None)), f"{type(part).__name__} has no `{signature}`"


def _number(what: str, value: Any) -> float:
    assert isinstance(value, (int, float, np.number)), f"{what} must be a number; got {value!r}"
    assert math.isfinite(value), f"{what} must be finite; got {value}"
    return float(value)


def _probability(value: Any) -> float:
    p = _number("the p-value", value)
    assert 0 <= p <= 1, f"a p-value must be in [0, 1]; got {p}"
    return p


def _check_p_values(p_value: Callable[[FloatArray, FloatArray], float]) -> None:
    rng = np.random.default_rng(2)
    found = [_probability(p_value(*rng.normal(size=(2, 100)))) for _ in range(NULL_PAIRS)]
    rejected = sum(p <= LEVEL for p in found)
    assert rejected <= MOST_REJECTIONS, (
        f"liberal: {rejected} of {NULL_PAIRS} independent pairs have p <= {LEVEL}"
    )


def _chains(rng: np.random.Generator, count: int) -> list[FloatArray]:
    steps = rng.normal(size=(count, 3, 300))
    return [np.cumsum(step, axis=0) for step in steps]


def _check_blocks(make: Callable[[], Any]) -> None:
    """Blocks of any size must decide alike."""
    rng = np.random.default_rng(3)
    y = rng.normal(size=100)
    X = rng.normal(size=(100, 12)) + y[:, None] * (np.arange(12) % 3 == 0)
    X[:, 6] = X[:, 0]
    whole, single = make().begin(y), make().begin(y)
    whole.offer(X)
    for j in range(12):
        single.offer(X[:, j].copy())
    assert decisions(whole) == decisions(single), "single columns decide otherwise than a block of them"
