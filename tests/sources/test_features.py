"""Columns computed by a generator."""

import itertools

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import streamsieve as ss
from streamsieve.exceptions import ParameterError, SourceError
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
    sparse = sp.csc_array([[0], [2], [0]])
    columns = [[True, False, True], np.arange(3, dtype=np.int8), sparse, np.eye(3)[:, :1]]
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


class Factory:
    """Yields functions, and counts what was asked of them and how often each was called."""

    def __init__(self, p=7, broken=()):
        self.p, self.broken = p, set(broken)
        self.yielded, self.called = [], []

    def column(self, k):
        self.called.append(k)
        if k in self.broken:
            raise ZeroDivisionError(f"no\nfeature {k}")
        return np.full(3, float(k))

    def __call__(self):
        for k in range(self.p):
            self.yielded.append(k)
            yield f"f{k}", lambda: self.column(k)  # noqa: B023 - k as it is when it is yielded


def numbers(blocks):
    return [int(value) for block in blocks for value in block.X[0]]


def test_features_is_the_door_to_features():
    source = ss.features(powers, Y, names=None)
    assert isinstance(source, Features)
    np.testing.assert_array_equal(next(source.columns()).X, EXPECTED)
    assert ss.features(powers).y is None


@pytest.mark.parametrize("size", [1, 3, 100])
def test_functions_are_called_once_each_when_their_block_is_asked_for(size):
    factory = Factory()
    stream = ss.features(factory, Y).columns(size)
    assert factory.called == factory.yielded == []
    first = next(stream)
    assert factory.called == factory.yielded == list(range(min(size, 7)))
    blocks = [first, *stream]
    assert numbers(blocks) == factory.called == list(range(7))
    assert [name for block in blocks for name in block.names] == [f"f{k}" for k in range(7)]


def test_compute_makes_a_column_of_each_item():
    items = ["a", ("b", 2), 3, ("d", "text")]
    (block,) = ss.features(items, Y, compute=lambda item: [len(str(item))] * 3).columns()
    assert block.names == ["a", "b", "x2", "d"]
    assert numbers([block]) == [1, 1, 1, 4]


def test_resuming_calls_no_function_before_the_place():
    factory = Factory()
    source = ss.features(factory, Y)
    assert numbers(source.columns(2, {"column": 4})) == factory.called == [4, 5, 6]
    with pytest.raises(SourceError, match="start lies after 8 columns, but this Features has 7"):
        next(source.columns(2, {"column": 8}))
    assert factory.called == [4, 5, 6]


def test_seconds_are_those_of_the_function_or_of_the_generator(monkeypatch):
    clock = iter([0, 1, 1, 11, 11, 13, 13, 14, 14, 34, 34])
    monkeypatch.setattr("streamsieve.sources.computed.compute.perf_counter", lambda: next(clock))
    items = [("a", lambda: [1, 2, 3]), ("b", [1, 2, 3]), ("c", lambda: [4, 5, 6])]
    (block,) = ss.features(items, Y).columns(9)
    # the first came after 1 s and took 10 s to compute, the second came ready after 2 s
    np.testing.assert_array_equal(block.seconds, [10, 2, 20])


@pytest.mark.parametrize("size", [1, 2, 5])
@pytest.mark.parametrize("once", [True, False])
def test_after_a_function_that_failed_the_stream_goes_on_with_it_or_after_it(size, once):
    factory = Factory(broken={3})
    source = ss.features(factory() if once else factory, Y)
    got = []
    with pytest.raises(
        SourceError, match=r"feature 3 \(counting from 0\), 'f3', could not be computed: Zero"
    ):
        got += source.columns(size)
    stream = source.columns(size)
    if once:
        with pytest.raises(SourceError, match="cannot start again"):
            next(stream)
    factory.called.clear()
    with pytest.raises(SourceError, match=r"feature 3 .*no feature 3") as caught:
        next(source.columns(size, {"column": 3}))
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert numbers(source.columns(size, {"column": 4})) == [4, 5, 6]
    assert factory.called == [3, 4, 5, 6]
    if not once:
        factory.broken.clear()
        assert numbers(source.columns(size, {"column": 3})) == [3, 4, 5, 6]


def test_an_iterator_goes_on_from_where_it_was_left():
    factory = Factory()
    source = ss.features(factory(), Y)
    stream = source.columns(2)
    position = next(stream).position
    stream.close()
    assert numbers(source.columns(3, position)) == [2, 3, 4, 5, 6]
    assert factory.called == list(range(7))


def test_a_generator_that_raised_does_not_seem_to_have_ended():
    source = ss.features(breaks(), Y)
    with pytest.raises(SourceError, match=r"feature 2 .* the generator raised KeyError"):
        list(source.columns(1))
    with pytest.raises(
        SourceError, match=r"the generator cannot go on after it raised KeyError: .* pass the"
    ):
        next(source.columns(1, {"column": 2}))
    again = ss.features(breaks, Y)
    assert numbers([next(again.columns(1, {"column": 1}))]) == [1]
    with pytest.raises(SourceError, match=r"feature 2 .* the generator raised KeyError"):
        next(again.columns(1, {"column": 3}))


def test_an_iterator_that_is_no_generator_may_go_on_after_it_raised():
    class Moody:
        def __init__(self):
            self.k = 0

        def __iter__(self):
            return self

        def __next__(self):
            self.k += 1
            if self.k == 3:
                raise OSError("not today")
            if self.k > 5:
                raise StopIteration
            return [self.k] * 3

    source = ss.features(Moody(), Y)
    blocks = source.columns(1)
    assert numbers([next(blocks), next(blocks)]) == [1, 2]
    with pytest.raises(SourceError, match=r"feature 2 .*OSError: not today"):
        next(blocks)
    assert numbers(source.columns(1, {"column": 2})) == [4, 5]


def test_a_function_that_returns_something_else_is_named():
    for value, message in (([1, 2], "'bad', has 2 values, but there are 3"), ("abc", "'bad', holds text")):
        stream = ss.features([("good", lambda: [1, 2, 3]), ("bad", lambda v=value: v)], Y).columns()
        assert next(stream).names == ["good"]
        with pytest.raises(SourceError, match=f"feature 1 .*{message}"):
            next(stream)


def test_ctrl_c_is_no_failure_of_a_feature():
    def pressed():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        next(ss.features([("a", pressed)], Y).columns())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"compute": 7}, "compute must be a function that makes a column of an item; got 7"),
        ({"workers": -1}, "workers must be a whole number at least 0; got -1"),
        ({"workers": 1.5}, "workers must be a whole number at least 0; got 1.5"),
    ],
)
def test_options_out_of_range_are_refused(options, message):
    with pytest.raises(ParameterError, match=message):
        ss.features(powers, Y, **options)
