"""Groups whose columns must tell classes apart better than those accepted before them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

from streamsieve._kernels import ogfs as kernel
from streamsieve.columns._groups import Lines
from streamsieve.columns._ogfs_groups import IRRELEVANT, PenalisedGroups, Penalty, Refit
from streamsieve.protocols import FloatArray, IntArray
from streamsieve.state import register

#: Least share of a column's variance within classes: a column that separates them fully has a score too.
LEAST_WITHIN = 1e-6
#: What may become of a column of a group.
ADMITTED, REDUNDANT, UNSEPARATING = 0, 1, 2
NO_PAIRS = np.zeros((0, 0))


class Separability(NamedTuple):
    """When a column of a group raises the class separability of those admitted before it."""

    epsilon: float
    alpha: float
    #: Whether columns must separate classes at all.
    asked: bool = True
    #: The paper's t statistic against alpha, instead of a t test.
    literal: bool = False
    #: A column that is not redundant need not separate classes, and one that does may be redundant.
    either: bool = False

    def admit(
        self, between: FloatArray, within: FloatArray, known: int, pairs: FloatArray, limit: float
    ) -> tuple[npt.NDArray[np.uint8], IntArray]:
        """Say what becomes of columns, in order, and by whom; see the kernel."""
        critical = np.array([self.alpha])
        if not self.literal:
            # what a t statistic with 0, 1, 2, ... degrees of freedom must exceed; with 0 there is no test
            critical = np.concatenate([[np.inf], -stdtrit(np.arange(1.0, len(between)), self.alpha)])
        fate, by = kernel.admitted(
            between, np.maximum(within, LEAST_WITHIN), known, self.epsilon, critical, self.literal,
            pairs, limit, self.asked, self.either,
        )  # fmt: skip
        return fate, by


@register
class SeparatingGroups(PenalisedGroups[Refit]):
    """Groups of OGFS: separability decides inside a group, as columns arrive, the lasso between groups.

    The square of the correlation (ratio) with the target is the share of a column's variance between classes.
    """

    #: What the selector's parameters say.
    penalty: Penalty
    rule: Separability

    def _enter(
        self, features: IntArray, relevance: FloatArray, rows: Mapping[str, npt.NDArray[Any]], lines: Lines
    ) -> None:
        known = len(self._open)
        between = np.concatenate([self.tables["relevance"][self._open], relevance]) ** 2
        fate, _ = self.rule.admit(between, 1.0 - between, known, NO_PAIRS, np.inf)
        accepted = fate[known:] == ADMITTED
        lines.reject(features[~accepted], IRRELEVANT)
        some = {name: table[accepted] for name, table in rows.items()}
        super()._enter(features[accepted], relevance[accepted], some, lines)

    def _judge(self) -> Refit:
        slots = np.concatenate([self._kept, self._open])
        tables = self.tables
        return self.penalty.refit(self._whole_gram(), tables["products"][slots], tables["weights"][slots])

    def _tell(self, outcome: Refit, lines: Lines) -> None:
        q, slots = len(self._kept), np.concatenate([self._kept, self._open])
        gone, by = np.flatnonzero(~outcome.stays), outcome.by
        feature, Z = self.tables["feature"][slots], self.tables["columns"][slots]
        lines.reject(feature[gone[gone >= q]], IRRELEVANT)
        replaced = gone[by[gone] >= 0]
        pair = np.zeros(len(slots))
        pair[replaced] = np.abs(np.einsum("ij,ij->i", Z[replaced], Z[by[replaced]]))
        out = replaced[replaced >= q]
        lines.lose(feature[out], feature[by[out]], pair[out])
        out = gone[gone < q]
        alone = self.tables["relevance"][slots[out]]
        # an earlier column may take over because of what is new: then it happens at the last newcomer
        steps = np.where(by[out] >= q, feature[by[out]], feature[-1])
        names = np.where(by[out] >= 0, feature[by[out]], -1)
        lines.evict(steps, feature[out], names, np.where(by[out] >= 0, pair[out], alone))

    def _survivors(self, outcome: Refit) -> IntArray:
        return np.concatenate([self._kept, self._open])[outcome.stays]

    def _adopt(self, outcome: Refit) -> None:
        self.tables["weights"][np.concatenate([self._kept, self._open])] = outcome.weights
        stays = np.flatnonzero(outcome.stays)
        self._gram = self._whole_gram()[np.ix_(stays, stays)]
