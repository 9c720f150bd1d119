"""Input of learners: targets, class labels with their codes, and names of columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from streamsieve._validation import check_target, mixed_labels
from streamsieve.exceptions import TargetError
from streamsieve.feature_names import FeatureNames
from streamsieve.protocols import ColumnBlock, FloatArray, IntArray
from streamsieve.state import Array, Part, Texts

#: Types of class labels that are not text.
LABEL_TYPES = ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8")


def rows_of(y: Any) -> int:
    """Return for how many rows a target is, before it is checked; 0 for what has no length."""
    try:
        return len(y)
    except TypeError:
        return 0


def _checked(y: Any, n: int) -> npt.NDArray[Any]:
    y = check_target(y, n, "either")
    if n == 0:
        raise TargetError("y is empty: give one label or number per row")
    return np.asarray(y)


def check_labels(y: Any, n: int) -> npt.NDArray[Any]:
    """Return n class labels."""
    y = _checked(y, n)
    if y.dtype.kind == "f":
        if not np.array_equal(y, np.floor(y)):
            # the first words are those that scikit-learn's users search for
            raise TargetError(
                "Unknown label type: continuous. A classifier needs class labels, but y holds fractional "
                "numbers: use the regressor, or bin y first"
            )
        check_target(y, n, "classes")
    return np.asarray(y)


def check_numbers(y: Any, n: int) -> FloatArray:
    """Return n numbers to predict."""
    y = _checked(y, n)
    if y.dtype.kind in "USO":
        raise TargetError(
            f"a regressor needs numbers, but y holds text such as {str(y[0])!r}: use the classifier"
        )
    return check_target(y, n, "numeric")


def names_with(learner: Any, block: ColumnBlock) -> npt.NDArray[Any] | None:
    """Return the names of all columns when a block has come; None if no column ever had one.

    Columns without a name are called x0, x1, ... once another has one, because scikit-learn knows names for
    all columns or for none.  A name that is taken is refused.
    """
    known, start = getattr(learner, "feature_names_in_", None), learner.n_features_in_
    if known is None and block.names is None:
        return None
    book = FeatureNames()
    if known is not None:
        book.claim(known.tolist(), 0)
    if block.names is not None:
        book.claim(block.names, start)
    return np.array([book[i] for i in range(start + block.X.shape[1])], dtype=object)


class ClassLabels(Part):
    """The class labels of a classifier in sorted order; their positions are their codes."""

    fields = {
        "labels": Array(LABEL_TYPES, "classes", finite=True, order="rising", optional=True),
        "texts": Texts("classes", unique=True, optional=True),
    }

    def __init__(self, labels: npt.NDArray[Any]) -> None:
        self.labels = labels

    @classmethod
    def of(cls, y: npt.NDArray[Any]) -> Self:
        """Return the classes of a whole target; there must be two at least."""
        labels = np.unique(y)
        if len(labels) < 2:
            raise TargetError(
                f"y holds one class only ({labels[0].item()!r}): give rows of at least two classes"
            )
        return cls(labels)

    def __len__(self) -> int:
        return len(self.labels)

    def encode(self, y: npt.NDArray[Any]) -> IntArray:
        """Return the codes of labels; refuse those that were not there at the beginning."""
        if (y.dtype.kind == "U") != (self.labels.dtype.kind == "U"):
            raise mixed_labels(self.labels[0].item(), y[0].item())
        places = np.minimum(np.searchsorted(self.labels, y), len(self.labels) - 1)
        unknown = np.flatnonzero(self.labels[places] != y)
        if len(unknown):
            raise TargetError(
                f"y holds the label {y[unknown[0]].item()!r}, which was not among those of the first rows: "
                "name all labels in the first call, as partial_fit(X, y, classes=...)"
            )
        return np.asarray(places, np.int64)

    def _record(self) -> Mapping[str, Any]:
        if self.labels.dtype.kind == "U":
            return {"texts": self.labels.tolist()}
        return {"labels": self.labels}

    @classmethod
    def _misfits(cls, record: Mapping[str, Any]) -> Iterator[str]:
        if (record["labels"] is None) is (record["texts"] is None):
            yield "the labels should be texts or numbers, one of them"

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        labels, texts = record["labels"], record["texts"]
        return cls(np.array(texts, str) if labels is None else labels)

    def _consistent(self) -> Iterator[str]:
        if len(self.labels) < 2 or not np.all(self.labels[:-1] < self.labels[1:]):
            yield "there should be two classes at least, in order"
