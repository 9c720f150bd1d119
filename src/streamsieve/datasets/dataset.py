"""Data sets: rows, a target, and their origin."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from streamsieve._text import shown
from streamsieve.exceptions import SourceError
from streamsieve.protocols import IntArray, Matrix, Task


@dataclass(frozen=True)
class Dataset:
    """A data set in memory.

    Attributes
    ----------
    name : its name in the manifest
    X : float64 array or CSR, one row per instance, in the order of the source
    y : int64 codes 0, 1, ... of the classes, or float64 numbers
    task : kind of target
    names : names of the features, or None if they have none
    classes : label of each code, or None for a numeric target
    train, test : rows of the published split, or None if there is none
    description, citation : its content, and its authors
    origin : where it was read
    """

    name: str
    X: Matrix
    y: npt.NDArray[Any]
    task: Task
    names: list[str] | None = None
    classes: npt.NDArray[Any] | None = None
    train: IntArray | None = None
    test: IntArray | None = None
    description: str = ""
    citation: str = ""
    origin: str = ""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features."""
        return (int(self.X.shape[0]), int(self.X.shape[1]))

    def part(self, which: str) -> Dataset:
        """Return the "train" or the "test" rows of the published split, as a data set."""
        rows = {"train": self.train, "test": self.test}.get(which)
        if rows is None:
            has = "no published split" if self.train is None else "the parts 'train' and 'test'"
            raise SourceError(
                f"{self.name} has {has}; got {which!r}: take all rows, or split them yourself, for example "
                "with sklearn.model_selection.train_test_split"
            )
        return replace(self, X=self.X[rows], y=self.y[rows], train=None, test=None)

    def __str__(self) -> str:
        n, p = self.shape
        counted = ""
        if self.classes is not None:
            counts = np.bincount(self.y, minlength=len(self.classes)).tolist()
            each = [f"{label} {count:,}" for label, count in zip(self.classes.tolist(), counts, strict=True)]
            more = f", and {len(each) - 6} more" if len(each) > 6 else ""
            counted = f" ({', '.join(each[:6])}{more})"
        about = shown(f"{self.name}: {n:,} rows, {p:,} features, {self.task}{counted}")
        return f"{about}. {self.description}".strip()

    __repr__ = __str__
