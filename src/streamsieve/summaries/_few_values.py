"""Columns with few different values, counted exactly beside the runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from streamsieve._kernels import quantiles_dense as kernel
from streamsieve.exceptions import StateError
from streamsieve.protocols import Arrays, FloatArray, IntArray
from streamsieve.state import expect

#: Different values up to which a column of one class is counted exactly, however many rows come.
FEW = 64
_NONE = np.zeros((1, 1))


class FewValues:
    """A table of values and masses for every feature of a class; features that outgrow it have size -1.

    It covers the rows that are in runs, no more and no less.  Runs go on in step for all features, so a
    feature that outgrows its table loses nothing.
    """

    def __init__(self, n_features: int) -> None:
        self.sizes = np.zeros(n_features, np.int64)
        self.values, self.masses = np.zeros((2, 0, FEW))

    @property
    def nbytes(self) -> int:
        return self.values.nbytes + self.masses.nbytes + self.sizes.nbytes

    @property
    def useful(self) -> bool:
        """Whether any feature is counted exactly."""
        return len(self.values) > 0

    def prepare(self) -> bool:
        """Make room before a tally; return whether there is anything left to count."""
        if self.useful:
            return True
        if len(self.sizes) and (self.sizes >= 0).any():
            self.values, self.masses = np.zeros((2, len(self.sizes), FEW))
        return self.useful

    def tally(self, low: int, high: int, ordered: npt.NDArray[Any], cumulative: FloatArray | None) -> None:
        """Add sorted values (feature, value) of features low..high."""
        part = slice(low, high)
        kernel.tally(
            ordered, _NONE if cumulative is None else cumulative, cumulative is not None,
            self.values[part], self.masses[part], self.sizes[part],
        )  # fmt: skip

    def release(self) -> None:
        """Give the memory back if no feature is counted any more."""
        if self.useful and not (self.sizes >= 0).any():
            self.values, self.masses = np.zeros((2, 0, FEW))

    def scale(self, factor: float) -> None:
        self.masses *= factor

    def forget(self, columns: IntArray) -> None:
        """Begin anew with some features."""
        self.sizes[columns] = 0

    def renumber(self, columns: IntArray, n_features: int) -> None:
        """Move feature i to columns[i]; the others have no value."""
        tables = (self.sizes, self.values, self.masses) if self.useful else (self.sizes,)
        moved = []
        for a in tables:
            wider = np.zeros((n_features, *a.shape[1:]), a.dtype)
            wider[columns] = a
            moved.append(wider)
        self.sizes = moved[0]
        if self.useful:
            self.values, self.masses = moved[1:]

    def merge(self, other: FewValues) -> None:
        """Add the other's values."""
        if not self.prepare():
            return
        self.sizes[other.sizes < 0] = -1
        if other.useful:
            there = np.arange(FEW) < other.sizes[:, None]
            ordered = np.where(there, other.values, np.inf)
            self.tally(0, len(self.sizes), ordered, np.cumsum(np.where(there, other.masses, 0.0), axis=1))
        self.release()

    def state(self) -> Arrays:
        if not self.useful:
            return {"few": self.sizes.copy()}
        there = np.arange(FEW) < self.sizes[:, None]
        return {
            "few": self.sizes.copy(),
            "few_values": np.where(there, self.values, 0.0),
            "few_masses": np.where(there, self.masses, 0.0),
        }

    @classmethod
    def from_state(cls, arrays: Any, n_features: int) -> FewValues:
        few = cls(0)
        few.sizes = np.array(expect(arrays, "few", np.int64, (n_features,)))
        if np.any((few.sizes < -1) | (few.sizes > FEW)):
            raise StateError("the state's tables of few values have impossible sizes")
        if "few_values" in arrays:
            few.values, few.masses = (
                np.array(expect(arrays, name, np.float64, (n_features, FEW)))
                for name in ("few_values", "few_masses")
            )
            there = np.arange(FEW) < few.sizes[:, None]
            rising = (few.values[:, 1:] > few.values[:, :-1]) | ~there[:, 1:]
            fits = np.isfinite(few.values).all() and rising.all()
            if not fits or not np.all((few.masses >= 0) & (few.masses < np.inf)):
                raise StateError("the state's tables of few values are not in order")
        elif np.any(few.sizes > 0):
            raise StateError("the state lacks its tables of few values")
        return few
