"""Digest of all rows learned, by which a resumed run verifies its data."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from streamsieve.exceptions import SourceError
from streamsieve.protocols import RowBatch, RowSource
from streamsieve.running.checkpoint import Stream

#: Parts that are hashed separately, so that the digest does not depend on the size of batches.
STREAMS = ("values", "columns", "lengths", "target", "weights")


class RowDigest:
    """Digest of rows, updated batch by batch."""

    def __init__(self) -> None:
        self._hashes = {name: hashlib.blake2b(digest_size=16) for name in STREAMS}

    def add(self, batch: RowBatch, rows: slice = slice(None)) -> None:
        """Add some rows of a batch."""
        X = batch.X[rows]
        if sp.issparse(X):
            self._take("columns", X.indices.astype(np.int64))
            self._take("lengths", np.diff(X.indptr).astype(np.int64))
            X = X.data
        self._take("values", X)
        for name, values in (("target", batch.y), ("weights", batch.weight)):
            if values is not None:
                self._take(name, np.asarray(values)[rows])

    def _take(self, name: str, values: Any) -> None:
        if values.dtype.kind in "fiub":
            content: Any = np.ascontiguousarray(values).data.cast("B") if values.size else b""
        else:
            content = "".join(f"{value!r}\n" for value in values.tolist()).encode("utf-8", "backslashreplace")
        self._hashes[name].update(content)

    def text(self) -> str:
        """Return the digest so far."""
        return "".join(each.hexdigest() for each in self._hashes.values())


def verified(path: Path, source: RowSource, stream: Stream) -> RowDigest:
    """Read all rows that were learned again; raise an error if any value has changed."""
    digest, left = RowDigest(), stream.rows
    for batch in source.rows(stream.batch_size) if left else ():
        taken = min(left, batch.X.shape[0])
        digest.add(batch, slice(taken))
        left -= taken
        if not left:
            break
    if left or digest.text() != stream.digest:
        raise SourceError(
            f"cannot resume from {path}: a value of the {stream.rows:,} rows that were learned has changed; "
            "resume with the data it came from, or start again with another checkpoint"
        )
    return digest
