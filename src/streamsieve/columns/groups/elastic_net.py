"""Elastic net between groups: a model of kept and new columns, which drops columns with weight 0."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning

from streamsieve._caller import warn
from streamsieve._kernels import ogfs as kernel
from streamsieve.columns.groups.store import GroupCandidates, GroupStore
from streamsieve.columns.redundancy.slots import SLOT, Shape
from streamsieve.decisions import CONSTANT, KEPT
from streamsieve.dependence.blocks import unit_columns
from streamsieve.independence import FisherZ
from streamsieve.protocols import BoolArray, FloatArray, IntArray, Matrix
from streamsieve.state import Array, Nested

#: Convergence tolerance of coordinate descent: the largest change of a weight, in units of correlations.
TOLERANCE = 1e-12
MOST_SWEEPS = 10_000
#: Instead of a bound on weights: descend until the weights settle.
UNTIL_SETTLED = -1.0
#: Least lead of a column that absorbs another one for which less precise weights suffice.
LEAST_LEAD = 1e-9
#: Tolerance of the optimality conditions, for a target of length 1.
OPTIMALITY_TOLERANCE = 1e-6

Judged = TypeVar("Judged")


class Refit(NamedTuple):
    """A model over some columns: their weights, and which of them stay."""

    weights: FloatArray
    stays: BoolArray
    #: For each dropped column, the position of the one that absorbs most of its effect, or -1.
    by: IntArray


class ElasticNet(NamedTuple):
    """Penalties of a linear model; columns whose weight has a norm below ``least`` are dropped."""

    lasso: float
    ridge: float = 0.0
    least: float = 0.0

    def refit(self, gram: FloatArray, products: FloatArray, weights: FloatArray) -> Refit:
        """Fit unit columns with these correlations and products with the target, from given weights on.

        With a ridge, weights are as precise as is needed to know which columns stay at the minimum, and which
        of them absorb the others.
        """
        weights, bound = weights.copy(), max(self.least - TOLERANCE, 0.0)
        least, near = (bound if self.ridge > 0 else UNTIL_SETTLED), np.inf
        for _ in range(3):  # for the columns that stay, then for who absorbs the others, then to the end
            rest, sweeps = kernel.descend(
                gram, products, weights, self.lasso, self.ridge, TOLERANCE, MOST_SWEEPS, least, near
            )
            off = self._off(rest, weights)
            if sweeps == MOST_SWEEPS:
                self._warn(off)
            stays = _lengths(weights) > bound
            by, lead = self._replacements(gram, products, weights, stays)
            if least == UNTIL_SETTLED or lead * self.ridge > 2.0 * np.linalg.norm(off):
                break
            # near enough for this lead to be certain; a smaller one may be a tie
            least, near = (least, lead / 4) if lead > LEAST_LEAD and near == np.inf else (UNTIL_SETTLED, 0.0)
        return Refit(weights, stays, by)

    def _off(self, rest: FloatArray, weights: FloatArray) -> FloatArray:
        """Return by how much each row violates the optimality conditions: the length of its subgradient.

        ``rest`` are the products with the residual.
        """
        lengths = _lengths(weights)
        pull = self.ridge + self.lasso / np.where(lengths > 0, lengths, 1.0)
        off = _lengths(rest - pull[:, None] * weights) - np.where(lengths > 0, 0.0, self.lasso)
        return np.maximum(off, 0.0)

    def _warn(self, off: FloatArray) -> None:
        """Warn if weights that did not settle are far from the minimum."""
        short = float(np.max(off, initial=0.0))
        if short > OPTIMALITY_TOLERANCE * max(self.lasso, 1.0):
            warn(
                f"the elastic net is {short:.2g} short of its minimum after {MOST_SWEEPS:,} sweeps: columns "
                "are nearly collinear; raise its penalties",
                ConvergenceWarning,
            )

    def _replacements(
        self, gram: FloatArray, products: FloatArray, weights: FloatArray, stays: BoolArray
    ) -> tuple[IntArray, float]:
        """For each dropped column, find the kept one that absorbs most of its effect.

        -1 if it had no effect marginally.  The second answer is the least lead of one that was found, in
        units of weights: no smaller change of the weights leads to another answer.
        """
        by, lead = np.full(len(gram), -1), np.inf
        alone = (_lengths(products) - self.lasso) / (1.0 + self.ridge)
        gone, left = np.flatnonzero(~stays & (alone > self.least + TOLERANCE)), np.flatnonzero(stays)
        if len(gone) and len(left):
            # by how much each kept column reduces the product of a dropped one with the target
            taken = gram[np.ix_(gone, left)] * (products[gone] @ weights[left].T)
            by[gone] = left[np.argmax(taken, axis=1)]
            if len(left) > 1:
                two = np.partition(taken, -2, axis=1)[:, -2:]
                lead = float(np.min((two[:, 1] - two[:, 0]) / _lengths(products[gone])))
        return by, lead


class ElasticNetGroups(GroupStore[Judged]):
    """Columns centered and of unit length, their products with the target, and their weights in a model."""

    fields = {
        **GroupStore.fields,
        "test": Nested(FisherZ, shares=("rows", "contrasts")),
        "columns": Array("f8", "columns", "rows", low=-1 - 1e-6, high=1 + 1e-6, copy=False),
        "products": Array("f8", "columns", "contrasts", low=-1 - 1e-6, high=1 + 1e-6, copy=False),
        "weights": Array("f8", "columns", "contrasts", finite=True, copy=False),
        "gram": Array("f8", "correlated", "correlated", low=-1 - 1e-6, high=1 + 1e-6),
    }
    test: FisherZ

    def __init__(self, test: FisherZ) -> None:
        self.test = test
        super().__init__(test.n)
        #: Correlations of the kept columns, computed on access.
        self._gram = np.zeros((0, 0))

    def _entries(self) -> dict[str, tuple[str, Shape]]:
        contrasts = self.test.n_contrasts
        return {
            "columns": ("f8", (SLOT, self.n)),
            "products": ("f8", (SLOT, contrasts)),
            "weights": ("f8", (SLOT, contrasts)),
        }

    def _candidates(
        self,
        X: Matrix,
        reason: npt.NDArray[np.uint8],
        statistic: FloatArray,
        p_value: FloatArray,  # noqa: ARG002
    ) -> Iterator[GroupCandidates]:
        measured = self.test.relevance(X)
        reason[:], statistic[:] = np.where(measured.norm > 0, KEPT, CONSTANT), measured.r
        for some, Z in unit_columns(X, np.flatnonzero(reason == KEPT), measured.mean, measured.norm):
            products = Z @ self.test.basis
            entries = {"columns": Z, "products": products, "weights": np.zeros_like(products)}
            yield GroupCandidates(some, np.abs(measured.r[some]), entries)

    def kept_gram(self) -> FloatArray:
        """Return the correlations of the kept columns."""
        if len(self._gram) != len(self.kept):
            self._gram = kernel.products(self.slots["columns"], self.kept, self.kept)
        return self._gram

    def _whole_gram(self, of_open: FloatArray | None = None) -> FloatArray:
        """Return the correlations of the kept columns and the open group's.

        ``of_open`` are those of the open group (rows) with all of them, if they are known.
        """
        if of_open is None:
            of_open = kernel.products(self.slots["columns"], self.open, self.members)
        gram, m = self.kept_gram(), of_open.shape[1]
        q = len(gram)
        whole = np.empty((m, m))
        whole[:q, :q] = gram
        whole[q:] = of_open
        whole[:q, q:] = whole[q:, :q].T
        np.fill_diagonal(whole, 1.0)
        return whole

    def _record(self) -> Mapping[str, Any]:
        return {**super()._record(), "test": self.test, "gram": self._gram}

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        store = super()._rebuilt(record)
        # saved, because a recomputed one would differ by rounding
        store._gram = record["gram"]  # noqa: SLF001 - its own class
        return store


def _lengths(rows: FloatArray) -> FloatArray:
    lengths: FloatArray = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    return lengths
