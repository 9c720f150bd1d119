"""Rows for the laws of summaries, and comparisons of what summaries know."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve.protocols import Arrays, FloatArray
from streamsieve.summaries.nesting import innermost
from streamsieve.testing._data import named

Make = Callable[[], Any]
#: Reads everything a summary knows as arrays whose values can be compared.
Read = Callable[[Any], list[npt.NDArray[Any]]]

P = 5
TINY = float(np.finfo(np.float64).tiny)
FORMS: dict[str, Callable[[FloatArray], Any]] = {"dense": np.ascontiguousarray, "sparse": sp.csr_array}


class Batch(NamedTuple):
    """Some rows: values are small whole numbers, so that any summary holds them exactly."""

    X: FloatArray
    y: npt.NDArray[Any]


def rows(summary: Any, n: int) -> Batch:
    """Return n rows with five features and a target of the kind that a summary takes."""
    rng = np.random.default_rng(7)
    y = np.arange(n) % 3
    X = rng.integers(-2, 4, (n, P)).astype(np.float64)
    X[:, 0] += y
    return Batch(X, y if summary.target == "classes" else y + 0.5 * rng.integers(0, 9, n))


def cut(batch: Batch, size: int) -> list[Batch]:
    """Cut rows into batches of ``size``."""
    return [Batch(*(a[low : low + size] for a in batch)) for low in range(0, len(batch.y), size)]


def learned(make: Make, batches: list[Batch], form: str) -> Any:
    """Return a summary that was updated with some batches."""
    summary = make()
    for batch in batches:
        X = FORMS[form](batch.X)
        with named(f"update(X, y) fails if X is a {type(X).__name__} of shape {X.shape}"):
            summary.update(X, batch.y)
    return summary


def known(summary: Any) -> list[npt.NDArray[Any]]:
    """Return what a summary knows, by way of its blocks, tables or moments."""
    summary = innermost(summary)
    name = next((name for name in ("blocks", "tables", "moments") if hasattr(summary, name)), None)
    assert name is not None, (
        f"{type(summary).__name__} has neither `blocks()` nor `tables(bins)`: give check_summary a `read`"
    )
    answer = summary.tables(5) if name == "tables" else getattr(summary, name)()
    blocks = [answer] if name == "moments" else answer
    order = np.argsort(np.array(summary.classes, dtype=object), kind="stable")
    return [np.asarray(array) for block in blocks for array in _comparable(block, order)]


def _comparable(block: Any, order: npt.NDArray[np.int64]) -> Iterator[Any]:
    """Yield the arrays of a block, with its classes in ``order`` and masses relative to their sum."""
    if hasattr(block, "counts"):
        order = order[block.counts[:, order].any(axis=(0, 2))]  # a window may know classes that have left it
        counts = block.counts[:, order] / max(block.counts.sum(), TINY)
        # categories stand in any order, and may have no rows left
        yield from [counts] if block.ordered else map(_sorted_categories, counts)
        yield block.n
    elif hasattr(block, "copies"):
        shape = len(block.y), len(block.indptr) - 1
        X = sp.csc_array((block.data, block.indices, block.indptr), shape=shape).toarray()
        copies = np.where(np.isnan(X).all(axis=1), 0, block.copies)  # a row without any value is no row
        yield np.repeat(X, copies, axis=0)
        yield np.repeat(block.y, copies)
    elif hasattr(block, "mass"):
        yield block.mass[order] / max(block.mass.sum(), TINY)
        yield from (array[order] for array in block[1:])
    else:
        yield from block if isinstance(block, (tuple, list)) else [block]


def _sorted_categories(table: FloatArray) -> FloatArray:
    """Return a table of classes by categories without empty categories, in an order of its own."""
    table = table[:, table.any(axis=0)]
    return table[:, np.lexsort(np.round(table, 9))]


def same(a: list[npt.NDArray[Any]], b: list[npt.NDArray[Any]], message: str) -> None:
    """Assert that two answers are equal to rounding."""
    assert len(a) == len(b), message
    for x, y in zip(a, b, strict=True):
        assert x.shape == y.shape, message
        assert np.allclose(x, y, rtol=1e-9, atol=1e-9, equal_nan=True), message


def same_bits(a: Arrays, b: Arrays, message: str) -> None:
    """Assert that two states are equal to the last bit."""
    assert a.keys() == b.keys(), message
    for name, array in a.items():
        assert array.dtype == b[name].dtype, f"{message} ({name})"
        assert array.tobytes() == b[name].tobytes(), f"{message} ({name})"


def refused(error: type[Exception], call: Callable[[], object], what: str) -> None:
    try:
        call()
    except error:
        return
    except Exception as other:  # whatever it is, it is the wrong one
        raise AssertionError(f"{what} must raise {error.__name__}, not {type(other).__name__}") from other
    raise AssertionError(f"{what} must raise {error.__name__}")
