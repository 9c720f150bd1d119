"""Dataframes of any library: their names, their types, and some of their columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve._parameters import did_you_mean
from streamsieve.exceptions import InputTypeError, SchemaError


def names_of(X: Any) -> list[str] | None:
    """Return the column names of a dataframe, the name of a named series, or None."""
    if is_frame(X):
        try:
            names = list(nw.from_native(X, eager_only=True).columns)
        except nw.exceptions.DuplicateError as error:
            raise SchemaError("two columns have the same name; names must differ: rename one") from error
        return names if all(isinstance(name, str) for name in names) else None
    if is_series(X):
        name = nw.from_native(X, series_only=True).name
        return [name] if isinstance(name, str) and name else None
    return None


def holds_text(X: Any) -> bool:
    """Whether X is a dataframe or an array with cells that are not numbers."""
    if isinstance(X, np.ndarray):
        return X.ndim == 2 and (X.dtype.kind == "U" or (X.dtype.kind == "O" and _any_text(X)))
    return is_frame(X) and bool(_text_columns(nw.from_native(X, eager_only=True)))


def _any_text(X: npt.NDArray[Any]) -> bool:
    return any(isinstance(cell, str) for cell in X.ravel().tolist())


def _text_columns(frame: Any) -> list[str]:
    return [
        str(name)
        for name, dtype in frame.schema.items()
        if not (dtype.is_numeric() or dtype in (nw.Boolean, nw.Object, nw.Unknown))
    ]


def as_objects(X: Any) -> npt.NDArray[Any]:
    """Return the cells of a dataframe or an array as they are; numbers stay numbers, missing ones None."""
    if isinstance(X, np.ndarray):
        return X.astype(object)
    frame = nw.from_native(X, eager_only=True)
    out = np.empty(frame.shape, object)
    for j, name in enumerate(frame.columns):
        out[:, j] = frame[name].to_list()
    return out


def refuse_text(X: Any) -> None:
    """Name the text columns of a dataframe, and the two ways out."""
    if not is_frame(X):
        if not _is_array(X) and nw.dependencies.is_polars_lazyframe(X):
            raise InputTypeError("X is a lazy frame, which holds no data yet: call .collect() first")
        return
    bad = _text_columns(nw.from_native(X, eager_only=True))
    if bad:
        more = f" and {len(bad) - 3} more" if len(bad) > 3 else ""
        raise InputTypeError(
            f"could not convert string to float: column {', '.join(map(repr, bad[:3]))}{more} does not "
            "hold numbers; encode it (for example with OrdinalEncoder), leave it out, or take text as "
            "categories: Screen(criteria.MutualInfo(discrete=True))"
        )


def is_frame(X: Any) -> bool:
    # arrays first: narwhals asks a quarter of a millisecond long what they might be
    return not _is_array(X) and bool(nw.dependencies.is_into_dataframe(X))


def is_series(X: Any) -> bool:
    return not _is_array(X) and bool(nw.dependencies.is_into_series(X))


def _is_array(X: Any) -> bool:
    return isinstance(X, np.ndarray) or sp.issparse(X)


def take_columns(X: Any, indices: npt.NDArray[np.intp]) -> Any:
    """Select columns of a dataframe, keeping its library; None if X is not a dataframe."""
    if not is_frame(X):
        return None
    return nw.from_native(X, eager_only=True)[:, indices.tolist()].to_native()


def zero_columns(X: Any, mask: npt.NDArray[np.bool_]) -> Any:
    """Set columns of a dataframe to 0, keeping its library, names and types."""
    frame = nw.from_native(X, eager_only=True)
    gone = [name for name, zero in zip(frame.columns, mask, strict=True) if zero]
    return frame.with_columns(nw.lit(0).cast(frame.schema[name]).alias(name) for name in gone).to_native()


def take_named(X: Any, names: Sequence[str]) -> Any:
    """Select columns of a dataframe by name, keeping its library."""
    frame = nw.from_native(X, eager_only=True)
    for name in names:
        if name not in frame.columns:
            raise SchemaError(
                f"the kept feature {name!r} is not among the columns{did_you_mean(name, frame.columns)}"
            )
    return frame.select(list(names)).to_native()
