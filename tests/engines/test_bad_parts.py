"""Files that do not fit together, on an engine: merged as one process reads them, or refused by name."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import streamsieve as ss
from streamsieve import engines
from streamsieve.engines.declared import declared_of
from streamsieve.engines.local import Merging
from streamsieve.exceptions import MergeError, StreamSieveError
from tests.engines.laws import assert_equal_to_one_process, assert_same_bits, files, opened, rows
from tests.engines.test_laws import SCREENS, by_hand

OPTIONS = {"workers": 2, "rows_per_task": 500}


@pytest.fixture(params=["dask", "local"])
def engine(request):
    """Return an engine whose workers are threads of this process."""
    return request.param


def table(low, high, y=None):
    X, labels = rows(1500)
    columns = {f"c{j}": X[low:high, j] for j in range(X.shape[1])}
    return pa.table({**columns, "y": labels[low:high] if y is None else y})


def written(folder, change):
    """Write three files of 500 rows; ``change`` makes another table of the second."""
    parts = [table(0, 500), change(table(500, 1000)), table(1000, 1500)]
    for k, part in enumerate(parts):
        pq.write_table(part, folder / f"{k}.parquet")
    return [str(folder / f"{k}.parquet") for k in range(3)]


def cast(name, kind):
    return lambda t: t.set_column(t.column_names.index(name), name, t[name].cast(kind))


def emptied(t):
    return t.set_column(3, "c3", pa.nulls(len(t), pa.float64()))


FITTING = {
    "order": lambda t: t.select(t.column_names[::-1]),
    "float32": cast("c2", pa.float32()),
    "int32": lambda t: cast("c1", pa.int32())(t),
    "int64": lambda t: cast("c1", pa.int64())(t),
    "decimal": lambda t: cast("c1", pa.decimal128(20, 3))(t),
    "null": emptied,
    "nulls": lambda t: t.set_column(3, "c3", pa.nulls(len(t))),
    "target": cast("y", pa.int32()),
}


@pytest.mark.parametrize("name", FITTING)
def test_other_orders_and_types_merge_as_one_process_reads_them(name, engine, tmp_path):
    source = ss.open(written(tmp_path, FITTING[name]), target="y")
    assert_equal_to_one_process(
        ss.run(source, ss.Screen("f"), engine=engine, **OPTIONS), ss.run(source, ss.Screen("f"))
    )


REFUSED = {
    "text": (lambda t: cast("c2", pa.string())(t), "c2"),
    "lacks": (lambda t: t.drop_columns("c2"), "c2"),
    "more": (lambda t: t.append_column("c9", t["c2"]), "c9"),
    "labels": (cast("y", pa.string()), "y"),
    "dates": (
        lambda t: t.set_column(2, "c2", pa.array(np.zeros(len(t), "i8")).cast(pa.timestamp("s"))),
        "c2",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_that_does_not_fit_is_refused_on_the_driver(name, engine, tmp_path):
    change, column = REFUSED[name]
    selector = ss.Screen("f")
    with pytest.raises(StreamSieveError, match=rf"1\.parquet.*{column}|{column}.*1\.parquet"):
        ss.run(ss.open(written(tmp_path, change), target="y"), selector, engine=engine, **OPTIONS)
    assert not hasattr(selector, "n_features_in_")


@pytest.mark.parametrize("name", ["f", "mutual_info"])
@pytest.mark.parametrize("labels", ["rare", "late", "apart"])
def test_rare_late_and_separate_classes(name, labels, engine):
    n, rng = 4000, np.random.default_rng(0)
    y = {
        "rare": (np.arange(n) % 1000 == 7).astype(int),  # 0.1 %
        "late": np.where(
            np.arange(n) < 3000, 0, np.arange(n) % 1000 + 1
        ),  # 1,000 classes in the last quarter
        "apart": np.arange(n) // 500,  # one class in each part
    }[labels]
    source = ss.open(rng.normal(size=(n, 3)) + 0.3 * (y > 0)[:, None], target=y)
    make = lambda: ss.Screen(name, k=2, task="classification")  # noqa: E731
    found = ss.run(source, make(), engine=engine, **OPTIONS)
    assert_equal_to_one_process(found, ss.run(source, make()))


def test_a_part_that_is_learned_twice_counts_once_or_not_at_all(tmp_path):
    """Speculative execution: the same leaf twice is the same state, and both together are refused."""
    source = opened(files(tmp_path, 4))
    plan = engines.plan_of(source, 900)
    what = declared_of(source, SCREENS["mutual_info"](), plan.run, 256)
    built = [engines.build(part, k, what) for k, part in enumerate(plan.parts)]
    again = engines.build(plan.parts[1], 1, what)
    assert_same_bits(built[1], again)
    merging = Merging(plan)
    for k, state in enumerate(built):
        merging.add(k, state)
    assert_same_bits(merging.root(), by_hand(source, SCREENS["mutual_info"](), 900))
    failed = engines.merge_all(built[0], built[1], again)
    with pytest.raises(MergeError, match="both states hold part 2 of the same run"):
        raise failed.error()


def test_a_part_of_one_class_in_a_screen_of_two(engine):
    """Every pair of classes is one too many for "t" as soon as a third one appears, in whatever part."""
    X, y = rows(900)
    source = ss.open(X, target=np.sort(y))
    with pytest.raises(StreamSieveError, match="compares 2 classes, but y holds 3"):
        ss.run(source, ss.Screen("t"), engine=engine, rows_per_task=100)
