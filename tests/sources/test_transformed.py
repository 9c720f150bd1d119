"""Columns made of the columns of any source, on demand."""

import numpy as np
import pytest
import scipy.sparse as sp

import streamsieve as ss
from streamsieve.exceptions import ParameterError, SourceError
from streamsieve.sources import Features
from tests.sources.kinds import KINDS, NAMES, P, dense, make, numbers


def bent(name, x):
    yield name, x
    if name[1] != "2":
        yield f"{name}^2", x**2


def expected():
    X, y = numbers()
    columns, names = [], []
    for name, x in zip(NAMES, X.T, strict=True):
        for one, column in bent(name, x):
            names.append(one)
            columns.append(column)
    return np.array(columns).T, names, y


@pytest.fixture(params=KINDS)
def source(request, tmp_path):
    return make(request.param, tmp_path)


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_any_source_can_be_transformed(source, size):
    X, names, y = expected()
    made = ss.open(source, transform=bent)
    assert isinstance(made, Features)
    assert made.on_demand
    blocks = list(made.columns(size))
    np.testing.assert_array_equal(np.hstack([block.X for block in blocks]), X)
    if source.names is not None:
        assert [name for block in blocks for name in block.names] == names
    np.testing.assert_array_equal(made.y, y)
    for block in blocks:
        assert block.seconds.shape == (block.X.shape[1],)
        for start in (block.position, {"column": block.position["column"]}):
            rest = [b.X for b in made.columns(2, start)]
            np.testing.assert_array_equal(np.hstack([X[:, : start["column"]], *rest]), X)


def test_workers_make_the_same(tmp_path):
    X, names, _ = expected()

    # sent as it is; a function of this module would be imported, with all the module needs
    def local(name, x):
        yield name, x
        if name[1] != "2":
            yield f"{name}^2", x**2

    made = ss.open(make("parquet", tmp_path), transform=local, workers=2)
    blocks = list(made.columns(4))
    np.testing.assert_array_equal(np.hstack([block.X for block in blocks]), X)
    assert [name for block in blocks for name in block.names] == names
    rest = [block.X for block in made.columns(4, blocks[0].position)]
    np.testing.assert_array_equal(np.hstack([X[:, :4], *rest]), X)


def test_a_transform_may_return_a_column_a_pair_or_nothing():
    X, _ = numbers()
    frame = ss.open(X, names=NAMES, transform=lambda _, x: -x)
    (block,) = frame.columns()
    assert block.names == NAMES
    np.testing.assert_array_equal(block.X, -X)
    (block,) = ss.open(X, transform=lambda name, x: (f"-{name}", -x)).columns()
    assert block.names == [f"-x{j}" for j in range(P)]
    (block,) = ss.open(X, transform=lambda name, x: iter([x] if name in ("x1", "x4") else [])).columns()
    np.testing.assert_array_equal(block.X, X[:, [1, 4]])


def test_a_sparse_column_comes_as_an_array():
    seen = []
    X, _ = numbers()
    (block,) = ss.open(sp.csr_array(X), transform=lambda _, x: seen.append(x) or x).columns()
    np.testing.assert_array_equal(block.X, dense(X))
    assert all(type(x) is np.ndarray and x.shape == (len(X),) for x in seen)


def test_features_can_be_transformed_as_well():
    raw = ss.features([("a1", lambda: [1.0, 2.0]), ("a2", lambda: [3.0, 4.0])], [0, 1])
    (block,) = ss.open(raw, transform=bent).columns()
    assert block.names == ["a1", "a1^2", "a2"]


def test_nothing_is_computed_before_it_is_asked_for():
    X, y = numbers()
    computed = []

    def noted(name, x):
        for k in (1, 2):
            computed.append((name, k))
            yield f"{name}^{k}", x**k

    stream = ss.open(X, y, names=NAMES, transform=noted).columns(1)
    assert computed == []
    next(stream)
    next(stream)
    next(stream)
    assert computed == [("c0", 1), ("c0", 2), ("c1", 1)]


def test_what_fails_is_named_with_what_it_is_made_from_and_the_stream_goes_on():
    X, _ = numbers()

    def broken(name, x):
        yield name, x
        if name == "c1":
            raise ZeroDivisionError("of course")

    made = ss.open(X, names=NAMES, transform=broken)
    stream = made.columns(10)
    assert next(stream).names == ["c0", "c1"]
    with pytest.raises(
        SourceError, match=r"feature 2 .* made from 'c1' could not be computed: ZeroDivisionError"
    ):
        next(stream)
    (rest,) = made.columns(10, {"column": 3})
    assert rest.names == NAMES[2:]


def test_errors():
    X, _ = numbers()
    with pytest.raises(ParameterError, match=r"transform must be a function of a name and a column.*got 7"):
        ss.open(X, transform=7)
    with pytest.raises(ParameterError, match="workers compute features: say which, transform=function"):
        ss.open(X, workers=2)
    with pytest.raises(SourceError, match="DriftingStream has no columns"):
        next(ss.open(ss.DriftingStream(5), transform=bent).columns())
    with pytest.raises(SourceError, match=r"has no rows: .*use columns"):
        ss.open(X, transform=bent).rows()
    with pytest.raises(SourceError, match="start lies after 99 columns, but this Transformed has 14"):
        list(ss.open(X, transform=lambda n, x: iter([x, x])).columns(3, {"column": 99}))
    with pytest.raises(SourceError, match=r"start must be the position of a .* of the same Transformed"):
        list(ss.open(X, transform=bent).columns(3, {"column": 1, "item": -1, "inside": 0}))
    with pytest.raises(SourceError, match="a ArraySource is open already"):
        ss.open(ss.open(X), target="y", transform=bent)
