"""Rows held out: selection never sees them, and the kept columns are confirmed on them."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import scipy.stats
import statsmodels.stats.multitest

import streamsieve as ss
from streamsieve import registry
from streamsieve.base import ColumnSelector
from streamsieve.base.holdout_validation import adjusted_p_values
from streamsieve.exceptions import (
    BadValueError,
    CapabilityError,
    MergeError,
    NotBegunError,
    ParameterError,
    SchemaError,
    StateError,
    TargetError,
)
from streamsieve.protocols import Task
from tests.columns.streams import reloaded
from tests.helpers.tier import cases

CLASSES = [
    cls for cls in registry.selectors().values() if issubclass(cls, ColumnSelector) and not cls._no_holdout
]
VARIANTS = [variant for cls in CLASSES for variant in cls.variants()]
every_variant = pytest.mark.parametrize("selector", VARIANTS, ids=repr)


def stream(tasks=(Task.BINARY,), seed=0, n=120, p=40):
    """Return columns, a fifth of which are informative, some of them with copies, the target and a mask."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n) if Task.BINARY in tasks else rng.integers(0, 3, n)
    X = rng.normal(size=(n, p))
    X[:, ::5] += y[:, None] * (0.5 + 1.5 * rng.random((1, len(X[0, ::5]))))
    X[:, 1::7] = X[:, ::7][:, : X[:, 1::7].shape[1]] + 0.3 * rng.normal(size=X[:, 1::7].shape)
    mask = np.zeros(n, bool)
    mask[rng.permutation(n)[: n // 3]] = True
    return X, y, mask


def fresh(selector):
    return type(selector)(**selector.get_params(deep=False))


def lines(sieve):
    return [(d.step, d.feature, d.event, d.reason, d.by, d.statistic) for d in sieve.ledger_]


@pytest.mark.filterwarnings("ignore:Grafting could not fit")
@every_variant
def test_selection_is_that_of_the_other_rows(selector):
    """Whatever the held-out rows hold, in any blocks, also after saving and loading."""
    X, y, mask = stream(selector.traits.tasks)
    other = np.where(mask[:, None], np.random.default_rng(1).normal(size=X.shape), X)
    alone = fresh(selector).fit(X[~mask], y[~mask])
    whole, changed = (fresh(selector).fit(values, y, holdout=mask) for values in (X, other))
    assert lines(whole) == lines(alone) == lines(changed)
    assert whole.n_samples_seen_ == (~mask).sum()
    assert whole.get_support().tolist() == alone.get_support().tolist()
    assert (whole.n_found_, whole.n_kept_) == (alone.n_found_, alone.n_kept_)
    np.testing.assert_array_equal(whole.transform(X), X[:, alone.selected_])

    if selector.get_params().get("sweeps", 1) != 1:
        return
    in_parts = fresh(selector).begin(y, holdout=mask)
    for low in range(0, X.shape[1], 7):
        block = X[:, low : low + 7]
        in_parts.offer(sp.csc_array(block) if low % 2 and selector.traits.sparse else block)
        in_parts = reloaded(in_parts)
    assert [line[:5] for line in lines(in_parts)] == [line[:5] for line in lines(alone)]
    assert in_parts.confirm()["feature"] == whole.confirm()["feature"]
    np.testing.assert_allclose(in_parts.confirm()["p_value"], whole.confirm()["p_value"], rtol=1e-9)


@pytest.mark.filterwarnings("ignore:Grafting could not fit")
@every_variant
def test_kept_columns_are_tested_on_the_held_out_rows_alone(selector):
    """Statistics are those of a fresh selector over these rows; only the kept columns are remembered."""
    X, y, mask = stream(selector.traits.tasks, seed=2)
    sieve = fresh(selector).fit(X, y, holdout=mask)
    table, kept = sieve.confirm(), sieve.selected_
    assert table["feature"] == sieve.get_feature_names_out().tolist()
    held = sieve._holdout_.columns
    assert set(kept.tolist()) <= set(held.features) <= set(np.asarray(sieve._named()).tolist())
    np.testing.assert_array_equal(held.of(kept), X[np.ix_(mask, kept)])
    assert np.all(np.array(table["p_value"]) <= table["adjusted"])
    assert [p <= 0.05 for p in table["adjusted"]] == table["confirmed"]
    assert sieve.confirmed_ == [
        n for n, sure in zip(table["feature"], table["confirmed"], strict=True) if sure
    ]
    if Task.REGRESSION in selector.traits.tasks and not hasattr(sieve._process_, "measure") and len(kept):
        r = [scipy.stats.pearsonr(X[mask, j], y[mask]).statistic for j in kept]
        np.testing.assert_allclose(np.abs(table["statistic"]), np.abs(r), rtol=1e-9)


def test_the_test_on_held_out_rows_is_that_of_the_selector():
    X, y, mask = stream()
    codes = np.digitize(X, [-0.5, 0.5]).astype(float)
    sieve = ss.FastOSFS(test="g2", alpha=0.05).fit(codes, y, holdout=mask)
    again = ss.FastOSFS(test="g2", alpha=0.05, max_conditioning=0, fdr="alpha_spending").fit(
        codes[np.ix_(mask, sieve.selected_)], y[mask]
    )
    assert len(sieve.selected_) > 1
    np.testing.assert_allclose(sieve.confirm()["p_value"], [d.p_value for d in again.ledger_], rtol=1e-9)
    su = ss.SAOLA(measure="su").fit(X, y, holdout=mask)  # has no p-values
    marginal = ss.OnlineFDR(test="fisher_z").fit(X[np.ix_(mask, su.selected_)], y[mask])
    np.testing.assert_allclose(su.confirm()["p_value"], [d.p_value for d in marginal.ledger_], rtol=1e-9)


def skewed(rng, n):
    return np.exp(rng.normal(size=(n, 60))), np.exp(rng.normal(size=n))


def coins(rng, n):
    return rng.permuted(np.tile([0.0, 1.0], (60, n // 2)), axis=1).T, np.arange(n) % 2


@pytest.mark.parametrize("draw", [skewed, coins])
@pytest.mark.parametrize(
    "sieve",
    [
        ss.TopK(60, alpha=1e-4, measure="fisher_z"), ss.TopK(60, alpha=None), ss.OSFS(alpha=1e-4),
        ss.AlphaInvesting(), ss.OnlineFDR(alpha=1e-4),
    ],
    ids=lambda sieve: type(sieve).__name__,
)  # fmt: skip
def test_held_out_p_values_hold_at_all_levels_and_not_only_at_that_of_the_selector(draw, sieve):
    """By t, any of 20 lognormal columns was confirmed in .11 of streams, one of balanced coins in .065."""
    rng = np.random.default_rng(3)
    X, y = draw(rng, 100)
    mask = np.arange(100) >= 50
    # selection sees columns that depend on y, and the held-out rows are noise
    X[~mask] = (y[~mask] - y[~mask].mean())[:, None] + 0.3 * rng.normal(size=(50, 60))
    table = sieve.fit(X, y, holdout=mask).confirm()
    kept = sieve.selected_
    exact = ss.OnlineFDR(alpha=0.05, test="fisher_z").fit(X[np.ix_(mask, kept)], y[mask])
    assert len(kept)
    np.testing.assert_allclose(table["p_value"], [d.p_value for d in exact.ledger_], rtol=1e-9)


def test_adjusted_p_values_are_those_of_scipy_and_statsmodels():
    rng = np.random.default_rng(0)
    for _ in range(cases(50)):
        p = rng.random(int(rng.integers(1, 30))) ** 3
        p[rng.random(len(p)) < 0.2] = rng.choice([0.0, 1.0, 0.01])
        np.testing.assert_allclose(adjusted_p_values(p), scipy.stats.false_discovery_control(p), rtol=1e-13)
        wanted = statsmodels.stats.multitest.multipletests(p, method="fdr_bh")[1]
        np.testing.assert_allclose(adjusted_p_values(p), wanted, rtol=1e-13)
    assert len(adjusted_p_values(np.zeros(0))) == 0


def test_a_proportion_is_drawn_by_class_and_by_the_seed():
    y = np.repeat(["a", "b", "rare"], [60, 30, 2])
    mask = ss.SAOLA(measure="fisher_z").begin(y, holdout=0.3)._holdout_.mask
    assert [int(mask[y == label].sum()) for label in ("a", "b", "rare")] == [18, 9, 1]
    assert np.array_equal(mask, ss.FastOSFS(test="fisher_z").begin(y, holdout=0.3)._holdout_.mask)
    seeded = [ss.DOFS(random_state=seed).begin(y, holdout=0.3)._holdout_.mask for seed in (1, 1, 2)]
    assert np.array_equal(*seeded[:2])
    assert not np.array_equal(*seeded[1:])
    numbers = np.linspace(0.1, 5, 50)
    assert ss.SAOLA(measure="fisher_z").begin(numbers, holdout=0.5)._holdout_.mask.sum() == 25


def test_a_class_of_one_row_stays_for_selection():
    y = np.repeat([0, 1, 2], [30, 30, 1])
    X = np.random.default_rng(0).normal(size=(61, 5)) + y[:, None]
    sieve = ss.SAOLA(alpha=0.5, measure="fisher_z").fit(X, y, holdout=0.4)
    assert sieve.n_samples_seen_ == 61 - 24
    assert len(sieve.confirm()["p_value"]) == len(sieve.selected_) > 0  # over two classes


@pytest.mark.parametrize("wrong", [0, 1, 0.0, 1.0, -0.1, True, "some", np.nan])
def test_a_proportion_that_is_none_is_refused(wrong):
    with pytest.raises(ParameterError, match="holdout must be"):
        ss.SAOLA(measure="fisher_z").begin([0, 1] * 20, holdout=wrong)


@pytest.mark.parametrize(
    ("holdout", "message"),
    [
        (np.zeros(40), "a boolean mask of the 40 rows"),
        (np.zeros(39, bool), "a boolean mask of the 40 rows"),
        (np.zeros((40, 1), bool), "a boolean mask of the 40 rows"),
        ([0, 5, 9], "a boolean mask of the 40 rows"),
        (np.zeros(40, bool), "0 of 40 rows would be held out; at least 4"),
        (np.ones(40, bool), "0 of 40 rows would be left for selection; at least 4"),
        (np.arange(40) < 3, "3 of 40 rows would be held out"),
        (np.arange(40) % 2 == 0, "y is constant in the 20 rows that would be held out"),
    ],
)
def test_a_mask_that_does_not_fit_is_refused(holdout, message):
    sieve = ss.SAOLA(measure="fisher_z")
    with pytest.raises(ParameterError, match=message):
        sieve.begin([0, 1] * 20, holdout=holdout)
    assert not hasattr(sieve, "ledger_")


def test_a_class_that_selection_would_never_see_is_refused():
    y = np.repeat(["a", "b", "c"], 10)
    with pytest.raises(ParameterError, match="all rows of class 'c' would be held out"):
        ss.SAOLA(measure="fisher_z").begin(y, holdout=np.arange(30) % 10 > np.where(y == "c", -1, 4))


@pytest.mark.parametrize("sieve", [ss.TwoWay(), ss.InteractionScan()], ids=repr)
def test_selectors_whose_decisions_it_could_not_confirm_refuse_it(sieve):
    with pytest.raises(CapabilityError, match="takes no holdout"):
        sieve.begin([0, 1] * 20, holdout=0.3)


def test_there_is_nothing_to_confirm_without_rows_held_out():
    X, y, _ = stream()
    with pytest.raises(NotBegunError, match="before confirming"):
        ss.SAOLA(measure="fisher_z").confirm()
    sieve = ss.SAOLA(measure="fisher_z").fit(X, y)
    with pytest.raises(CapabilityError, match="no rows were held out"):
        sieve.confirm()
    assert not hasattr(sieve, "confirmed_")
    with pytest.raises(ParameterError, match="alpha must be"):
        ss.SAOLA(measure="fisher_z").fit(X, y, holdout=0.3).confirm(alpha=1)


def test_nothing_kept_is_an_empty_table():
    X, y, mask = stream()
    sieve = ss.SAOLA(alpha=1e-300, measure="fisher_z").fit(X, y, holdout=mask)
    assert sieve.confirm() == {"feature": [], "statistic": [], "p_value": [], "adjusted": [], "confirmed": []}
    assert sieve.confirmed_ == []


def test_columns_have_all_rows_and_their_values_are_looked_at():
    X, y, mask = stream()
    sieve = ss.SAOLA(measure="fisher_z").begin(y, holdout=mask)
    with pytest.raises(SchemaError, match="rows"):
        sieve.offer(X[~mask])
    for value in (np.nan, np.inf):
        bad = X[:, 2].copy()
        bad[np.flatnonzero(mask)[3]] = value
        for block in (bad, bad[:, None], sp.csc_array(bad[:, None])):
            with pytest.raises(BadValueError):
                sieve.offer(block)
    substitution = ss.OnlineSubstitution(k=3).begin(y, holdout=mask)
    with pytest.raises(BadValueError):
        substitution.offer(bad[:, None])
    assert sieve.n_features_in_ == 0


def test_missing_values_are_omitted_on_both_sides():
    X, y, mask = stream(seed=3)
    X[np.random.default_rng(4).random(X.shape) < 0.1] = np.nan
    sieve = ss.SAOLA(missing="omit", measure="fisher_z").fit(X, y, holdout=mask)
    held = ss.SAOLA(missing="omit", alpha=0.999, bound="max", measure="fisher_z").fit(
        X[np.ix_(mask, sieve.selected_[:1])], y[mask]
    )
    assert sieve.confirm()["p_value"][0] == pytest.approx(next(iter(held.ledger_)).p_value, rel=1e-9)


def test_single_columns_and_measured_blocks_take_the_same_decisions():
    X, y, mask = stream(p=60)
    for make in (
        lambda: ss.SAOLA(measure="fisher_z"),
        lambda: ss.TopK(3, measure="fisher_z"),
        lambda: ss.OnlineFDR(alpha=0.3, test="fisher_z"),
    ):
        whole = make().fit(X, y, holdout=mask)
        single, measured = make().begin(y, holdout=mask), make().begin(y, holdout=mask)
        for j in range(60):
            single.offer(X[:, j])
        for low in range(0, 60, 11):
            measured.offer(measured.measure_block(X[:, low : low + 11]))
        for sieve in (single, measured):
            assert [line[:5] for line in lines(sieve)] == [line[:5] for line in lines(whole)]
            assert (sieve.n_found_, sieve.n_kept_) == (whole.n_found_, whole.n_kept_)
            np.testing.assert_allclose(sieve.confirm()["p_value"], whole.confirm()["p_value"], rtol=1e-9)
    alone = ss.SAOLA(measure="fisher_z").begin(y[~mask])
    with pytest.raises(SchemaError, match="measured over 80 rows, not 120"):
        ss.SAOLA(measure="fisher_z").begin(y, holdout=mask).offer(alone.measure_block(X[~mask]))


def test_a_stop_sees_the_other_rows_and_measured_columns_are_the_right_ones():
    X, y, mask = stream()
    shapes = []

    def accuracy(kept):
        shapes.append(kept.shape)
        np.testing.assert_array_equal(kept, X[~mask][:, sieve.selected_])
        return len(kept[0])

    for measured in (False, True):
        sieve = ss.SAOLA(stop=ss.Stop(target=3, accuracy=accuracy), measure="fisher_z").begin(y, holdout=mask)
        sieve.offer(sieve.measure_block(X) if measured else X)
        assert sieve.stopped_ == "target=3"
        assert len(sieve.confirm()["feature"]) == 3
    assert {shape[0] for shape in shapes} == {80}


def test_rows_are_known_again_held_out_or_not():
    X, y, mask = stream()
    names = [f"row {i}" for i in range(120)]
    sieve = ss.SAOLA(measure="fisher_z").begin(pd.Series(y, index=names), holdout=mask)
    sieve.offer(pd.DataFrame(X, index=names).add_prefix("a"))
    sieve = reloaded(sieve).same_rows(pd.Series(y, index=names))
    other, i = list(names), int(np.flatnonzero(mask)[0])
    other[i] = "another"
    with pytest.raises(SchemaError, match=f"row {i}"):
        sieve.offer(pd.DataFrame(X, index=other).add_prefix("b"))
    changed = y.copy()
    changed[i] = 1 - changed[i]
    with pytest.raises(TargetError, match=f"the first is row {i}"):
        sieve.same_rows(changed)
    fitted = ss.SAOLA(measure="fisher_z").fit(pd.DataFrame(X, index=names).add_prefix("c"), y, holdout=mask)
    assert fitted.confirm()["feature"] == fitted.get_feature_names_out().tolist()
    with pytest.raises(SchemaError):
        fitted.same_rows(rows=other)


def test_groups_and_sources_take_it():
    X, y, mask = stream()
    groups = np.repeat(np.arange(10), 4)
    whole = ss.GroupSAOLA().fit(X, y, groups, holdout=mask)
    alone = ss.GroupSAOLA().fit(X[~mask], y[~mask], groups)
    assert lines(whole) == lines(alone)
    by_group = ss.GroupSAOLA().begin(y, holdout=mask)
    for g in range(10):
        by_group.offer_group(X[:, groups == g])
    assert by_group.confirm() == whole.confirm()
    run = ss.run(
        ss.open(pd.DataFrame(X).add_prefix("c").assign(y=y), target="y"),
        ss.SAOLA(measure="fisher_z").begin(y, holdout=mask),
    )
    assert run.selected_.tolist() == ss.SAOLA(measure="fisher_z").fit(X[~mask], y[~mask]).selected_.tolist()
    assert len(run.confirm()["p_value"]) == len(run.selected_)


def test_merged_selectors_confirm_on_the_same_rows():
    X, y, mask = stream()
    whole = ss.TopK(5, redundancy_weight=0, measure="fisher_z").fit(X, y, holdout=mask)
    one, other = (
        ss.TopK(5, redundancy_weight=0, measure="fisher_z").fit(X[:, part], y, holdout=mask)
        for part in (slice(15), slice(15, 40))
    )
    one.merge(other)
    assert one.confirm() == whole.confirm()
    assert (one.n_found_, one.n_kept_) == (whole.n_found_, 5)
    assert reloaded(one).confirm() == whole.confirm()
    for holdout in (None, ~mask):
        with pytest.raises(MergeError, match="holdout"):
            one.merge(ss.TopK(5, redundancy_weight=0, measure="fisher_z").fit(X, y, holdout=holdout))


def test_a_state_whose_rows_do_not_fit_is_refused():
    X, y, mask = stream()
    for change in (
        lambda held: setattr(held, "mask", ~held.mask),
        lambda held: setattr(held, "y", held.y[1:]),
        lambda held: setattr(held, "y", np.zeros_like(held.y)),
        lambda held: held.columns._columns.popitem(),
    ):
        sieve = ss.SAOLA(measure="fisher_z").fit(X, y, holdout=mask)
        change(sieve._holdout_)
        with pytest.raises(StateError, match="rows"):
            reloaded(sieve)


def test_holdout_goes_with_independent_rows_only():
    y = np.arange(40) % 2
    for dependent in ({"serial": 3}, {"groups": np.arange(40) // 4}):
        with pytest.raises(CapabilityError, match="holdout requires independent rows"):
            ss.SAOLA(measure="fisher_z").begin(y, holdout=0.3, **dependent)
    assert ss.SAOLA(measure="fisher_z").begin(y, holdout=0.3, serial=False).n_samples_seen_ == 28
