"""The streams: rows in the order of time, how they are batched, and how many features are kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

import streamsieve as ss
from streamsieve import datasets

#: Blocks of rows whose errors are compared.
BLOCKS = 30
#: A row counts half after this share of the stream, in a screen that forgets.
LIVES = {"slowly": 1 / 10, "fast": 1 / 30}


@dataclass(frozen=True)
class Stream:
    """A stream and what is done with it.

    Attributes
    ----------
    name : of its file
    batch : rows that are predicted, and then learnt, together
    k : features that screens keep; annealing keeps half of them
    scale : whether learners get features in units of their standard deviation; words are taken as they are
    """

    name: str
    batch: int
    k: int
    scale: bool = False

    def every(self, n_rows: int) -> int:
        """Return the rows of a block: whole batches."""
        return max(1, round(n_rows / BLOCKS / self.batch)) * self.batch


STREAMS = {
    stream.name: stream
    for stream in (
        Stream("spam_assassin_stream", 100, 4000),
        Stream("emailing_list", 25, 90),
        Stream("usenet1", 25, 20),
        Stream("electricity", 250, 4, scale=True),
    )
}


def read(stream: Stream, rows: int | None) -> Any:
    """Return a source of the rows in their order; the first ones, if only so many are wanted."""
    data = datasets.load(stream.name, source="local")
    X, y = data.X[:rows], data.y[:rows]
    if rows is not None:  # a tiny part has few of the words
        used = np.asarray(abs(X).sum(axis=0)).ravel() > 0
        X = X[:, np.flatnonzero(used)[:60]]
    return ss.open(sp.csr_array(X) if sp.issparse(X) else X, target=y)
