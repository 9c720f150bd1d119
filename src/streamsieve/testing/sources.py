"""Checks of sources: the content does not depend on the size of batches, and streams resume anywhere."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

SIZES = (1, 3, 7, 1000)


def check_source(source: Any) -> None:
    """Check a source of rows, of columns, or of both.

    It must have ``rows(batch_size, start)`` or ``columns(block_size, start)``.  Batches of any size hold the
    same values in the same order; iterating twice gives the same; a position survives JSON, and a stream that
    starts from the position of any batch yields exactly the rest.

    Raises
    ------
    AssertionError : the first of these that does not hold, by name

    Examples
    --------
    >>> import numpy as np, streamsieve as ss
    >>> from streamsieve.testing import check_source
    >>> check_source(ss.ArraySource(np.eye(20), np.arange(20) % 2))
    """
    streams = [axis for axis in ("rows", "columns") if callable(getattr(source, axis, None))]
    assert streams, (
        f"{type(source).__name__} has neither rows(batch_size, start) nor columns(block_size, start)"
    )
    for axis in streams:
        try:
            batches = list(getattr(source, axis)(4))
        except Exception as error:
            if len(streams) == 2 and type(error).__module__.startswith("streamsieve"):
                continue  # refused with a sentence: this source has the other axis
            raise
        _check_axis(source, axis, batches)


def _check_axis(source: Any, axis: str, batches: list[Any]) -> None:
    assert batches, f"{axis}() yields nothing"
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
