"""A real Dask cluster of two processes: the bits of one process, also after workers were killed."""

import os
import signal
import threading
import time
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import streamsieve as ss
from streamsieve.engines import declared
from streamsieve.exceptions import SourceError, StreamSieveError
from tests.engines.laws import assert_same_bits, assert_the_script_of_the_guide_moves, files, opened
from tests.engines.test_laws import SCREENS, by_hand, with_a_deadly_part

pytestmark = [
    pytest.mark.full,
    pytest.mark.filterwarnings("ignore"),  # Dask's own, while workers die
]


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed")
    import dask

    with dask.config.set({"distributed.scheduler.allowed-failures": 20}):
        cluster = distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        )
        with cluster, distributed.Client(cluster) as found:
            yield found


@pytest.mark.parametrize("name", ["f", "mutual_info", "half_life"])
def test_a_cluster_gives_the_bits_of_one_process(client, name, tmp_path):
    source, seen = opened(files(tmp_path, 7)), []
    options = {"rows_per_task": 300, "batch_size": 256, "progress": seen.append}
    wanted = by_hand(source, SCREENS[name](), 300)
    assert_same_bits(ss.run(source, SCREENS[name](), engine=client, **options), wanted)
    assert_same_bits(ss.run(source, SCREENS[name](), engine="dask", **options), wanted)  # the running client
    assert sum(seen) == 8000


def test_the_script_of_the_guide_moves_to_a_cluster_by_one_argument(client, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert_the_script_of_the_guide_moves(client)


def test_an_error_on_a_worker_is_named_and_ends_the_run(client, tmp_path):
    paths = files(tmp_path, 5)
    table = pq.read_table(paths[2])
    pq.write_table(table.set_column(2, "c2", pa.array(np.full(len(table), np.inf))), paths[2])
    with pytest.raises(StreamSieveError, match="^part .*part-02.parquet, row 1: .*'c2' holds inf"):
        ss.run(opened(paths), ss.Screen("f"), engine=client, rows_per_task=300)


def test_a_file_that_vanishes_on_the_way_to_a_worker_is_named(client, tmp_path, monkeypatch):
    paths = files(tmp_path, 5)
    source, selector = opened(paths), ss.Screen("f")
    made = declared.declared_of

    def planned(*given):
        found = made(*given)
        paths[-1].unlink()
        return found

    monkeypatch.setattr("streamsieve.engines.run.declared_of", planned)
    with pytest.raises(SourceError, match=r"^part \d+.*part-04.parquet cannot be read"):
        ss.run(source, selector, engine=client, rows_per_task=300)
    assert not hasattr(selector, "n_features_in_")


def test_ctrl_c_leaves_the_cluster_idle_and_the_selector_alone(client, tmp_path):
    source, selector = opened(files(tmp_path, 20, n=20_000)), SCREENS["mutual_info"]()

    def interrupt(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ss.run(source, selector, engine=client, rows_per_task=200, progress=interrupt)
    assert not hasattr(selector, "n_features_in_")
    until = time.monotonic() + 60
    while any(client.processing().values()) or any(client.has_what().values()):
        assert time.monotonic() < until
        time.sleep(0.05)
    assert ss.run(source, selector, engine=client, rows_per_task=2000).n_samples_seen_ == 20_000


def test_workers_have_the_versions_of_the_driver(client, tmp_path, monkeypatch):
    # the driver takes itself for another version; the workers know theirs
    theirs = {**declared.versions(), "numba": "0.0.1"}
    made = declared.declared_of
    monkeypatch.setattr(
        "streamsieve.engines.run.declared_of", lambda *given: replace(made(*given), versions=theirs)
    )
    with pytest.raises(SourceError, match="has numba .*, the process that started the run has 0.0.1"):
        ss.run(opened(files(tmp_path, 3)), ss.Screen("f"), engine=client, rows_per_task=900)


def test_a_part_that_kills_every_worker_is_named(client, tmp_path):
    def allow(failures, dask_scheduler):
        before, dask_scheduler.allowed_failures = dask_scheduler.allowed_failures, failures
        return before

    source, selector = with_a_deadly_part(opened(files(tmp_path, 7)), 2), ss.Screen("f")
    before = client.run_on_scheduler(allow, 1)
    try:
        with pytest.raises(SourceError, match=r"a worker died each time .*part 3 \(deadly.parquet\)"):
            ss.run(source, selector, engine=client, rows_per_task=900)
    finally:
        client.run_on_scheduler(allow, before)
    assert not hasattr(selector, "n_features_in_")
    client.wait_for_workers(2, timeout=60)


def test_killed_workers_change_no_bit(client, tmp_path):
    source = opened(files(tmp_path, 20, n=20_000))
    wanted = by_hand(source, SCREENS["mutual_info"](), 400)
    rng, killed = np.random.default_rng(0), []
    for _ in range(3):
        # a worker may have died and not be missed yet
        pids = [pid for pid in client.run(os.getpid, on_error="return").values() if isinstance(pid, int)]
        delay = float(rng.uniform(0.05, 0.6))

        def kill(pid=pids[0], delay=delay):
            time.sleep(delay)
            os.kill(pid, signal.SIGKILL)
            killed.append(pid)

        thread = threading.Thread(target=kill)
        thread.start()
        try:
            found = ss.run(
                source, SCREENS["mutual_info"](), engine=client, rows_per_task=400, batch_size=256, retries=20
            )
        finally:
            thread.join()
        assert_same_bits(found, wanted)
        client.wait_for_workers(2, timeout=60)
    assert len(killed) == 3
