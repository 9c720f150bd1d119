"""Groups of columns that meet in a linear model: what the elastic net gives no weight leaves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar

import numpy as np
import numpy.typing as npt

from streamsieve._kernels import ogfs as kernel
from streamsieve.columns._groups import Candidates, GroupedColumns, unit_columns
from streamsieve.decisions import KEPT, REASON_CODE
from streamsieve.independence import FisherZ
from streamsieve.protocols import Arrays, BoolArray, FloatArray, IntArray, Reason

if TYPE_CHECKING:
    from streamsieve.protocols import Matrix

CONSTANT, IRRELEVANT = REASON_CODE[Reason.CONSTANT], REASON_CODE[Reason.IRRELEVANT]
#: Weights that move no further have arrived; the units are those of correlations.
TOLERANCE = 1e-12
MOST_SWEEPS = 10_000
_TEST = "test_"

Outcome = TypeVar("Outcome")


class Refit(NamedTuple):
    """A model over some columns: their weights, and who is left."""

    weights: FloatArray
    stays: BoolArray
    #: The column that takes most of the work of one that leaves, by position; -1 if it never had any.
    by: IntArray


class Penalty(NamedTuple):
    """What weights cost: the sum of their lengths and of their squares; a shorter one than ``least`` goes."""

    lasso: float
    ridge: float = 0.0
    least: float = 0.0

    def refit(self, gram: FloatArray, products: FloatArray, weights: FloatArray) -> Refit:
        """Fit unit columns with these correlations and products with the target, from given weights on."""
        weights = weights.copy()
        rest = products - gram @ weights
        kernel.descend(gram, rest, weights, self.lasso, self.ridge, TOLERANCE, MOST_SWEEPS)
        stays = _lengths(weights) > max(self.least - TOLERANCE, 0.0)
        return Refit(weights, stays, self._replacements(gram, products, weights, stays))

    def _replacements(
        self, gram: FloatArray, products: FloatArray, weights: FloatArray, stays: BoolArray
    ) -> IntArray:
        """Find who does the work of those that leave; nobody does if they had none even alone."""
        by = np.full(len(gram), -1)
        alone = (_lengths(products) - self.lasso) / (1.0 + self.ridge)
        gone, left = np.flatnonzero(~stays & (alone > self.least + TOLERANCE)), np.flatnonzero(stays)
        if len(gone) and len(left):
            # what each of those left takes from the products of one that goes
            taken = gram[np.ix_(gone, left)] * (products[gone] @ weights[left].T)
            by[gone] = left[np.argmax(taken, axis=1)]
        return by


class PenalisedGroups(GroupedColumns[Outcome]):
    """Columns centred and of unit length, their products with the target, and their weights in a model.

    Parameters
    ----------
    test : correlation with the target
    """

    test: FisherZ

    def __init__(self, test: FisherZ) -> None:
        self.test = test
        super().__init__(test.n)
        #: Correlations of the kept columns; they are made when needed.
        self._gram = np.zeros((0, 0))

    def _empty(self, slots: int) -> dict[str, npt.NDArray[Any]]:
        contrasts = self.test.n_contrasts
        return {
            "columns": np.zeros((slots, self.n)),
            "products": np.zeros((slots, contrasts)),
            "weights": np.zeros((slots, contrasts)),
        }

    def _candidates(
        self, X: Matrix, reason: npt.NDArray[np.uint8], statistic: FloatArray
    ) -> Iterator[Candidates]:
        measured = self.test.relevance(X)
        reason[:], statistic[:] = np.where(measured.norm > 0, KEPT, CONSTANT), measured.r
        for some, Z in unit_columns(X, np.flatnonzero(reason == KEPT), measured):
            products = Z @ self.test.basis
            rows = {"columns": Z, "products": products, "weights": np.zeros_like(products)}
            yield Candidates(some, np.abs(measured.r[some]), rows)

    def _kept_gram(self) -> FloatArray:
        """Return the correlations of the kept columns."""
        if len(self._gram) != len(self._kept):
            self._gram = kernel.products(self.tables["columns"], self._kept, self._kept)
        return self._gram

    def _whole_gram(self) -> FloatArray:
        """Return the correlations of the kept columns and the open group's."""
        gram, members = self._kept_gram(), np.concatenate([self._kept, self._open])
        q = len(gram)
        whole = np.empty((len(members), len(members)))
        whole[:q, :q] = gram
        whole[q:] = kernel.products(self.tables["columns"], self._open, members)
        whole[:q, q:] = whole[q:, :q].T
        np.fill_diagonal(whole, 1.0)
        return whole

    def state(self) -> Arrays:
        """Return the test as well."""
        return {**super().state(), **{f"{_TEST}{name}": a for name, a in self.test.state().items()}}

    @staticmethod
    def _test_of(arrays: Mapping[str, npt.NDArray[Any]]) -> FisherZ:
        test = {name.removeprefix(_TEST): a for name, a in arrays.items() if name.startswith(_TEST)}
        return FisherZ.from_state(test)

    @classmethod
    def from_state(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Rebuild; what the selector's parameters say is not part of the state."""
        groups = cls(cls._test_of(arrays))
        groups._fill(arrays)
        return groups


def _lengths(rows: FloatArray) -> FloatArray:
    lengths: FloatArray = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    return lengths
