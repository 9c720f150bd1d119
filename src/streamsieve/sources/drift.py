"""Simulated rows whose relevant features drift."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

import numpy as np

from streamsieve.protocols import FloatArray, IntArray, Position, RowBatch
from streamsieve.sources.checks import check_size, no_axis, spans
from streamsieve.sources.identity import comparing, not_fewer, same
from streamsieve.sources.shown import ShownSource

#: Weight of what all features share; the correlation of any two is NU^2 / (1 + NU^2) = 0.2.
NU = 0.5
#: Maximum number of values (8 MB) and rows drawn at a time; other limits would give other streams.
CHUNK_VALUES, CHUNK_ROWS = 2**20, 4096


class DriftingStream(ShownSource):
    """Simulated stream of rows with two classes in which the set of relevant features drifts.

    All features are equally correlated, ``x = 0.5 z 1 + eps`` with z and eps standard normal.  The label
    of row i says whether ``beta_i . x + e > 0``, e standard normal, where beta_i is one on the relevant
    features ``s, ..., s + n_relevant - 1``, ``s = i // shift_every`` (modulo n_features), and zero
    elsewhere.  A relevant feature correlates with ``beta_i . x + e`` by .456 and any other by .438 in the
    default setting: distinguishing them takes thousands of rows, so the forgetting rate matters.

    Parameters
    ----------
    n_rows : int, default=100_000
        Length of the stream.  A longer stream begins with the same rows.
    n_features : int, default=1000
        Number of features.
    n_relevant : int, default=100
        Number of features that are relevant at a time, at most n_features.
    shift_every : int, default=1000
        Number of rows after which one relevant feature is replaced by the next.
    seed : int, default=0
        The same seed gives the same rows, whatever the batch size.

    Notes
    -----
    The thesis prints the relevant range with both ends, which would be one feature too many, and does not
    specify how its continuous target becomes a label; here it is the sign.

    References
    ----------
    Wang, Online and Offline Feature Screening and Applications, FSU thesis, 2021, equations 3.20-3.22.

    Examples
    --------
    >>> from streamsieve.sources import DriftingStream
    >>> stream = DriftingStream(n_rows=10, n_features=6, n_relevant=3, shift_every=4)
    >>> [len(batch.X) for batch in stream.rows(4)]
    [4, 4, 2]
    >>> stream.relevant(0), stream.relevant(9)
    (array([0, 1, 2]), array([2, 3, 4]))
    """

    def __init__(
        self,
        n_rows: int = 100_000,
        n_features: int = 1000,
        n_relevant: int = 100,
        shift_every: int = 1000,
        seed: int = 0,
    ) -> None:
        from streamsieve._parameters import check_number  # noqa: PLC0415 - imports scikit-learn

        self.n_rows: int | None = check_size("n_rows", n_rows)
        self.n_columns: int | None = check_size("n_features", n_features)
        check_number("n_relevant", n_relevant, low=1, high=n_features, integer=True)
        self.n_features, self.n_relevant = int(n_features), int(n_relevant)
        self.shift_every = check_size("shift_every", shift_every)
        self.seed = check_size("seed", seed, low=0)
        self.names: list[str] | None = None
        # rows are drawn in chunks whose length does not depend on the batch size
        self._chunk_rows = max(1, min(CHUNK_ROWS, CHUNK_VALUES // self.n_features))
        self._length = int(n_rows)

    def relevant(self, row: int) -> IntArray:
        """Return the columns that the label of a row depends on, the next to become irrelevant first."""
        first = check_size("row", row, low=0) // self.shift_every
        return (first + np.arange(self.n_relevant, dtype=np.int64)) % self.n_features

    def identity(self) -> dict[str, Any]:
        """Return a JSON description that identifies the stream: its parameters."""
        return {"kind": type(self).__name__, "rows": self._length, **self._parameters()}

    def check_identity(self, known: Mapping[str, Any]) -> None:
        """Refuse a stream whose parameters differ from an earlier identity; it may be longer."""
        with comparing(self, known):
            for name, value in self._parameters().items():
                same(name, known[name], value)
            not_fewer("rows", known["rows"], self._length)

    def _parameters(self) -> dict[str, int]:
        names = ("n_features", "n_relevant", "shift_every", "seed")
        return {name: getattr(self, name) for name in names}

    def rows(self, batch_size: int = 4096, start: Mapping[str, int] | None = None) -> Iterator[RowBatch]:
        """Yield the rows in batches, with labels 0 and 1; begin just after ``start``."""
        return self._rows(spans(self, "row", self._length, batch_size, start))

    def columns(self, block_size: int = 1024, start: Mapping[str, int] | None = None) -> NoReturn:
        """Refuse: the relevant features change from row to row, so there are no columns to stream."""
        del block_size, start
        raise no_axis(self, "columns", "its relevant features change from row to row; use rows()")

    def _rows(self, pieces: Iterator[slice]) -> Iterator[RowBatch]:
        number, chunk = -1, (np.empty((0, 0)), np.empty(0, np.int64))
        for rows in pieces:
            row, end = rows.start, rows.stop
            Xs, ys = [], []
            while row < end:
                if row // self._chunk_rows != number:
                    number = row // self._chunk_rows
                    chunk = self._chunk(number)
                low = row - number * self._chunk_rows
                high = min(low + end - row, self._chunk_rows)
                Xs.append(chunk[0][low:high])
                ys.append(chunk[1][low:high])
                row += high - low
            position: Position = {"row": row}
            yield RowBatch(np.concatenate(Xs), np.concatenate(ys), None, None, position)

    def _draws(self, number: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Draw the normal numbers of a chunk: z, one per row; eps, one per cell; e, one per row."""
        draw, n = np.random.default_rng([self.seed, number]).standard_normal, self._chunk_rows
        return draw(n), draw((n, self.n_features)), draw(n)

    def _chunk(self, number: int) -> tuple[FloatArray, IntArray]:
        z, X, e = self._draws(number)
        X += NU * z[:, None]
        first = number * self._chunk_rows
        latent: Any = e
        # The support is constant over stretches of shift_every rows, each one matrix slice.
        low = 0
        while low < len(z):
            until_shift = self.shift_every - (first + low) % self.shift_every
            part = slice(low, min(low + until_shift, len(z)))
            latent[part] += X[part][:, self.relevant(first + low)].sum(axis=1)
            low = part.stop
        return X, (latent > 0).astype(np.int64)
