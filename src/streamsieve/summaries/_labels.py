"""Class labels as small integers; labels may appear at any time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from streamsieve.exceptions import StateError, TargetError
from streamsieve.protocols import Arrays, IntArray
from streamsieve.state import expect, pack_strings, unpack_strings

#: Below this many rows, looking labels up one by one beats sorting them.
FEW = 64
#: Whole numbers within a range like this are counted instead of sorted.
NEAR = 4096


class Labels:
    """Codes 0, 1, 2, ... in order of appearance.

    Labels of one batch are new in sorted order, so that the codes do not depend on the order of rows.
    """

    def __init__(self) -> None:
        self.values: list[Any] = []
        self._codes: dict[Any, int] = {}

    def __len__(self) -> int:
        return len(self.values)

    def encode(self, y: npt.NDArray[Any]) -> tuple[IntArray, list[Any]]:
        """Return the codes of y and the labels that are new; :meth:`add` makes these known."""
        if len(y) <= FEW:
            seen = y.tolist()
            new = sorted({v for v in seen if v not in self._codes}) if len(seen) else []
            codes = self._with(new)
            return np.array([codes[v] for v in seen], np.int64), new
        distinct, inverse = _distinct(y)
        labels = distinct.tolist()
        new = [v for v in labels if v not in self._codes]
        codes = self._with(new)
        return np.array([codes[v] for v in labels], np.int64)[inverse], new

    def _with(self, new: list[Any]) -> dict[Any, int]:
        if not new:
            return self._codes
        if self.values and isinstance(new[0], str) != isinstance(self.values[0], str):
            raise TargetError(
                f"labels so far were like {self.values[0]!r}, now {new[0]!r} came: keep to text or to numbers"
            )
        return {**self._codes, **{v: len(self.values) + i for i, v in enumerate(new)}}

    def add(self, new: list[Any]) -> None:
        """Make labels known."""
        for value in new:
            self._codes[value] = len(self.values)
            self.values.append(value)

    def state(self) -> Arrays:
        """Return the labels as arrays: text, whole numbers or fractions."""
        if self.values and isinstance(self.values[0], str):
            return {f"labels/{key}": array for key, array in pack_strings(self.values).items()}
        whole = all(isinstance(v, (int, bool)) for v in self.values)
        return {"labels": np.array(self.values, np.int64 if whole else np.float64)}

    @classmethod
    def from_state(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Rebuild."""
        labels = cls()
        if "labels" in arrays:
            dtype = arrays["labels"].dtype
            if dtype not in (np.int64, np.float64):
                raise StateError(f"labels in a state are whole numbers, fractions or text, not {dtype}")
            labels.add(expect(arrays, "labels", dtype, (None,)).tolist())
        else:
            parts = ("text", "ends")
            labels.add(unpack_strings({k: arrays[f"labels/{k}"] for k in parts if f"labels/{k}" in arrays}))
        return labels


def _distinct(y: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], IntArray]:
    """Return the different labels in order, and for every row which of them it has."""
    if y.dtype.kind in "iu":
        low, high = int(y.min()), int(y.max())
        if high - low < NEAR:
            offsets = y.astype(np.int64) - low
            there = np.bincount(offsets) > 0
            return np.flatnonzero(there) + low, (np.cumsum(there) - 1)[offsets]
    distinct, inverse = np.unique(y, return_inverse=True)
    return distinct, inverse
