"""A file system that is really full: the old file or the new one, never a torn one, and a named error."""

import contextlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from sklearn.naive_bayes import GaussianNB

import streamsieve as ss
from streamsieve import state
from streamsieve.cli import run
from streamsieve.evaluation import screening_protocol
from streamsieve.exceptions import StateError
from tests.cli.conftest import contents

pytestmark = pytest.mark.full

SIZE = 4 * 2**20
#: Bytes that are left on the disk: nothing, room for a folder, for a part of a file.
LEFT = (0, 4_096, 12_288)


class Disk:
    """A small file system, which can be filled up to some bytes."""

    def __init__(self, folder):
        self.folder = folder
        self._filler = folder / "filler"

    @contextlib.contextmanager
    def full_but(self, left):
        """Context: only ``left`` bytes are free."""
        free = os.statvfs(self.folder)
        with contextlib.suppress(OSError), self._filler.open("wb", buffering=0) as file:
            for _ in range(max(0, free.f_bavail * free.f_bsize - left) // 4_096):
                file.write(bytes(4_096))  # a checkpoint that is being written may take the rest
        try:
            yield
        finally:
            self._filler.unlink()

    def contents(self):
        """Return the files that are there, and what they hold."""
        return {name: held for name, held in contents(self.folder).items() if name != str(self._filler)}


@pytest.fixture
def disk(tmp_path):
    """Return a file system of its own of 4 MB, in memory."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount, unmount = shutil.which("mount"), shutil.which("umount")
    command = [mount or "mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(folder)]
    if (
        mount is None
        or unmount is None
        or os.geteuid()
        or subprocess.run(command, capture_output=True, check=False).returncode
    ):
        pytest.skip("A FULL DISK WAS NOT TRIED: only root may mount a file system")
    try:
        yield Disk(folder)
    finally:
        subprocess.run([unmount, "-l", str(folder)], check=True)


def data(n=400, p=30):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    X = rng.normal(size=(n, p))
    X[:, 3] += y
    return X, y


def selector(k=2):
    return ss.Screen("mutual_info", k=k).fit(*data())


@pytest.mark.parametrize("left", LEFT)
def test_save_leaves_the_old_state(disk, left):
    path = disk.folder / "state.sieve"
    with disk.full_but(left), pytest.raises(StateError, match=r"cannot write .*state\.sieve: .*[Nn]o space"):
        selector().save(path)
    assert disk.contents() == {}
    selector().save(path)
    before = disk.contents()
    with disk.full_but(left), pytest.raises(StateError, match=r"No space.*previous file is untouched"):
        selector(5).save(path)
    assert disk.contents() == before
    selector(5).save(path)
    assert ss.load(path).k == 5


@pytest.mark.parametrize("left", LEFT)
def test_a_run_leaves_its_last_checkpoint(disk, left):
    X, y = data(2_000)
    path = disk.folder / "run.sieve"
    with contextlib.ExitStack() as stack:
        learned = []

        def fill(rows):
            learned.append(rows)
            if len(learned) == 10:
                until = time.monotonic() + 60
                while not path.exists() and time.monotonic() < until:
                    time.sleep(0.01)  # checkpoints are written by a thread of their own
                stack.enter_context(disk.full_but(left))

        with pytest.raises(StateError, match=r"cannot write .*run\.sieve") as caught:
            ss.run(ss.open(X, target=y), ss.Screen("mutual_info", k=2), checkpoint=path, every=200,
                   batch_size=100, progress=fill)  # fmt: skip
        assert "holds the state after" in " ".join(caught.value.__notes__)
        assert 0 < state.read_header(path)["stream"]["rows"] < 2_000
    resumed = ss.run(ss.open(X, target=y), ss.Screen("mutual_info", k=2), checkpoint=path, resume=True,
                     batch_size=100)  # fmt: skip
    whole = ss.run(ss.open(X, target=y), ss.Screen("mutual_info", k=2), batch_size=100)
    np.testing.assert_array_equal(resumed.scores_, whole.scores_)


OUTPUTS = {
    "--out kept.csv": lambda path: path.read_text().startswith("feature"),
    "--out kept.parquet": lambda path: pq.read_table(path).num_rows,
    "--ledger why.csv": lambda path: path.read_text().startswith("step"),
    "--save one.sieve": ss.load,
    "--write-data small.csv": lambda path: pa.csv.read_csv(path).num_rows == 400,
    "--write-data small.parquet": lambda path: pq.read_table(path).num_rows == 400,
    "--write-data small.arrow": lambda path: pa.ipc.open_file(path).read_all().num_rows == 400,
}


@pytest.mark.parametrize("output", OUTPUTS)
def test_the_command_line_leaves_the_old_file(disk, tmp_path, capsys, output):
    X, y = data(p=300)
    pq.write_table(
        pa.table({"y": y, **{f"column {j}": X[:, j] for j in range(300)}}), tmp_path / "in.parquet"
    )
    option, name = output.split()
    path = disk.folder / name
    method = ["--method", "topk", "--param", "k=40"]  # outputs that no buffer holds back
    command = ["select", str(tmp_path / "in.parquet"), "--target", "y", *method, option, str(path), "--quiet"]
    for _ in range(2):  # without an old file, and with one
        before = disk.contents()
        for left in (0, 4_096):
            with disk.full_but(left):
                code, said = run([*command, "--overwrite"]), capsys.readouterr().err
            assert (code == 0) == (disk.contents() != before) or OUTPUTS[output](path)
            if code == 0:  # it was smaller than what was left
                continue
            assert said.startswith("error: cannot write")
            assert name in said
            assert "No space left" in said or "Errno 28" in said
            assert said.count("\n") == 1
            assert disk.contents() == before
        assert run([*command, "--overwrite"]) == 0  # a table does not say who wrote it
        assert OUTPUTS[output](path)


def compared(selectors, **options):
    X, y = data(60, 5)
    learners = {"nb": GaussianNB()}
    return screening_protocol(X, y, selectors, learners, sizes=[1, 2], runs=1, folds=2, **options)


def test_a_report_says_which_file_could_not_be_written(disk):
    found = compared({"f": ss.Screen("f")})
    folder = disk.folder / "report"
    found.save(folder)
    before = disk.contents()
    with disk.full_but(0), pytest.raises(StateError, match=r"cannot write .*report.*No space"):
        found.save(folder)
    assert disk.contents() == before
    assert list(type(found).load(folder).table.rows()) == list(found.table.rows())


@pytest.mark.parametrize("left", [0, 4_096, 8_192])
def test_results_of_an_interrupted_comparison_are_whole(disk, left):
    selectors = {f"a method of number {k}": ss.Screen("f", k=2) for k in range(12)}
    folder = disk.folder / "cells"
    with disk.full_but(left), pytest.raises(StateError, match=r"cannot (write|make) .*cells.*No space"):
        compared(selectors, folder=folder)
    resumed = compared(selectors, folder=folder, resume=True)
    for name in ("selector", "learner", "score"):
        np.testing.assert_array_equal(resumed.table[name], compared(selectors).table[name])


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("more", [[], ["--json"], ["--quiet"]])
def test_a_terminal_that_takes_nothing_is_an_error_in_a_line(tmp_path, more):
    X, y = data()
    pq.write_table(pa.table({"y": y, **{f"c{j}": X[:, j] for j in range(30)}}), tmp_path / "in.parquet")
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "streamsieve", "select", tmp_path / "in.parquet", "--target", "y", *more],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert "Traceback" not in done.stderr
    assert done.returncode != 0 or "--quiet" in more
    assert done.returncode == 0 or "No space left" in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize(
    "output", ["--out a.csv", "--save a.sieve", "--ledger a.csv", "--write-data a.parquet"]
)
def test_the_device_that_is_always_full_is_not_replaced(tmp_path, capsys, output):
    (tmp_path / "in.csv").write_text("y,a,b\n" + "0,1,2\n1,2,1\n0,1,1\n" * 20)
    option, name = output.split()
    (tmp_path / name).symlink_to("/dev/full")
    command = ["select", str(tmp_path / "in.csv"), "--target", "y", option, str(tmp_path / name), "--quiet"]
    assert run([*command, "--overwrite"]) == 2
    assert f"{name} is a device" in capsys.readouterr().err
    assert Path("/dev/full").is_char_device()
    assert (tmp_path / name).is_symlink()
