"""Measures, tests and selectors of the user that return what they should not are refused by name."""

import numpy as np
import pytest
import scipy.sparse as sp

import streamsieve as ss
from streamsieve import state
from streamsieve.decisions import RELEVANT, Outcome

RNG = np.random.default_rng(0)
Y = np.arange(60) % 2
X = RNG.normal(size=(60, 5)) + Y[:, None]
NO_NUMBER = [
    None, "a", 1j, [1.0, 2.0, 3.0], np.zeros(1), np.zeros((1, 2)), np.array(["a"]), np.datetime64("2020"),
    object(), sp.csr_array(np.ones((1, 1))), (1.0,),
]  # fmt: skip


class Part:
    def __init__(self, dependence=0.5, p_value=0.01, between=0.5):
        self._dependence, self._p_value, self._between = dependence, p_value, between

    def dependence(self, x, z):
        return self._dependence if z is Y or np.isin(z, (0, 1)).all() else self._between

    def p_value(self, dependence, n):
        return self._p_value

    def conditional(self, x, y, given):
        return self._dependence, self._p_value

    def __repr__(self):
        return "Part()"


def type_name(value):
    """Return the id of a case: the same in every process, unlike that of an object."""
    return type(value).__name__


@pytest.mark.parametrize("value", [*NO_NUMBER, np.nan, -1.0], ids=type_name)
@pytest.mark.parametrize("selector", [ss.SAOLA, ss.TopK])
def test_a_dependence_is_a_number(selector, value):
    for part in (Part(dependence=value), Part(between=value)):
        with pytest.raises(ValueError, match=r"Part\(\) returned .*(must be one real number|at least 0)"):
            selector(measure=part).fit(X, Y)


@pytest.mark.parametrize("value", [*NO_NUMBER, np.nan, -0.1, 1.1], ids=type_name)
@pytest.mark.parametrize("selector", [ss.SAOLA, ss.TopK])
def test_a_p_value_of_a_measure_is_a_probability(selector, value):
    measure = Part(p_value=value)
    measure.p_value = lambda dependence, n: value  # None is no method that is missing
    with pytest.raises(ValueError, match=r"Part\(\) returned .*(must be one real number|in \[0, 1\])"):
        selector(measure=measure).fit(X, Y)


@pytest.mark.parametrize("value", NO_NUMBER, ids=type_name)
@pytest.mark.parametrize("selector", [ss.OSFS, ss.FastOSFS])
def test_a_test_returns_two_numbers(selector, value):
    for part in (Part(dependence=value), Part(p_value=value)):
        with pytest.raises(ValueError, match=r"Part\(\) returned .*must be one real number"):
            selector(test=part).fit(X, Y)
    part = Part()
    part.conditional = lambda x, y, given: value
    with pytest.raises(ValueError, match=r"Part\(\) returned .*(a statistic and a p-value|one real number)"):
        selector(test=part).fit(X, Y)


class Chosen(ss.ColumnSelector):
    """Returns what it was given."""

    parameters = {}
    fields = {"kept_": state.Array("i8", "kept", low=0)}
    reason = statistic = kept = None

    def __init__(self, *, task="auto", ledger="all", stop=None):
        self.task, self.ledger, self.stop = task, ledger, stop

    def _begin(self, y):
        self.kept_ = np.zeros(0, np.int64)

    def _offer(self, block):
        n = block.X.shape[1]
        reason = np.full(n, RELEVANT, np.uint8) if self.reason is None else self.reason[0]
        self.kept_ = np.r_[self.kept_, self.n_features_in_ + np.arange(n)]
        return Outcome(reason, np.ones(n) if self.statistic is None else self.statistic[0])

    def _selected(self):
        return self.kept_ if self.kept is None else self.kept[0]


WRONG = [None, 3.0, [1.0] * 5, np.ones(4), np.ones(6), np.ones((5, 2)), np.array(1.0), np.array(["a"] * 5)]


@pytest.mark.parametrize("value", [*WRONG, np.ones(5), np.full(5, 200, np.uint8)], ids=type_name)
def test_a_reason_is_a_code(value):
    with pytest.raises(ValueError, match=r"Chosen\._offer returned an Outcome whose reason is not"):
        type("Chosen", (Chosen,), {"reason": [value]})().fit(X, Y)


@pytest.mark.parametrize("value", [*WRONG, np.ones(5) * 1j], ids=type_name)
def test_a_statistic_is_a_number(value):
    with pytest.raises(ValueError, match=r"Chosen\._offer returned an Outcome whose statistic is not"):
        type("Chosen", (Chosen,), {"statistic": [value]})().fit(X, Y)


@pytest.mark.parametrize("value", [None, 3.0, [1.5], np.ones((5, 2)), np.array(["a"] * 5)], ids=type_name)
def test_what_is_selected_are_arrival_numbers(value):
    selector = type("Chosen", (Chosen,), {"kept": [value]})()
    with pytest.raises(ValueError, match=r"Chosen\._selected returned .*arrival numbers"):
        selector.fit(X, Y).transform(X)
