"""Which p-values are discrete: a property of columns and target, not of their order or form."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

import streamsieve as ss
from streamsieve.dependence.blocks import column_products
from streamsieve.dependence.contract import Relevance
from streamsieve.independence import ChiSquareTest, FisherZ, GSquared
from streamsieve.independence.discreteness import (
    few_values,
    first_values,
    is_discrete,
    two_by_two,
    with_few_values,
)
from streamsieve.protocols import Task

FORMS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "csc": sp.csc_array,
    "float32": np.float32,
    "csc of float32": lambda X: sp.csc_array(X.astype(np.float32)),
}


def coarse_columns(rng, n):
    """Return columns of 1 to n distinct values, rare ones first or last, far from 0, and missing values."""
    columns = [rng.integers(0, k, n).astype(float) for k in (1, 2, 3, 16, 31, 32, 33, 34, 60, n)]
    columns += [
        rng.normal(size=n),
        np.arange(n),
        1e6 + (np.arange(n) % 7),
        np.where(columns[1] > 0, -0.0, 0.0),
    ]
    columns += [
        np.r_[np.arange(k), np.zeros(n - k)][::step]
        for k in (1, min(n, 9), min(n, 31), n // 2)
        for step in (1, -1)
    ]
    incomplete = np.where(rng.random((3, n)) < 0.3, np.nan, np.stack(columns[1:4]))
    return np.stack([*columns, *incomplete], axis=1)


@pytest.mark.parametrize("form", FORMS)
def test_columns_of_few_distinct_values_are_found(form):
    rng = np.random.default_rng(0)
    for n in (2, 3, 12, 33, 63, 64, 65, 200):
        X = FORMS[form](coarse_columns(rng, n))
        dense = X.toarray() if sp.issparse(X) else X
        wanted = [len(np.unique(x[~np.isnan(x)])) for x in dense.T]
        np.testing.assert_array_equal(with_few_values(X), np.array(wanted) <= few_values(n))


def counted(X, second):
    """Return 2 x 2 tables; those of sparse columns are counted with the products with the target."""
    if not sp.issparse(X):
        return two_by_two(X, second)
    tables = np.empty((2, X.shape[1]), np.int32)
    column_products(X, second - second.mean(), tables=tables)
    return tables


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("bits", [0, 40])
def test_tables_of_two_values_are_counted_and_all_other_columns_left_out(form, bits):
    rng = np.random.default_rng(1)
    for n in (2, 3, 8, 9, 12, 64, 65, 200):
        late = [
            np.r_[np.zeros(n - 1), [1.0]],
            np.r_[np.zeros(n - 2), [1.0, 2.0]],
            np.r_[np.zeros(n - 1), np.nan],
        ]
        X = np.column_stack([coarse_columns(rng, n), *late, rng.integers(0, 2, (n, bits)) - 0.5])
        X, second = FORMS[form](X), rng.permutation(np.arange(n) < 1 + 0.3 * (n - 2))
        ones, both = counted(X, second)
        for x, count, inside in zip((X.toarray() if sp.issparse(X) else X).T, ones, both, strict=True):
            values = np.unique(x)
            if len(values) == 2 and not np.isnan(x).any():
                assert (count, inside) in [(np.sum(x == v), np.sum(second & (x == v))) for v in values]
            else:
                assert count == inside == 0
        np.testing.assert_array_equal(with_few_values(X, ones > 0), with_few_values(X))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("scale", [1e-200, 1e-75, 1e-3, 1.0, 7.7, 1e75, 1e200])
def test_tables_do_not_depend_on_the_size_of_values(form, scale):
    """Sparse columns of two values are first found by their sums, which lose digits of very large squares."""
    rng = np.random.default_rng(3)
    second = rng.random(300) < 0.4
    for stored in (1, 2, 3, 5, 40, 299, 300):
        same, near, signs = np.zeros((3, 300))
        at = rng.permutation(300)[:stored]
        same[at] = near[at] = scale
        near[at[0]] *= 1 + 1e-9
        signs[at] = scale * np.where(np.arange(stored) % 2, -1, 1)
        X = np.column_stack([same, near, signs])
        if "float32" in form and not 1e-30 < scale < 1e30:
            continue
        X = FORMS[form](X)
        dense = X.toarray() if sp.issparse(X) else X
        with np.errstate(over="ignore", invalid="ignore"):
            ones, both = counted(X, second)
        for x, count, inside in zip(dense.T, ones, both, strict=True):
            if len(np.unique(x)) == 2:
                assert (count, inside) in [(np.sum(x == v), np.sum(second & (x == v))) for v in np.unique(x)]
            else:
                assert count == inside == 0


def test_a_first_look_tells_columns_of_many_values_from_those_of_few():
    rng = np.random.default_rng(2)
    few = rng.integers(0, 5, (200, 4)).astype(float)
    many = rng.normal(size=(200, 300))
    seen = first_values(np.column_stack([few, np.full(200, np.nan), np.ones(200), many]))
    assert np.all(seen[:4] <= 5)
    assert seen[4:6].tolist() == [0, 1]
    assert np.all(seen[6:] > few_values(200)), "these need no exact count"


def test_few_values_are_32_or_half_of_the_rows_but_always_two():
    assert [few_values(n) for n in (1, 4, 5, 12, 63, 64, 10_000)] == [2, 2, 2, 6, 31, 32, 32]
    assert is_discrete(np.arange(100) % 32)
    assert not is_discrete(np.arange(100) % 33)
    assert not is_discrete(np.arange(5.0))


def test_tests_say_which_p_values_are_discrete():
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.normal(size=80), rng.integers(0, 2, 80), rng.integers(0, 5, 80), rng.random(80)])
    y, numbers = rng.integers(0, 2, 80), rng.normal(size=80)
    some = [False, True, True, False]
    for target, task in ((y, Task.BINARY), (rng.integers(0, 3, 80), Task.MULTICLASS), (y, Task.REGRESSION)):
        for way in ("confirmed", "t", "z"):
            test = FisherZ(target, task, 0.05, p_value=way, online=True)
            assert test.measure(X).discrete.tolist() == some
            assert FisherZ.from_state(test.state()).measure(sp.csc_array(X)).discrete.tolist() == some
    assert FisherZ(numbers, Task.REGRESSION, 0.05, online=True).measure(X).discrete is None
    assert FisherZ(y, Task.BINARY, 0.05).measure(X).discrete is None  # no procedure asks
    for test in (GSquared(y, Task.BINARY, 0.05), ChiSquareTest(y, Task.BINARY, 0.05)):
        assert test.measure(X).discrete.all()


def test_columns_with_missing_values_are_discrete_by_their_observed_ones():
    rng = np.random.default_rng(2)
    X = np.column_stack(
        [rng.normal(size=80), rng.integers(0, 2, 80), rng.normal(size=80), rng.integers(0, 4, 80)]
    )
    X[:7, :2] = np.nan
    sieve = ss.SAOLA(0.05, missing="omit", fdr="addis").begin(rng.integers(0, 2, 80))
    assert sieve.measure_block(X).relevance.discrete.tolist() == [False, True, False, True]


def test_some_columns_of_a_block_keep_what_is_known_of_them():
    rng = np.random.default_rng(3)
    X, y = (
        np.where(np.arange(9) % 3 == 0, rng.integers(0, 2, (60, 9)), rng.normal(size=(60, 9))),
        np.arange(60) % 2,
    )
    sieve = ss.OnlineFDR().begin(y)
    block = pickle.loads(pickle.dumps(sieve.measure_block(X)))  # noqa: S301
    assert block.relevance.owned().discrete.tolist() == (np.arange(9) % 3 == 0).tolist()
    assert block.relevance.at(np.array([3, 1, 6])).discrete.tolist() == [True, False, True]
    assert block.cut(slice(2, 5)).relevance.discrete.tolist() == [False, True, False]
    assert Relevance.unmeasured(3).at(np.arange(2)).discrete is None
    measured = [sieve.offer(block), ss.OnlineFDR().begin(y).offer(X)]
    assert list(measured[0]) == list(measured[1])
