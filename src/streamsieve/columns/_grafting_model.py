"""A model with an absolute penalty that columns join, and leave when their coefficients are 0."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from streamsieve._kernels import grafting
from streamsieve._kernels import screen as kernel
from streamsieve.columns._model_columns import Offered, Pieces, pieces_of, standardised
from streamsieve.decisions import REASON_CODE, Eviction
from streamsieve.dependence.blocks import column_products
from streamsieve.exceptions import StateError
from streamsieve.protocols import Arrays, FloatArray, IntArray, Reason
from streamsieve.state import expect, register

LOSSES = ("squared", "logistic", "multinomial")
#: Columns and unknowns that a model has room for at first.
FIRST = 16
#: The solver goes this much further than the tolerance, so that a copy of a column in the model, whose
#: gradient is the penalty, stays out.
MARGIN = 0.01
#: Gradients are sums over rows: what differs by less is rounding.  The target has unit size.
ROUNDING = 1e-11
MOST_STEPS = 200
#: Steps after which, if none of them has halved the distance to the minimum, no other will.
MOST_IN_VAIN = 30
#: Rounds over all unknowns before a walk, which costs as much.
ROUNDS = 10
#: So many times the accuracy of the solver is what the tolerance and rounding allow for: beyond, say so.
SHORT = 100.0
#: What a column is: kept, constant, or irrelevant.
CODES = tuple(REASON_CODE[reason] for reason in (Reason.RELEVANT, Reason.CONSTANT, Reason.IRRELEVANT))


#: In the place of columns that need not be looked at.
NOTHING = Pieces(np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(0))


class Penalty(NamedTuple):
    """What coefficients cost, and how exactly."""

    #: Of absolute values.
    lasso: float
    #: Of half the squares.
    ridge: float
    #: Whether coefficients count at unit variance of their columns; 0 or 1.
    standardise: float
    tol: float


@register
class GraftedModel:
    """A penalised model of some columns, at its minimum after every column that joins.

    Inside, columns have mean 0 and variance 1, and so has a numeric target; levels and coefficients are in
    these units.

    Parameters
    ----------
    loss : one of ``LOSSES``
    y : the target, one number a row, or for more than two classes one of 0, 1, ...
    penalty : what coefficients cost
    """

    def __init__(self, loss: str, y: FloatArray, penalty: Penalty) -> None:
        centre, unit = 0.0, 1.0
        if loss == "squared":
            centre, unit, numbers = standardised(y)
            target = numbers[None]
        elif loss == "logistic":
            target = np.array(y[None], np.float64)
        else:
            target = (np.arange(int(y.max()) + 1)[:, None] == y).astype(np.float64)
        self._bind(loss, target, (centre, unit), penalty)
        if loss != "squared":
            share = target.mean(axis=1)
            against = 1 - share if loss == "logistic" else share[-1]
            free = self._intercepts
            self._value[:free] = (np.log(share) - np.log(against))[:free]
        self._respond()
        #: Chances for which the curvature was made.
        self._reference = self._chance.copy()

    def _bind(self, loss: str, target: FloatArray, units: tuple[float, float], penalty: Penalty) -> None:
        self.loss, self.penalty = loss, penalty
        self._code = LOSSES.index(loss)
        self._target = target
        self._centre, self._unit = units
        #: What the kernel asks for: prices in the units inside, and how exactly.
        self._prices = (
            penalty.lasso / self._unit, float(penalty.ridge), 0.0 if penalty.standardise else 1.0,
            penalty.tol, 10 * ROUNDING,
        )  # fmt: skip
        classes, self.n = target.shape
        #: Unknowns of the constant column; the last of several classes has none, as only differences count.
        self._intercepts = max(1, classes - 1)
        # the first column is constant and costs nothing
        self._columns = np.ones((FIRST, self.n))
        #: Of every column: level and ridge, mean and deviation.
        self._facts = np.zeros((FIRST, 4))
        self._facts[0, 3] = 1.0
        self._feature = np.full(FIRST, -1)
        self._size = 1
        #: Unknowns: their column, class and value, and their curvature, which is known of the first few.
        room = max(FIRST, 2 * self._intercepts)
        self._owner, self._class = np.zeros(room, np.int64), np.arange(room)
        self._value = np.zeros(room)
        self._curvature = np.zeros((room, room))
        self._many, self._built = self._intercepts, 0
        #: Whether some fit did not get to its minimum; to be set back by whoever says so.
        self.fell_short = False

    def _respond(self) -> None:
        """Fill in the linear predictor, the chances of every class, and the residual."""
        self._predictor, self._chance = np.zeros_like(self._target), np.zeros_like(self._target)
        self.residual = np.empty_like(self._target)
        for e in range(self._many):
            self._predictor[self._class[e]] += self._value[e] * self._columns[self._owner[e]]
        self._loss = grafting.respond(
            self._code, self._target, self._predictor, self._chance, self.residual
        )  # fmt: skip

    # ---------------------------------------------------------------- what is in it

    @property
    def features(self) -> IntArray:
        """Arrival numbers of the columns in the model, in order."""
        return np.sort(self._feature[1 : self._size])

    def coefficients(self, n_features: int) -> FloatArray:
        """Return one row a class, one number a column, in the units of the columns and the target."""
        coefficients = np.zeros((len(self._target), n_features))
        owner, class_of, size = self._in_units()
        coefficients[class_of, self._feature[owner]] = size
        return coefficients

    def intercepts(self) -> FloatArray:
        """Return one number a class, summing to 0 where only differences between classes count."""
        out = np.full(len(self._target), self._centre)
        out[: self._intercepts] += self._value[: self._intercepts] * self._unit
        owner, class_of, size = self._in_units()
        np.subtract.at(out, class_of, size * self._facts[owner, 2])
        return out - out.mean() if self.loss == "multinomial" else out

    def _in_units(self) -> tuple[IntArray, IntArray, FloatArray]:
        """Return column, class and value of all unknowns but the intercepts, in the units of the data."""
        part = slice(self._intercepts, self._many)
        owner = self._owner[part]
        return owner, self._class[part], self._value[part] * self._unit / self._facts[owner, 3]

    # ---------------------------------------------------------------- columns that come

    def offer(self, X: Any, start: int) -> Offered:
        """Judge the columns of a block in order, the first of which has arrival number ``start``.

        Those that are in the model already stay there, and are passed over.
        """
        m = X.shape[1]
        # the whole block in one product, which holds as long as nothing joins
        mean, ss, statistic = column_products(X, self.residual[0])
        reason = np.empty(m, np.uint8)
        known = len(self._target) == 1
        pieces = NOTHING if known else pieces_of(X)
        evictions: list[Eviction] = []
        j = self._search(pieces, mean, ss, start, 0, known, reason, statistic)
        while j < m:
            pieces = pieces_of(X) if pieces is NOTHING else pieces
            gone = self._join(pieces, j, mean[j], ss[j], start + j)
            if start + j in gone:
                reason[j] = CODES[2]
            evictions += [
                Eviction(start + j, feature, Reason.REDUNDANT, gradient, math.nan, (start + j,))
                for feature, gradient in gone.items()
                if feature != start + j
            ]
            j = self._search(pieces, mean, ss, start, j + 1, False, reason, statistic)  # noqa: FBT003 - a kernel
        return Offered(reason, statistic, evictions)

    def _search(
        self, pieces: Pieces, mean: FloatArray, ss: FloatArray, start: int, low: int, known: bool,  # noqa: FBT001
        reason: npt.NDArray[np.uint8], statistic: FloatArray,
    ) -> int:  # fmt: skip
        """Judge the columns from ``low`` on, up to the first that must join."""
        found: int = grafting.search(
            *pieces, mean, ss, start, low, known, self._prices, CODES, self._feature, self._size,
            self.residual, reason, statistic,
        )  # fmt: skip
        return found

    def _join(self, pieces: Pieces, j: int, mean: float, ss: float, feature: int) -> dict[int, float]:
        """Take a column in and fit; return the columns that leave, with the gradients along them."""
        q = self._size
        if q == len(self._feature):
            self._more_columns()
        grafting.put(*pieces, j, mean, ss, self._prices, self._columns[q], self._facts[q])
        self._feature[q] = feature
        self._size = q + 1
        excess = 0.0
        while self._admit():
            excess = self._settle()
        self.fell_short |= not excess <= SHORT
        return self._prune()

    def _settle(self) -> float:
        """Fit all unknowns anew, from where they are; return how far the minimum is.

        That is at most 1 if the solver is as exact as it should be, and more if numbers do not allow it.
        """
        work = np.empty((self._many + 5, self._many))
        owners = self._owner, self._class, self._value
        last, best, in_vain, damp = math.inf, math.inf, 0, 0.0
        for _ in range(MOST_STEPS):
            last, self._built = grafting.prepare(
                self._code, self._columns, self._facts, *owners, self._built, self._chance, self.residual,
                MARGIN * self.penalty.tol, ROUNDING, last, damp, self._reference, self._curvature, work,
            )  # fmt: skip
            in_vain += 1
            if last < 0.5 * best:
                best, in_vain = last, 0
            if last <= 1 or in_vain > MOST_IN_VAIN:
                break
            excess = _minimise(work)
            self._loss, falls = grafting.advance(
                self._code, self._target, self._columns, self._facts, *owners, work,
                self._loss, self._predictor, self._chance, self.residual,
            )  # fmt: skip
            if self._code == 0:  # the parabola is the loss
                if excess <= 1:
                    return excess
            # chances of 0 or 1 leave no curvature, and shares that depend on each other none in some
            # direction: then steps are too long, or cannot be told, and something must hold them back
            elif falls and excess <= 1:
                damp = 0.01 * damp if damp > 1e-8 else 0.0
            else:
                damp = max(1e-8, 100 * damp)
        return last

    def _admit(self) -> bool:
        """Let coefficients that are 0 and must not be become unknowns; return whether there are any."""
        q, many = self._size, self._many
        if len(self._target) == 1:  # every column has one, and only the last may be new
            if many == q:
                return False
            if many == len(self._value):
                self._more_unknowns()
            self._owner[many], self._class[many], self._value[many] = many, 0, 0.0
            self._many = q
            return True
        slope = np.abs(self._columns[1:q] @ self.residual.T) / self.n
        known = slice(self._intercepts, many)
        slope[self._owner[known] - 1, self._class[known]] = 0.0
        least = self._facts[1:q, :1] * (1 + MARGIN * self.penalty.tol) + ROUNDING
        owner, class_of = np.nonzero(slope > least)
        fresh = slice(many, many + len(owner))
        while len(self._value) < fresh.stop:
            self._more_unknowns()
        self._owner[fresh], self._class[fresh], self._value[fresh] = owner + 1, class_of, 0.0
        self._many = fresh.stop
        return len(owner) > 0

    def _prune(self) -> dict[int, float]:
        """Drop unknowns that are 0, and columns without; return these, with the gradients along them."""
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

    def too_flat(self, x: FloatArray) -> float | None:
        """Return the gradient along a single column if that plainly stays out, else None."""
        if len(self._target) > 1:
            return None
        ss, product = kernel.screen_one(x, self.residual[0])
        if not 0.0 < ss < math.inf:
            return None  # constant or not finite: somebody else says so
        scale = math.sqrt(ss / self.n)
        gradient = product / (self.n * scale)
        lasso, _, as_they_are, tol, rounding = self._prices
        level = lasso / scale if as_they_are else lasso
        return gradient if abs(gradient) <= level * (1 + tol) + rounding else None

    def _more_columns(self) -> None:
        """Make room for twice as many columns."""
        self._columns, self._facts, self._feature = (
            np.concatenate([a, np.empty_like(a)]) for a in (self._columns, self._facts, self._feature)
        )

    def _more_unknowns(self) -> None:
        """Make room for twice as many unknowns."""
        many = len(self._value)
        self._owner, self._class, self._value = (
            np.concatenate([a, np.empty_like(a)]) for a in (self._owner, self._class, self._value)
        )
        curvature = np.empty((2 * many, 2 * many))
        curvature[:many, :many] = self._curvature
        self._curvature = curvature

    # ---------------------------------------------------------------- state

    def state(self) -> Arrays:
        """Return the target, the columns, and what the model makes of them."""
        q, many = self._size, self._many
        return {
            "loss": np.array([self._code]),
            "penalty": np.array(self.penalty, np.float64),
            "target": self._target,
            "units": np.array([self._centre, self._unit]),
            "columns": self._columns[1:q],
            "facts": self._facts[1:q],
            "features": self._feature[1:q],
            "owner": self._owner[:many],
            "class": self._class[:many],
            "value": self._value[:many],
            "reference": self._reference,
        }

    @classmethod
    def from_state(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Rebuild."""
        code = int(expect(arrays, "loss", np.int64, (1,))[0])
        target = np.array(expect(arrays, "target", np.float64, (None, None)))
        units = expect(arrays, "units", np.float64, (2,)).tolist()
        penalty = expect(arrays, "penalty", np.float64, (4,)).tolist()
        if not 0 <= code < len(LOSSES) or not _is_target(LOSSES[code], target):
            raise StateError(f"the state's model has the loss {code} over a target that it cannot have")
        if not all(map(math.isfinite, (*units, *penalty))) or min(units[1], penalty[0]) <= 0:
            raise StateError(f"the state's model has a penalty of {penalty} and units of {units}")
        model = cls.__new__(cls)
        model._bind(LOSSES[code], target, (units[0], units[1]), Penalty(*penalty))  # noqa: SLF001 - its own
        model._fill(arrays)  # noqa: SLF001
        return model

    def _fill(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Take columns and unknowns from a state."""
        classes, n = self._target.shape
        features = expect(arrays, "features", np.int64, (None,))
        value = expect(arrays, "value", np.float64, (None,))
        q, many, free = len(features) + 1, len(value), self._intercepts
        columns = expect(arrays, "columns", np.float64, (q - 1, n))
        facts = expect(arrays, "facts", np.float64, (q - 1, 4))
        owner, class_of = (expect(arrays, name, np.int64, (many,)) for name in ("owner", "class"))
        reference = expect(arrays, "reference", np.float64, (classes, n))
        if not all(np.all(np.isfinite(a)) for a in (columns, facts, value)):
            raise StateError("the state's model holds numbers that are none")
        if np.any(facts[:, [0, 3]] <= 0) or np.any(facts[:, 1] < 0):
            raise StateError("the state's model has columns without a size or a price")
        if not np.all((reference >= 0) & (reference <= 1)):
            raise StateError("the state's model has chances beyond 0 and 1")
        if len(np.unique(features)) < q - 1 or np.any(features < 0):
            raise StateError("the state's model has a column twice, or one that never arrived")
        inside = np.all((owner >= 0) & (owner < q) & (class_of >= 0) & (class_of < classes))
        first = (
            many >= free and np.all(owner[:free] == 0) and np.array_equal(class_of[:free], np.arange(free))
        )
        apart = len(np.unique(owner * classes + class_of)) == many and len(np.unique(owner)) == q
        if not (inside and first and apart) or np.any(owner[free:] == 0) or np.any(value[free:] == 0):
            raise StateError("the state's model has coefficients and columns that do not belong together")
        while len(self._feature) < q:
            self._more_columns()
        while len(self._value) < many:
            self._more_unknowns()
        self._columns[1:q], self._facts[1:q], self._feature[1:q] = columns, facts, features
        self._owner[:many], self._class[:many], self._value[:many] = owner, class_of, value
        self._size, self._many = q, many
        self._reference = np.array(reference)
        self._respond()
        if not np.all(np.isfinite(self._predictor)):
            raise StateError("the state's model has columns and coefficients too large to multiply")


def _minimise(work: FloatArray) -> float:
    """Go to the minimum of a parabola: one unknown at a time, and all at once when that takes long.

    Done when every gradient is as exact as it must be, or when nothing but rounding is left.  Return how far
    the minimum is.
    """
    best, in_vain, excess = math.inf, 0, math.inf
    rounds = ROUNDS + work.shape[1] // 6
    while in_vain < 5:
        excess = grafting.descend(work, rounds)
        if excess <= 1:
            break
        in_vain += 1
        if excess < 0.5 * best:
            best, in_vain = excess, 0
        grafting.walk(work)
    return excess


def _is_target(loss: str, target: FloatArray) -> bool:
    """Whether a loss can have such a target: numbers, or for every row which class it is of."""
    classes, n = target.shape
    if loss == "squared":
        return bool(classes == 1 and n > 0 and np.all(np.isfinite(target)))
    labels = n > 0 and bool(np.all((target == 0) | (target == 1)))
    if loss == "logistic":
        return labels and classes == 1
    return labels and classes > 2 and bool(np.all(target.sum(axis=0) == 1))
