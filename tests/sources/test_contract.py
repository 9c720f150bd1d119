"""What every source promises: the content, whatever the size of batches, and resuming anywhere."""

import json

import numpy as np
import pytest

from streamsieve.exceptions import ParameterError, SourceError
from streamsieve.sources import DriftingStream, Features
from tests.sources.kinds import KINDS, NAMES, N, P, dense, make, numbers


@pytest.fixture(params=KINDS)
def source(request, tmp_path):
    return make(request.param, tmp_path)


def without_names(source):
    return source.names is None


@pytest.mark.parametrize("size", [1, 3, 4, 7, N, 1000])
def test_rows_are_the_matrix_whatever_the_batch_size(source, size):
    X, y = numbers()
    batches = list(source.rows(size))
    assert [b.X.shape[0] for b in batches[:-1]] == [size] * (len(batches) - 1)
    assert 1 <= batches[-1].X.shape[0] <= size
    np.testing.assert_array_equal(np.vstack([dense(b.X) for b in batches]), X)
    np.testing.assert_array_equal(np.concatenate([b.y for b in batches]), y)
    for batch in batches:
        assert batch.X.dtype == np.float64
        assert batch.weight is None
        assert batch.names == (None if without_names(source) else NAMES)
    seen = np.cumsum([b.X.shape[0] for b in batches])
    assert [b.position["row"] for b in batches] == seen.tolist()


@pytest.mark.parametrize("size", [1, 3, P, 1000])
def test_columns_are_the_matrix_whatever_the_block_size(source, size):
    X, y = numbers()
    blocks = list(source.columns(size))
    assert [b.X.shape[1] for b in blocks[:-1]] == [size] * (len(blocks) - 1)
    np.testing.assert_array_equal(np.hstack([dense(b.X) for b in blocks]), X)
    np.testing.assert_array_equal(source.y, y)
    assert source.n_columns == P
    if not without_names(source):
        assert [name for b in blocks for name in b.names] == NAMES


@pytest.mark.parametrize("size", [1, 4, 9])
def test_resuming_from_any_position_gives_the_rest(source, size):
    X, _ = numbers()
    for batch in list(source.rows(size)):
        start = json.loads(json.dumps(batch.position))
        rest = list(source.rows(5, start=start))
        done = batch.position["row"]
        found = np.vstack([dense(b.X) for b in rest]) if rest else np.empty((0, P))
        np.testing.assert_array_equal(found, X[done:])
        assert sum(len(b.y) for b in rest) == N - done
        assert not rest or rest[-1].position["row"] == N


def test_resuming_columns_from_any_position_gives_the_rest(source):
    X, _ = numbers()
    for block in list(source.columns(2)):
        start = json.loads(json.dumps(block.position))
        rest = [dense(b.X) for b in source.columns(3, start=start)]
        np.testing.assert_array_equal(np.hstack([X[:, : start["column"]], *rest]), X)


@pytest.mark.parametrize("kind", ["csr", "coo matrix", "svmlight", "svmlight, three files"])
def test_sparse_sources_give_csr_rows_and_csc_columns(kind, tmp_path):
    source = make(kind, tmp_path)
    for batch in source.rows(4):
        assert batch.X.format == "csr"
        assert batch.X.indices.dtype == batch.X.indptr.dtype == np.int32
    for block in source.columns(4):
        assert block.X.format == "csc"
        assert block.X.indices.dtype == block.X.indptr.dtype == np.int32


def test_the_number_of_rows_is_known_where_it_is_cheap(tmp_path):
    for kind in ("array", "parquet", "ipc", "feather, three files", "polars"):
        (tmp_path / kind).mkdir()
        assert make(kind, tmp_path / kind).n_rows == N
    for kind in ("csv", "stream", "svmlight"):
        (tmp_path / kind).mkdir()
        assert make(kind, tmp_path / kind).n_rows is None


def test_iterating_twice_gives_the_same_and_two_iterators_do_not_disturb_each_other(source):
    one, two = source.rows(4), source.rows(4)
    next(one)
    np.testing.assert_array_equal(dense(next(one).X), [dense(b.X) for b in two][1])
    a, b = source.columns(2), source.columns(2)
    next(a)
    np.testing.assert_array_equal(dense(next(a).X), [dense(x.X) for x in b][1])
    next(a)


def axes(source):
    """What can be streamed, with the name of the size."""
    columns_only, rows_only = isinstance(source, Features), isinstance(source, DriftingStream)
    return [
        *([] if columns_only else [(source.rows, "batch_size")]),
        *([] if rows_only else [(source.columns, "block_size")]),
    ]


GENERATED = {
    "features": lambda: Features(lambda: iter([[1.0, 2.0]]), [0, 1]),
    "drift": lambda: DriftingStream(n_rows=9, n_features=4, n_relevant=2),
}


@pytest.fixture(params=["array", "csv", "svmlight", *GENERATED])
def any_source(request, tmp_path):
    return GENERATED[request.param]() if request.param in GENERATED else make(request.param, tmp_path)


@pytest.mark.parametrize("size", [0, -1, 2.5, "7", None, True])
def test_a_size_that_is_no_size_is_refused_before_anything_is_read(any_source, size):
    for stream, name in axes(any_source):
        with pytest.raises(ParameterError, match=f"{name} must be a whole number at least 1"):
            stream(size)


@pytest.mark.parametrize(
    "start", [{}, {"place": 3}, {"row": -1, "column": -1}, {"row": "1", "column": 1.5}, 7]
)
def test_a_foreign_position_is_refused(any_source, start):
    for stream, _ in axes(any_source):
        with pytest.raises(SourceError, match=r"start must be the position of a .* of the same"):
            stream(2, start=start)


def test_a_position_after_the_end_is_refused(source):
    start = dict.fromkeys(("row", "row_in_file", "byte", "line", "column"), 10**6) | {"file": 0}
    for stream in (source.rows, source.columns):
        with pytest.raises(SourceError, match="resume with the data"):
            list(stream(2, start=start))
    if "file" in next(source.rows(1)).position:
        with pytest.raises(SourceError, match="resume with the data"):
            source.rows(2, start=dict.fromkeys(("row", "row_in_file", "byte", "line"), 0) | {"file": 99})
