"""New rows: their values in the kept columns, from any container, and their fingerprints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp

from streamsieve._frames import is_frame, names_of, refuse_text, take_named
from streamsieve._parameters import did_you_mean
from streamsieve._validation import clean
from streamsieve.base.row_fingerprints import Fingerprints, RowsIdentity
from streamsieve.exceptions import InputTypeError, SchemaError
from streamsieve.protocols import FloatArray, IntArray


def kept_values(
    X: Any, names: Sequence[str] | None, kept: Sequence[str], places: IntArray, n: int
) -> FloatArray:
    """Return the values of rows in the kept columns, as float64.

    Parameters
    ----------
    X : dataframe, array or sparse matrix
    names : names of the columns of an array
    kept : names of the kept columns
    places : their arrival numbers
    n : number of columns offered so far
    """
    if is_frame(X) and names is None and names_of(X) is not None:
        if not kept:
            return np.zeros((len(nw.from_native(X, eager_only=True)), 0))
        frame = take_named(X, list(kept))
        refuse_text(frame)
        numbers = nw.from_native(frame, eager_only=True).select(nw.all().cast(nw.Float64)).to_numpy()
        return np.asarray(numbers, np.float64)
    X = _matrix(X)
    if names is not None:
        return _dense(X[:, _places_of(kept, names, X.shape[1])])
    if X.shape[1] == len(kept):
        return _dense(X)
    if X.shape[1] == n:
        return _dense(X[:, places])
    raise SchemaError(
        f"the rows have {X.shape[1]} columns; give the {len(kept)} kept columns in order of arrival (or all "
        f"{n} ever offered), a dataframe, or names="
    )


def _places_of(kept: Sequence[str], names: Sequence[str], width: int) -> list[int]:
    if len(names) != width:
        raise SchemaError(f"names has {len(names)} entries for {width} columns: give one name per column")
    place = {name: j for j, name in enumerate(names)}
    if len(place) < len(names):
        twice = next(name for j, name in enumerate(names) if place[name] != j)
        raise SchemaError(
            f"the feature name {twice!r} occurs twice; names must be unique: rename or drop one"
        )
    for name in kept:
        if name not in place:
            raise SchemaError(
                f"the kept feature {name!r} is not among the columns{did_you_mean(name, place)}; new rows "
                "need a value for every column kept"
            )
    return [place[name] for name in kept]


def _matrix(X: Any) -> Any:
    X = clean(X, "csc")
    if sp.issparse(X):
        return X
    try:
        X = np.asarray(X, np.float64)
    except (TypeError, ValueError) as error:
        raise InputTypeError(f"the rows must hold numbers: {error}") from error
    if X.ndim != 2:
        raise SchemaError(f"X must be a matrix of rows; got shape {X.shape}")
    return X


def _dense(X: Any) -> FloatArray:
    return np.asarray(X.toarray() if sp.issparse(X) else X, np.float64)


class NewPrints:
    """Fingerprints of the targets and identifiers of rows that the selector's identity does not have yet."""

    def __init__(self) -> None:
        self._ys: list[Fingerprints | None] = []
        self._ids: list[Fingerprints | None] = []
        self._rows = 0

    def __len__(self) -> int:
        return self._rows

    def append(self, y: Fingerprints, ids: Fingerprints | None) -> None:
        """Add the fingerprints of some rows; without identifiers, those of all rows are unknown."""
        self._ys.append(y)
        self._ids.append(ids)
        self._rows += len(y)

    def after(self, identity: RowsIdentity, n: int) -> RowsIdentity:
        """Return the identity of the last n rows: those of ``identity``, then these."""
        return RowsIdentity(n, _last(n, identity.y, *self._ys), _last(n, identity.rows, *self._ids))


def _last(n: int, *prints: Fingerprints | None) -> Fingerprints | None:
    """Return the last n fingerprints, or None if some are unknown."""
    known = [each for each in prints if each is not None]
    return np.concatenate(known)[-n:] if len(known) == len(prints) else None
