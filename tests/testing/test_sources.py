"""A source that is wrong is refused, and the check names what is wrong."""

import numpy as np
import pytest

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


BROKEN = {
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


@pytest.mark.parametrize("source", [Rows(), Columns(), Known(), ss.ArraySource(X, X[:, 0])])
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
