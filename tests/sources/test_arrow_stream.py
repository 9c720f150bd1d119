"""Streams of record batches: every producer gives the rows of the file, bounded, resumed or refused."""

import decimal
import re

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import streamsieve as ss
from streamsieve.exceptions import ParameterError, SourceError
from streamsieve.testing import check_source
from tests.sources.kinds import STREAMS, N, numbers, stream, table


class Capsule:
    """Something that speaks the Arrow C stream interface, and nothing else."""

    def __init__(self, data):
        self._data = data

    def __arrow_c_stream__(self, requested_schema=None):
        return self._data.__arrow_c_stream__(requested_schema)


class ArrayCapsule:
    def __init__(self, batch):
        self._batch = batch

    def __arrow_c_array__(self, requested_schema=None):
        return self._batch.__arrow_c_array__(requested_schema)


class Ibis:
    """What an ibis table offers."""

    __module__ = "ibis.expr.types"

    def __init__(self, data):
        self._data = data

    def to_pyarrow_batches(self, *, chunk_size):
        return self._data.to_reader(chunk_size)


#: Cursors and connections to close after a test.
open_cursors = []


@pytest.fixture(autouse=True)
def closed():
    yield
    while open_cursors:
        open_cursors.pop().close()


def cursor(data):
    from adbc_driver_sqlite import dbapi

    connection = dbapi.connect()
    found = connection.cursor()
    open_cursors.extend([connection, found])
    found.adbc_ingest("rows", data)
    connection.commit()
    found.execute("SELECT * FROM rows ORDER BY rowid")
    return found


ONCE = {
    "reader": lambda data: data.to_reader(4),
    "scanner": lambda data: ds.dataset(data).scanner(),
    "dataset in memory": ds.dataset,
    "capsule": Capsule,
    "DuckDB result": lambda data: duckdb.connect().execute("SELECT * FROM data"),
    "cursor": cursor,
    "iterator": lambda data: iter([data.slice(0, 7), data.slice(7)]),
    "generator of dicts": lambda data: (row for row in data.to_pylist()),
}
AGAIN = {
    "narwhals": lambda data: nw.from_native(pl.from_arrow(data).lazy()),
    "narwhals over DuckDB": lambda data: nw.from_native(duckdb.from_arrow(data)),
    "ibis": Ibis,
}


@pytest.mark.filterwarnings("ignore:Arrow output on a DB-API result")
@pytest.mark.parametrize("kind", [*ONCE, *AGAIN])
@pytest.mark.parametrize("size", [1, 5, 100])
def test_every_producer_gives_the_rows_of_the_table(kind, size):
    X, y = numbers()
    source = ss.open({**ONCE, **AGAIN}[kind](table(X, y)), target="label")
    assert isinstance(source, ss.ArrowStreamSource)
    batches = list(source.rows(size))
    assert [len(batch.y) for batch in batches[:-1]] == [size] * (len(batches) - 1)
    np.testing.assert_array_equal(np.vstack([batch.X for batch in batches]), X)
    np.testing.assert_array_equal(np.concatenate([batch.y for batch in batches]), y)


@pytest.mark.parametrize("kind", [*STREAMS])
def test_a_stream_that_starts_again_keeps_the_contract_of_sources(kind, tmp_path):
    check_source(ss.open(stream(kind, table(*numbers()), tmp_path), target="label", ordered=True))


@pytest.mark.filterwarnings("ignore:Arrow output on a DB-API result")
@pytest.mark.parametrize("kind", [*ONCE])
def test_what_can_be_read_once_has_no_checkpoint_and_is_not_read_twice(kind, tmp_path):
    source = ss.open(ONCE[kind](table(*numbers())), target="label")
    with pytest.raises(SourceError, match="can be read once, so a run over it cannot be resumed: open the q"):
        ss.run(source, ss.Screen("f"), checkpoint=tmp_path / "state.sieve")
    assert ss.run(source, ss.Screen("f")).n_samples_seen_ == N
    with pytest.raises(SourceError, match="can be read once, and it has been"):
        ss.run(source, ss.Screen("f"))


@pytest.mark.parametrize("kind", [*ONCE][:4])
def test_columns_of_a_stream_are_those_of_the_table(kind):
    X, y = numbers()
    source = ss.open(ONCE[kind](table(X, y)), target="label")
    np.testing.assert_array_equal(np.hstack([block.X for block in source.columns(3)]), X)
    np.testing.assert_array_equal(source.y, y)


def test_a_record_batch_behind_a_capsule_is_data_in_memory():
    X, y = numbers()
    (batch,) = table(X, y).combine_chunks().to_batches()
    source = ss.open(ArrayCapsule(batch), target="label")
    np.testing.assert_array_equal(np.vstack([b.X for b in source.rows(4)]), X)


def test_a_target_beside_the_stream_is_data_in_memory():
    X, y = numbers()
    source = ss.open(table(X, y).drop_columns("label").to_reader(), target=y)
    assert isinstance(source, ss.ArraySource)


# ---------------------------------------------------------------- order


def sure(data):
    try:
        ss.open(data, target="label").identity()
    except SourceError as error:
        assert "add ORDER BY over a unique key, or say ordered=True" in str(error)  # noqa: PT017
        return False
    return True


def test_the_order_of_rows_is_assumed_only_where_it_is_sure(tmp_path):
    data = table(*numbers())
    lazy, relation = pl.from_arrow(data).lazy(), duckdb.from_arrow(data)
    assert sure(lazy)
    assert sure(lazy.filter(pl.col("c0") > -9).with_columns(pl.col("c1") * 2).sort("c0"))
    assert not sure(lazy.join(lazy.select("c0", z="c1"), on="c0"))
    assert not sure(lazy.unique())
    assert not sure(lazy.group_by("c0").agg(pl.col("label").first()))
    assert sure(relation.order("c0"))
    assert sure(duckdb.sql("SELECT * FROM data ORDER BY c0 DESC"))
    assert not sure(relation)
    assert not sure(relation.order("c0").filter("c0 > -9"))
    assert not sure(lambda: iter([data]))
    pq.write_table(data, tmp_path / "a.parquet")
    assert sure(ds.dataset(tmp_path))


@pytest.mark.parametrize(
    ("sql", "is_sure"),
    [
        ("SELECT * FROM t ORDER BY id", True),
        ("select * from t order\n by id limit 5", True),
        ("SELECT * FROM (SELECT * FROM t ORDER BY id) s", False),
        ("SELECT * FROM t -- ORDER BY id", False),
        ("SELECT *, 'ORDER BY id' FROM t", False),
        ("SELECT row_number() OVER (ORDER BY id) FROM t", False),
    ],
)
def test_an_outermost_order_by_makes_a_query_ordered(sql, is_sure):
    con = duckdb.connect()
    con.execute("CREATE TABLE t AS SELECT i AS id, i % 2 AS label FROM range(9) t(i)")
    source = ss.open(ss.query(con, sql), skip_text=True)
    if is_sure:
        source.check_identity(source.identity())
    else:
        with pytest.raises(SourceError, match="the order of rows of the query is not known"):
            source.identity()


def test_a_run_over_a_query_resumes_where_it_was(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 900)
    pq.write_table(pa.table({"i": range(900), "a": rng.normal(size=900) + y, "y": y}), tmp_path / "t.parquet")
    sql = f"FROM '{tmp_path / 't.parquet'}' SELECT a, y ORDER BY i"
    whole = ss.run(ss.open(ss.query("duckdb:///", sql), target="y"), ss.Screen("f"), batch_size=100)

    def opened(text=sql):
        return ss.open(ss.query("duckdb:///", text), target="y")

    def stop(rows, left=[3]):  # noqa: B006
        left[0] -= 1
        if not left[0]:
            raise KeyboardInterrupt

    options = {"checkpoint": tmp_path / "state.sieve", "every": 100, "batch_size": 100}
    with pytest.raises(KeyboardInterrupt):
        ss.run(opened(), ss.Screen("f"), progress=stop, **options)
    with pytest.raises(SourceError, match="its query, its plan or its list of files has changed"):
        ss.run(opened(f"{sql} DESC"), ss.Screen("f"), resume=True, **options)
    again = ss.run(opened(), ss.Screen("f"), resume=True, **options)
    assert again.n_samples_seen_ == 900
    np.testing.assert_array_equal(again.scores_, whole.scores_)


def test_a_dataset_may_grow_by_files(tmp_path):
    data = table(*numbers())
    pq.write_table(data, tmp_path / "a.parquet")
    known = ss.open(ds.dataset(tmp_path), target="label").identity()
    pq.write_table(data, tmp_path / "b.parquet")
    ss.open(ds.dataset(tmp_path), target="label").check_identity(known)
    pq.write_table(table(*numbers(1)), tmp_path / "a.parquet")
    with pytest.raises(SourceError, match="values of its first rows have changed"):
        ss.open(ds.dataset(tmp_path), target="label").check_identity(known)


# ---------------------------------------------------------------- one conversion


def types():
    """One column of every type that holds numbers."""
    return {
        "tiny": pa.array([1, None, 3], pa.int8()),
        "big": pa.array([2**60 + 1, 5, None], pa.int64()),
        "unsigned": pa.array([2**64 - 1, 5, None], pa.uint64()),
        "half": pa.array([1.5, None, 2.5], pa.float16()),
        "flag": pa.array([True, None, False]),
        "money": pa.array([decimal.Decimal("1.25"), None, decimal.Decimal("3.5")]),
        "coded": pa.array([7, None, 7]).dictionary_encode(),
        "runs": pc.run_end_encode(pa.array([4.0, 4.0, None])),
        "nothing": pa.nulls(3),
    }


def test_all_doors_convert_numbers_alike(tmp_path):
    data = pa.table(types())
    wanted = np.c_[
        [1, np.nan, 3], [2.0**60, 5, np.nan], [2.0**64, 5, np.nan], [1.5, np.nan, 2.5], [1, np.nan, 0],
        [1.25, np.nan, 3.5], [7, np.nan, 7], [4, 4, np.nan], [np.nan] * 3,
    ]  # fmt: skip
    with pa.ipc.new_file(tmp_path / "t.arrow", data.schema) as writer:
        writer.write_table(data)
    doors = [data, data.to_reader(), [data], data.to_batches()[0], tmp_path / "t.arrow"]
    for door in doors:
        source = ss.open(door)
        np.testing.assert_array_equal(np.vstack([b.X for b in source.rows(2)]), wanted)
        again = ss.open(data.to_reader() if door is doors[1] else door)
        np.testing.assert_array_equal(np.hstack([b.X for b in again.columns(2)]), wanted)


@pytest.mark.parametrize(
    "values",
    [pa.array([1, 2], pa.timestamp("s")), pa.array([1, 2], pa.date32()), pa.array([[1], [2]])],
    ids=["timestamp", "date", "list"],
)
def test_all_doors_refuse_what_holds_no_numbers_by_name(values, tmp_path):
    data = pa.table({"a": [1.0, 2.0], "when": values})
    pq.write_table(data, tmp_path / "t.parquet")
    for door in (data, data.to_reader(), tmp_path / "t.parquet"):
        with pytest.raises((SourceError, TypeError), match="'when'"):
            ss.open(door)
    assert ss.open(data.to_reader(), skip_text=True).names == ["a"]


# ---------------------------------------------------------------- streams that go wrong


def chunk(**columns):
    return pa.table({"a": [1.0, 2.0], "y": [0, 1], **columns})


@pytest.mark.parametrize(
    ("third", "message"),
    [
        (chunk(a=["x", "y"]), "batch 3 of the list of tables holds text in column 'a', which held numbers"),
        (chunk(b=[1, 2]), "batch 3 of the list of tables has a new column 'b'"),
        (pa.table({"y": [0, 1]}), "batch 3 of the list of tables lacks the column 'a'"),
        (chunk(y=[0.5, 1.5]), "batch 3 of the list of tables holds double in the target column 'y'"),
        (chunk(y=["no", "yes"]), "batch 3 of the list of tables holds text in column 'y'"),
        (chunk(y=[None, 1]), "target column 'y' has missing values"),
    ],
)  # fmt: skip
def test_a_schema_that_changes_in_mid_stream_is_refused_by_batch_and_column(third, message):
    source = ss.open([chunk(), chunk(), third], target="y")
    with pytest.raises(SourceError, match=message):
        list(source.rows(100))


@pytest.mark.parametrize("option", ["sep", "categories", "where", "missing"])
def test_options_about_files_are_refused_by_name(option):
    with pytest.raises(ParameterError, match=f"ArrowStreamSource has no option '{option}'"):
        ss.open([chunk()], target="y", **{option: "auto"})


def test_refusing_text_leaves_the_rows_of_a_reader_alone():
    reader = chunk(city=["Rome", "Oslo"]).to_reader()
    dataset = ds.dataset(reader)  # its schema is known without reading, its rows come once
    message = "column 'city' holds text, not numbers: encode it in what produces the rows, or leave"
    with pytest.raises(SourceError, match=message):
        ss.open(dataset, target="y")
    (batch,) = ss.open(dataset, target="y", skip_text=True).rows(10)
    assert batch.X.tolist() == [[1.0], [2.0]]


def test_missing_labels_of_what_is_read_once_are_said_without_reading_again():
    with pytest.raises(SourceError, match="'y' has missing values: drop those rows or fill them in"):
        list(ss.open(chunk(y=[0, None]).to_reader(), target="y").rows(10))


def test_numbers_of_other_types_and_columns_in_another_order_go_on():
    more = [pa.table({"y": pa.array([1.0, 0.0]), "a": pa.array([3, 4], pa.int8())}), chunk(a=pa.nulls(2))]
    (batch,) = ss.open([chunk(), *more], target="y").rows(100)
    np.testing.assert_array_equal(batch.X.ravel(), [1, 2, 3, 4, np.nan, np.nan])
    np.testing.assert_array_equal(batch.y, [0, 1, 1, 0, 0, 1])


def test_fields_that_rows_lack_are_missing_and_late_ones_within_a_batch_are_found():
    rows = [{"a": 1, "y": "no"}, {"b": 0.5, "y": "yes"}, {"y": "no", "a": 2.5}]
    (batch,) = ss.open(iter(rows), target="y").rows(10)
    assert batch.names == ["a", "b"]
    np.testing.assert_array_equal(batch.X, [[1, np.nan], [np.nan, 0.5], [2.5, np.nan]])
    with pytest.raises(SourceError, match="the field 'a' holds values of different kinds"):
        ss.open([{"a": 1}, {"a": "x"}])


def test_a_failure_of_the_producer_names_the_place_and_keeps_the_cause():
    def broken():
        yield chunk()
        raise RuntimeError("the tape is torn")

    with pytest.raises(SourceError, match=re.escape("failed after row 2: the tape is torn")) as caught:
        list(ss.open(broken, target="y").rows(100))
    assert isinstance(caught.value.__cause__, RuntimeError)
    lazy = pl.LazyFrame({"a": ["1", "x"], "y": [0, 1]}).with_columns(pl.col("a").cast(pl.Int64))
    with pytest.raises(SourceError, match="the polars LazyFrame failed after row 0: conversion"):
        list(ss.open(lazy, target="y").rows())


def test_batches_without_rows_are_passed_over_and_nothing_at_all_is_refused():
    empty = chunk().slice(0, 0)
    (batch,) = ss.open([empty, chunk(), empty], target="y").rows()
    assert len(batch.y) == 2
    for nothing in (iter([]), [empty], chunk().schema.empty_table().to_reader()):
        with pytest.raises(SourceError, match="holds no rows"):
            list(ss.open(nothing, target="y").rows())


def test_a_second_query_of_a_duckdb_connection_may_be_under_way():
    con = duckdb.connect()
    con.execute("CREATE TABLE t AS SELECT i AS a, i % 2 AS y FROM range(50000) t(i)")
    source = ss.open(ss.query(con, "SELECT * FROM t ORDER BY a"), target="y")
    rows = 0
    for batch in source.rows(1000):
        rows += len(batch.y)
        assert con.execute("SELECT count(*) FROM t").fetchone() == (50000,)
    assert rows == 50000


def test_pandas_chunks_bring_no_index():
    frames = [pd.DataFrame({"a": [1.0], "y": [k]}, index=[f"row {k}"]) for k in range(3)]
    (batch,) = ss.open(frames, target="y").rows()
    assert batch.names == ["a"]
