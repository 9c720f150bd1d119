"""Checks of sources: the content does not depend on the size of batches, and streams resume anywhere."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve.exceptions import SourceError, StreamSieveError
from streamsieve.protocols import ColumnBlock, RowBatch
from streamsieve.testing._data import named

SIZES = (1, 3, 7, 1000)
#: Batches of four from whose positions the stream is read again; of more, some spread over the stream.
POSITIONS = 25


def check_source(source: Any) -> None:
    """Check a source of rows, of columns, or of both.

    It must have ``rows(batch_size, start)`` and ``n_rows`` (None if it is not known), or
    ``columns(block_size, start)`` and ``y``: what ``ss.run`` needs.  Batches of any size hold the same
    values, labels and names in the same order; iterating twice gives the same; a position survives JSON, and
    a stream that starts from the position of a batch yields exactly the rest.  With ``identity()`` and
    ``check_identity(known)``, which checkpoints need, an identity is JSON, stays the same and is known again,
    and another one is refused with a ``SourceError``.

    The stream is read about thirty times, once with batches of one: check a short one.

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
        size = "batch_size" if axis == "rows" else "block_size"
        try:
            batches = list(getattr(source, axis)(4))
        except TypeError as error:
            raise AssertionError(
                f"{kind}.{axis}(4) fails ({error}): write {axis}({size}, start=None)"
            ) from error
        except StreamSieveError:
            if len(streams) == 2:
                continue  # refused with a sentence: this source has the other axis
            raise
        member, what = ("n_rows", "the number of rows, or None") if axis == "rows" else ("y", "the target")
        assert hasattr(source, member), f"{kind} has no `{member}` ({what}), which ss.run asks for"
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
        answer = source.check_identity(known)
    assert answer is None, (
        f"{kind}.check_identity must raise SourceError to refuse, and return None; got {answer!r}"
    )
    try:
        source.check_identity({"another": "stream"})
    except SourceError:
        return
    except Exception as error:
        raise AssertionError(
            f"{kind}.check_identity must refuse another identity with a SourceError, not by "
            f"{type(error).__name__}"
        ) from error
    raise AssertionError(f"{kind}.check_identity takes any identity: refuse another one with a SourceError")


def _check_axis(source: Any, axis: str, batches: list[Any]) -> None:
    along, key = (0, "row") if axis == "rows" else (1, "column")
    _check_batches(axis, batches)
    whole, labels, names = _joined(batches, along), _labels(batches), _names(batches, axis)
    if axis == "rows":
        _check_count(source, "n_rows", len(whole))
    else:
        _check_count(source, "n_columns", whole.shape[1])
        y = np.asarray(source.y)
        assert y.shape == whole.shape[:1], f"y has shape {y.shape}, but the columns have {len(whole)} rows"
    for size in SIZES:
        some = list(getattr(source, axis)(size))
        assert some, f"{axis}() yields nothing the second time: it must begin again at every call"
        _check_batches(axis, some)
        assert _same(_joined(some, along), whole), f"{axis}({size}) holds other values than {axis}(4)"
        assert _same(_labels(some), labels), f"{axis}({size}) holds other labels than {axis}(4)"
        assert _names(some, axis) == names, f"{axis}({size}) has other names than {axis}(4)"
        widths = [batch.X.shape[along] for batch in some]
        assert widths[:-1] == [size] * (len(some) - 1), (
            f"{axis}({size}) yields {str(widths[:10])[1:-1]}, ... {axis}: all batches but the last must have "
            f"{size}"
        )
    read = 0
    seldom = max(1, len(batches) // POSITIONS)
    for i, batch in enumerate(batches):
        read += batch.X.shape[along]
        with named(f"a position of {axis} must be JSON, with Python's own numbers; got {batch.position}"):
            start = json.loads(json.dumps(batch.position))
        found = start.get(key) if isinstance(start, dict) else None
        assert found == read, (
            f"a position of {axis} is a dict with {key!r}, the number of {axis} so far ({read} after the "
            f"batch); got {start}"
        )
        if i % seldom and i < len(batches) - 1:
            continue
        start = start if axis == "rows" else {key: read}  # which alone will do
        rest = list(getattr(source, axis)(3, start=start))
        left = whole[read:] if axis == "rows" else whole[:, read:]
        got = _joined(rest, along) if rest else left[:0] if axis == "rows" else left[:, :0]
        assert _same(got, left), f"{axis}(3, start={start}) does not yield the rest, after {read} {axis}"
        assert not rest or _same(_labels(rest), labels[read:] if axis == "rows" else labels), (
            f"{axis}(3, start={start}) does not yield the labels of the rest"
        )


def _check_batches(axis: str, batches: list[Any]) -> None:
    """Check the form of every batch or block."""
    assert batches, f"{axis}() yields nothing"
    wanted = RowBatch if axis == "rows" else ColumnBlock
    width = None
    for batch in batches:
        assert isinstance(batch, wanted), (
            f"{axis}() must yield streamsieve.protocols.{wanted.__name__}; got {type(batch).__name__}"
        )
        X = batch.X
        assert isinstance(X, np.ndarray) or sp.issparse(X), (
            f"X of a {wanted.__name__} must be a NumPy array or a sparse matrix; got {type(X).__name__}"
        )
        assert X.ndim == 2, f"X of a {wanted.__name__} must have two dimensions; got shape {X.shape}"
        other = X.shape[1 if axis == "rows" else 0]
        width = other if width is None else width
        assert other == width, f"{axis}() yields X of shape {X.shape} after others of {width} {_across(axis)}"
        assert batch.names is None or len(batch.names) == X.shape[1], (
            f"a {wanted.__name__} has {len(batch.names)} names for {X.shape[1]} columns"
        )
        if isinstance(batch, RowBatch):
            y, weight = batch.y, batch.weight
            assert y is None or np.shape(y) == X.shape[:1], f"there are {len(y)} labels for {X.shape[0]} rows"
            assert weight is None or np.shape(weight) == X.shape[:1], (
                f"there are {len(weight)} weights for {X.shape[0]} rows"
            )


def _across(axis: str) -> str:
    return "columns" if axis == "rows" else "rows"


def _check_count(source: Any, name: str, found: int) -> None:
    said = getattr(source, name, None)
    assert said is None or said == found, f"{name} is {said}, but there are {found}"


def _labels(batches: list[Any]) -> npt.NDArray[Any]:
    labels = [batch.y for batch in batches if getattr(batch, "y", None) is not None]
    return np.concatenate(labels) if labels else np.zeros(0)


def _names(batches: list[Any], axis: str) -> list[str] | None:
    if any(batch.names is None for batch in batches):
        return None
    return [*batches[0].names] if axis == "rows" else [name for batch in batches for name in batch.names]


def _joined(batches: Iterable[Any], axis: int) -> npt.NDArray[Any]:
    return np.concatenate([b.X.toarray() if sp.issparse(b.X) else np.asarray(b.X) for b in batches], axis)


def _same(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> bool:
    if a.shape != b.shape:
        return False
    return np.array_equal(a, b, equal_nan=a.dtype.kind == b.dtype.kind == "f")
