"""Alpha-investing decides as its slow twin does, and its wealth keeps the books."""

from collections import Counter
from math import comb

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.stats

import streamsieve as ss
from streamsieve.columns.models.logistic import LogisticModel
from streamsieve.exceptions import ParameterError, StateError, TargetError
from tests.columns.streams import DENSE, FORMS, columns, equal_twin, lines, offered, rows, target
from tests.helpers.tier import cases
from tests.reference.alpha_investing import alpha_investing

TEST_STATISTICS = ("t", "likelihood_ratio")
TASKS = ("binary", "regression")


def check_equal(sieve, twin, what):
    equal_twin(sieve, twin, what=what)
    assert sieve.wealth_ == pytest.approx(twin[1][-1].wealth, rel=1e-9), what


# ------------------------------------------------------------------------------------ equal to the twin


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("test_statistic", TEST_STATISTICS)
def test_random_streams_in_mixed_blocks_equal_the_twin(test_statistic, task):
    rng = np.random.default_rng(0)
    seen = Counter()
    for case in range(cases(100)):
        y = target(rng, task, rows(rng, task))
        far = case % 3 == 0
        X = columns(rng, y, int(rng.integers(1, 15)), far=far)
        # no round numbers: with few rows a p-value could equal a level
        parameters = {
            "wealth": float(rng.choice([0.47, 0.051, 0.93])),
            "payout": float(rng.choice([0.51, 0.049])),
        }
        twin = alpha_investing(X, y, test_statistic=test_statistic, **parameters)
        sieve = ss.AlphaInvesting(test_statistic=test_statistic, **parameters).begin(y)
        check_equal(offered(sieve, X, rng, tuple(FORMS)), twin, (case, parameters))
        seen.update(line.reason for line in twin[1])
    assert min(seen.values()) >= cases(5), seen
    assert set(seen) == {
        "relevant", "irrelevant", "constant", "collinear", "model fits exactly", "unreliable test",
    }  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("test_statistic", TEST_STATISTICS)
def test_one_form_of_blocks_equals_the_twin(test_statistic, form):
    rng = np.random.default_rng(1)
    for case in range(6):
        y = target(rng, TASKS[case % 2], int(rng.integers(4, 40)))
        X = columns(rng, y, 12, far=False)
        sieve = offered(
            ss.AlphaInvesting(wealth=0.47, test_statistic=test_statistic).begin(y), X, rng, (form,)
        )
        check_equal(sieve, alpha_investing(X, y, wealth=0.47, test_statistic=test_statistic), case)


@pytest.mark.parametrize("test_statistic", TEST_STATISTICS)
def test_a_model_of_many_columns_equals_the_twin(test_statistic):
    rng = np.random.default_rng(2)
    Z = rng.normal(size=(150, 70))
    X = np.column_stack([Z[:, :50], Z[:, :50] @ rng.normal(size=(50, 3)), Z[:, 50:], Z[:, 3:6]])
    y = Z @ 0.85 ** np.arange(70) + 1e-3 * rng.normal(size=150)
    twin = alpha_investing(X, y, test_statistic=test_statistic)
    assert len(twin[0]) > 33  # the basis must grow more than once
    for form in ("row by row", "csc_array", "one by one"):
        sieve = offered(ss.AlphaInvesting(test_statistic=test_statistic).begin(y), X, rng, (form,))
        check_equal(sieve, twin, form)


def test_a_block_of_thousands_of_columns_equals_the_twin():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 1300)) * (rng.random((40, 1300)) < 0.5)
    y = X[:, [900, 1023, 1024, 1200]] @ [64.0, -16.0, 4.0, 1.0] + 0.1 * rng.normal(size=40)
    twin = alpha_investing(X, y)
    assert {900, 1023, 1024, 1200} <= set(twin[0])
    for form in (np.ascontiguousarray, np.asfortranarray, sp.csc_array):
        sieve = ss.AlphaInvesting().begin(y)
        sieve.offer(form(X))
        check_equal(sieve, twin, form.__name__)


# ------------------------------------------------------------------------------------ wealth


@pytest.mark.parametrize("block", [1, 3, 10])
@pytest.mark.parametrize("form", FORMS)
def test_ten_constants_leave_the_wealth_of_the_closed_form(form, block):
    sieve = ss.AlphaInvesting().begin(np.arange(12.0) + 0.5)
    X = np.tile([0.0, 7.1], (12, 5))
    for low in range(0, 10, block):
        offered(sieve, X[:, low : low + block], np.random.default_rng(0), (form,))
    assert sieve.wealth_ == pytest.approx(0.5 * comb(20, 10) / 4**10, rel=1e-14)
    assert sieve.wealth_ == pytest.approx(0.0880985, abs=5e-8)


def test_the_intercept_of_the_likelihood_ratio_is_the_first_candidate():
    """So the first column is tested at wealth / 4, and the closed form begins one factor later."""
    sieve = ss.AlphaInvesting(test_statistic="likelihood_ratio").begin(np.arange(12.0) + 0.5)
    sieve.offer(np.ones((12, 10)))
    assert sieve.wealth_ == pytest.approx(2 * 0.5 * comb(22, 11) / 4**11, rel=1e-14)


@pytest.mark.parametrize("test_statistic", TEST_STATISTICS)
def test_the_ledger_accounts_for_the_wealth(test_statistic):
    rng = np.random.default_rng(4)
    for _ in range(30):
        y = target(rng, TASKS[int(rng.integers(2))], 30)
        X = columns(rng, y, 25, far=False)
        sieve = offered(ss.AlphaInvesting(0.3, payout=0.2, test_statistic=test_statistic).begin(y), X, rng)
        wealth, tests = 0.3, int(test_statistic == "likelihood_ratio")
        for decision in sieve.ledger_:
            tests += 1
            level = wealth / (2 * tests)
            kept = decision.event == "kept"
            assert kept == (decision.p_value < level)
            wealth += 0.2 * kept - level
        assert sieve.wealth_ == pytest.approx(wealth, rel=1e-12)


def test_nothing_is_ever_evicted_and_the_order_is_that_of_arrival():
    rng = np.random.default_rng(5)
    y = rng.normal(size=60)
    X = columns(rng, y, 80, far=False)
    sieve = offered(ss.AlphaInvesting().begin(y), X, rng)
    kept = [j for j, event, _, _ in lines(sieve) if event == "kept"]
    assert sieve.selected_.tolist() == kept
    assert not any(event == "evicted" for _, event, _, _ in lines(sieve))


# ------------------------------------------------------------------------------------ columns without news


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("test_statistic", TEST_STATISTICS)
def test_what_the_model_holds_already_is_collinear(test_statistic, form):
    rng = np.random.default_rng(6)
    x, z = rng.normal(size=(2, 50)) * (rng.random((2, 50)) < 0.9)
    y = x - 2 * z + rng.normal(size=50)
    again = np.column_stack([x, -x, 3 * z, x + z, 0.1 * x - 7 * z, x + 1e-8 * rng.normal(size=50)])
    sieve = offered(
        ss.AlphaInvesting(test_statistic=test_statistic).begin(y),
        np.column_stack([x, z, again]),
        rng,
        (form,),
    )
    assert lines(sieve) == [
        (0, "kept", "relevant", ()),
        (1, "kept", "relevant", ()),
        *((j, "rejected", "collinear", ()) for j in range(2, 8)),
    ]
    assert [d.p_value for d in sieve.ledger_][2:] == [1.0] * 6


@pytest.mark.parametrize("form", DENSE)
def test_columns_plus_a_constant_are_collinear_too(form):
    rng = np.random.default_rng(7)
    x = rng.integers(0, 9, 50).astype(float)
    y = x + rng.normal(size=50)
    X = np.column_stack([x, x + 1, x + 1e9, 5 - x])
    sieve = offered(ss.AlphaInvesting().begin(y), X, rng, (form,))
    assert [reason for _, _, reason, _ in lines(sieve)] == ["relevant", "collinear", "collinear", "collinear"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("test_statistic", TEST_STATISTICS)
def test_once_the_model_fits_exactly_nothing_more_is_taken(test_statistic, form):
    rng = np.random.default_rng(8)
    Z = rng.normal(size=(40, 3))
    x, z, noise = np.linalg.qr(Z - Z.mean(axis=0))[0].T
    y = 3 * x - z
    X = np.column_stack([noise, x, z, noise + x, rng.normal(size=(40, 3)), np.ones(40)])
    sieve = offered(
        ss.AlphaInvesting(0.01, payout=0.01, test_statistic=test_statistic).begin(y), X, rng, (form,)
    )
    assert sieve.selected_.tolist() == [1, 2]
    assert [str(d.reason) for d in sieve.ledger_][3:] == ["model fits exactly"] * 4 + ["constant"]
    assert [d.p_value for d in sieve.ledger_][3:] == [1.0] * 5


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("test_statistic", TEST_STATISTICS)
def test_an_empty_first_column_breaks_none_of_the_later_ones(test_statistic, form):
    """The toolbox takes column 1 for the constant: all zero, it makes every later p-value NaN."""
    rng = np.random.default_rng(9)
    y = rng.integers(0, 2, 80)
    X = np.column_stack([np.zeros(80), y[:, None] + rng.normal(size=(80, 3)), rng.normal(size=(80, 4))])
    sieve = offered(ss.AlphaInvesting(test_statistic=test_statistic).begin(y), X, rng, (form,))
    assert sieve.selected_.tolist() == [1, 2, 3]
    assert str(sieve.ledger_[0].reason) == "constant"
    assert np.all(np.isfinite([d.p_value for d in sieve.ledger_]))
    check_equal(sieve, alpha_investing(X, y, test_statistic=test_statistic), form)


@pytest.mark.parametrize("form", FORMS)
def test_two_rows_leave_nothing_to_test(form):
    y = np.array([0.5, 2.0])
    X = np.array([[1.0, 3.0, 0.0], [2.0, 3.0, 1.0]])
    sieve = offered(ss.AlphaInvesting().begin(y), X, np.random.default_rng(0), (form,))
    assert [str(d.reason) for d in sieve.ledger_] == ["unreliable test", "constant", "unreliable test"]


# ------------------------------------------------------------------------------------ p-values and targets


def test_the_p_value_of_a_first_column_is_the_one_of_scipy():
    rng = np.random.default_rng(10)
    for _ in range(50):
        n = int(rng.integers(3, 40))
        x, y = rng.normal(size=(2, n))
        wanted = scipy.stats.linregress(x, y)
        for form in (x, x[:, None], sp.csc_array(x[:, None])):
            (found,) = ss.AlphaInvesting().begin(y).offer(form)
            assert found.p_value == pytest.approx(wanted.pvalue, rel=1e-9)
            assert found.statistic == pytest.approx(wanted.slope / wanted.stderr, rel=1e-8)


def test_the_likelihood_ratio_is_no_smaller_than_the_t_test():
    rng = np.random.default_rng(11)
    x, y = rng.normal(size=(2, 400))
    for strength in (0.0, 0.1, 0.15, 0.2):
        t, ratio = (
            ss.AlphaInvesting(test_statistic=p).begin(y).offer(x + strength * y)[0].p_value
            for p in TEST_STATISTICS
        )
        assert ratio > t


def test_swapped_labels_change_signs_only():
    rng = np.random.default_rng(12)
    y = rng.integers(0, 2, 50)
    X = columns(rng, y, 20, far=False)
    one, other = ss.AlphaInvesting().fit(X, y), ss.AlphaInvesting().fit(X, 1 - y)
    assert lines(one) == lines(other)
    np.testing.assert_allclose(
        *([np.clip(s * d.statistic, -1e6, 1e6) for d in f.ledger_] for f, s in ((one, 1), (other, -1))),
        rtol=1e-7, atol=1e-9,
    )  # fmt: skip


def test_more_than_two_classes_are_refused_and_the_message_names_saola():
    with pytest.raises(
        TargetError,
        match=r"AlphaInvesting needs .* but y is multiclass: say task='regression' if .* use SAOLA",
    ):
        ss.AlphaInvesting().begin([0, 1, 2, 1])


def test_a_constant_target_is_refused():
    with pytest.raises(ss.exceptions.TargetError, match="y is constant"):
        ss.AlphaInvesting(task="regression").begin(np.full(8, 0.1))
    with pytest.raises(ss.exceptions.TargetError, match="y is constant"):
        ss.SAOLA().begin(np.full(8, 0.1))


# ------------------------------------------------------------------------------------ the logistic model


@pytest.mark.parametrize("test_statistic", TEST_STATISTICS)
def test_logistic_random_streams_in_mixed_blocks_equal_the_twin(test_statistic):
    rng = np.random.default_rng(13)
    seen = Counter()
    for case in range(cases(80, 40)):
        y = target(rng, "binary", rows(rng, "binary"))
        X = columns(rng, y, int(rng.integers(1, 12)), far=case % 3 == 0)
        parameters = {
            "wealth": float(rng.choice([0.47, 0.051, 0.93])),
            "payout": float(rng.choice([0.51, 0.049])),
            "test_statistic": test_statistic,
            "model": "logistic",
        }
        twin = alpha_investing(X, y, **parameters)
        sieve = offered(ss.AlphaInvesting(**parameters).begin(y), X, rng, tuple(FORMS))
        equal_logistic(sieve, twin, (case, parameters))
        seen.update(line.reason for line in twin[1])
    assert set(seen) == {"relevant", "irrelevant", "constant", "collinear", "model fits exactly"}, seen
    assert min(seen.values()) >= cases(3), seen


def equal_logistic(sieve, twin, what):
    """Assert equality up to what two ways to a minimum leave."""
    selected, expected = twin
    assert lines(sieve) == [(e.feature, e.event, e.reason, e.by) for e in expected], what
    assert sieve.selected_.tolist() == selected, what
    for name in ("statistic", "p_value"):
        found, wanted = ([getattr(d, name) for d in side] for side in (sieve.ledger_, expected))
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6, err_msg=str(what))
    assert sieve.wealth_ == pytest.approx(expected[-1].wealth, rel=1e-9), what


@pytest.mark.parametrize("form", ["row by row", "column by column", "csc_array", "one by one"])
def test_a_logistic_model_of_many_columns_equals_the_twin(form):
    rng = np.random.default_rng(14)
    X = rng.normal(size=(400, 40)) * (rng.random((400, 40)) < 0.7)
    X[:, 20] = X[:, 3] + X[:, 5]
    y = (X[:, :12].sum(axis=1) / 2 + rng.logistic(size=400) > 0).astype(int)
    twin = alpha_investing(X, y, model="logistic")
    assert len(twin[0]) > 8
    equal_logistic(offered(ss.AlphaInvesting(model="logistic").begin(y), X, rng, (form,)), twin, form)


def test_the_score_test_is_the_one_of_statsmodels():
    sm = pytest.importorskip("statsmodels.api", reason="statsmodels is not installed: no oracle")
    rng = np.random.default_rng(15)
    X = rng.normal(size=(200, 12))
    y = (X[:, 0] - X[:, 1] + rng.logistic(size=200) > 0).astype(int)
    sieve = ss.AlphaInvesting(model="logistic").fit(X, y)
    model = []
    for j, decision in enumerate(sieve.ledger_):
        fit = sm.GLM(y, np.column_stack([np.ones(200), *model]), family=sm.families.Binomial()).fit(tol=1e-13)
        oracle = fit.score_test(exog_extra=X[:, [j]])
        assert decision.statistic**2 == pytest.approx(float(oracle.statistic[0]), rel=1e-5)
        assert decision.p_value == pytest.approx(float(oracle.pvalue[0]), rel=1e-4)
        if decision.event == "kept":
            model.append(X[:, j])
    assert len(model) >= 2


@pytest.mark.parametrize("form", FORMS)
def test_once_the_classes_are_separated_nothing_more_is_taken(form):
    """With bids so small that noise is not taken before."""
    rng = np.random.default_rng(16)
    X = rng.normal(size=(200, 8))
    y = (X[:, 2] + 2 * X[:, 4] > 0).astype(int)
    sieve = offered(ss.AlphaInvesting(0.01, payout=0.01, model="logistic").begin(y), X, rng, (form,))
    assert sieve.selected_.tolist() == [2, 4]
    assert [str(d.reason) for d in sieve.ledger_][5:] == ["model fits exactly"] * 3
    assert [d.p_value for d in sieve.ledger_][5:] == [1.0] * 3


@pytest.mark.parametrize("form", FORMS)
def test_a_column_that_is_there_in_one_class_only_keeps_a_finite_coefficient(form):
    """The likelihood has no maximum then, but every number stays finite and later columns are judged well."""
    rng = np.random.default_rng(17)
    y = np.repeat([0, 1], 100)
    only = (y == 1) * (rng.random(200) < 0.5) * 1.0
    other = y + rng.normal(size=200)
    X = np.column_stack([only, only * rng.random(200), other, rng.normal(size=(200, 3))])
    sieve = offered(ss.AlphaInvesting(model="logistic").begin(y), X, rng, (form,))
    assert {0, 2} <= set(sieve.selected_.tolist())
    assert 1 not in sieve.selected_
    assert np.all(np.isfinite([(d.statistic, d.p_value) for d in sieve.ledger_]))


def test_a_logistic_run_resumed_goes_on_as_before(tmp_path):
    rng = np.random.default_rng(18)
    X = rng.normal(size=(150, 40))
    y = (X[:, ::5].sum(axis=1) + rng.logistic(size=150) > 0).astype(int)
    whole = ss.AlphaInvesting(model="logistic").fit(X, y)
    first = ss.AlphaInvesting(model="logistic").begin(y)
    first.offer(X[:, :17])
    assert len(first.selected_) > 1
    first.save(tmp_path / "half.sieve")
    resumed = ss.load(tmp_path / "half.sieve")
    resumed.offer(X[:, 17:])
    assert lines(resumed) == lines(whole)
    assert resumed.wealth_ == pytest.approx(whole.wealth_, rel=1e-12)


def test_a_logistic_model_comes_back_from_its_state():
    model = LogisticModel(np.array([0.0, 1.0, 1.0, 0.0]))
    model.add(np.array([1.0, 2.0, 4.0, 7.0]), 0)
    good = model.state()
    again = LogisticModel.from_state(good)
    np.testing.assert_allclose(again.residual, model.residual, rtol=1e-12)
    for y in ([0.0, 1.0, 0.5, 0.0], np.ones(4)):
        with pytest.raises(StateError, match="two classes"):
            LogisticModel.from_state({**good, "y": np.array(y)})


def test_a_logistic_model_is_for_two_classes():
    for y in ([0.5, 1.5, 2.5], [0, 1, 2]):
        with pytest.raises(TargetError, match="AlphaInvesting needs a binary target, but y is"):
            ss.AlphaInvesting(model="logistic").begin(y)
    with pytest.raises(ParameterError, match="model must be one of 'linear', 'logistic'; got 'probit'"):
        ss.AlphaInvesting(model="probit").begin([0, 1])
