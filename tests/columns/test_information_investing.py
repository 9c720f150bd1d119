"""Information-investing decides as its slow twin does, and its wealth keeps the books."""

import math
from functools import partial
from math import comb

import numpy as np
import pytest

from streamsieve.columns.information_investing import InformationInvesting
from tests.columns.streams import FORMS, columns, equal_twin, equal_twins, lines, offered
from tests.reference.information_investing import information_investing

TASKS = ("binary", "regression")
PRICES = (2.0, None)


def check_equal(sieve, twin, what, p_values=False):
    equal_twin(sieve, twin, what=what, p_values=False)
    assert sieve.wealth_ == pytest.approx(twin[1][-1].wealth, rel=1e-9), what


def without_task(X, y, task, **parameters):
    return information_investing(X, y, **parameters)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("price", PRICES)
def test_random_streams_in_mixed_blocks_equal_the_twin(price, task):
    def drawn(rng):
        return {"wealth": float(rng.choice([0.47, 0.93])), "payout": float(rng.choice([0.51, 0.049]))}

    make, twin = (partial(f, coefficient_bits=price) for f in (InformationInvesting, without_task))
    seen = equal_twins(make, twin, [task], 100, (1, 15), drawn, check=check_equal)
    assert min(seen.values()) >= 5, seen
    assert len(seen) == 6, seen


@pytest.mark.parametrize("form", FORMS)
def test_one_form_of_blocks_equals_the_twin(form):
    equal_twins(
        InformationInvesting, without_task, TASKS, 6, (12, 13), lambda rng: {"wealth": 0.47}, seed=1,
        forms=(form,), far=False, n_rows=lambda rng, task: int(rng.integers(10, 40)), check=check_equal,
    )  # fmt: skip


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
