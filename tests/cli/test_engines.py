"""Engines on the command line: the same selection, progress, and refusals in one line."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import streamsieve as ss
from streamsieve.cli import run
from streamsieve.cli import select as implementation
from tests.engines.laws import files

SCREEN = ("--target", "y", "--criterion", "f", "--k", "2")


@pytest.fixture
def parts(tmp_path):
    return [str(path) for path in files(tmp_path, 5)]


def answer(capsys, *arguments):
    capsys.readouterr()
    assert run([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


PROCESSES = pytest.param(("local", "--workers", "2"), marks=pytest.mark.full)


@pytest.mark.parametrize("engine", [("dask",), ("dask", "--workers", "2"), PROCESSES], ids=" ".join)
def test_an_engine_keeps_what_one_process_keeps(parts, engine, capsys):
    plain = answer(capsys, "screen", *parts, *SCREEN)
    found = answer(capsys, "screen", *parts, *SCREEN, "--engine", *engine, "--rows-per-task", "900")
    assert [f["feature"] for f in found["kept"]] == [f["feature"] for f in plain["kept"]]
    np.testing.assert_allclose(
        [f["score"] for f in found["kept"]], [f["score"] for f in plain["kept"]], rtol=1e-12
    )
    assert found["rows"] == plain["rows"] == 4000


def test_select_takes_an_engine_for_methods_over_rows(parts, capsys):
    method = ("--target", "y", "--method", "screen", "--param", "criterion=f", "--param", "k=2")
    found = answer(capsys, "select", *parts, *method, "--engine", "dask")
    assert len(found["kept"]) == 2
    assert not any("target:" in note for note in found["notes"]), "labels are not read here as well"


def test_a_saved_result_is_that_of_the_library(parts, tmp_path, capsys):
    out = tmp_path / "f.sieve"
    at = ("--engine", "dask", "--rows-per-task", "900")
    assert run(["screen", *parts, *SCREEN, *at, "--save", str(out), "-q"]) == 0
    source = ss.open(parts, target="y", categories="auto", dates="drop")
    wanted = ss.run(source, ss.Screen("f", k=2), engine="dask", rows_per_task=900)
    found = ss.load(out)
    np.testing.assert_array_equal(found.scores_, wanted.scores_)
    assert found._covered_.spans == wanted._covered_.spans


def test_rows_are_reported_part_by_part(parts, monkeypatch, capsys):
    seen = []

    class Bar:
        def __init__(self, *_, **__):
            pass

        def __enter__(self):
            return seen.append

        def __exit__(self, *_):
            pass

    monkeypatch.setattr(implementation, "progress", Bar)
    assert run(["screen", *parts, *SCREEN, "--engine", "dask", "--rows-per-task", "900", "-q"]) == 0
    assert sum(seen) == 4000
    assert len(seen) > 3


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--workers", "2"), "--workers is about an engine: say which, --engine local or dask"),
        (("--scheduler", "tcp://a:1"), "--scheduler is about an engine"),
        (("--rows-per-task", "2"), "--rows-per-task is about an engine"),
        (("--engine", "sparkle"), "--engine must be one of 'local', 'dask'"),
        (("--engine", "local", "--scheduler", "tcp://a:1"), "say --engine dask"),
        (("--engine", "dask", "--scheduler", "tcp://a:1", "--workers", "2"), "leave out --workers"),
        (("--engine", "local", "--checkpoint", "x.sieve"), "leave out --checkpoint or --engine"),
        (
            ("--engine", "local", "--on-drift", "reset"),
            "depends on the order of rows and cannot be distributed",
        ),
        (("--engine", "local", "--review-every", "100"), "leave review_every out"),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, tuple) else "",
)
def test_what_does_not_go_together_is_refused(parts, options, said, refused):
    refused(["screen", *parts, *SCREEN, *options], said)


def test_a_topic_is_refused_before_it_is_waited_for(refused, monkeypatch):
    def contacted(*args, **kwargs):
        raise AssertionError

    monkeypatch.setattr(implementation, "opened", contacted)
    for command in (["screen"], ["select", "--method", "screen"]):
        refused(
            [*command, "kafka://localhost:9/clicks", "--target", "y", "--engine", "local"],
            "a Kafka topic has no parts: leave out --engine",
        )


def test_methods_over_columns_are_refused(parts, refused):
    refused(
        ["select", *parts, "--target", "y", "--method", "saola", "--engine", "local"],
        "saola does not stream rows",
        "--method screen",
    )


def test_an_error_names_part_file_and_column(parts, refused):
    table = pq.read_table(parts[3])
    pq.write_table(table.set_column(2, "c2", pa.array(np.full(len(table), np.inf))), parts[3])
    command = ["screen", *parts, *SCREEN, "--engine", "dask", "--rows-per-task", "400"]
    refused(command, "error: part ", "part-03.parquet, row 1: ", "'c2' holds inf")


@pytest.mark.full
@pytest.mark.filterwarnings("ignore")  # Dask's own
def test_a_scheduler_that_is_not_there_is_named(parts, refused, monkeypatch):
    monkeypatch.setattr("streamsieve.cli.engine.PATIENCE", 1)
    command = ["screen", *parts, *SCREEN, "--engine", "dask", "--scheduler", "tcp://127.0.0.1:1"]
    refused(command, "there is no Dask scheduler at tcp://127.0.0.1:1", "correct --scheduler")


@pytest.mark.full
@pytest.mark.filterwarnings("ignore")
def test_a_cluster_by_its_address(parts, capsys):
    distributed = pytest.importorskip("distributed")
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    plain = answer(capsys, "screen", *parts, *SCREEN)
    with cluster:
        at = ("--engine", "dask", "--scheduler", cluster.scheduler_address, "--rows-per-task", "900")
        found = answer(capsys, "screen", *parts, *SCREEN, *at)
    assert [f["feature"] for f in found["kept"]] == [f["feature"] for f in plain["kept"]]


#: The command line, with processes for few rows as well.
WITH_PROCESSES = """
from streamsieve.cli import main
from streamsieve.engines import local
if __name__ == "__main__":
    local.FEW_VALUES = 0
    main()
"""


@pytest.mark.full
def test_ctrl_c_leaves_no_worker_behind(tmp_path):
    psutil = pytest.importorskip("psutil")
    paths = [str(path) for path in files(tmp_path, 40, n=200_000)]
    command = [sys.executable, "-c", WITH_PROCESSES, "screen", *paths, "--target", "y", "--criterion"]
    command += ["mutual_info", "--engine", "local", "--workers", "2", "--rows-per-task", "500"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    parent, workers = psutil.Process(process.pid), []
    deadline = time.monotonic() + 60
    while len(workers) < 2 and time.monotonic() < deadline:
        workers = [c for c in parent.children() if "loky" in " ".join(c.cmdline())]
        time.sleep(0.05)
    time.sleep(1)
    assert process.poll() is None
    os.kill(process.pid, signal.SIGINT)
    _, error = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "interrupted; no file was half-written" in error
    _, alive = psutil.wait_procs(workers, timeout=10)
    assert not alive
