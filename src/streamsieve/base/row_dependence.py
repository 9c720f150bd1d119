"""Rows that are not independent: what ``begin`` is told about them, and a warning if it is told nothing."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from streamsieve.base.row_fingerprints import fingerprints
from streamsieve.exceptions import CapabilityError, DependentRowsWarning, ParameterError, SchemaError
from streamsieve.independence.dependent_rows import autocorrelated, default_lag
from streamsieve.protocols import IntArray, Task, Traits

#: With fewer groups no test of theirs can be relied on.
FEWEST_GROUPS = 5
#: Selectors whose tests allow for dependent rows, for errors and warnings.
CAPABLE = (
    "SAOLA, TopK, OSFS and FastOSFS with Fisher's z and complete columns, and OnlineFDR with "
    "scope='marginal'"
)


class RowDependence(NamedTuple):
    """How the rows of a stream of columns depend on each other."""

    #: Code of each row's group, 0, 1, 2, ... in order of appearance; None without groups.
    groups: IntArray | None = None
    #: Largest lag at which rows in time order are correlated; None if they have no order.
    lag: int | None = None
    #: Whether all rows of a group have the same target, so that groups are represented by their means.
    averaged: bool = False


def row_dependence(
    name: str, traits: Traits, y: npt.NDArray[Any], task: Task, groups: Any, serial: Any
) -> RowDependence:
    """Validate what ``begin`` was told about the rows; warn if nothing was and they look like a time series.

    Parameters
    ----------
    name, traits : of the selector
    y, task : the target
    groups : one label per row, or None
    serial : True, a lag, False, or None
    """
    if groups is not None and not _is_off(serial):
        raise ParameterError(
            "groups and serial exclude each other: for time series of several subjects, give groups"
        )
    if groups is not None:
        return _grouped(name, traits, y, groups)
    if _is_off(serial):
        if serial is None and (traits.dependent_rows or traits.grouped_rows):
            _warn_autocorrelated(name, traits, y, task)
        return RowDependence()
    lag = _lag(serial, len(y))
    if not traits.dependent_rows:
        raise CapabilityError(f"{name} has no test for rows in time order (serial): {CAPABLE} have")
    return RowDependence(lag=lag)


def group_codes(groups: Any, n: int) -> IntArray:
    """Return the groups of n rows as codes 0, 1, 2, ... in order of appearance."""
    values = groups.to_numpy() if hasattr(groups, "to_numpy") else np.asarray(groups)
    if values.ndim != 1 or len(values) != n:
        raise SchemaError(f"groups must be one label for each of {n} rows; got an array of shape {values.shape}")
    missing = _missing(values)
    if missing.any():
        raise SchemaError(
            f"groups has a missing value in row {int(missing.argmax())}: give each row without a group a "
            "label of its own, or leave the row out"
        )
    first, codes = np.unique(fingerprints(values), return_index=True, return_inverse=True)[1:]
    position = np.empty(len(first), np.int64)
    position[np.argsort(first)] = np.arange(len(first))
    return position[codes]


def averaged(y: npt.NDArray[Any], groups: IntArray) -> bool:
    """Whether all rows of a group have the same target."""
    return bool(np.all(y == group_targets(y, groups)[groups]))


def group_targets(y: npt.NDArray[Any], groups: IntArray) -> npt.NDArray[Any]:
    """Return the target of the first row of each group."""
    return y[np.unique(groups, return_index=True)[1]]


def _grouped(name: str, traits: Traits, y: npt.NDArray[Any], groups: Any) -> RowDependence:
    codes = group_codes(groups, len(y))
    n_groups = int(codes.max()) + 1
    if n_groups == len(y):
        warnings.warn(
            "every row is a group of its own, so groups is ignored", DependentRowsWarning, stacklevel=5
        )
        return RowDependence()
    if n_groups < FEWEST_GROUPS:
        raise SchemaError(
            f"groups has {n_groups} groups, too few for any test: at least {FEWEST_GROUPS} are needed"
        )
    means = averaged(y, codes)
    if means and not traits.grouped_rows:
        raise CapabilityError(
            f"{name} does not take groups of rows: {CAPABLE} do, and so do AlphaInvesting, "
            "InformationInvesting and StreamwiseIC if each group has one target"
        )
    if not means and not traits.dependent_rows:
        raise CapabilityError(
            f"{name} has no test for groups of rows within which y varies: {CAPABLE} have"
        )
    return RowDependence(codes, averaged=means)


def _is_off(serial: Any) -> bool:
    return serial is None or serial is False or (isinstance(serial, np.bool_) and not serial)


def _lag(serial: Any, n: int) -> int:
    if isinstance(serial, (bool, np.bool_)):
        return default_lag(n)
    if not isinstance(serial, (int, np.integer)) or not 1 <= serial <= n // 2:
        raise ParameterError(
            f"serial must be True, False, None, or the largest lag at which rows depend on each other, from 1 "
            f"to half the number of rows ({n // 2}); got {serial!r}"
        )
    return int(serial)


def _missing(values: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    if values.dtype.kind == "f":
        return np.isnan(values)
    if values.dtype.kind in "mM":
        return np.isnat(values)
    if values.dtype.kind != "O":
        return np.zeros(len(values), bool)
    unknown = ("NAType", "NaTType")
    return np.array(
        [v is None or type(v).__name__ in unknown or (isinstance(v, float) and v != v) for v in values.tolist()],
        bool,
    )


def _warn_autocorrelated(name: str, traits: Traits, y: npt.NDArray[Any], task: Task) -> None:
    rho = autocorrelated(y, task)
    if rho is None:
        return
    remedy = "pass serial=True to begin or fit"
    if not traits.dependent_rows:
        remedy = f"{name} has no test for that, but {CAPABLE} have, with serial=True"
    warnings.warn(
        f"y is autocorrelated in the order of the rows (lag-1 autocorrelation {rho:.2f}), and p-values of "
        f"dependent rows are too small.  If the rows are a time series, {remedy}; if several rows belong to "
        "one subject, pass groups=; if they are merely sorted, or are independent for another reason, "
        "shuffle them or pass serial=False",
        DependentRowsWarning,
        stacklevel=5,
    )
