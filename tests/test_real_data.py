"""The helper that finds real data: skips aloud without a folder, and reads what the manifest promises."""

import numpy as np
import pytest
import scipy.sparse as sp

from tests.real_data import folder, load_real


def test_without_the_variable_a_real_data_check_is_skipped_and_says_why(monkeypatch):
    monkeypatch.delenv("STREAMSIEVE_DATA", raising=False)
    with pytest.raises(pytest.skip.Exception, match="STREAMSIEVE_DATA is not set: real-data check skipped"):
        folder()


def test_an_absent_file_is_skipped_by_its_path(monkeypatch, tmp_path):
    monkeypatch.setenv("STREAMSIEVE_DATA", str(tmp_path))
    with pytest.raises(pytest.skip.Exception, match=r"nothing\.npz is not there"):
        load_real("nothing")


def test_dense_and_sparse_files_and_their_training_rows_are_read(monkeypatch, tmp_path):
    monkeypatch.setenv("STREAMSIEVE_DATA", str(tmp_path))
    X = np.array([[1, 0], [0, 2], [3, 0]], np.uint8)
    y, train = np.array([0, 1, 0], np.int8), np.array([0, 2], np.int32)
    S = sp.csr_array(X)
    pieces = {"data": S.data, "indices": S.indices.astype(np.uint16), "indptr": S.indptr, "shape": S.shape}
    np.savez(tmp_path / "dense.npz", X=X, y=y, train_idx=train)
    np.savez(tmp_path / "sparse.npz", y=y, **pieces)

    some, labels = load_real("dense", split="train")
    every, _ = load_real("sparse")
    assert np.array_equal(some, X[[0, 2]])
    assert some.dtype == np.float64
    assert labels.tolist() == [0, 0]
    assert np.array_equal(every.toarray(), X)
    with pytest.raises(ValueError, match="no published split"):
        load_real("sparse", split="train")


@pytest.mark.parametrize(
    ("name", "split", "shape"), [("madelon", "train", (2000, 500)), ("dexter", "all", (600, 20000))]
)
def test_the_manifest_tells_the_truth(data_dir, name, split, shape):
    X, y = load_real(name, split)
    assert X.shape == shape
    assert set(y.tolist()) == {0, 1}
