"""Features that enter a regression one after another, by least angles or with a full regression each time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from streamsieve._threads import answering
from streamsieve.offline.shared.ranking import first_best
from streamsieve.offline.shared.standardized import StandardFeatures
from streamsieve.protocols import BoolArray, FloatArray, IntArray

#: A share below this is rounding.
ROUNDING = 1e-10


class Inside:
    """The features inside a regression, as an orthonormal basis of what they span."""

    def __init__(self, features: StandardFeatures) -> None:
        self._features = features
        self.order: list[int] = []
        self._basis = np.zeros((features.n, 0))
        # the share of a feature's variance that is no combination of those inside
        self._own = features.varies.astype(np.float64)

    @property
    def free(self) -> BoolArray:
        """Which features may enter: those that no combination of the features inside repeats."""
        return np.asarray(self._own > ROUNDING)

    def enter(self, j: int) -> None:
        """Let a feature in."""
        x = self._features.column(j)
        for _ in range(2):  # the second time takes out what rounding left
            x = x - self._basis @ (self._basis.T @ x)
        x /= np.sqrt(x @ x)
        self._basis = np.column_stack([self._basis, x])
        self._own -= self._features.products(x) ** 2
        self._own[j] = 0.0
        self.order.append(j)

    def leave(self, j: int) -> None:
        """Let a feature out; the others enter again, as rarely as this happens."""
        others = Inside(self._features)
        for i in self.order:
            if i != j:
                others.enter(i)
        self.__dict__.update(vars(others))

    def regression(self, responses: FloatArray) -> FloatArray:
        """Return what a regression on the features inside makes of responses."""
        return np.asarray(self._basis @ (self._basis.T @ responses))

    def coefficients(self, fitted: FloatArray) -> FloatArray:
        """Return the coefficients of the features inside that make one fit, which they span."""
        columns = self._features.columns(np.array(self.order, np.int64))
        return np.asarray(answering(lambda: np.linalg.lstsq(columns, fitted))[0])


class Path(NamedTuple):
    """Features in the order they entered, and the share that each and those before it explain."""

    order: IntArray
    explained: FloatArray
    #: By "lars": what is fitted where the next feature would enter, or where nothing is left to fit.
    fitted: FloatArray
    inside: Inside


def entering(features: StandardFeatures, responses: FloatArray, wanted: int, *, by_lars: bool) -> Path:
    """Let features enter a regression on all responses, one after another."""
    size = float(np.linalg.norm(responses))
    fitted, best = np.zeros_like(responses), np.zeros_like(responses)
    inside = Inside(features)
    explained: list[float] = []
    while len(inside.order) < wanted and np.any(inside.free):
        pulls = features.products(responses - fitted)
        if inside.order and by_lars:
            way = ways(features, pulls, best - fitted, inside)
            at = first_best(-way, 1.0)
            if way[at] >= 1.0 - ROUNDING:
                break  # those inside explain all that any feature can
            fitted = fitted + way[at] * (best - fitted)
        else:
            pull = np.where(inside.free, np.linalg.norm(pulls, axis=1), -1.0)
            at = first_best(pull, size)
            if pull[at] <= ROUNDING * size:
                break
        inside.enter(at)
        best = inside.regression(responses)
        if not by_lars:
            fitted = best
        explained.append((float(np.linalg.norm(best)) / size) ** 2)
    if inside.order and by_lars:
        way = ways(features, features.products(responses - fitted), best - fitted, inside)
        fitted = fitted + way.min() * (best - fitted)
    return Path(np.array(inside.order, np.int64), np.array(explained), fitted, inside)


def ways(features: StandardFeatures, pulls: FloatArray, ahead: FloatArray, inside: Inside) -> FloatArray:
    """Return how far to go ahead until each feature pulls as much as those inside, as a share of the way.

    It is 1, the whole way to the regression on those inside, for features that may not enter.
    """
    # the same for all of them, but for rounding
    pull = float(np.linalg.norm(pulls[inside.order], axis=1).mean())
    return np.where(inside.free, caught_up(pulls, features.products(ahead), pull), 1.0)


def caught_up(pulls: FloatArray, towards: FloatArray, inside: float) -> FloatArray:
    """Return which part of the way to the regression to go until each feature pulls as much as those inside.

    After the part g a feature pulls ``|pull - g towards|`` and those inside ``(1 - g) inside``: an equation
    of second degree, ``a g^2 - 2 b g + c = 0``.  It holds between 0, where no feature outside pulls more,
    and 1, where those inside pull nothing; the smaller root there counts.
    """
    a = np.einsum("ij,ij->i", towards, towards) - inside**2
    b = np.einsum("ij,ij->i", pulls, towards) - inside**2
    c = np.einsum("ij,ij->i", pulls, pulls) - inside**2
    root = np.sqrt(np.maximum(b**2 - a * c, 0.0))
    q = np.where(b < 0, b - root, b + root)  # a sum, whatever the signs: a difference would lose digits
    way = np.ones(len(a))
    with np.errstate(divide="ignore", invalid="ignore"):
        for g in (q / a, c / q):
            way = np.where((g >= 0.0) & (g < way), g, way)
    return np.where(c > -ROUNDING * inside**2, 0.0, way)
