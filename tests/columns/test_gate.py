"""Selectors behind a gate: the selector over what passes, whatever the blocks."""

import numpy as np
import pytest
import scipy.sparse as sp

import streamsieve as ss
from streamsieve.exceptions import CapabilityError, StateError
from streamsieve.independence.online_fdr import RULES
from tests.columns.streams import TASKS, columns, lines, offered, reloaded, target
from tests.helpers.tier import cases
from tests.reference import online_fdr as twin

ALPHA = 0.4
BLANKETS = (ss.OSFS, ss.FastOSFS)
TESTS = ("fisher_z", "g2", "chi2")
#: One of every kind that has a gate, with a lag here and there.
GATED = [
    ss.OnlineFDR("addis", alpha=ALPHA, lag=1, test="fisher_z"),
    ss.OnlineFDR("lord", alpha=ALPHA, scope="conditional"),
    ss.SAOLA(ALPHA, fdr="saffron", measure="fisher_z"),
    ss.OSFS(ALPHA, fdr="addis", lag=2, test="fisher_z"),
    ss.FastOSFS(ALPHA, test="g2", fdr="dlord"),
    ss.FastOSFS(ALPHA, test="chi2", fdr="lond", lag=1),
    ss.GroupSAOLA(ALPHA, fdr="alpha_investing", lag=2),
    ss.TopK(3, alpha=ALPHA, fdr="addis", lag=1, measure="fisher_z"),
    ss.TopK(4, redundancy_weight=0, measure="su", alpha=ALPHA, fdr="saffron"),
    ss.TopK(3, alpha=ALPHA, missing="omit", fdr="lord", measure="fisher_z"),
]
every_gate = pytest.mark.parametrize("gated", GATED, ids=repr)


def fresh(sieve, **parameters):
    return type(sieve)(**{**sieve.get_params(), **parameters})


def passing(alone, rule, lag, discrete):
    """Return which columns the twin's levels let through, by the p-values of a sieve without redundancy."""
    decided = [d for d in alone.ledger_ if d.event != "evicted"]
    tested = [d for d in decided if str(d.reason) not in ("constant", "unreliable test")]
    p_values, discrete = [d.p_value for d in tested], [discrete[d.step] for d in tested]
    found = [passed for _, passed in twin.levels(p_values, rule, ALPHA, lag, discrete)]
    return np.array([d.step for d, passed in zip(tested, found, strict=True) if passed], np.int64)


def settings(case):
    """Return a rule and a lag."""
    return list(RULES)[case % len(RULES)], (0, 2, 0, 1)[case % 4]


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("kind", BLANKETS)
def test_a_blanket_behind_a_gate_is_the_blanket_of_what_passes(kind, test):
    rng = np.random.default_rng(0)
    compared = entered = 0
    for case in range(cases(30, 10)):
        rule, lag = settings(case)
        y = target(rng, TASKS[case % 3], int(rng.integers(30, 60)))
        X = columns(rng, y, 20, far=False)
        # with no set to condition on, a blanket tests every column for relevance, and nothing else; behind
        # any gate 2 x 2 tables have exact p-values, whatever the rule
        alone = kind(ALPHA, test=test, max_conditioning=0, fdr="lord").fit(X, y)
        discrete = twin.discrete_columns(X, y) if test == "fisher_z" else [True] * 20
        passed = passing(alone, rule, lag, discrete)
        sieve = offered(kind(ALPHA, test=test, fdr=rule, lag=lag).begin(y), X, rng)
        met = {j for j, event, reason, _ in lines(sieve) if event != "evicted" and reason != "irrelevant"}
        untested = {j for j, _, reason, _ in lines(alone) if reason in ("constant", "unreliable test")}
        assert met - untested == set(passed.tolist()), case
        if len(passed) and max(d.p_value for d in alone.ledger_ if d.step in passed) <= ALPHA:
            inner = kind(ALPHA, test=test).begin(y)
            inner.offer(X[:, passed])
            assert sieve.selected_.tolist() == passed[inner.selected_].tolist(), case
            compared, entered = compared + 1, entered + len(passed)
    assert compared > cases(12)
    assert entered > cases(30)


def test_groups_behind_a_gate_are_the_groups_of_what_passes():
    rng = np.random.default_rng(1)
    entered = 0
    for case in range(24):
        rule, lag = settings(case)
        y = target(rng, TASKS[case % 3], int(rng.integers(20, 60)))
        X, variant = columns(rng, y, 24, far=False), ("corrected", "paper")[case % 2]
        alone = ss.OSFS(ALPHA, max_conditioning=0, fdr="lord", test="fisher_z").fit(X, y)
        passed = passing(alone, rule, lag, twin.discrete_columns(X, y))
        sieve = ss.GroupSAOLA(ALPHA, variant=variant, group_size=4, fdr=rule, lag=lag).begin(y)
        offered(sieve, X, rng)
        inner = ss.GroupSAOLA(0.999, variant=variant).begin(y)
        for group in np.unique(passed // 4):
            inner.offer_group(X[:, passed[passed // 4 == group]])
        assert sieve.selected_.tolist() == passed[inner.selected_].tolist(), case
        entered += len(passed)
    assert entered > 50


@pytest.mark.parametrize("redundancy", [0, 1])
@pytest.mark.parametrize("measure", ["fisher_z", "su", "mutual_info", "missing"])
def test_a_buffer_behind_a_gate_is_the_buffer_of_what_passes(measure, redundancy):
    rng = np.random.default_rng(2)
    parameters = {"k": 4, "redundancy_weight": redundancy, "measure": measure}
    if measure == "missing":
        parameters |= {"measure": "fisher_z", "missing": "omit"}
    entered = 0
    for case in range(12):
        rule, lag = settings(case)
        y = target(rng, TASKS[case % 3], int(rng.integers(20, 60)))
        X = columns(rng, y, 20, far=False)
        if measure == "missing":
            X[rng.random(X.shape) < 0.1] = np.nan
        alone = ss.TopK(**{**parameters, "k": 99, "redundancy_weight": 0}, alpha=ALPHA, fdr="lord").fit(X, y)
        tables = measure in ("su", "mutual_info")
        passed = passing(alone, rule, lag, [True] * 20 if tables else twin.discrete_columns(X, y))
        sieve = ss.TopK(**parameters, alpha=ALPHA, fdr=rule, lag=lag).begin(y)
        offered(sieve, X, rng)
        inner = ss.TopK(**parameters, alpha=None).begin(y)
        if len(passed):
            inner.offer(X[:, passed])
        assert sieve.selected_.tolist() == passed[inner.selected_].tolist(), case
        entered += len(passed)
    assert entered > 20


def mixed_stream():
    """Return 60 columns about the three causes of a target, none of which determines it, and the target."""
    rng = np.random.default_rng(3)
    causes = rng.normal(size=(3, 150))
    X = np.concatenate([columns(rng, cause, 20, far=False) for cause in causes], axis=1)
    return X[:, rng.permutation(60)], (causes.sum(axis=0) > 0).astype(int)


@every_gate
def test_the_size_and_form_of_blocks_change_no_decision(gated):
    X, y = mixed_stream()
    whole = fresh(gated).fit(X, y)
    assert len(whole.selected_) > 1
    for size, form in ((1, np.ravel), (7, sp.csc_array), (25, np.asfortranarray)):
        sieve = fresh(gated).begin(y)
        for low in range(0, X.shape[1], size):
            sieve.offer(form(X[:, low : low + size]))
        assert lines(sieve) == lines(whole), size


@every_gate
def test_columns_that_cannot_be_tested_cost_nothing(gated):
    """Constants between the others change no decision about the others, at any lag."""
    X, y = mixed_stream()
    wide = np.zeros((len(X), 3 * X.shape[1]))
    wide[:, ::3] = X
    plain, padded = fresh(gated).fit(X, y), fresh(gated).fit(wide, y)
    assert (padded.selected_ // 3).tolist() == plain.selected_.tolist()
    assert [d for d in lines(padded) if d[0] % 3 == 0] == [
        (3 * j, event, reason, tuple(3 * i for i in by)) for j, event, reason, by in lines(plain)
    ]


@every_gate
def test_a_run_resumed_goes_on_as_before(gated):
    X, y = mixed_stream()
    first = fresh(gated).begin(y)
    first.offer(X[:, :23])
    saved = first.to_bytes()
    resumed = type(first).from_bytes(saved)
    for sieve in (first, resumed):
        sieve.offer(X[:, 23:])
    assert len(first.selected_) > 1
    assert list(resumed.ledger_) == list(first.ledger_)
    for parameters in ({"lag": 9}, {"alpha": 0.39}, {"fdr": "lord" if gated.fdr != "lord" else "addis"}):
        with pytest.raises(StateError, match="rule, alpha and lag are not those of the selector"):
            reloaded(type(first).from_bytes(saved).set_params(**parameters))


@pytest.mark.parametrize("gated", GATED[2:], ids=repr)
def test_a_state_without_the_gate_that_its_parameters_ask_for_is_refused(gated):
    X, y = mixed_stream()
    sieve = fresh(gated, fdr=None).fit(X, y).set_params(fdr="addis")
    with pytest.raises(StateError, match="does not fit"):
        reloaded(sieve)


@pytest.mark.parametrize("gated", GATED[2:], ids=repr)
def test_a_gate_keeps_noise_out(gated):
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(60, 1500)), rng.integers(0, 2, 60)
    sieve = fresh(gated, alpha=0.05).fit(X, y)
    assert len(sieve.selected_) <= 1
    assert sum(d.p_value <= 0.05 for d in sieve.ledger_) > 30  # what a fixed level would call relevant


def test_buffers_behind_gates_do_not_merge():
    X, y = mixed_stream()
    one, other = (
        ss.TopK(redundancy_weight=0, fdr="addis", measure="fisher_z").fit(X[:, part], y)
        for part in (slice(9), slice(9, 20))
    )
    assert not one.traits.merges
    with pytest.raises(CapabilityError, match="fdr='addis': offer all columns to one selector"):
        one.merge(other)
