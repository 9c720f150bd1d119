"""Tables in files: types, missing values, several files, and what is refused."""

import datetime as dt
import decimal
import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from streamsieve.exceptions import SourceError
from streamsieve.sources import ArrowSource
from tests.sources.kinds import FILES, make, numbers, write_csv, write_ipc, write_parquet

COLUMNAR = ["parquet", "ipc", "feather", "stream"]


def written(kind, data, folder, name="data"):
    write, suffix = FILES[kind]
    path = folder / f"{name}{suffix}"
    write(data, path)
    return path


def whole(source):
    return np.vstack([b.X for b in source.rows(2)])


@pytest.mark.parametrize("kind", COLUMNAR)
def test_all_numbers_become_float64_and_null_becomes_nan(kind, tmp_path):
    data = pa.table(
        {
            "int": pa.array([1, None, 2**60], pa.int64()),
            "small": pa.array([1, 2, 3], pa.uint8()),
            "half": pa.array(np.array([1, 2, 3], np.float16)),
            "single": pa.array([0.5, None, 1.5], pa.float32()),
            "bool": [True, None, False],
            "money": pa.array([decimal.Decimal("1.25"), None, decimal.Decimal("3.5")]),
            "nothing": pa.nulls(3),
            "coded": pa.array([7, None, 7]).dictionary_encode(),
            "a.b": [1.0, 2.0, 3.0],
            "a": [4.0, 5.0, 6.0],
        }
    )
    source = ArrowSource(written(kind, data, tmp_path))
    nan = np.nan
    expected = np.array(
        [
            [1, 1, 1, 0.5, 1, 1.25, nan, 7, 1, 4],
            [nan, 2, 2, nan, nan, nan, nan, nan, 2, 5],
            [2.0**60, 3, 3, 1.5, 0, 3.5, nan, 7, 3, 6],
        ]
    )
    np.testing.assert_array_equal(whole(source), expected)
    np.testing.assert_array_equal(np.hstack([b.X for b in source.columns(1)]), expected)
    np.testing.assert_array_equal(next(source.columns()).X, expected)
    assert source.y is None
    assert next(source.rows()).y is None


@pytest.mark.parametrize("kind", FILES)
def test_text_labels_and_missing_values_of_every_format(kind, tmp_path):
    data = pa.table({"a": [1.0, None, 3.0], "y": ["no", "yes", "maybe"]})
    source = ArrowSource(written(kind, data, tmp_path), target="y")
    assert [b.y.tolist() for b in source.rows(2)] == [["no", "yes"], ["maybe"]]
    assert source.y.tolist() == ["no", "yes", "maybe"]
    assert source.y.dtype.kind == "U"
    np.testing.assert_array_equal(next(source.columns()).X, [[1], [np.nan], [3]])


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (pa.array([1, 2, 2], pa.int32()), np.int32),
        (pa.array([1.5, 2, 2], pa.float32()), np.float32),
        (pa.array([True, False, True]), np.bool_),
        (pa.array([decimal.Decimal(1)] * 3), np.float64),
        (pa.array(["a", "b", "a"]).dictionary_encode(), "<U1"),
        (pa.array([3, 4, 3]).dictionary_encode(), np.int64),
        (pa.array(["a", "b", "a"], pa.large_string()), "<U1"),
        (pa.array(["a", "b", "a"], pa.string_view()), "<U1"),
    ],
)
def test_the_target_keeps_its_type(target, expected, tmp_path):
    path = written("ipc", pa.table({"a": [1, 2, 3], "y": target}), tmp_path)
    source = ArrowSource(path, target="y")
    assert source.y.dtype == expected
    assert next(source.rows()).y.dtype == expected
    assert source.y.tolist() == target.to_pylist()


def test_targets_of_several_files_get_one_type(tmp_path):
    one = written("parquet", pa.table({"a": [1], "y": [1]}), tmp_path, "one")
    two = written("ipc", pa.table({"y": [0.5], "a": [1]}), tmp_path, "two")
    three = written("csv", pa.table({"y": [2], "a": [3]}), tmp_path, "three")
    source = ArrowSource([one, two, three], target="y")
    assert [b.y.dtype for b in source.rows(1)] == [np.float64] * 3
    assert source.y.tolist() == [1, 0.5, 2]
    np.testing.assert_array_equal(next(source.columns()).X, [[1], [1], [3]])
    small = written("parquet", pa.table({"a": [1], "y": pa.array([1], pa.int8())}), tmp_path, "small")
    assert ArrowSource([one, small], target="y").y.dtype == np.int64


def test_columns_may_stand_in_another_order(tmp_path):
    files = [
        ("parquet", {"a": [1.0], "b": [2.0]}), ("parquet", {"b": [4.0], "a": [3.0]}),
        ("stream", {"b": [6.0], "a": [5.0]}), ("csv", {"b": [8.0], "a": [7.0]}),
    ]  # fmt: skip
    paths = [written(kind, pa.table(data), tmp_path, str(k)) for k, (kind, data) in enumerate(files)]
    expected = [[1, 2], [3, 4], [5, 6], [7, 8]]
    np.testing.assert_array_equal(whole(ArrowSource(paths)), expected)
    np.testing.assert_array_equal(next(ArrowSource(paths).columns()).X, expected)
    np.testing.assert_array_equal(next(ArrowSource(paths[:3]).columns()).X, expected[:3])


def test_files_without_rows_do_not_disturb_a_stream(tmp_path):
    full = pa.table({"a": [1.0, 2.0]})
    paths = [written("parquet", full[:k], tmp_path, f"{i}") for i, k in enumerate([0, 2, 0, 1])]
    np.testing.assert_array_equal(whole(ArrowSource(paths)), [[1], [2], [1]])
    np.testing.assert_array_equal(next(ArrowSource(paths).columns()).X, [[1], [2], [1]])


@pytest.mark.parametrize("kind", FILES)
def test_no_rows_at_all_is_an_error(kind, tmp_path):
    path = written(kind, pa.table({"a": pa.array([], pa.float64()), "y": pa.array([], pa.int64())}), tmp_path)
    for use in (
        lambda s: list(s.rows()),
        lambda s: list(s.columns()),
        lambda s: s.y,
        lambda s: s.column("a"),
    ):
        with pytest.raises(SourceError, match=f"{path.name} holds no rows"):
            use(ArrowSource(path, target="y"))
    with pytest.raises(SourceError, match="holds no rows"):
        list(ArrowSource(path).columns())


def test_the_row_numbers_that_pandas_writes_are_no_features(tmp_path):
    frame = pd.DataFrame({"a": [1.0, 2.0], "y": [0, 1]}, index=[5, 9])
    frame.to_parquet(tmp_path / "f.parquet")
    frame.to_csv(tmp_path / "f.csv")
    for name in ("f.parquet", "f.csv"):
        assert ArrowSource(tmp_path / name, target="y").names == ["a"]


TEXT = {
    "text": pa.array(["u", "v"]),
    "coded text": pa.array(["u", "v"]).dictionary_encode(),
    "dates": pa.array([dt.date(2020, 1, 1)] * 2),
    "times": pa.array([dt.datetime(2020, 1, 1)] * 2),  # noqa: DTZ001
    "bytes": pa.array([b"u", b"v"]),
    "lists": pa.array([[1], [2]]),
}


@pytest.mark.parametrize("what", TEXT)
def test_what_is_not_numbers_is_refused_or_skipped(what, tmp_path):
    path = written("parquet", pa.table({"age": [1, 2], "city": TEXT[what], "y": [0, 1]}), tmp_path)
    ways = r"encode it .*skip_text=True"
    if what in ("dates", "times"):
        ways = r"convert it with dates='number', .*dates='drop'"
    with pytest.raises(SourceError, match=rf"column 'city' holds .*{ways}"):
        ArrowSource(path, target="y")
    source = ArrowSource(path, target="y", skip_text=True)
    assert source.names == ["age"]
    np.testing.assert_array_equal(whole(source), [[1], [2]])
    np.testing.assert_array_equal(next(source.columns()).X, [[1], [2]])


def test_text_in_csv_is_refused_or_skipped(tmp_path):
    path = tmp_path / "f.csv"
    path.write_text('age,city,y\n1,"Rome,\nItaly",0\n2,Oslo,1\n')
    with pytest.raises(SourceError, match="column 'city' holds text, not numbers"):
        ArrowSource(path, target="y")
    source = ArrowSource(path, target="y", skip_text=True)
    np.testing.assert_array_equal(whole(source), [[1], [2]])
    np.testing.assert_array_equal(next(source.columns()).X, [[1], [2]])


def test_many_text_columns_are_counted(tmp_path):
    path = written("parquet", pa.table({f"t{k}": ["x"] for k in range(9)}), tmp_path)
    with pytest.raises(SourceError, match="columns 't0', 't1', .* 't7' and 1 more hold text"):
        ArrowSource(path)
    with pytest.raises(SourceError, match="no column of numbers besides the target"):
        ArrowSource(path, target="t0", skip_text=True)


def test_whole_numbers_that_turn_into_fractions_late_are_no_problem(tmp_path):
    path = tmp_path / "late.csv"
    path.write_text("a,empty,y\n" + "1,,0\n" * 300_000 + "0.5,2.5,1.5\n")
    source = ArrowSource(path, target="y")
    *_, last = source.rows(100_000)
    assert (last.X.tolist(), last.y.tolist()) == ([[0.5, 2.5]], [1.5])
    assert np.isnan(next(source.rows(2)).X[0, 1])


def test_numbers_that_turn_into_text_name_the_file_and_the_place(tmp_path):
    path = tmp_path / "turns.csv"
    path.write_text("a,y\n" + "1.25,0\n" * 300_000 + "oops,1\n")
    source = ArrowSource(path, target="y")
    with pytest.raises(SourceError, match=r"turns.csv cannot be read after row [\d,]+: .*oops"):
        list(source.rows(100_000))
    with pytest.raises(SourceError, match=r"turns.csv cannot be read .*oops"):
        list(source.columns())


def test_very_wide_csv_rows_fit(tmp_path):
    path = tmp_path / "wide.csv"
    p = 2_000
    value = "1." + "0" * 600
    path.write_text(",".join(f"column{j}" for j in range(p)) + "\n" + ",".join([value] * p) + "\n")
    assert path.stat().st_size > 2**20
    assert next(ArrowSource(path).rows()).X.shape == (1, p)


def test_a_converted_csv_goes_away_with_its_source(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "scratch"))
    (tmp_path / "scratch").mkdir()
    source = make("csv", tmp_path)
    list(source.rows())
    assert not list((tmp_path / "scratch").iterdir())
    list(source.columns())
    (folder,) = (tmp_path / "scratch").iterdir()
    again = pickle.loads(pickle.dumps(source))  # noqa: S301
    np.testing.assert_array_equal(next(again.columns()).X, numbers()[0])
    del source, again
    assert not folder.exists()


def test_an_unwritable_temporary_folder_is_named(tmp_path, monkeypatch):
    source = make("csv", tmp_path)
    monkeypatch.setattr("streamsieve.sources.table_source.scratch_folder", lambda _: tmp_path / "gone")
    with pytest.raises(SourceError, match=r"temporary files in .*gone could not be written .*TMPDIR"):
        list(source.columns())


def test_a_missing_target_gets_a_suggestion(tmp_path):
    source = make("parquet", tmp_path)
    assert source.names[0] == "c0"
    with pytest.raises(SourceError, match="no column 'lable' to serve as target; did you mean 'label'"):
        ArrowSource(tmp_path / "part0.parquet", target="lable")


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("labels", [["a", None, "b"], [1, None, 2], [0.5, None, 1.5]])
def test_a_target_with_missing_values_is_refused(kind, labels, tmp_path):
    path = written(kind, pa.table({"a": [1, 2, 3], "y": labels}), tmp_path)
    source = ArrowSource(path, target="y")
    with pytest.raises(SourceError, match=f"{path.name}: the target column 'y' has missing values"):
        list(source.rows())
    with pytest.raises(SourceError, match="the target column 'y' has missing values"):
        _ = source.y


def test_a_target_that_is_neither_numbers_nor_text_is_refused(tmp_path):
    path = written("parquet", pa.table({"a": [1, 2], "y": TEXT["dates"]}), tmp_path)
    with pytest.raises(SourceError, match="target column 'y' holds date32"):
        ArrowSource(path, target="y")


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"a": [1.0], "c": [1.0]}, "two.parquet lacks the column 'b' of .*one.parquet"),
        ({"a": [1.0], "b": [1.0], "extra": [1]}, "two.parquet has a column 'extra', which .*one.parquet has"),
        ({"a": [1.0], "b": ["x"]}, "two.parquet holds text in column 'b', but .*one.parquet holds numbers"),
    ],
)
def test_files_that_differ_are_named(other, message, tmp_path):
    one = written("parquet", pa.table({"a": [1.0], "b": [1.0]}), tmp_path, "one")
    two = written("parquet", pa.table(other), tmp_path, "two")
    with pytest.raises(SourceError, match=message):
        ArrowSource([one, two])


def test_two_columns_of_one_name_are_refused(tmp_path):
    (tmp_path / "f.csv").write_text("a,b,a\n1,2,3\n")
    with pytest.raises(SourceError, match=r"f.csv has two columns 'a'"):
        ArrowSource(tmp_path / "f.csv")
    twice = pa.table([[1.0], [2.0]], names=["a", "a"])
    for kind, write in (("arrow", write_ipc), ("parquet", write_parquet)):
        path = tmp_path / f"f.{kind}"
        write(twice, path)
        with pytest.raises(SourceError, match="has two columns 'a'"):
            ArrowSource(path)


def test_a_file_that_shrinks_while_it_is_read_is_noticed(tmp_path):
    source = make("ipc", tmp_path)
    stream = source.columns(1)
    next(stream)
    write_ipc(pa.table({**{name: [1.0] for name in source.names}, "label": [1]}), tmp_path / "part0.arrow")
    with pytest.raises(SourceError, match=r"has 1 rows .* but 23 were counted"):
        next(stream)


def test_rows_are_skipped_by_row_group(tmp_path, monkeypatch):
    source = make("parquet", tmp_path)
    asked = []
    original = pq.ParquetFile.iter_batches

    def spy(self, *args, **kwargs):
        asked.append(kwargs["row_groups"])
        return original(self, *args, **kwargs)

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", spy)
    list(source.rows(4, start={"file": 0, "row_in_file": 13, "row": 13}))
    assert asked == [[3, 4, 5]]


def test_svmlight_text_is_not_a_table(tmp_path):
    path = tmp_path / "f.svm"
    path.write_text("1 1:2\n")
    with pytest.raises(SourceError, match=r"f.svm is svmlight text, not a table: use SvmlightSource"):
        ArrowSource(path)


def test_csv_without_a_target_streams_columns(tmp_path):
    write_csv(pa.table({"a": [1, 2], "b": [3, 4]}), tmp_path / "f.csv")
    np.testing.assert_array_equal(next(ArrowSource(tmp_path / "f.csv").columns()).X, [[1, 3], [2, 4]])


def test_pyarrow_is_asked_for_by_name(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(SourceError, match=r"needs pyarrow: pip install 'streamsieve\[cli\]'"):
        ArrowSource(tmp_path / "f.parquet")
