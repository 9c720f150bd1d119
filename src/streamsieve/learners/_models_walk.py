"""The state of a walk over linear models: columns known, columns in the model, what was counted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from streamsieve._kernels import birth_death as kernel
from streamsieve.exceptions import StateError
from streamsieve.protocols import Arrays, FloatArray, IntArray
from streamsieve.state import expect, register

#: Moves drawn at a time: their random numbers take little memory.
CHUNK = 2**14


class Prior(NamedTuple):
    """What is believed before the data: g for the coefficients, log odds of every column, most columns."""

    g: float
    log_odds: float
    most: int


#: Nothing was counted so far.
NONE_YET = Prior(0.0, 0.0, 0)


@register
class ModelsWalk:
    """A walk over linear models whose space grows as columns arrive.

    Parameters
    ----------
    y : the target, one number a row, not constant
    """

    def __init__(self, y: FloatArray) -> None:
        self.n = len(y)
        self.y_mean = float(y.mean())
        centred = y - self.y_mean
        self.y_length = float(np.sqrt(centred @ centred))
        self._y = centred / self.y_length
        self.p = self.q = 0
        self._X = np.empty((16, self.n))
        self._gram, self._factor, self._z = np.empty((8, 16)), np.zeros((8, 8)), np.zeros(8)
        #: Mean and length of every column, its product with the target, all columns with those in the model
        #: first.
        self._mean, self._length, self._c = np.zeros(16), np.zeros(16), np.zeros(16)
        self._order = np.zeros(16, np.int64)
        self.prior = NONE_YET
        self._forget_counts()

    def _forget_counts(self) -> None:
        """Count anew, because the space or the prior is another one."""
        self.moves = self.accepted = 0
        self._stays, self._sums = np.zeros(self.p), np.zeros(self.p)

    # ---------------------------------------------------------------- columns

    def arrive(self, x: FloatArray) -> None:
        """Let one more column be known; what was counted over fewer columns is forgotten."""
        if self.p == len(self._X):
            self._widen()
        first = float(x[0])
        mean = first + float((x - first).mean())
        centred = x - mean
        length = float(np.sqrt(centred @ centred))
        if np.all(x == first):
            centred, length = np.zeros(self.n), 0.0
        elif length > 0:
            centred = centred / length
        self._X[self.p] = centred
        self._mean[self.p], self._length[self.p] = mean, length
        self._c[self.p] = kernel.dot(centred, self._y)
        kernel.arrive(self._X, self._order, self.q, self.p, self._gram)
        self.p += 1
        self._forget_counts()

    def _widen(self) -> None:
        """Make room for as many columns again."""
        self._X = np.concatenate([self._X, np.empty_like(self._X)])
        self._gram = np.concatenate([self._gram, np.empty_like(self._gram)], axis=1)
        for name in ("_mean", "_length", "_c", "_order"):
            own = getattr(self, name)
            setattr(self, name, np.concatenate([own, np.zeros_like(own)]))

    def _deepen(self) -> None:
        """Make room for twice as many columns in the model."""
        room = len(self._z)
        gram, factor, z = (
            np.empty((2 * room, self._gram.shape[1])),
            np.zeros((2 * room, 2 * room)),
            np.zeros(2 * room),
        )
        gram[:room], factor[:room, :room], z[:room] = self._gram, self._factor, self._z
        self._gram, self._factor, self._z = gram, factor, z

    # ---------------------------------------------------------------- moving

    def believe(self, prior: Prior) -> None:
        """Forget what was counted under another prior: it belongs to another posterior."""
        if prior != self.prior:
            self.prior = prior
            self._forget_counts()

    def walk(self, moves: int, prior: Prior, rng: np.random.Generator, *, count: bool) -> IntArray:
        """Make some moves; return what each did, and count where it led if asked to."""
        stays, sums = (self._stays, self._sums) if count else (np.zeros(self.p), np.zeros(self.p))
        usable = (self._length[: self.p] > 0).astype(np.float64)
        history = np.zeros(moves, np.int64)
        for low in range(0, moves, CHUNK):
            some = history[low : low + CHUNK]
            draws = rng.random((len(some), 3))
            while len(some):
                self.q, done = kernel.walk(
                    self._X, usable, self._c, self._order, self.q, self.p, self._gram, self._factor, self._z,
                    self.n, prior.g, prior.log_odds, prior.most, draws, stays, sums, some,
                )  # fmt: skip
                some, draws = some[done:], draws[done:]
                if len(some):
                    self._deepen()
        if count:
            self.moves += moves
            self.accepted += int(np.count_nonzero(history))
        return history

    # ---------------------------------------------------------------- looking

    @property
    def model(self) -> IntArray:
        """Columns in the model now, in order."""
        return np.sort(self._order[: self.q])

    @property
    def stays(self) -> FloatArray:
        """Moves counted after which each column was in the model."""
        return self._stays.copy()

    @property
    def inclusion(self) -> FloatArray:
        """Share of the moves counted after which each column was in the model."""
        return self._stays / max(self.moves, 1)

    @property
    def linear_function(self) -> tuple[FloatArray, float]:
        """Mean coefficients over the moves counted, and the intercept, for columns as they came."""
        length = self._length[: self.p]
        weights = np.zeros(self.p)
        np.divide(self._sums * (self.y_length / max(self.moves, 1)), length, out=weights, where=length > 0)
        return weights, self.y_mean - float(weights @ self._mean[: self.p])

    # ---------------------------------------------------------------- state

    def state(self) -> Arrays:
        """Return columns, target, model and counts."""
        p = self.p
        return {
            "columns": self._X[:p],
            "mean": self._mean[:p],
            "length": self._length[:p],
            "order": self._order[:p],
            "target": self._y,
            "target_scale": np.array([self.y_mean, self.y_length]),
            "stays": self._stays,
            "sums": self._sums,
            "prior": np.array(self.prior, np.float64),
            "counts": np.array([self.q, self.moves, self.accepted]),
        }

    @classmethod
    def from_state(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Rebuild; products and factors follow from the columns."""
        target = expect(arrays, "target", np.float64, (None,))
        columns = expect(arrays, "columns", np.float64, (None, len(target)))
        scale = expect(arrays, "target_scale", np.float64, (2,))
        prior = expect(arrays, "prior", np.float64, (3,))
        q, moves, accepted = expect(arrays, "counts", np.int64, (3,)).tolist()
        p = len(columns)
        vectors = {
            name: expect(arrays, name, np.float64, (p,)) for name in ("mean", "length", "stays", "sums")
        }
        order = expect(arrays, "order", np.int64, (p,))
        numbers = (target, columns, scale, prior, *vectors.values())
        if (
            len(target) < 3
            or np.ptp(target) == 0
            or not all(np.all(np.isfinite(part)) for part in numbers)
            or scale[1] <= 0
        ):
            raise StateError("the state's columns or target are not numbers, or too few")
        if not 0 <= q <= min(p, len(target) - 2) or not np.array_equal(np.sort(order), np.arange(p)):
            raise StateError("the state's model is not one of its columns")
        if (
            min(moves, accepted) < 0
            or np.any(vectors["length"] < 0)
            or np.any(vectors["length"][order[:q]] == 0)
        ):
            raise StateError("the state's counts or columns do not fit together")
        walk = cls(target)
        walk._y = np.array(target)
        walk.p, walk.q, walk.moves, walk.accepted = p, q, moves, accepted
        walk.y_mean, walk.y_length = scale.tolist()
        walk.prior = Prior(float(prior[0]), float(prior[1]), int(prior[2]))
        width, depth = max(p, 16), max(q, 8)
        walk._X = np.empty((width, walk.n))
        walk._X[:p] = columns
        walk._mean, walk._length, walk._c = np.zeros(width), np.zeros(width), np.zeros(width)
        walk._mean[:p], walk._length[:p] = vectors["mean"], vectors["length"]
        walk._stays, walk._sums = np.array(vectors["stays"]), np.array(vectors["sums"])
        walk._order = np.zeros(width, np.int64)
        walk._order[:p] = order
        walk._gram, walk._factor, walk._z = (
            np.empty((depth, width)),
            np.zeros((depth, depth)),
            np.zeros(depth),
        )
        for j in range(p):
            walk._c[j] = kernel.dot(walk._X[j], walk._y)
            for i in range(q):
                walk._gram[i, j] = kernel.dot(walk._X[order[i]], walk._X[j])
        kernel.factorise(walk._order, q, walk._c, walk._gram, walk._factor, walk._z)
        return walk
