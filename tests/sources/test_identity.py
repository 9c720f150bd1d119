"""A checkpoint knows its stream again: grown at its end is fine, anything else is refused by name."""

import json
import os
import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

from streamsieve.exceptions import SourceError
from streamsieve.sources import ArraySource, ArrowSource, DriftingStream, SvmlightSource
from streamsieve.sources.tables import fingerprint
from tests.sources.kinds import CUTS, FILES, KINDS, NAMES, N, in_files, make, numbers, table


def saved(source):
    return json.loads(json.dumps(source.identity()))


def refuses(source, known, message):
    with pytest.raises(SourceError, match=message) as caught:
        source.check_identity(known)
    assert "start again with another checkpoint" in str(caught.value)


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_stream_is_known_again(kind, tmp_path):
    known = saved(make(kind, tmp_path))
    again = make(kind, tmp_path)
    again.check_identity(known)
    assert saved(again) == known
    assert len(json.dumps(known)) < 1500


def test_options_of_reading_are_known_again(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a remark\na;y\n?;1\n2;0\n3;1\n")
    known = saved(ArrowSource(path, "y", sep=";", na="?", skip_rows=1))
    ArrowSource(path, "y", sep=";", na="?", skip_rows=1).check_identity(known)
    other = ArrowSource(path, "y", sep=";", na=("?", "-"), skip_rows=1)
    refuses(other, known, "the way of reading was .* and is .*'-'")


def test_a_generated_stream_is_known_by_its_parameters():
    known = saved(DriftingStream(100, n_features=9, n_relevant=2, seed=3))
    DriftingStream(100, n_features=9, n_relevant=2, seed=3).check_identity(known)
    DriftingStream(150, n_features=9, n_relevant=2, seed=3).check_identity(known)
    refuses(DriftingStream(90, n_features=9, n_relevant=2, seed=3), known, "it had 100 rows and has 90 now")
    refuses(DriftingStream(100, n_features=9, n_relevant=2, seed=4), known, "seed was 3 and is 4 now")
    refuses(DriftingStream(100, n_features=9, n_relevant=3, seed=3), known, "n_relevant was 2 and is 3 now")


def test_another_kind_of_source_is_refused(tmp_path):
    known = saved(make("csv", tmp_path))
    refuses(make("array", tmp_path), known, "it came from ArrowSource, but this is ArraySource")


@pytest.mark.parametrize(
    "known",
    [{}, {"kind": "ArrowSource"}, {"kind": "ArrowSource", "names": 3}, None, [],
     {"kind": "ArrowSource", "names": None, "target": "label", "labels": "numbers", "files": 7}],
)  # fmt: skip
def test_an_identity_that_makes_no_sense_is_refused(known, tmp_path):
    with pytest.raises(SourceError):
        make("csv", tmp_path).check_identity(known)


def test_hostile_numbers_are_refused(tmp_path):
    source = make("array", tmp_path)
    for rows in (-3, 2.5, "7", None, [1]):
        with pytest.raises(SourceError):
            source.check_identity({**saved(source), "rows": rows})
    source = make("csv", tmp_path)
    for n_bytes in (-3, 2.5, "7", None, 10**30):
        known = saved(source)
        known["files"][0]["bytes"] = n_bytes
        with pytest.raises(SourceError):
            source.check_identity(known)


def path_of(folder, kind, number=0):
    suffix = ".svm" if kind == "svmlight" else FILES[kind][1]
    return folder / f"part{number}{suffix}"


def opened(folder, kind, numbers_=(0, 1, 2)):
    paths = [path_of(folder, kind, number) for number in numbers_]
    return SvmlightSource(paths) if kind == "svmlight" else ArrowSource(paths, target="label")


@pytest.fixture(params=[*FILES, "svmlight"])
def three(request, tmp_path):
    """A stream of three files: its kind, folder, and identity."""
    kind = request.param
    source = make(f"{kind}, three files", tmp_path)
    return kind, tmp_path, saved(source)


def test_more_files_may_come_at_the_end(three):
    kind, folder, known = three
    path_of(folder, kind, 3).write_bytes(path_of(folder, kind, 1).read_bytes())
    opened(folder, kind, (0, 1, 2, 3)).check_identity(known)


def test_missing_and_reordered_files_are_refused(three):
    kind, folder, known = three
    names = [path_of(folder, kind, number).name for number in range(3)]
    refuses(opened(folder, kind, (0, 1)), known, f"the file {names[2]} is missing")
    order = rf"in another order \(number 2 was {names[1]} and is {names[2]} now\)"
    refuses(opened(folder, kind, (0, 2, 1)), known, order)
    path_of(folder, kind, 1).rename(path_of(folder, kind, 7))
    refuses(opened(folder, kind, (0, 7, 2)), known, f"file number 2 was {names[1]} and is .*7.* now")
    refuses(opened(folder, kind, (0, 2)), known, f"file number 2 was {names[1]} and is {names[2]} now")


def test_a_moved_folder_and_a_new_date_change_nothing(three):
    kind, folder, known = three
    moved = folder / "elsewhere"
    moved.mkdir()
    for number in range(3):
        path_of(folder, kind, number).rename(path_of(moved, kind, number))
        os.utime(path_of(moved, kind, number), (1, 1))
    opened(moved, kind).check_identity(known)


def rewritten(folder, kind, number, *parts):
    """Write a file of the stream again with these rows of the table, part after part."""
    X, y = numbers()
    rows, path = np.concatenate(parts), path_of(folder, kind, number)
    if kind == "svmlight":
        dump_svmlight_file(sp.csr_array(X[rows]), y[rows], str(path), zero_based=False)
    elif FILES[kind][1] in (".arrow", ".feather", ".ipc"):
        schema = table(X, y).schema
        options = pa.ipc.IpcWriteOptions(compression="lz4" if kind == "feather" else None)
        new = pa.ipc.new_stream if kind == "stream" else pa.ipc.new_file
        with new(path, schema, options=options) as writer:
            for part in parts:
                writer.write_table(table(X[part], y[part]))
    else:
        FILES[kind][0](table(X[rows], y[rows]), path)


def test_a_shrunk_file_is_refused(three):
    kind, folder, known = three
    rewritten(folder, kind, 2, np.arange(CUTS[2], N - 4))
    refuses(opened(folder, kind), known, "is shorter than it was|content of .* has changed")


def test_the_last_file_may_grow_by_rows_and_no_other(three):
    kind, folder, _ = three
    _, y = numbers()
    old, new = np.arange(CUTS[2], CUTS[2] + 4), np.arange(3)
    rewritten(folder, kind, 2, old)
    known = saved(opened(folder, kind))
    before = list(opened(folder, kind).rows(4))
    rewritten(folder, kind, 2, old, new)
    grown = opened(folder, kind)
    grown.check_identity(known)
    rest = list(grown.rows(100, start=before[-1].position))
    assert [b.X.shape[0] for b in rest] == [3]
    np.testing.assert_array_equal(rest[0].y, y[:3])

    rewritten(folder, kind, 1, np.arange(CUTS[1], CUTS[1] + 4))
    known = saved(opened(folder, kind))
    rewritten(folder, kind, 1, np.arange(CUTS[1], CUTS[1] + 4), new)
    refuses(opened(folder, kind), known, r"part1.* has grown, but other files come after it \(only the last")


def test_a_changed_value_of_the_same_length_is_refused(three):
    kind, folder, known = three
    path = path_of(folder, kind, 1)
    whole = bytearray(path.read_bytes())
    end = known["files"][1]["bytes"]
    changed = 0
    for place in np.linspace(end // 2, end - 1, 12).astype(int):
        flipped = bytearray(whole)
        flipped[place] ^= 1
        path.write_bytes(flipped)
        try:
            source = opened(folder, kind)
            source.check_identity(known)
        except SourceError:
            changed += 1
    assert changed == 12


def test_an_emptied_folder_is_refused_when_the_source_is_still_open(three):
    kind, folder, known = three
    source = opened(folder, kind)
    source.identity()
    path_of(folder, kind, 1).unlink()
    with pytest.raises(SourceError, match=r"part1.* cannot be read: No such file"):
        source.check_identity(known)


def test_long_files_are_sampled_at_both_ends_and_in_between(tmp_path, monkeypatch):
    monkeypatch.setattr(fingerprint, "END_BYTES", 8)
    monkeypatch.setattr(fingerprint, "PIECE_BYTES", 4)
    path = tmp_path / "f"
    path.write_bytes(bytes(1000))
    first = fingerprint.sample(path, 1000)
    seen = 0
    for place in range(1000):
        flipped = bytearray(1000)
        flipped[place] = 1
        path.write_bytes(flipped)
        different = fingerprint.sample(path, 1000) != first
        seen += different
        assert different or 8 <= place < 992
    assert seen == 8 + 8 + 16 * 4
    path.write_bytes(bytes(1001))
    assert fingerprint.sample(path, 1000) == first != fingerprint.sample(path, 1001)


def test_a_csv_line_that_went_on_is_refused(tmp_path):
    path = tmp_path / "f.csv"
    path.write_text("a,y\n1,0\n2,1")
    known = saved(ArrowSource(path, target="y"))
    for more, fine in (("", True), ("\n", True), ("\r\n3,0\n", True), ("\n3,0", True), ("7\n", False)):
        path.write_text("a,y\n1,0\n2,1" + more, newline="")
        source = ArrowSource(path, target="y")
        if fine:
            source.check_identity(known)
        else:
            refuses(source, known, "the last line of .*f.csv was not complete")


def test_an_svmlight_line_that_went_on_is_refused_where_it_was_read(tmp_path):
    path = tmp_path / "f.svm"
    path.write_text("1 1:5\n0 2:6")
    first, last = SvmlightSource(path).rows(1)
    path.write_text("1 1:5\n0 2:67\n1 1:1\n")
    source = SvmlightSource(path)
    assert sum(b.X.shape[0] for b in source.rows(1, start=first.position)) == 2
    with pytest.raises(SourceError, match=r"f.svm, line 2: it was read before it was complete"):
        source.rows(1, start=last.position)


def frame_source(names, target="label", text=False):
    X, y = numbers()
    frame = {name: X[:, j % 7] for j, name in enumerate(names)}
    return {**frame, target: np.where(y, "yes", "no") if text else y}


def csv_source(folder, names, **options):
    pd.DataFrame(frame_source(names, **options)).to_csv(folder / "f.csv", index=False)
    return ArrowSource(folder / "f.csv", target=options.get("target", "label"))


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["a", "b"], "it lacks the column 'c'"),
        (["a", "b", "c", "d"], "it has a new column 'd'"),
        (["a", "b", "z"], "it lacks the column 'c' and has a new column 'z'"),
        (["b", "a", "c"], "column 1 was 'a' and is 'b' now"),
    ],
)
def test_other_columns_are_named(names, message, tmp_path):
    known = saved(csv_source(tmp_path, ["a", "b", "c"]))
    refuses(csv_source(tmp_path, names), known, message)


def test_of_many_columns_the_first_few_are_named(tmp_path):
    names = [f"c{j}" for j in range(50)]
    known = saved(csv_source(tmp_path, names))
    assert "c20" not in json.dumps(known)
    refuses(csv_source(tmp_path, ["new", *names[1:]]), known, "column 1 was 'c0' and is 'new' now")
    refuses(csv_source(tmp_path, names[1:]), known, "column 1 was 'c0' and is 'c1' now")
    refuses(csv_source(tmp_path, [*names[:-1], "new"]), known, "the columns after the first 20 differ")
    refuses(csv_source(tmp_path, names[:-1]), known, "the number of columns was 50 and is 49 now")
    refuses(csv_source(tmp_path, names[:5]), known, "the number of columns was 50 and is 5 now")


def test_another_target_is_refused(tmp_path):
    known = saved(csv_source(tmp_path, ["a", "b"]))
    path = tmp_path / "f.csv"
    refuses(ArrowSource(path, target=None), known, "it has a new column 'label'")
    for options, message in (
        ({"target": "other"}, "the target was 'label' and is 'other' now"),
        ({"text": True}, "the target's type was 'numbers' and is 'text' now"),
    ):
        refuses(csv_source(tmp_path, ["a", "b"], **options), known, message)


def test_svmlight_that_becomes_wider_is_refused(tmp_path):
    path = tmp_path / "f.svm"
    path.write_text("1 1:5\n0 2:6\n")
    known = saved(SvmlightSource(path))
    wide = saved(SvmlightSource(path, n_features=9))
    path.write_text("1 1:5\n0 2:6\n1 9:1\n")
    refuses(SvmlightSource(path), known, "it had 2 columns and has 9 now .give n_features from the beginning")
    SvmlightSource(path, n_features=9).check_identity(wide)
    path.write_text("1 1:5\n0 2:6\n1 0:1\n")
    refuses(SvmlightSource(path), known, "zero_based was False and is True now")


@pytest.fixture(params=["array", "csr", "pandas", "arrow"])
def in_memory(request):
    """A function that makes one kind of source from a matrix and labels."""
    makers = {
        "array": lambda X, y, names=NAMES: ArraySource(X, y, names),
        "csr": lambda X, y, names=NAMES: ArraySource(sp.csr_array(X), y, names),
        "pandas": lambda X, y, names=NAMES: ArraySource(pd.DataFrame(X, columns=names), y),
        "arrow": lambda X, y, names=NAMES: ArraySource(pa.table(list(X.T), names=names), y),
    }
    return makers[request.param]


def test_data_in_memory_may_grow_and_not_change(in_memory):
    X, y = numbers()
    known = saved(in_memory(X, y))
    in_memory(np.vstack([X, X]), np.r_[y, 1 - y]).check_identity(known)
    refuses(in_memory(X[:-1], y[:-1]), known, f"it had {N} rows and has {N - 1} now")
    refuses(in_memory(X, 1 - y), known, "values of rows that were there before have changed")
    other = X.copy()
    other[N // 2, 3] += 1
    refuses(in_memory(other, y), known, "values of rows that were there before have changed")
    refuses(in_memory(X[::-1], y), known, "values of rows that were there before have changed")
    refuses(in_memory(X, y.astype(str)), known, "the target was 'numbers' and is 'text' now")
    refuses(in_memory(X, None), known, "the target was 'numbers' and is absent now")
    refuses(in_memory(X, y, [*NAMES[:-1], "z"]), known, "lacks the column 'c6' and has a new column 'z'")


def test_names_types_and_widths_of_arrays_count():
    X, y = numbers()
    known = saved(ArraySource(X, y))
    refuses(ArraySource(X, y, NAMES), known, "its columns had no names and have names now")
    refuses(ArraySource(X, y), saved(ArraySource(X, y, NAMES)), "its columns had names and have none now")
    refuses(ArraySource(X.astype(np.float32), y), known, "values was 'float64' and is 'float32' now")
    refuses(ArraySource(sp.csr_array(X), y), known, "values was 'float64' and is 'sparse float64' now")
    refuses(ArraySource(X[:, 1:], y), known, "the number of columns was 7 and is 6 now")


def test_the_order_in_which_a_sparse_row_is_stored_does_not_matter():
    X = sp.csr_array(numbers()[0])
    known = saved(ArraySource(X))
    cells, order = sp.coo_array(X), np.random.default_rng(0).permutation(X.nnz)
    places = tuple(each[order] for each in cells.coords)
    ArraySource(sp.coo_array((cells.data[order], places), shape=X.shape)).check_identity(known)


def test_text_labels_may_become_longer():
    X = np.arange(6.0).reshape(3, 2)
    known = saved(ArraySource(X[:2], ["no", "yes"]))
    ArraySource(X, ["no", "yes", "perhaps"]).check_identity(known)
    refuses(ArraySource(X, ["no", "yet", "perhaps"]), known, "have changed")


def test_knowing_a_large_array_again_looks_at_little_of_it():
    source = ArraySource(np.zeros((100_000, 50)), np.zeros(100_000))
    cut, cells = source._parts("csr"), []

    def counted(rows, columns):
        found = cut(rows, columns)
        cells.append(found.size)
        return found

    source._parts = lambda _: counted
    source.identity()
    assert sum(cells) == 64 * 50
    assert ArraySource(np.zeros((3, 10**6)))._sampled_rows == 2


def test_files_of_one_name_are_known_by_their_content(tmp_path):
    for day in (1, 2):
        (tmp_path / str(day)).mkdir()
        in_files("csv", tmp_path / str(day), (0, 10) if day == 1 else (10, N))
    paths = [tmp_path / "1/part0.csv", tmp_path / "2/part0.csv"]
    known = saved(ArrowSource(paths, target="label"))
    ArrowSource(paths, target="label").check_identity(known)
    with pytest.raises(SourceError, match=re.compile("shorter than it was|has changed")):
        ArrowSource(paths[::-1], target="label").check_identity(known)
