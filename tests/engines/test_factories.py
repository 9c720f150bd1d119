"""Feature factories on an engine: computed and measured by workers, settled here, as in one process."""

# ruff: noqa: B023 - a function is packed before its factory goes on

import os
import signal
import time
from itertools import product

import numpy as np
import pandas as pd
import pytest

import streamsieve as ss
from streamsieve.dependence import MeasuredBlock
from streamsieve.engines import ordered
from streamsieve.engines.factories import make
from streamsieve.exceptions import CapabilityError, ParameterError, SourceError, StreamSieveError

N, P = 150, 14
rng = np.random.default_rng(0)
RAW = rng.normal(size=(N, P))
Y = (RAW[:, 2] * RAW[:, 5] + RAW[:, 9] > 0).astype(int)


def products():
    for i in range(P):
        for j in range(i + 1):
            yield f"{i} x {j}", lambda: RAW[:, i] * RAW[:, j]


def times(pair):
    i, j = pair
    return RAW[:, i] * RAW[:, j]


SIEVES = {
    "saola": lambda: ss.SAOLA(alpha=0.05),
    "fast_osfs": lambda: ss.FastOSFS(alpha=0.05),
    "fdr": lambda: ss.SAOLA(fdr="lord"),
    "online_fdr": ss.OnlineFDR,
    "top_k": lambda: ss.TopK(5),
}
WAYS = {
    "functions": lambda: ss.features(products, Y),
    "compute": lambda: ss.features([(i, j) for i in range(P) for j in range(i + 1)], Y, compute=times),
    "names": lambda: ss.features(
        [lambda k=k: RAW[:, k] for k in range(P)], Y, names=[f"raw {k}" for k in range(P)]
    ),
    "series": lambda: ss.open(
        pd.DataFrame(RAW).add_prefix("c"), target=Y, transform=lambda name, x: iter([(f"{name}^2", x**2), x])
    ),
}


def shown(sieve):
    """Everything but what the clock says."""
    return repr(list(sieve.ledger_)), sieve.selected_.tolist(), sieve.position_, sieve.n_features_in_


@pytest.mark.parametrize("name", SIEVES)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("block_size", [None, 4], ids=["one", "four"])
def test_ledger_and_selection_equal_one_process(name, way, block_size):
    seen = []
    one = ss.run(WAYS[way](), SIEVES[name](), block_size=block_size)
    found = ss.run(
        WAYS[way](), SIEVES[name](), engine="dask", workers=2, block_size=block_size, progress=seen.append
    )
    assert shown(found)[:3] == shown(one)[:3]
    assert sum(seen) == one.n_features_in_ > 0
    assert found.get_feature_names_out().tolist() == one.get_feature_names_out().tolist()
    assert len(found.ledger_.seconds) == len(one.ledger_.seconds)
    assert np.nansum(found.ledger_.seconds) > 0


def test_processes_of_this_machine():
    one = ss.run(ss.features(products, Y), ss.FastOSFS())
    found = ss.run(ss.features(products, Y), ss.FastOSFS(), engine="local", workers=2, block_size=10)
    assert shown(found) == shown(one)


@pytest.mark.full
@pytest.mark.filterwarnings("ignore")  # Dask's own
def test_a_cluster(tmp_path):
    distributed = pytest.importorskip("distributed")
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    one = ss.run(ss.features(products, Y), ss.FastOSFS())
    place = str(tmp_path / "pids")

    def noted():
        for name, compute in products():
            yield name, lambda: (_note(place), compute())[1]

    with cluster, distributed.Client(cluster) as client:
        found = ss.run(ss.features(noted, Y), ss.FastOSFS(), engine=client)
        pids = set((tmp_path / "pids").read_text().split())
        workers = {str(pid) for pid in client.run(os.getpid).values()}
    assert shown(found) == shown(one)
    assert pids <= workers
    assert str(os.getpid()) not in pids


def _note(place):
    with open(place, "a") as file:  # noqa: PTH123 - on a worker
        file.write(f"{os.getpid()}\n")


@pytest.mark.full
@pytest.mark.filterwarnings("ignore")  # Spark's own
def test_executors_of_spark(spark):
    one = ss.run(ss.features(products, Y), ss.FastOSFS())
    found = ss.run(ss.features(products, Y), ss.FastOSFS(), engine=spark, block_size=4)
    assert shown(found) == shown(one)


@pytest.mark.parametrize("engine", ["dask", pytest.param("local", marks=pytest.mark.full)])
def test_at_most_four_blocks_for_each_worker_are_computed_in_vain(engine, tmp_path):
    place = str(tmp_path / "pids")

    def noted():
        for k in range(1000):
            yield f"c{k}", lambda: (_note(place), RAW[:, k % P] + k)[1]

    sieve = ss.SAOLA(stop=ss.Stop(max_offers=6))
    found = ss.run(ss.features(noted, Y), sieve, engine=engine, workers=2, block_size=2)
    assert found.n_features_in_ == 6
    computed = len((tmp_path / "pids").read_text().split())
    assert 6 <= computed <= 6 + 2 * 2 * ordered.AHEAD


@pytest.mark.parametrize(
    ("engine", "bad"),
    [
        *product([None, "dask"], ["raises", "short", "text", "inf"]),
        # one stands for all in processes, which take seconds to start
        pytest.param("local", "raises", marks=pytest.mark.full),
    ],
)
def test_a_candidate_that_is_no_column_is_named_and_those_before_are_decided(engine, bad):
    values = {"short": RAW[:3, 0], "text": np.array(["a"] * N), "inf": np.full(N, np.inf)}

    def spoiled():
        for k in range(12):
            yield (
                f"c{k}",
                lambda: 1 / 0 if k == 7 and bad == "raises" else values[bad] if k == 7 else RAW[:, k],
            )

    said = {
        "raises": r"feature 7 \(counting from 0\), 'c7', could not be computed: ZeroDivisionError",
        "short": r"feature 7 .*'c7', has 3 values, but there are 150 rows",
        "text": r"feature 7 .*'c7', holds text",
        "inf": r"'c7' holds inf",
    }[bad]
    sieve = ss.SAOLA()
    options = {} if engine is None else {"engine": engine, "workers": 2}
    with pytest.raises(StreamSieveError, match=said):
        ss.run(ss.features(spoiled, Y), sieve, block_size=3, **options)
    assert sieve.n_features_in_ == 7
    assert sieve.position_ == {"column": 7}
    # the run goes on after it, on the engine or here
    source = ss.features(products, Y)
    on = ss.run(source, sieve, start={"column": 100}, block_size=3, **options)
    assert on.n_features_in_ == 7 + P * (P + 1) // 2 - 100


@pytest.mark.parametrize("start", [None, {"column": 5}, {"column": 9, "item": 4, "inside": 1}], ids=str)
def test_several_columns_of_one(start):
    source = lambda: WAYS["series"]()  # noqa: E731
    one = ss.run(source(), ss.SAOLA(), start=start)
    found = ss.run(source(), ss.SAOLA(), start=start, engine="dask", block_size=3)
    assert shown(found) == shown(one)


def test_only_relevant_columns_travel():
    sieve = ss.SAOLA(alpha=0.01).begin(Y)
    source = ss.features(products, Y)
    from streamsieve.engines.declared import versions

    made = make((source.maker, sieve, N, versions()), list(source.candidates()), 0)
    assert isinstance(made.block, MeasuredBlock)
    assert len(made.names) == P * (P + 1) // 2
    assert made.block.X.shape[1] < len(made.names) / 4


def test_refusals():
    for source, error, message in (
        (ss.features(products, Y, workers=2), ParameterError, "leave out workers="),
        (ss.features(products(), Y), SourceError, "iterator cannot start again"),
        (ss.features(lambda: [RAW[:, 0]], Y), SourceError, "feature 0 .*yield a function, or give compute="),
        (ss.features(list, Y), SourceError, "has no columns"),
        (ss.features(lambda: 1 / 0, Y), SourceError, "the factory raised ZeroDivisionError"),
    ):
        sieve = ss.SAOLA()
        with pytest.raises(error, match=message):
            ss.run(source, sieve, engine="dask")
    with pytest.raises(CapabilityError, match="nothing can be measured in advance"):
        ss.run(ss.features(products, Y), ss.AlphaInvesting(), engine="dask")

    def broken():
        yield "a", lambda: RAW[:, 0]
        raise OSError("disk")

    sieve = ss.SAOLA()
    with pytest.raises(SourceError, match="feature 1 .*the generator raised OSError: disk"):
        ss.run(ss.features(broken, Y), sieve, engine="dask", block_size=5)
    assert sieve.n_features_in_ == 1


@pytest.mark.full
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="kills processes")
def test_killed_processes_change_nothing_and_a_candidate_that_kills_is_named(tmp_path):
    once = str(tmp_path / "killed")

    def dies_once():
        for name, compute in products():
            yield name, lambda: (_die_once(once) if name == "6 x 3" else None, compute())[1]

    one = ss.run(ss.features(products, Y), ss.FastOSFS())
    found = ss.run(ss.features(dies_once, Y), ss.FastOSFS(), engine="local", workers=2, block_size=4)
    assert os.path.exists(once)  # noqa: PTH110
    assert shown(found) == shown(one)

    def dies():
        yield "calm", lambda: RAW[:, 0]
        yield "deadly", lambda: os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(SourceError, match="a worker died each time the features '(calm|deadly)' were under"):
        ss.run(ss.features(dies, Y), ss.FastOSFS(), engine="local", workers=1, retries=1)


def _die_once(place):
    try:
        os.close(os.open(place, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return
    os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(60)
