"""L1-penalized models that columns join while their gradient exceeds the penalty, and leave at 0.

Squared, logistic or multinomial loss; with an L2 penalty, an elastic net.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, Self

import numpy as np

from streamsieve._kernels import column_products as kernel
from streamsieve._kernels import grafting, grafting_columns
from streamsieve.columns.models.coordinate_descent import minimize
from streamsieve.columns.models.losses import LOSSES, LassoConfig, encoded_target, is_target
from streamsieve.decisions import CONSTANT, IRRELEVANT, KEPT, Eviction, Outcome
from streamsieve.dependence.blocks import ColumnSlices, column_products, column_slices
from streamsieve.exceptions import ParameterError
from streamsieve.protocols import ColumnBlock, FloatArray, IntArray, Reason
from streamsieve.state import Array, Bool, Choice, Float, Part

#: Initial capacity for columns and coefficients.
FIRST_COLUMNS = 16
#: Accuracy of the solver as a fraction of the tolerance, so that a copy of a column in the model, whose
#: gradient equals the penalty, stays out.
SOLVER_MARGIN = 0.01
#: Gradients are sums over rows: smaller differences are rounding.  The target has unit variance.
ROUNDING = 1e-11
MOST_STEPS = 200
#: Steps without halving the distance to the minimum after which the solver gives up.
MOST_IN_VAIN = 30
#: Largest distance to the minimum of a fit that has converged, as a multiple of the solver's accuracy, which
#: the tolerance and rounding allow for.
LARGEST_DISTANCE = 100.0
#: Tolerance between stored and recomputed values of a state.
STATE_TOLERANCE = 1e-6
#: Outcomes of a column: kept, constant, or irrelevant.
CODES = (KEPT, CONSTANT, IRRELEVANT)
#: Placeholder for columns whose values are not needed.
NO_COLUMNS = ColumnSlices(np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(0))
#: Smallest positive number.
SMALLEST = 5e-324
#: Constants of a column: its L1 and L2 penalty, mean and standard deviation.
FACTS = ("l1_of", "l2_of", "mean", "deviation")


class LassoModel(Part):
    """A penalized model of some columns, at its minimum after every column that joins.

    Inside, columns have mean 0 and variance 1, and so has a numeric target; penalties and coefficients are in
    these units.
    """

    fields = {
        "loss": Choice(*LOSSES),
        "l1": Float(0, open_low=True),
        "l2": Float(0),
        "standardize": Bool(),
        "tol": Float(1e-9, 0.1),
        "target": Array("f8", "outputs", "rows", finite=True),
        "center": Float(),
        "unit": Float(0, open_low=True),
        "intercept": Array("f8", "outputs", finite=True),
        "features": Array("i8", "columns", low=0, unique=True),
        "columns": Array("f8", "columns", "rows", low=-(2**16), high=2**16, copy=False),  # unit variance
        "l1_of": Array("f8", "columns", low=SMALLEST, finite=True),
        "l2_of": Array("f8", "columns", low=0, finite=True),
        "mean": Array("f8", "columns", finite=True),
        "deviation": Array("f8", "columns", low=SMALLEST, finite=True),
        "owner": Array("i8", "coefficients", below="columns"),
        "output": Array("i8", "coefficients", below="outputs"),
        "value": Array("f8", "coefficients", finite=True),
        "reference": Array("f8", "outputs", "rows", low=0, high=1),
        # derived from the fields above, but saved so that a resumed run has the same rounding errors
        "predictor": Array("f8", "outputs", "rows", finite=True),
        "probability": Array("f8", "outputs", "rows", low=0, high=1, optional=True),  # for classes only
        "residual": Array("f8", "outputs", "rows", finite=True),
        "mean_loss": Float(),
        "curvature": Array("f8", "built", "built", finite=True),
    }

    def __init__(self, loss: str, y: FloatArray, config: LassoConfig) -> None:
        target, units = encoded_target(loss, y)
        self._bind(loss, target, units, config)
        if loss != "squared":
            prior = target.mean(axis=1)
            against = 1 - prior if loss == "logistic" else prior[-1]
            free = self._intercepts
            self._value[:free] = (np.log(prior) - np.log(against))[:free]
        self._respond()
        #: Probabilities for which the curvature was computed.
        self._reference = self._probability.copy()

    def _bind(self, loss: str, target: FloatArray, units: tuple[float, float], config: LassoConfig) -> None:
        self.loss, self.config = loss, config
        self._code = LOSSES.index(loss)
        self._target = target
        self._center, self._unit = units
        #: Arguments of the kernel: penalties in internal units, whether columns are penalized in their own
        #: units, and tolerances.
        self._prices = (
            config.l1 / self._unit, float(config.l2), 0.0 if config.standardize else 1.0, config.tol,
            10 * ROUNDING,
        )  # fmt: skip
        outputs, self.n = target.shape
        #: Number of intercepts; the last of several classes has none, because only differences count.
        self._intercepts = max(1, outputs - 1)
        # column 0 is constant and not penalized
        self._columns = np.ones((FIRST_COLUMNS, self.n))
        #: ``FACTS`` of every column.
        self._facts = np.zeros((FIRST_COLUMNS, 4))
        self._facts[0, 3] = 1.0
        self._feature = np.full(FIRST_COLUMNS, -1)
        self._size = 1
        #: Coefficients: their column, class and value, and the curvature, known for the first ``_built``.
        room = max(FIRST_COLUMNS, 2 * self._intercepts)
        self._owner, self._class = np.zeros(room, np.int64), np.arange(room)
        self._value = np.zeros(room)
        self._curvature = np.zeros((room, room))
        self._many, self._built = self._intercepts, 0
        #: Whether every fit so far has reached its minimum; reset by the selector once it has warned.
        self.converged = True

    def _respond(self) -> None:
        """Compute the linear predictor, the probability of every class, and the residual."""
        self._predictor, self._probability = np.zeros_like(self._target), np.zeros_like(self._target)
        self.residual = np.empty_like(self._target)
        for e in range(self._many):
            self._predictor[self._class[e]] += self._value[e] * self._columns[self._owner[e]]
        self._loss = grafting.respond(
            self._code, self._target, self._predictor, self._probability, self.residual
        )  # fmt: skip

    @property
    def features(self) -> IntArray:
        """Arrival numbers of the columns in the model, in order."""
        return np.sort(self._feature[1 : self._size])

    def coefficients(self, n_features: int) -> FloatArray:
        """Return one row per class and one coefficient per column, in the units of the data."""
        coefficients = np.zeros((len(self._target), n_features))
        owner, class_of, size = self._in_units()
        coefficients[class_of, self._feature[owner]] = size
        return coefficients

    def intercepts(self) -> FloatArray:
        """Return one number per class; for several classes they sum to 0, because only differences count."""
        out = np.full(len(self._target), self._center)
        out[: self._intercepts] += self._value[: self._intercepts] * self._unit
        owner, class_of, size = self._in_units()
        np.subtract.at(out, class_of, size * self._facts[owner, 2])
        return out - out.mean() if self.loss == "multinomial" else out

    def _in_units(self) -> tuple[IntArray, IntArray, FloatArray]:
        """Return column, class and value of all penalized coefficients, in the units of the data."""
        part = slice(self._intercepts, self._many)
        owner = self._owner[part]
        return owner, self._class[part], self._value[part] * self._unit / self._facts[owner, 3]

    def offer(self, block: ColumnBlock, start: int) -> Outcome:
        """Decide on a block whose first column has arrival number ``start``.

        Columns that are in the model already stay there, and are skipped.
        """
        X = block.X
        m = X.shape[1]
        # one product for the whole block, which is valid until a column joins
        mean, ss, statistic = column_products(X, self.residual[0])
        reason = np.empty(m, np.uint8)
        known = len(self._target) == 1
        slices = NO_COLUMNS if known else column_slices(X)
        evictions: list[Eviction] = []

        def search(low: int, *, known: bool) -> int:
            """Evaluate the columns from ``low`` on, up to the first that joins."""
            found: int = grafting_columns.search(
                *slices, mean, ss, start, low, known, self._prices, CODES, self._feature, self._size,
                self.residual, reason, statistic,
            )  # fmt: skip
            return found

        j = search(0, known=known)
        while j < m:
            slices = column_slices(X) if slices is NO_COLUMNS else slices
            gone = self._join(slices, j, mean[j], ss[j], start + j)
            if start + j in gone:
                reason[j] = IRRELEVANT
            evictions += [
                Eviction(start + j, feature, Reason.REDUNDANT, gradient, math.nan, (start + j,))
                for feature, gradient in gone.items()
                if feature != start + j
            ]
            j = search(j + 1, known=False)
        return Outcome(reason, statistic, evictions=evictions, start=start)

    def offer_one(self, x: FloatArray) -> tuple[Reason, float, float] | None:
        """Reject a single column, as (reason, statistic, p-value), or return None to leave it to `offer`."""
        if len(self._target) > 1:
            return None
        ss, product = kernel.one_column(x, self.residual[0])
        if not 0.0 < ss < math.inf:
            return None  # constant or not finite: `offer` finds out which
        scale = math.sqrt(ss / self.n)
        gradient = product / (self.n * scale)
        l1, _, as_they_are, tol, rounding = self._prices
        level = l1 / scale if as_they_are else l1
        flat = abs(gradient) <= level * (1 + tol) + rounding
        return (Reason.IRRELEVANT, gradient, math.nan) if flat else None

    def _join(self, slices: ColumnSlices, j: int, mean: float, ss: float, feature: int) -> dict[int, float]:
        """Add a column and refit; return the columns that leave, with the gradients along them."""
        q = self._size
        if q == len(self._feature):
            self._more_columns()
        grafting_columns.put(*slices, j, mean, ss, self._prices, self._columns[q], self._facts[q])
        self._feature[q] = feature
        self._size = q + 1
        excess = 0.0
        while self._admit():
            excess = self._fit()
        self.converged &= excess <= LARGEST_DISTANCE
        return self._prune()

    def _fit(self) -> float:
        """Refit all coefficients from their present values; return the distance to the minimum.

        It is at most 1 if the required accuracy was reached, and larger if rounding prevented it.
        """
        work = np.empty((self._many + 5, self._many))
        owners = self._owner, self._class, self._value
        last, best, in_vain, damp = math.inf, math.inf, 0, 0.0
        for _ in range(MOST_STEPS):
            last, self._built = grafting.prepare(
                self._code, self._columns, self._facts, *owners, self._built, self._probability,
                self.residual, SOLVER_MARGIN * self.config.tol, ROUNDING, last, damp, self._reference,
                self._curvature, work,
            )  # fmt: skip
            in_vain += 1
            if last < 0.5 * best:
                best, in_vain = last, 0
            if last <= 1 or in_vain > MOST_IN_VAIN:
                break
            excess = minimize(work)
            self._loss, falls = grafting.advance(
                self._code, self._target, self._columns, self._facts, *owners, work,
                self._loss, self._predictor, self._probability, self.residual,
            )  # fmt: skip
            if self._code == 0:  # the quadratic approximation is the loss itself
                if excess <= 1:
                    return excess
            # probabilities of 0 or 1 leave no curvature, and collinear columns none in some direction: steps
            # are then too long or undefined, and need damping
            elif falls and excess <= 1:
                damp = 0.01 * damp if damp > 1e-8 else 0.0
            else:
                damp = max(1e-8, 100 * damp)
        return last

    def _admit(self) -> bool:
        """Add the coefficients that should leave 0; return whether there are any."""
        q, many = self._size, self._many
        if len(self._target) == 1:  # every column has one coefficient, and only the last may be new
            if many == q:
                return False
            if many == len(self._value):
                self._more_coefficients()
            self._owner[many], self._class[many], self._value[many] = many, 0, 0.0
            self._many = q
            return True
        slope = np.abs(self._columns[1:q] @ self.residual.T) / self.n
        known = slice(self._intercepts, many)
        slope[self._owner[known] - 1, self._class[known]] = 0.0
        least = self._facts[1:q, :1] * (1 + SOLVER_MARGIN * self.config.tol) + ROUNDING
        owner, class_of = np.nonzero(slope > least)
        fresh = slice(many, many + len(owner))
        while len(self._value) < fresh.stop:
            self._more_coefficients()
        self._owner[fresh], self._class[fresh], self._value[fresh] = owner + 1, class_of, 0.0
        self._many = fresh.stop
        return len(owner) > 0

    def _prune(self) -> dict[int, float]:
        """Drop coefficients that are 0, and columns without any; return these with their gradients."""
        complete = self._built == self._many
        gone, gradient = np.empty(self._size, np.int64), np.empty(self._size)
        self._size, self._many, dropped = grafting.prune(
            self._columns, self.residual, self._facts, self._feature, self._size,
            self._owner, self._class, self._value, self._many, self._intercepts, self._curvature,
            gone, gradient,
        )  # fmt: skip
        self._built = self._many if complete else 0
        if not dropped:
            return {}
        return dict(sorted(zip(gone[:dropped].tolist(), gradient[:dropped].tolist(), strict=True)))

    def _more_columns(self) -> None:
        """Double the capacity for columns."""
        self._columns, self._facts, self._feature = (
            np.concatenate([a, np.empty_like(a)]) for a in (self._columns, self._facts, self._feature)
        )

    def _more_coefficients(self) -> None:
        """Double the capacity for coefficients."""
        many = len(self._value)
        self._owner, self._class, self._value = (
            np.concatenate([a, np.empty_like(a)]) for a in (self._owner, self._class, self._value)
        )
        curvature = np.empty((2 * many, 2 * many))
        curvature[:many, :many] = self._curvature
        self._curvature = curvature

    def _record(self) -> Mapping[str, Any]:
        kept, part = slice(1, self._size), slice(self._intercepts, self._many)
        intercept = np.zeros(len(self._target))
        intercept[: self._intercepts] = self._value[: self._intercepts]
        return {
            "loss": self.loss,
            **self.config._asdict(),
            "target": self._target,
            "center": self._center,
            "unit": self._unit,
            "intercept": intercept,
            "features": self._feature[kept],
            "columns": self._columns[kept],
            **dict(zip(FACTS, self._facts[kept].T, strict=True)),
            "owner": self._owner[part] - 1,
            "output": self._class[part],
            "value": self._value[part],
            "reference": self._reference,
            "predictor": self._predictor,
            "probability": None if self.loss == "squared" else self._probability,
            "residual": self.residual,
            "mean_loss": self._loss,
            "curvature": self._curvature[: self._built, : self._built],
        }

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        if not is_target(record["loss"], record["target"]):
            raise ParameterError(f"the target in the state is not valid for the loss {record['loss']!r}")
        model = cls.__new__(cls)
        model._fill(record)  # noqa: SLF001 - its own class
        return model

    def _fill(self, record: dict[str, Any]) -> None:
        config = LassoConfig(*(record[name] for name in LassoConfig._fields))
        self._bind(record["loss"], record["target"], (record["center"], record["unit"]), config)
        free = self._intercepts
        q, many = 1 + len(record["features"]), free + len(record["value"])
        while len(self._feature) < q:
            self._more_columns()
        while len(self._value) < many:
            self._more_coefficients()
        self._columns[1:q], self._feature[1:q] = record["columns"], record["features"]
        self._facts[1:q] = np.stack([record[name] for name in FACTS], axis=1)
        self._value[:free] = record["intercept"][:free]
        self._owner[:free], self._owner[free:many] = 0, record["owner"] + 1
        self._class[:free], self._class[free:many] = np.arange(free), record["output"]
        self._value[free:many] = record["value"]
        self._size, self._many = q, many
        self._reference = record["reference"]
        self._predictor, self._probability = record["predictor"], record["probability"]
        self.residual, self._loss = record["residual"], record["mean_loss"]
        self._built = min(len(record["curvature"]), many)
        self._curvature[: self._built, : self._built] = record["curvature"][: self._built, : self._built]

    def _consistent(self) -> Iterator[str]:
        part = slice(self._intercepts, self._many)
        owner, value = self._owner[part], self._value[part]
        pairs = owner * len(self._target) + self._class[part]
        every = len(np.unique(owner)) == self._size - 1
        if not every or len(np.unique(pairs)) < len(pairs) or np.any(value == 0):
            yield "coefficients and columns do not belong together"
            return
        stored = self._predictor, self._probability, self.residual, self._loss
        with np.errstate(over="ignore", invalid="ignore"):
            self._respond()
        computed = self._predictor, self._probability, self.residual, self._loss
        if not np.all(np.isfinite(self._predictor)):
            yield "columns and coefficients are too large to multiply"
        # classes have probabilities, numbers have none
        elif (stored[1] is None) is not (self.loss == "squared") or not all(
            value is None or np.allclose(value, again, rtol=STATE_TOLERANCE, atol=STATE_TOLERANCE)
            for value, again in zip(stored, computed, strict=True)
        ):
            yield "predictions and residuals are not what the coefficients give"
        self._predictor, self.residual, self._loss = stored[0], stored[2], stored[3]
        self._probability = computed[1] if stored[1] is None else stored[1]
