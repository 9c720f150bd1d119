"""Kept columns with gaps that judge newcomers by partial correlation over joint rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.special import betaincinv, ndtri

from streamsieve._kernels import paired
from streamsieve._kernels import paired_partial as kernel
from streamsieve.columns._blanket import LARGEST_SET, Measured, PValueGiven, Settled
from streamsieve.columns._budget_paired import FEWEST, PairedTarget
from streamsieve.columns._correlated import _pieces
from streamsieve.columns._paired_columns import standardised
from streamsieve.exceptions import StateError
from streamsieve.independence.fisher_z import FisherZ, p_value_given
from streamsieve.protocols import FloatArray, IntArray, Reason
from streamsieve.state import Array, Bool, Int, Nested, Part, register
from streamsieve.verdicts import REASON_CODE

if TYPE_CHECKING:
    from streamsieve.protocols import Matrix

#: Columns that a store has room for at first.
FIRST_SLOTS = 16

RELEVANT, CONSTANT, IRRELEVANT, UNRELIABLE = (
    REASON_CODE[r] for r in (Reason.RELEVANT, Reason.CONSTANT, Reason.IRRELEVANT, Reason.UNRELIABLE)
)
#: Codes of the ledger for what the search finds: kept, independent, function of the set, too few rows.
_CODES = np.array(
    [REASON_CODE[r] for r in (Reason.RELEVANT, Reason.REDUNDANT, Reason.COLLINEAR, Reason.UNRELIABLE)],
    np.uint8,
)
#: What is known of pairs of columns: correlations, what the target leaves of these, and what a column has to
#: do with the target given the other.
_PAIRS = ("total", "within", "alone")


@register
class PairedPartialColumns(Part):
    """Columns of unit length with NaN for what is missing, and what every pair says over joint rows.

    A newcomer costs one pass over every kept column; whether a set makes it redundant is then arithmetic on
    a few numbers, however many rows there are.

    Parameters
    ----------
    test : bound to the target
    labels : the target's classes as codes where there are more than two; else nothing
    most : members that a conditioning set may have, 0 to 3
    skip : pass over sets that the joint rows do not suffice to test, instead of calling the test independent
    """

    fields = {
        "_test": Nested(FisherZ, shares=("rows", "contrasts")),
        "_labels": Array("i8", "labels", codes=True),
        "_most": Int(0, LARGEST_SET),
        "_skip": Bool(),
        "columns": Array("f8", "kept", "rows", low=-1 - 1e-6, high=1 + 1e-6, gaps=True, copy=False),
        # what the target leaves of a correlation over other rows may be larger than the correlation
        **{
            name: Array(
                "f8", "kept", "kept", low=-1 - (name == "within") - 1e-6, high=1 + (name == "within") + 1e-6
            )
            for name in _PAIRS
        },
        "joint": Array("i8", "kept", "kept", low=0, high=2**31),
        "loads": Array("f8", "kept", "loads", low=-1 - 1e-6, high=1 + 1e-6),
        "feature": Array("i8", "kept", low=0, order="rising"),
    }

    def __init__(self, test: FisherZ, labels: IntArray, *, most: int, skip: bool) -> None:
        self.n = n = test.n
        self._test, self._labels, self._most, self._skip = test, labels, most, skip
        self._y = np.ascontiguousarray(test.basis[:, 0]) if not len(labels) else np.zeros(0)
        #: Degrees of freedom of a test given nothing are so many fewer than rows.
        self._lost = n - test.freedom()
        #: Share of variance that the target must leave, by degrees of freedom; without gaps, few occur.
        self._share = np.full(n + 1, -1.0)
        for size in range(LARGEST_SET + 1):
            if test.freedom(size) > 0:
                self._share[test.freedom(size)] = test.share_left(size)
        self._gaps = False
        # zeros are mapped, not written: a slot costs nothing until a column moves in
        self._columns = np.zeros((FIRST_SLOTS, n))
        self._pairs = np.zeros((len(_PAIRS), FIRST_SLOTS, FIRST_SLOTS))
        self._joint = np.zeros((FIRST_SLOTS, FIRST_SLOTS), np.int64)
        self._loads = np.zeros((FIRST_SLOTS, test.n_contrasts + 1 if len(labels) else 1))
        self._feature = np.zeros(FIRST_SLOTS, np.int64)
        self._order = np.arange(FIRST_SLOTS)
        self._kept = 0

    @property
    def features(self) -> IntArray:
        """Arrival numbers of the columns kept, in order."""
        return self._feature[self._order[: self._kept]]

    @property
    def nbytes(self) -> int:
        """Memory of the kept columns and what is known of pairs, in bytes."""
        return 8 * self._kept * (self.n + (len(_PAIRS) + 1) * self._kept + self._loads.shape[1])

    # ---------------------------------------------------------------- relevance

    def relevance(self, X: Matrix) -> Measured:
        """Test every column of a block against the target, given nothing, over the rows where it is seen."""
        test, m = self._test, X.shape[1]
        gaps = PairedTarget.gaps(X)
        reason, statistic = np.zeros(m, np.uint8), np.zeros(m)
        freedom = np.full(m, test.freedom())
        if not gaps.all():
            whole = np.flatnonzero(~gaps)
            measured = test.relevance(X[:, whole] if gaps.any() else X)
            reason[whole], statistic[whole] = measured.reason, np.abs(measured.r)
        if gaps.any():
            holes = np.flatnonzero(gaps)
            reason[holes], statistic[holes], freedom[holes] = self._over_joint_rows(X, holes)
        return Measured(reason, statistic, freedom, None)

    def _over_joint_rows(
        self, X: Matrix, chosen: IntArray
    ) -> tuple[npt.NDArray[np.uint8], FloatArray, IntArray]:
        pieces, m = _pieces(X, chosen), len(chosen)
        seen, values_of_y = np.zeros((2, m), np.int64)
        spread, r = np.zeros((2, m))
        if len(self._labels):
            counts = np.bincount(self._labels).astype(np.int64)
            paired.with_classes(*pieces, sp.issparse(X), self._labels, counts, seen, spread, r, values_of_y)
        else:
            paired.with_numbers(*pieces, sp.issparse(X), self._y, seen, spread, r, values_of_y)
        statistic, freedom = np.abs(r), seen - self._lost
        reason = np.where(self.p_value_of()(statistic, freedom) <= self._test.alpha, RELEVANT, IRRELEVANT)
        reason = np.where(spread > 0, reason, CONSTANT)
        reason = np.where((seen < FEWEST) | (values_of_y < 2) | (freedom <= 0), UNRELIABLE, reason)
        return reason.astype(np.uint8), statistic, freedom

    def irrelevant_one(self, x: FloatArray) -> tuple[float, float] | None:
        """Return (|r|, p-value) of a single column without gaps if it is plainly irrelevant, else None."""
        found = self._test.irrelevant_one(x)
        return None if found is None else (abs(found[0]), found[1])

    def p_value_of(self) -> PValueGiven:
        """Return the function that gives p-values to statistics and their degrees of freedom."""
        return partial(p_value_given, contrasts=self._test.n_contrasts)

    # ---------------------------------------------------------------- settling

    def settle(
        self, X: Matrix, start: int, chosen: IntArray, measured: Measured, *, newcomer_first: bool
    ) -> Settled:
        """Let the chosen columns of a block compete with the kept ones, in order."""
        del measured
        verdicts, leavers = [_lines(0)], [_lines(0)]
        for part, fresh, seen in standardised(X, chosen):
            if not self._gaps and np.any(seen < self.n):
                self._expect_gaps()
            feature, width, done, n_gone = chosen[part] + start, len(fresh), 0, 0
            told, statistic = _lines(width + self._kept + width)
            while done < width:
                if self._kept == len(self._order):
                    self._grow(2 * self._kept)
                done, self._kept, n_gone = kernel.decide(
                    fresh, feature, done,
                    newcomer_first, self._most, self._skip, self._lost, self._share, self._y, self._labels,
                    self._columns, self._pairs, self._loads, self._joint,
                    self._feature, self._order, self._kept, told, statistic, n_gone,
                )  # fmt: skip
            gone = slice(width, width + n_gone)
            verdicts.append((told[:width], statistic[:width]))
            leavers.append((told[gone], statistic[gone]))
        found, numbers = (np.concatenate(a) for a in zip(*verdicts, strict=True))
        lost, lost_numbers = (np.concatenate(a) for a in zip(*leavers, strict=True))
        return Settled(
            _CODES[found[:, 2]], numbers, found[:, 3], found[:, 4:],
            lost[:, 0], lost[:, 1], _CODES[lost[:, 2]], lost_numbers, lost[:, 3], lost[:, 4:],
        )  # fmt: skip

    def _expect_gaps(self) -> None:
        """Know the share of variance for any number of joint rows."""
        freedom, contrasts = np.arange(1, self.n + 1), self._test.n_contrasts
        if contrasts == 1:
            share = 1 / np.cosh(-ndtri(self._test.alpha / 2) / np.sqrt(freedom)) ** 2
        else:
            share = betaincinv(freedom / 2, contrasts / 2, self._test.alpha)
        known = self._share[1:] >= 0
        self._share[1:] = np.where(known, self._share[1:], share)
        self._gaps = True

    def _grow(self, slots: int) -> None:
        """Make room for so many columns."""
        old = len(self._order)
        more = slots - old
        self._columns, self._loads, self._feature = (
            np.concatenate([a, np.zeros((more, *a.shape[1:]), a.dtype)])
            for a in (self._columns, self._loads, self._feature)
        )
        self._pairs = np.pad(self._pairs, ((0, 0), (0, more), (0, more)))
        self._joint = np.pad(self._joint, (0, more))
        self._order = np.concatenate([self._order, np.arange(old, slots)])

    # ---------------------------------------------------------------- state

    def _record(self) -> Mapping[str, Any]:
        slots = self._order[: self._kept]
        square = np.ix_(slots, slots)
        return {
            **{name: getattr(self, name) for name in ("_test", "_labels", "_most", "_skip")},
            "columns": self._columns[slots],
            **{name: pairs[square] for name, pairs in zip(_PAIRS, self._pairs, strict=True)},
            "joint": self._joint[square],
            "loads": self._loads[slots],
            "feature": self._feature[slots],
        }

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        test, labels, q = record["_test"], record["_labels"], len(record["feature"])
        if len(labels) and (len(labels) != test.n or int(labels.max()) != test.n_contrasts):
            raise StateError("the state's classes are not those of its target")
        kept = cls(test, labels, most=record["_most"], skip=record["_skip"])
        if record["loads"].shape[1] != kept._loads.shape[1] or bool(len(labels)) is not (
            test.n_contrasts > 1
        ):
            raise StateError("the state's loads are not those of its target")
        if q > FIRST_SLOTS:
            kept._grow(q)
        kept._columns[:q], kept._loads[:q], kept._feature[:q] = (
            record[k] for k in ("columns", "loads", "feature")
        )
        kept._pairs[:, :q, :q], kept._joint[:q, :q] = [record[name] for name in _PAIRS], record["joint"]
        kept._kept = q
        if np.any(record["joint"] < test.n):
            kept._expect_gaps()
        return kept

    def _consistent(self) -> Iterator[str]:
        joint = self._joint[: self._kept, : self._kept]
        seen, own = self.n - np.isnan(self._columns[: self._kept]).sum(axis=1), joint.diagonal()
        fits = np.all((joint <= np.minimum.outer(seen, seen)) & (joint == joint.T))
        if not fits or not np.all((own == seen) | (own == 0)):  # 0 where the target does not vary
            yield "the numbers of pairwise-complete rows are not those of the columns"


def _lines(m: int) -> tuple[IntArray, FloatArray]:
    """Return room for verdicts: feature, newcomer, what was found, freedom and set; and statistics."""
    return np.tile(np.array([0, 0, 0, 0, -1, -1, -1]), (m, 1)), np.zeros(m)
