"""Small sources and comparisons for runs."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

import streamsieve as ss
from streamsieve import state
from streamsieve.exceptions import SourceError
from streamsieve.protocols import RowBatch

N, P, BATCH = 2_000, 5, 100


def table(n=N, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = rng.normal(size=(n, P))
    X[:, 3] += y
    X[n // 2 :, 1] += 2 * y[n // 2 :]
    return X, y


class Rows:
    """A source of rows in memory; ``before`` is called with the number of each batch, and may raise."""

    def __init__(self, n=N, seed=0, names=None, before=None) -> None:
        self.X, self.y = table(max(n, N), seed)
        self.X, self.y = self.X[:n], self.y[:n]
        self.seed, self.names, self.before = seed, names, before

    @property
    def n_rows(self) -> int:
        return len(self.y)

    def identity(self) -> dict[str, Any]:
        return {"kind": "Rows", "seed": self.seed, "rows": self.n_rows}

    def check_identity(self, known: Mapping[str, Any]) -> None:
        if known.get("seed") != self.seed or known.get("rows", 0) > self.n_rows:
            raise SourceError("the rows are others than those of the checkpoint: resume with the same")

    def rows(self, batch_size: int = 4096, start: Any = None) -> Iterator[RowBatch]:
        low = 0 if start is None else start["row"]
        for k, row in enumerate(range(low, self.n_rows, batch_size)):
            if self.before is not None:
                self.before(k)
            part = slice(row, row + batch_size)
            yield RowBatch(
                self.X[part], self.y[part], None, self.names, {"row": min(row + batch_size, self.n_rows)}
            )


class Stop(Exception):  # noqa: N818 - not an error
    """Ends a run."""


def at(number, action):
    """Return what a source calls before each batch: before one of them, something happens."""

    def before(k):
        if k == number:
            action()

    return before


def stopping_at(number):
    """Return what ends a run before a batch."""

    def stop():
        raise Stop

    return at(number, stop)


def screen():
    return ss.Screen("f", k=2)


def assert_same_state(a, b):
    """Two fitted selectors are equal, bit for bit."""
    (header, arrays), (other, others) = (s._saved() for s in (a, b))
    assert header["parameters"] == other["parameters"]
    assert arrays.keys() == others.keys()
    for name, array in arrays.items():
        assert array.dtype == others[name].dtype, name
        assert array.shape == others[name].shape, name
        assert array.tobytes() == others[name].tobytes(), name


def stream_of(path):
    """Return the place in the stream that a checkpoint holds."""
    return state.read(path)[0]["stream"]
