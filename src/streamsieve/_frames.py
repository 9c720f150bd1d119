"""Dataframes of any library: column names, types, and selecting columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve._extras import needs
from streamsieve._parameters import check_choice, did_you_mean
from streamsieve.exceptions import InputError, InputTypeError, SchemaError

#: Dataframe libraries for results, in order of preference.
LIBRARIES = ("pandas", "polars", "pyarrow")
#: NumPy dtypes that narwhals has a name for.
_PLAIN = frozenset(map(np.dtype, ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?")))

#: Dtypes of text and categorical columns.
_CATEGORIES = (nw.String, nw.Categorical, nw.Enum)


def names_of(X: Any) -> list[str] | None:
    """Return the column names of a dataframe, the name of a named series, or None."""
    if is_frame(X):
        names = list(as_frame(X).columns)
        return names if all(isinstance(name, str) for name in names) else None
    if is_series(X):
        name = as_series(X).name
        return [name] if isinstance(name, str) and name else None
    return None


def library_of(X: Any) -> str | None:
    """Return the library of a dataframe, one of ``LIBRARIES``; None for anything else."""
    module = type(X).__module__.partition(".")[0]
    return module if module in LIBRARIES else None


def new_frame(columns: Mapping[str, Any], library: str | None = None) -> Any:
    """Make a dataframe in a library; None means the first one that is installed."""
    if library is None:
        library = next((name for name in LIBRARIES if find_spec(name) is not None), LIBRARIES[0])
    module = needs(check_choice("library", library, LIBRARIES), "a dataframe")
    return (module.table if library == "pyarrow" else module.DataFrame)(dict(columns))


def as_frame(X: Any) -> Any:
    """Wrap a dataframe of any library with narwhals; refuse duplicate column names."""
    try:
        frame = nw.from_native(X, eager_only=True)
        _ = frame.schema  # duplicate names fail here
    except TypeError as error:  # a name such as a list
        raise SchemaError(f"the names of columns must be text or numbers: {error}") from error
    except nw.exceptions.DuplicateError as error:
        names = X.column_names if hasattr(X, "column_names") else X.columns
        twice = [name for name, count in Counter(names).items() if count > 1]
        more = f" and {len(twice) - 3} more" if len(twice) > 3 else ""
        raise SchemaError(
            f"the dataframe has several columns named {', '.join(map(repr, twice[:3]))}{more}: rename them"
        ) from error
    return frame


def as_series(X: Any) -> Any:
    """Wrap a series of any library with narwhals."""
    return nw.from_native(X, series_only=True)


def check_arrow(X: Any) -> None:
    """Refuse Arrow arrays with invalid offsets, dictionary indices or text, which Arrow does not check.

    Checks pyarrow tables and arrays, and pandas columns backed by Arrow arrays.  It reads all of them, so it
    is called once: where values are converted (`clean`, `_codes`, targets) or returned (`transform`).
    """
    library = library_of(X)
    if library == "pyarrow" and hasattr(X, "validate"):
        arrays = {"": X}
    elif library == "pandas" and hasattr(X, "dtypes"):
        columns = X.items() if hasattr(X, "columns") else [("", X)]
        arrays = {
            name: column.array.__arrow_array__()
            for name, column in columns
            if hasattr(column.dtype, "pyarrow_dtype")
        }
    else:
        return
    for name, array in arrays.items():
        try:
            array.validate(full=True)
        except (ValueError, IndexError) as error:  # ArrowInvalid, ArrowIndexError
            where = f" in column {name!r}" if name else ""
            raise InputError(f"the Arrow data{where} is not valid: {error}") from error


def array_of(values: Any) -> npt.NDArray[Any]:
    """Return anything array-like as a NumPy array; ``TypeError`` or ``ValueError`` if it is none."""
    check_arrow(values)
    try:
        return np.asarray(values.to_numpy() if hasattr(values, "to_numpy") else values)
    except NotImplementedError as error:  # pyarrow, for types that NumPy lacks
        raise TypeError(str(error)) from error


def with_dense_columns(X: Any) -> Any:
    """Return a pandas dataframe with sparse columns made dense, unless the fill value of all is 0.

    A SciPy matrix has no other fill value.  Anything else is returned unchanged.
    """
    sparse = _sparse_columns(X)
    if not sparse or (len(sparse) == X.shape[1] and all(dtype.fill_value == 0 for dtype in sparse.values())):
        return X
    as_frame(X)  # names differ
    return X.astype({name: dtype.subtype for name, dtype in sparse.items()})


def _sparse_columns(X: Any) -> dict[Any, Any]:
    """Return the types of the sparse columns of a pandas dataframe."""
    if not (is_frame(X) and nw.dependencies.is_pandas_dataframe(X)):
        return {}
    return {name: dtype for name, dtype in X.dtypes.items() if hasattr(dtype, "fill_value")}


def holds_text(X: Any) -> bool:
    """Whether X is a dataframe or an array with non-numeric cells."""
    if isinstance(X, np.ndarray):
        return X.ndim == 2 and (X.dtype.kind == "U" or (X.dtype.kind == "O" and _any_text(X)))
    return is_frame(X) and bool(_text_columns(as_frame(X)))


def _any_text(X: npt.NDArray[Any]) -> bool:
    return any(isinstance(cell, str) for cell in X.ravel().tolist())


def _text_columns(frame: Any) -> list[str]:
    return [
        str(name)
        for name, dtype in frame.schema.items()
        if not (dtype.is_numeric() or dtype in (nw.Boolean, nw.Object, nw.Unknown))
    ]


def with_codes(X: Any) -> tuple[Any, dict[str, bool]]:
    """Return a dataframe or series with categories and text coded as 0, 1, 2, ..., NaN where missing.

    Also returns the names of these columns, and whether their categories are ordered.  Other columns, and
    anything that is not a dataframe or series, are returned unchanged.
    """
    if is_series(X):
        series = as_series(X)
        if series.dtype not in _CATEGORIES:
            return X, {}
        codes, ordered = _codes(series)
        return codes.to_native(), {series.name or "": ordered}
    if not is_frame(X):
        return X, {}
    frame = as_frame(X)
    found = {name: _codes(frame[name]) for name, dtype in frame.schema.items() if dtype in _CATEGORIES}
    if not found:
        return X, {}
    coded = frame.with_columns(codes for codes, _ in found.values()).to_native()
    return coded, {name: ordered for name, (_, ordered) in found.items()}


def categories_in(X: Any) -> dict[str, bool]:
    """Return the names of the text and categorical columns, and whether their categories are ordered."""
    if not is_frame(X):
        return {}
    frame = as_frame(X)
    return {
        name: bool(getattr(getattr(frame[name].to_native(), "cat", None), "ordered", False))
        for name, dtype in frame.schema.items()
        if dtype in _CATEGORIES
    }


def _codes(series: Any) -> tuple[Any, bool]:
    """Return a column of categories or text as codes, and whether its categories are ordered."""
    native = series.to_native()
    check_arrow(native)
    if getattr(getattr(native, "cat", None), "ordered", False):  # pandas
        codes = np.asarray(native.cat.codes, np.float64)
        ordered = True
    else:
        places: dict[Any, int] = {}
        values = (None if value is None or value != value else value for value in series.to_list())  # noqa: PLR0124
        codes = np.array([np.nan if v is None else places.setdefault(v, len(places)) for v in values], float)
        ordered = False
    codes = np.where(codes < 0, np.nan, codes)  # pandas' code for a missing value
    made = nw.new_series(series.name, codes, nw.Float64, backend=nw.get_native_namespace(series))
    return made, ordered


def as_objects(X: Any) -> npt.NDArray[Any]:
    """Return cells of a dataframe or array as objects; numbers stay numbers, missing values are None."""
    if isinstance(X, np.ndarray):
        return X.astype(object)
    frame = as_frame(X)
    out = np.empty(frame.shape, object)
    for j, name in enumerate(frame.columns):
        out[:, j] = frame[name].to_list()
    return out


def refuse_text_array(X: Any) -> None:
    """Refuse an array with text: its columns have no dtypes of their own."""
    if isinstance(X, np.ndarray) and holds_text(X):
        raise InputTypeError(
            "could not convert string to float: X is an array with text; give a dataframe, whose columns "
            "of text are nominal"
        )


#: What to do about text where a selector takes none.
_OTHER_SELECTORS = (
    "use a selector that takes text as categories: Screen(), or TopK() and others without missing='omit'"
)


def refuse_text(X: Any, instead: str = _OTHER_SELECTORS) -> None:
    """Raise an error that names the text, date and nested columns of a dataframe, and the ways out."""
    if not is_frame(X):
        if not _is_array(X) and nw.dependencies.is_polars_lazyframe(X):
            raise InputTypeError("X is a lazy frame, which holds no data yet: call .collect() first")
        return
    frame = as_frame(X)
    nested = [
        name for name, dtype in frame.schema.items() if dtype.is_nested() or _is_nested(frame, name, dtype)
    ]
    others = [name for name in _text_columns(frame) if name not in nested]
    dates = [name for name in others if frame.schema[name].is_temporal()]
    text, found = [name for name in others if name not in dates], []
    if text:
        them = "them" if len(text) > 1 else "it"
        found.append(
            f"could not convert string to float: {_columns(text)} {'do' if len(text) > 1 else 'does'} not "
            f"hold numbers; encode {them} (for example with OneHotEncoder), leave {them} out, or {instead}"
        )
    if dates:
        found.append(
            f"{_columns(dates)} {'hold' if len(dates) > 1 else 'holds'} dates or times, not numbers: convert "
            "them (for example to days since a fixed date, or to the weekday), or leave them out"
        )
    if nested:
        found.append(
            f"{_columns(nested)} {'hold' if len(nested) > 1 else 'holds'} lists or dicts, not numbers: make "
            "columns of their parts (for example with pandas.json_normalize), or leave them out"
        )
    if found:
        raise InputTypeError("; ".join(found))


def _is_nested(frame: Any, name: str, dtype: Any) -> bool:
    """Whether a column of objects holds lists or dicts, as far as its first value shows."""
    if dtype != nw.Object:
        return False
    return isinstance(next((value for value in frame[name] if value is not None), None), dict | list)


def without_column(X: Any, name: str) -> Any:
    """Return a dataframe without a column, if it has it."""
    frame = as_frame(X)
    return frame.drop(name).to_native() if name in frame.columns else X


def _columns(names: Sequence[str], few: int = 5) -> str:
    """Return "column 'a'" or "columns 'a', 'b' and 7 more"."""
    more = f" and {len(names) - few} more" if len(names) > few else ""
    return f"column{'s' * (len(names) > 1)} {', '.join(map(repr, names[:few]))}{more}"


def is_frame(X: Any) -> bool:
    # arrays first: narwhals takes a quarter of a millisecond to recognize them
    return not _is_array(X) and bool(nw.dependencies.is_into_dataframe(X))


def is_series(X: Any) -> bool:
    return not _is_array(X) and bool(nw.dependencies.is_into_series(X))


def _is_array(X: Any) -> bool:
    return isinstance(X, np.ndarray) or sp.issparse(X)


def take_columns(X: Any, indices: npt.NDArray[np.intp]) -> Any:
    """Select columns of a dataframe, keeping its library; None if X is not a dataframe."""
    if not is_frame(X):
        return None
    return _checked(as_frame(X)[:, indices.tolist()])


def zero_columns(X: Any, mask: npt.NDArray[np.bool_]) -> Any:
    """Set columns of a dataframe to 0, keeping its library, names and dtypes."""
    gone = [name for name, zero in zip(as_frame(X).columns, mask, strict=True) if zero]
    if nw.dependencies.is_pandas_dataframe(X):
        X = X.copy(deep=False)
        for name in [name for name in gone if _is_odd(X.dtypes[name])]:
            X[name] = type(X[name])(0, index=X.index).astype(X.dtypes[name])
            gone.remove(name)
    frame = as_frame(X)
    return _checked(frame.with_columns(_zero(name, frame.schema[name]) for name in gone))


def _is_odd(dtype: Any) -> bool:
    """Whether narwhals does not preserve a pandas dtype: sparse, nullable, longdouble, complex, object."""
    return (dtype.kind in "fiubc" and dtype not in _PLAIN) or dtype == np.dtype("O")


def _zero(name: str, dtype: Any) -> Any:
    if dtype.is_nested() or dtype in (nw.Object, nw.Enum):
        raise InputTypeError(
            f"column {name!r} holds {dtype}, which cannot be set to 0: convert it to numbers"
        )
    if dtype in (nw.Unknown, nw.Decimal):
        # an all-null column has no dtype, and not every pyarrow decimal can hold 0
        return nw.lit(0.0).alias(name)
    # categories are text, and no library casts numbers to them
    return nw.lit("0" if dtype == nw.Categorical else 0).cast(dtype).alias(name)


def take_named(X: Any, names: Sequence[str]) -> Any:
    """Select columns of a dataframe by name, keeping its library."""
    frame = as_frame(X)
    for name in names:
        if name not in frame.columns:
            raise SchemaError(
                f"the kept feature {name!r} is not among the columns{did_you_mean(name, frame.columns)}"
            )
    return _checked(frame.select(list(names)))


def _checked(frame: Any) -> Any:
    """Return the dataframe that narwhals wraps, after a check of its Arrow data."""
    native = frame.to_native()
    check_arrow(native)
    return native
