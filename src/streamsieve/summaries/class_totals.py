"""Shared parts of summaries: label codes, exponential fading, and totals per class."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from streamsieve._parameters import check_choice, check_number
from streamsieve._validation import mixed_labels
from streamsieve.exceptions import MergeError
from streamsieve.protocols import FloatArray, IntArray
from streamsieve.state import Array, Choice, Float, Int, Nested, Part, Values, mass

#: log2 of the largest factor at the start of a step; within one it may double, and squares are summed too.
LARGEST = 100
#: Longest half-life, in rows.
LONGEST = 1e15
#: Interpretations of a weight: number of copies of a row, or importance of one row.
FREQUENCY, IMPORTANCE = WEIGHT_KINDS = ("frequency", "importance")


class Fading(Part):
    """The clock of a summary: exponential fading at a half-life, without touching what is stored.

    Row t weighs ``2 ** (t / half_life)``, counted in rows, so that batches do not change a bit.  Every
    statistic is a ratio, so the common factor cancels; when it grows large, everything stored is multiplied
    once by a power of two, which is exact.  ``ticks`` are the rows that have passed, ``shift`` the powers of
    two taken out so far.

    The effective number of rows is (sum w)^2 / sum w^2, where a row of frequency weight v counts as v rows,
    and one of importance weight v as one row of weight v, like a faded row.
    """

    fields = {
        "half_life": Float(1, LONGEST, optional=True),
        "ticks": Int(),
        "shift": Float(),
        "kind": Choice(None, IMPORTANCE),  # absent: frequency
    }

    def __init__(self, half_life: float | None, weight_kind: str = FREQUENCY) -> None:
        if half_life is not None:
            check_number("half_life", half_life, low=1, high=LONGEST)
        check_choice("weight_kind", weight_kind, WEIGHT_KINDS)
        self.half_life, self.ticks, self.shift = half_life, 0, 0.0
        self.kind = None if weight_kind == FREQUENCY else weight_kind

    @property
    def exponent(self) -> float:
        """log2 of the next row's weight."""
        return 0.0 if self.half_life is None else self.ticks / self.half_life - self.shift

    @property
    def most_rows(self) -> int | None:
        """Maximum number of rows per step without overflow; None if unlimited."""
        return None if self.half_life is None else max(1, int(LARGEST * self.half_life))

    def factors(self, n: int) -> FloatArray | None:
        """Return the weights of the next n rows, or None if nothing fades."""
        if self.half_life is None:
            return None
        return np.exp2(np.arange(self.ticks, self.ticks + n) / self.half_life - self.shift)

    def weights(self, n: int, weight: FloatArray | None) -> tuple[FloatArray | None, FloatArray | None]:
        """Return the weights of the next n rows (None: all 1), and the squares to sum for them."""
        factors = self.factors(n)
        w = weight if factors is None else factors if weight is None else weight * factors
        if self.kind is not None and w is not None:
            return w, w * w
        return w, w if w is None or factors is None else w * factors

    def advance(self, n: int) -> float | None:
        """Advance the clock by n rows; return the factor by which to rescale everything stored, if needed."""
        if self.half_life is None:
            return None
        self.ticks += n
        if self.exponent <= LARGEST:
            return None
        return self.shrink()

    def shrink(self) -> float:
        """Remove the integer part of the exponent, and return the corresponding power of two."""
        whole = float(np.floor(self.exponent))
        self.shift += whole
        return float(np.exp2(-whole))

    def precede(self, other: Fading, n_other: int) -> float:
        """Adopt the clock of rows that follow ours; return the factor for our stored values."""
        if self.half_life is None:
            return 1.0
        factor = float(np.exp2(other.exponent - self.exponent - n_other / self.half_life))
        self.ticks, self.shift = other.ticks, other.shift
        return factor

    def _consistent(self) -> Iterator[str]:
        if self.shift != np.floor(self.shift):
            yield f"a shift of {self.shift} is not a whole power of two"
        elif self.half_life is None:
            if self.ticks or self.shift:
                yield "without a half-life, no time passes"
        elif not -1e-9 <= self.exponent <= 2 * LARGEST:
            yield f"{self.ticks} rows and half-life {self.half_life} do not give a shift of {self.shift}"


#: Number of rows up to which looking labels up one by one is faster than sorting them.
FEW_ROWS = 64
#: Whole numbers within a range like this are counted instead of sorted.
NEAR_NUMBERS = 4096


class LabelEncoder(Part):
    """Codes 0, 1, 2, ... in order of appearance.

    New labels of a batch are added in sorted order, so that codes do not depend on the order of its rows.
    """

    fields = {"values": Values("classes")}

    def __init__(self) -> None:
        self.values: list[Any] = []
        self._codes: dict[Any, int] = {}

    def __len__(self) -> int:
        return len(self.values)

    def encode(self, y: npt.NDArray[Any]) -> tuple[IntArray, list[Any]]:
        """Return the codes of y and the new labels, which :meth:`add` registers."""
        if len(y) <= FEW_ROWS:
            seen = y.tolist()
            new = sorted({v for v in seen if v not in self._codes}) if len(seen) else []
            codes = self._with(new)
            return np.array([codes[v] for v in seen], np.int64), new
        distinct, inverse = _distinct(y)
        labels = distinct.tolist()
        new = [v for v in labels if v not in self._codes]
        codes = self._with(new)
        return np.array([codes[v] for v in labels], np.int64)[inverse], new

    def encode_by_row(self, y: npt.NDArray[Any]) -> tuple[IntArray, list[Any], list[int]]:
        """Return codes of y, the new labels in the order of their first rows, and these rows.

        This numbering does not depend on the size of batches.
        """
        codes, new = self.encode(y)
        known = len(self)
        if not new:
            return codes, [], []
        present, first = np.unique(codes, return_index=True)
        first = first[present >= known]
        order = np.argsort(first)
        renamed = np.arange(known + len(new))
        renamed[known + order] = np.arange(known, known + len(new))
        return renamed[codes], [new[i] for i in order], first[order].tolist()

    def _with(self, new: list[Any]) -> dict[Any, int]:
        if not new:
            return self._codes
        if self.values and isinstance(new[0], str) != isinstance(self.values[0], str):
            raise mixed_labels(self.values[0], new[0])
        return {**self._codes, **{v: len(self.values) + i for i, v in enumerate(new)}}

    def add(self, new: list[Any]) -> None:
        """Register labels."""
        for value in new:
            self._codes[value] = len(self.values)
            self.values.append(value)

    def _record(self) -> Mapping[str, Any]:
        return {"values": self.values}

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        labels = cls()
        labels.add(record["values"])
        return labels


def _distinct(y: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], IntArray]:
    """Return the distinct labels in order, and the index of each row's label."""
    if y.dtype.kind in "iu":
        low, high = int(y.min()), int(y.max())
        if high - low < NEAR_NUMBERS:
            offsets = y.astype(np.int64) - low
            there = np.bincount(offsets) > 0
            return np.flatnonzero(there) + low, (np.cumsum(there) - 1)[offsets]
    distinct, inverse = np.unique(y, return_inverse=True)
    return distinct, inverse


class Faded(Part, ABC):
    """Base of summaries whose rows may fade: it has the clock, and a subclass implements rescaling."""

    _fading: Fading

    @property
    def half_life(self) -> float | None:
        """Number of rows after which the weight of an observation has halved."""
        return self._fading.half_life

    @property
    def weight_kind(self) -> str:
        """What a weight is: "frequency" or "importance"."""
        return self._fading.kind or FREQUENCY

    def fade(self, factor: float) -> None:
        """Multiply the weight of all rows so far by ``factor``, 0 < factor <= 1."""
        self._scale(factor)

    @abstractmethod
    def _scale(self, factor: float) -> None:
        """Multiply all weights."""

    def _advance(self, n: int) -> None:
        """Advance the clock by n rows, and rescale if needed."""
        factor = self._fading.advance(n)
        if factor is not None:
            self._scale(factor)

    def _recede(self, other: Self, n_rows: int) -> None:
        """Fade this summary as if the ``n_rows`` rows of the other came after its own."""
        factor = self._fading.precede(other._fading, n_rows)
        if factor != 1.0:
            self._scale(factor)


def check_alike(mine: Faded, theirs: Any, what: str, *more: str) -> None:
    """Refuse to merge with anything but a summary of this class whose parameters are equal."""
    if not isinstance(theirs, type(mine)):
        raise MergeError(f"{what} only merge with {what}, not with a {type(theirs).__name__}")
    for name in ("half_life", "weight_kind", *more):
        here, there = getattr(mine, name), getattr(theirs, name)
        if here != there:
            raise MergeError(f"only {what} of equal {name} merge: {here} here, {there} there")


class ClassTotals(Faded):
    """Base of summaries by class: rows, sum of weights and sum of squares per class.

    A subclass stores the features, and extends :attr:`fields` and :meth:`_scale`.
    """

    target: ClassVar[str] = "classes"

    fields = {
        "_labels": Nested(LabelEncoder, shares=("classes",)),
        "_fading": Nested(Fading),
        "_rows": Array("i8", "classes", low=0),
        "_mass": mass("classes"),
        "_squares": mass("classes"),
    }

    def __init__(self, half_life: float | None, weight_kind: str = FREQUENCY) -> None:
        self._labels = LabelEncoder()
        self._fading = Fading(half_life, weight_kind)
        self._rows = np.zeros(0, np.int64)
        self._mass = np.zeros(0)
        #: Sums of the squares of `Fading.weights`: mass / squares is the information of a unit of mass.
        self._squares = np.zeros(0)

    @property
    def classes(self) -> list[Any]:
        """Labels seen, in the order of the arrays' class axis."""
        return self._labels.values

    @property
    def n_rows(self) -> int:
        """Number of rows seen, except those of weight 0."""
        return int(self._rows.sum())

    def _add_classes(self, n_classes: int) -> None:
        """Extend the totals for new labels, by new arrays, so that a failed update keeps the old ones."""
        more = np.zeros(n_classes - len(self._mass), np.int64)  # np.pad is slow
        self._rows, self._mass, self._squares = (
            np.concatenate([a, more]) for a in (self._rows, self._mass, self._squares)
        )

    def _add_rows(self, codes: IntArray, mass: FloatArray, squares: FloatArray | None) -> None:
        """Count rows, advance the clock, and rescale if needed."""
        n_classes = len(self._mass)
        self._squares += np.bincount(codes, squares, minlength=n_classes)
        self._mass += mass
        self._rows += np.bincount(codes, minlength=n_classes)
        self._advance(len(codes))

    def _scale(self, factor: float) -> None:
        self._mass *= factor
        self._squares *= factor * factor

    def _precede(self, other: Self) -> tuple[IntArray, list[Any]]:
        """Fade as if the rows of the other came next; return the codes of its labels, and the new labels."""
        codes, new = self._labels.encode(np.array(other.classes))
        self._recede(other, other.n_rows)
        return codes, new

    def _add_totals(self, other: Self, codes: IntArray) -> None:
        """Add another's totals; its class i is ours ``codes[i]``."""
        self._mass[codes] += other._mass
        self._squares[codes] += other._squares
        self._rows[codes] += other._rows
