"""Groups of DOFS: a draw, then local criteria for the drawn columns, then an elastic net."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

from streamsieve._kernels import dofs as kernel
from streamsieve._kernels.ogfs import products
from streamsieve.columns.deferred import DeferredColumns, eviction_of
from streamsieve.columns.groups.class_separability import ACCEPTED, LEAST_WITHIN, Separability, scatters
from streamsieve.columns.groups.dpp import Draw, Factor, Sampler, Similarity
from streamsieve.columns.groups.elastic_net import ElasticNet, ElasticNetGroups
from streamsieve.columns.groups.store import GroupCandidates
from streamsieve.columns.redundancy.slots import SLOT, Shape
from streamsieve.decisions import IRRELEVANT, KEPT, NOT_SAMPLED, REDUNDANT, Eviction
from streamsieve.dependence.blocks import TIE, dense_columns
from streamsieve.independence import FisherZ
from streamsieve.protocols import FloatArray, IntArray, Matrix
from streamsieve.state import Array, register

REDUNDANCY = ("spearman", "wilcoxon_literal", "wilcoxon_reversed")


class DOFSConfig(NamedTuple):
    """The parameters of the selector, in the form that a group needs."""

    similarity: Similarity
    sampler: Sampler
    #: Measure of redundancy, and its maximum; None if the draw alone decides.
    redundancy: str | None
    limit: float
    scatter: str
    separability: Separability
    #: Examine the most separating columns first, as in the paper's listing, instead of in order of arrival.
    best_first: bool
    #: None: no model.
    model: ElasticNet | None
    #: Refit the model for each column, as in the paper's listing.
    one_by_one: bool


def redundancy_features(redundancy: str, X: FloatArray) -> FloatArray:
    """Return the representation by which columns, one per row, are compared: scaled ranks, or the values."""
    if redundancy != "spearman":
        return X
    ranks = rankdata(X, axis=1) - (X.shape[1] + 1) / 2
    unit: FloatArray = ranks / np.sqrt(np.einsum("ij,ij->i", ranks, ranks))[:, None]
    return unit


def pairwise_redundancy(
    redundancy: str, table: FloatArray, some: IntArray, others: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Return the redundancy of columns, given as rows of `redundancy_features`, and its p-value.

    Rank correlations, whose p-value is NaN because it follows from them; or p-values of Wilcoxon's test,
    large if the two locations are equal; or 1 minus those.
    """
    if redundancy == "spearman":
        rank_correlation = np.minimum(np.abs(products(table, some, others)), 1.0)
        return rank_correlation, np.full_like(rank_correlation, np.nan)
    p_value = kernel.wilcoxon(table, some, others)
    return (p_value if redundancy == "wilcoxon_literal" else 1.0 - p_value), p_value


def redundancy_limit(redundancy: str, threshold: float, alpha: float) -> float:
    """Return the redundancy above which a column is redundant."""
    limits = {"spearman": threshold - TIE, "wilcoxon_literal": alpha, "wilcoxon_reversed": 1.0 - alpha}
    return limits[redundancy]


class GroupStatistics(NamedTuple):
    """Statistics of the kept columns, which come first, and of the group after them."""

    n_kept: int
    feature: IntArray
    #: Correlation (ratio) with the target.
    relevance: FloatArray
    products: FloatArray
    weights: FloatArray
    #: Correlations of all of them.
    gram: FloatArray
    #: Redundancy of each column of the group with all of them, and its p-value.
    redundancy: FloatArray
    redundancy_p: FloatArray
    #: Variance of the group's columns between classes and within them.
    between: FloatArray
    within: FloatArray


class GroupExamination:
    """The examination of one group: the results so far for its columns, and for the kept ones.

    Reasons, statistics, p-values (NaN: that of the statistic) and the features responsible are those of the
    group; ``model`` are the positions of the columns that stay, in order of arrival.
    """

    def __init__(self, draw: Draw, relevance: FloatArray, n_kept: int) -> None:
        m = len(draw.sampled)
        self.draw = draw
        self.reason: npt.NDArray[np.uint8] = np.where(draw.sampled, KEPT, NOT_SAMPLED).astype(np.uint8)
        self.statistic: FloatArray = np.where(draw.sampled, relevance, draw.probability)
        self.p_value = np.full(m, np.nan)
        self.by = np.full(m, -1)
        self.model: IntArray = np.concatenate([np.arange(n_kept), n_kept + np.flatnonzero(draw.sampled)])
        self.weights: FloatArray | None = None
        #: Correlations of the kept columns and the group's, if a model was fitted.
        self.gram = np.zeros((0, 0))
        self.evictions: list[Eviction] = []

    def judge(self, known: GroupStatistics, config: DOFSConfig) -> None:
        """Examine the drawn columns, all at once or one by one."""
        drawn = np.flatnonzero(self.draw.sampled)
        if config.best_first:
            score = known.between[drawn] / np.maximum(known.within[drawn], LEAST_WITHIN)
            # the logarithm to nine digits: equal scores keep their order in spite of rounding
            drawn = drawn[np.argsort(-np.round(np.log1p(score), 9), kind="stable")]
        self.model, self.weights = np.arange(known.n_kept), known.weights[: known.n_kept]
        self.gram = known.gram
        accepted = np.zeros(0, np.int64)
        for batch in drawn.reshape((-1, 1) if config.one_by_one else (1, -1)):
            new = self._accept(batch, accepted, known, config)
            accepted = np.concatenate([accepted, new])
            if len(new):
                self._refit(known.n_kept + new, known, config.model)

    def _accept(
        self, batch: IntArray, accepted: IntArray, known: GroupStatistics, config: DOFSConfig
    ) -> IntArray:
        """Apply the local criteria; return the columns that pass, in order."""
        others = np.concatenate([self.model, known.n_kept + accepted, known.n_kept + batch])
        group = np.concatenate([accepted, batch])
        redundancy = known.redundancy[np.ix_(group, others)]
        # columns accepted before and not dropped since are in the model
        redundancy[:, len(self.model) : len(self.model) + len(accepted)] = -np.inf
        code, by = config.separability.accept(
            known.between[group], known.within[group], len(accepted), redundancy, config.limit
        )
        code, by = code[len(accepted) :], by[len(accepted) :]
        self.reason[batch[code != ACCEPTED]] = IRRELEVANT
        out = np.flatnonzero(by >= 0)
        cause, lost = others[by[out]], batch[out]
        self._redundant(lost, known.feature[cause], known.redundancy[lost, cause])
        self.p_value[lost] = known.redundancy_p[lost, cause]
        passed: IntArray = batch[code == ACCEPTED]
        return passed

    def _redundant(self, lost: IntArray | int, by: IntArray | int, pair: FloatArray | float) -> None:
        self.reason[lost], self.by[lost], self.statistic[lost] = REDUNDANT, by, pair
        self.p_value[lost] = np.nan

    def _refit(self, new: IntArray, known: GroupStatistics, net: ElasticNet | None) -> None:
        """Fit the model to its columns and the new ones; columns with weight 0 are dropped."""
        weights = known.weights.copy()
        weights[self.model] = self.weights
        self.model = np.sort(np.concatenate([self.model, new]))
        if net is None:
            self.weights = weights[self.model]
            return
        model = self.model
        refit = net.refit(known.gram[np.ix_(model, model)], known.products[model], weights[model])
        self.model, self.weights = model[refit.stays], refit.weights[refit.stays]
        last = int(known.feature[new].max())
        for i in np.flatnonzero(~refit.stays).tolist():
            gone, cause = int(model[i]), int(model[refit.by[i]]) if refit.by[i] >= 0 else -1
            by = int(known.feature[cause]) if cause >= 0 else -1
            pair = abs(float(known.gram[gone, cause])) if cause >= 0 else abs(float(known.relevance[gone]))
            if gone < known.n_kept:
                step = by if cause >= known.n_kept else last
                self.evictions.append(eviction_of(step, int(known.feature[gone]), pair, by))
            elif cause >= 0:
                self._redundant(gone - known.n_kept, by, pair)
            else:
                self.reason[gone - known.n_kept] = IRRELEVANT


@register
class DiverseGroups(ElasticNetGroups[GroupExamination]):
    """Groups that are decided as a whole, because the draw depends on all columns of a group.

    ``classes`` is the target as 0, 1, 2, ..., or None where it is not needed; ``compared``: whether columns
    are compared pair by pair.
    """

    fields = {
        **ElasticNetGroups.fields,
        "classes": Array("i8", "rows", codes=True, optional=True),
        "compared": Array("f8", "columns", "rows", finite=True, optional=True, copy=False),
        "factor": Array("f8", "factored", "factored", finite=True),
    }

    #: The selector's parameters, which set it; a function among them cannot be saved.
    config: DOFSConfig

    def __init__(self, test: FisherZ, classes: IntArray | None, *, compared: bool) -> None:
        self.classes, self.compared = classes, compared
        #: Cholesky factor of the similarities of the kept columns, computed when it is needed.
        self._factor = Factor()
        super().__init__(test)

    def compare_by(self, similarity: Similarity) -> None:
        """Change the similarity; a function given after loading is taken to be the one that was not saved."""
        known = self.config.similarity
        if known.kernel is not None and similarity != known:
            self._factor = Factor()
        self.config = self.config._replace(similarity=similarity)

    def _entries(self) -> dict[str, tuple[str, Shape]]:
        entries = super()._entries()
        return entries | {"compared": ("f8", (SLOT, self.n))} if self.compared else entries

    def _candidates(
        self, X: Matrix, reason: npt.NDArray[np.uint8], statistic: FloatArray, p_value: FloatArray
    ) -> Iterator[GroupCandidates]:
        redundancy = self.config.redundancy
        for some, relevance, entries in super()._candidates(X, reason, statistic, p_value):
            more: dict[str, npt.NDArray[Any]] = {}
            if redundancy is not None:
                more["compared"] = redundancy_features(redundancy, dense_columns(X, some))
            yield GroupCandidates(some, relevance, {**entries, **more})

    def _judge(self) -> GroupExamination:
        config, columns = self.config, self.slots["columns"]
        if self._factor.size != len(self.kept):
            factor = Factor()  # set when it is whole, because several threads may read
            factor.rebuild(config.similarity(columns, self.kept, self.kept))
            self._factor = factor
        correlation, q = products(columns, self.open, self.members), len(self.kept)
        similarity = config.similarity(columns, self.open, self.members, correlation)
        cross, own = np.ascontiguousarray(similarity[:, :q]), similarity[:, q:]
        draw = config.sampler.draw(self._factor, cross, own, self.slots["feature"][self.open])
        outcome = GroupExamination(draw, self._statistic(self.open), q)
        if config.redundancy is not None and draw.sampled.any():
            drawn = np.flatnonzero(draw.sampled)
            outcome.judge(self._statistics(config.redundancy, drawn, correlation), config)
        return outcome

    def _statistics(self, redundancy: str, drawn: IntArray, correlation: FloatArray) -> GroupStatistics:
        config, slots, q = self.config, self.members, len(self.kept)
        feature, products_, weights = (self.slots[name][slots] for name in ("feature", "products", "weights"))
        pairs, p_value = np.zeros((2, len(slots) - q, len(slots)))
        pairs[drawn], p_value[drawn] = pairwise_redundancy(
            redundancy, self.slots["compared"], slots[q + drawn], slots
        )
        between = within = np.ones(len(slots) - q)
        if config.separability.needed and self.classes is not None:
            between, within = scatters(config.scatter, self.slots["columns"][self.open], self.classes)
        gram = np.zeros((0, 0)) if config.model is None else self._whole_gram(correlation)
        return GroupStatistics(
            q, feature, self._statistic(slots), products_, weights, gram, pairs, p_value, between, within
        )

    def _statistic(self, slots: IntArray) -> FloatArray:
        """Return correlations (ratios) with the target, as the ledger has them."""
        single = self.test.n_contrasts == 1
        found: FloatArray = self.slots["products"][slots, 0] if single else self.slots["relevance"][slots]
        return found

    def _write(self, outcome: GroupExamination, deferred: DeferredColumns) -> None:
        feature = self.slots["feature"][self.open]
        deferred.change(feature, outcome.reason, outcome.statistic, outcome.by, outcome.p_value)
        deferred.evictions += outcome.evictions

    def _survivors(self, outcome: GroupExamination) -> IntArray:
        return self.members[outcome.model]

    def _adopt(self, outcome: GroupExamination) -> None:
        q, model = len(self.kept), outcome.model
        if outcome.weights is not None:
            self.slots["weights"][self._survivors(outcome)] = outcome.weights
            if len(outcome.gram) and not np.array_equal(model, np.arange(q)):
                self._gram = outcome.gram[np.ix_(model, model)]
        new, draw = model[model >= q] - q, outcome.draw
        self._factor.append(draw.rows[new], draw.given[np.ix_(new, new)])
        self._factor.remove(np.setdiff1d(np.arange(q), model, assume_unique=True))

    def p_values(self, decided: DeferredColumns) -> FloatArray:
        """Return the p-values of decisions: NaN for columns that were not drawn."""
        p_value = np.array(super().p_values(decided))
        p_value[decided.reason == NOT_SAMPLED] = np.nan
        return p_value

    def _record(self) -> Mapping[str, Any]:
        return {**super()._record(), "classes": self.classes, "factor": self._factor.rows}

    @classmethod
    def _misfits(cls, record: Mapping[str, Any]) -> Iterator[str]:
        yield from super()._misfits(record)
        if np.any(np.diagonal(record["factor"]) <= 0):
            yield "the factor of the similarities has a diagonal that is not positive"

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        store = super()._rebuilt(record)
        # saved, because a recomputed one would differ by rounding
        store._factor = Factor(record["factor"])  # noqa: SLF001 - its own class
        return store

    @classmethod
    def _empty(cls, record: Mapping[str, Any]) -> Self:
        return cls(record["test"], record["classes"], compared=record["compared"] is not None)
