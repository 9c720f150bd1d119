"""Runs in processes that may die at any moment: forked, watched, struck by a signal, and compared."""

from __future__ import annotations

import os
import signal
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import dump_svmlight_file

import streamsieve as ss
from streamsieve import state
from streamsieve.base import ColumnSelector, RowSelector
from streamsieve.exceptions import StateError
from streamsieve.testing._data import Sample, sample_for

#: More rows than are ever buffered, so that checkpoints do not change how rows are added up.
BATCH = 70
BATCHES = 40
COLUMNS, ROWS = 48, 160
#: Seconds to rest after each batch or block, so that a stream needs several lives.
REST = 0.003
#: Seconds in which a life must end or write a checkpoint, on a busy machine.
PATIENCE = 60.0


# ------------------------------------------------------------------------------------ sources


def _table(data: Sample) -> pa.Table:
    X, y, names = data
    return pa.table({**{name: X[:, j] for j, name in enumerate(names)}, "the target": y})


def _parquet(data: Sample, path: Path) -> Any:
    if not path.exists():
        pq.write_table(_table(data), path, row_group_size=97)  # batches begin and end inside of groups
    return ss.open(path, target="the target")


def _csv(data: Sample, path: Path) -> Any:
    if not path.exists():
        pyarrow.csv.write_csv(_table(data), path)
    return ss.open(path, target="the target")


def _ipc(data: Sample, path: Path) -> Any:
    if not path.exists():
        table = _table(data)
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=97)
    return ss.open(path, target="the target")


def _svmlight(data: Sample, path: Path) -> Any:
    if not path.exists():
        dump_svmlight_file(sp.csr_array(data.X), data.y, str(path), zero_based=False)
    return ss.open(path)


def _several(data: Sample, path: Path) -> Any:
    third = len(data.y) // 3
    for k in range(3):
        rows = slice(k * third, None if k == 2 else (k + 1) * third)
        part = path.with_name(f"part{k}.parquet")
        _parquet(Sample(data.X[rows], data.y[rows], data.names), part)
    return ss.open(str(path.with_name("part*.parquet")), target="the target")


def _computed(data: Sample, path: Path) -> Any:
    columns = [(name, lambda j=j: data.X[:, j]) for j, name in enumerate(data.names)]
    return ss.features(lambda: iter(columns), data.y)


#: Ways to open a sample: each is called with it and with the path of a file it may write.
SOURCES: dict[str, Callable[[Sample, Path], Any]] = {
    "array": lambda data, path: ss.open(data.X, target=data.y),
    "frame": lambda data, path: ss.open(_table(data).to_pandas(), target="the target"),
    "csv": lambda data, path: _csv(data, path.with_suffix(".csv")),
    "ipc": lambda data, path: _ipc(data, path.with_suffix(".arrow")),
    "parquet": lambda data, path: _parquet(data, path.with_suffix(".parquet")),
    "three files": _several,
}
SPARSE: dict[str, Callable[[Sample, Path], Any]] = {
    "csr": lambda data, path: ss.open(sp.csr_array(data.X), target=data.y),
    "svmlight": lambda data, path: _svmlight(data, path.with_suffix(".svm")),
}
BY_COLUMNS = {"computed": _computed}


def sources_of(subject: Any) -> list[str]:
    """Return the kinds of sources that a selector can read."""
    sparse = [*SPARSE] if subject.__sklearn_tags__().input_tags.sparse else []
    return [*SOURCES, *sparse, *(BY_COLUMNS if isinstance(subject, ColumnSelector) else ())]


# ------------------------------------------------------------------------------------ runs


class Run:
    """A stream through a selector that keeps its state in a file, so that another process can go on.

    Parameters
    ----------
    subject : a selector over rows or columns; each life takes a clone of it
    kind : of source, see `sources_of`
    folder : for the file of the state; data lie beside it
    """

    def __init__(self, subject: Any, kind: str, folder: Path) -> None:
        self.subject = clone(subject)
        if "random_state" in self.subject.get_params():
            self.subject.set_params(random_state=0)
        self.by_rows = isinstance(subject, RowSelector)
        size = {"n": BATCH * BATCHES + 17} if self.by_rows else {"n": ROWS, "p": COLUMNS}
        self._data = sample_for(subject, **size)
        self._make = {**SOURCES, **SPARSE, **BY_COLUMNS}[kind]
        self._beside = folder / "data"
        self.folder = folder / "state"
        self.folder.mkdir()
        self.path = self.folder / "run.sieve"
        self._error = folder / "error"

    def source(self) -> Any:
        """Open the data."""
        return self._make(self._data, self._beside)

    def undisturbed(self) -> Any:
        """Return the selector after the whole stream, in one go and without a file."""
        return ss.run(self.source(), clone(self.subject), batch_size=BATCH, block_size=self.block_size)

    @property
    def block_size(self) -> int | None:
        """Columns in a block, None for rows."""
        return None if self.by_rows else 2

    def live(self, rest: float = REST) -> None:
        """Go on with the stream to its end."""
        if self.by_rows:
            ss.run(
                self.source(), clone(self.subject), checkpoint=self.path, every=BATCH, resume=True,
                batch_size=BATCH, progress=lambda _: time.sleep(rest),
            )  # fmt: skip
            return
        there = self.path.exists()
        selector = ss.load(self.path) if there else clone(self.subject)
        start = selector.position_ if there else None

        def note(_: int) -> None:
            selector.save(self.path)
            time.sleep(rest)

        ss.run(self.source(), selector, block_size=self.block_size, start=start, progress=note)

    def fork(self, work: Callable[[], None] | None = None) -> int:
        """Live in a new process, and return its id; 0 is its exit status, 1 an error, 130 Ctrl-C."""
        child = os.fork()
        if child:
            return child
        status = 1
        try:
            (work or self.live)()
            status = 0
        except KeyboardInterrupt:
            status = 130
        except BaseException:  # noqa: BLE001 - a child never returns from a fork
            self._error.write_text(traceback.format_exc()[-400:])
        os._exit(status)

    def error(self) -> str:
        """Return what ended the last life."""
        return self._error.read_text() if self._error.exists() else "it said nothing"

    def saved(self) -> int:
        """Return the rows or columns that the file holds, 0 if there is none; raise if it is not whole."""
        there = self.path if self.path.exists() else self.path.with_name(f"{self.path.name}.previous")
        if not there.exists():
            return 0
        selector = ss.load(there)
        return int(state.read_header(there)["stream"]["rows"] if self.by_rows else selector.n_features_in_)

    def leftovers(self) -> list[str]:
        """Return the files that should not be left."""
        wanted = {self.path.name} | ({f"{self.path.name}.previous"} if self.by_rows else set())
        return sorted({path.name for path in self.folder.iterdir()} - wanted)


class End(NamedTuple):
    """How a life ended.

    Attributes
    ----------
    status : exit status, negative for a signal; None if it hung
    struck : whether a signal was sent
    seconds : from the signal to the end
    """

    status: int | None
    struck: bool
    seconds: float = 0.0


def strike(child: int, path: Path, number: signal.Signals, checkpoints: int, pause: float) -> End:
    """Send a signal when a file was replaced some times and a pause has passed; wait for the end."""
    known, until = _generation(path), time.monotonic() + PATIENCE
    while checkpoints:
        if (status := _ended(child)) is not None:
            return End(status, struck=False)
        if time.monotonic() > until:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return End(None, struck=False)
        time.sleep(0.0003)
        now = _generation(path)
        checkpoints -= now != known
        known = now
    time.sleep(pause)
    began = time.monotonic()
    os.kill(child, number)  # a process that has ended stays until it is waited for
    while (status := _ended(child)) is None:
        if time.monotonic() > began + PATIENCE:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return End(None, struck=True)
        time.sleep(0.0003)
    return End(status, struck=status != 0, seconds=time.monotonic() - began)


def _ended(child: int) -> int | None:
    found, status = os.waitpid(child, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if found else None


def _generation(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_mtime_ns


def difference(path: Path, reference: Any) -> str:
    """Return in what a state file is not, bit for bit, what a selector would write; "" if it is the same.

    Times are left out: how long a stream took is another thing in every life.
    """
    try:
        header, arrays = state.read(path)
    except StateError as error:
        return str(error)
    wanted, others = state.from_bytes(reference.to_bytes())
    if any(header[key] != wanted[key] for key in ("class", "parameters")):
        return "class or parameters differ"
    if arrays.keys() != others.keys():
        return f"other arrays: {sorted(arrays.keys() ^ others.keys())}"
    for name in sorted(arrays):
        a, b = arrays[name], others[name]
        if name.rpartition("/")[2] in {"started_", "seconds"}:
            continue
        if (a.dtype, a.shape, a.tobytes()) != (b.dtype, b.shape, b.tobytes()):
            apart = np.max(np.abs(a - b)) if a.shape == b.shape and a.dtype.kind == "f" else f"{a} {b}"
            return f"{name} differs by {apart}"[:300]
    return ""
