"""Two class labels as -1 and +1, known before both have been seen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from streamsieve._validation import mixed_labels
from streamsieve.exceptions import TargetError
from streamsieve.protocols import FloatArray
from streamsieve.state import Array, Part, Values, register


@register
class SignedLabels(Part):
    """The signs of two labels, assigned as the labels appear.

    The first label gets +1 if it is a positive number, so that 0/1 and -1/+1 keep their usual meaning,
    and -1 otherwise; the second gets the other sign.  The signs follow from the order of rows alone, not from
    how they are cut into batches.

    Attributes
    ----------
    negative, positive : the labels, or None before they were seen
    """

    fields = {"given": Array("?", 2), "labels": Values("labels")}

    def __init__(self, negative: Any = None, positive: Any = None) -> None:
        self.negative, self.positive = negative, positive

    @property
    def classes(self) -> list[Any]:
        """The labels seen, the negative one first."""
        return [label for label in (self.negative, self.positive) if label is not None]

    @property
    def positive_is_larger(self) -> bool:
        """Whether the positive label comes last in sorted order, or one of the two is not known yet."""
        return self.negative is None or self.positive is None or bool(self.negative < self.positive)

    def encode(self, y: npt.NDArray[Any], method: str) -> FloatArray:
        """Return -1 or +1 for every label; remember new labels, and refuse a third one."""
        known = self.classes
        if len(known) == 2:  # fast path for nearly all batches
            positive = y == self.positive
            if np.all(positive | (y == self.negative)):
                return np.where(positive, 1.0, -1.0)
        distinct = np.unique(y).tolist()
        new = [label for label in distinct if label not in known]
        if known and new and isinstance(new[0], str) != isinstance(known[0], str):
            raise mixed_labels(known[0], new[0])
        if len(known) + len(new) > 2:
            shown = ", ".join(map(repr, [*known, *new][:4]))
            raise TargetError(
                f"{method} separates 2 classes, but y holds {len(known) + len(new)} ({shown}, ...): use "
                "BARDA, MISSION or RunningAverages, which compare each class with the rest, or Screen"
            )
        if len(new) == 2:  # both in one batch: the one of the first row came first
            new.sort(key=lambda label: label != y[0])
        for label in new:
            self._add(label)
        return np.where(y == self.positive, 1.0, -1.0) if self.positive is not None else np.full(len(y), -1.0)

    def _add(self, label: Any) -> None:
        first = self.negative is None and self.positive is None
        upward = not isinstance(label, str) and label > 0
        if upward if first else self.positive is None:
            self.positive = label
        else:
            self.negative = label

    def _record(self) -> Mapping[str, Any]:
        given = np.array([self.negative is not None, self.positive is not None])
        return {"given": given, "labels": self.classes}

    @classmethod
    def _misfits(cls, record: Mapping[str, Any]) -> Iterator[str]:
        if record["given"].sum() != len(record["labels"]):
            yield "the labels do not fit the signs"

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        given, labels = record["given"].tolist(), iter(record["labels"])
        return cls(*(next(labels) if there else None for there in given))
