"""Rows that are not independent: ``groups`` and ``serial`` of ``begin``, and a warning without them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from streamsieve._caller import warn
from streamsieve.base.row_fingerprints import RowsIdentity, fingerprints, identifiers
from streamsieve.dependence.contract import RelevanceTest
from streamsieve.exceptions import CapabilityError, DependentRowsWarning, ParameterError, SchemaError
from streamsieve.independence import FisherZ
from streamsieve.independence.dependent_rows import (
    ClusterRobustCorrelation,
    DependentRowsTest,
    GroupMeans,
    SerialCorrelation,
    autocorrelated,
    default_lag,
)
from streamsieve.protocols import BoolArray, IntArray, Task, Traits

#: Fewest groups for which the tests are reliable.
FEWEST_GROUPS = 5
#: Selectors whose tests allow for dependent rows, for errors and warnings.
CAPABLE = (
    "SAOLA, TopK, OSFS and FastOSFS with Fisher's z and complete columns, and OnlineFDR with scope='marginal'"
)


class RowDependence(NamedTuple):
    """Description of how the rows of a stream of columns depend on each other."""

    #: Code of each row's group, 0, 1, 2, ... in order of appearance; None without groups.
    groups: IntArray | None = None
    #: Largest lag at which rows in time order are correlated; None if they have no order.
    lag: int | None = None
    #: Group means, which replace the rows if y is constant within every group; otherwise None.
    means: GroupMeans | None = None

    @classmethod
    def of(cls, identity: RowsIdentity) -> Self:
        """Return the dependence stored with the identity of rows."""
        if identity.y is None or identity.groups is None:
            return cls(lag=identity.lag)
        return cls.within(identity.groups, identity.y)

    @classmethod
    def within(cls, groups: IntArray, y: npt.NDArray[Any]) -> Self:
        """Return the dependence of rows within groups, given their targets or fingerprints of them."""
        averaged = np.array_equal(y, y[_first_rows(groups)][groups])
        return cls(groups, means=GroupMeans(groups) if averaged else None)

    def n_tested(self, n: int) -> int:
        """Return the number of rows that are tested: n, or the number of group means."""
        return n if self.means is None else self.means.n_groups

    @property
    def independent(self) -> bool:
        """Whether rows are independent of each other."""
        return self.lag is None and self.groups is None

    @property
    def tested(self) -> bool:
        """Whether tests must allow for dependent rows."""
        return self.lag is not None or (self.groups is not None and self.means is None)

    def test(self, independent: FisherZ) -> FisherZ | DependentRowsTest:
        """Return the test of correlation over these rows, given the one for independent rows."""
        if self.lag is not None:
            return SerialCorrelation(independent, self.lag)
        if self.groups is not None and self.means is None:
            return ClusterRobustCorrelation(independent, self.groups)
        return independent

    def problems(self, test: Any) -> Iterator[str]:
        """Yield the inconsistencies of a test read from a file."""
        wanted = self.lag, self.groups if self.means is None else None
        if isinstance(test, DependentRowsTest):
            found = getattr(test, "lag", None), getattr(test, "groups", None)
            if found[0] != wanted[0] or not np.array_equal(found[1], wanted[1]):  # type: ignore[arg-type]
                yield "the test is for rows that depend on each other in another way"
        elif self.tested and isinstance(test, RelevanceTest):
            yield "the test is one for independent rows"

    def target(self, y: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the target of the rows that are tested: one value per group if groups are averaged."""
        return y if self.means is None or self.groups is None else y[_first_rows(self.groups)]


def row_dependence(
    name: str, traits: Traits, y: npt.NDArray[Any], task: Task, groups: Any, serial: Any
) -> RowDependence:
    """Validate ``groups`` and ``serial`` of ``begin``; without them, warn if y is autocorrelated.

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
    values = identifiers(groups, f"groups must be one label for each of {n} rows")
    if values.ndim != 1 or len(values) != n:
        raise SchemaError(
            f"groups must be one label for each of {n} rows; got an array of shape {values.shape}"
        )
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


def _first_rows(groups: IntArray) -> IntArray:
    return np.unique(groups, return_index=True)[1]


def _grouped(name: str, traits: Traits, y: npt.NDArray[Any], groups: Any) -> RowDependence:
    codes = group_codes(groups, len(y))
    n_groups = int(codes.max()) + 1
    if n_groups == len(y):
        warn("every row is a group of its own, so groups is ignored", DependentRowsWarning)
        return RowDependence()
    if n_groups < FEWEST_GROUPS:
        raise SchemaError(
            f"groups has {n_groups} groups, too few for any test: at least {FEWEST_GROUPS} are needed"
        )
    found = RowDependence.within(codes, y)
    if found.means is not None and not traits.grouped_rows:
        raise CapabilityError(
            f"{name} has no test, and does not take groups of rows: {CAPABLE} do, and if each group has one "
            "target so does every selector with p-values, such as AlphaInvesting"
        )
    if found.means is None and not traits.dependent_rows:
        raise CapabilityError(f"{name} has no test for groups of rows within which y varies: {CAPABLE} have")
    return found


def _is_off(serial: Any) -> bool:
    return serial is None or serial is False or (isinstance(serial, np.bool_) and not serial)


def _lag(serial: Any, n: int) -> int:
    if isinstance(serial, (bool, np.bool_)):
        return default_lag(n)
    if not isinstance(serial, (int, np.integer)) or not 1 <= serial <= n // 2:
        raise ParameterError(
            "serial must be True, False, None, or the largest lag at which rows depend on each other, from 1 "
            f"to half the number of rows ({n // 2}); got {serial!r}"
        )
    return int(serial)


def _missing(values: npt.NDArray[Any]) -> BoolArray:
    if values.dtype.kind in "fmM":
        missing: BoolArray = np.isnat(values) if values.dtype.kind != "f" else np.isnan(values)
        return missing
    if values.dtype.kind != "O":
        return np.zeros(len(values), bool)
    unknown = ("NAType", "NaTType")
    return np.array([v is None or type(v).__name__ in unknown or _nan(v) for v in values], bool)


def _nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _warn_autocorrelated(name: str, traits: Traits, y: npt.NDArray[Any], task: Task) -> None:
    rho = autocorrelated(y, task)
    if rho is None:
        return
    remedy = "pass serial=True to begin or fit"
    if not traits.dependent_rows:
        remedy = f"{name} has no test for that, but {CAPABLE} have, with serial=True"
    warn(
        f"y is autocorrelated in the order of the rows (lag-1 autocorrelation {rho:.1f}), and p-values of "
        f"dependent rows are too small.  If the rows are a time series, {remedy}; if several rows belong to "
        "one subject, pass groups=; if they are merely sorted, or are independent for another reason, "
        "shuffle them or pass serial=False",
        DependentRowsWarning,
    )
