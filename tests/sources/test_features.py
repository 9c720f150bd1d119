"""Columns computed by a generator."""

import itertools

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from streamsieve.exceptions import SourceError
from streamsieve.sources import Features

Y = np.array([0, 1, 1])


def powers():
    for k in range(7):
        yield f"p{k}", np.arange(3.0) ** k


EXPECTED = np.array([np.arange(3.0) ** k for k in range(7)]).T


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_blocks_hold_the_columns_whatever_the_size(size):
    blocks = list(Features(powers, Y).columns(size))
    np.testing.assert_array_equal(np.hstack([b.X for b in blocks]), EXPECTED)
    assert [name for b in blocks for name in b.names] == [f"p{k}" for k in range(7)]
    assert all(b.X.flags.f_contiguous and b.X.dtype == np.float64 for b in blocks)


def test_resuming_skips_by_consuming():
    source = Features(powers, Y)
    for block in source.columns(2):
        done = block.position["column"]
        rest = [b.X for b in source.columns(3, start=block.position)]
        np.testing.assert_array_equal(np.hstack([EXPECTED[:, :done], *rest]), EXPECTED)
    with pytest.raises(SourceError, match="start lies after 9 columns, but this Features has 7"):
        list(source.columns(3, start={"column": 9}))


def test_nothing_is_computed_before_it_is_needed():
    computed = []

    def endless():
        for k in itertools.count():
            computed.append(k)
            yield np.full(3, float(k))

    stream = Features(endless, Y).columns(4)
    assert computed == []
    assert next(stream).X.shape == (3, 4)
    assert len(computed) == 4


def test_names_come_from_pairs_series_a_list_or_the_number():
    columns = [("a", [1, 2, 3]), [4, 5, 6], pd.Series([7, 8, 9], name="c"), pl.Series("d", [1, None, 3])]
    (block,) = Features(columns, Y).columns()
    assert block.names == ["a", "x1", "c", "d"]
    np.testing.assert_array_equal(block.X[:, 3], [1, np.nan, 3])
    one, two = Features(columns, Y).columns(2)
    assert [*one.names, *two.names] == block.names
    assert next(Features([[1, 2, 3]], Y).columns()).names is None
    source = Features([[1, 2, 3], [4, 5, 6]], Y, names=["u", "v"])
    assert next(source.columns()).names == ["u", "v"]
    assert source.n_columns == 2


def test_columns_may_be_of_many_types():
    columns = [
        [True, False, True],
        np.arange(3, dtype=np.int8),
        sp.csc_array([[0], [2], [0]]),
        np.eye(3)[:, :1],
    ]
    (block,) = Features(columns, Y).columns()
    np.testing.assert_array_equal(block.X, [[1, 0, 0, 1], [0, 1, 2, 0], [1, 2, 0, 0]])


def test_a_buffer_that_is_filled_again_and_again_is_copied():
    def reuse():
        buffer = np.empty(3)
        for k in range(3):
            buffer[:] = k
            yield buffer

    (block,) = Features(reuse, Y).columns()
    np.testing.assert_array_equal(block.X[0], [0, 1, 2])


def test_without_a_target_the_first_column_says_how_many_rows():
    source = Features([[1, 2], [3, 4], [5]], None)
    assert source.y is None
    stream = source.columns()
    assert next(stream).X.shape == (2, 2)
    with pytest.raises(SourceError, match=r"feature 2 .* has 1 values, but there are 2 rows"):
        next(stream)


def test_an_iterator_serves_once_and_a_list_again_and_again():
    once = Features(powers(), Y)
    assert len(list(once.columns(3))) == 3
    with pytest.raises(SourceError, match="cannot start again: pass the function"):
        next(once.columns())
    again = Features([[1, 2, 3]], Y)
    assert len(list(again.columns())) == len(list(again.columns())) == 1


def breaks():
    yield "good", [1.0, 2.0, 3.0]
    yield "fine", [1.0, 2.0, 3.0]
    raise KeyError("no such\ntable")


@pytest.mark.parametrize("size", [1, 2, 100])
def test_a_failing_generator_is_named_after_what_came_before_is_delivered(size):
    stream = Features(breaks, Y).columns(size)
    got = []
    with pytest.raises(SourceError, match=r"feature 2 \(counting from 0\).*KeyError: .*no such") as caught:
        got += stream
    assert isinstance(caught.value.__cause__, KeyError)
    assert "\n" not in str(caught.value)
    stream = Features(breaks, Y).columns(size)
    blocks = [next(stream) for _ in range(2 if size == 1 else 1)]
    np.testing.assert_array_equal(np.hstack([b.X for b in blocks]), [[1, 1], [2, 2], [3, 3]])


@pytest.mark.parametrize(
    ("item", "message"),
    [
        (("short", [1, 2]), r"feature 1 .*'short', has 2 values, but there are 3 rows"),
        (("city", ["a", "b", "c"]), "feature 1 .*'city', holds text, not numbers: encode it"),
        (["1", "2", "3"], r"feature 1 \(counting from 0\) holds text, not numbers"),
        (np.array([1, "b", None], object), "feature 1 .* holds text"),
        (np.array([1, {}, None], object), "feature 1 .* is not a column of numbers"),
        (np.array(["2020-01-01"] * 3, "M8[D]"), "feature 1 .* holds dates"),
        ([1j, 2, 3], "feature 1 .* holds complex numbers"),
        (np.eye(3), r"feature 1 .* has shape \(3, 3\).*one by one"),
        (3.0, r"feature 1 .* has shape \(\)"),
        ([[1], [2, 3], 4], "feature 1 .* is not a column of numbers"),
    ],
)
def test_a_bad_column_is_named(item, message):
    stream = Features([[1, 2, 3], item], Y).columns()
    assert next(stream).X.shape == (3, 1)
    with pytest.raises(SourceError, match=message):
        next(stream)


def test_too_few_names_are_refused():
    stream = Features([[1, 2, 3]] * 2, Y, names=["only"]).columns()
    next(stream)
    with pytest.raises(SourceError, match=r"feature 1 .* has no name: names has 1 entries"):
        next(stream)


@pytest.mark.parametrize("factory", [lambda: 7, 7, None])
def test_a_factory_of_nothing_is_refused(factory):
    with pytest.raises(SourceError, match="factory must be a function that returns an iterator"):
        next(Features(factory, Y).columns())


def test_a_factory_that_fails_is_feature_0():
    with pytest.raises(SourceError, match=r"feature 0 .*ZeroDivisionError"):
        next(Features(lambda: 1 / 0, Y).columns())


def test_it_has_no_rows():
    with pytest.raises(SourceError, match=r"Features has no rows: .*use columns\(\)"):
        Features(powers, Y).rows()
