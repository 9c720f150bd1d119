"""The checks that all sources share.

``_validation`` brings scikit-learn along, so it is imported when a check is made: importing the sources
must be cheap.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import scipy.sparse as sp

from streamsieve._frames import check_arrow
from streamsieve.exceptions import SourceError

if TYPE_CHECKING:
    import numpy.typing as npt


def check_size(name: str, value: Any, low: int = 1) -> int:
    """Return a whole number of at least ``low``, or refuse it by name."""
    from streamsieve._parameters import check_number  # noqa: PLC0415

    check_number(name, value, low=low, integer=True)
    return int(value)


def check_start(owner: object, start: Mapping[str, int] | None, keys: Sequence[str]) -> dict[str, int]:
    """Return the position to start from: zeros, or a checked position from this kind of source."""
    if start is None:
        return dict.fromkeys(keys, 0)
    if not isinstance(start, Mapping) or any(not _is_count(start.get(key)) for key in keys):
        wanted = ", ".join(map(repr, keys))
        raise SourceError(
            f"start must be the position of a batch or block of the same {type(owner).__name__}, "
            f"with whole numbers for {wanted}; got {start!r}"
        )
    return {key: int(start[key]) for key in keys}


def _is_count(value: Any) -> bool:
    return type(value) is not bool and isinstance(value, numbers.Integral) and int(value) >= 0


def beyond(owner: object, what: str, start: int, there: int) -> SourceError:
    """Return the error for a position after the end of the data, which must have changed."""
    return SourceError(
        f"start lies after {start:,} {what}, but this {type(owner).__name__} has {there:,}: "
        "resume with the data the position came from"
    )


def spans(
    owner: object,
    axis: Literal["row", "column"],
    there: int | Callable[[], int],
    size: Any,
    start: Mapping[str, int] | None,
) -> Iterator[slice]:
    """Return the slices that cut all rows or columns into pieces of one size, from a position on.

    Arguments are checked at once; ``there``, the number of rows or columns, may be a function.
    """
    step = check_size("batch_size" if axis == "row" else "block_size", size)
    first = check_start(owner, start, (axis,))[axis]
    n = there if isinstance(there, int) else there()
    if first > n:
        raise beyond(owner, f"{axis}s", first, n)
    return (slice(low, min(low + step, n)) for low in range(first, n, step))


def no_axis(owner: object, axis: str, instead: str) -> SourceError:
    """Return the error for a source that does not stream along an axis."""
    return SourceError(f"{type(owner).__name__} has no {axis}: {instead}")


def is_list(values: object) -> bool:
    """Whether values can be gone through: not one value, nor a sparse matrix, which SciPy does not check."""
    return isinstance(values, Iterable) and not sp.issparse(values) and getattr(values, "ndim", 1) > 0


def check_names(names: Iterable[Any] | None, n: int) -> list[str] | None:
    """Return the names of ``n`` columns as a list of text, each only once."""
    if names is None:
        return None
    if not is_list(names):
        raise SourceError(f"names must be a list of text; got {type(names).__name__}")
    names = [names] if isinstance(names, str) else list(names)
    if len(names) != n:
        raise SourceError(f"names has {len(names)} entries for {n} columns: give one name per column")
    seen = set[str]()
    for name in names:
        if not isinstance(name, str):
            raise SourceError(f"names must be text; got {name!r}: use str(name)")
        if name in seen:
            raise SourceError(f"the name {name!r} occurs twice: every column needs its own")
        seen.add(name)
    return names


def as_target(y: Any, n: int | None) -> npt.NDArray[Any] | None:
    """Return a target as a one-dimensional array of ``n`` values; text labels become a text array.

    Whether the values are suitable is checked by the selector.
    """
    if y is None:
        return None
    check_arrow(y)
    if np.ma.is_masked(y):
        raise SourceError("y has missing labels (masked values): drop those rows or give them a label")
    try:
        values: npt.NDArray[Any] = np.asarray(y)
    except ValueError as error:
        raise SourceError("y must be one-dimensional, one value per row; got a ragged list") from error
    except MemoryError:
        raise
    except Exception as error:  # libraries raise errors of their own
        raise SourceError(f"y must hold numbers or text: {error}") from error
    if values.ndim != 1:
        raise SourceError(f"y must be one-dimensional, one value per row; got shape {values.shape}")
    if n is not None and len(values) != n:
        raise SourceError(f"the data has {n} rows, but y has {len(values)} values: give one value per row")
    if values.dtype.kind == "O" and all(isinstance(value, str) for value in values.tolist()):
        values = values.astype(str)
    return values


def some(names: Any, few: int = 8) -> str:
    """Return the first few names, and the number of the others, as text."""
    names = list(names)
    more = f" and {len(names) - few} more" if len(names) > few else ""
    return ", ".join(repr(str(name)) for name in names[:few]) + more
