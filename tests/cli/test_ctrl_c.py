"""Ctrl-C in a process of its own: exit code 130 within a second, one line, and a checkpoint to go on from."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import streamsieve as ss
from streamsieve.cli import run

#: Seconds that an answer may take: one, and what a busy machine adds.
SOON = 2.5
#: Selectors that are busy in compiled code for minutes, once they have learnt 500 rows or 3 columns.
BUSY = """
import hashlib, sys, streamsieve as ss
from streamsieve.cli import main
real = {cls: getattr(cls, name) for cls, name in ((ss.Screen, "learn"), (ss.SAOLA, "offer"))}
def learn(self, batch):
    result = real[type(self)](self, batch)
    if getattr(self, "n_samples_seen_", 0) >= 500 and self.n_features_in_ >= 3:
        print("busy", flush=True)
        hashlib.pbkdf2_hmac("sha256", b"", b"", 2**31 - 1)
    return result
ss.Screen.learn = ss.SAOLA.offer = learn
main(sys.argv[1:])
"""


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    n = 3_000
    columns = {f"c{j}": rng.normal(size=n) for j in range(8)}
    pq.write_table(pa.table({**columns, "label": rng.integers(0, 2, n)}), tmp_path / "t.parquet")
    return tmp_path / "t.parquet"


def interrupted(arguments, program, ready):
    """Start a command, press Ctrl-C when it is ready, and return its exit code and what it said."""
    command = [sys.executable, "-c", program, *map(str, arguments)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        ready(process)
        time.sleep(0.1)
        started = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert time.monotonic() - started < SOON
    lines = (line for line in said.splitlines(keepends=True) if not line.startswith("compiling kernels"))
    return process.returncode, "".join(lines)


@pytest.mark.parametrize("command", ["screen", pytest.param("select", marks=pytest.mark.full)])
def test_compiled_code_does_not_keep_ctrl_c_waiting(table, tmp_path, command):
    checkpoint, out = tmp_path / "c.sieve", tmp_path / "kept.csv"
    arguments = [command, table, "--target", "label", "--out", out]
    by_rows = ["--batch", "100", "--every", "100", "--checkpoint", checkpoint]
    arguments += by_rows if command == "screen" else ["--method", "saola", "--block", "1"]
    code, said = interrupted(arguments, BUSY, lambda process: process.stdout.readline())
    assert code == 130, said
    assert said.count("\n") == 1
    assert not out.exists()
    if command == "screen":
        rows = ss.load(checkpoint).n_samples_seen_
        assert 100 <= rows <= 400
        assert said == (
            f"interrupted; {checkpoint} holds the first {rows} rows: the same command with --resume goes on "
            "from there\n"
        )
        assert run([*map(str, arguments), "--resume", "-q"]) == 0
        assert ss.load(checkpoint).n_samples_seen_ == 3_000
    else:
        assert said == "interrupted; no file was half-written\n"
        assert [path.name for path in tmp_path.iterdir()] == ["t.parquet"]


@pytest.mark.full
def test_a_run_ends_between_two_batches_and_keeps_them_all(tmp_path):
    rng = np.random.default_rng(0)
    n, path, checkpoint = 300_000, tmp_path / "long.parquet", tmp_path / "long.sieve"
    columns = {f"c{j}": rng.normal(size=n) for j in range(8)}
    pq.write_table(pa.table({**columns, "label": rng.integers(0, 2, n)}), path)
    arguments = [
        "screen",
        path,
        "--target",
        "label",
        "--batch",
        "10",
        "--every",
        "10",
        "--checkpoint",
        checkpoint,
    ]

    def ready(process):
        until = time.monotonic() + 60
        while not checkpoint.exists() and process.poll() is None and time.monotonic() < until:
            time.sleep(0.005)

    code, said = interrupted(arguments, "from streamsieve.cli import main; main()", ready)
    assert code == 130, said
    rows = ss.load(checkpoint).n_samples_seen_
    assert 0 < rows < n
    assert said.startswith(f"interrupted; {checkpoint} holds the first {rows:,} rows: ")
    assert said.count("\n") == 1
    assert not [p for p in tmp_path.iterdir() if p.name.startswith(".")]
    done = [*arguments[:4], "--batch", "5000", "--checkpoint", checkpoint, "--resume", "-q"]
    assert run([*map(str, done)]) == 0
    assert ss.load(checkpoint).n_samples_seen_ == n


#: Arrow reads ahead from slow files of Python while the command ends.
READING_AHEAD = """
import io, sys, time
from pyarrow import csv
from streamsieve.cli import main

class Slow(io.BytesIO):
    def read(self, size=-1):
        time.sleep(0.02)
        return super().read(size)

files = [Slow(b"a,b\\n" + b"1,2\\n" * 100_000) for _ in range(20)]
readers = [csv.open_csv(file, read_options=csv.ReadOptions(block_size=4096)) for file in files]
main(["select", "no.csv", "--target", "y"])
"""


def test_an_error_is_no_abort_while_files_are_read_ahead():
    done = subprocess.run([sys.executable, "-c", READING_AHEAD], capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.full
@pytest.mark.parametrize(
    ("streams", "code"), [(">&-", 0), (">&- 2>&-", 0), ("--json > /dev/full", 2), ("| head -0", 0)], ids=str
)
def test_a_command_ends_in_order_whatever_its_output_is(table, streams, code):
    if "/dev/full" in streams and not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full here")
    command = f"{sys.executable} -m streamsieve screen {table} --target label --save s.sieve {streams}"
    done = subprocess.run(  # noqa: S602 - what is tested is what a shell does
        command, shell=True, capture_output=True, text=True, cwd=table.parent, check=False
    )
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert ("No space left on device" in done.stderr) == (code == 2)
    assert ss.load(table.parent / "s.sieve").n_samples_seen_ == 3_000


@pytest.mark.full
def test_a_terminal_without_the_characters_of_a_name_shows_escapes(tmp_path):
    y = np.arange(60) % 2
    columns = {"\N{GREEK SMALL LETTER ALPHA}": y * 1.0, "b": y * 2.0, "y": y}
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    command = [sys.executable, "-m", "streamsieve", "screen", "t.parquet", "--target", "y", "--k", "2"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, capture_output=True, cwd=tmp_path, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    assert rb"\u03b1" in done.stdout
