"""P-values in selectors: exact by default, the papers' by name, in decisions, ledgers and states."""

import numpy as np
import pytest
import scipy.sparse as sp

import streamsieve as ss
from streamsieve.columns.models.linear import LinearModel
from streamsieve.exceptions import ParameterError, StateError
from streamsieve.independence import permuted_targets
from tests.columns.streams import reloaded
from tests.helpers.tier import cases
from tests.reference import confirmed as twin
from tests.reference import fisher_z

ALPHA = 0.3
SIEVES = {
    "SAOLA": ss.SAOLA(ALPHA, measure="fisher_z"),
    "SAOLA, missing": ss.SAOLA(ALPHA, missing="omit", measure="fisher_z"),
    "TopK": ss.TopK(5, alpha=ALPHA, measure="fisher_z"),
    "OSFS": ss.OSFS(ALPHA, max_conditioning=0, test="fisher_z"),
    "FastOSFS": ss.FastOSFS(ALPHA, max_conditioning=0, test="fisher_z"),
    "FastOSFS, missing": ss.FastOSFS(ALPHA, max_conditioning=0, missing="omit", test="fisher_z"),
    "GroupSAOLA": ss.GroupSAOLA(ALPHA, group_size=6),
    "HITONPC": ss.HITONPC(ALPHA, test="fisher_z", max_conditioning=0),
}


def skewed(rng, task, n=60):
    """Return amounts, counts and bits, some associated with a skewed target, and the target."""
    y = {
        "binary": lambda: rng.permutation(np.arange(n) < 6),
        "multiclass": lambda: rng.permutation(np.repeat([0, 1, 2], [n - 9, 5, 4])),
        "regression": lambda: np.exp(rng.normal(size=n)),
    }[task]()
    X = np.exp(rng.normal(size=(n, 24)))
    X[:, 8:14] = (rng.random((n, 6)) < 0.1) * (1 + rng.poisson(1, (n, 6)))
    X[:, 14:18] = rng.random((n, 4)) < 0.1
    X[:, ::5] += np.minimum(y, 3)[:, None]
    return X[:, np.ptp(X, axis=0) > 0], y


@pytest.fixture
def closed_forms(monkeypatch):
    """No permutations of the target; their tests are in tests/independence/test_permuted_targets.py."""
    monkeypatch.setattr(permuted_targets, "MOST_VALUES", 0)


@pytest.mark.usefixtures("closed_forms")
@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
@pytest.mark.parametrize("name", SIEVES)
def test_a_column_is_relevant_if_its_confirmed_p_value_is_at_most_the_level(name, task):
    rng, changed = np.random.default_rng(0), 0
    for case in range(cases(5, 2)):
        X, y = skewed(rng, task)
        sieve = SIEVES[name].fit(sp.csc_array(X) if case % 2 else X, y)
        for decision in sieve.ledger_:
            if decision.by or decision.event == "evicted" or decision.reason == "outscored":
                continue
            x = X[:, int(decision.feature[1:])]
            t = twin.tested(x, np.asarray(y, float), many=task == "multiclass", given=0)
            wanted = twin.p_value(x, y, task) if t <= ALPHA else t
            assert decision.p_value == pytest.approx(wanted, rel=1e-7, abs=1e-14)
            assert (decision.reason == "irrelevant") == (wanted > ALPHA)
            changed += wanted != t
    assert changed > 0


@pytest.mark.usefixtures("closed_forms")
@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
def test_an_online_procedure_has_fishers_exact_p_value_for_every_2_x_2_table(task):
    rng = np.random.default_rng(1)
    for _ in range(cases(10)):
        X, y = skewed(rng, task)
        for decision in ss.OnlineFDR(alpha=0.2, test="fisher_z").fit(X, y).ledger_:
            x = X[:, int(decision.feature[1:])]
            t = twin.tested(x, np.asarray(y, float), many=task == "multiclass", given=0)
            table = task == "binary" and len(np.unique(x)) == 2
            wanted = twin.p_value(x, y, task, online=True) if table or t <= 0.2 else t
            assert decision.p_value == pytest.approx(wanted, rel=1e-7, abs=1e-14)


def test_blocks_measured_elsewhere_and_single_columns_have_the_same_decisions():
    rng = np.random.default_rng(2)
    for task in ("binary", "multiclass", "regression"):
        X, y = skewed(rng, task)
        whole = list(ss.SAOLA(ALPHA, measure="fisher_z").fit(X, y).ledger_)
        one, measured = (
            ss.SAOLA(ALPHA, measure="fisher_z").begin(y),
            ss.SAOLA(ALPHA, measure="fisher_z").begin(y),
        )
        for x in X.T:
            one.offer(x.copy())
        measured.offer(measured.measure_block(X))
        for sieve in (one, measured):
            assert [d[:4] for d in sieve.ledger_] == [d[:4] for d in whole]
            np.testing.assert_allclose(
                [d.p_value for d in sieve.ledger_], [d.p_value for d in whole], rtol=1e-9, atol=1e-300
            )


def test_an_online_procedure_over_few_rows_keeps_null_columns_as_seldom_as_promised():
    """1,000 null columns over 8 rows: by Fisher's z, one stream in ten has a discovery instead of 1 in 20."""
    rng, kept, runs = np.random.default_rng(3), {"z": 0, "t": 0, "auto": 0}, cases(250)
    for _ in range(runs):
        X, y = rng.normal(size=(8, 1000)), rng.normal(size=8)
        for way in kept:
            kept[way] += (
                len(ss.OnlineFDR(p_value=way, ledger="none", test="fisher_z").fit(X, y).selected_) > 0
            )
    assert max(kept["t"], kept["auto"]) <= 0.05 * runs + 3 * (0.05 * runs) ** 0.5
    assert kept["z"] > max(kept["t"], kept["auto"])
    if runs > 200:
        assert kept["z"] > 0.07 * runs


def test_partial_correlations_are_tested_by_t_with_the_rows_that_are_left():
    rng = np.random.default_rng(4)
    Z = rng.normal(size=(12, 1))
    y = Z[:, 0] + 0.3 * rng.normal(size=12)
    X = np.column_stack([Z, Z[:, 0] + 0.3 * rng.normal(size=12)])
    for way in ("t", "confirmed", "z"):
        sieve = ss.FastOSFS(0.01, p_value=way, test="fisher_z").fit(X, y)
        (decision,) = [d for d in sieve.ledger_ if d.by]
        r = fisher_z.partial(X[:, 1], y[:, None], Z)
        wanted = fisher_z.p_value(r, 12, 1, "z" if way == "z" else "t")
        assert decision.p_value == pytest.approx(wanted, rel=1e-9)


def test_a_state_keeps_the_way_and_refuses_another():
    rng = np.random.default_rng(5)
    X, y = skewed(rng, "binary")
    for sieve in (
        ss.SAOLA(measure="fisher_z"),
        ss.TopK(3, measure="fisher_z"),
        ss.FastOSFS(test="fisher_z"),
        ss.GroupSAOLA(group_size=4),
        ss.OnlineFDR(test="fisher_z"),
        ss.OSSFSDD(),
    ):
        for way in ("auto", "confirmed", "t", "z"):
            fitted = sieve.set_params(p_value=way).fit(X, y)
            again = reloaded(fitted)
            assert again.p_value == way
            assert [d.p_value for d in again.ledger_] == [d.p_value for d in fitted.ledger_]
            again.offer(X[:, 0]), fitted.offer(X[:, 0])
            assert list(again.ledger_)[-1].p_value == list(fitted.ledger_)[-1].p_value
        fitted.p_value = "t"  # it began with z
        with pytest.raises(StateError, match="other p-values than p_value='t'"):
            reloaded(fitted)
        with pytest.raises(ParameterError, match="p_value"):
            fitted.set_params(p_value="moments").offer(X[:, 1])


def test_columns_whose_p_values_are_too_small_for_a_number_are_still_in_order():
    rng = np.random.default_rng(6)
    y = rng.normal(size=4000)
    noise = rng.normal(size=(4000, 4))
    X = y[:, None] + noise * [0.3, 0.1, 0.2, 0.05]
    sieve = ss.TopK(2, redundancy_weight=0, measure="fisher_z").fit(X, y)
    assert next(d.p_value for d in sieve.ledger_ if d.event == "kept") == 0
    assert sieve.selected_.tolist() == [1, 3]
    assert str(sieve.ledger_[0]).endswith("p < 1e-308)")
    assert ss.HITONPC(max_conditioning=0).fit(X, y).ranked_.tolist() == [3, 1, 2, 0]


def test_correlations_near_one_over_many_rows_have_no_p_value_of_their_own_and_yet_an_order():
    """Logarithms of p-values of 1e5 rows go down to -1e6, where doubles end at -745.

    The order of p-values is that of the statistics, in rankings and among equals; levels are never 0, and the
    ledger says that a p-value is smaller than a double can be.
    """
    rng, n = np.random.default_rng(7), 100_000
    y = rng.normal(size=n)
    X = y[:, None] + rng.normal(size=(n, 5)) * [0.1, 1e-3, 1e-6, 3.0, 1e-4]
    sieve = ss.OnlineFDR(test="fisher_z", alpha=0.05).fit(X, y)
    assert sieve.selected_.tolist() == [0, 1, 2, 3, 4]
    assert np.all(sieve.levels_ > 0)
    assert [d.p_value for d in sieve.ledger_] == [0.0] * 5
    assert all("p < 1e-308" in str(d) for d in sieve.ledger_)
    order = [2, 4, 1, 0, 3]
    best = ss.TopK(3, redundancy_weight=0, measure="fisher_z").fit(X, y)
    assert best.selected_.tolist() == sorted(order[:3])
    assert ss.HITONPC(max_conditioning=0).fit(X, y).ranked_.tolist() == order
    assert ss.Screen("correlation", k=3).fit(X, y).ranked_[:3].tolist() == order[:3]
    levels = ss.OnlineFDR("lord", test="fisher_z").fit(rng.normal(size=(50, 20_000)), y[:50]).levels_
    assert levels.min() > 0


def test_coefficients_hold_their_level_where_the_model_leaves_heavy_tails():
    """Errors and columns are lognormal given the model: the t test has a size of .007 at .001."""
    rng, n, m, runs = np.random.default_rng(8), 100, 400, 30
    small = {"t": 0, "auto": 0, "confirmed": 0}
    for _ in range(runs):
        z = rng.normal(size=n)
        y, X = 8 * z + np.exp(rng.normal(size=n)), z[:, None] + np.exp(rng.normal(size=(n, m)))
        for way in small:
            sieve = ss.OnlineFDR(alpha=1e-4, scope="conditional", p_value=way).fit(np.column_stack([z, X]), y)
            assert sieve.ledger_[0].event == "kept"
            small[way] += sum(d.p_value <= 0.001 for d in list(sieve.ledger_)[1:])
    wanted = 0.001 * m * runs
    assert small["t"] > 2 * wanted + 3 * wanted**0.5
    assert small["auto"] == small["confirmed"] <= wanted + 3 * wanted**0.5


def test_ties_of_residuals_are_ties_whatever_the_rounding():
    """Codes given codes: residuals that differ by rounding alone have one rank."""
    rng = np.random.default_rng(9)
    z, x = rng.integers(0, 3, 60).astype(float), rng.integers(0, 4, 60).astype(float)
    y = 9 * z + rng.integers(0, 2, 60) + 0.5 * (rng.random(60) < 0.05) * 100
    model = LinearModel(y)
    model.add(z, 0)
    (left,) = model.left(x[None])
    assert len(np.unique(left)) == len(np.unique(np.column_stack([z, x]), axis=0))


def test_a_state_of_coefficients_keeps_the_way_and_refuses_another():
    X = np.random.default_rng(10).normal(size=(40, 5))
    for way in ("auto", "confirmed", "t"):
        fitted = ss.OnlineFDR(scope="conditional", p_value=way).fit(X[:, 1:], X[:, 0])
        assert reloaded(fitted).offer(X[:, 1] ** 2)[0].p_value == fitted.offer(X[:, 1] ** 2)[0].p_value
    fitted.p_value = "auto"
    with pytest.raises(StateError, match="other p-values than p_value='auto'"):
        reloaded(fitted)
