"""The drift generator against its twin and its own laws."""

import numpy as np
import pytest

from streamsieve.exceptions import ParameterError, SourceError
from streamsieve.sources import DriftingStream
from streamsieve.sources import drift as module
from tests.helpers.tier import cases
from tests.reference import drift as twin


@pytest.fixture
def small_chunks(monkeypatch):
    monkeypatch.setattr(module, "CHUNK_VALUES", 60)


def whole(stream, size=4096, start=None):
    batches = list(stream.rows(size, start))
    return np.vstack([b.X for b in batches]), np.concatenate([b.y for b in batches])


@pytest.mark.parametrize("shift_every", [1, 3, 10, 1000])
@pytest.mark.parametrize("seed", [0, 5])
def test_it_is_its_twin(small_chunks, shift_every, seed):
    stream = DriftingStream(50, n_features=6, n_relevant=4, shift_every=shift_every, seed=seed)
    assert stream._chunk_rows == 10
    X, y = whole(stream)
    for number in range(5):
        expected_X, expected_y = twin.rows(*stream._draws(number), 10 * number, 4, shift_every)
        np.testing.assert_array_equal(X[10 * number : 10 * number + 10], expected_X)
        np.testing.assert_array_equal(y[10 * number : 10 * number + 10], expected_y)
    for row in range(cases(50)):
        assert stream.relevant(row).tolist() == twin.support(row, 6, 4, shift_every)


@pytest.mark.parametrize("size", [1, 7, 10, 23, 1000])
def test_batch_size_and_resuming_never_change_the_content(small_chunks, size):
    stream = DriftingStream(37, n_features=5, n_relevant=2, shift_every=4)
    X, y = whole(stream)
    np.testing.assert_array_equal(whole(stream, size)[0], X)
    np.testing.assert_array_equal(whole(stream, size)[1], y)
    for batch in list(stream.rows(size))[:-1]:
        np.testing.assert_array_equal(whole(stream, 11, batch.position)[0], X[batch.position["row"] :])
    assert list(stream.rows(size, start={"row": 37})) == []


def test_a_longer_stream_begins_the_same(small_chunks):
    short, long = (DriftingStream(n, n_features=5, n_relevant=2, shift_every=4) for n in (13, 40))
    np.testing.assert_array_equal(whole(long)[0][:13], whole(short)[0])
    np.testing.assert_array_equal(whole(long)[1][:13], whole(short)[1])


def test_seeds_and_chunks_differ(small_chunks):
    X = whole(DriftingStream(24, n_features=5, n_relevant=2))[0]
    assert len(np.unique(X)) == X.size
    assert not np.any(np.isclose(X, whole(DriftingStream(24, n_features=5, n_relevant=2, seed=1))[0]))


def test_moments_are_those_of_the_thesis():
    X, y = whole(DriftingStream(40_000, n_features=20, n_relevant=5, shift_every=100_000))
    correlation = np.corrcoef(X.T)
    assert abs(correlation[np.triu_indices(20, 1)].mean() - 0.2) < 0.01
    assert abs(X.var() - 1.25) < 0.02
    assert abs(y.mean() - 0.5) < 0.02
    with_label = [np.corrcoef(X[:, j], y)[0, 1] for j in range(20)]
    assert min(with_label[:5]) > max(with_label[5:]) + 0.05


def test_bad_parameters_are_named():
    for name in ("n_rows", "n_features", "shift_every"):
        with pytest.raises(ParameterError, match=f"{name} must be a whole number at least 1"):
            DriftingStream(**{"n_features": 10, "n_relevant": 1, name: 0})
    with pytest.raises(ParameterError, match=r"n_relevant must be .* at most 10"):
        DriftingStream(n_features=10, n_relevant=11)
    with pytest.raises(ParameterError, match="seed must be a whole number at least 0"):
        DriftingStream(seed=-1)
    with pytest.raises(ParameterError, match="row must be"):
        DriftingStream().relevant(-1)


def test_it_has_no_columns_and_no_rows_after_its_end():
    stream = DriftingStream(10)
    with pytest.raises(SourceError, match=r"DriftingStream has no columns: .*use rows\(\)"):
        stream.columns()
    with pytest.raises(SourceError, match="start lies after 11 rows, but this DriftingStream has 10"):
        stream.rows(start={"row": 11})
