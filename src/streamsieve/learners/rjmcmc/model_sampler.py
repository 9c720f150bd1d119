"""A Markov chain over linear models: known columns, columns in the model, and counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Self

import numpy as np

from streamsieve._kernels import birth_death as kernel
from streamsieve.protocols import FloatArray, IntArray
from streamsieve.state import Array, Float, Int, Part

#: Moves drawn at a time: their random numbers take little memory.
CHUNK = 2**14


class Prior(NamedTuple):
    """What is believed before the data: g for the coefficients, log odds of every column, most columns."""

    g: float
    log_odds: float
    most: int


#: Nothing was counted so far.
NONE_YET = Prior(0.0, 0.0, 0)


class ModelSampler(Part):
    """A Markov chain over linear models whose space grows as columns arrive; y is not constant."""

    fields = {
        "columns": Array("f8", "columns", "rows", finite=True, copy=False),
        "mean": Array("f8", "columns", finite=True),
        "length": Array("f8", "columns", low=0, finite=True),
        "order": Array("i8", "columns", below="columns", unique=True),
        "target": Array("f8", "rows", finite=True),
        "y_mean": Float(),
        "y_length": Float(0, open_low=True),
        "stays": Array("f8", "columns", low=0, finite=True),
        "sums": Array("f8", "columns", finite=True),
        "prior": Array("f8", 3, finite=True),
        "q": Int(),
        "moves": Int(),
        "accepted": Int(),
    }

    def __init__(self, y: FloatArray) -> None:
        self.n = len(y)
        self.y_mean = float(y.mean())
        centered = y - self.y_mean
        self.y_length = float(np.sqrt(centered @ centered))
        self._y = centered / self.y_length
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
        """Count again, because the space or the prior is another one."""
        self.moves = self.accepted = 0
        self._stays, self._sums = np.zeros(self.p), np.zeros(self.p)

    def arrive(self, x: FloatArray) -> None:
        """Let one more column be known; what was counted over fewer columns is forgotten."""
        if self.p == len(self._X):
            self._widen()
        first = float(x[0])
        mean = first + float((x - first).mean())
        centered = x - mean
        length = float(np.sqrt(centered @ centered))
        if np.all(x == first):
            centered, length = np.zeros(self.n), 0.0
        elif length > 0:
            centered = centered / length
        self._X[self.p] = centered
        self._mean[self.p], self._length[self.p] = mean, length
        self._c[self.p] = kernel.dot(centered, self._y)
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
        more = (0, room)
        self._gram = np.pad(self._gram, (more, (0, 0)))
        self._factor, self._z = np.pad(self._factor, (more, more)), np.pad(self._z, more)

    def set_prior(self, prior: Prior) -> None:
        """Set the prior; counts under another prior are dropped, as they belong to another posterior."""
        if prior != self.prior:
            self.prior = prior
            self._forget_counts()

    def walk(self, moves: int, prior: Prior, rng: np.random.Generator, *, count: bool) -> IntArray:
        """Make moves of the chain; return the result of each, and with ``count`` add to the counts."""
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

    def _record(self) -> Mapping[str, Any]:
        p = self.p
        return {
            "columns": self._X[:p],
            "mean": self._mean[:p],
            "length": self._length[:p],
            "order": self._order[:p],
            "target": self._y,
            "y_mean": self.y_mean,
            "y_length": self.y_length,
            "stays": self._stays,
            "sums": self._sums,
            "prior": np.array(self.prior, np.float64),
            "q": self.q,
            "moves": self.moves,
            "accepted": self.accepted,
        }

    @classmethod
    def _misfits(cls, record: Mapping[str, Any]) -> Iterator[str]:
        p, n = record["columns"].shape
        if n < 3 or np.ptp(record["target"]) == 0:
            yield "the target is constant, or has fewer than three rows"
        elif record["q"] > min(p, n - 2) or np.any(record["length"][record["order"][: record["q"]]] == 0):
            yield "the model holds columns that it cannot hold"

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        """Rebuild; products and factors follow from the columns."""
        target, columns, order, q = (record[name] for name in ("target", "columns", "order", "q"))
        p, n = columns.shape
        sampler = cls(target)
        for name in ("y_mean", "y_length", "q", "moves", "accepted"):
            setattr(sampler, name, record[name])
        sampler.p, sampler._y = p, target
        g, log_odds, most = record["prior"].tolist()
        sampler.prior = Prior(g, log_odds, int(most))
        sampler._stays, sampler._sums = record["stays"], record["sums"]
        width, depth = max(p, 16), max(q, 8)
        sampler._X = np.empty((width, n))
        sampler._X[:p] = columns
        for name, values in (("_mean", record["mean"]), ("_length", record["length"]), ("_order", order)):
            setattr(sampler, name, np.concatenate([values, np.zeros(width - p, values.dtype)]))
        sampler._c, sampler._z = np.zeros(width), np.zeros(depth)
        sampler._gram, sampler._factor = np.empty((depth, width)), np.zeros((depth, depth))
        for j in range(p):
            sampler._c[j] = kernel.dot(sampler._X[j], sampler._y)
            for i in range(q):
                sampler._gram[i, j] = kernel.dot(sampler._X[order[i]], sampler._X[j])
        kernel.factorize(sampler._order, q, sampler._c, sampler._gram, sampler._factor, sampler._z)
        return sampler
