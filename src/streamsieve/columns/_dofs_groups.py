"""Groups of DOFS: kept columns, what they are compared by, and the open group as a whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve.columns._dofs_judgement import Evidence, Judgement, Plan
from streamsieve.columns._dofs_local import pairing, scatters, shared
from streamsieve.columns._dofs_sampling import Factor
from streamsieve.columns._groups import Candidates, Lines
from streamsieve.columns._ogfs_groups import PenalisedGroups
from streamsieve.exceptions import StateError
from streamsieve.independence import FisherZ
from streamsieve.protocols import Arrays, FloatArray, IntArray
from streamsieve.state import expect, register

if TYPE_CHECKING:
    from streamsieve.protocols import Matrix


@register
class DiverseGroups(PenalisedGroups[Judgement]):
    """Groups that are decided as a whole, because who is drawn depends on all.

    Parameters
    ----------
    test : correlation (ratio) with the target
    classes : the target as 0, 1, 2, ...; nothing where nobody asks for classes
    paired : whether columns are compared one by one
    """

    #: What the selector's parameters say now; set by the selector.
    plan: Callable[[], Plan]

    def __init__(self, test: FisherZ, classes: IntArray, *, paired: bool) -> None:
        self.classes, self.paired = classes, paired
        #: Cholesky factor of the similarities of the kept columns; it is made when needed.
        self._factor = Factor()
        super().__init__(test)

    def _empty(self, slots: int) -> dict[str, npt.NDArray[Any]]:
        tables = super()._empty(slots)
        return tables | {"pairing": np.zeros((slots, self.n))} if self.paired else tables

    def _candidates(
        self, X: Matrix, reason: npt.NDArray[np.uint8], statistic: FloatArray
    ) -> Iterator[Candidates]:
        redundancy = self.plan().redundancy
        for some, relevance, rows in super()._candidates(X, reason, statistic):
            more: dict[str, npt.NDArray[Any]] = {}
            if redundancy is not None:
                values = X[:, some].toarray().T if sp.issparse(X) else X.T[some]
                more["pairing"] = pairing(redundancy, np.ascontiguousarray(values, np.float64))
            yield Candidates(some, relevance, {**rows, **more})

    # ---------------------------------------------------------------- deciding

    def _judge(self) -> Judgement:
        plan, columns = self.plan(), self.tables["columns"]
        if self._factor.size != len(self._kept):
            self._factor.rebuild(plan.similarity(columns, self._kept, self._kept))
        cross, own = (plan.similarity(columns, self._open, slots) for slots in (self._kept, self._open))
        draw = plan.sampler.draw(self._factor, cross, own, self.tables["feature"][self._open])
        judgement = Judgement(draw, self._shown(self._open), len(self._kept))
        if plan.redundancy is not None and draw.sampled.any():
            judgement.judge(self._evidence(plan, plan.redundancy, np.flatnonzero(draw.sampled)), plan)
        return judgement

    def _evidence(self, plan: Plan, redundancy: str, drawn: IntArray) -> Evidence:
        slots, q = np.concatenate([self._kept, self._open]), len(self._kept)
        some = {name: self.tables[name][slots] for name in ("feature", "products", "weights")}
        pairs, p_value = np.zeros((2, len(slots) - q, len(slots)))
        pairs[drawn], p_value[drawn] = shared(redundancy, self.tables["pairing"], slots[q + drawn], slots)
        between = within = np.ones(len(slots) - q)
        if plan.rule.asked:
            between, within = scatters(plan.scatter, self.tables["columns"][self._open], self.classes)
        gram = np.zeros((0, 0)) if plan.penalty is None else self._whole_gram()
        return Evidence(
            q, some["feature"], self._shown(slots), some["products"], some["weights"], gram,
            pairs, p_value, between, within,
        )  # fmt: skip

    def _shown(self, slots: IntArray) -> FloatArray:
        """Return correlations (ratios) with the target, as the ledger shows them."""
        single = self.test.n_contrasts == 1
        shown: FloatArray = self.tables["products"][slots, 0] if single else self.tables["relevance"][slots]
        return shown

    def _tell(self, outcome: Judgement, lines: Lines) -> None:
        at = self.tables["feature"][self._open] - lines.start
        lines.reason[at], lines.statistic[at], lines.by[at] = outcome.reason, outcome.statistic, outcome.by
        if lines.p_value is None:
            lines.p_value = np.full(len(lines.reason), np.nan)
        lines.p_value[at] = outcome.p_value
        lines.departures += sorted(outcome.departures, key=lambda departure: departure.step)

    def _survivors(self, outcome: Judgement) -> IntArray:
        return np.concatenate([self._kept, self._open])[outcome.model]

    def _adopt(self, outcome: Judgement) -> None:
        q, model = len(self._kept), outcome.model
        if outcome.weights is not None:
            self.tables["weights"][self._survivors(outcome)] = outcome.weights
            if self.plan().penalty is not None:
                self._gram = self._whole_gram()[np.ix_(model, model)]
        stays = int(np.searchsorted(model, q))
        if stays == q:
            new, draw = model[q:] - q, outcome.draw
            self._factor.append(draw.rows[new], draw.given[np.ix_(new, new)])
        else:
            self._factor.size = 0  # the factor of fewer columns is another one

    # ---------------------------------------------------------------- state

    def state(self) -> Arrays:
        """Return the classes as well."""
        return {**super().state(), "classes": self.classes, "paired": np.array([self.paired])}

    @classmethod
    def from_state(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Rebuild; what the selector's parameters say is not part of the state."""
        test = cls._test_of(arrays)
        classes = np.array(expect(arrays, "classes", np.int64, (None,)))
        paired = bool(expect(arrays, "paired", np.bool_, (1,))[0])
        if len(classes) not in (0, test.n) or np.any(classes < 0) or np.any(classes >= len(classes)):
            raise StateError(f"the state's classes are not those of {test.n} rows")
        if len(classes) and np.any(np.bincount(classes) == 0):
            raise StateError("the state claims classes without rows")
        groups = cls(test, classes, paired=paired)
        groups._fill(arrays)
        return groups
