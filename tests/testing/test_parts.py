"""A measure, test or rule that is wrong is refused, and the check names what is wrong."""

import numpy as np
import pytest

import streamsieve as ss
from streamsieve.columns.composition import Composition
from streamsieve.columns.redundancy import REDUNDANT, RELEVANT, Eviction, Outcome, RedundancyRule
from streamsieve.exceptions import TargetError
from streamsieve.independence import FisherZ
from streamsieve.protocols import ColumnBlock, Reason, Task
from streamsieve.state import Array, Int, register
from streamsieve.testing import check_rule

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


def broken(base=Latest, **members):
    kind = type("BrokenRule", (base,), {"__module__": __name__, **members})
    return register(kind) if base is SavedLatest or "fields" in members else kind


def code(self, newcomer, leaver):
    return Eviction(newcomer, leaver, REDUNDANT, 0.5, float("nan"), (newcomer,))


def by_unknown(self, newcomer, leaver):
    return Eviction(newcomer, leaver, Reason.REDUNDANT, 0.5, float("nan"), (999,))


BROKEN = {
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


class Numbers:
    """A measure and a test that take labels for numbers."""

    tasks = frozenset({Task.BINARY, Task.REGRESSION})

    def dependence(self, x, z):
        return abs(np.corrcoef(x, z)[0, 1])

    def p_value(self, dependence, n):
        return 0.001

    def conditional(self, x, y, given):
        return 0.5, 0.001


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
