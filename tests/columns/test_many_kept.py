"""With many kept columns, sets of three, and later of two, are not tried unless they are asked for."""

import warnings

import numpy as np
import pytest

from streamsieve.columns import markov_blanket_selector as module
from streamsieve.columns.osfs import OSFS, FastOSFS
from streamsieve.columns.redundancy.markov_blanket import discrete, rule
from streamsieve.columns.redundancy.markov_blanket.discrete import MarkovBlanketDiscrete
from streamsieve.columns.redundancy.markov_blanket.rule import NEVER_MANY, MarkovBlanketConfig
from tests.columns.streams import FORMS, TASKS, by_t, equal_twin, offered, reloaded, woven
from tests.reference.fast_osfs import fast_osfs
from tests.reference.g_squared import Tables
from tests.reference.osfs import PartialCorrelations


def quiet(sieve, *rest):
    """Offer columns; the warning about smaller sets has a test of its own."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".* columns are kept, so conditioning sets")
        return offered(sieve, *rest)


@pytest.mark.parametrize("many_kept", [0, 2, 3])
def test_sets_with_many_kept_equal_the_twin(many_kept, monkeypatch):
    monkeypatch.setattr(module, "MANY_KEPT", many_kept)
    rng, other = np.random.default_rng(2), 0
    for case in range(30):
        task = TASKS[case % 3]
        X, y = woven(rng, task, int(rng.integers(60, 200)), some_exact=True)
        judge = PartialCorrelations(X, y, task, alpha=0.05)
        twin, whole = fast_osfs(judge, X.shape[1], many_kept=many_kept), fast_osfs(judge, X.shape[1])
        sieve = quiet(by_t(FastOSFS(0.05, test="fisher_z")).begin(y), X, rng, tuple(FORMS))
        equal_twin(sieve, twin, what=case)
        other += twin[1] != whole[1]
    assert other > 0  # else the test would not notice


def test_tables_with_many_kept_equal_the_twin(monkeypatch):
    monkeypatch.setattr(module, "MANY_KEPT", 2)
    rng = np.random.default_rng(1)
    for case in range(6):
        X, y = woven(rng, "binary", 150)
        X = (X > 0).astype(float)
        judge = Tables(X, y, alpha=0.05, p_value="chi2")
        sieve = FastOSFS(0.05, test="g2", p_value="chi2").begin(y)
        equal_twin(quiet(sieve, X, rng, tuple(FORMS)), fast_osfs(judge, X.shape[1], many_kept=2), what=case)


@pytest.mark.parametrize("cls", [OSFS, FastOSFS])
def test_smaller_sets_are_announced_once_and_all_sets_can_be_asked_for(cls, monkeypatch):
    monkeypatch.setattr(module, "MANY_KEPT", 3)
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 6))
    y = X.sum(axis=1) + rng.normal(size=300)
    sieve = cls(test="fisher_z").begin(y)
    sieve.offer(X[:, :2])
    with pytest.warns(UserWarning, match="3 columns are kept, so conditioning sets have at most 2 columns"):
        sieve.offer(X[:, 2:4])
    sieve = reloaded(sieve)
    with pytest.warns(UserWarning, match="6 columns are kept, so conditioning sets have at most 1 column"):
        sieve.offer(X[:, 4:])
    assert sieve.selected_.tolist() == [*range(6)]
    cls(test="fisher_z", max_conditioning=3).fit(X, y)  # silent


def test_tables_of_many_rows_have_smaller_sets_earlier(monkeypatch):
    config = MarkovBlanketConfig(3, True, True, 200)
    assert [config.many_for(rows) for rows in (50, 1000, 20_000, 10**7)] == [200, 93, 34, 16]
    assert config._replace(many_kept=NEVER_MANY).many_for(10**7) == NEVER_MANY
    monkeypatch.setattr(module, "MANY_KEPT", 5)
    monkeypatch.setattr(rule, "LEAST_MANY", 2)
    monkeypatch.setattr(rule, "MOST_READ", 400 * rule.tests_of_three(3))
    rng = np.random.default_rng(3)
    X = rng.integers(0, 3, (400, 7)).astype(float)
    total = X.sum(axis=1) + rng.normal(size=400)
    y = (total > np.median(total)).astype(int)
    judge = Tables(X, y, alpha=0.05, p_value="chi2")
    with pytest.warns(UserWarning, match="6 columns are kept and compared by tables of 400 rows, so"):
        sieve = FastOSFS(0.05, test="g2", p_value="chi2").fit(X, y)
    equal_twin(sieve, fast_osfs(judge, 7, many_kept=3), what="codes")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        FastOSFS(0.05, test="g2", max_conditioning=3).fit(X, y)


def test_the_number_of_candidates_per_kernel_call_changes_nothing(monkeypatch):
    rng = np.random.default_rng(4)
    X = rng.integers(0, 3, (300, 12)).astype(float)
    y = (X[:, :5].sum(axis=1) + rng.normal(size=300) > 5).astype(int)
    whole = FastOSFS(0.05, test="g2").fit(X, y)
    calls = []
    settle = MarkovBlanketDiscrete._settle_some
    monkeypatch.setattr(discrete, "CHUNK_READS", 1)
    monkeypatch.setattr(
        MarkovBlanketDiscrete, "_settle_some", lambda self, *rest: (calls.append(1), settle(self, *rest))
    )
    one_by_one = FastOSFS(0.05, test="g2").fit(X, y)
    assert len(calls) > 1
    assert [*one_by_one.ledger_] == [*whole.ledger_]


@pytest.mark.parametrize("cls", [OSFS, FastOSFS])
@pytest.mark.parametrize("test", ["auto", "g2"])
def test_tables_with_too_few_rows_are_named_as_the_reason_why_columns_stay(cls, test, monkeypatch):
    """All columns are noisy copies of one, and none can be found redundant for want of rows."""
    monkeypatch.setattr(module, "MANY_KEPT", 4)
    rng = np.random.default_rng(4)
    y = rng.integers(0, 15, 96)
    first = np.minimum(y // 5 + (rng.random(96) < 0.2), 2)
    X = np.array([np.where(rng.random(96) < 0.1, 1, first) for _ in range(8)], float).T
    said = "8 columns are kept, because tables of 96 rows and 15 classes are too small to test most of them"
    with pytest.warns(UserWarning, match=said) as found:
        sieve = cls(test=test, task="classification").fit(X, y)
    assert len(sieve.selected_) == 8
    assert not any("max_conditioning" in str(each.message) for each in found)  # would change nothing
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(cls(test="fisher_z", task="classification").fit(X, y).selected_) < 4  # as is advised


@pytest.mark.parametrize("levels", [2, 3])
def test_columns_with_enough_rows_can_be_tested(levels, monkeypatch):
    monkeypatch.setattr(module, "MANY_KEPT", 3)
    rng = np.random.default_rng(5)
    X = rng.integers(0, levels, (2000, 8)).astype(float)
    y = (X.sum(axis=1) + rng.normal(size=2000) > 8 * (levels - 1) / 2).astype(int)
    with pytest.warns(UserWarning, match="so conditioning sets have at most"):
        sieve = FastOSFS(test="g2").fit(X, y)
    rule = sieve._process_.rule
    assert rule.testable(5) == (5, 5)
    assert rule.testable(50) == (7, 7)
