"""The recursion of levels: weights, windows, and old accounts by interpolation."""

import numpy as np
import pytest

from streamsieve._kernels import online_fdr
from streamsieve._kernels.online_fdr import (
    AHEAD,
    CLOCK,
    FOUND,
    LOND,
    LORD,
    ODDS,
    PLAIN,
    RESHAPED,
    SLOW,
    SPENDING,
    STEEP,
    TESTS,
    decide,
    harmonic,
    spent,
    weight,
    weights,
)  # fmt: skip
from tests.reference.online_fdr import levels, lord_weight, power_weight, slow_weight

WEIGHTS = {STEEP: power_weight, LORD: lord_weight, SLOW: slow_weight}
every_sequence = pytest.mark.parametrize("sequence", WEIGHTS)
SEQUENCE = {"lord": LORD, "lond": SLOW, "lond_any": SLOW, "alpha_spending": SLOW}
PLAN = {
    # first, second and other amounts, factor, cap, low, high, which tests tick, form
    "lord": (0.005, 0.045, 0.05, 1.0, 1.0, 0.0, 1.0, 0, PLAIN),
    "saffron": (0.025, 0.025, 0.05, 0.5, 0.5, 0.5, 1.0, 2, PLAIN),
    "addis": (0.025, 0.025, 0.05, 0.25, 0.25, 0.25, 0.5, 3, PLAIN),
    "alpha_investing": (0.025, 0.025, 0.05, 1.0, 1.0, 0.0, 1.0, 4, ODDS),
    "lond": (0.0, 0.05, 0.05, 1.0, 1.0, 0.0, 1.0, 0, LOND),
    "lond_any": (0.0, 0.05, 0.05, 1.0, 1.0, 0.0, 1.0, 0, RESHAPED),
    "alpha_spending": (0.0, 0.05, 0.05, 1.0, 1.0, 0.0, 1.0, 0, SPENDING),
}


class Run:
    """The arrays of a gate, with a window and a table as short as one likes."""

    def __init__(self, rule, *, lag=0, window=8, table=500, room=50):
        self.rule, self.lag = PLAN[rule], lag
        self.sequence = SEQUENCE.get(rule, STEEP)
        self.table = weights(table, self.sequence)
        self.counters = np.zeros(6, np.int64)
        self.counters[AHEAD] = -1
        self.ticks = np.zeros(lag + 1, bool)
        self.found_at, self.opened_at = np.zeros((2, room), np.int64)
        self.ahead = np.zeros(window)

    def __call__(self, p_values, most=10**9, rough=()):
        out, found = np.full(len(p_values), np.nan), np.zeros(len(p_values), bool)
        done = decide(
            p_values, np.array(rough, bool), np.zeros(0, bool), self.rule, self.rule[3:8], self.lag, most,
            self.table, self.sequence, self.counters, self.ticks, self.found_at, self.opened_at, self.ahead,
            out, found,
        )  # fmt: skip
        return done, out, found


@every_sequence
def test_weights_are_the_published_ones_and_add_up_to_less_than_one(sequence):
    wanted = WEIGHTS[sequence]
    table = weights(2000, sequence)
    assert table[0] == 0.0
    np.testing.assert_allclose(table[1:], [wanted(i) for i in range(1, 2000)], rtol=1e-14)
    assert table.sum() < 1
    assert np.all(np.diff(table[1:]) <= 0)
    assert weight(7, sequence) == pytest.approx(wanted(7), rel=1e-14)


@every_sequence
def test_spent_is_the_sum_of_the_first_weights(sequence):
    steps = np.array([0, 0, 3, 3, 40])
    table = weights(100, sequence)
    np.testing.assert_allclose(spent(steps, sequence), [table[: s + 1].sum() for s in steps], rtol=1e-13)


def test_slow_weights_of_a_stream_without_end_add_up_to_one():
    """The tail beyond n lies between the integrals from n + 1 and from n."""
    n = 10**6
    total = weights(n + 1, SLOW).sum()
    scale = 10 * weight(1, SLOW)
    assert total + scale * (n + 1) ** -0.1 <= 1 <= total + scale * n**-0.1 + 1e-9


def test_harmonic_numbers_are_sums():
    sums = np.cumsum(1 / np.arange(1, 5001))
    np.testing.assert_allclose([harmonic(i) for i in range(1, 5001)], sums, rtol=1e-13)


@pytest.mark.parametrize("lag", [0, 3])
@pytest.mark.parametrize("rule", PLAN)
def test_levels_equal_the_twin_over_many_short_windows(rule, lag):
    rng = np.random.default_rng(0)
    p_values = rng.random(60) ** 3
    p_values[[5, 6, 40]] = 0.0
    run = Run(rule, lag=lag)
    done, out, found = run(p_values)
    wanted = levels(p_values.tolist(), rule, 0.05, lag)
    assert done == 60
    assert found.tolist() == [w[1] for w in wanted]
    np.testing.assert_allclose(out, [w[0] for w in wanted], rtol=1e-13)
    assert run.counters[TESTS] == 60
    assert run.counters[FOUND] == found.sum() > 2


def test_old_accounts_are_interpolated_to_many_digits():
    """With a table of 100 weights only, most accounts are old soon."""
    p_values = np.ones(400)
    p_values[[3, 4, 30, 200]] = 0.0
    exact, short = Run("lord")(p_values)[1], Run("lord", table=100)(p_values)[1]
    np.testing.assert_allclose(short, exact, rtol=1e-6)
    assert np.any(short != exact)


def test_it_comes_back_before_a_bound_that_might_be_a_discovery():
    p_values, rough = np.array([0.6, 0.3, 1e-9, 0.4]), [True, True, True, True]
    run = Run("lord")
    done, *_ = run(p_values, rough=rough)
    assert done == 2
    whole = Run("lord")
    assert run(p_values[2:])[0] == 2
    assert whole(p_values)[0] == 4
    assert np.array_equal(run.counters, whole.counters)


def test_it_comes_back_when_there_were_enough_discoveries_or_no_room_for_more():
    p_values = np.array([0.0, 1.0, 0.0, 0.0])
    run = Run("lord", room=2)
    assert run(p_values, most=1)[0] == 1
    done, out, _ = run(p_values[1:])
    assert done == 2
    assert np.isnan(out[2])
    assert run.counters[FOUND] == 2
    assert run.counters[CLOCK] == run.counters[TESTS] == 3


def test_constants_that_state_files_rely_on():
    assert (TESTS, CLOCK, FOUND, AHEAD) == (0, 1, 2, 5)
    assert online_fdr.TABLED > 2**16 + online_fdr.WINDOW + 1  # the longest lag fits into the table
