"""What becomes of a group of columns of which some are drawn: local criteria first, then a model."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from streamsieve.columns._dofs_sampling import Draw, Sampler, Similarity
from streamsieve.columns._groups import Departure
from streamsieve.columns._ogfs_groups import IRRELEVANT, Penalty
from streamsieve.columns._ogfs_separating import ADMITTED, LEAST_WITHIN, Separability
from streamsieve.decisions import KEPT, REASON_CODE
from streamsieve.protocols import FloatArray, IntArray, Reason

NOT_SAMPLED, REDUNDANT = REASON_CODE[Reason.NOT_SAMPLED], REASON_CODE[Reason.REDUNDANT]


class Plan(NamedTuple):
    """What the parameters of the selector say about a group."""

    similarity: Similarity
    sampler: Sampler
    #: How columns share too much with others, and from where on; None: nothing but the draw decides.
    redundancy: str | None
    limit: float
    scatter: str
    rule: Separability
    #: Best first, as the paper's listing has it, instead of in order of arrival.
    best_first: bool
    #: What weights cost; None: no model.
    penalty: Penalty | None
    #: The model is fitted anew for each column, as the paper's listing has it.
    one_by_one: bool


class Evidence(NamedTuple):
    """What is known of the kept columns, which come first, and of the group after them."""

    kept: int
    feature: IntArray
    #: Correlation (ratio) with the target.
    relevance: FloatArray
    products: FloatArray
    weights: FloatArray
    #: Correlations of all of them.
    gram: FloatArray
    #: How much each column of the group shares with all of them, and the p-values of that.
    shared: FloatArray
    shared_p: FloatArray
    #: Variance of the group's columns between classes and within them.
    between: FloatArray
    within: FloatArray


class Judgement:
    """The fate of every column of a group, and of those kept.

    Reasons, statistics, p-values (NaN: that of the statistic) and features to blame are those of the group;
    ``model`` are the positions of the columns that stay, in order of arrival.
    """

    def __init__(self, draw: Draw, relevance: FloatArray, kept: int) -> None:
        m = len(draw.sampled)
        self.draw = draw
        self.reason: npt.NDArray[np.uint8] = np.where(draw.sampled, KEPT, NOT_SAMPLED).astype(np.uint8)
        self.statistic: FloatArray = np.where(draw.sampled, relevance, draw.chance)
        self.p_value = np.full(m, np.nan)
        self.by = np.full(m, -1)
        self.model: IntArray = np.concatenate([np.arange(kept), kept + np.flatnonzero(draw.sampled)])
        self.weights: FloatArray | None = None
        self.departures: list[Departure] = []

    def judge(self, known: Evidence, plan: Plan) -> None:
        """Put the drawn columns to the test, all at once or one by one."""
        drawn = np.flatnonzero(self.draw.sampled)
        if plan.best_first:
            score = known.between[drawn] / np.maximum(known.within[drawn], LEAST_WITHIN)
            # in the logarithm, to nine digits: equal scores keep their order, whatever rounding says
            drawn = drawn[np.argsort(-np.round(np.log1p(score), 9), kind="stable")]
        self.model, self.weights = np.arange(known.kept), known.weights[: known.kept]
        admitted = np.zeros(0, np.int64)
        for batch in drawn.reshape((-1, 1) if plan.one_by_one else (1, -1)):
            new = self._admit(batch, admitted, known, plan)
            admitted = np.concatenate([admitted, new])
            if len(new):
                self._refit(known.kept + new, known, plan.penalty)

    def _admit(self, batch: IntArray, admitted: IntArray, known: Evidence, plan: Plan) -> IntArray:
        """Ask the local criteria; return who passes, in order."""
        beside = np.concatenate([self.model, known.kept + admitted, known.kept + batch])
        group = np.concatenate([admitted, batch])
        shared = known.shared[np.ix_(group, beside)]
        # of those admitted before, whoever is left is in the model
        shared[:, len(self.model) : len(self.model) + len(admitted)] = -np.inf
        fate, by = plan.rule.admit(
            known.between[group], known.within[group], len(admitted), shared, plan.limit
        )
        fate, by = fate[len(admitted) :], by[len(admitted) :]
        out = np.flatnonzero(fate != ADMITTED)
        self.reason[batch[out]] = IRRELEVANT
        out = np.flatnonzero(by >= 0)
        whom = beside[by[out]]
        self._blame(batch[out], known.feature[whom], known.shared[batch[out], whom])
        self.p_value[batch[out]] = known.shared_p[batch[out], whom]
        passed: IntArray = batch[fate == ADMITTED]
        return passed

    def _blame(self, lost: IntArray, by: IntArray, pair: FloatArray) -> None:
        self.reason[lost], self.by[lost], self.statistic[lost] = REDUNDANT, by, pair
        self.p_value[lost] = np.nan

    def _refit(self, new: IntArray, known: Evidence, penalty: Penalty | None) -> None:
        """Fit the model to what is in it and what is new; whoever has no weight leaves."""
        weights = known.weights.copy()
        weights[self.model] = self.weights
        self.model = np.sort(np.concatenate([self.model, new]))
        if penalty is None:
            self.weights = weights[self.model]
            return
        model = self.model
        refit = penalty.refit(known.gram[np.ix_(model, model)], known.products[model], weights[model])
        self.model, self.weights = model[refit.stays], refit.weights[refit.stays]
        last = int(known.feature[new].max())
        for i in np.flatnonzero(~refit.stays).tolist():
            gone, whom = int(model[i]), int(model[refit.by[i]]) if refit.by[i] >= 0 else -1
            by = int(known.feature[whom]) if whom >= 0 else -1
            pair = abs(float(known.gram[gone, whom])) if whom >= 0 else abs(float(known.relevance[gone]))
            if gone < known.kept:
                step = by if whom >= known.kept else last
                self.departures.append(Departure(step, int(known.feature[gone]), pair, by))
            elif whom >= 0:
                self._blame(np.array([gone - known.kept]), np.array([by]), np.array([pair]))
            else:
                self.reason[gone - known.kept] = IRRELEVANT
