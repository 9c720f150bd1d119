"""Tables of any dialect and format: the same values however they are written, and honest resuming."""

import gzip
import pickle
import re

import numpy as np
import pandas as pd
import pytest

import streamsieve as ss
from streamsieve.exceptions import ParameterError, SourceError
from streamsieve.sources.tables.dialect import why_not_numbers
from tests.cli.messy import CASES, frame, text, with_column, write
from tests.helpers import tier

READABLE = [
    name
    for name, case in CASES.items()
    if not case.error and not case.options and not case.data and not case.says
]


@pytest.mark.parametrize("name", tier.spread(READABLE, 8))
def test_rows_and_columns_are_the_same_however_they_are_written(name, tmp_path):
    source = ss.open(write(tmp_path, name), target="label", categories="auto", dates="drop")
    expected = frame()
    labels = expected["label"]
    X = np.vstack([batch.X for batch in source.rows(7)])
    dose = source.names.index("dose")
    np.testing.assert_allclose(X[:, dose], expected["dose"], rtol=1e-6)
    np.testing.assert_array_equal(np.hstack([block.X for block in source.columns(2)]), X)
    if source.y.dtype.kind == "U":
        assert source.y.tolist() == labels.tolist()
    again = pickle.loads(pickle.dumps(source))  # noqa: S301
    del source
    np.testing.assert_array_equal(next(again.columns()).X, X)


def screened(path, checkpoint, **options):
    resume = options.pop("resume", False)
    source = ss.open(path, target="label", **options)
    return ss.run(source, ss.Screen("f", k=2), checkpoint=checkpoint, resume=resume, batch_size=20)


def test_compressed_text_is_known_again_and_may_not_grow(tmp_path):
    path, checkpoint = tmp_path / "t.csv.gz", tmp_path / "c.sieve"
    path.write_bytes(gzip.compress(text().encode()))
    screened(path, checkpoint)
    screened(path, checkpoint, resume=True)
    more = gzip.compress("".join(text().splitlines(keepends=True)[1:]).encode())
    before = path.read_bytes()
    path.write_bytes(before + more)
    with pytest.raises(SourceError, match=r"t.csv.gz has grown, and only plain files may: .*a new file"):
        screened(path, checkpoint, resume=True)
    path.write_bytes(gzip.compress(text(frame()[::-1]).encode()))
    with pytest.raises(SourceError, match="not the stream of the checkpoint"):
        screened(path, checkpoint, resume=True)


def test_plain_text_of_any_dialect_may_grow(tmp_path):
    path, checkpoint = tmp_path / "t.csv", tmp_path / "c.sieve"
    path.write_text(text(sep=";", decimal=","))
    screened(path, checkpoint)
    with path.open("a") as file:
        file.write(text(frame(), sep=";", decimal=",", header=False))
    assert screened(path, checkpoint, resume=True).n_samples_seen_ == 240


@pytest.mark.parametrize(
    "changed", [{"where": "noise_0>0"}, {"na": "?"}, {"missing": "impute"}, {"drop_missing_target": True}]
)
def test_other_options_are_another_stream(changed, tmp_path):
    path, checkpoint = tmp_path / "t.csv", tmp_path / "c.sieve"
    path.write_text(text())
    screened(path, checkpoint)
    with pytest.raises(SourceError, match="the way of reading was"):
        screened(path, checkpoint, resume=True, **changed)


def test_filtered_rows_resume_where_they_were(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(text(with_column("city", ["Rome", "Oslo", None] * 40)))
    source = ss.open(path, target="label", where="noise_0>0", categories="auto")
    batches = list(source.rows(7))
    assert [batch.X.shape[0] for batch in batches[:-1]] == [7] * (len(batches) - 1)
    rest = list(source.rows(7, batches[2].position))
    np.testing.assert_array_equal(
        np.vstack([batch.X for batch in rest]), np.vstack([batch.X for batch in batches[3:]])
    )
    assert len(source.column("dose")) == len(source.y) == int((frame()["noise_0"] > 0).sum())


def test_categories_are_scikit_learns(tmp_path):
    data = with_column("city", ["Rome", "Oslo", None] * 40).assign(sex=["m", "f"] * 60)
    data.to_csv(tmp_path / "t.csv", index=False)
    source = ss.open(tmp_path / "t.csv", target="label", categories="auto")
    assert source.encoded == {"city": ["city=Oslo", "city=Rome", "city=missing"], "sex": ["sex=m"]}
    expected = pd.get_dummies(data["city"].fillna("missing"))[["Oslo", "Rome", "missing"]]
    np.testing.assert_array_equal(next(source.columns()).X[:, 4:7], expected)


def test_imputed_values_are_means(tmp_path):
    data = frame()
    data.loc[::3, "dose"] = np.nan
    data.to_csv(tmp_path / "t.csv", index=False)
    source = ss.open(tmp_path / "t.csv", target="label", missing="impute")
    filled = data["dose"].fillna(data["dose"].mean())
    np.testing.assert_allclose(next(source.columns()).X[:, 3], filled)
    np.testing.assert_allclose(np.vstack([batch.X for batch in source.rows(11)])[:, 3], filled)
    with pytest.raises(SourceError, match=r"missing values in 'dose': missing='impute'"):
        list(ss.open(tmp_path / "t.csv", target="label", missing="refuse").rows())


@pytest.mark.parametrize(
    ("values", "decimal", "message"),
    [
        (["1,234", "5,678"], ".", "say decimal=','.*or write them without if they separate thousands"),
        (["1,234,567", "1,000"], ".", "thousands separators, such as '1,234,567'"),
        (["1,234", "999.5"], ".", "thousands separators, such as '1,234'"),
        (["1.234,5", "2.000,1"], ",", "thousands separators, such as '1.234,5'"),
        (["1,5", "2.25"], ".", "mixes decimal commas"),
        (["1,5", "2"], ".", "say decimal=','"),
        (["1", "2", "3", "4", "?"], ".", r"na=\['\?'\]$"),
        (["0.135", "1.500"], ".", None),
        (["Rome", "Oslo", "3"], ".", None),
        ([], ".", None),
    ],
)
def test_numbers_that_are_text_are_explained(values, decimal, message):
    why = why_not_numbers(values, decimal)
    if message is None:
        assert why is None
    else:
        assert re.search(message, why)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sep": ";;"}, "sep must be one character"),
        ({"decimal": "x"}, "decimal must be '.' or ','"),
        ({"encoding": "klingon"}, "encoding must be a name that Python knows"),
        ({"na": [3]}, "na must be text"),
        ({"categories": "onehot"}, "categories must be one of 'refuse', 'auto', 'drop'"),
        ({"where": "dose"}, "where must compare a column with a value"),
        ({"sql": "select"}, "sql is about SQLite and DuckDB files"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, message, tmp_path):
    (tmp_path / "t.csv").write_text(text())
    with pytest.raises(ParameterError, match=message):
        ss.open(tmp_path / "t.csv", target="label", **options)
