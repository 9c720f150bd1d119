"""Streams of columns with a known truth, for rules that bound the false discovery rate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.signal import lfilter

from streamsieve.protocols import BoolArray
from studies.calibration.families import BURN_IN, Drawn, Generator, exact_labels

N_COLUMNS = 1000
#: Correlation of a signal with y, in standard errors, where rows are independent.
SIGNAL = 3.5


@dataclass(frozen=True)
class Stream:
    """Columns, a target, which columns depend on it, and what ``begin`` is told about the rows."""

    X: Drawn
    y: Drawn
    signal: BoolArray
    begin: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Situation:
    """A kind of stream, and the procedures whose promise covers it."""

    name: str
    draw: Callable[[Generator], Stream]
    promised: frozenset[str]


def noise(n: int, x: Callable[[Generator, Any], Drawn], y: Callable[[Generator, int], Drawn]) -> Any:
    """Return a draw of streams in which nothing depends on y."""
    return lambda rng: Stream(x(rng, (n, N_COLUMNS)), y(rng, n), np.zeros(N_COLUMNS, bool))


def rare(n: int, share: float) -> Drawn:
    """Return labels with a class of this share."""
    return exact_labels(n, (1 - share, share))


def dependent(structure: str, share: float, n: int = 300) -> Callable[[Generator], Stream]:
    """Return a draw of dependent columns over independent rows, some of which correlate with y."""

    def draw(rng: Generator) -> Stream:
        signal = rng.random(N_COLUMNS) < share
        if structure == "copies":
            signal = np.repeat(rng.random(N_COLUMNS // 10) < share, 10)
        y, r = rng.standard_normal(n), SIGNAL / np.sqrt(n)
        own = columns(structure, rng, n)
        return Stream(np.where(signal, r * y[:, None] + np.sqrt(1 - r * r) * own, own), y, signal)

    return draw


def columns(structure: str, rng: Generator, n: int) -> Drawn:
    """Return columns of unit variance that depend on each other."""
    own = rng.standard_normal((n, N_COLUMNS))
    if structure == "AR(1), 0.9":
        own[:, 1:] *= np.sqrt(1 - 0.81)
        return np.ascontiguousarray(lfilter([1.0], [1.0, -0.9], own, axis=1))
    if structure == "equicorrelated, 0.5":
        return np.sqrt(0.5) * (own + rng.standard_normal((n, 1)))
    if structure == "copies":
        origin = np.repeat(rng.standard_normal((n, N_COLUMNS // 10)), 10, axis=1)
        return np.sqrt(0.95) * origin + np.sqrt(0.05) * own
    return own


def series(phi: float, n: int = 300) -> Callable[[Generator], Stream]:
    """Return a draw of AR(1) rows; one column in twenty correlates with y by 0.45."""

    def draw(rng: Generator) -> Stream:
        rows = lfilter([1.0], [1.0, -phi], rng.standard_normal((n + BURN_IN, N_COLUMNS + 1)), axis=0)[
            BURN_IN:
        ]
        y, own, signal = rows[:, 0], rows[:, 1:], rng.random(N_COLUMNS) < 0.05
        X = np.where(signal, 0.45 * y[:, None] + np.sqrt(1 - 0.45**2) * own, own)
        return Stream(X, y, signal, {"serial": True})

    return draw


def patients(groups: int, size: int) -> Callable[[Generator], Stream]:
    """Return a draw of rows in groups, of which each has one label; one column in twenty depends on it."""

    def draw(rng: Generator) -> Stream:
        label = np.repeat(np.arange(groups), size)
        y = rng.permutation(np.arange(groups) % 2)[label]
        signal = rng.random(N_COLUMNS) < 0.05
        shared, own = rng.standard_normal((groups, N_COLUMNS)), rng.standard_normal((len(y), N_COLUMNS))
        X = np.sqrt(0.3) * shared[label] + np.sqrt(0.7) * own + 1.2 * signal * y[:, None]
        return Stream(X, y, signal, {"groups": label})

    return draw
