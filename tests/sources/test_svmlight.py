"""Sparse rows in text files."""

import pickle

import numpy as np
import pytest

from streamsieve.exceptions import ParameterError, SourceError
from streamsieve.sources import SvmlightSource
from streamsieve.sources import svmlight as module
from tests.sources.kinds import make, numbers


def source_of(text, folder, name="f.svm", **options):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return SvmlightSource(path, **options)


def whole(source, size=2):
    return np.vstack([b.X.toarray() for b in source.rows(size)])


def test_indices_begin_at_one_unless_zero_occurs_anywhere(tmp_path):
    one = source_of("1 1:5\n0 2:6\n", tmp_path, "one.svm")
    np.testing.assert_array_equal(whole(one), [[5, 0], [0, 6]])
    zero = source_of("1 1:5\n0 2:6\n1 0:7\n", tmp_path, "zero.svm")
    np.testing.assert_array_equal(whole(zero), [[0, 5, 0], [0, 0, 6], [7, 0, 0]])
    both = SvmlightSource([tmp_path / "one.svm", tmp_path / "zero.svm"])
    assert whole(both).shape == (5, 3)
    given = source_of("1 1:5\n0 2:6\n", tmp_path, zero_based=True)
    np.testing.assert_array_equal(whole(given), [[0, 5, 0], [0, 0, 6]])


def test_comments_blank_lines_query_ids_and_windows_line_ends(tmp_path):
    text = (
        b"# by hand: 99:1\r\n+1 qid:3 1:0.5 2:1 # note: 77:1\r\n\r\n   \n"
        b"-1\t1:2\n  # more\n0 qid:4\n2.5 # 5:5"
    )
    source = source_of(text, tmp_path)
    expected = [[0.5, 1], [2, 0], [0, 0], [0, 0]]
    for size in (1, 2, 3, 100):
        np.testing.assert_array_equal(whole(source, size), expected)
        assert np.concatenate([b.y for b in source.rows(size)]).tolist() == [1, -1, 0, 2.5]
    assert (source.n_rows, source.n_columns) == (4, 2)
    assert [b.position["line"] for b in source.rows(1)] == [2, 5, 7, 8]
    for batch in source.rows(1):
        rest = list(source.rows(9, start=batch.position))
        assert sum(b.X.shape[0] for b in rest) == 4 - batch.position["row"]


def test_given_extent_needs_no_scan(tmp_path, monkeypatch):
    source = source_of("1 1:5\n0 2:6\n", tmp_path, n_features=4, zero_based=False)
    monkeypatch.setattr(module, "_scan", None)
    np.testing.assert_array_equal(whole(source), [[5, 0, 0, 0], [0, 6, 0, 0]])
    assert (source.n_rows, source.n_columns) == (None, 4)


def test_given_width_is_kept(tmp_path):
    source = source_of("1 1:5\n0 2:6\n", tmp_path, n_features=5)
    assert whole(source).shape == (2, 5)
    assert [b.X.shape for b in source.columns(4)] == [(2, 4), (2, 1)]
    narrow = source_of("1 1:5\n0 2:6\n", tmp_path, n_features=1)
    with pytest.raises(
        SourceError, match=r"n_features is 1, but the highest index .* is 2: give n_features=2"
    ):
        whole(narrow)
    unscanned = source_of("1 1:5\n0 2:6\n", tmp_path, n_features=1, zero_based=False)
    with pytest.raises(SourceError, match=r"f.svm, line 2: n_features was set to 1"):
        whole(unscanned)


def test_columns_are_converted_slab_by_slab(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "SLAB_BYTES", 200)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "scratch"))
    (tmp_path / "scratch").mkdir()
    source = make("svmlight, three files", tmp_path)
    X, y = numbers()
    blocks = list(source.columns(3))
    np.testing.assert_array_equal(np.hstack([b.X.toarray() for b in blocks]), X)
    assert all(b.X.has_canonical_format for b in blocks)
    np.testing.assert_array_equal(source.y, y)
    (folder,) = (tmp_path / "scratch").iterdir()
    assert {file.name for file in folder.iterdir()} == {"indices", "values"}
    again = pickle.loads(pickle.dumps(source))  # noqa: S301
    np.testing.assert_array_equal(next(again.columns()).X.toarray(), X)
    del source, again
    assert not folder.exists()
    np.testing.assert_array_equal(blocks[0].X.toarray(), X[:, :3])  # a block outlives its source


def test_rows_without_values_have_columns_all_the_same(tmp_path):
    source = source_of("1\n0\n", tmp_path)
    (block,) = source.columns()
    assert block.X.shape == (2, 1)
    assert block.X.nnz == 0


def test_a_full_disk_is_named(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    source = source_of("1 1:5\n", tmp_path)
    monkeypatch.setattr("os.posix_fallocate", full, raising=False)
    with pytest.raises(SourceError, match=r"temporary files .*No space left.*TMPDIR"):
        list(source.columns())


BAD = {
    "an index that is none": ("a:1", "a:1"),
    "a value that is none": ("1:x", "1:x"),
    "a label that is none": ("maybe", "maybe 1:1"),
    "descending indices": ("sorted", "1 3:1 2:1"),
    "an index twice": ("sorted", "1 3:1 3:1"),
    "no colon": ("7", "1 1:1 7"),
    "a negative index": ("index -2 is outside", "1 -2:1"),
    "an index beyond int32": ("index 4000000000 is outside 0 to", "1 4000000000:1"),
    "two labels": ("1,2", "1,2 1:1"),
    "three parts": ("1:2:3", "1 1:2:3"),
    "binary": (r"line 3", "\x00\x01\x02:\x03"),
}


@pytest.mark.parametrize("what", BAD)
def test_a_bad_line_is_named_by_file_and_number(what, tmp_path):
    message, line = BAD[what]
    source = source_of(f"1 1:1\n# comment\n{line}\n0 1:2\n", tmp_path)
    for size in (1, 100):
        with pytest.raises(SourceError, match=r"f.svm, line 3: .*correct or remove this line") as caught:
            list(source.rows(size))
        assert message in str(caught.value)
        assert "\n" not in str(caught.value)
    with pytest.raises(SourceError, match=r"f.svm, line 3"):
        list(source.columns())
    with pytest.raises(SourceError, match=r"f.svm, line 3"):
        _ = source.y


def test_a_bad_line_keeps_its_number_after_resuming(tmp_path):
    source = source_of("1 1:1\n1 1:1\n\n1 1:x\n", tmp_path)
    first = next(source.rows(1))
    with pytest.raises(SourceError, match="line 4"):
        list(source.rows(5, start=first.position))


def test_only_comments_is_an_error(tmp_path):
    for use in (lambda s: list(s.rows()), lambda s: list(s.columns()), lambda s: s.y):
        with pytest.raises(SourceError, match=r"f.svm holds no rows"):
            use(source_of("# nothing\n\n", tmp_path))


def test_a_file_that_vanishes_is_named(tmp_path):
    source = source_of("1 1:1\n", tmp_path)
    (tmp_path / "f.svm").unlink()
    with pytest.raises(SourceError, match=r"f.svm cannot be read: No such file"):
        list(source.rows())


def test_bad_parameters_are_named(tmp_path):
    with pytest.raises(ParameterError, match="n_features must be a whole number at least 1"):
        source_of("1 1:1\n", tmp_path, n_features=0)
    with pytest.raises(ParameterError, match="zero_based must be True, False or 'auto'; got 'yes'"):
        source_of("1 1:1\n", tmp_path, zero_based="yes")
