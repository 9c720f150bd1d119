"""Rows and target of a comparison, checked once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from streamsieve._frames import names_of
from streamsieve._validation import matrix, task_of
from streamsieve._values import refuse_non_finite
from streamsieve.base.open_features import NullEstimator
from streamsieve.evaluation.engine.settings import fingerprint
from streamsieve.exceptions import ParameterError, SchemaError, TargetError
from streamsieve.protocols import Matrix, Task


@dataclass(frozen=True)
class Problem:
    """What is to be learnt.

    Attributes
    ----------
    X : float array or CSR
    y : int64 codes of the classes, or float64 numbers
    task : kind of target
    classes : labels of the codes, empty for a numeric target
    names : of the features, or None
    """

    X: Matrix
    y: npt.NDArray[Any]
    task: Task
    classes: tuple[Any, ...]
    names: list[str] | None

    @classmethod
    def of(cls, X: Any, y: Any, task: str = "auto", names: Sequence[str] | None = None) -> Problem:
        """Check rows and target, of any container."""
        given = names_of(X) if names is None else _different(names)
        X = matrix(NullEstimator(), X, reset=True, sparse="csr")
        if given is not None and len(given) != X.shape[1]:
            raise SchemaError(
                f"names has {len(given)} entries for {X.shape[1]} columns: give one name per column"
            )
        refuse_non_finite(X, given)
        y, kind = task_of(y, task)
        if len(y) != X.shape[0]:
            raise TargetError(f"X has {X.shape[0]} rows, but y has {len(y)}: one label per row is wanted")
        if kind is Task.REGRESSION:
            return cls(X, y, kind, (), given)
        labels, codes = np.unique(y, return_inverse=True)
        return cls(X, codes.astype(np.int64), kind, tuple(labels.tolist()), given)

    @property
    def regression(self) -> bool:
        """Whether the target is numeric."""
        return self.task is Task.REGRESSION

    def identity(self) -> dict[str, Any]:
        """Return what makes this data this data, as JSON."""
        target = {"task": str(self.task), "classes": [str(label) for label in self.classes]}
        return fingerprint(self.X, self.y, self.names) | target


def _different(names: Sequence[str]) -> list[str]:
    """Return names as text, all different."""
    if isinstance(names, str):
        raise ParameterError(f"names is a list of one name per column; got the text {names!r}")
    given = [str(name) for name in names]
    twice = next((name for name, count in Counter(given).items() if count > 1), None)
    if twice is not None:
        raise SchemaError(f"names has {twice!r} more than once: a ledger could not tell them apart")
    return given
