"""Damaged files end in an error that names them, never in a traceback from inside a reader."""

import gzip

import numpy as np
import pytest

import streamsieve as ss
from streamsieve.exceptions import BadValueError, SourceError
from streamsieve.sources import ArrowSource, SvmlightSource
from tests.sources.kinds import FILES, N, make

KINDS = [*FILES, "svmlight"]
MUTANTS = 40


def source_of(path):
    svmlight = path.suffix == ".svm"
    return SvmlightSource(path) if svmlight else ArrowSource(path, target="label", skip_text=True)


def read(path):
    source = source_of(path)
    rows = sum(b.X.shape[0] for b in source.rows(5))
    assert len(source.y) == rows
    return rows, sum(b.X.shape[1] for b in source.columns(3))


@pytest.fixture(params=KINDS)
def path(request, tmp_path):
    make(request.param, tmp_path)
    (file,) = tmp_path.iterdir()
    return file


def test_garbage_names_the_file(path):
    beginnings = (b"PAR1", b"ARROW1\x00\x00", b"\xff\xfe\x00", b"\n")
    for garbage in (b"\x00\x01\x02" * 50, *beginnings, bytes(range(256)) * 9):
        path.write_bytes(garbage)
        with pytest.raises(SourceError, match=path.name) as caught:
            read(path)
        assert "\n" not in str(caught.value)


def test_a_truncated_file_names_the_file_or_has_fewer_rows(path):
    whole = path.read_bytes()
    refused = 0
    for length in np.linspace(1, len(whole) - 1, MUTANTS).astype(int):
        path.write_bytes(whole[:length])
        try:
            assert read(path)[0] <= N
        except SourceError as error:
            assert path.name in str(error)  # noqa: PT017 - either outcome is right
            refused += 1
    # text may end anywhere, and an Arrow stream after any batch
    assert refused >= (1 if path.suffix in (".csv", ".tsv", ".svm", ".ipc") else MUTANTS)


def test_mutants_are_read_or_refused_by_name(path):
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    outcomes = {"read": 0, "refused": 0}
    for _ in range(MUTANTS):
        mutant = bytearray(whole)
        for place in rng.integers(0, len(whole), rng.choice([1, 2, 8])):
            mutant[place] = rng.integers(0, 256)
        path.write_bytes(mutant)
        try:
            read(path)
            outcomes["read"] += 1
        except SourceError as error:
            assert path.name in str(error)  # noqa: PT017
            outcomes["refused"] += 1
    assert min(outcomes.values()) > 0, outcomes


def test_text_that_is_not_utf8_is_an_error_where_it_matters(tmp_path):
    path = tmp_path / "latin.csv"
    path.write_bytes("a,label\n1,caf\xe9\n2,tea\n".encode("latin-1"))
    with pytest.raises(
        SourceError, match=r"latin.csv: column 'label' is not UTF-8 text: .*encoding='cp1252'"
    ):
        ArrowSource(path, target="label")
    assert ArrowSource(path, target="label", encoding="latin-1").y.tolist() == ["caf\xe9", "tea"]
    path.write_bytes("caf\xe9,label\n1,2\n".encode("latin-1"))
    with pytest.raises(
        SourceError, match=r"latin.csv cannot be read: .*say how it is encoded, encoding='cp1252'"
    ):
        ArrowSource(path, target="label")


def test_ragged_csv_names_the_file(tmp_path):
    path = tmp_path / "ragged.csv"
    path.write_text("a,b\n1,2\n3\n")
    with pytest.raises(SourceError, match=r"ragged.csv cannot be read: .*Expected 2 columns, got 1"):
        ArrowSource(path)


def test_damage_met_while_reading_columns_names_the_users_file(tmp_path):
    """A CSV file is read once and its columns are put aside in a file of their own."""
    path = tmp_path / "mine.csv"
    lines = [f"{i}.5,{i % 2}\n" for i in range(300_000)]
    path.write_text("a,label\n" + "".join(lines) + "oops,1\n")
    with pytest.raises(SourceError) as caught:
        list(ArrowSource(path, target="label").columns())
    assert str(caught.value).startswith(f"{path} cannot be read after row")
    assert str(caught.value).count(str(tmp_path.parent)) == 1  # no other file is named


def test_an_unreadable_file_is_named(tmp_path, monkeypatch):
    make("csv", tmp_path)

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.open", refuse)
    with pytest.raises(SourceError, match=r"part0.csv cannot be read: .*Permission denied"):
        ArrowSource(tmp_path / "part0.csv")


ROW = '{"a": 1, "of": {"b": 2}, "y": 0}\n'
#: Lines at which Arrow's parser of JSON ends the process, or takes hours.
DEADLY = {
    "lists within lists": '{"a": ' + "[" * 5000 + "]" * 5000 + ', "y": 1}\n',
    "objects within objects": '{"a": ' * 5000 + "1" + "}" * 5000 + "\n",
    "brackets that close more before": '{"a": "' + "]" * 9000 + '", "b": ' + "[" * 5000 + "]" * 5000 + "}\n",
    "never closed": "[" * 200_000,
    "null": "null\n",
    "null after a mark of UTF-8": "\ufeff \tnull\n",
    "null after a carriage return": "\r\rnull\r\n",
}


@pytest.mark.parametrize("place", ["first", "in a later block"])
@pytest.mark.parametrize("name", DEADLY)
@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz"])
def test_lines_that_end_the_parser_are_refused(suffix, name, place, tmp_path):
    text = (ROW * (60_000 if place == "in a later block" else 0) + DEADLY[name] + ROW).encode()
    path = tmp_path / f"rows{suffix}"
    path.write_bytes(text if suffix == ".jsonl" else gzip.compress(text, 1))
    with pytest.raises(SourceError, match=rf"{path.name} has a (row with more than 100|line .* null)"):
        sum(len(batch.X) for batch in ArrowSource(path, target="y").rows(5000))


def test_brackets_in_text_and_rows_of_many_objects_are_no_levels(tmp_path):
    path = tmp_path / "rows.jsonl"
    row = '{"a": 1, "t": "' + "[{" * 90 + '\\"[", "l": [' + "{}, " * 200 + '{}], "y": 1}\n'
    path.write_text(row + ROW * 3)
    assert [len(batch.X) for batch in ArrowSource(path, target="y", skip_text=True).rows(9)] == [4]


@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
def test_names_of_objects_within_rows_do_not_hide_one_another(suffix, tmp_path):
    rows = [ROW.strip(), '{"a": 1, "of.b": 3, "y": 1}']
    path = tmp_path / f"rows{suffix}"
    path.write_text("\n".join(rows) if suffix == ".jsonl" else f"[{','.join(rows)}]")
    with pytest.raises(SourceError, match=r"two columns 'of\.b'"):
        ArrowSource(path, target="y")


@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
def test_an_object_that_is_null_in_some_rows_is_no_column(suffix, tmp_path):
    rows = ['{"of": null, "y": 0}', ROW.strip(), '{"of": null, "y": 1}']
    path = tmp_path / f"rows{suffix}"
    path.write_text("\n".join(rows) if suffix == ".jsonl" else f"[{','.join(rows)}]")
    names = ArrowSource(path, target="y").names
    assert "of.b" in names
    assert "of" not in names


def test_arrays_of_json_with_many_levels_or_digits_are_refused(tmp_path):
    path = tmp_path / "rows.json"
    for bad, why in (("[" * 5000, "more than 100"), (f'[{{"a": -1{"0" * 400}, "y": 1}}]', "'a' holds -inf")):
        path.write_text(bad)
        with pytest.raises((SourceError, BadValueError), match=why):
            ss.run(ArrowSource(path, target="y"), ss.Screen("f"))
