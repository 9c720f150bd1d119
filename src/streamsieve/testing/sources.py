"""Checks of sources: the content does not depend on the size of batches, and streams resume anywhere."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve.exceptions import StreamSieveError
from streamsieve.protocols import ColumnBlock, RowBatch
from streamsieve.testing._data import named

SIZES = (1, 3, 7, 1000)


def check_source(source: Any) -> None:
    """Check a source of rows, of columns, or of both.

    It must have ``rows(batch_size, start)`` and ``n_rows`` (None if it is not known), or
    ``columns(block_size, start)`` and ``y``: what ``ss.run`` needs.  Batches of any size hold the same values
    in the same order; iterating twice gives the same; a position survives JSON, and a stream that starts from
    the position of any batch yields exactly the rest.  With ``identity()`` and ``check_identity(known)``,
    which checkpoints need, an identity is JSON, stays the same and is known again.

    Raises
    ------
    AssertionError : the first of these that does not hold, by name

    Examples
    --------
    >>> import numpy as np, streamsieve as ss
    >>> from streamsieve.testing import check_source
    >>> check_source(ss.ArraySource(np.eye(20), np.arange(20) % 2))
    """
    assert not isinstance(source, type), f"check_source takes a source, not the class {source.__name__}"
    kind = type(source).__name__
    streams = [axis for axis in ("rows", "columns") if callable(getattr(source, axis, None))]
    assert streams, f"{kind} has neither rows(batch_size, start) nor columns(block_size, start)"
    for axis in streams:
        try:
            batches = list(getattr(source, axis)(4))
        except StreamSieveError:
            if len(streams) == 2:
                continue  # refused with a sentence: this source has the other axis
            raise
        member, what = ("n_rows", "the number of rows, or None") if axis == "rows" else ("y", "the target")
        assert hasattr(source, member), f"{kind} has no `{member}` ({what}), which ss.run asks for"
        size = "batch_size" if axis == "rows" else "block_size"
        with named(f"{kind}.{axis}({size}, start=None) cannot be read"):
            _check_axis(source, axis, batches)
    _check_identity(source)


def _check_identity(source: Any) -> None:
    """Check what a checkpoint asks a source for, if it has it."""
    kind = type(source).__name__
    has = [callable(getattr(source, name, None)) for name in ("identity", "check_identity")]
    if not any(has):
        return
    assert all(has), f"{kind} has one of identity() and check_identity(known): checkpoints need both"
    with named(f"the identity of {kind} must be JSON"):
        known = json.loads(json.dumps(source.identity()))
    assert isinstance(known, dict), f"the identity of {kind} must be a dict; got {known!r}"
    assert json.loads(json.dumps(source.identity())) == known, f"the identity of {kind} changes by itself"
    with named(f"{kind}.check_identity refuses its own identity"):
        source.check_identity(known)


def _check_axis(source: Any, axis: str, batches: list[Any]) -> None:
    assert batches, f"{axis}() yields nothing"
    wanted = RowBatch if axis == "rows" else ColumnBlock
    assert isinstance(batches[0], wanted), (
        f"{axis}() must yield streamsieve.protocols.{wanted.__name__}; got {type(batches[0]).__name__}"
    )
    along = 0 if axis == "rows" else 1
    whole = _joined(batches, along)
    for size in SIZES:
        some = list(getattr(source, axis)(size))
        assert _same(_joined(some, along), whole), f"{axis}({size}) holds other values than {axis}(4)"
        widths = [batch.X.shape[along] for batch in some]
        assert widths[:-1] == [size] * (len(some) - 1), f"{axis}({size}) yields batches of {widths}"
        if axis == "rows" and some[0].y is not None:
            labels = np.concatenate([batch.y for batch in some])
            assert len(labels) == len(whole), f"rows({size}) has {len(labels)} labels for {len(whole)} rows"
    for batch in batches:
        with named(f"a position of {axis} must be JSON, with Python's own numbers; got {batch.position}"):
            start = json.loads(json.dumps(batch.position))
        key = "row" if axis == "rows" else "column"
        assert isinstance(start.get(key), int), f"a position of {axis} holds {key!r}; got {start}"
        rest = list(getattr(source, axis)(3, start=start))
        left = whole[start[key] :] if axis == "rows" else whole[:, start[key] :]
        found = _joined(rest, along) if rest else left[:0] if axis == "rows" else left[:, :0]
        assert _same(found, left), f"{axis} from {start} are not the rest"


def _joined(batches: Iterable[Any], axis: int) -> npt.NDArray[Any]:
    return np.concatenate([b.X.toarray() if sp.issparse(b.X) else np.asarray(b.X) for b in batches], axis)


def _same(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> bool:
    return a.shape == b.shape and np.array_equal(a, b, equal_nan=True)
