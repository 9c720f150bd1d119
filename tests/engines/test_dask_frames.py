"""Dask frames and arrays bring their engine; chunks that do not fit are refused by name."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import streamsieve as ss
from streamsieve.exceptions import CapabilityError, ParameterError, SourceError, StreamSieveError
from tests.engines.laws import assert_equal_to_one_process, assert_same_bits, rows
from tests.engines.test_laws import SCREENS

dd = pytest.importorskip("dask.dataframe")
da = pytest.importorskip("dask.array")

N = 3000


def frame(kind="dense", seed=0, n=N):
    X, y = rows(n, seed, kind)
    return pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])]).assign(y=y)


def lazy(table, sizes):
    """A Dask frame of partitions of these sizes."""
    from dask import delayed

    edges = np.cumsum([0, *sizes])
    parts = [delayed(table.iloc[a:b]) for a, b in pairwise(edges)]
    return dd.from_delayed(parts, meta=table.iloc[:0])


@pytest.mark.parametrize("name", ["f", "mutual_info", "half_life", "window"])
@pytest.mark.parametrize("sizes", [[N], [0, 1000, 0, 1999, 1, 0], [200] * 15], ids=["one", "empty", "many"])
def test_a_frame_equals_one_process(name, sizes):
    table, seen = frame(), []
    found = ss.run(lazy(table, sizes), SCREENS[name](), target="y", progress=seen.append)
    one = ss.run(table, SCREENS[name](), target="y")
    assert found.feature_names_in_.tolist() == one.feature_names_in_.tolist()
    if name == "half_life":
        np.testing.assert_allclose(found.scores_, one.scores_, atol=1e-9 * np.abs(one.scores_).max())
    else:
        assert_equal_to_one_process(found, one)
    assert sum(seen) == N


def test_a_series_is_no_frame():
    with pytest.raises(SourceError, match="a Dask series has one column: give a frame"):
        ss.open(lazy(frame(), [N])["c0"], target="y")


def test_partitions_are_parts_and_bits_repeat():
    source = lazy(frame(), [700, 2300])
    found = [ss.run(source, ss.Screen("f"), target="y", workers=n) for n in (1, 2)]
    assert_same_bits(*found)
    assert found[0]._covered_.spans[0][1:] == (0, 2)


@pytest.mark.parametrize("target", ["dask", "numpy"])
@pytest.mark.parametrize("known", [True, False], ids=["known", "nan"])
def test_an_array_with_a_target_of_the_same_chunks(target, known):
    X, y = rows(N)
    lazy_X = da.from_array(X, chunks=(800, 3))
    lazy_y = da.from_array(y, chunks=800) if target == "dask" else y
    if not known:
        lazy_X = lazy_X[da.ones(N, chunks=800) > 0]
        if target == "numpy":
            with pytest.raises(SourceError, match=r"unknown sizes.*compute_chunk_sizes"):
                ss.run(lazy_X, ss.Screen("f"), target=lazy_y)
            return
    found = ss.run(lazy_X, ss.Screen("f"), target=lazy_y)
    assert_equal_to_one_process(found, ss.run(ss.open(X, target=y), ss.Screen("f")))


def test_text_labels_nulls_and_other_types_of_one_column():
    table = frame().assign(y=lambda t: np.array(["a", "b", "c"])[t.y], n=np.arange(N))
    parts = lazy(table, [1000, 1000, 1000]).map_partitions(
        other_types, meta=table.iloc[:0], enforce_metadata=False
    )
    plain = pd.concat([other_types(table.iloc[k : k + 1000]) for k in (0, 1000, 2000)])
    found = ss.run(parts, ss.Screen("f"), target="y")
    assert_equal_to_one_process(found, ss.run(plain.astype({"n": float}), ss.Screen("f"), target="y"))


def other_types(part):
    """Change types and the order of columns by partition."""
    if part["n"].iloc[0] == 1000:
        return part.assign(n=part["n"].astype("float32"))[[*part.columns[::-1]]]
    if part["n"].iloc[0] == 2000:
        return part.assign(n=np.nan)
    return part


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda t: t.assign(c1="text"), r"partition 1 of the Dask frame holds text in column 'c1'"),
        (lambda t: t.drop(columns="c1"), r"partition 1 of the Dask frame lacks the column 'c1'"),
        (lambda t: t.assign(more=1.0), r"partition 1 of the Dask frame has a new column 'more'"),
        (lambda t: t.assign(c2=np.inf), r"row 1: .*'c2' holds inf"),
        (lambda t: t.assign(y="text"), r"'y'"),
    ],
    ids=["text", "lacks", "more", "inf", "target"],
)
def test_a_partition_that_does_not_fit_is_named(spoil, said):
    table = frame()

    def second(part):
        return spoil(part) if len(part) and part.index[0] == 1000 else part

    source = lazy(table, [1000, 1000, 1000]).map_partitions(
        second, meta=table.iloc[:0], enforce_metadata=False
    )
    selector = ss.Screen("f")
    with pytest.raises(StreamSieveError, match=rf"^part 2\b.*{said}"):
        ss.run(source, selector, target="y")
    assert not hasattr(selector, "n_features_in_")


def test_chunks_that_do_not_agree_are_refused():
    X, y = rows(N)
    lazy_X = da.from_array(X, chunks=(1000, 6))
    with pytest.raises(SourceError, match=r"X has 3 chunks of rows and the target 2: rechunk the target"):
        ss.run(lazy_X, ss.Screen("f"), target=da.from_array(y, chunks=1500))
    with pytest.raises(SourceError, match=r"chunk 1 of X has 1,000 rows and that of the target 900"):
        ss.run(lazy_X, ss.Screen("f"), target=da.from_array(y, chunks=((1000, 900, 1100),)))
    unknown = da.from_array(y, chunks=((1000, 900, 1100),))
    unknown = unknown[unknown > -1]
    with pytest.raises(
        SourceError, match=r"^part 2: chunk 1 of the Dask array has 1,000 rows and 900 labels"
    ):
        ss.run(lazy_X, ss.Screen("f"), target=unknown)
    with pytest.raises(SourceError, match=r"the data has 3000 rows, but y has 10"):
        ss.run(lazy_X, ss.Screen("f"), target=y[:10])


def test_a_target_apart_from_its_frame_is_refused():
    source = lazy(frame(), [N])
    with pytest.raises(SourceError, match="one of its columns, because X and y taken apart"):
        ss.run(source[["c1"]], ss.Screen("f"), target=source["y"])


@pytest.mark.parametrize(
    "shuffled",
    [
        lambda d: d.shuffle("c1"),
        lambda d: d.shuffle("c1").query("c1 > 0"),
        lambda d: d.merge(d[["c1"]], on="c1"),
        lambda d: d.drop_duplicates(),
    ],
    ids=["shuffle", "filtered", "merge", "unique"],
)
def test_a_shuffled_frame_has_no_half_life(shuffled):
    source = shuffled(lazy(frame(), [1000] * 3))
    with pytest.raises(CapabilityError, match="depends on the order of rows.*sort them with sort_values"):
        ss.run(source, SCREENS["half_life"](), target="y")
    with pytest.raises(CapabilityError, match="depends on the order of rows"):
        ss.run(source, SCREENS["window"](), target="y")


def test_a_sorted_frame_has_one_again():
    table = frame()
    source = lazy(table, [1000] * 3).shuffle("c1").sort_values("c2")
    found = ss.run(source, SCREENS["half_life"](), target="y")
    one = ss.run(table.sort_values("c2"), SCREENS["half_life"](), target="y")
    np.testing.assert_allclose(found.scores_, one.scores_, atol=1e-9 * np.abs(one.scores_).max())


def test_sparse_and_dense_chunks_are_of_one_kind():
    X, y = rows(N)
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    chunks = da.from_array(X, chunks=(1000, 6))
    mixed = chunks.map_blocks(lambda b, block_id: sp.csr_array(b) if block_id[0] else b, meta=X[:0])
    for name in ("f", "mutual_info"):
        found = ss.run(mixed, SCREENS[name](), target=da.from_array(y, chunks=1000))
        assert_equal_to_one_process(found, ss.run(ss.open(X, target=y), SCREENS[name]()))


def test_refusals():
    source = lazy(frame(), [N])
    with pytest.raises(CapabilityError, match="OFS with these parameters depends on the order of rows"):
        ss.run(source, ss.OFS(), target="y")
    with pytest.raises(ParameterError, match="is computed by dask.*leave out engine="):
        ss.run(source, ss.Screen("f"), target="y", engine="local")
    with pytest.raises(ParameterError, match="without checkpoints"):
        ss.run(source, ss.Screen("f"), target="y", checkpoint="x.sieve")
    with pytest.raises(SourceError, match="no column 'z' to serve as target"):
        ss.run(source, ss.Screen("f"), target="z")
    with pytest.raises(ParameterError, match="DaskSource has no option 'sep'"):
        ss.open(source, target="y", sep=";")
    with pytest.raises(SourceError, match="Dask frame streams rows.*write the frame to Parquet"):
        ss.run(source, ss.SAOLA(), target="y")
    with pytest.raises(SourceError, match="has no rows"):
        ss.run(lazy(frame(), [0, 0]), ss.Screen("f"), target="y")


def test_rows_in_this_process_for_selectors_that_cannot_be_distributed():
    table = frame().assign(y=lambda t: t.y > 0)
    selector = ss.OFS()
    for batch in ss.open(lazy(table, [1000, 0, 2000]), target="y").rows(500):
        selector.learn(batch)
    assert selector.n_samples_seen_ == N


@pytest.mark.full
@pytest.mark.filterwarnings("ignore")  # Dask's own
def test_a_cluster_computes_and_learns_partitions():
    distributed = pytest.importorskip("distributed")
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    table = frame()
    source = lazy(table, [700, 0, 2300])
    wanted = ss.run(source, SCREENS["mutual_info"](), target="y")  # by threads
    with cluster, distributed.Client(cluster) as client:
        assert_same_bits(ss.run(source, SCREENS["mutual_info"](), target="y"), wanted)
        for data in (source, source.persist()):
            found = ss.run(data, SCREENS["mutual_info"](), target="y", engine=client)
            np.testing.assert_array_equal(found.scores_, wanted.scores_)
        shuffled = ss.run(source.shuffle("c1"), ss.Screen("f"), target="y")
        assert_equal_to_one_process(shuffled, ss.run(table, ss.Screen("f"), target="y"))
