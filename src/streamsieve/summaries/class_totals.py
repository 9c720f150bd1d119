"""What summaries by class have in common: labels, half-life, and the totals of every class."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from streamsieve.protocols import FloatArray, IntArray
from streamsieve.state import Array, Nested, Part, mass
from streamsieve.summaries.fading import Fading
from streamsieve.summaries.labels import LabelEncoder


class ClassTotals(Part):
    """Base of summaries by class: rows, sum of weights and sum of squares per class.

    A subclass stores the features.  It extends :attr:`fields` and :meth:`_scale`.

    Parameters
    ----------
    half_life : float or None
        Number of rows after which the weight of an observation has halved; None for no fading.
    """

    target: ClassVar[str] = "classes"

    fields = {
        "_labels": Nested(LabelEncoder, shares=("classes",)),
        "_fading": Nested(Fading),
        "_rows": Array("i8", "classes", low=0),
        "_mass": mass("classes"),
        "_squares": mass("classes"),
    }

    def __init__(self, half_life: float | None) -> None:
        self._labels = LabelEncoder()
        self._fading = Fading(half_life)
        self._rows = np.zeros(0, np.int64)
        self._mass = np.zeros(0)
        #: Sums of weights times their fading factors: mass / squares is the information of a unit of mass.
        self._squares = np.zeros(0)

    @property
    def classes(self) -> list[Any]:
        """Labels seen, in the order of the arrays' class axis."""
        return self._labels.values

    @property
    def half_life(self) -> float | None:
        """Number of rows after which the weight of an observation has halved."""
        return self._fading.half_life

    @property
    def n_rows(self) -> int:
        """Rows seen, those of weight 0 excepted."""
        return int(self._rows.sum())

    def _add_classes(self, n_classes: int) -> None:
        """Make room for late labels, always in new arrays: a failed update restores the old ones."""
        more = np.zeros(n_classes - len(self._mass), np.int64)  # np.pad is slow
        self._rows, self._mass, self._squares = (
            np.concatenate([a, more]) for a in (self._rows, self._mass, self._squares)
        )

    def _weights(self, n: int, weight: FloatArray | None) -> tuple[FloatArray | None, FloatArray | None]:
        """Return the weights of the next n rows (None: all 1), and the squares to sum for them."""
        factors = self._fading.factors(n)
        if factors is None:
            return weight, weight
        w = factors if weight is None else weight * factors
        return w, w * factors

    def _add_rows(self, codes: IntArray, mass: FloatArray, squares: FloatArray | None) -> None:
        """Count rows, let them pass on the clock, and rescale if it is time."""
        n_classes = len(self._mass)
        self._squares += np.bincount(codes, squares, minlength=n_classes)
        self._mass += mass
        self._rows += np.bincount(codes, minlength=n_classes)
        self._advance(len(codes))

    def _advance(self, n: int) -> None:
        factor = self._fading.advance(n)
        if factor is not None:
            self._scale(factor)

    def fade(self, factor: float) -> None:
        """Multiply the weight of all rows so far by ``factor``, 0 < factor <= 1."""
        self._scale(factor)

    def _scale(self, factor: float) -> None:
        self._mass *= factor
        self._squares *= factor * factor

    def _precede(self, other: Self) -> tuple[IntArray, list[Any]]:
        """Let another's rows come next; return the codes of its labels here, and which labels are new."""
        codes, new = self._labels.encode(np.array(other.classes))
        factor = self._fading.precede(other._fading, other.n_rows)
        if factor != 1.0:
            self._scale(factor)
        return codes, new

    def _add_totals(self, other: Self, codes: IntArray) -> None:
        """Add another's totals; its class i is ours ``codes[i]``."""
        self._mass[codes] += other._mass
        self._squares[codes] += other._squares
        self._rows[codes] += other._rows
