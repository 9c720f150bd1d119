"""A measure, test or rule that is wrong is refused, and the check names what is wrong."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.special import erfc

import streamsieve as ss
from streamsieve.columns.composition import Composition
from streamsieve.columns.redundancy import REDUNDANT, RELEVANT, Eviction, Outcome, RedundancyRule
from streamsieve.exceptions import TargetError
from streamsieve.independence import FisherZ
from streamsieve.protocols import ColumnBlock, Reason, Task
from streamsieve.state import Array, Int, register
from streamsieve.testing import check_independence_test, check_measure, check_rule

rng = np.random.default_rng(0)


class Latest(RedundancyRule):
    """Keeps candidates of even number, each of which evicts all others."""

    p_value = None

    def __init__(self, n):
        self.n, self.kept = n, np.zeros(0, np.int64)

    features = property(lambda self: self.kept)

    def evicted(self, newcomer, leaver):
        return Eviction(newcomer, leaver, Reason.REDUNDANT, 0.5, float("nan"), (newcomer,))

    def settle(self, candidates):
        _, at, feature, relevance = candidates
        reason, statistic, by, evictions = (
            np.full(len(at), RELEVANT, np.uint8),
            relevance.statistic.copy(),
            {},
            [],
        )
        for j, new in enumerate(feature.tolist()):
            if new % 2:
                reason[j], statistic[j], by[new] = REDUNDANT, 0.01, self.by(new)
                continue
            evictions += [self.evicted(new, int(i)) for i in self.kept]
            self.kept = np.array([new])
        p_value = None if self.p_value is None else np.full(len(at), self.p_value)
        return Outcome(reason, statistic, p_value, by, evictions)

    def by(self, new):
        return (max(new - 1, 0),)


@register
class SavedLatest(Latest):
    fields = {"n": Int(size="rows"), "kept": Array("i8", "kept", low=0, order="rising")}


def test_a_right_rule_passes():
    check_rule(lambda test: Latest(test.n))
    check_rule(lambda test: SavedLatest(test.n))
    check_rule(lambda test: broken(p_value=0.25)(test.n))


def broken(base=Latest, **members):
    kind = type("BrokenRule", (base,), {"__module__": __name__, **members})
    return register(kind) if base is SavedLatest or "fields" in members else kind


def code(self, newcomer, leaver):
    return Eviction(newcomer, leaver, REDUNDANT, 0.5, float("nan"), (newcomer,))


def by_unknown(self, newcomer, leaver):
    return Eviction(newcomer, leaver, Reason.REDUNDANT, 0.5, float("nan"), (999,))


def missing_p(self, newcomer, leaver):
    return Eviction(newcomer, leaver, Reason.REDUNDANT, 0.5, None, (newcomer,))


def changed(**entries):
    """Settle as `Latest`, then replace entries of the outcome."""

    def settle(self, candidates):
        outcome = Latest.settle(self, candidates)
        return outcome._replace(**{name: change(outcome) for name, change in entries.items()})

    return {"settle": settle}


def doubling(self, candidates):
    candidates.X[:] *= 2
    return Latest.settle(self, candidates)


BROKEN = {
    "one statistic per candidate; got shape": changed(statistic=lambda outcome: outcome.statistic[1:]),
    "reasons are codes such as": changed(reason=lambda outcome: outcome.reason.tolist()),
    "statistics must be finite": changed(statistic=lambda outcome: outcome.statistic * np.nan),
    "`by` of .* must be a tuple": {"by": lambda self, new: new - 1},
    "`by` of .* names itself": {"by": lambda self, new: (new,)},
    "the p-value of an Eviction must be in": {"evicted": missing_p},
    "settle changed the values": {"settle": doubling},
    "features must be an array": {"features": property(lambda self: self.kept.tolist())},
    "features must be the arrival numbers": {"features": property(lambda self: self.kept + 1)},
    "the reason of an Eviction is a Reason": {"evicted": code},
    "`by` of the eviction of .* names \\(999,\\)": {"evicted": by_unknown},
    "evictions must be Eviction objects": {"evicted": lambda self, new, leaver: (new, leaver)},
    "`by` of .* names \\(999,\\): no such": {"by": lambda self, new: (999,)},
    "must be in \\[0, 1\\], or NaN": {"p_value": 2.0},
    "declares no `fields`": {"fields": {}},
    "does not come back from its state": {"fields": {"n": Int(size="rows")}},
    "fields. must declare": {"fields": {"n": Int(size="rows"), "kept": Array("i8", "kept", "rows")}},
    "n must be the number of rows": {"n": 3, "__init__": lambda self, n: None},
}


@pytest.mark.parametrize(("message", "members"), BROKEN.items(), ids=BROKEN)
def test_a_broken_rule_is_named(message, members):
    with pytest.raises(AssertionError, match=message):
        check_rule(lambda test: broken(**members)(test.n))


@pytest.mark.parametrize("own", [None, float("nan"), 0.25])
def test_a_rejected_candidate_keeps_the_p_value_of_its_relevance_unless_the_rule_has_one(own):
    y = rng.normal(size=100)
    X = y[:, None] + rng.normal(size=(100, 6))
    test = FisherZ(y, Task.REGRESSION, 0.5)
    expected = np.array(test.measure(X).p_value)
    rule = Latest(100)
    rule.p_value = own
    found = Composition(test, rule).offer(ColumnBlock(X), 0)
    assert found.statistic[1::2].tolist() == [0.01] * 3
    expected[1::2] = expected[1::2] if own is None else own
    np.testing.assert_array_equal(found.p_values(), expected)


def test_an_object_or_a_class_instead_of_a_function_is_named():
    for wrong in (Latest, Latest(120)):
        with pytest.raises(AssertionError, match="takes a function of a test, such as lambda test: MyRule"):
            check_rule(wrong)


class Numbers:
    """A measure and a test that take labels for numbers."""

    tasks = frozenset({Task.BINARY, Task.REGRESSION})

    def dependence(self, x, z):
        return abs(np.corrcoef(x, z)[0, 1])

    def p_value(self, dependence, n):
        return 0.001

    def conditional(self, x, y, given):
        return 0.5, 0.001


@register
@dataclass(frozen=True)
class Correlation:
    """A measure, and a test by the residuals of linear regressions."""

    tasks = frozenset({Task.BINARY, Task.REGRESSION})

    def dependence(self, x, z):
        return abs(float(np.corrcoef(x, z)[0, 1]))

    def p_value(self, dependence, n):
        return float(erfc(np.arctanh(min(dependence, 1 - 1e-15)) * np.sqrt((n - 3) / 2)))

    def conditional(self, x, y, given):
        n, k = given.shape
        Z = np.column_stack([np.ones(n), given])
        left = [v - Z @ np.linalg.lstsq(Z, v, rcond=None)[0] for v in (x, y)]
        if n < k + 4 or left[0] @ left[0] < 1e-20 * (x @ x):
            return 0.0, 1.0
        r = self.dependence(*left)
        return r, self.p_value(r, n - k)


def test_a_right_measure_and_test_passes():
    check_measure(Correlation())
    check_independence_test(Correlation())


def answering(change):
    def conditional(self, x, y, given):
        return change(*Correlation.conditional(self, x, y, given))

    return {"conditional": conditional}


def scaling(self, x, y, given):
    answer = Correlation.conditional(self, x, y, given)
    x *= 2
    return answer


def unguarded(self, x, y, given):
    if not np.abs(given - x[:, None]).any(axis=0).all():
        return 0.0, float("nan")
    return Correlation.conditional(self, x, y, given)


BROKEN_MEASURES = {
    "at least 0 also where": {"dependence": lambda self, x, z: max(-0.5, np.corrcoef(x, z)[0, 1])},
    "p_value must be a method": {"p_value": 0.5},
    "p_value.dependence, n. fails": {"p_value": lambda self, dependence: 0.5},
    "liberal": {"p_value": lambda self, dependence, n: Correlation.p_value(self, dependence, n) / 2},
    "numbered otherwise: .* says tasks =": {"tasks": frozenset(Task)},
    "tasks must hold Task members, .* got 'binary'": {"tasks": "binary"},
}


def listing(self, x, y, given):
    return Correlation.conditional(self, x, y, np.stack([x, *given], axis=1)[:, 1:])


BROKEN_TESTS = {
    r"fails with 0 given columns, an array of shape \(400, 0\)": {"conditional": listing},
    r"must return .statistic, p-value.": answering(lambda r, p: p),
    "changed its arguments": {"conditional": scaling},
    "to the same question": answering(lambda r, p: (r + 1e-3 * rng.random(), p)),
    "p = 0.01 given 0 .* p < 0.01 is .* more than 100": answering(lambda r, p: (r, max(p, 0.01))),
    "too few for a test: .* got 0.5": answering(lambda r, p: (r, min(p, 0.5))),
    "copy of one of 1 given columns .* return .0.0, 1.0.": {"conditional": unguarded},
    "p-value of conditional.* numbered otherwise": {"tasks": frozenset(Task)},
    "tasks must hold Task members, .* got frozenset": {"tasks": frozenset()},
}


@pytest.mark.parametrize("kind", [ss.OSFS, ss.FastOSFS])
def test_a_p_value_that_is_not_a_number_is_refused(kind):
    y = rng.normal(size=80)
    x = y + rng.normal(size=80)
    unsound = type("Unsound", (Correlation,), {"conditional": unguarded})()
    sieve = kind(test=unsound).begin(y)
    sieve.offer(x)
    with pytest.raises(
        ValueError, match=r"Unsound.* returned a p-value of nan given 1 columns: it must be in"
    ):
        sieve.offer(x)
    assert sieve.selected_.tolist() == [0]
    assert len(sieve.ledger_) == 1


@pytest.mark.parametrize(("message", "members"), BROKEN_MEASURES.items(), ids=BROKEN_MEASURES)
def test_a_broken_measure_is_named(message, members):
    with pytest.raises(AssertionError, match=message):
        check_measure(type("Broken", (Correlation,), members)())


@pytest.mark.parametrize(("message", "members"), BROKEN_TESTS.items(), ids=BROKEN_TESTS)
def test_a_broken_test_is_named(message, members):
    with pytest.raises(AssertionError, match=message):
        check_independence_test(type("Broken", (Correlation,), members)())


@pytest.mark.parametrize(
    "selector",
    [
        ss.SAOLA(measure=Correlation()),
        ss.TopK(k=2, measure=Correlation()),
        ss.TopK(2, measure=Correlation(), alpha=None),
    ],
    ids=repr,
)
def test_a_selector_with_a_measure_of_your_own_is_saved(selector):
    y = rng.normal(size=80)
    X = y[:, None] + rng.normal(size=(80, 6))
    selector.fit(X, y)
    again = type(selector).from_bytes(selector.to_bytes())
    assert again.get_support().tolist() == selector.get_support().tolist()
    assert [str(line) for line in again.ledger_] == [str(line) for line in selector.ledger_]


@pytest.mark.parametrize(
    "selector",
    [
        ss.SAOLA(measure=Numbers()),
        ss.TopK(measure=Numbers()),
        ss.OSFS(test=Numbers()),
        ss.FastOSFS(test=Numbers()),
    ],
    ids=lambda selector: type(selector).__name__,
)
def test_a_target_that_a_part_is_not_made_for_is_refused(selector):
    with pytest.raises(TargetError, match="needs a binary or regression target, but y is multiclass: use an"):
        selector.begin(np.arange(60) % 3)
    selector.begin(np.arange(60) % 2)
    selector.begin(np.arange(60) + 0.5)


def test_a_marginal_p_value_that_is_none_is_an_error_too():
    class Undecided:
        def conditional(self, x, y, given):
            return 0.0, float("nan")

    with pytest.raises(ValueError, match="returned a p-value of nan given 0 columns"):
        ss.FastOSFS(test=Undecided()).fit(np.arange(12.0).reshape(6, 2) ** 2, [0, 1, 0, 1, 1, 0])
