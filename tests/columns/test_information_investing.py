"""Information-investing decides as its slow twin does, and its wealth keeps the books."""

import math
from collections import Counter
from math import comb

import numpy as np
import pytest

from streamsieve.columns.information_investing import InformationInvesting
from streamsieve.exceptions import ParameterError, TargetError
from tests.columns.streams import FORMS, columns, equal_twin, lines, offered, rows, target
from tests.helpers.tier import cases
from tests.reference.information_investing import information_investing

TASKS = ("binary", "regression")
PRICES = (2.0, None)


def check_equal(sieve, twin, what):
    equal_twin(sieve, twin, what=what, p_values=False)
    assert sieve.wealth_ == pytest.approx(twin[1][-1].wealth, rel=1e-9), what


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("price", PRICES)
def test_random_streams_in_mixed_blocks_equal_the_twin(price, task):
    rng = np.random.default_rng(0)
    seen = Counter()
    for case in range(cases(100)):
        y = target(rng, task, rows(rng, task))
        X = columns(rng, y, int(rng.integers(1, 15)), far=case % 3 == 0)
        parameters = {
            "wealth": float(rng.choice([0.47, 0.93])),
            "payout": float(rng.choice([0.51, 0.049])),
            "coefficient_bits": price,
        }
        twin = information_investing(X, y, **parameters)
        sieve = offered(InformationInvesting(**parameters).begin(y), X, rng)
        check_equal(sieve, twin, (case, parameters))
        seen.update(line.reason for line in twin[1])
    assert min(seen.values()) >= cases(5), seen
    assert len(seen) == 6, seen


@pytest.mark.parametrize("form", FORMS)
def test_one_form_of_blocks_equals_the_twin(form):
    rng = np.random.default_rng(1)
    for case in range(6):
        y = target(rng, TASKS[case % 2], int(rng.integers(10, 40)))
        X = columns(rng, y, 12, far=False)
        sieve = offered(InformationInvesting(wealth=0.47).begin(y), X, rng, (form,))
        check_equal(sieve, information_investing(X, y, wealth=0.47), case)


def test_a_block_of_thousands_of_columns_equals_the_twin():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(40, 1300)) * (rng.random((40, 1300)) < 0.5)
    y = X[:, [900, 1023, 1024, 1200]] @ [64.0, -16.0, 4.0, 1.0] + 0.1 * rng.normal(size=40)
    twin = information_investing(X, y)
    assert {900, 1023, 1024} <= set(twin[0])
    sieve = InformationInvesting().begin(y)
    sieve.offer(X)
    check_equal(sieve, twin, "dense")


def test_constants_lose_their_bids():
    sieve = InformationInvesting().begin(np.arange(12.0) + 0.5)
    sieve.offer(np.ones((12, 10)))
    assert sieve.wealth_ == pytest.approx(0.5 * comb(20, 10) / 4**10, rel=1e-14)


def test_the_ledger_accounts_for_the_wealth():
    rng = np.random.default_rng(3)
    y = rng.normal(size=50)
    X = columns(rng, y, 60, far=False)
    sieve = offered(InformationInvesting(0.3, payout=0.2).begin(y), X, rng)
    wealth = 0.3
    for i, decision in enumerate(sieve.ledger_, start=1):
        kept = decision.event == "kept"
        assert kept == (decision.statistic > 0.2)
        assert math.isnan(decision.p_value)
        wealth += 0.2 if kept else -wealth / (2 * i)
    assert sieve.wealth_ == pytest.approx(wealth, rel=1e-12)
    assert len(sieve.selected_) > 1
    assert not any(event == "evicted" for _, event, _, _ in lines(sieve))


def test_the_bits_saved_are_those_of_the_likelihood():
    rng = np.random.default_rng(4)
    x, noise = rng.normal(size=(2, 100))
    y = x + noise
    (decision,) = InformationInvesting(coefficient_bits=3).begin(y).offer(x)
    r2 = np.corrcoef(x, y)[0, 1] ** 2
    assert decision.statistic == pytest.approx(-50 * math.log2(1 - r2) - 2 - 3, rel=1e-9)  # a bid of 1/4


def test_bad_parameters_and_targets_are_refused():
    with pytest.raises(ParameterError, match="coefficient_bits must be a number at least 0; got -1"):
        InformationInvesting(coefficient_bits=-1).begin([0, 1])
    with pytest.raises(ParameterError, match="payout must be a number above 0 and at most 1; got 2"):
        InformationInvesting(payout=2).begin([0, 1])
    with pytest.raises(TargetError, match=r"InformationInvesting needs .* use SAOLA"):
        InformationInvesting().begin([0, 1, 2, 1])


def test_a_run_resumed_goes_on_as_before(tmp_path):
    rng = np.random.default_rng(5)
    y = rng.normal(size=60)
    X = columns(rng, y, 50, far=False)
    whole = offered(InformationInvesting().begin(y), X, rng)
    offered(InformationInvesting().begin(y), X[:, :20], rng).save(tmp_path / "half.sieve")
    resumed = offered(InformationInvesting.load(tmp_path / "half.sieve"), X[:, 20:], rng)
    assert lines(resumed) == lines(whole)
    assert resumed.wealth_ == pytest.approx(whole.wealth_, rel=1e-12)
