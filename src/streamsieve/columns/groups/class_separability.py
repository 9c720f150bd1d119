"""Class separability of the columns of a group, by which OGFS and DOFS accept columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

from streamsieve._kernels import ogfs as kernel
from streamsieve.columns.deferred import DeferredColumns, eviction_of
from streamsieve.columns.groups.elastic_net import ElasticNet, ElasticNetGroups, Refit
from streamsieve.decisions import IRRELEVANT, REDUNDANT
from streamsieve.independence import FisherZ
from streamsieve.protocols import FloatArray, IntArray
from streamsieve.state import Float, register

SCATTER = ("moments", "pairwise", "moments_literal", "labels_literal")
#: Lower bound on the variance within classes, so that perfect separation has a finite ratio.
LEAST_WITHIN = 1e-6
#: Code of the kernel for a column that is accepted.
ACCEPTED = 0
NO_PAIRS = np.zeros((0, 0))


class Separability(NamedTuple):
    """The rule by which a column must raise the class separability of its group."""

    epsilon: float
    alpha: float
    #: Whether class separability is tested at all.
    needed: bool = True
    #: Compare the paper's t statistic with alpha instead of making a t test.
    literal: bool = False
    #: Whether passing one of the two criteria, separability and redundancy, is enough.
    either: bool = False

    def accept(
        self, between: FloatArray, within: FloatArray, known: int, pairs: FloatArray, limit: float
    ) -> tuple[npt.NDArray[np.uint8], IntArray]:
        """Return a code per column, in order, and the column that makes it redundant; see the kernel."""
        critical = np.array([self.alpha])
        if not self.literal:
            # critical values of t with 0, 1, 2, ... degrees of freedom; with 0 there is no test
            critical = np.concatenate([[np.inf], -stdtrit(np.arange(1.0, len(between)), self.alpha)])
        code, by = kernel.admitted(
            between, np.maximum(within, LEAST_WITHIN), known, self.epsilon, critical, self.literal,
            pairs, limit, self.needed, self.either,
        )  # fmt: skip
        return code, by


def scatters(scatter: str, Z: FloatArray, classes: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the variance of unit columns, one per row, between classes and within them.

    "moments": variance of the class means, weighted by class frequency, and of the values about them.
    "moments_literal": the paper's formula, with equal weights of class means.
    "pairwise": mean squared distance of two values of different classes, and of one class.
    "labels_literal": the paper's label graphs, which are swapped: the one called "between" measures within.
    """
    counts = np.bincount(classes).astype(np.float64)
    one_hot: npt.NDArray[Any] = (classes[:, None] == np.arange(len(counts))) / counts
    Z = Z * np.sqrt(Z.shape[1])  # of unit variance
    means = Z @ one_hot
    variances = np.maximum(Z**2 @ one_hot - means**2, 0.0)
    frequency = counts / len(classes)
    within = variances @ frequency
    if scatter == "pairwise":
        k = len(counts)
        distances = means[:, :, None] - means[:, None, :]
        between = np.einsum("fij,fij->f", distances, distances) / (k * (k - 1)) + 2.0 * variances.mean(axis=1)
        return between, 2.0 * variances.mean(axis=1)
    if scatter == "moments_literal":
        return np.einsum("fj,fj->f", means, means), within
    between = means**2 @ frequency
    return (within, between) if scatter == "labels_literal" else (between, within)


@register
class SeparabilityGroups(ElasticNetGroups[Refit]):
    """Groups of OGFS: class separability inside a group, as columns arrive, and the lasso between groups.

    The squared correlation (ratio) with the target is the proportion of a column's variance between classes.
    """

    fields = {
        **ElasticNetGroups.fields,
        "penalty": Float(0, open_low=True),
        "epsilon": Float(0),
        "alpha": Float(0, 1, open_low=True, open_high=True),
    }

    def __init__(self, test: FisherZ, penalty: float, epsilon: float, alpha: float) -> None:
        self.model = ElasticNet(float(penalty))
        self.separability = Separability(float(epsilon), float(alpha))
        super().__init__(test)

    def _enter(
        self, features: IntArray, relevance: FloatArray, entries: Mapping[str, npt.NDArray[Any]],
        deferred: DeferredColumns,
    ) -> None:  # fmt: skip
        """Let candidates into the open group that raise its separability."""
        known = len(self.open)
        between = np.concatenate([self.slots["relevance"][self.open], relevance]) ** 2
        code, _ = self.separability.accept(between, 1.0 - between, known, NO_PAIRS, np.inf)
        accepted = code[known:] == ACCEPTED
        deferred.reason[features[~accepted] - deferred.start] = IRRELEVANT
        some = {name: array[accepted] for name, array in entries.items()}
        super()._enter(features[accepted], relevance[accepted], some, deferred)

    def _judge(self) -> Refit:
        products, weights = (self.slots[name][self.members] for name in ("products", "weights"))
        return self.model.refit(self._whole_gram(), products, weights)

    def _write(self, outcome: Refit, deferred: DeferredColumns) -> None:
        q, slots = len(self.kept), self.members
        gone, by = np.flatnonzero(~outcome.stays), outcome.by
        feature, Z = self.slots["feature"][slots], self.slots["columns"][slots]
        deferred.reason[feature[gone[gone >= q]] - deferred.start] = IRRELEVANT
        replaced = gone[by[gone] >= 0]
        pair = np.zeros(len(slots))
        pair[replaced] = np.abs(np.einsum("ij,ij->i", Z[replaced], Z[by[replaced]]))
        out = replaced[replaced >= q]
        deferred.change(feature[out], REDUNDANT, pair[out], feature[by[out]])
        out = gone[gone < q]
        # a kept column may absorb another one given the new ones; the eviction is then attributed to the last
        # of these
        steps = np.where(by[out] >= q, feature[by[out]], feature[-1])
        causes = np.where(by[out] >= 0, feature[by[out]], -1)
        statistic = np.where(by[out] >= 0, pair[out], self.slots["relevance"][slots[out]])
        left = (steps, feature[out], statistic, causes)
        deferred.evictions += map(eviction_of, *(values.tolist() for values in left))

    def _survivors(self, outcome: Refit) -> IntArray:
        return self.members[outcome.stays]

    def _adopt(self, outcome: Refit) -> None:
        self.slots["weights"][self.members] = outcome.weights
        stays = np.flatnonzero(outcome.stays)
        self._gram = self._whole_gram()[np.ix_(stays, stays)]

    def _record(self) -> Mapping[str, Any]:
        epsilon, alpha, *_ = self.separability
        return {**super()._record(), "penalty": self.model.lasso, "epsilon": epsilon, "alpha": alpha}

    @classmethod
    def _empty(cls, record: Mapping[str, Any]) -> Self:
        return cls(*(record[name] for name in ("test", "penalty", "epsilon", "alpha")))
