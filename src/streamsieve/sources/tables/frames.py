"""Dataframes of any library, converted to float64 matrices piece by piece."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from streamsieve._parameters import did_you_mean
from streamsieve._text import in_a_line
from streamsieve.exceptions import SourceError
from streamsieve.protocols import FloatArray
from streamsieve.sources.checks import some
from streamsieve.sources.tables.files import decoded
from streamsieve.sources.tables.layout import kinds_of, values_of
from streamsieve.sources.weights import as_weights


def as_frame(X: Any) -> Any:
    """Return a narwhals frame over pandas, polars, Arrow or anything with an Arrow interface, else None."""
    import narwhals as nw  # noqa: PLC0415 - most sources do not need it

    if nw.dependencies.is_into_dataframe(X):
        try:
            return nw.from_native(X, eager_only=True)
        except nw.exceptions.DuplicateError as error:
            text = in_a_line(error)
            raise SourceError(f"every column of a dataframe needs its own name: {text}") from error
        except TypeError as error:  # a name such as a list
            raise SourceError(f"the names of columns must be text or numbers: {error}") from error
    if not isinstance(X, type) and hasattr(X, "collect") and nw.dependencies.is_into_lazyframe(X):
        raise SourceError("a lazy frame has no rows yet: call .collect() first")
    if hasattr(X, "__arrow_c_stream__") and not nw.dependencies.is_into_series(X):
        import pyarrow as pa  # noqa: PLC0415 - such an object implies that pyarrow is installed

        return nw.from_native(_from_stream(X, pa.table), eager_only=True)
    if hasattr(X, "__arrow_c_array__") and not nw.dependencies.is_into_series(X):
        import pyarrow as pa  # noqa: PLC0415

        if not isinstance(X, pa.Array):
            batch = _from_stream(X, pa.record_batch)
            return nw.from_native(pa.Table.from_batches([batch]), eager_only=True)
    return None


def _from_stream(X: Any, read: Callable[[Any], Any]) -> Any:
    """Read an object that claims to have an Arrow interface."""
    try:
        return read(X)
    except (TypeError, ValueError, NotImplementedError) as error:
        raise SourceError(f"the Arrow interface of {type(X).__name__} cannot be read: {error}") from error


def split_target(frame: Any, target: Any) -> tuple[Any, npt.NDArray[Any] | None]:
    """Return the features of a frame, and the target if it is one of its columns."""
    if not isinstance(target, str):
        return frame, None
    if target not in frame.columns:
        raise SourceError(
            f"there is no column {target!r} to serve as target{did_you_mean(target, frame.columns)}; "
            f"the columns are {some(frame.columns)}"
        )
    missing = int(frame[target].null_count())
    if missing:
        raise SourceError(
            f"the target column {target!r} has missing values ({missing}): drop those rows or fill them in"
        )
    return frame.drop(target), frame[target].to_numpy()


def split_weight(frame: Any, weight: Any) -> tuple[Any, Any]:
    """Return the features of a frame, and the weights of rows, which may be one of its columns."""
    if not isinstance(weight, str):
        return frame, weight
    if weight not in frame.columns:
        raise SourceError(
            f"there is no column {weight!r} to serve as weight{did_you_mean(weight, frame.columns)}; "
            f"the columns are {some(frame.columns)}"
        )
    values = frame[weight].to_numpy()
    if values.dtype.kind not in "cmMV":  # others are refused later
        values = cells(frame.select(weight), slice(None), slice(None), "F")[:, 0]
    return frame.drop(weight), as_weights(values, f"the values of the weight column {weight!r}")


def refuse_non_numbers(frame: Any) -> None:
    """Refuse columns that do not hold numbers; the error names them and two solutions."""
    import narwhals as nw  # noqa: PLC0415

    from streamsieve._frames import refuse_text  # noqa: PLC0415 - imports scikit-learn

    if frame.implementation.is_pyarrow():  # as in files, where numbers may be encoded
        kinds = kinds_of("the table", frame.to_native().schema)
        for name in (name for name, kind in kinds.items() if kind != "numbers"):
            refuse_text(frame.select(name).to_native())
            raise _not_numbers(name, f"it holds {kinds[name]}")
        return
    refuse_text(frame.to_native())
    for name, dtype in frame.schema.items():
        # pandas: a column of Python objects may hold anything, an unknown one may be complex
        if dtype in (nw.Object, nw.Unknown):
            values = frame[name].to_numpy()
            strange = values if values.dtype.kind not in "Ofiub" else _texts(values)
            for value in strange[:1]:
                raise _not_numbers(name, f"it holds {str(value)!r}, for example")


def cells(frame: Any, rows: slice, columns: slice, order: Literal["C", "F"]) -> FloatArray:
    """Return a part of a frame as float64; missing values become NaN."""
    if frame.implementation.is_pyarrow():
        return _arrow_cells(frame, rows, columns, order)
    part = frame[rows, columns]
    try:
        values = _numbers(part)
    except (TypeError, ValueError, OverflowError) as error:
        name = next((name for name in part.columns if not _is_numeric(part.select(name))), part.columns[0])
        raise _not_numbers(name, str(error)) from error
    return np.asarray(values, np.float64, order=order)


def _numbers(frame: Any) -> npt.NDArray[Any]:
    import narwhals as nw  # noqa: PLC0415

    if frame.implementation.is_pandas():
        native = frame.to_native()
        # a missing value of a nullable or Arrow dtype would become an object
        plain = all(isinstance(dtype, np.dtype) for dtype in native.dtypes)
        values = native.to_numpy(np.float64) if plain else native.to_numpy(np.float64, na_value=np.nan)
    else:
        values = frame.select(nw.all().cast(nw.Float64)).to_numpy()
    return np.asarray(values)


def _arrow_cells(frame: Any, rows: slice, columns: slice, order: Literal["C", "F"]) -> FloatArray:
    """Return a part of an Arrow table, converted as record batches of files are."""
    table = frame.to_native().select(frame.columns[columns])
    table = table.slice(rows.start or 0, None if rows.stop is None else rows.stop - (rows.start or 0))
    names = table.column_names
    pieces = [values_of(decoded(b), names, row_major=order == "C") for b in table.to_batches()]
    if len(pieces) == 1:
        return pieces[0]
    return np.asarray(np.concatenate(pieces), order=order) if pieces else np.empty((0, len(names)))


def _texts(values: npt.NDArray[Any]) -> list[Any]:
    return [value for value in values if isinstance(value, (str, bytes))]


def _is_numeric(frame: Any) -> bool:
    try:
        _numbers(frame)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def _not_numbers(name: Any, why: str) -> SourceError:
    return SourceError(
        f"column {str(name)!r} does not hold numbers ({why}): encode it (for example with "
        "OrdinalEncoder) or leave it out"
    )
