"""Checks of the parts that a column selector is composed of: measures, tests, redundancy rules."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import is_dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from streamsieve.columns import SAOLA, FastOSFS, TopK
from streamsieve.columns.composition import Composition
from streamsieve.columns.redundancy.contract import Candidates, RedundancyRule
from streamsieve.decisions import KEPT, REASONS, Eviction, Outcome
from streamsieve.dependence.contract import Measure, tasks_of
from streamsieve.exceptions import StateError
from streamsieve.independence import FisherZ
from streamsieve.independence.contract import ConditionalTest
from streamsieve.protocols import ColumnBlock, FloatArray, IntArray, Reason, Task
from streamsieve.state.registry import name_of, registered
from streamsieve.testing._data import decisions, named

#: Pairs of independent columns by which the size of a test is estimated, and the level at which.
NULL_PAIRS, LEVEL = 1000, 0.05
#: What the p-value of a strong dependence must be below: the default level of the selectors.
SMALL = 0.01
#: Rejections that a test of the right size exceeds once in a million times: about 4.75 standard deviations.
MOST_REJECTIONS = NULL_PAIRS * LEVEL + 4.75 * math.sqrt(NULL_PAIRS * LEVEL * (1 - LEVEL))


def check_measure(measure: Measure) -> None:
    """Check a measure of dependence for ``SAOLA(measure=...)`` and ``TopK(measure=...)``.

    It must have ``dependence(x, z)``: symmetric, at least 0, never NaN, independent of the order of rows,
    larger for a copy than for noise.  With ``p_value(dependence, n)`` the p-values must lie in [0, 1], fall
    as the dependence grows, and be at most 0.05 for no more than about 5% of independent Gaussian columns.
    Unless its ``tasks`` leave out ``Task.MULTICLASS``, the numbering of three classes must not matter.  If it
    is registered, selectors that use it must come back from their state.

    Raises
    ------
    AssertionError : the first of these that does not hold, by name
    """
    _needs(measure, "dependence", "dependence(x, z)")
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=(2, 200))
    z += x
    before = x.copy(), z.copy()
    with named("dependence(x, z) fails"):
        value = _number("dependence(x, z)", measure.dependence(x, z))
    assert np.array_equal([x, z], before), "dependence changed its arguments"
    assert value >= 0, f"dependence must be at least 0; got {value}"
    reverse = _number("dependence(x, z)", measure.dependence(x, -z))
    assert reverse >= 0, f"dependence must be at least 0 also where z falls as x grows; got {reverse}"
    other = _number("dependence(z, x)", measure.dependence(z, x))
    assert math.isclose(value, other, rel_tol=1e-9, abs_tol=1e-12), f"not symmetric: {value} and {other}"
    order = rng.permutation(200)
    other = measure.dependence(x[order], z[order])
    assert math.isclose(value, other, rel_tol=1e-9, abs_tol=1e-12), "depends on the order of the rows"
    noise, copy = measure.dependence(x, rng.normal(size=200)), measure.dependence(x, x.copy())
    assert copy > noise, f"a copy ({copy}) must depend more than noise ({noise})"
    p_value = getattr(measure, "p_value", None)
    if p_value is not None:
        assert callable(p_value), f"p_value must be a method p_value(dependence, n); got {p_value!r}"
        with named("p_value(dependence, n) fails"):
            p_value(value, 200)
        _check_p_values(lambda x, z: p_value(measure.dependence(x, z), len(x)))
        steps = [p_value(d, 200) for d in np.linspace(noise, copy, 9)]
        assert all(a >= b - 1e-12 for a, b in pairwise(steps)), "p_value must not grow with the dependence"
    x, codes, others = _numbered_classes()
    _check_numbering(
        measure, "dependence(x, labels)", *(measure.dependence(x, labels) for labels in (codes, others))
    )
    tested: dict[str, Any] = {} if p_value is not None else {"alpha": None}
    _check_blocks(lambda: SAOLA(measure=measure), measure)
    _check_blocks(lambda: TopK(k=3, measure=measure, **tested), measure)


def check_independence_test(test: ConditionalTest) -> None:
    """Check a test of conditional independence for ``OSFS(test=...)`` and ``FastOSFS(test=...)``.

    It must have ``conditional(x, y, given)`` for 0 to 3 given columns and return (statistic, p-value), the
    p-value in [0, 1], 1 where there are too few rows; find a direct dependence; find none between the ends of
    a chain given its middle, nor between a copy of a given column and the target; and reject at level 0.05
    no more than about 5% of independent Gaussian columns.  It must not change its arguments, and give the
    same answer twice.  Unless its ``tasks`` leave out ``Task.MULTICLASS``, the numbering of three classes
    must not matter.  If it is registered, selectors that use it must come back from their state.

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
        columns = f"{given.shape[1]} given columns, an array of shape {given.shape}"
        with named(f"conditional(x, y, given) fails with {columns}"):
            before = cause.copy(), y.copy(), given.copy()
            found = test.conditional(cause, y, given)
            assert isinstance(found, tuple), f"conditional must return (statistic, p-value); got {found!r}"
            assert len(found) == 2, f"conditional must return (statistic, p-value); got {found!r}"
        changed = not all(map(np.array_equal, before, (cause, y, given)))
        assert not changed, "conditional changed its arguments"
        again = test.conditional(cause, y, given)
        assert again == found, f"conditional answers {found}, then {again}, to the same question"
        _number("the statistic", found[0])
        p = _probability(found[1])
        assert p < SMALL, (
            f"a correlation of 0.6 over 400 rows has p = {p} given {given.shape[1]} independent columns, but "
            f"p < {SMALL} is expected: selectors test at this level by default, and a permutation test needs "
            f"more than {1 / SMALL:.0f} permutations for it"
        )
    separated = [test.conditional(c, t, d[:, None])[1] for c, d, t in _chains(rng, 60)]
    assert np.mean(np.array(separated) <= LEVEL) < 0.25, "the ends of a chain stay dependent given its middle"
    _check_nothing_left(test, cause, y)
    _check_p_values(lambda x, z: test.conditional(x, z, np.zeros((len(x), 0)))[1])
    _check_p_values(lambda x, z: test.conditional(x, z, np.random.default_rng(1).normal(size=(len(x), 1)))[1])
    x, codes, others = _numbered_classes()
    numbered = (test.conditional(x, labels, np.zeros((len(x), 0)))[1] for labels in (codes, others))
    _check_numbering(test, "the p-value of conditional(x, labels, given)", *numbered)
    _check_blocks(lambda: FastOSFS(test=test, max_conditioning=2), test)


def _check_nothing_left(test: ConditionalTest, x: FloatArray, y: FloatArray) -> None:
    """Check the answers where there is nothing to test: too few rows, or a copy of a given column."""
    few = "3 rows and 2 given columns are too few for a test: the p-value must be 1"
    with named(few):
        p = test.conditional(x[:3], y[:3], np.zeros((3, 2)))[1]
    assert p == 1, f"{few}; got {p}"
    for given in (x[:, None], np.column_stack([y**2, -x])):
        copy = f"x is a copy of one of {given.shape[1]} given columns and adds nothing to them"
        with named(f"conditional(x, y, given) fails if {copy}"):
            statistic, p = test.conditional(x, y, given)
        legal = math.isfinite(statistic) and 0 <= p <= 1
        assert legal, f"{copy}: got ({statistic}, {p}), return (0.0, 1.0)"
        assert p > LEVEL, f"{copy}: the p-value must not be small; got {p}"


def check_rule(make: Callable[[FisherZ], RedundancyRule]) -> None:
    """Check a redundancy rule.

    Settling two blocks must be the same as settling one that holds both; every candidate gets a reason, and
    only kept features are evicted; ``features`` are what was kept and not evicted, in order of arrival.
    ``by`` names features that have arrived; p-values are in [0, 1], or NaN where there was no test.  A
    registered rule must come back from its state and go on alike.

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
    is_function = callable(make) and not isinstance(make, type)
    assert is_function, (
        f"check_rule takes a function of a test, such as lambda test: MyRule(test.n); got {make!r}"
    )
    whole = make(test)
    name = type(whole).__name__
    assert isinstance(whole, RedundancyRule), f"{name} must derive from RedundancyRule"
    assert getattr(whole, "n", None) == test.n, f"{name}.n must be the number of rows, {test.n}"
    with named(f"{name}.settle(candidates) fails"):
        expected = _settled(whole, test, X, [40])
    kept: set[int] = set()
    for feature, reason, gone in expected:
        assert gone <= kept, f"features {sorted(gone - kept)} were evicted, but not kept"
        kept -= gone
        kept |= {feature} if reason == KEPT else set()
    assert isinstance(whole.features, np.ndarray), f"features must be an array; got {whole.features!r}"
    found = whole.features.tolist()
    assert found == sorted(kept), (
        f"features must be the arrival numbers kept and not evicted, in order: {sorted(kept)}; got {found}"
    )
    for sizes in ([1] * 40, [7] * 5 + [5]):
        assert _settled(make(test), test, X, sizes) == expected, (
            f"candidates in blocks of {sizes[0]} are decided otherwise than in one block"
        )
    _check_ledger(make, test, X)
    half = make(test)
    if registered().get(name_of(type(half))) is not type(half):
        return  # it cannot be saved, and saving says so
    assert getattr(half, "fields", None), f"{name} is registered, but declares no `fields` to be saved by"
    first = _settled(half, test, X[:, :20], [20])
    try:
        half = type(half).from_state(half.state())
        rest = _settled(half, test, X[:, 20:], [20], start=20)
    except (StateError, AttributeError, TypeError, ValueError) as error:
        raise AssertionError(
            f"{name} does not come back from its state: its `fields` must declare every attribute that "
            f"`settle` needs, with its type and shape ({error})"
        ) from error
    assert first + rest == expected, "a rule that comes back from its state decides otherwise"


def _settled(
    rule: RedundancyRule, test: FisherZ, X: FloatArray, sizes: list[int], start: int = 0
) -> list[tuple[int, int, set[int]]]:
    """Return (feature, reason, features evicted) for every candidate, in order."""
    lines, low = [], 0
    for size in sizes:
        part = X[:, low : low + size].copy()
        relevance = test.measure(part)
        at = np.flatnonzero(relevance.reason == KEPT)
        features = start + low + at
        outcome: Outcome = rule.settle(Candidates(part, at, features, relevance.at(at)))
        assert np.array_equal(part, X[:, low : low + size]), "settle changed the values of its candidates"
        _check_outcome(outcome, features)
        for j, feature in enumerate(features.tolist()):
            gone = {eviction.feature for eviction in outcome.evictions if eviction.step == feature}
            lines.append((feature, int(outcome.reason[j]), gone))
        low += size
    return lines


def _check_outcome(outcome: Outcome, features: IntArray) -> None:
    """Check what a rule said of the candidates with these arrival numbers."""
    assert isinstance(outcome, Outcome), f"settle must return an Outcome, not a {type(outcome).__name__}"
    for field in ("reason", "statistic"):
        array = np.asarray(getattr(outcome, field))
        assert array.shape == features.shape, (
            f"an Outcome has one {field} per candidate; got shape {array.shape}, not {features.shape}"
        )
    reason = outcome.reason
    codes = isinstance(reason, np.ndarray) and reason.dtype == np.uint8 and np.all(reason < len(REASONS))
    assert codes, f"reasons are codes such as RELEVANT and REDUNDANT in an array of uint8; got {reason!r}"
    assert np.all(np.isfinite(outcome.statistic)), f"statistics must be finite; got {outcome.statistic}"
    coming = int(features.max(initial=-1)) + 1
    for feature, by in outcome.by.items():
        assert feature in features, f"`by` has an entry for {feature}, which is not a candidate"
        assert isinstance(by, tuple), f"`by` of {feature} must be a tuple of arrival numbers; got {by!r}"
        assert all(0 <= other < coming for other in by), f"`by` of {feature} names {by}: no such features"
        assert feature not in by, f"`by` of {feature} names itself: name the columns that made it redundant"
    for eviction in outcome.evictions:
        assert isinstance(eviction, Eviction), f"evictions must be Eviction objects; got {eviction!r}"
        assert isinstance(eviction.reason, Reason), (
            f"the reason of an Eviction is a Reason, such as Reason.REDUNDANT; got {eviction.reason!r}"
        )
        assert eviction.step in features, f"the step of an Eviction is its newcomer; got {eviction.step}"
        assert isinstance(eviction.by, tuple), f"`by` of an Eviction must be a tuple; got {eviction.by!r}"
        _number("the statistic of an Eviction", eviction.statistic)
        p = eviction.p_value
        legal = isinstance(p, (float, np.floating)) and not (p < 0 or p > 1)
        assert legal, f"the p-value of an Eviction must be in [0, 1], or NaN where it was no test; got {p!r}"
        assert all(0 <= other < coming for other in eviction.by), (
            f"the `by` of the eviction of {eviction.feature} names {eviction.by}: no such features"
        )


def _check_ledger(make: Callable[[FisherZ], RedundancyRule], test: FisherZ, X: FloatArray) -> None:
    """Check the p-values of the ledger: those of relevance, or the rule's own for what it rejected."""
    relevance = test.measure(X)
    at = np.flatnonzero(relevance.reason == KEPT)
    outcome = make(test).settle(Candidates(X, at, at, relevance.at(at)))
    expected = np.array(test.measure(X).p_value)
    if outcome.p_value is not None:
        own, rejected = np.array(outcome.p_value), outcome.reason != KEPT
        assert own.shape == at.shape, f"there are {own.shape} p-values for {len(at)} candidates"
        expected[at[rejected]] = own[rejected]
        legal = np.isnan(own) | ((own >= 0) & (own <= 1))
        assert np.all(legal[rejected]), (
            "the p-values of rejected candidates must be in [0, 1], or NaN where it was no test"
        )
    found = Composition(test, make(test)).offer(ColumnBlock(X), 0).p_values()
    assert np.array_equal(found, expected, equal_nan=True), (
        "the ledger's p-values are not those of relevance, nor the rule's for the candidates it rejected"
    )


def _needs(part: Any, method: str, signature: str) -> None:
    assert not isinstance(part, type), f"the check takes an object, not the class: {part.__name__}()"
    name = type(part).__name__
    assert callable(getattr(part, method, None)), f"{name} has no `{signature}`"
    saved = registered().get(name_of(type(part))) is type(part)
    assert is_dataclass(part) or not saved, f"{name} is registered: to be saved, it must be a dataclass"
    tasks = getattr(part, "tasks", None)
    legal = isinstance(tasks, (set, frozenset)) and tasks and all(isinstance(task, Task) for task in tasks)
    assert tasks is None or legal, (
        f"{name}.tasks must hold Task members, as frozenset({{Task.BINARY}}) does; got {tasks!r}"
    )


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


def _numbered_classes() -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return a column, the labels of three classes on which it depends, and the same classes renumbered."""
    rng = np.random.default_rng(4)
    label = rng.integers(0, 3, 300)
    x = rng.normal(size=300) + np.array([0.0, 1.0, 0.3])[label]
    return x, label.astype(float), np.array([0.0, 2.0, 1.0])[label]


def _check_numbering(part: Any, what: str, one: float, other: float) -> None:
    """Labels of three classes are names: which of them is 0, 1 and 2 must not matter."""
    if Task.MULTICLASS in tasks_of(part):
        assert math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12), (
            f"{what} changes from {one} to {other} if three classes are numbered otherwise: a part that "
            "takes labels for numbers says tasks = frozenset({Task.BINARY, Task.REGRESSION})"
        )


def _check_blocks(make: Callable[[], Any], part: Any) -> None:
    """Blocks of any size must decide alike, and so must a selector that was saved in between."""
    if not {Task.REGRESSION, Task.BINARY} & tasks_of(part):
        return
    rng = np.random.default_rng(3)
    y = rng.normal(size=100)
    if Task.REGRESSION not in tasks_of(part):
        y = (y > 0).astype(np.float64)
    X = rng.normal(size=(100, 12)) + y[:, None] * (np.arange(12) % 3 == 0)
    X[:, 6] = X[:, 0]
    whole, single, half = make().begin(y), make().begin(y), make().begin(y)
    name = type(whole).__name__
    with named(f"{name} fails with {type(part).__name__}"):
        whole.offer(X)
        for j in range(12):
            single.offer(X[:, j].copy())
        half.offer(X[:, :7])
    assert decisions(whole) == decisions(single), "single columns decide otherwise than a block of them"
    if registered().get(name_of(type(part))) is type(part):
        with named(f"{name} with {type(part).__name__} does not come back from its state"):
            half = type(half).from_bytes(half.to_bytes())
            half.offer(X[:, 7:])
        assert decisions(whole) == decisions(half), f"{name} that comes back from its state decides otherwise"
