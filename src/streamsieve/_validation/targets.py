"""Targets: what kind they are, and one label or number per row."""

from __future__ import annotations

import warnings
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
from sklearn.exceptions import DataConversionWarning

from streamsieve._frames import is_series
from streamsieve._parameters import check_choice
from streamsieve._values import LIMIT
from streamsieve.exceptions import TargetError
from streamsieve.protocols import FloatArray, Task

#: More different whole numbers than this, and than a tenth of the rows, are not taken for labels unasked.
MANY_CLASSES = 20
TASKS = ("auto", "classification", "regression")


def check_target(y: Any, n: int, kind: str) -> npt.NDArray[Any]:
    """Validate ``n`` targets: "classes", "numeric", or "either" (fractional numbers are numeric)."""
    if not _is_plain_target(y):
        y = _one_dimensional(y)
    if y.shape[0] != n:
        raise TargetError(f"X has {n} rows, but y has {y.shape[0]}: one label a row is wanted")
    if kind == "either" and y.dtype.kind == "f" and not np.array_equal(y, np.floor(y)):
        kind = "numeric"
    if kind == "numeric":
        return _numeric_target(y)
    if y.dtype.kind == "f":
        _refuse_missing_target(y)
        if not np.array_equal(y, np.floor(y)):
            raise TargetError(
                "y holds fractional numbers, but this method needs class labels; for a numeric target "
                "use criterion='correlation' or 'mutual_info' (rows) or task='regression', or bin y first"
            )
    return np.asarray(y)


def check_classes(y: Any, classes: Any, kind: str | None) -> None:
    """Refuse labels that are not among the announced ``classes``; None announces nothing.

    Where the target is not used (``kind`` is None), nor are its classes.
    """
    if classes is None or kind is None:
        return
    if kind not in ("classes", "either"):
        raise TargetError("classes= announces labels, but this target is numeric: leave it out")
    announced, found = np.asarray(classes).ravel().tolist(), np.unique(check_target(y, len(y), kind))
    unknown = [label for label in found.tolist() if label not in announced]
    if unknown:
        raise TargetError(f"y has the label {unknown[0]!r}, which is not among classes={announced!r}")


def _one_dimensional(y: Any) -> npt.NDArray[Any]:
    if y is None:
        raise TargetError(
            "this selector requires y to be passed, but the target y is None: give one label a row"
        )
    if is_series(y):
        y = nw.from_native(y, series_only=True).to_numpy()
    elif hasattr(y, "to_numpy") and not isinstance(y, np.ndarray):
        y = y.to_numpy()
    if np.ma.is_masked(y):
        raise TargetError("y has missing labels (masked values): drop those rows or give them a label")
    try:
        y = np.asarray(y)
    except ValueError as error:
        raise TargetError("y must be one-dimensional, one label a row; got a ragged list") from error
    if y.ndim == 2 and y.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected", DataConversionWarning, stacklevel=4
        )
        y = y.ravel()
    if y.ndim != 1:
        raise TargetError(f"y must be one-dimensional, one label a row; got shape {y.shape}")
    return _numbers_or_text(y)


def _numbers_or_text(y: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return labels or numbers in a type of this machine; refuse others."""
    if y.dtype.kind == "c":
        raise TargetError("Complex data not supported: y holds complex numbers")
    if y.dtype.kind == "O":
        return _plain_labels(y)
    if y.dtype.kind not in "fiubU" or (y.dtype == np.uint64 and y.size and y.max() > np.iinfo(np.int64).max):
        raise TargetError(f"y must hold numbers or text; got {y.dtype}: convert it, for example to text")
    if y.dtype.kind in "fiu" and not _is_plain_target(y):  # of another byte order, or wider than a float64
        with np.errstate(over="ignore"):
            return y.astype(np.float64 if y.dtype.kind == "f" else y.dtype.newbyteorder("="))
    return np.asarray(y)


def _plain_labels(y: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Turn an object array into text or numbers; refuse mixtures and missing labels."""
    kinds = {type(v) for v in y.tolist()}
    if kinds <= {str}:
        return y.astype(str)
    if type(None) in kinds:
        raise TargetError("y has missing labels (None): drop those rows or give them a label")
    if str in kinds:
        raise TargetError("y mixes text and other types: make all labels text or all numbers")
    try:
        numeric = y.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise TargetError("y must hold numbers or text; got other objects") from error
    return np.asarray(numeric, np.int64 if kinds <= {int, bool} else np.float64)


def _numeric_target(y: npt.NDArray[Any]) -> FloatArray:
    if y.dtype.kind in "USO":
        raise TargetError(
            f"a numeric target is wanted, but y holds text such as {str(y[0])!r}; "
            "class labels want a method, or a criterion, for classes"
        )
    y = np.ascontiguousarray(y, np.float64)
    _refuse_missing_target(y)
    return y


def _refuse_missing_target(y: npt.NDArray[Any]) -> None:
    if not np.all(np.isfinite(y)):
        raise TargetError("y contains NaN or infinity: drop those rows or fill them in")
    if y.size and max(abs(float(y.max())), abs(float(y.min()))) > LIMIT:
        raise TargetError(f"y holds values beyond {LIMIT:g}, whose squares overflow: rescale it")


def task_of(y: Any, task: str) -> tuple[npt.NDArray[Any], Task]:
    """Validate the whole target of a column stream and say what kind it is."""
    check_choice("task", task, TASKS)
    if not _is_plain_target(y):
        y = _one_dimensional(y)
    if y.shape[0] == 0:
        raise TargetError("y is empty: at least two rows are needed")
    continuous = y.dtype.kind == "f" and not np.array_equal(y, np.floor(y))
    if task == "regression" or (task == "auto" and continuous):
        y = _numeric_target(y)
        if y.min() == y.max():
            raise TargetError(
                f"y is constant ({y.flat[0]:g}), so no feature can explain it: give a target that varies"
            )
        return y, Task.REGRESSION
    y = check_target(y, y.shape[0], "classes")
    classes = len(np.unique(y))
    if task == "auto" and y.dtype.kind in "fiu" and classes > max(MANY_CLASSES, len(y) / 10):
        raise TargetError(
            f"y holds {classes} different whole numbers over {len(y)} rows, which may be classes or a "
            "quantity: say task='classification' or task='regression' (--task)"
        )
    if classes < 2:
        raise TargetError(
            f"y holds one class only ({y[0].item()!r}), so no feature can tell classes apart: "
            "give rows of at least two classes"
        )
    return y, Task.BINARY if classes == 2 else Task.MULTICLASS


def _is_plain_target(y: Any) -> bool:
    plain = type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "fib"
    return plain and y.dtype.isnative and y.dtype.itemsize <= 8
