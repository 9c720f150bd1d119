"""Spouses: as the slow twin finds them, whatever the blocks, and gone when the memory is."""

from collections import Counter
from functools import cache

import numpy as np
import pytest

from streamsieve.columns.osfs import OSFS, FastOSFS
from streamsieve.independence import table_p_values
from tests.columns.streams import FORMS, TASKS, by_t, columns, equal_twin, offered, target
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
    return with_spouses(decided, tests, parameters["alpha"], max_conditioning, spouses)


@BOTH
@pytest.mark.parametrize("levels", [2, 3])
def test_spouses_of_levels_equal_the_twin_in_any_blocks(cls, levels, monkeypatch):
    for module in (table_p_values, table_moments):  # the twin draws random tables in Python
        monkeypatch.setattr(module, "MOST_DRAWS", 200)
    rng, seen, lost = np.random.default_rng(1), Counter(), 0
    for case in range(cases(25)):
        X, y = family(rng, int(rng.integers(60, 200)), int(rng.integers(3, 9)), levels=levels)
        parameters = {
            "alpha": float(rng.choice([0.05, 0.2])),
            "max_conditioning": int(rng.integers(1, 4)),
            "spouses": int(rng.choice([1, 3, 50])),
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
    assert lost >= cases(20)
