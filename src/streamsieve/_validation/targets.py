"""Validation of targets: their type, and one label or number per row."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import DataConversionWarning

from streamsieve._advice import as_argument
from streamsieve._caller import warn
from streamsieve._frames import as_series, check_arrow, is_series
from streamsieve._parameters import check_choice
from streamsieve._text import shown
from streamsieve._values import LIMIT
from streamsieve.exceptions import TargetError, TargetWarning
from streamsieve.protocols import ANY_TASK, FloatArray, Task

#: Whole numbers with more distinct values than this are not assumed to be labels.
MANY_CLASSES = 20
#: ... and are assumed to be a quantity if there are fewer rows than this per distinct value.
ROWS_PER_CLASS = 10
TASKS = ("auto", "classification", "regression")
#: Maximum number of classes whose counts are shown.
SHOWN_CLASSES = 6
#: Numbers with separators of thousands, which are text.
_GROUPED = re.compile(r"[+-]?\d{1,3}([.,' \u00a0\u202f]\d{3})+([.,]\d+)?")
#: Types of pandas' missing values, by name: pandas may not be installed.
MISSING = ("NAType", "NaTType")


def check_target(y: Any, n: int, kind: str, method: Any = None) -> npt.NDArray[Any]:
    """Validate ``n`` targets for a method, by whose parameters an error says what to do.

    ``kind`` is "classes", "numeric", "auto" (the values decide, by the rule of :func:`is_numeric`), or
    "either" (fractional numbers are numeric, and what whole numbers are is decided elsewhere).
    """
    y = as_target_values(y)
    check_length(y, n)
    if kind == "auto":
        kind = "numeric" if is_numeric(y) else "classes"
    if kind == "either" and _is_fractional(y):
        kind = "numeric"
    if kind == "numeric":
        return _numeric_target(y)
    if y.dtype.kind == "f":
        _refuse_missing_target(y)
        if _is_fractional(y):
            raise _needs_labels(method)
    return np.asarray(y)


def _needs_labels(method: Any) -> TargetError:
    """Return the error about fractional numbers, with the ways out that the method has."""
    parameters = method.get_params(deep=False) if hasattr(method, "get_params") else {}
    ways = []
    if "criterion" in parameters:
        ways.append(f"{as_argument('criterion', 'correlation')} or 'mutual_info'")
    if parameters.get("task") == "classification":
        ways.append(as_argument("task", "regression"))
    name = type(method).__name__ if parameters else "this method"
    return TargetError(
        f"y holds fractional numbers, but {name} needs class labels; for a numeric target use "
        f"{' and '.join(ways) or 'a method that takes one, such as Screen or SAOLA'}, or bin y first"
    )


def check_length(y: Any, n: int) -> None:
    """Refuse a target whose length is not ``n``; objects without a length are refused elsewhere."""
    check_arrow(y)
    try:
        # NumPy cannot convert every series
        found = len(y) if is_series(y) or (hasattr(y, "__len__") and np.ndim(y)) else n
    except (TypeError, ValueError):  # raised by a sparse matrix and by a ragged list
        return
    if found != n:
        raise TargetError(f"X has {n} rows, but y has {found}: one label per row is needed")


def is_numeric(y: Any, *, warns: bool = True) -> bool:
    """Whether a checked target is numeric: the rule used everywhere if the task is not given.

    Text, bool and up to 20 distinct whole numbers are classes; fractional numbers are numeric.  With more
    than 20 distinct whole numbers, the target is numeric if there are fewer than 10 rows per value on
    average, with a ``TargetWarning`` if ``warns``; otherwise both readings are plausible, and the target is
    refused.
    """
    if y.dtype.kind not in "fiu":
        return False
    if y.dtype.kind == "f":
        _refuse_missing_target(y)
        if _is_fractional(y):
            return True
    values = _many_whole_numbers(y)
    if not values:
        return False
    what = f"y holds {values:,} different whole numbers over {len(y):,} rows"
    if values * ROWS_PER_CLASS <= len(y):
        raise TargetError(
            f"{what}, which may be classes or a quantity: say {as_argument('task', 'classification')} or "
            f"{as_argument('task', 'regression')}"
        )
    if warns:
        _warn_target(
            f"{what}, so it is taken for a numeric target; say {as_argument('task', 'classification')} "
            "if they are labels"
        )
    return True


def question_labels(y: npt.NDArray[Any], method: str, *, has_task: bool) -> None:
    """Warn if the labels for a method that compares classes look like a quantity."""
    values = _many_whole_numbers(y) if y.dtype.kind in "fiu" else 0
    if values * ROWS_PER_CLASS > len(y):
        confirm = f"; {as_argument('task', 'classification')} says that this is meant" if has_task else ""
        _warn_target(
            f"y holds {values:,} different whole numbers over {len(y):,} rows, and {method} takes each for a "
            f"class: for a quantity use a method for numeric targets, or bin y first{confirm}"
        )


def _many_whole_numbers(y: npt.NDArray[Any]) -> int:
    """Return the number of distinct whole numbers if there are too many to be surely labels, else 0."""
    values = len(np.unique(y))
    return values if values > MANY_CLASSES else 0


def _is_fractional(y: npt.NDArray[Any]) -> bool:
    return y.dtype.kind == "f" and not np.array_equal(y, np.floor(y))


def _warn_target(message: str) -> None:
    warn(message, TargetWarning)


def check_classes(y: Any, classes: Any, kind: str | None) -> None:
    """Refuse labels that are not among the given ``classes``, unless that is None.

    If the target is not used (``kind`` is None), its classes are ignored.
    """
    if classes is None or kind is None:
        return
    if kind not in ("classes", "either", "auto") or (kind == "auto" and is_numeric(as_target_values(y))):
        raise TargetError("classes= lists labels, but this target is numeric: leave it out")
    check_arrow(classes)
    y = as_target_values(y)
    found = np.unique(check_target(y, len(y), kind))
    try:
        announced = np.asarray(classes).ravel().tolist()
        unknown = [label for label in found.tolist() if label not in set(announced)]
    except (TypeError, ValueError) as error:  # what is listed has no length, or is no label
        raise TargetError(f"classes must be a list of labels; got {classes!r}") from error
    if unknown:
        raise TargetError(f"y has the label {unknown[0]!r}, which is not among classes={announced!r}")


def as_target_values(y: Any) -> npt.NDArray[Any]:
    """Return a target of any container as a one-dimensional array of numbers, bool or text."""
    if _is_plain_target(y):
        return y  # type: ignore[no-any-return]
    if y is None:
        raise TargetError(
            "this selector requires y to be passed, but the target y is None: give one label per row"
        )
    check_arrow(y)
    if is_series(y):
        try:
            y = as_series(y).to_numpy()
        except MemoryError:
            raise
        except Exception as error:  # libraries raise errors of their own
            raise TargetError(f"y must hold numbers or text: {error}") from error
    if np.ma.is_masked(y):
        raise TargetError("y has missing labels (masked values): drop those rows or give them a label")
    y = _as_array(y)
    if y.ndim == 2 and y.shape[1] == 1:
        warn("A column-vector y was passed when a 1d array was expected", DataConversionWarning)
        y = y.ravel()
    if y.ndim != 1:
        raise TargetError(f"y must be one-dimensional, one label per row; got shape {y.shape}")
    return _numbers_or_text(y)


def _as_array(y: Any) -> npt.NDArray[Any]:
    try:
        values = np.asarray(y)
        # NumPy turns a list with any text into text, including its numbers and NaN
        return np.asarray(y, object) if values.dtype.kind == "U" and isinstance(y, (list, tuple)) else values
    except ValueError as error:
        raise TargetError("y must be one-dimensional, one label per row; got a ragged list") from error
    except (TypeError, NotImplementedError) as error:  # Arrow data of types that NumPy lacks
        raise TargetError(f"y must hold numbers or text: {error}") from error


def _numbers_or_text(y: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return labels or numbers in a native dtype; refuse other dtypes."""
    if y.dtype.kind == "c":
        raise TargetError("Complex data not supported: y holds complex numbers")
    if y.dtype.kind == "O":
        return _plain_labels(y)
    if y.dtype.kind not in "fiubU" or (y.dtype == np.uint64 and y.size and y.max() > np.iinfo(np.int64).max):
        raise TargetError(f"y must hold numbers or text; got {y.dtype}: convert it, for example to text")
    if y.dtype.kind in "fiu" and not _is_plain_target(y):  # another byte order or width
        with np.errstate(over="ignore"):
            return y.astype(np.float64 if y.dtype.kind == "f" else y.dtype.newbyteorder("="))
    return np.asarray(y)


def _plain_labels(y: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Turn an object array into text or numbers; refuse mixtures and missing labels."""
    values = y.tolist()
    missing = [row for row, value in enumerate(values) if _is_missing(value)]
    if missing:
        raise TargetError(
            f"y has missing labels ({values[missing[0]]}) {_where(missing, len(y))}: drop those rows or give "
            "them a label"
        )
    kinds = {type(value) for value in values}
    if kinds <= {str}:
        return y.astype(str)
    if str in kinds:
        raise TargetError("y mixes text and other types: make all labels text or all numbers")
    try:
        return y.astype(np.int64 if kinds <= {int, bool} else np.float64)
    except OverflowError as error:
        raise TargetError("y holds whole numbers of more than 64 bits: make the labels text") from error
    except (TypeError, ValueError) as error:
        raise TargetError("y must hold numbers or text; got other objects") from error


def _is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, or pandas' mark of a missing one, which equals nothing."""
    return (
        value is None or (isinstance(value, float) and math.isnan(value)) or type(value).__name__ in MISSING
    )


def _where(rows: Sequence[int], n: int) -> str:
    """Return text with the number of affected rows, and the first of them."""
    return f"in {len(rows):,} of {n:,} rows (the first is row {rows[0]:,}, counted from 0)"


def _numeric_target(y: npt.NDArray[Any]) -> FloatArray:
    if y.dtype.kind in "USO":
        raise TargetError(
            f"a numeric target is needed, but y holds labels such as {str(y[0])!r}: use a method or a "
            "criterion for classes ('f', 'fisher' or 'mutual_info'), or task='classification'"
        )
    y = np.ascontiguousarray(y, np.float64)
    _refuse_missing_target(y)
    return y


def _refuse_missing_target(y: npt.NDArray[Any]) -> None:
    if not np.all(np.isfinite(y)):
        where = _where(np.flatnonzero(~np.isfinite(y)).tolist(), len(y))
        raise TargetError(f"y contains NaN or infinity {where}: drop those rows or fill them in")
    if y.size and max(abs(float(y.max())), abs(float(y.min()))) > LIMIT:
        raise TargetError(f"y holds values beyond {LIMIT:g}, whose squares overflow: rescale it")


def task_of(
    y: Any, task: str, tasks: frozenset[Task] = ANY_TASK, method: str = ""
) -> tuple[npt.NDArray[Any], Task]:
    """Validate the target of all rows, and return it with its type.

    Parameters
    ----------
    y : the target, in any container
    task : one of ``TASKS``; "auto" leaves it to the values, see :func:`is_numeric`
    tasks : what the method can do: one for classes only takes whole numbers for labels, with a warning if
        they look like a quantity
    method : its name, for that warning
    """
    check_choice("task", task, TASKS)
    guessed, y = task == "auto", as_target_values(y)
    if y.shape[0] == 0:
        raise TargetError("y is empty: at least two rows are needed")
    if task == "auto" and Task.REGRESSION not in tasks and not _is_fractional(y):
        question_labels(y, method, has_task=True)
        task = "classification"
    if task == "regression" or (task == "auto" and is_numeric(y)):
        y = _numeric_target(y)
        if y.min() == y.max():
            raise TargetError(
                f"y is constant ({y.flat[0]:g}), so no feature can explain it: give a target that varies"
            )
        return y, Task.REGRESSION
    y = check_target(y, y.shape[0], "classes")
    labels = np.unique(y)
    classes = len(labels)
    if guessed and y.dtype.kind in "USO" and classes > MANY_CLASSES and 2 * classes > len(y):
        raise _no_classes(labels, len(y))
    if classes < 2:
        raise TargetError(f"y holds one class only ({y[0].item()!r}): give rows of at least two classes")
    return y, Task.BINARY if classes == 2 else Task.MULTICLASS


def _no_classes(labels: npt.NDArray[Any], n: int) -> TargetError:
    """Return the error for text of which nearly every row has its own."""
    texts = [str(label) for label in labels]
    if sum(map(bool, map(_GROUPED.fullmatch, texts))) > len(texts) / 2:
        advice = "these look like numbers with thousands separators: write them without"
    else:
        advice = (
            "name another column if these are identifiers, or convert them if they are numbers; "
            f"{as_argument('task', 'classification')} says that each is a class"
        )
    return TargetError(
        f"y holds {len(labels):,} different texts over {n:,} rows, such as {shown(texts[0])!r}, which are "
        f"too many for classes: {advice}"
    )


def describe_target(y: Any, name: str | None = None, task: str = "auto") -> str:
    """Say in one line what a target is taken for.

    ``target: churned, 2 classes (no 4,512, yes 488)`` or ``target: price, numeric (12.5 to 310)``.

    Parameters
    ----------
    y : the target, in any container
    name : of its column; None leaves it out
    task : "classification" or "regression" (or a ``Task``), if it is known; "auto" decides as selectors do,
        without their warning
    """
    y = as_target_values(y)
    numeric = is_numeric(y, warns=False) if task == "auto" else task == "regression"
    what = (
        range_text(_numeric_target(y))
        if numeric
        else classes_text(*np.unique(whole_labels(y), return_counts=True))
    )
    return f"target: {what}" if name is None else f"target: {shown(name)}, {what}"


def range_text(y: FloatArray) -> str:
    """Say from where to where a numeric target reaches: ``numeric (12.5 to 310)``."""
    return f"numeric ({y.min():g} to {y.max():g})" if len(y) else "numeric"


def classes_text(labels: Iterable[Any], counts: Iterable[float]) -> str:
    """Say what classes there are: ``3 classes (a 50, b 30, c 20)``; of many, the first few."""
    parts = [f"{shown(label)} {count:,.0f}" for label, count in zip(labels, counts, strict=True)]
    more = f", and {len(parts) - SHOWN_CLASSES} more" if len(parts) > SHOWN_CLASSES else ""
    known = f" ({', '.join(parts[:SHOWN_CLASSES])}{more})" if parts else ""
    return f"{len(parts)} class{'es' * (len(parts) != 1)}{known}"


def whole_labels(y: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return labels of a CSV file, which come as 0.0 and 1.0, as the whole numbers that they are."""
    whole = y.dtype.kind == "f" and np.all(np.isfinite(y)) and np.array_equal(y, np.floor(y))
    return y.astype(np.int64) if whole and np.abs(y).max(initial=0) < 2**53 else y


def _is_plain_target(y: Any) -> bool:
    plain = type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "fib"
    return plain and y.dtype.isnative and y.dtype.itemsize <= 8 and y.dtype != np.float16


def mixed_labels(known: Any, new: Any) -> TargetError:
    """Return the error for labels of which some are text and others are numbers."""
    return TargetError(
        f"labels so far were like {known!r}, but this batch has {new!r}: use text or numbers throughout"
    )
