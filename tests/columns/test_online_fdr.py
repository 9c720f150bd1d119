"""Online FDR: levels as published, decisions as the slow twin's, and control of the false discovery rate."""

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.stats

import streamsieve as ss
from streamsieve._kernels.online_fdr import LORD, ODDS
from streamsieve.columns.online_fdr import OnlineFDR
from streamsieve.exceptions import SchemaError, StateError
from streamsieve.independence.online_fdr import RULES, OnlineFDRProcedure
from studies.discovery._simulation import EVERY, NOTHING, SITUATIONS, Rates, known, shares, simulate
from tests.columns.streams import (
    FORMS,
    TASKS,
    columns,
    equal_twin,
    equal_twins,
    lines,
    offered,
    reloaded,
    target,
)
from tests.helpers.tier import cases
from tests.reference import online_fdr as twin

every_rule = pytest.mark.parametrize("rule", RULES)


def mixed_p_values(rng, n, share):
    """Return p-values of two-sided z tests, of which a share has a mean of 3."""
    return 2 * scipy.stats.norm.sf(np.abs(rng.normal(size=n) + 3 * (rng.random(n) < share)))


#: The 15 p-values in the documentation of the R package onlineFDR, in order, and alpha = 0.05.
P_VALUES = np.array([
    2.90e-8, 0.06743, 0.01514, 0.08174, 0.00171, 3.60e-5, 0.79149, 0.27201, 0.28295, 7.59e-8, 0.69274,
    0.30443, 0.00136, 0.72342, 0.54757,
])  # fmt: skip
PUBLISHED = {
    "lord": ("100001000100000", """
        .000267584 .00246645 .000573282 .00048728 .000405907 .000344729 .0029745 .000845011 .000730565
        .000624314 .00321859 .00106172 .000925682 .000801966 .000705961"""),
    "saffron": ("100011000100100", """
        .00546863 .0109373 .0109373 .0109373 .0109373 .0218745 .0328118 .0108238 .0108238 .0108238 .0217611
        .00926559 .00926559 .0202028 .00906437"""),
    "addis": ("100011000100100", """
        .00273431 .00546863 .00546863 .00546863 .00546863 .0109373 .0164059 .0164059 .00541192 .00282882
        .00829745 .00829745 .00358924 .00905787 .00905787"""),
    "alpha_investing": ("100011000100100", """
        .0108189 .0214063 .0071642 .00375759 .00237471 .0236805 .0440953 .0158424 .00871119 .00570029
        .0268658 .0112055 .00686312 .0279797 .0119458"""),
}  # fmt: skip


@pytest.mark.parametrize("rule", PUBLISHED)
def test_levels_and_decisions_are_the_published_ones(rule):
    decisions, wanted = PUBLISHED[rule]
    found, levels = OnlineFDRProcedure(rule, 0.05).decide(P_VALUES)
    assert "".join(map(str, found.astype(int))) == decisions
    np.testing.assert_allclose(levels, np.array(wanted.split(), float), rtol=5e-6)


ORACLES = {
    "lord": lambda m, a: m.LordPlusPlus(a, a / 10),
    "dlord": lambda m, a: m.LordDiscard(a, a / 20, 0.5),
    "saffron": lambda m, a: m.Saffron(a, a / 2, 0.5),
    "addis": lambda m, a: m.Addis(a, a / 2, 0.25, 0.5),
    "alpha_investing": lambda m, a: m.Gai(a, a / 2),
    "lond": lambda m, a: m.Lond(a),
    "lond_any": lambda m, a: m.Lond(a, dependent=True),
}


@pytest.mark.parametrize("rule", ORACLES)
def test_decisions_are_those_of_the_package_online_fdr(rule, monkeypatch):
    """LOND there, as in R's onlineFDR, has the weights of LORD, and ours the slow ones."""
    oracles = pytest.importorskip(
        "online_fdr.p_values", reason="online-fdr is not installed: its decisions are not compared"
    )
    if rule in ("lond", "lond_any"):
        monkeypatch.setitem(RULES, rule, RULES[rule]._replace(weights=LORD))
    rng = np.random.default_rng(0)
    found = 0
    for share in (0.0, 0.02, 0.1, 0.4, 0.8):
        p_values = mixed_p_values(rng, 600, share)
        p_values[rng.integers(600, size=3)] = (0.0, 1.0, 0.5)
        oracle = ORACLES[rule](oracles, 0.05)
        wanted = [bool(oracle.test_one(p)) for p in p_values.tolist()]
        assert OnlineFDRProcedure(rule, 0.05).decide(p_values)[0].tolist() == wanted
        found += sum(wanted)
    assert found > (20 if rule == "lond_any" else 100)


def test_lond_has_one_more_than_its_discoveries():
    """With max(1, discoveries), which it dominates, the first discovery would not raise a level."""
    p_values = np.array([0.0, 1.0, 0.0, 1.0])
    levels = OnlineFDRProcedure("lond", 0.05).decide(p_values)[1]
    weights = np.array([twin.slow_weight(i) for i in range(1, 5)])
    np.testing.assert_allclose(levels, 0.05 * weights * [1, 2, 2, 3], rtol=1e-12)


def test_levels_that_promise_most_are_smallest():
    """Spending and the reshaped form are never above LOND, and without discoveries LOND is spending."""
    rng = np.random.default_rng(12)
    p_values = mixed_p_values(rng, 2000, 0.1)
    lond, spending = (
        OnlineFDRProcedure(rule, 0.05).decide(p_values)[1] for rule in ("lond", "alpha_spending")
    )
    found, reshaped = OnlineFDRProcedure("lond_any", 0.05).decide(p_values)
    assert np.all(reshaped <= lond)
    assert np.all(spending <= lond)
    assert spending.sum() < 0.05
    assert found.sum() > 10
    nothing = np.ones(500)
    assert np.array_equal(
        *(OnlineFDRProcedure(rule, 0.05).decide(nothing)[1] for rule in ("lond", "alpha_spending"))
    )


@every_rule
def test_levels_equal_the_twin_with_any_lag_in_any_pieces(rule):
    rng = np.random.default_rng(1)
    for case in range(cases(30)):
        n, lag = int(rng.integers(1, 100)), int(rng.choice([0, 1, 5, 20]))
        alpha = float(rng.choice([0.05, 0.2]))
        p_values = mixed_p_values(rng, n, float(rng.choice([0, 0.1, 0.4, 0.8])))
        if case % 4 == 0:
            p_values = np.round(p_values, 2)  # ties with the edges at 1/4 and 1/2, and zeros
        discrete = rng.random(n) < rng.choice([0, 0.3, 1])  # some, none or all
        wanted = twin.levels(p_values.tolist(), rule, alpha, lag, discrete.tolist())
        gate = OnlineFDRProcedure(rule, alpha, lag)
        found, levels = [], []
        while len(found) < n:
            part = slice(len(found), len(found) + int(rng.integers(1, 40)))
            mask = discrete[part] if discrete.any() else None
            some = gate.decide(p_values[part], mask, until_found=bool(rng.random() < 0.5))
            found += some[0].tolist()
            levels += some[1].tolist()
            if rng.random() < 0.2:
                gate = OnlineFDRProcedure.from_state(gate.state())
        assert found == [w[1] for w in wanted], case
        np.testing.assert_allclose(levels, [w[0] for w in wanted], rtol=1e-12, atol=0)


@pytest.mark.parametrize("lag", [0, 7])
@every_rule
def test_pieces_and_states_change_no_bit_of_a_level(rule, lag):
    rng = np.random.default_rng(2)
    p_values, discrete = mixed_p_values(rng, 9000, 0.4), rng.random(9000) < 0.3
    found, levels = OnlineFDRProcedure(rule, 0.1, lag).decide(p_values, discrete)
    assert found.sum() > 64  # room had to be made
    for size in (1000, 7777):
        gate = OnlineFDRProcedure(rule, 0.1, lag)
        for low in range(0, len(p_values), size):
            some = gate.decide(p_values[low : low + size], discrete[low : low + size])
            assert np.array_equal(some[0], found[low : low + size])
            assert np.array_equal(some[1], levels[low : low + size])
            gate = OnlineFDRProcedure.from_state(gate.state())


@pytest.mark.parametrize("rule", ["lord", "saffron"])
def test_levels_are_right_after_half_a_million_ticks(rule):
    """Beyond the table of weights, what old discoveries pay is interpolated."""
    weight = twin.lord_weight if rule == "lord" else twin.power_weight
    n = 500_000
    p_values = np.full(n, 0.9)
    where = np.array([0, 3, 1000, 1001, 250_000, 400_000])
    p_values[where] = 0.0
    gate = OnlineFDRProcedure(rule, 0.05)
    _, levels = gate.decide(p_values)
    ticks = np.arange(n + 1) if rule == "lord" else np.concatenate([[0], np.cumsum(p_values > 0.5)])
    factor, w0 = (1.0, 0.005) if rule == "lord" else (0.5, 0.025)
    for t in (262_000, 262_143, 262_200, 263_168, 300_000, 499_999):
        opened = [ticks[i + 1] for i in where if i < t]
        pays = [0.05 - w0] + [0.05] * (len(opened) - 1)
        wanted = w0 * weight(1 + int(ticks[t]))
        wanted += sum(p * weight(1 + int(ticks[t] - o)) for p, o in zip(pays, opened, strict=True))
        assert levels[t] == pytest.approx(factor * wanted, rel=1e-10)


@pytest.mark.parametrize("lag", [0, 7])
@pytest.mark.parametrize(("rule", "without_discarding"), [("addis", "saffron"), ("dlord", "lord")])
def test_of_discrete_p_values_alone_nothing_is_discarded(rule, without_discarding, lag):
    """ADDIS is SAFFRON and D-LORD is LORD++, to the last bit; of none, a mask changes nothing."""
    rng = np.random.default_rng(21)
    p_values, every = mixed_p_values(rng, 3000, 0.1), np.ones(3000, bool)
    wanted = OnlineFDRProcedure(without_discarding, 0.05, lag).decide(p_values)
    assert np.array_equal(OnlineFDRProcedure(rule, 0.05, lag).decide(p_values, every), wanted)
    wanted = OnlineFDRProcedure(rule, 0.05, lag).decide(p_values)
    assert np.array_equal(OnlineFDRProcedure(rule, 0.05, lag).decide(p_values, ~every), wanted)


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule not in ("addis", "dlord")])
def test_rules_that_discard_nothing_make_no_difference_between_p_values(rule):
    rng = np.random.default_rng(22)
    p_values, some = mixed_p_values(rng, 500, 0.1), rng.random(500) < 0.5
    wanted = OnlineFDRProcedure(rule, 0.05, 3).decide(p_values)
    assert np.array_equal(OnlineFDRProcedure(rule, 0.05, 3).decide(p_values, some), wanted)


def test_a_mask_of_another_length_is_refused():
    with pytest.raises(SchemaError, match="3 p-values, but 2 entries that say which are discrete"):
        OnlineFDRProcedure("addis", 0.05).decide(np.ones(3), np.ones(2, bool))


@every_rule
def test_p_values_of_zero_one_and_nan_are_taken(rule):
    gate = OnlineFDRProcedure(rule, 0.05)
    found, levels = gate.decide(np.array([0.0, np.nan, 1.0, 0.0]))
    assert found.tolist() == [True, False, False, True]
    assert np.array_equal(levels, OnlineFDRProcedure(rule, 0.05).decide(np.array([0.0, 1.0, 1.0, 0.0]))[1])
    assert gate.decide(np.zeros(0))[0].shape == (0,)


#: The share of false discoveries that a rule reckons with: which tests count, and for how much.
RECKONED = {
    "lord": lambda p, a: a,
    "saffron": lambda p, a: a * (p > 0.5) / 0.5,
    "addis": lambda p, a: a * ((p > 0.25) & (p <= 0.5)) / 0.25,
    "dlord": lambda p, a: a * (p <= 0.5) / 0.5,
}


@pytest.mark.parametrize("lag", [0, 5])
@pytest.mark.parametrize("rule", RECKONED)
def test_what_a_rule_reckons_with_never_exceeds_alpha(rule, lag):
    rng = np.random.default_rng(3)
    for _ in range(40):
        share, alpha = float(rng.choice([0, 0.02, 0.2, 0.6])), float(rng.choice([0.01, 0.05, 0.3]))
        p_values = mixed_p_values(rng, 500, share)
        discrete = rng.random(500) < rng.choice([0, 0.5])
        found, levels = OnlineFDRProcedure(rule, alpha, lag).decide(p_values, discrete)
        whole = RECKONED[{"addis": "saffron", "dlord": "lord"}.get(rule, rule)]
        each = np.where(discrete, whole(p_values, levels), RECKONED[rule](p_values, levels))
        reckoned = np.cumsum(each) / np.maximum(1, np.cumsum(found))
        assert reckoned.max() <= alpha * (1 + 1e-12)


@pytest.mark.parametrize("rule", [rule for rule in RULES if RULES[rule].form <= ODDS])
def test_wealth_is_what_was_earned_less_what_was_spent(rule):
    rng = np.random.default_rng(4)
    form = RULES[rule]
    first, second, amount, factor, cap = form.plan(0.05)[:5]
    for _ in range(20):
        p_values = mixed_p_values(rng, 300, 0.05)
        gate = OnlineFDRProcedure(rule, 0.05)
        found, levels = gate.decide(p_values)
        assert np.all(levels < cap)  # so that a level says what was paid for it
        paid = levels / (1 - levels) if rule == "alpha_investing" else levels / factor
        ticked = {
            0: p_values >= 0, 1: p_values <= 0.5, 2: p_values > 0.5, 3: (p_values > 0.25) & (p_values <= 0.5),
            4: ~found,
        }[form.ticking]  # fmt: skip
        earned = first + (second + amount * (found.sum() - 1) if found.any() else 0)
        assert gate.wealth() == pytest.approx(earned - paid[ticked].sum(), rel=1e-10)
        assert OnlineFDRProcedure.from_state(gate.state()).wealth() == gate.wealth()


@pytest.mark.parametrize("lag", [1, 6])
def test_with_a_lag_the_wealth_counts_what_may_be_used(lag):
    """After 40 tests that found nothing, nothing is pending that ticks otherwise."""
    gate, plain = OnlineFDRProcedure("lord", 0.05, lag), OnlineFDRProcedure("lord", 0.05)
    p_values = np.concatenate([np.ones(10), np.zeros(1), np.ones(40)])
    gate.decide(p_values)
    plain.decide(p_values)
    # the discovery pays from lag tests later on, so it has spent as much less
    weight = twin.lord_weight
    spent_later = sum(weight(i) for i in range(41 - lag, 41))
    assert gate.wealth() == pytest.approx(plain.wealth() + 0.045 * spent_later, rel=1e-9)
    young = OnlineFDRProcedure("lord", 0.05, lag)
    before = young.wealth()
    young.decide(np.zeros(1))
    assert young.wealth() < before  # found, but not to be used yet


def test_lond_has_no_wealth():
    sieve = OnlineFDR("lond", test="fisher_z").fit(np.eye(9), np.arange(9.0) + 0.5)
    with pytest.raises(AttributeError, match="wealth_ is not defined for fdr='lond'"):
        _ = sieve.wealth_
    assert np.isnan(OnlineFDRProcedure("lond", 0.05).wealth())


def good_state():
    gate = OnlineFDRProcedure("addis", 0.1, 2)
    gate.decide(np.array([0.0, 0.3, 0.0, 0.9, 0.4, 0.3, 0.0, 1.0]))
    return gate.state()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("counters", np.array([8, 9, 3, 1, 1])),
        ("counters", np.array([8, 2, 4, 1, 1])),
        ("counters", np.array([8, 2, 2**40, 1, 1])),
        ("counters", np.array([8, 2, 3, 3, 3])),
        ("found_at", np.array([1, 3, 9])),
        ("opened_at", np.array([0, 0, 99])),
        ("ticks", np.zeros(2, bool)),
    ],
)
def test_a_state_that_does_not_fit_together_is_refused(name, value):
    OnlineFDRProcedure.from_state(good_state())
    with pytest.raises(StateError, match="does not fit together"):
        OnlineFDRProcedure.from_state({**good_state(), name: value})


SETTINGS = [
    ("addis", 0, "marginal"), ("lord", 0, "marginal"), ("saffron", 3, "marginal"),
    ("alpha_investing", 0, "marginal"), ("lond", 1, "marginal"), ("dlord", 0, "marginal"),
    ("lond_any", 0, "marginal"), ("alpha_spending", 2, "marginal"),
    ("addis", 0, "conditional"), ("alpha_investing", 2, "conditional"),
]  # fmt: skip


def equal_levels(sieve, wanted, what, p_values=True):
    equal_twin(sieve, wanted, what=what)
    np.testing.assert_allclose(sieve.levels_, [line.level for line in wanted[1]], rtol=1e-9)


@pytest.mark.parametrize(("rule", "lag", "test"), SETTINGS)
def test_random_streams_in_mixed_blocks_equal_the_twin(rule, lag, test):
    tasks = TASKS if test == "marginal" else ("binary", "regression")
    make, slow = (partial(f, fdr=rule, lag=lag, scope=test) for f in (OnlineFDR, twin.online_fdr))
    seen = equal_twins(
        make, slow, tasks, cases(40), (1, 11), lambda rng: {"alpha": float(rng.choice([0.19, 0.47, 0.83]))},
        seed=5, check=equal_levels,
    )  # fmt: skip
    assert len({reason for _, reason in seen}) >= (4 if test == "marginal" else 5), seen


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("test", ["marginal", "conditional"])
def test_one_form_of_blocks_equals_the_twin(test, form):
    make, slow = (partial(f, alpha=0.31, scope=test) for f in (OnlineFDR, twin.online_fdr))
    equal_twins(
        make, slow, ("binary", "regression"), 6, (12, 13), seed=6, forms=(form,), far=False,
        n_rows=lambda rng, task: int(rng.integers(10, 40)),
    )  # fmt: skip


def wide_stream(n=80, p=1500):
    """Return columns of which one in 50 is related to the target, and the target."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(n, p)) * (rng.random((n, p)) < 0.5)
    y = rng.normal(size=n)
    X[:, ::50] += 0.8 * y[:, None]
    return X, y


@pytest.mark.parametrize("test", ["marginal", "conditional"])
@every_rule
def test_the_size_of_blocks_changes_no_decision(rule, test):
    """A level belongs to a column, not to the chunk in which it happens to arrive (tsfresh#484)."""
    X, y = wide_stream()
    whole = OnlineFDR(rule, alpha=0.1, scope=test, test="fisher_z").fit(X, y)
    assert len(whole.selected_) >= 3
    sizes = ((1, np.ascontiguousarray), (10, sp.csc_array), (1000, np.asfortranarray))
    for size, form in sizes[rule != "addis" :]:  # single columns are slow, and one rule shows it
        sieve = OnlineFDR(rule, alpha=0.1, scope=test, test="fisher_z").begin(y)
        for low in range(0, X.shape[1], size):
            sieve.offer(form(X[:, low : low + size]))
        assert lines(sieve) == lines(whole)
        np.testing.assert_allclose(sieve.levels_, whole.levels_, rtol=1e-12)


@pytest.mark.parametrize("test", ["marginal", "conditional"])
def test_a_column_is_kept_if_its_p_value_is_at_most_its_level(test):
    X, y = wide_stream()
    sieve = OnlineFDR(scope=test, test="fisher_z").fit(X, y)
    assert len(sieve.levels_) == X.shape[1]
    for decision, level in zip(sieve.ledger_, sieve.levels_, strict=True):
        assert (decision.p_value <= level) == (decision.event == "kept")


@pytest.mark.parametrize("test", ["marginal", "conditional"])
def test_levels_are_remembered_as_decisions_are(test):
    X, y = wide_stream()
    every = OnlineFDR(scope=test, test="fisher_z").fit(X, y)
    assert np.array_equal(reloaded(every).levels_, every.levels_)
    kept = OnlineFDR(scope=test, ledger="kept", test="fisher_z").fit(X, y)
    assert np.array_equal(kept.levels_, every.levels_[every.selected_])
    assert len(OnlineFDR(scope=test, ledger="none", test="fisher_z").fit(X, y).levels_) == 0
    stopped = OnlineFDR(scope=test, stop=ss.Stop(max_offers=1234), test="fisher_z").fit(X, y)
    assert np.array_equal(stopped.levels_, every.levels_[:1234])


def test_a_saved_run_with_other_columns_is_refused():
    X, y = wide_stream()
    sieve = OnlineFDR(test="fisher_z").fit(X[:, :100], y)
    sieve._process_.rule._kept.append(np.array([99]))
    with pytest.raises(StateError, match="2 columns were found, 3 kept"):
        reloaded(sieve)
    sieve._found_ += 1
    with pytest.raises(StateError, match="not those that the tests found"):
        reloaded(sieve)


@pytest.mark.parametrize("lag", [0, 2])
@every_rule
def test_saola_behind_a_gate_is_saola_over_what_passes(rule, lag):
    rng = np.random.default_rng(8)
    passing = 0
    for case in range(12):
        task = TASKS[case % 3]
        y = target(rng, task, int(rng.integers(20, 60)))
        X = columns(rng, y, 20, far=False)
        passed = np.array(twin.online_fdr(X, y, task, fdr=rule, alpha=0.4, lag=lag)[0], np.int64)
        sieve = offered(
            ss.SAOLA(alpha=0.4, fdr=rule, lag=lag, p_value="t", measure="fisher_z").begin(y), X, rng
        )
        inner = ss.SAOLA(alpha=0.999, p_value="t", measure="fisher_z").begin(y)
        if len(passed):
            inner.offer(X[:, passed])
        assert sieve.selected_.tolist() == passed[inner.selected_].tolist(), case
        relevant = {j for j, _, reason, _ in lines(sieve) if reason in ("relevant", "redundant")}
        assert relevant == set(passed.tolist()), case
        passing += len(passed)
    assert passing > 15


STREAMS = 60


def check_known(found, wanted, what):
    """Assert that rates agree with those of 200 streams, up to three standard errors of the difference."""
    wide = 3 * (1 + STREAMS / 200) ** 0.5
    # an error of a rate that happened to be 0 is that of a single event, and the table is rounded
    assert abs(found.fdr - wanted.fdr) <= wide * max(found.fdr_error, 0.002) + 0.0005, (what, found)
    assert abs(found.power - wanted.power) <= wide * found.power_error + 0.005, (what, found)


@pytest.mark.parametrize("situation", SITUATIONS)
def test_false_discovery_rate_and_power_are_those_of_the_simulation_table(situation):
    """The rates, the bound for independent tests, and that of a cell that is not published."""
    for rule, found in simulate(EVERY, SITUATIONS[situation], streams=STREAMS).items():
        wanted = known(rule, situation)
        if wanted.fdr is not None:
            check_known(found, wanted, (situation, rule))
        if rule in RULES and SITUATIONS[situation].noise == "independent":
            assert found.fdr <= 0.05 + 3 * found.fdr_error, (situation, rule)


def test_a_lag_tames_neighbors_that_are_alike():
    rules = ("saffron", "addis", "lord")
    for lag in (0, 5, 10):
        found = simulate(rules, SITUATIONS["autocorrelated"], lag=lag, streams=STREAMS)
        for rule in rules:
            check_known(found[rule], known(rule, "autocorrelated", lag), (rule, lag))
            assert lag == 0 or found[rule].fdr <= 0.05


def test_without_signals_discoveries_are_as_rare_as_known():
    for rule, found in simulate(EVERY, NOTHING, streams=STREAMS).items():
        wanted = known(rule, "nothing").fdr
        if rule in RULES:
            assert found.fdr <= 0.05 + 3 * (0.05 * 0.95 / STREAMS) ** 0.5, rule
        if wanted is not None:
            assert abs(found.fdr - wanted) <= 3 * (max(wanted, 0.02) * (1 - wanted) / STREAMS) ** 0.5, rule


@pytest.mark.parametrize("test", ["marginal", "conditional"])
def test_columns_of_a_known_truth_are_found_at_the_promised_rate(test):
    """The selector itself, not only its levels: 8 true columns of 600, 30 data sets."""
    rng = np.random.default_rng(10)
    pairs = []
    for _ in range(30):
        X = rng.normal(size=(200, 600))
        true = np.isin(np.arange(600), rng.choice(600, 8, replace=False))
        y = X[:, true] @ rng.choice([-1.0, 1.0], 8) + rng.normal(size=200)
        pairs.append(shares(OnlineFDR(alpha=0.1, scope=test, test="fisher_z").fit(X, y).get_support(), true))
    found = Rates.over(pairs)
    assert found.fdr <= 0.1 + 3 * found.fdr_error
    assert found.power > (0.6 if test == "marginal" else 0.9)
