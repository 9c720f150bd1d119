"""Columns on an engine: measured by workers, settled here; ledger and selection are those of one process."""

import numpy as np
import pandas as pd
import pytest

import streamsieve as ss
from streamsieve import state
from streamsieve.decisions import KEPT
from streamsieve.exceptions import CapabilityError, ParameterError, SourceError, StreamSieveError

N, P = 120, 90


def table(seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, N)
    X = rng.normal(size=(N, P))
    X[:, ::9] += y[:, None]
    X[:, 5] = X[:, 0] + 0.1 * rng.normal(size=N)
    X[:, 7] = 1.0
    return pd.DataFrame(X, columns=[f"c{j}" for j in range(P)]).assign(y=y)


@pytest.fixture
def path(tmp_path):
    table().to_parquet(tmp_path / "wide.parquet")
    return str(tmp_path / "wide.parquet")


SIEVES = {
    "saola": lambda: ss.SAOLA(alpha=0.05),
    "osfs": lambda: ss.OSFS(alpha=0.05),
    "fast_osfs": lambda: ss.FastOSFS(alpha=0.05),
    "online_fdr": lambda: ss.OnlineFDR(),
    "saola fdr": lambda: ss.SAOLA(fdr="lord"),
    "top_k": lambda: ss.TopK(5),
    "ledger": lambda: ss.FastOSFS(alpha=0.05, ledger="all"),
    "su": lambda: ss.SAOLA(measure="su"),
}


@pytest.mark.parametrize("name", SIEVES)
@pytest.mark.parametrize("block_size", [7, 1024])
def test_ledger_and_selection_equal_one_process(name, block_size, path):
    source, seen = ss.open(path, target="y"), []
    one = ss.run(source, SIEVES[name](), block_size=block_size)
    found = ss.run(
        source, SIEVES[name](), engine="dask", block_size=block_size, workers=2, progress=seen.append
    )
    assert sum(seen) == P
    assert found.position_ == one.position_
    np.testing.assert_array_equal(found.get_support(), one.get_support())
    assert repr(list(found.ledger_)) == repr(list(one.ledger_))  # NaN is not equal to itself


@pytest.mark.full
def test_processes_of_this_machine(path):
    source = ss.open(path, target="y")
    found = [ss.run(source, ss.SAOLA(), engine="local", workers=n, block_size=8) for n in (1, 2)]
    one = ss.run(source, ss.SAOLA(), block_size=8)
    for each in found:
        assert list(each.ledger_) == list(one.ledger_)
    assert found[0].selected_.tolist() == one.selected_.tolist()


@pytest.mark.full
@pytest.mark.filterwarnings("ignore")  # Dask's own
def test_a_cluster(path):
    distributed = pytest.importorskip("distributed")
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    source = ss.open(path, target="y")
    one = ss.run(source, ss.SAOLA(), block_size=8)
    with cluster, distributed.Client(cluster) as client:
        found = ss.run(source, ss.SAOLA(), engine=client, block_size=8)
    assert list(found.ledger_) == list(one.ledger_)


@pytest.mark.full
@pytest.mark.filterwarnings("ignore")  # Spark's own
@pytest.mark.parametrize("name", ["saola", "fast_osfs", "saola fdr"])
def test_executors_of_spark(spark, name, path):
    source, seen = ss.open(path, target="y"), []
    one = ss.run(source, SIEVES[name](), block_size=4)
    found = ss.run(source, SIEVES[name](), engine=spark, block_size=4, progress=seen.append)
    assert sum(seen) == P
    assert found.selected_.tolist() == one.selected_.tolist()
    assert repr(list(found.ledger_)) == repr(list(one.ledger_))


@pytest.mark.full
@pytest.mark.filterwarnings("ignore")  # Spark's own
def test_spark_stops_and_names_errors(classic, path, tmp_path):
    source = ss.open(path, target="y")
    make = lambda: ss.SAOLA(stop=ss.Stop(max_offers=4))  # noqa: E731
    found = ss.run(source, make(), engine=classic, block_size=2)
    assert found.stopped_ == "max_offers=4"
    assert list(found.ledger_) == list(ss.run(source, make(), block_size=2).ledger_)
    data = table()
    data.loc[3, "c13"] = np.inf
    data.to_parquet(tmp_path / "bad.parquet")
    with pytest.raises(StreamSieveError, match=r"bad.parquet, row 4: .*'c13'"):
        ss.run(ss.open(str(tmp_path / "bad.parquet"), target="y"), ss.SAOLA(), engine=classic, block_size=10)


def test_data_in_memory_and_a_selector_that_goes_on(path):
    data = table()
    source = ss.open(data.drop(columns="y"), target=data["y"].to_numpy())
    half = ss.SAOLA().begin(data["y"].to_numpy())
    half.offer(data[[f"c{j}" for j in range(40)]])
    found = ss.run(source, half, engine="dask", start={"column": 40}, block_size=9)
    assert list(found.ledger_) == list(ss.run(source, ss.SAOLA()).ledger_)


def test_only_relevant_columns_travel(path):
    source = ss.open(path, target="y")
    from streamsieve.engines.columns import measure
    from streamsieve.engines.declared import versions

    block = measure((source, ss.SAOLA(alpha=0.01).begin(source.y), versions()), 0, P)
    relevant = block.relevance.reason == KEPT
    assert block.X.shape[1] == relevant.sum() < P / 3
    assert all(len(numbers) == relevant.sum() for numbers in block.relevance.columns)
    of_all = (block.relevance.reason, block.relevance.statistic, block.types)
    assert sum(array.nbytes for array in of_all) == 10 * P


def test_a_stop_leaves_the_rest_uncomputed(path, monkeypatch):
    from streamsieve.engines import columns, ordered

    asked, real = [], columns.measure

    def counting(shared, low, size):
        asked.append(low)
        return real(shared, low, size)

    monkeypatch.setattr(columns, "measure", counting)
    source = ss.open(path, target="y")
    make = lambda: ss.SAOLA(stop=ss.Stop(max_offers=4))  # noqa: E731
    found = ss.run(source, make(), engine="dask", block_size=2, workers=1)
    one = ss.run(source, make(), block_size=2)
    assert found.stopped_ == one.stopped_ == "max_offers=4"
    assert list(found.ledger_) == list(one.ledger_)
    assert len(asked) <= 2 + ordered.AHEAD


@pytest.mark.parametrize("bad", [np.inf, np.nan], ids=str)
def test_a_value_that_is_refused_is_named_and_those_before_are_decided(bad, tmp_path):
    data = table()
    data.loc[3, "c13"] = bad
    data.to_parquet(tmp_path / "wide.parquet")
    source = ss.open(str(tmp_path / "wide.parquet"), target="y")
    texts, offered = [], []
    for engine in (None, "dask"):
        sieve = ss.SAOLA()
        with pytest.raises(StreamSieveError, match=r"wide.parquet, row 4: .*'c13'") as caught:
            ss.run(source, sieve, engine=engine, block_size=10)
        texts.append(str(caught.value))
        offered.append(sieve.n_features_in_)
    assert texts[0] == texts[1]
    assert offered == [13, 13]


def test_other_versions_are_refused(path, monkeypatch):
    from streamsieve.engines import columns

    monkeypatch.setattr(columns, "versions", lambda: {**real(), "numpy": "0.0.1"})
    with pytest.raises(SourceError, match="has 0.0.1: install the same version everywhere"):
        ss.run(ss.open(path, target="y"), ss.SAOLA(), engine="dask")


def real():
    from streamsieve.engines.declared import versions

    return versions()


GIVEN_THE_MODEL = [
    ss.OnlineFDR(scope="conditional"),
    ss.AlphaInvesting(),
    ss.InformationInvesting(),
    ss.StreamwiseIC(),
    ss.Grafting(),
]


@pytest.mark.parametrize("sieve", GIVEN_THE_MODEL, ids=str)
def test_methods_that_judge_given_the_model_so_far_are_refused(sieve, path):
    with pytest.raises(CapabilityError, match="nothing can be measured in advance"):
        ss.run(ss.open(path, target="y"), sieve, engine="dask")
    assert not hasattr(sieve, "ledger_")


def test_refusals(path):
    class Own:
        y, n_columns, names = table()["y"].to_numpy(), None, None

        def columns(self, block_size=1024, start=None):
            return iter(())

    with pytest.raises(CapabilityError, match="Own does not say which columns workers could read"):
        ss.run(Own(), ss.SAOLA(), engine="local")
    with pytest.raises(ParameterError, match="engine must be one of 'local', 'dask', 'spark'"):
        ss.run(ss.open(path, target="y"), ss.SAOLA(), engine="sparkle")
    with pytest.raises(ParameterError, match="leave out workers="):
        ss.run(ss.open(path, target="y"), ss.SAOLA(), engine="spark", workers=2)
    with pytest.raises(ParameterError, match="rows_per_task is about rows, and SAOLA streams columns"):
        ss.run(ss.open(path, target="y"), ss.SAOLA(), engine="local", rows_per_task=2)


def arrays(sieve):
    """Everything in a state but the moment at which it began."""
    found = state.from_bytes(sieve.to_bytes())[1]
    return {name: values.tobytes() for name, values in found.items() if name != "started_"}


def test_the_bits_of_one_process_for_any_number_of_workers(path):
    source = ss.open(path, target="y")
    one = ss.run(source, ss.FastOSFS(), block_size=5)
    for workers in (1, 3):
        found = ss.run(source, ss.FastOSFS(), engine="dask", block_size=5, workers=workers)
        assert arrays(found) == arrays(one)
