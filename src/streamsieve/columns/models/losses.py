"""Losses and penalties of penalized models, and the encoding of their targets."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from streamsieve.dependence.target import standardized_target
from streamsieve.protocols import FloatArray

LOSSES = ("squared", "logistic", "multinomial")


class LassoConfig(NamedTuple):
    """Penalties and tolerance of a model."""

    #: Penalty on absolute coefficients.
    l1: float
    #: Penalty on half their squares.
    l2: float
    #: Whether coefficients are penalized at unit variance of their columns.
    standardize: bool
    tol: float


def encoded_target(loss: str, y: FloatArray) -> tuple[FloatArray, tuple[float, float]]:
    """Return the target, (output, row), with its center and unit: standardized, or indicators of classes."""
    if loss == "squared":
        center, unit, numbers = standardized_target(y)
        return numbers[None], (center, unit)
    if loss == "logistic":
        return np.array(y[None], np.float64), (0.0, 1.0)
    return (np.arange(int(y.max()) + 1)[:, None] == y).astype(np.float64), (0.0, 1.0)


def is_target(loss: str, target: FloatArray) -> bool:
    """Whether a target is valid for a loss: numbers, or an indicator per class."""
    outputs, n = target.shape
    if loss == "squared":
        return bool(outputs == 1 and n > 0 and np.all(np.isfinite(target)))
    labels = n > 0 and bool(np.all((target == 0) | (target == 1)))
    if loss == "logistic":
        return labels and outputs == 1
    return labels and outputs > 2 and bool(np.all(target.sum(axis=0) == 1))
