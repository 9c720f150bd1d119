"""A source that is wrong is refused, and the check names what is wrong."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import streamsieve as ss
from streamsieve.exceptions import SourceError
from streamsieve.protocols import ColumnBlock, RowBatch
from streamsieve.testing import check_source

X = np.random.default_rng(0).normal(size=(40, 12))


class Rows:
    n_rows = 40

    def rows(self, batch_size=4, start=None):
        for low in range(0 if start is None else start["row"], 40, batch_size):
            high = min(low + batch_size, 40)
            yield RowBatch(X[low:high], np.arange(low, high) % 2, position=self.at(high))

    def at(self, row):
        return {"row": row}


class Columns:
    y = np.arange(40) % 2

    def columns(self, block_size=4, start=None):
        for low in range(0 if start is None else start["column"], 12, block_size):
            yield ColumnBlock(X[:, low : low + block_size], position={"column": min(low + block_size, 12)})


class Known(Rows):
    def identity(self):
        return {"kind": "rows"}

    def check_identity(self, known):
        if known != self.identity():
            raise SourceError("another stream")


def without(kind, name):
    members = {key: value for key, value in vars(kind).items() if key != name and not key.startswith("__")}
    return type("Lacking", (), members)()


def refusing(self, known):
    raise SourceError("another stream")


def tuples(self, batch_size=4, start=None):
    yield X, np.arange(40)


def each(change, kind=Rows):
    """Return a source whose batches are changed."""
    axis = "rows" if kind is Rows else "columns"

    def changed(self, size=4, start=None):
        yield from map(change, getattr(kind, axis)(self, size, start))

    return type("Changed", (kind,), {axis: changed})()


def failing(self, known):
    if known != self.identity():
        raise ValueError("another stream")


class Once(Rows):
    """Rows that can be read only once."""

    def __init__(self):
        self.left = Rows.rows(self)

    def rows(self, batch_size=4, start=None):
        return self.left


BROKEN = {
    "two dimensions; got shape": each(lambda batch: replace(batch, X=batch.X[:, 0])),
    "must be a NumPy array or a sparse matrix; got list": each(
        lambda batch: replace(batch, X=batch.X.tolist())
    ),
    "has 1 names for 12 columns": each(lambda batch: replace(batch, names=["a"])),
    "3 labels for 4 rows": each(lambda batch: replace(batch, y=batch.y[1:])),
    "holds other labels": each(lambda batch: replace(batch, y=np.full(len(batch.y), len(batch.y)))),
    "X of shape .* after others of 40 rows": each(
        lambda block: replace(block, X=block.X[block.position["column"] > 4 :]), Columns
    ),
    r"'row', the number of rows so far .4 after": type("R", (Rows,), {"at": lambda self, row: {"at": row}})(),
    "n_rows is 7, but there are 40": type("N", (Rows,), {"n_rows": 7})(),
    "nothing the second time": Once(),
    r"y has shape .3,., but the columns have 40 rows": type("Y", (Columns,), {"y": np.arange(3)})(),
    "does not yield the rest": type(
        "F", (Rows,), {"rows": lambda self, batch_size, start=None: Rows.rows(self, batch_size)}
    )(),
    "yields 5, 5, .* must have 1": type(
        "B", (Rows,), {"rows": lambda self, batch_size, start=None: Rows.rows(self, 5, start)}
    )(),
    "SourceError, not by ValueError": type("I", (Known,), {"check_identity": failing})(),
    "takes any identity": type("I", (Known,), {"check_identity": lambda self, known: None})(),
    "return None; got True": type("I", (Known,), {"check_identity": lambda self, known: True})(),
    "write rows.batch_size, start=None.": type("A", (Rows,), {"rows": lambda self: iter(())})(),
    "takes a source, not the class Rows": Rows,
    "has no `n_rows`": without(Rows, "n_rows"),
    "has no `y`": without(Columns, "y"),
    "must yield streamsieve.protocols.RowBatch; got tuple": type("T", (Rows,), {"rows": tuples})(),
    "must be JSON, with Python's own": type("P", (Rows,), {"at": lambda self, row: {"row": np.int64(row)}})(),
    r"rows\(batch_size, start=None\) cannot be read": type(
        "S", (Rows,), {"rows": lambda self, batch_size: Rows.rows(self, batch_size)}
    )(),
    "one of identity": without(Known, "check_identity"),
    "identity of I must be JSON": type("I", (Known,), {"identity": lambda self: {"x": X}})(),
    "changes by itself": type("I", (Known,), {"identity": lambda self: {"x": np.random.random()}})(),  # noqa: NPY002
    "refuses its own identity": type("I", (Known,), {"check_identity": refusing})(),
}
BROKEN["one of identity"].rows, BROKEN["one of identity"].n_rows = Rows().rows, 40


@pytest.mark.parametrize(
    "source",
    [
        Rows(),
        Columns(),
        Known(),
        each(lambda batch: replace(batch, X=sp.csr_array(batch.X))),
        ss.ArraySource(X, X[:, 0]),
        ss.DriftingStream(n_rows=30, n_features=4, n_relevant=2, shift_every=10),
        ss.features([(f"x{j}", lambda j=j: X[:, j]) for j in range(5)], X[:, 0]),
    ],
    ids=lambda source: type(source).__name__,
)
def test_a_right_source_passes(source):
    check_source(source)


@pytest.mark.parametrize(("message", "source"), BROKEN.items(), ids=BROKEN)
def test_a_broken_source_is_named(message, source):
    with pytest.raises(AssertionError, match=message):
        check_source(source)


def test_run_names_what_a_source_lacks():
    with pytest.raises(SourceError, match=r"source of rows, got Lacking, which has no n_rows \(None if"):
        ss.run(without(Rows, "n_rows"), ss.Screen())
    with pytest.raises(SourceError, match=r"which has no rows\(batch_size, start\): use"):
        ss.run(object(), ss.Screen())
    with pytest.raises(SourceError, match="source of columns, got Lacking, which has no y .the target"):
        ss.run(without(Columns, "y"), ss.SAOLA())
    with pytest.raises(SourceError, match=r"which has no columns\(block_size, start\)"):
        ss.run(object(), ss.SAOLA())
