"""What the column selectors write down: p-values as scipy's, numbers as by any other path, all or less."""

import numpy as np
import pytest
import scipy.stats

import streamsieve as ss
from tests.columns.streams import columns, lines, offered, target
from tests.helpers.tier import cases

SIEVES = {
    "saola": ss.SAOLA(alpha=0.3),
    "saola su": ss.SAOLA(measure="su"),
    "saola two phases": ss.SAOLA(alpha=0.3, bound="max", variant="corrected"),
    "alpha-investing t": ss.AlphaInvesting(),
    "alpha-investing ratio": ss.AlphaInvesting(test_statistic="likelihood_ratio"),
}
every = pytest.mark.parametrize("name", SIEVES)


def fresh(name, **parameters):
    sieve = SIEVES[name]
    return type(sieve)(**{**sieve.get_params(deep=False), **parameters})


def fisher_p(a, b):
    """Return the p-value of the t test from scipy's correlation."""
    r = min(abs(scipy.stats.pearsonr(a, b).statistic), 1.0)
    with np.errstate(divide="ignore"):
        return 2 * scipy.stats.t.sf(r * np.sqrt((len(a) - 2) / (1 - r * r)), len(a) - 2)


@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
def test_saolas_p_values_are_those_of_scipy(task):
    rng = np.random.default_rng(0)
    reasons = set()
    for _ in range(cases(30)):
        y = target(rng, task, 30)
        X = y[:, None] * rng.normal(size=12) + 2 * rng.normal(size=(30, 12)) + rng.normal(size=(30, 1))
        sieve = offered(ss.SAOLA(alpha=0.3, p_value="t").begin(y), X, rng)
        for decision in sieve.ledger_:
            x = X[:, int(decision.feature[1:])]
            if decision.by:
                wanted = fisher_p(x, X[:, int(decision.by[0][1:])])
            elif task == "multiclass":
                wanted = scipy.stats.f_oneway(*(x[y == label] for label in np.unique(y))).pvalue
            else:
                wanted = fisher_p(x, y)
            assert decision.p_value == pytest.approx(wanted, rel=1e-8, abs=1e-300)
            reasons.add((decision.event, decision.reason))
    assert len(reasons) == 4


def test_codes_have_no_p_values():
    y = np.tile([0, 1], 20)
    sieve = ss.SAOLA(measure="su").fit(np.column_stack([y, y, np.roll(y, 3), y * 0]), y)
    assert all(np.isnan(d.p_value) for d in sieve.ledger_)


@every
def test_single_columns_get_the_numbers_of_blocks(name):
    rng = np.random.default_rng(1)
    for _ in range(cases(20)):
        y = target(rng, "binary", 30)
        X = columns(rng, y, 25, far=False)
        single, block = fresh(name).begin(y), fresh(name).begin(y)
        decided = [d for j in range(25) for d in single.offer(X[:, j].copy())]
        block.offer(X)
        assert decided == list(single.ledger_) or name == "saola su"  # NaN is not NaN
        assert lines(single) == lines(block)
        for field in ("statistic", "p_value"):
            one, other = ([getattr(d, field) for d in s.ledger_] for s in (single, block))
            np.testing.assert_allclose(
                np.clip(one, -1e6, 1e6), np.clip(other, -1e6, 1e6), rtol=1e-9, atol=1e-9
            )


@every
def test_a_ledger_of_the_kept_is_the_whole_one_without_the_rejections(name):
    rng = np.random.default_rng(2)
    y = target(rng, "binary", 40)
    X = columns(rng, y, 60, far=False)
    whole = offered(fresh(name).begin(y), X, rng)
    part = offered(fresh(name, ledger="kept").begin(y), X, rng)
    assert lines(part) == [line for line in lines(whole) if line[1] != "rejected"]
    assert len(part.ledger_) == len(lines(part)) > 0
    assert part.selected_.tolist() == whole.selected_.tolist()
    assert getattr(part, "wealth_", 0) == pytest.approx(getattr(whole, "wealth_", 0))


@every
def test_without_a_ledger_the_decisions_are_the_same_and_none_is_remembered(name):
    rng = np.random.default_rng(3)
    y = target(rng, "binary", 40)
    X = columns(rng, y, 60, far=False)
    whole, none = fresh(name).begin(y), fresh(name, ledger="none").begin(y)
    decided = [(d.feature, d.event, d.reason, d.by) for j in range(60) for d in none.offer(X[:, j].copy())]
    whole.offer(X)
    assert decided == [(d.feature, d.event, d.reason, d.by) for d in whole.ledger_]
    assert len(none.ledger_) == 0
    assert none.selected_.tolist() == whole.selected_.tolist()


@every
@pytest.mark.parametrize("keep", ["all", "kept", "none"])
def test_names_of_kept_columns_survive_whatever_is_remembered(name, keep):
    rng = np.random.default_rng(4)
    y = target(rng, "binary", 40)
    X = columns(rng, y, 60, far=False)
    sieve = fresh(name, ledger=keep).begin(y)
    for low in range(0, 60, 7):
        some = [f"column {j}" for j in range(60)][low : low + 7]
        sieve.offer(X[:, low : low + 7], names=some)
    wanted = [f"column {j}" for j in sieve.selected_]
    assert sieve.get_feature_names_out().tolist() == wanted
    assert len(wanted) > 0
    if keep != "none":
        assert [str(sieve.ledger_.why(w).event) for w in wanted] == ["kept"] * len(wanted)
