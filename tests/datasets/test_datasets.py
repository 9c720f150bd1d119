"""Data sets by name: scikit-learn's, of a folder, of a fake OpenML; what is missing is explained."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.utils import Bunch

from streamsieve import datasets
from streamsieve.datasets.manifest import MANIFEST
from streamsieve.exceptions import ParameterError, SourceError
from streamsieve.protocols import Task
from tests.real_data import folder, load_real


@pytest.fixture
def empty(monkeypatch, tmp_path):
    monkeypatch.setenv("STREAMSIEVE_DATA", str(tmp_path))
    return tmp_path


@pytest.fixture
def no_network(monkeypatch):
    def fetch(**options):
        raise OSError("no route to host")

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch)


EMBEDDED = [name for name, entry in MANIFEST.items() if entry.embedded]


@pytest.mark.parametrize("name", EMBEDDED)
def test_what_comes_with_scikit_learn_is_as_the_manifest_says(name, empty):
    data, entry = datasets.load(name), MANIFEST[name]
    assert data.shape == (entry.rows, entry.features)
    assert data.task is entry.task
    assert data.X.dtype == np.float64
    assert len(data.names or []) in (0, entry.features)
    if entry.task is Task.REGRESSION:
        assert data.y.dtype == np.float64
        assert data.classes is None
    else:
        assert sorted(set(data.y.tolist())) == list(range(len(data.classes)))
    assert data.description in str(data)
    assert data.citation


LARGE = [
    "covtype",
    "news20_multiclass",
    "dorothea",
    "gisette_valid",
    "ujiindoorloc",
    "ujiindoorloc_longitude",
]
LOCAL = [name for name, entry in MANIFEST.items() if entry.file and name not in LARGE]


@pytest.mark.parametrize("name", LOCAL)
def test_the_folder_is_as_the_manifest_says(name):
    entry = MANIFEST[name]
    if not (folder() / f"{entry.file}.npz").exists():
        pytest.skip(f"{entry.file}.npz is not there")
    data = datasets.load(name, "local")
    assert data.shape == (entry.rows, entry.features)
    assert (data.task is Task.BINARY) == (data.classes is not None and len(data.classes) == 2)
    if entry.target == "y":
        X, y = load_real(entry.file)
        np.testing.assert_array_equal(data.y, y)
        difference = abs(data.X - X)
        assert (difference.max() if not sp.issparse(difference) else difference.nnz) == 0
    if data.train is not None:
        assert not set(data.train.tolist()) & set(data.test.tolist())
        assert data.part("train").shape[0] == len(data.train)
    assert datasets.available()[name]["where"] == "local"


def write(path, **arrays):
    np.savez_compressed(path, **arrays)


def test_a_file_of_your_own_needs_no_entry(empty):
    X = np.arange(12).reshape(6, 2)
    write(empty / "mine.npz", X=X, y=np.array([0, 1, 0, 1, 1, 1]), classes=["no", "yes"])
    data = datasets.load("mine")
    assert data.task is Task.BINARY
    assert data.classes.tolist() == ["no", "yes"]
    np.testing.assert_array_equal(data.X, X)
    assert data.origin.endswith("mine.npz")
    assert datasets.available()["mine"]["where"] == "local"
    write(empty / "numbers.npz", X=X, y=np.linspace(0, 1, 6), feature_names=["a", "b"])
    numbers = datasets.load("numbers")
    assert numbers.task is Task.REGRESSION
    assert numbers.names == ["a", "b"]
    matrix = sp.csr_array(X)
    pieces = {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr, "shape": matrix.shape}
    write(empty / "sparse.npz", **pieces, y=np.array([0, 1, 2, 0, 1, 2]))
    sparse = datasets.load("sparse")
    assert sp.issparse(sparse.X)
    assert sparse.task is Task.MULTICLASS
    np.testing.assert_array_equal(sparse.X.toarray(), X)


def test_a_file_that_is_no_data_set_is_refused(empty):
    (empty / "torn.npz").write_bytes(b"PK\x03\x04 nothing")
    write(empty / "lacks.npz", X=np.zeros((3, 2)))
    write(empty / "madelon.npz", X=np.zeros((3, 2)), y=np.zeros(2))
    for name in ("torn", "lacks", "madelon"):
        with pytest.raises(SourceError, match="does not hold a data set"):
            datasets.load(name)


def test_a_name_is_not_a_way_out_of_the_folder(empty, tmp_path):
    outside = tmp_path.parent / "outside.npz"
    write(outside, X=np.zeros((2, 1)), y=[0, 1])
    with pytest.raises(ParameterError, match="there is no data set"):
        datasets.load("../outside")


def test_unknown_names_get_a_suggestion(empty):
    with pytest.raises(ParameterError, match="no data set 'madeleine'; did you mean 'madelon'"):
        datasets.load("madeleine")
    with pytest.raises(ParameterError, match="source must be one of"):
        datasets.load("madelon", "disk")


def test_what_is_absent_is_explained(empty, no_network, monkeypatch):
    with pytest.raises(
        SourceError, match=r"madelon.npz is not there; .*openml.org/d/1485 \(no route to host\)"
    ):
        datasets.load("madelon")
    with pytest.raises(
        SourceError, match=r"OpenML does not have it. Put usenet1.npz \(X and y\) into a folder"
    ):
        datasets.load("usenet1")
    with pytest.raises(SourceError, match="does not come with scikit-learn"):
        datasets.load("usenet1", "embedded")
    with pytest.raises(SourceError, match="Try again with a network"):
        datasets.load("gisette")
    monkeypatch.delenv("STREAMSIEVE_DATA")
    with pytest.raises(SourceError, match="STREAMSIEVE_DATA is not set"):
        datasets.load("usenet1")
    assert datasets.available()["usenet1"]["where"] == "absent"
    assert datasets.available()["madelon"]["where"] == "openml"


@pytest.mark.parametrize("sparse", [False, True])
def test_openml_is_asked_by_number(empty, monkeypatch, tmp_path, sparse):
    asked = []

    def fetch(**options):
        asked.append(options)
        X = np.arange(8).reshape(4, 2)
        names = ["V1", "V2"]
        return Bunch(
            data=sp.csr_matrix(X) if sparse else X, target=np.array(["2", "1", "1", "2"]), feature_names=names
        )

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch)
    data = datasets.load("madelon", cache=tmp_path)
    assert asked == [{"data_id": 1485, "as_frame": False, "parser": "liac-arff", "data_home": tmp_path}]
    assert data.y.tolist() == [1, 0, 0, 1]
    assert data.classes.tolist() == ["1", "2"]
    assert data.names == ["V1", "V2"]
    assert data.origin == "https://www.openml.org/d/1485"
    assert sp.issparse(data.X) is sparse
    assert data.X.dtype == np.float64


def test_a_part_that_is_not_there_is_refused():
    with pytest.raises(SourceError, match="iris has no published split; got 'train'"):
        datasets.load("iris").part("train")


def test_the_manifest_is_complete():
    for name, entry in MANIFEST.items():
        assert entry.name == name
        assert entry.embedded or entry.file or entry.openml, name
        assert entry.description.endswith(".")
        assert entry.citation
    ids = [entry.openml for entry in MANIFEST.values() if entry.openml]
    assert len(ids) == len(set(ids))
