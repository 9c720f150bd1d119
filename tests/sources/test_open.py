"""One door for all data."""

from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

import streamsieve as ss
from streamsieve.exceptions import ParameterError, SourceError
from streamsieve.sources import ArraySource, ArrowSource, DriftingStream, Features, SvmlightSource
from tests.sources.kinds import CUTS, FILES, in_files, in_svmlight, numbers


@pytest.mark.parametrize("kind", FILES)
def test_tables_open_by_suffix_pattern_and_list(kind, tmp_path):
    in_files(kind, tmp_path, CUTS)
    suffix = FILES[kind][1]
    X, y = numbers()
    paths = [tmp_path / f"part{k}{suffix}" for k in range(3)]
    for data in (str(tmp_path / f"*{suffix}"), paths, [str(p) for p in paths], tuple(paths)):
        source = ss.open(data, target="label")
        assert isinstance(source, ArrowSource)
        np.testing.assert_array_equal(np.vstack([b.X for b in source.rows(4)]), X)
        np.testing.assert_array_equal(source.y, y)
    assert next(ss.open(str(paths[0]), target="label").rows()).X.shape[0] == CUTS[1]


def test_whatever_can_be_called_makes_chunks_of_rows():
    chunks = [pa.table({"a": [1.0, 2.0], "label": [0, 1]}), pa.table({"a": [3.0], "label": [1]})]

    def make(these=chunks):
        return iter(these)

    for data in (make, partial(make, chunks), chunks.__iter__):
        source = ss.open(data, target="label")
        assert np.vstack([batch.X for batch in source.rows(2)]).ravel().tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("suffix", [".svm", ".svmlight", ".libsvm", ".SVM"])
def test_svmlight_opens_by_suffix(suffix, tmp_path):
    in_svmlight(tmp_path, CUTS)
    for k in range(3):
        (tmp_path / f"part{k}.svm").rename(tmp_path / f"p{k}{suffix}")
    source = ss.open(tmp_path / f"p*{suffix}", n_features=9)
    assert isinstance(source, SvmlightSource)
    assert sum(b.X.shape[0] for b in source.rows()) == len(numbers()[0])
    assert source.n_columns == 9


def test_suffixes_pq_and_upper_case(tmp_path):
    source = in_files("parquet", tmp_path, CUTS)
    for name in ("a.pq", "b.PARQUET"):
        (tmp_path / "part0.parquet").rename(tmp_path / name)
        assert ss.open(tmp_path / name, target="label").names == source.names
        (tmp_path / name).rename(tmp_path / "part0.parquet")


def test_a_pattern_reads_every_file_once_where_links_form_a_circle(tmp_path):
    for name in ("a/b", ".hidden"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "rows.csv").write_text("x,y\n1,0\n2,1\n")
    for k in range(3):  # glob would follow them 40 deep, in every order
        (tmp_path / f"a/loop{k}").symlink_to(tmp_path)
    (tmp_path / "again").symlink_to(tmp_path / "a/b")
    for pattern in ("**/*.csv", "**/b/**/*.csv", "a/**", "*/**/rows.csv"):
        assert next(ss.open(str(tmp_path / pattern), target="y").rows()).X.shape == (2, 1), pattern


def test_a_file_that_is_read_once_has_the_place_of_its_first_name(tmp_path):
    for day in (1, 2):
        (tmp_path / f"Day{day}.csv").write_text(f"a\n{day}\n")
    (tmp_path / "Day3.csv").symlink_to(tmp_path / "Day1.csv")
    source = ss.open(str(tmp_path / "**/Day*.csv"))
    assert np.vstack([b.X for b in source.rows(1)]).ravel().tolist() == [1, 2]


def test_a_link_that_leads_nowhere_is_named(tmp_path):
    (tmp_path / "rows.csv").symlink_to("gone.csv")
    with pytest.raises(SourceError, match=r"rows\.csv is a link to gone\.csv, which does not exist"):
        ss.open(tmp_path / "rows.csv")


def test_a_pattern_is_read_in_natural_order(tmp_path):
    for day in (10, 2, 1):
        (tmp_path / f"Day{day}.csv").write_text(f"a\n{day}\n")
    source = ss.open(str(tmp_path / "Day*.csv"))
    assert np.vstack([b.X for b in source.rows(1)]).ravel().tolist() == [1, 2, 10]
    (tmp_path / "deep/er").mkdir(parents=True)
    (tmp_path / "deep/er/Day3.csv").write_text("a\n3\n")
    assert next(ss.open(str(tmp_path / "**/Day*.csv")).rows()).X.shape == (4, 1)


def test_a_bracket_in_a_file_name_is_meant_literally(tmp_path):
    (tmp_path / "data[1].csv").write_text("a\n7\n")
    assert next(ss.open(tmp_path / "data[1].csv").rows()).X.tolist() == [[7]]


def test_the_home_folder_may_be_abbreviated(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "f.csv").write_text("a\n7\n")
    assert next(ss.open("~/f.csv").rows()).X.tolist() == [[7]]
    assert next(ss.open("~/*.csv").rows()).X.tolist() == [[7]]


@pytest.mark.parametrize(
    "data",
    [np.eye(2), sp.eye_array(2).tocsr(), [[1.0, 0.0], [0.0, 1.0]], pd.DataFrame(np.eye(2)),
     pl.DataFrame({"a": [1, 0], "b": [0, 1]}), pa.table({"a": [1, 0], "b": [0, 1]})],
    ids=lambda data: type(data).__name__,
)  # fmt: skip
def test_objects_open_by_type(data):
    source = ss.open(data, target=[0, 1])
    assert isinstance(source, ArraySource)
    X = next(source.rows()).X
    np.testing.assert_array_equal(X.toarray() if sp.issparse(X) else X, np.eye(2))
    assert source.y.tolist() == [0, 1]


def test_a_frame_names_its_target():
    assert ss.open(pl.DataFrame({"a": [1, 0], "b": [0, 1]}), target="b").names == ["a"]
    assert ss.open(np.eye(2), names=["u", "v"]).names == ["u", "v"]


def test_a_source_is_returned_as_it_is():
    for source in (ArraySource(np.eye(2)), DriftingStream(5), Features([[1, 2]], [0, 1])):
        assert ss.open(source) is source
        with pytest.raises(SourceError, match=f"a {type(source).__name__} is open already"):
            ss.open(source, target="y")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.csv").write_text("a,y\n1,0\n")
    (tmp_path / "good.svm").write_text("1 1:1\n")
    (tmp_path / "notes.txt").write_text("1 1:1\n")
    (tmp_path / "nosuffix").write_text("1 1:1\n")
    (tmp_path / "empty.parquet").write_text("")
    (tmp_path / "sub").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        ("goood.csv", {}, "there is no file goood.csv; did you mean 'good.csv'"),
        ("nowhere/f.csv", {}, r"there is no file nowhere.f.csv, nor a folder nowhere"),
        ("s3://data/f.csv", {}, "'s3://data/f.csv' is an address, .*: give a pyarrow.dataset of it"),
        ("*.parket", {}, r"no file matches the pattern '\*.parket' \(looked from"),
        ("sub", {}, r"the folder sub holds no table: name its files, for example 'sub.\*\*.\*.parquet'"),
        ("empty.parquet", {}, r"empty.parquet is empty \(0 bytes\)"),
        (["good.csv", "empty.parquet"], {}, "empty.parquet is empty"),
        ("notes.txt", {}, r"notes.txt cannot be read as a table: no separator was found .*the suffix .svm"),
        ("nosuffix", {}, "its suffix '' is not known; .*if svmlight text, to nosuffix.svm"),
        ([], {}, "no file was given"),
        ("/dev/null", {}, "/dev/null is not a regular file"),
        (["good.csv", "good.svm"], {}, "good.svm is svmlight text, but good.csv is a table"),
        ("good.svm", {"target": "y"}, "each line begins with its label: leave out target='y'"),
        ("good.csv", {"target": [0]}, "target must be the name of a column of the files; got list"),
        (np.eye(2), {"target": "y"}, "only a dataframe has a column named 'y'"),
        (lambda: None, {}, r"got a function that returns a NoneType.*use features\(factory, y\)"),
        (lambda name: None, {}, r"takes no arguments; .*use features\(factory, y\)"),
        ((k for k in ()), {}, "the generator holds no rows"),
        ((k for k in [np.eye(2)]), {}, r"got a ndarray among chunks of rows.*use features\(factory, y\)"),
        (lambda: None, {"target": [0]}, r"got a function: .*use features\(factory, y\)"),
    ],
)  # fmt: skip
def test_what_cannot_be_opened_says_what_to_do(data, options, message, folder):
    with pytest.raises(SourceError, match=message):
        ss.open(data, **options)


def test_unknown_options_are_named(folder):
    with pytest.raises(
        ParameterError, match="ArrowSource has no option 'skip_txt'; did you mean 'skip_text'"
    ):
        ss.open("good.csv", skip_txt=True)
    with pytest.raises(
        ParameterError, match=r"SvmlightSource has no option 'skip_text'.*n_features, zero_based"
    ):
        ss.open("good.svm", skip_text=True)
    with pytest.raises(ParameterError, match=r"ArraySource has no option 'y'.*it has names"):
        ss.open(np.eye(2), y=[0, 1])


def test_svmlight_text_of_any_name_opens_as_svmlight(folder):
    assert next(SvmlightSource("notes.txt").rows()).X.shape == (1, 1)


def test_a_path_must_be_a_path(folder):
    with pytest.raises(SourceError, match="a path must be text or a Path; got int"):
        ArrowSource([3])


@pytest.mark.parametrize(
    ("values", "names", "column"),
    [
        (["2024", "__HIVE_DEFAULT_PARTITION__"], ["a", "year"], [2024, np.nan]),
        (["__HIVE_DEFAULT_PARTITION__", "-3"], ["a", "year"], [-3, np.nan]),
        (["2024", "later"], ["a", "year=later"], [0, 1]),
        (["2024", ""], ["a", "year=2024"], [0, 1]),
        (["007", "\N{ARABIC-INDIC DIGIT THREE}"], ["a", "year=\N{ARABIC-INDIC DIGIT THREE}"], [0, 1]),
    ],
)
def test_what_folders_say_is_of_one_type_in_all_files(values, names, column, tmp_path):
    """Numbers if all of it are whole numbers, or missing; otherwise text."""
    for value in values:
        (tmp_path / f"year={value}").mkdir()
        pd.DataFrame({"a": [0.5], "y": [1]}).to_parquet(tmp_path / f"year={value}" / "part.parquet")
    source = ss.open(f"{tmp_path}/**/*.parquet", target="y", categories="auto")
    assert source.names == names
    np.testing.assert_array_equal(sorted(next(source.rows()).X[:, 1]), column)


def test_folders_that_a_pattern_finds_are_columns(tmp_path):
    """Numbers, text, or missing values; not those that were given, nor where the file has such a column."""
    for name in ("day=1/place=K%C3%B6ln", "day=2/place=__HIVE_DEFAULT_PARTITION__", "day=2/place=Rom"):
        folder = tmp_path / "x=1" / name
        folder.mkdir(parents=True)
        pd.DataFrame({"a": [0.5, 1.5], "day": [8, 9], "y": [0, 1]}).to_parquet(folder / "part.parquet")
    source = ss.open(f"{tmp_path}/x=1/**/*.parquet", target="y", categories="auto")
    assert source.names == ["a", "day", "place=Köln", "place=Rom", "place=missing"]
    assert source.remarks == ["columns from names of folders: 'place'"]
    rows = np.vstack([batch.X for batch in source.rows(3)])
    assert rows[:, 1].tolist() == [8, 9] * 3
    assert rows[:, 2:].tolist() == np.repeat(np.eye(3), 2, axis=0).tolist()
    np.testing.assert_array_equal(np.hstack([block.X for block in source.columns(2)]), rows)
    numbers = ss.open(f"{tmp_path}/x=1/*/place=Rom/*.parquet", target="y", features=["a"])
    assert numbers.names == ["a"]
