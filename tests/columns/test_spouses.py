"""Spouses: as the slow twin finds them, whatever the blocks, and gone when the memory is."""

from collections import Counter
from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import streamsieve as ss
from streamsieve.columns.osfs import OSFS, FastOSFS
from streamsieve.columns.redundancy.markov_blanket import spouses as module
from streamsieve.exceptions import CapabilityError, ParameterError, SchemaError, StateError
from streamsieve.independence import table_p_values
from tests.columns.streams import FORMS, TASKS, by_t, columns, equal_twin, offered, reloaded, target
from tests.helpers.tier import cases
from tests.reference import iamb, table_moments
from tests.reference.fast_osfs import fast_osfs
from tests.reference.g_squared import Tables
from tests.reference.osfs import PartialCorrelations, osfs
from tests.reference.spouses import with_spouses

TWINS = {OSFS: osfs, FastOSFS: fast_osfs}
BOTH = pytest.mark.parametrize("cls", TWINS, ids=lambda cls: cls.__name__)


class Judge:
    """Tests for the twin: between two columns, and of a column and the target."""

    def __init__(self, dependence, between):
        self.dependence = dependence
        self._between = cache(between)

    def associated(self, s, c):
        return self._between(c)(s, [])[1]


def family(rng, n, p, *, levels=None):
    """Return y and shuffled columns: a parent, a child with two other parents, their cause, and noise."""
    y, s, cause, other = rng.normal(size=(4, n))
    t = cause + 0.5 * rng.normal(size=n)
    child = y + s + t + 0.5 * rng.normal(size=n)
    second = y + other + 0.5 * rng.normal(size=n)
    X = np.column_stack([s, cause, t, child, second, other, rng.normal(size=(n, max(p - 6, 0)))])
    X = X[:, rng.permutation(X.shape[1])]
    if levels is None:
        return X, y
    cut = lambda x: np.searchsorted(np.quantile(x, np.arange(1, levels) / levels), x)  # noqa: E731
    return np.apply_along_axis(cut, 0, X).astype(float), cut(y)


def by_correlation(cls, X, y, task, *, spouses, max_conditioning=3, **parameters):
    judge = PartialCorrelations(X, y, task, **parameters)
    _, decided = TWINS[cls](judge, X.shape[1], max_conditioning)
    tests = Judge(
        iamb.by_correlation(X, y, task), lambda c: iamb.by_correlation(X, X[:, c].astype(float), "regression")
    )
    return with_spouses(decided, tests, parameters["alpha"], max_conditioning, spouses)


def constant_within(x, y):
    return all(np.ptp(x[y == label]) == 0 for label in np.unique(y))


@BOTH
@pytest.mark.parametrize("task", TASKS)
def test_spouses_of_numbers_equal_the_twin_in_any_blocks(cls, task):
    rng, seen, lost = np.random.default_rng(0), Counter(), 0
    for case in range(cases(60)):
        n = int(rng.integers(20, 90))
        X, y = family(rng, n, int(rng.integers(3, 10)))
        if task != "regression":
            y = np.searchsorted(np.quantile(y, [0.5] if task == "binary" else [0.3, 0.6]), y)
        if case % 3 == 0:
            y = target(rng, task, n)
            X = np.column_stack([X, columns(rng, y, 5, far=False)])
            if (
                task == "multiclass"
            ):  # given a function of the classes, some contrasts are nothing but rounding
                X = X[:, [j for j in range(X.shape[1]) if not constant_within(X[:, j], y)]]
        parameters = {
            "alpha": float(rng.choice([0.01, 0.05, 0.2])),
            "max_conditioning": int(rng.integers(0, 4)),
            "spouses": int(rng.choice([1, 2, 4, 50])),
        }
        twin, spouses, forgotten = by_correlation(cls, X, y, task, **parameters)
        how = "regression" if task == "regression" else "classification"
        sieve = by_t(cls(**parameters, test="fisher_z", task=how)).begin(y)
        sieve = offered(sieve, X, rng, tuple(FORMS))
        equal_twin(sieve, twin, what=(case, parameters))
        assert sieve.spouses_.tolist() == spouses
        assert sieve.n_forgotten_ == forgotten
        seen.update((line.event, line.reason) for line in twin[1])
        lost += forgotten
    assert seen["kept", "spouse"] >= cases(10), seen
    assert lost >= cases(50)


def by_tables(cls, X, y, *, spouses, max_conditioning=3, p_value="moments", **parameters):
    judge = Tables(X, y, **parameters, p_value=p_value)
    _, decided = TWINS[cls](judge, X.shape[1], max_conditioning)
    tests = Judge(
        iamb.by_tables(judge.X, y, "multiclass", p_value),
        lambda c: iamb.by_tables(judge.X, judge.X[c], "multiclass", p_value),
    )
    return with_spouses(decided, tests, parameters["alpha"], max_conditioning, spouses, final=True)


@BOTH
@pytest.mark.parametrize("levels", [2, 3])
def test_spouses_of_levels_equal_the_twin_in_any_blocks(cls, levels, monkeypatch):
    for side in (table_p_values, table_moments):  # the twin draws random tables in Python
        monkeypatch.setattr(side, "MOST_DRAWS", 200)
    rng, seen, lost = np.random.default_rng(1), Counter(), 0
    for case in range(cases(25)):
        X, y = family(rng, int(rng.integers(60, 120)), int(rng.integers(3, 9)), levels=levels)
        parameters = {
            "alpha": float(rng.choice([0.05, 0.2])),
            "max_conditioning": int(rng.integers(1, 4)),
            "spouses": int(rng.choice([1, 2, 50])),
            "p_value": ("moments", "chi2")[case % 2],
        }
        twin, spouses, forgotten = by_tables(cls, X, y, **parameters)
        sieve = offered(cls(**parameters, test="g2").begin(y), X, rng, tuple(FORMS))
        equal_twin(sieve, twin, what=(case, parameters), p_values=parameters["p_value"] == "chi2")
        assert sieve.spouses_.tolist() == spouses
        assert sieve.n_forgotten_ == forgotten
        seen.update((line.event, line.reason) for line in twin[1])
        lost += forgotten
    assert seen["kept", "spouse"] >= cases(4), seen
    assert lost >= cases(5)


def collider(n=600, seed=0):
    """Return y, its child, and the child's other parent, as levels."""
    rng = np.random.default_rng(seed)
    y, spouse = rng.integers(0, 2, (2, n))
    child = np.where(rng.random(n) < 0.1, rng.integers(0, 3, n), y + spouse)
    return y, child, spouse


@BOTH
@pytest.mark.parametrize("test", ["auto", "g2", "fisher_z"])
def test_a_spouse_is_found_before_and_after_its_child(cls, test):
    y, child, spouse = collider()
    noise = np.random.default_rng(1).integers(0, 2, (600, 3))
    for X, at in ((np.c_[spouse, noise, child], (0, 4)), (np.c_[child, noise, spouse], (4, 0))):
        assert cls(test=test).fit(X, y).selected_.tolist() == [at[1]]  # the child alone
        sieve = cls(test=test, spouses=10).fit(X, y)
        assert sieve.selected_.tolist() == sorted(at)
        assert sieve.spouses_.tolist() == [at[0]]
        line = sieve.ledger_.why(f"x{at[0]}")
        assert (line.event, line.reason, line.by) == ("kept", "spouse", (f"x{at[1]}",))
        assert f"kept, spouse through x{at[1]} (" in str(line)
        assert (sieve.n_kept_, sieve.n_found_, sieve.n_pooled_, sieve.n_forgotten_) == (2, 2, 4, 0)
        assert sieve.ledger_.counts() == {"kept": 2, "irrelevant": 3}


@BOTH
def test_a_spouse_that_was_forgotten_is_out_of_reach_and_counted(cls):
    y, child, spouse = collider()
    noise = np.random.default_rng(2).integers(0, 2, (600, 5))
    X = np.c_[spouse, noise, child]
    near, far = cls(test="g2", spouses=6).fit(X, y), cls(test="g2", spouses=5).fit(X, y)
    assert (near.selected_.tolist(), near.n_forgotten_) == ([0, 6], 0)
    assert (far.selected_.tolist(), far.n_forgotten_) == ([6], 1)
    # a spouse that is recognized stays, and others make room
    late = cls(test="g2", spouses=2).fit(np.c_[child, spouse, noise], y)
    assert (late.selected_.tolist(), late.n_forgotten_) == ([0, 1], 4)


@BOTH
def test_a_spouse_leaves_with_its_child(cls):
    rng = np.random.default_rng(3)
    y, spouse, e = rng.normal(size=(3, 500))
    child = y + spouse + 0.5 * rng.normal(size=500)
    better = y + 0.05 * e
    sieve = cls(spouses=10, task="regression").begin(y)
    sieve.offer(np.c_[spouse, child], names=["spouse", "child"])
    assert sieve.get_feature_names_out().tolist() == ["spouse", "child"]
    sieve.offer(better, names="better")
    assert sieve.ledger_.why("child").event == "evicted"
    assert "spouse" not in sieve.get_feature_names_out()
    assert sieve.ledger_.why("spouse").reason == "irrelevant"


@pytest.mark.parametrize("ledger", ["all", "kept", "none"])
@pytest.mark.parametrize("parameters", [{"test": "g2"}, {"test": "fisher_z"}, {}], ids=str)
def test_names_states_and_blocks_make_no_difference(ledger, parameters):
    rng = np.random.default_rng(4)
    X, y = family(rng, 400, 14, levels=3)
    X[:, ::3] += 0.1 * rng.normal(size=X[:, ::3].shape)  # numbers among levels
    names = [f"column {j}" for j in range(X.shape[1])]
    make = FastOSFS(alpha=0.05, spouses=6, ledger=ledger, **parameters)
    whole = clone(make).begin(y)
    whole.offer(X, names)
    assert len(whole.spouses_) >= 1
    assert whole.n_forgotten_ > 0
    for form in (np.asarray, sp.csc_array):
        for size in (1, 4):
            part = clone(make).begin(y)
            for low in range(0, X.shape[1], size):
                part.offer(form(X[:, low : low + size]), names[low : low + size])
                part = reloaded(part)
            assert [str(line) for line in part.ledger_] == [str(line) for line in whole.ledger_]
            assert part.get_feature_names_out().tolist() == whole.get_feature_names_out().tolist()
            assert part.n_forgotten_ == whole.n_forgotten_
    kept = {line.feature for line in whole.ledger_ if line.event == "kept"}
    assert kept == ({*whole.get_feature_names_out()} if ledger != "none" else set())


def test_a_measured_block_has_the_values_of_irrelevant_columns():
    y, child, spouse = collider()
    X = np.c_[spouse, child].astype(float)
    sieve = FastOSFS(test="g2", spouses=5).begin(y)
    sieve.offer(sieve.measure_block(X))
    assert sieve.selected_.tolist() == [0, 1]
    other = FastOSFS(test="g2").begin(y)
    with pytest.raises(SchemaError, match="measured by a selector with another"):
        FastOSFS(test="g2", spouses=5).begin(y).offer(other.measure_block(X))


def test_rows_held_out_confirm_spouses_too():
    y, child, spouse = collider()
    sieve = FastOSFS(test="g2", spouses=5).begin(y, holdout=0.3)
    sieve.offer(np.c_[spouse, child].astype(float))
    assert sieve.confirm()["feature"] == ["x0", "x1"]


@pytest.mark.parametrize(
    "parameters", [{"test": "chi2"}, {"test": "basis"}, {"missing": "omit"}, {"fdr": "addis"}], ids=str
)
def test_what_does_not_go_with_spouses_is_refused(parameters):
    with pytest.raises(ParameterError, match="spouses=3 cannot be combined with .* or use spouses=0"):
        FastOSFS(spouses=3, **parameters).begin([0, 1] * 20)


def test_serial_rows_are_refused():
    with pytest.raises(CapabilityError):
        FastOSFS(spouses=3).begin([0, 1] * 20, serial=True)


def test_auto_takes_what_the_memory_holds_and_says_when_it_is_full(monkeypatch):
    y, child, spouse = collider()
    monkeypatch.setattr(module, "POOL_BYTES", 3 * 2 * len(y))
    noise = np.random.default_rng(5).integers(0, 2, (600, 3))
    sieve = FastOSFS(test="g2", spouses="auto").begin(y)
    sieve.offer(np.c_[spouse, noise[:, :2]])
    with pytest.warns(UserWarning, match=r"pool of rejected columns is full: .* hold 3 columns of 600 rows"):
        sieve.offer(np.c_[noise[:, 2:], child])
    assert sieve.n_forgotten_ == 1
    sieve.offer(noise[:, 0] ^ 1)  # said once


def test_a_state_with_other_columns_is_refused():
    y, child, spouse = collider()
    sieve = FastOSFS(test="g2", spouses=5).fit(np.c_[spouse, child], y)
    state = sieve._process_.state()
    for name, value in (("pool/pooled", np.array([1])), ("pool/sets", np.array([[7, -1, -1]]))):
        with pytest.raises(StateError, match="fit together"):
            type(sieve._process_).from_state({**state, name: value})


def test_two_way_takes_no_spouses():
    with pytest.raises(ParameterError, match="which FastOSFS does not: use .* without spouses"):
        ss.TwoWay(FastOSFS(spouses=5)).begin([0, 1] * 20)
