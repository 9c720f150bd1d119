"""A model of at most so many columns, in which a newcomer may take the place of the weakest."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from streamsieve._kernels import substitution
from streamsieve.columns._model_columns import Offered, Pieces, pieces_of, standardised
from streamsieve.columns._substitution_threads import InOrder
from streamsieve.decisions import REASON_CODE, Eviction
from streamsieve.exceptions import StateError
from streamsieve.protocols import Arrays, FloatArray, IntArray, Reason
from streamsieve.state import expect, register

LOSSES = ("squared", "logistic")
#: Columns that a model has room for at first.
FIRST = 64
#: Coefficients and steps below this are 0: the target has unit size.
LEAST = 1e-9
#: Values that a thread measures before it decides: fewer take less time than it takes to wake a thread.
PIECE = 2**19
#: Squares of a column that add up to this, if not checked, are looked at: values may be too large, or none.
#: Well below what is refused, because two such numbers may add up.
SUSPICIOUS = 1e190
#: Columns that a thread measures before it decides, at most: until then they are judged by an old residual.
MOST_AHEAD = 8
KEPT, CONSTANT, IRRELEVANT, OUTSCORED = (
    REASON_CODE[reason] for reason in (Reason.RELEVANT, Reason.CONSTANT, Reason.IRRELEVANT, Reason.OUTSCORED)
)


class Pace(NamedTuple):
    """How the coefficients in the model move."""

    budget: int
    #: Every coefficient takes a step once in so many arrivals.
    refresh: int
    #: How far a step goes.
    share: float


class Manner(NamedTuple):
    """How a block is weighed."""

    #: Columns that a thread measures before it decides; 0: one thread does everything, column by column.
    ahead: int
    n_threads: int
    #: Squares from which on values are suspicious.
    limit: float
    #: Whether the model may have to become again what it was.
    careful: bool


@register
class SubstitutionModel:
    """At most ``budget`` columns and their coefficients, each of which takes a step now and then.

    Inside, columns have mean 0 and variance 1, and so has a numeric target.

    Parameters
    ----------
    loss : one of ``LOSSES``
    y : the target, one number a row; 0 and 1 for the logistic loss
    pace : how the coefficients move
    """

    def __init__(self, loss: str, y: FloatArray, pace: Pace) -> None:
        centre, unit, level = 0.0, 1.0, 0.0
        target = np.array(y, np.float64)
        if loss == "squared":
            centre, unit, target = standardised(y)
        else:
            level = math.log(y.mean()) - math.log1p(-y.mean())
        self._bind(loss, target, (centre, unit), pace)
        self._level[0] = level
        if loss == "squared":
            self._residual = target.copy()
        else:
            self._predictor[:] = level
            self._residual = target - y.mean()

    def _bind(self, loss: str, target: FloatArray, units: tuple[float, float], pace: Pace) -> None:
        self.loss, self.pace = loss, pace
        self._code = LOSSES.index(loss)
        self._target = target
        self._centre, self._unit = units
        self.n = len(target)
        self._predictor = np.zeros(self.n if loss == "logistic" else 0)
        #: Intercept, and mean of the residual.
        self._level = np.zeros(2)
        #: Places taken, arrivals since the last round of steps, whether that moved nothing, free rows, and
        #: rows that become free when the block is through.
        self._counts = np.zeros(5, np.int64)
        places = min(pace.budget, FIRST)
        self._theta, self._feature = np.zeros(places), np.zeros(places, np.int64)
        #: Mean and deviation of every column.
        self._facts = np.zeros((places, 2))
        #: Columns in rows, not in the order of places; zeros are mapped, and cost nothing until written to.
        self._store = np.zeros((0, self.n))
        self._where = np.zeros(places, np.int64)
        self._free = np.zeros(0, np.int64)

    # ---------------------------------------------------------------- what is in it

    @property
    def size(self) -> int:
        """Number of columns in the model."""
        return int(self._counts[0])

    @property
    def features(self) -> IntArray:
        """Arrival numbers of the columns in the model, in order."""
        return np.sort(self._feature[: self.size])

    def coefficients(self, n_features: int) -> FloatArray:
        """Return one number a column, in the units of the columns and the target."""
        coefficients = np.zeros(n_features)
        coefficients[self._feature[: self.size]] = self._in_units()
        return coefficients

    def intercept(self) -> float:
        """Return the constant, in the units of the target."""
        level = self._centre + self._unit * self._level[0]
        return float(level - self._in_units() @ self._facts[: self.size, 0])

    def _in_units(self) -> FloatArray:
        return self._theta[: self.size] * self._unit / self._facts[: self.size, 1]

    # ---------------------------------------------------------------- columns that come

    def offer(self, X: Any, start: int, n_threads: int = 1, *, checked: bool = True) -> Offered | None:
        """Judge the columns of a block in order, the first of which has arrival number ``start``.

        Those that are in the model already stay there, and are passed over.  If the values were not
        ``checked`` and some are suspicious, nothing changes and None comes back.
        """
        m = X.shape[1]
        pieces = pieces_of(X)
        ahead = _ahead(pieces) if n_threads > 1 else 0
        # threads may be interrupted, and values that were not checked refused: then all of it must come back
        manner = Manner(ahead, n_threads, math.inf if checked else SUSPICIOUS, ahead > 0 or not checked)
        before = self._small() if manner.careful else None
        spare = min(self.pace.budget, m) if manner.careful else 0
        self._reserve(min(self.pace.budget, self.size + m), spare + 1)
        facts, evicted, was = np.empty((m, 4)), np.empty(m, np.int64), np.empty(m)
        done = 0
        try:
            done = self._weigh(pieces, facts, start, (evicted, was), manner)
        finally:
            if done < m and before is not None:
                self._put_back(before)
        if done < m:
            return None
        statistic = facts[:, 2].copy()  # a ledger may keep it, and not the rest
        reason = np.where(np.abs(statistic) > LEAST, OUTSCORED, IRRELEVANT).astype(np.uint8)
        reason[facts[:, 1] == 0] = CONSTANT
        reason[evicted > -2] = KEPT
        evictions = [
            Eviction(start + j, int(evicted[j]), Reason.OUTSCORED, float(was[j]), math.nan, (start + j,))
            for j in np.flatnonzero(evicted >= 0).tolist()
        ]
        return Offered(reason, statistic, evictions)

    def _weigh(
        self, pieces: Pieces, facts: FloatArray, start: int, verdict: tuple[IntArray, FloatArray],
        manner: Manner,
    ) -> int:  # fmt: skip
        """Measure and weigh columns; return how many, up to the first with suspicious values."""
        m, ahead, limit = len(facts), manner.ahead, manner.limit
        # rows that hold a column of the model must not be written to if that may have to come back
        fresh = np.full(len(self._store), not manner.careful)
        later = np.empty(len(self._store), np.int64)
        model = (
            self._code, self._target, self._predictor, self._residual, self._level,
            self._store, self._where, fresh, self._free, later,
            self._theta, self._feature, self._facts, self._counts, *self.pace, LEAST,
        )  # fmt: skip
        if not ahead:
            done = int(substitution.substitute(*pieces, facts, start, limit, *model, *verdict))
        else:
            done = m

            def measure(piece: int) -> None:
                low, high = piece * ahead, min((piece + 1) * ahead, m)
                substitution.measure(*pieces, self._residual, self._level[1], low, high, limit, facts)

            def commit(piece: int) -> bool:
                nonlocal done
                low, high = piece * ahead, min((piece + 1) * ahead, m)
                reached = int(substitution.commit(*pieces, facts, start, low, high, *model, *verdict))
                if reached < high:
                    done = reached
                return reached == high

            n_pieces = -(-m // ahead)
            InOrder(n_pieces, measure, commit).run(min(manner.n_threads, n_pieces))
        free, waiting = self._counts[3:]
        self._free[free : free + waiting] = later[:waiting]
        self._counts[3:] = free + waiting, 0
        return done

    def _small(self) -> tuple[npt.NDArray[Any], ...]:
        """Return copies of everything but the store."""
        return tuple(np.array(a) for a in self._changing())

    def _changing(self) -> tuple[npt.NDArray[Any], ...]:
        return (
            self._predictor, self._residual, self._level, self._counts,
            self._theta, self._feature, self._facts, self._where,
        )  # fmt: skip

    def _put_back(self, before: tuple[npt.NDArray[Any], ...]) -> None:
        """Make the model what it was before a block; the rows of its columns were not written to."""
        for now, then in zip(self._changing(), before, strict=True):
            now[: len(then)] = then
        self._all_but_used_are_free()

    def _all_but_used_are_free(self) -> None:
        free = np.setdiff1d(np.arange(len(self._store)), self._where[: self.size])
        self._free[: len(free)] = free
        self._counts[3:] = len(free), 0

    def _reserve(self, places: int, spare: int) -> None:
        """Make room for so many columns, and so many more rows in the store."""
        while len(self._theta) < places:
            self._theta, self._feature, self._facts, self._where = (
                np.concatenate([a, np.zeros_like(a)])
                for a in (self._theta, self._feature, self._facts, self._where)
            )
        rows = len(self._store)
        if rows < places + spare:
            more = (
                max(places + spare, 2 * rows) if rows else max(places + spare, min(self.pace.budget, FIRST))
            )
            store = np.zeros((more, self.n))
            store[:rows] = self._store
            self._store = store
            free = self._counts[3]
            self._free = np.concatenate([self._free[:free], np.arange(rows, more), np.zeros(rows, np.int64)])
            self._counts[3] = free + more - rows

    # ---------------------------------------------------------------- state

    def state(self) -> Arrays:
        """Return the target, the columns, and where every number stands."""
        q = self.size
        return {
            "loss": np.array([self._code]),
            "pace": np.array(self.pace, np.float64),
            "target": self._target,
            "units": np.array([self._centre, self._unit]),
            "level": self._level,
            "counts": self._counts[:3],
            "columns": self._store[self._where[:q]],
            "theta": self._theta[:q],
            "features": self._feature[:q],
            "facts": self._facts[:q],
            "predictor": self._predictor,
            "residual": self._residual,
        }

    @classmethod
    def from_state(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Rebuild."""
        code = int(expect(arrays, "loss", np.int64, (1,))[0])
        pace = expect(arrays, "pace", np.float64, (3,)).tolist()
        target = np.array(expect(arrays, "target", np.float64, (None,)))
        units = expect(arrays, "units", np.float64, (2,)).tolist()
        if code not in range(len(LOSSES)) or not _is_target(LOSSES[code], target):
            raise StateError(f"the state's model has the loss {code} over a target that it cannot have")
        if not all(map(math.isfinite, units)) or units[1] <= 0:
            raise StateError(f"the state's model has units of {units}")
        if not all(1 <= p < 2**34 and p == int(p) for p in pace[:2]) or not 0 < pace[2] <= 1:
            raise StateError(f"the state's model has a pace of {pace}")
        model = cls.__new__(cls)
        settings = Pace(int(pace[0]), int(pace[1]), pace[2])
        model._bind(LOSSES[code], target, (units[0], units[1]), settings)  # noqa: SLF001 - its own class
        model._fill(arrays)  # noqa: SLF001
        return model

    def _fill(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Take columns and where every number stands from a state."""
        features = expect(arrays, "features", np.int64, (None,))
        q = len(features)
        level = expect(arrays, "level", np.float64, (2,))
        counts = expect(arrays, "counts", np.int64, (3,))
        columns = expect(arrays, "columns", np.float64, (q, self.n))
        theta = expect(arrays, "theta", np.float64, (q,))
        facts = expect(arrays, "facts", np.float64, (q, 2))
        predictor = expect(arrays, "predictor", np.float64, (len(self._predictor),))
        residual = expect(arrays, "residual", np.float64, (self.n,))
        numbers = (level, columns, theta, facts, predictor, residual)
        if not all(np.all(np.isfinite(a)) for a in numbers) or np.any(facts[:, 1] <= 0):
            raise StateError("the state's model holds numbers that are none, or columns without a size")
        if q > self.pace.budget or counts[0] != q or counts[2] not in {0, 1}:
            raise StateError(f"the state's model counts {counts} columns and arrivals, but has {q}")
        if not 0 <= counts[1] < self.pace.refresh:
            raise StateError(f"the state's model is {counts[1]} arrivals past a round of steps: never")
        if len(np.unique(features)) < q or np.any(features < 0):
            raise StateError("the state's model has a column twice, or one that never arrived")
        self._reserve(q, 1)
        self._store[:q], self._theta[:q], self._facts[:q] = columns, theta, facts
        self._where[:q], self._feature[:q] = np.arange(q), features
        self._predictor, self._residual = np.array(predictor), np.array(residual)
        self._level, self._counts[:3] = np.array(level), counts
        self._all_but_used_are_free()


def _ahead(pieces: Pieces) -> int:
    """Return how many columns a thread measures at once; 0 if they are too few or too short for threads."""
    m = len(pieces.pointers) - 1
    ahead = -(-PIECE * m // max(len(pieces.values), 1))
    return ahead if ahead <= MOST_AHEAD and m >= 2 * ahead else 0


def _is_target(loss: str, target: FloatArray) -> bool:
    """Whether a loss can have such a target: numbers, or two classes."""
    if loss == "logistic":
        return bool(np.all((target == 0) | (target == 1))) and 0 < target.sum() < len(target)
    return len(target) > 0 and bool(np.all(np.isfinite(target)))
