"""Dataframes of any library: their names, their types, and some of their columns."""

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
from streamsieve.exceptions import InputTypeError, SchemaError

#: Libraries of dataframes that are made here, in order of preference.
LIBRARIES = ("pandas", "polars", "pyarrow")
#: Types of NumPy that narwhals has a name for.
_PLAIN = frozenset(map(np.dtype, ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?")))

#: Types of columns that hold names.
_CATEGORIES = (nw.String, nw.Categorical, nw.Enum)


def names_of(X: Any) -> list[str] | None:
    """Return the column names of a dataframe, the name of a named series, or None."""
    if is_frame(X):
        names = list(as_frame(X).columns)
        return names if all(isinstance(name, str) for name in names) else None
    if is_series(X):
        name = nw.from_native(X, series_only=True).name
        return [name] if isinstance(name, str) and name else None
    return None


def library_of(X: Any) -> str | None:
    """Return the library of a dataframe, one of ``LIBRARIES``; None for anything else."""
    module = type(X).__module__.partition(".")[0]
    return module if module in LIBRARIES else None


def new_frame(columns: Mapping[str, Any], library: str | None = None) -> Any:
    """Make a dataframe of columns in a library; None takes the first one that is installed."""
    if library is None:
        library = next((name for name in LIBRARIES if find_spec(name) is not None), LIBRARIES[0])
    module = needs(check_choice("library", library, LIBRARIES), "a dataframe")
    return (module.table if library == "pyarrow" else module.DataFrame)(dict(columns))


def as_frame(X: Any) -> Any:
    """Return a dataframe of any library as narwhals has it; refuse names that occur twice."""
    try:
        frame = nw.from_native(X, eager_only=True)
        _ = frame.schema  # the names are looked at here
    except nw.exceptions.DuplicateError as error:
        names = X.column_names if hasattr(X, "column_names") else X.columns
        twice = [name for name, count in Counter(names).items() if count > 1]
        more = f" and {len(twice) - 3} more" if len(twice) > 3 else ""
        raise SchemaError(
            f"the dataframe has several columns named {', '.join(map(repr, twice[:3]))}{more}: rename them"
        ) from error
    return frame


def with_dense_columns(X: Any) -> Any:
    """Return a pandas dataframe whose sparse columns are dense, unless all of them leave out zeros.

    Only zeros can be left out of a SciPy matrix.  Anything else is returned as it is.
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
    """Whether X is a dataframe or an array with cells that are not numbers."""
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
    """Return a dataframe or series whose categories and text are codes 0, 1, 2, ..., missing ones NaN.

    Also returns the names of these columns, and whether their categories are ordered.  Other columns stay
    what they are, and anything else is returned as it is.
    """
    if is_series(X):
        series = nw.from_native(X, series_only=True)
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
    """Return the names of the columns of text and categories of a dataframe, and whether they are ordered."""
    if not is_frame(X):
        return {}
    frame = as_frame(X)
    return {
        name: bool(getattr(getattr(frame[name].to_native(), "cat", None), "ordered", False))
        for name, dtype in frame.schema.items()
        if dtype in _CATEGORIES
    }


def _codes(series: Any) -> tuple[Any, bool]:
    """Return a column of categories or text as numbers, and whether its categories are ordered."""
    native = series.to_native()
    if getattr(getattr(native, "cat", None), "ordered", False):  # pandas
        codes = np.asarray(native.cat.codes, np.float64)
        ordered = True
    else:
        places: dict[Any, int] = {}
        values = (None if value is None or value != value else value for value in series.to_list())  # noqa: PLR0124
        codes = np.array([np.nan if v is None else places.setdefault(v, len(places)) for v in values], float)
        ordered = False
    codes = np.where(codes < 0, np.nan, codes)  # how pandas codes what is missing
    made = nw.new_series(series.name, codes, nw.Float64, backend=nw.get_native_namespace(series))
    return made, ordered


def as_objects(X: Any) -> npt.NDArray[Any]:
    """Return the cells of a dataframe or an array as they are; numbers stay numbers, missing ones None."""
    if isinstance(X, np.ndarray):
        return X.astype(object)
    frame = as_frame(X)
    out = np.empty(frame.shape, object)
    for j, name in enumerate(frame.columns):
        out[:, j] = frame[name].to_list()
    return out


def refuse_text_array(X: Any) -> None:
    """Refuse an array with text, whose columns have no types."""
    if isinstance(X, np.ndarray) and holds_text(X):
        raise InputTypeError(
            "could not convert string to float: X is an array with text; give a dataframe, whose columns "
            "of text are nominal"
        )


def refuse_text(X: Any) -> None:
    """Name the text columns of a dataframe, and the two ways out."""
    if not is_frame(X):
        if not _is_array(X) and nw.dependencies.is_polars_lazyframe(X):
            raise InputTypeError("X is a lazy frame, which holds no data yet: call .collect() first")
        return
    frame = as_frame(X)
    bad = _text_columns(frame)
    dates = [name for name in bad if frame.schema[name].is_temporal()]
    if dates:
        raise InputTypeError(
            f"{_columns(dates)} {'hold' if len(dates) > 1 else 'holds'} dates or times, not numbers: convert "
            "them (for example to days since a fixed date, or to the weekday), or leave them out"
        )
    if bad:
        them = "them" if len(bad) > 1 else "it"
        raise InputTypeError(
            f"could not convert string to float: {_columns(bad)} {'do' if len(bad) > 1 else 'does'} not "
            f"hold numbers; encode {them} (for example with OrdinalEncoder), leave {them} out, or take text "
            "as categories: Screen()"
        )


def _columns(names: Sequence[str], few: int = 5) -> str:
    """Return "column 'a'" or "columns 'a', 'b' and 7 more"."""
    more = f" and {len(names) - few} more" if len(names) > few else ""
    return f"column{'s' * (len(names) > 1)} {', '.join(map(repr, names[:few]))}{more}"


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
    return as_frame(X)[:, indices.tolist()].to_native()


def zero_columns(X: Any, mask: npt.NDArray[np.bool_]) -> Any:
    """Set columns of a dataframe to 0, keeping its library, names and types of numbers."""
    gone = [name for name, zero in zip(as_frame(X).columns, mask, strict=True) if zero]
    if nw.dependencies.is_pandas_dataframe(X):
        X = X.copy(deep=False)
        for name in [name for name in gone if _is_odd(X.dtypes[name])]:
            X[name] = type(X[name])(0, index=X.index).astype(X.dtypes[name])
            gone.remove(name)
    frame = as_frame(X)
    return frame.with_columns(_zero(name, frame.schema[name]) for name in gone).to_native()


def _is_odd(dtype: Any) -> bool:
    """Whether pandas has a type that narwhals loses: sparse, nullable, longdouble, complex, objects."""
    return (dtype.kind in "fiubc" and dtype not in _PLAIN) or dtype == np.dtype("O")


def _zero(name: str, dtype: Any) -> Any:
    if dtype.is_nested() or dtype == nw.Object:
        raise InputTypeError(
            f"column {name!r} holds {dtype}, which cannot be set to 0: convert it to numbers"
        )
    # a column without any value has no type, and 0 does not fit into every decimal of pyarrow
    zero = nw.lit(0.0) if dtype in (nw.Unknown, nw.Decimal) else nw.lit(0).cast(dtype)
    return zero.alias(name)


def take_named(X: Any, names: Sequence[str]) -> Any:
    """Select columns of a dataframe by name, keeping its library."""
    frame = as_frame(X)
    for name in names:
        if name not in frame.columns:
            raise SchemaError(
                f"the kept feature {name!r} is not among the columns{did_you_mean(name, frame.columns)}"
            )
    return frame.select(list(names)).to_native()
