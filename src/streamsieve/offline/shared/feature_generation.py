"""Feature generating machines: groups of features are added as long as one violates the optimum.

The problem is a support vector machine with squared hinge loss over features that are weighed by d, each
from 0 to 1 and B in all, so that the loss is least.  Its optimum is a mixture of few groups of B features.
Each round adds the group that the present optimum violates most, and solves the mixture::

    minimize  1/2 (sum over groups t of |w_t|)^2 + C/2 sum over rows of max(0, 1 - y f)^2,   f = sum Z_t w_t
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning

from streamsieve._caller import warn
from streamsieve._threads import answering
from streamsieve.offline.shared.ranking import best_first
from streamsieve.offline.shared.standardized import StandardFeatures
from streamsieve.protocols import FloatArray, IntArray

#: The mixture is solved when its gap is this share of its value ...
GAP = 1e-6
#: ... or after this number of steps.
MOST_STEPS = 10_000


class Machine:
    """The groups so far, of ``group`` features each, and the optimum of their mixture."""

    def __init__(self, features: StandardFeatures, y: npt.NDArray[Any], group: int, C: float) -> None:
        self._features, self._group, self._C = features, group, float(C) / features.n
        self._sign = np.where(y == np.unique(y)[1], 1.0, -1.0)
        self._usable = np.flatnonzero(features.varies)
        self._root = np.sqrt(features.n)  # columns of variance 1, not of length 1
        self._columns = np.zeros((features.n, 0))
        self._weights = np.zeros(0)
        self._groups: list[IntArray] = []
        self._alpha, self._bound = np.full(features.n, 1.0 / features.n), 0.0

    def violating(self) -> tuple[IntArray, float]:
        """Return the group that violates the optimum most, and by which factor."""
        strength = (self._root * self._features.products(self._alpha * self._sign)[self._usable]) ** 2
        top = best_first(strength, self._group)
        new, size = self._usable[top], float(np.sqrt(strength[top].sum()))
        if size == 0.0 or any(np.array_equal(np.sort(new), np.sort(old)) for old in self._groups):
            return new, 1.0  # no gradient, or none outside the groups
        return new, size / self._bound if self._bound > 0 else np.inf

    def add(self, new: IntArray) -> None:
        """Add a group, and solve the mixture again from the current solution."""
        self._groups.append(new)
        self._columns = np.column_stack([self._columns, self._root * self._features.columns(new)])
        start = np.concatenate([self._weights, np.zeros(len(new))])
        sizes = np.array([len(group) for group in self._groups])
        rows = self._columns * self._sign[:, None]
        self._weights, self._alpha, self._bound, gap = mixture(rows, sizes, self._C, start)
        if gap > 1e3 * GAP:
            warn(
                f"a mixture of {len(sizes)} groups is not solved after {MOST_STEPS:,} steps (gap {gap:.2g}): "
                "use a smaller C",
                ConvergenceWarning,
            )  # fmt: skip

    def in_order(self) -> IntArray:
        """Return all features of the groups, each once."""
        return np.array(list(dict.fromkeys(j for group in self._groups for j in group.tolist())), np.int64)


def generate(machine: Machine, *, tol: float, rounds: int, wanted: int) -> tuple[IntArray, int]:
    """Add groups until none violates the optimum by more than ``tol``, or enough features are in.

    Returns the features in the order in which their groups came, and the number of groups.
    """
    for done in range(rounds):
        new, violation = machine.violating()
        order = machine.in_order()
        if violation <= 1 + tol or len(order) >= wanted:
            return order[:wanted], done
        machine.add(new)
    order, (_, violation) = machine.in_order(), machine.violating()
    if violation > 1 + tol and len(order) < wanted:
        warn(
            f"after {rounds} groups another one violates the optimum by the factor {violation:.3g}: use a "
            "larger max_rounds, or a larger tol",
            ConvergenceWarning,
        )  # fmt: skip
    return order[:wanted], rounds


def mixture(
    rows: FloatArray, sizes: IntArray, C: float, start: FloatArray
) -> tuple[FloatArray, FloatArray, float, float]:
    """Solve the mixture of groups by accelerated proximal steps.

    ``rows`` are the groups' columns side by side, each row times its label.  Returns the weights, what every
    row pulls, the bound that no group must exceed, and the gap that is left, as a share of the optimum.
    """
    group = np.repeat(np.arange(len(sizes)), sizes)
    largest = float(answering(lambda: np.linalg.norm(rows, 2)))  # by a singular value decomposition
    step = 1.0 / max(C * largest**2, np.finfo(float).tiny)
    w, ahead, momentum = start, start, 1.0
    for count in range(MOST_STEPS):
        if count % 10 == 0:
            alpha = C * np.maximum(1.0 - rows @ w, 0.0)
            pulls = np.sqrt(np.bincount(group, (rows.T @ alpha) ** 2))
            value = 0.5 * np.sqrt(np.bincount(group, w**2)).sum() ** 2 + 0.5 * (alpha @ alpha) / C
            # the best multiple of alpha as a solution of the dual problem
            below = alpha @ alpha / C + float(pulls.max()) ** 2
            gap = 1.0 - 0.5 * alpha.sum() ** 2 / (below * value) if below > 0 else 0.0
            if gap <= GAP:
                break
        slack = np.maximum(1.0 - rows @ ahead, 0.0)
        new = shrunk(ahead + step * C * (rows.T @ slack), group, step)
        if (ahead - new) @ (new - w) > 0:
            momentum = 1.0  # it has overshot: start again from here
        grown = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
        ahead = new + (momentum - 1.0) / grown * (new - w)
        w, momentum = new, grown
    return w, alpha, float(pulls.max()), float(gap)


def shrunk(v: FloatArray, group: IntArray, step: float) -> FloatArray:
    """Return the minimum of ``|w - v|^2 / 2 + step / 2 (sum of the groups' lengths)^2``.

    Every group keeps its direction and loses ``step`` times the sum of the lengths that are left, which the
    longest groups share: with k of them left, that sum is theirs over ``1 + k step``.
    """
    length = np.sqrt(np.bincount(group, v**2))
    falling = np.sort(length)[::-1]
    sums = np.cumsum(falling) / (1.0 + step * np.arange(1, len(falling) + 1))
    left = np.flatnonzero(falling > step * sums)
    total = float(sums[left[-1]]) if len(left) else 0.0
    factor = np.maximum(1.0 - step * total / np.where(length > 0, length, 1.0), 0.0)
    return np.asarray(v * factor[group])
