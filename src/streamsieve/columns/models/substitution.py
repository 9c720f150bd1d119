"""A linear or logistic model of at most k columns, in which a newcomer may replace the weakest one."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from streamsieve._kernels import substitution
from streamsieve._values import refuse_non_finite
from streamsieve.columns.models.threads import in_order
from streamsieve.decisions import CONSTANT, IRRELEVANT, KEPT, OUTSCORED, Eviction, Outcome
from streamsieve.dependence.blocks import ColumnSlices, column_slices
from streamsieve.dependence.target import standardized_target
from streamsieve.exceptions import ParameterError
from streamsieve.protocols import ColumnBlock, FloatArray, IntArray, Matrix, Reason
from streamsieve.state import Array, Bool, Choice, Float, Int, Part

LOSSES = ("squared", "logistic")
#: Initial capacity for columns.
FIRST_COLUMNS = 64
#: Coefficients and steps below this count as 0; the target has unit variance.
NEGLIGIBLE = 1e-9
#: Values that a thread measures between two commits; with fewer, waking a thread costs more than it saves.
PIECE = 2**19
#: Unchecked columns with a larger sum of squares are checked for values that are too large or not finite.
#: Well below the limit, because two such numbers may be added.
SUSPICIOUS = 1e190
#: Maximum number of columns that a thread measures between two commits, as they see an outdated residual.
MOST_AHEAD = 8


class SubstitutionConfig(NamedTuple):
    """Size of a model, and how its coefficients move."""

    #: Most columns in the model.
    budget: int
    #: Number of arrivals between two rounds of steps.
    refresh: int
    #: Length of a step, as a fraction of the way to the minimum.
    step: float


class BlockConfig(NamedTuple):
    """Options for measuring and comparing the columns of a block."""

    #: Columns that a thread measures between two commits; 0 for a single thread, column by column.
    ahead: int
    n_threads: int
    #: Sum of squares from which on the values of a column have to be checked.
    limit: float
    #: Whether the model may have to be rolled back.
    careful: bool


class SubstitutionModel(Part):
    """A model of at most ``budget`` columns, whose coefficients take a step toward the minimum periodically.

    Inside, columns have mean 0 and variance 1, and so has a numeric target.
    """

    fields = {
        "loss": Choice(*LOSSES),
        "budget": Int(1, 2**31 - 1),
        "refresh": Int(1, 2**34),
        "step": Float(0, 1, open_low=True),
        "target": Array("f8", "rows", finite=True),
        "center": Float(),
        "unit": Float(0, open_low=True),
        "level": Array("f8", 2, finite=True),
        "arrivals": Int(0),
        "resting": Bool(),
        "features": Array("i8", "columns", low=0, unique=True),
        "columns": Array("f8", "columns", "rows", low=-(2**16), high=2**16, copy=False),  # unit variance
        "theta": Array("f8", "columns", finite=True),
        "mean": Array("f8", "columns", finite=True),
        "deviation": Array("f8", "columns", low=5e-324, finite=True),
        "predictor": Array("f8", "rows", finite=True, optional=True),  # logistic loss only
        "residual": Array("f8", "rows", finite=True),
    }

    def __init__(self, loss: str, y: FloatArray, config: SubstitutionConfig) -> None:
        center, unit, level = 0.0, 1.0, 0.0
        target = np.array(y, np.float64)
        if loss == "squared":
            center, unit, target = standardized_target(y)
        else:
            level = math.log(y.mean()) - math.log1p(-y.mean())
        self._bind(loss, target, (center, unit), config)
        self._level[0] = level
        if loss == "squared":
            self._residual = target.copy()
        else:
            self._predictor[:] = level
            self._residual = target - y.mean()

    def _bind(
        self, loss: str, target: FloatArray, units: tuple[float, float], config: SubstitutionConfig
    ) -> None:
        self.loss, self.config = loss, config
        self._code = LOSSES.index(loss)
        self._target = target
        self._center, self._unit = units
        self.n = len(target)
        self._predictor = np.zeros(self.n if loss == "logistic" else 0)
        #: Intercept, and mean of the residual.
        self._level = np.zeros(2)
        #: Columns in the model, arrivals since the last round of steps, whether that round moved nothing,
        #: free rows of the store, and rows that become free at the end of the block.
        self._counts = np.zeros(5, np.int64)
        places = min(config.budget, FIRST_COLUMNS)
        self._theta, self._feature = np.zeros(places), np.zeros(places, np.int64)
        #: Mean and standard deviation of every column.
        self._facts = np.zeros((places, 2))
        #: Columns as rows, in any order; the operating system allocates pages of zeros on first use.
        self._store = np.zeros((0, self.n))
        self._where = np.zeros(places, np.int64)
        self._free = np.zeros(0, np.int64)

    @property
    def size(self) -> int:
        """Number of columns in the model."""
        return int(self._counts[0])

    @property
    def features(self) -> IntArray:
        """Arrival numbers of the columns in the model, in order."""
        return np.sort(self._feature[: self.size])

    def coefficients(self, n_features: int) -> FloatArray:
        """Return one coefficient per column, in the units of the data."""
        coefficients = np.zeros(n_features)
        coefficients[self._feature[: self.size]] = self._in_units()
        return coefficients

    def intercept(self) -> float:
        """Return the intercept, in the units of the target."""
        level = self._center + self._unit * self._level[0]
        return float(level - self._in_units() @ self._facts[: self.size, 0])

    def _in_units(self) -> FloatArray:
        return self._theta[: self.size] * self._unit / self._facts[: self.size, 1]

    def offer_one(self, x: FloatArray) -> None:
        """Return None: single columns need `offer`, as each of them moves the coefficients."""

    def offer(self, block: ColumnBlock, start: int, n_threads: int = 1, *, checked: bool = True) -> Outcome:
        """Decide on a block whose first column has arrival number ``start``.

        Columns that are already in the model are skipped.  Unless ``checked``, bad values raise
        ``BadValueError``, and nothing has changed then.
        """
        outcome = self._decide(block.X, start, n_threads, math.inf if checked else SUSPICIOUS)
        if outcome is None:
            refuse_non_finite(block.X, block.names)
            return self.offer(block, start, n_threads)
        return outcome

    def _decide(self, X: Matrix, start: int, n_threads: int, limit: float) -> Outcome | None:
        """Decide on a block; return None, without any change, if a sum of squares reaches the limit."""
        m = X.shape[1]
        slices = column_slices(X)
        ahead = _ahead(slices) if n_threads > 1 else 0
        # threads may be interrupted, and unchecked values refused: then the model is rolled back
        config = BlockConfig(ahead, n_threads, limit, careful=ahead > 0 or limit < math.inf)
        before = [array.copy() for array in self._changing()] if config.careful else []
        spare = min(self.config.budget, m) if config.careful else 0
        self._reserve(min(self.config.budget, self.size + m), spare + 1)
        facts, evicted, was = np.empty((m, 4)), np.empty(m, np.int64), np.empty(m)
        done = 0
        try:
            done = self._weigh(slices, facts, start, (evicted, was), config)
        finally:
            if done < m and config.careful:  # the rows of the model's columns were not overwritten
                for now, then in zip(self._changing(), before, strict=True):
                    now[: len(then)] = then
                self._all_but_used_are_free()
        if done < m:
            return None
        statistic = facts[:, 2].copy()  # a copy, so that the ledger does not hold the whole array
        reason = np.where(np.abs(statistic) > NEGLIGIBLE, OUTSCORED, IRRELEVANT).astype(np.uint8)
        reason[facts[:, 1] == 0] = CONSTANT
        reason[evicted > -2] = KEPT
        evictions = [
            Eviction(start + j, int(evicted[j]), Reason.OUTSCORED, float(was[j]), math.nan, (start + j,))
            for j in np.flatnonzero(evicted >= 0).tolist()
        ]
        return Outcome(reason, statistic, evictions=evictions, start=start)

    def _weigh(
        self, slices: ColumnSlices, facts: FloatArray, start: int, outcome: tuple[IntArray, FloatArray],
        config: BlockConfig,
    ) -> int:  # fmt: skip
        """Measure and compare columns, up to the first whose values must be checked; return their number."""
        m, ahead, limit = len(facts), config.ahead, config.limit
        # rows that hold a column of the model must not be overwritten if it may have to be rolled back
        fresh = np.full(len(self._store), not config.careful)
        later = np.empty(len(self._store), np.int64)
        model = (
            self._code, self._target, self._predictor, self._residual, self._level,
            self._store, self._where, fresh, self._free, later,
            self._theta, self._feature, self._facts, self._counts, *self.config, NEGLIGIBLE,
        )  # fmt: skip
        if not ahead:
            done = int(substitution.substitute(*slices, facts, start, limit, *model, *outcome))
        else:
            done = m

            def measure(piece: int) -> None:
                low, high = piece * ahead, min((piece + 1) * ahead, m)
                substitution.measure(*slices, self._residual, self._level[1], low, high, limit, facts)

            def commit(piece: int) -> bool:
                nonlocal done
                low, high = piece * ahead, min((piece + 1) * ahead, m)
                reached = int(substitution.commit(*slices, facts, start, low, high, *model, *outcome))
                if reached < high:
                    done = reached
                return reached == high

            n_pieces = -(-m // ahead)
            in_order(n_pieces, measure, commit, min(config.n_threads, n_pieces))
        free, waiting = self._counts[3:]
        self._free[free : free + waiting] = later[:waiting]
        self._counts[3:] = free + waiting, 0
        return done

    def _changing(self) -> tuple[npt.NDArray[Any], ...]:
        """Return everything that a block may change, except the store."""
        return (
            self._predictor, self._residual, self._level, self._counts,
            self._theta, self._feature, self._facts, self._where,
        )  # fmt: skip

    def _all_but_used_are_free(self) -> None:
        free = np.setdiff1d(np.arange(len(self._store)), self._where[: self.size])
        self._free[: len(free)] = free
        self._counts[3:] = len(free), 0

    def _reserve(self, places: int, spare: int) -> None:
        """Allocate room for ``places`` columns, and ``spare`` more rows in the store."""
        while len(self._theta) < places:
            self._theta, self._feature, self._facts, self._where = (
                np.concatenate([a, np.zeros_like(a)])
                for a in (self._theta, self._feature, self._facts, self._where)
            )
        rows = len(self._store)
        if rows < places + spare:
            more = (
                max(places + spare, 2 * rows)
                if rows
                else max(places + spare, min(self.config.budget, FIRST_COLUMNS))
            )
            store = np.zeros((more, self.n))
            store[:rows] = self._store
            self._store = store
            free = self._counts[3]
            self._free = np.concatenate([self._free[:free], np.arange(rows, more), np.zeros(rows, np.int64)])
            self._counts[3] = free + more - rows

    def _record(self) -> Mapping[str, Any]:
        q = self.size
        return {
            "loss": self.loss,
            **self.config._asdict(),
            "target": self._target,
            "center": self._center,
            "unit": self._unit,
            "level": self._level,
            "arrivals": int(self._counts[1]),
            "resting": bool(self._counts[2]),
            "features": self._feature[:q],
            "columns": self._store[self._where[:q]],
            "theta": self._theta[:q],
            "mean": self._facts[:q, 0],
            "deviation": self._facts[:q, 1],
            "predictor": self._predictor if self.loss == "logistic" else None,
            "residual": self._residual,
        }

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        loss, predictor = record["loss"], record["predictor"]
        if not _is_target(loss, record["target"]) or (predictor is None) is (loss == "logistic"):
            raise ParameterError(f"the target or predictor in the state is not valid for the loss {loss!r}")
        model = cls.__new__(cls)
        model._fill(record)  # noqa: SLF001 - its own class
        return model

    def _fill(self, record: dict[str, Any]) -> None:
        config = SubstitutionConfig(*(record[name] for name in SubstitutionConfig._fields))
        q, predictor = len(record["features"]), record["predictor"]
        self._bind(record["loss"], record["target"], (record["center"], record["unit"]), config)
        self._reserve(q, 1)
        self._store[:q], self._theta[:q] = record["columns"], record["theta"]
        self._facts[:q] = np.stack([record["mean"], record["deviation"]], axis=1)
        self._where[:q], self._feature[:q] = np.arange(q), record["features"]
        self._predictor = self._predictor if predictor is None else predictor
        self._residual, self._level = record["residual"], record["level"]
        self._counts[:3] = q, record["arrivals"], record["resting"]
        self._all_but_used_are_free()

    def _consistent(self) -> Iterator[str]:
        if self.size > self.config.budget:
            yield f"there are {self.size} columns, but at most {self.config.budget} are allowed"
        if self._counts[1] >= self.config.refresh:
            yield f"the last round of steps was {self._counts[1]} arrivals ago"


def _ahead(slices: ColumnSlices) -> int:
    """Return how many columns a thread measures at once; 0 if there is too little work for threads."""
    m = len(slices[0]) - 1
    ahead = -(-PIECE * m // max(len(slices[2]), 1))
    return ahead if ahead <= MOST_AHEAD and m >= 2 * ahead else 0


def _is_target(loss: str, target: FloatArray) -> bool:
    """Whether a target is valid for a loss: numbers, or two classes, 0 and 1."""
    if loss == "logistic":
        return bool(np.all((target == 0) | (target == 1))) and 0 < target.sum() < len(target)
    return len(target) > 0 and bool(np.all(np.isfinite(target)))
