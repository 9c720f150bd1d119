"""Moments of every feature together with a numeric target."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve._kernels import comoments as kernel
from streamsieve._kernels.aligned import aligned_zeros
from streamsieve._kernels.threads import over_features
from streamsieve._validation import LIMIT, refuse_infinite
from streamsieve.exceptions import MergeError
from streamsieve.protocols import Arrays, FloatArray, IntArray
from streamsieve.state import expect, register, untouched_on_error
from streamsieve.summaries._fading import Fading, remainder
from streamsieve.summaries.moments import checked_columns

if TYPE_CHECKING:
    from streamsieve.protocols import Matrix

BLOCK = 16_384


class CoMomentsBlock(NamedTuple):
    """Moments of some features and the target, over the rows in which the feature is present."""

    #: Number of rows that carry as much information.
    n: FloatArray
    mean: FloatArray
    variance: FloatArray
    target_variance: FloatArray
    covariance: FloatArray


class _Joint(NamedTuple):
    """Weight, means, centred second moments and co-moment of features and target, each (feature,)."""

    weight: FloatArray
    mean: FloatArray
    m2: FloatArray
    y_mean: FloatArray
    cross: FloatArray
    y_m2: FloatArray

    def merged(self, other: _Joint) -> _Joint:
        """Chan's formula, for two variables."""
        total = self.weight + other.weight
        share = np.divide(other.weight, total, out=np.zeros_like(total), where=total > 0)
        a = self.weight * share
        dx, dy = other.mean - self.mean, other.y_mean - self.y_mean
        return _Joint(
            total,
            self.mean + dx * share,
            self.m2 + other.m2 + dx * dx * a,
            self.y_mean + dy * share,
            self.cross + other.cross + dx * dy * a,
            self.y_m2 + other.y_m2 + dy * dy * a,
        )


@register
class CoMoments:
    """Remember mean, variance and covariance with a numeric target, in one exact pass.

    As :class:`Moments`, for a numeric target: dense and sparse rows, weights, missing values, late
    features, fading, merging.  Targets are stored relative to the first one, so that neither features
    nor targets lose digits to a large offset.

    Parameters
    ----------
    half_life : float or None, default=None
        Rows after which an observation weighs half, at least 1.  None never forgets.

    Notes
    -----
    Memory: 48 bytes a feature for dense rows, 64 (one cache line) for sparse rows.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve.summaries import CoMoments
    >>> m = CoMoments()
    >>> m.update(np.array([[1.0], [2.0], [3.0]]), np.array([10.0, 20.0, 30.0]))
    >>> m.block(0, 1).covariance
    array([6.66666667])
    """

    target: ClassVar[str] = "numeric"

    def __init__(self, half_life: float | None = None) -> None:
        self._fading = Fading(half_life)
        self._n_rows = 0
        self._y_origin = 0.0
        # mass, sum of weights times their fading factors, mean and centred second moment of the target
        self._totals = np.zeros(4)
        self._dense: FloatArray | None = None
        self._table: FloatArray | None = None

    # ---------------------------------------------------------------- facts

    @property
    def half_life(self) -> float | None:
        """Rows after which an observation weighs half."""
        return self._fading.half_life

    @property
    def n_rows(self) -> int:
        """Rows seen, those of weight 0 excepted."""
        return self._n_rows

    @property
    def n_features(self) -> int:
        """Features seen."""
        if self._table is not None:
            return len(self._table)
        return 0 if self._dense is None else int(self._dense.shape[1])

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes."""
        return sum(a.nbytes for a in (self._dense, self._table) if a is not None)

    def block(self, low: int, high: int) -> CoMomentsBlock:
        """Return the moments of features low..high."""
        joint = self._joint(low, high)
        mass, squares = self._totals[:2]
        weight = np.where(joint.weight > 0, joint.weight, 1.0)
        return CoMomentsBlock(
            joint.weight * (mass / squares if squares > 0 else 1.0),
            joint.mean,
            joint.m2 / weight,
            joint.y_m2 / weight,
            joint.cross / weight,
        )

    def blocks(self) -> Iterator[CoMomentsBlock]:
        """Yield the moments of all features, some at a time."""
        for low in range(0, self.n_features, BLOCK):
            yield self.block(low, min(low + BLOCK, self.n_features))

    def _joint(self, low: int, high: int) -> _Joint:
        """Return the joint moments over all rows, zeros included."""
        if self._table is None:
            return _Joint(*(self._dense if self._dense is not None else np.zeros((6, 0)))[:, low:high])
        n, mean, m2, y_mean, cross, gone, y_gone, y_gone_m2 = self._table[low:high].T
        mass, _, y_all, y_m2 = self._totals
        present = remainder(mass, gone, self._n_rows)
        # the target over the rows where the feature is present: the whole less the missing rows
        lost = np.divide(gone, present, out=np.zeros_like(gone), where=present > 0)
        y_present = y_all + (y_all - y_gone) * lost
        y_present_m2 = y_m2 - y_gone_m2 - (y_all - y_gone) ** 2 * lost * mass
        zeros = remainder(present, n, self._n_rows)
        y_zero = np.divide(present * y_present - n * y_mean, zeros, out=y_present.copy(), where=zeros > 0)
        stored = _Joint(n, mean, m2, y_mean, cross, np.zeros_like(n))
        nothing = np.zeros_like(n)
        both = stored.merged(_Joint(zeros, nothing, nothing, y_zero, nothing, nothing))
        return both._replace(
            weight=present, y_mean=y_present, y_m2=np.where(present > 0, np.maximum(y_present_m2, 0), 0)
        )

    # ---------------------------------------------------------------- learning

    def update(self, X: Matrix, y: npt.NDArray[Any], weight: FloatArray | None = None) -> None:
        """Take rows into account, all of them or (on an error) none."""
        if weight is not None and not weight.all():
            present = np.flatnonzero(weight)
            X, y, weight = X[present], y[present], weight[present]
        if X.shape[0] == 0:
            return
        if sp.issparse(X) and X.shape[1] < self.n_features:  # features that vanished are zeros here
            X = sp.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], self.n_features))
        step = self._fading.most_rows or X.shape[0]
        if sp.issparse(X) or step < X.shape[0]:
            refuse_infinite(X)
        with untouched_on_error(self):
            if self._n_rows == 0:
                self._y_origin = float(y[0])
            self._make_room(max(self.n_features, X.shape[1]), sparse=sp.issparse(X))
            if step >= X.shape[0]:  # a slice of a sparse row costs more than the row
                self._learn(X, y, weight)
            else:
                for low in range(0, X.shape[0], step):
                    part = slice(low, low + step)
                    self._learn(X[part], y[part], None if weight is None else weight[part])

    def _make_room(self, n_features: int, *, sparse: bool) -> None:
        if self._dense is None and self._table is None:
            if sparse:
                self._table = aligned_zeros((n_features, 8))
            else:
                self._dense = np.zeros((6, n_features))
        elif self._table is not None and self._table.shape[0] < n_features:
            table = aligned_zeros((n_features, 8))
            table[: self._table.shape[0]] = self._table
            self._table = table
        elif self._dense is not None and self._dense.shape[1] < n_features:
            self._dense = np.pad(self._dense, ((0, 0), (0, n_features - self._dense.shape[1])))

    def _learn(self, X: Matrix, y: FloatArray, weight: FloatArray | None) -> None:
        n = X.shape[0]
        factors = self._fading.factors(n)
        one = np.ones(n) if weight is None else weight
        w = one if factors is None else one * factors
        y = y - self._y_origin
        if sp.issparse(X) and self._table is not None:
            indptr = X.indptr.astype(np.int64, copy=False)
            kernel.update_csr(indptr, X.indices, X.data, y, w, self._table)
        else:
            self._absorb(self._of_batch(X, y, w), X.shape[1], _joint_y(y, w))
        self._totals[1] += float(w.sum() if factors is None else (w * factors).sum())
        self._totals[[0, 2, 3]] = _merged_y(self._totals[[0, 2, 3]], _joint_y(y, w))
        self._n_rows += n
        factor = self._fading.advance(n)
        if factor is not None:
            self._scale(factor)

    def _of_batch(self, X: Matrix, y: FloatArray, w: FloatArray) -> _Joint:
        """Return the joint moments of one batch."""
        p = X.shape[1]
        if sp.issparse(X):
            batch = CoMoments()
            batch.update(X, y, w)
            batch._table[:, [3, 6]] += batch._y_origin  # type: ignore[index]
            batch._totals[2] += batch._y_origin
            return batch._joint(0, p)
        X = np.ascontiguousarray(X)
        mass, y_mean, y_m2 = _joint_y(y, w)
        pivot = X[0].astype(np.float64)
        if self._dense is not None and self._n_rows:
            known = min(p, self._dense.shape[1])
            pivot[:known] = np.where(self._dense[0, :known] > 0, self._dense[1, :known], pivot[:known])
        s1, s2, sxy = np.empty((3, p))
        centred = y - y_mean
        fine = [bool(np.all(np.abs(pivot) <= LIMIT))]

        def work(low: int, high: int) -> None:
            fine.append(kernel.accumulate(X, centred, w, pivot, s1, s2, sxy, low, high))

        over_features(p, X.size, work)
        # deviations of values within the limit from a pivot within it; NaN fails every comparison
        if not all(fine) or not np.all(s2 <= 4 * LIMIT**2 * mass):
            refuse_infinite(X)
            cells = np.zeros((p, 6))
            kernel.update_missing(X, y, w, cells)
            return _Joint(*cells.T)
        d = s1 / mass
        full = np.full(p, mass)
        # centred targets sum to 0, so the pivot does not enter the co-moment
        return _Joint(full, pivot + d, np.maximum(s2 - s1 * d, 0), full * 0 + y_mean, sxy, full * 0 + y_m2)

    def _absorb(self, other: _Joint, width: int, other_y: FloatArray) -> None:
        """Merge joint moments of the first ``width`` features in; ``other_y`` are those of the target."""
        if self._dense is not None:
            mine = _Joint(*self._dense[:, :width])
            self._dense[:, :width] = np.stack(mine.merged(other))
        elif self._table is not None:
            _absorb_into_table(self._table[:width], other, other_y)
            if width < len(self._table):  # a dense batch without the late features: missing there
                gone = _Joint(*np.zeros((6, len(self._table) - width)))
                _absorb_into_table(self._table[width:], gone, other_y)

    def fade(self, factor: float) -> None:
        """Let all rows so far weigh so many times as much, 0 < factor <= 1."""
        self._scale(factor)

    def _scale(self, factor: float) -> None:
        self._totals *= (factor, factor * factor, 1.0, factor)
        if self._dense is not None:
            self._dense[[0, 2, 4, 5]] *= factor
        if self._table is not None:
            self._table[:, [0, 2, 4, 5, 7]] *= factor

    def merge(self, other: Self) -> None:
        """Become the summary of this stream followed by the other's."""
        if not isinstance(other, CoMoments) or other.half_life != self.half_life:
            raise MergeError(
                f"only co-moments of equal half_life merge: {self.half_life} here, "
                f"{getattr(other, 'half_life', type(other).__name__)} there"
            )
        if other.n_rows == 0:
            return
        if other is self:
            self.merge(type(self).from_state(self.state()))
            return
        if self.n_rows == 0:
            self.__dict__.update(vars(type(self).from_state(other.state())))
            return
        factor = self._fading.precede(other._fading, other.n_rows)
        if factor != 1.0:
            self._scale(factor)
        width = other.n_features
        self._make_room(max(self.n_features, width), sparse=False)
        shift = other._y_origin - self._y_origin
        joint = other._joint(0, width)
        joint = joint._replace(y_mean=joint.y_mean + shift)
        other_y = other._totals[[0, 2, 3]] + (0.0, shift, 0.0)
        if other._table is not None and width < self.n_features:  # zeros, not missing
            joint = _with_zeros(joint, self.n_features - width, other_y)
        self._absorb(joint, len(joint.weight), other_y)
        self._totals[1] += other._totals[1]
        self._totals[[0, 2, 3]] = _merged_y(self._totals[[0, 2, 3]], other_y)
        self._n_rows += other.n_rows

    # ---------------------------------------------------------------- features

    def forget(self, columns: IntArray) -> None:
        """Let all rows so far count as missing for some features, as if NaN had come.

        Parameters
        ----------
        columns : the features
        """
        columns = checked_columns(columns, self.n_features)
        if self._dense is not None:
            self._dense[:, columns] = 0.0
        if self._table is not None:
            self._table[columns, :5] = 0.0
            self._table[columns, 5:] = self._totals[[0, 2, 3]]

    def renumbered(self, columns: IntArray, n_features: int) -> Self:
        """Return a copy whose features stand elsewhere, for merging with other features around them.

        Parameters
        ----------
        columns : feature i becomes feature ``columns[i]``
        n_features : how many features there are then; those never seen are 0 in all rows if the rows were
            sparse, and missing if they were dense
        """
        columns = checked_columns(columns[: self.n_features], n_features)
        state = self.state()
        if self._dense is not None:
            state["dense"] = np.zeros((6, n_features))
            state["dense"][:, columns] = self._dense
        if self._table is not None:
            state["table"] = np.zeros((n_features, 8))
            state["table"][columns] = self._table
        return type(self).from_state(state)

    # ---------------------------------------------------------------- state

    def state(self) -> Arrays:
        """Return everything as arrays."""
        cells = {"dense": self._dense, "table": self._table}
        return {
            "fading": self._fading.state(),
            "n_rows": np.array([self._n_rows], np.int64),
            "y_origin": np.array([self._y_origin]),
            "totals": self._totals,
            **{name: a for name, a in cells.items() if a is not None},
        }

    @classmethod
    def from_state(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Rebuild, after checking that the arrays fit together."""
        summary = cls()
        summary._fading = Fading.from_state(expect(arrays, "fading", np.float64, (3,)))
        summary._n_rows = int(expect(arrays, "n_rows", np.int64, (1,))[0])
        summary._y_origin = float(expect(arrays, "y_origin", np.float64, (1,))[0])
        summary._totals = np.array(expect(arrays, "totals", np.float64, (4,)))
        if "dense" in arrays or (summary._n_rows and "table" not in arrays):
            summary._dense = np.array(expect(arrays, "dense", np.float64, (6, None)))
        if "table" in arrays:
            saved = expect(arrays, "table", np.float64, (None, 8))
            summary._table = aligned_zeros(saved.shape)
            summary._table[...] = saved
        return summary


def _joint_y(y: FloatArray, w: FloatArray) -> FloatArray:
    """Weight, mean and centred second moment of a target."""
    mass = w.sum()
    mean = (w @ y) / mass
    return np.array([mass, mean, w @ (y - mean) ** 2])


def _merged_y(a: FloatArray, b: FloatArray) -> FloatArray:
    """Chan's formula for the target."""
    total = a[0] + b[0]
    delta, share = b[1] - a[1], b[0] / total
    return np.array([total, a[1] + delta * share, a[2] + b[2] + delta**2 * a[0] * share])


def _with_zeros(joint: _Joint, extra: int, y: FloatArray) -> _Joint:
    """Append features that are 0 in every row."""
    nothing = np.zeros(extra)
    zeros = _Joint(nothing + y[0], nothing, nothing, nothing + y[1], nothing, nothing + y[2])
    return _Joint(*(np.concatenate(pair) for pair in zip(joint, zeros, strict=True)))


def _absorb_into_table(table: FloatArray, other: _Joint, y: FloatArray) -> None:
    """Merge joint moments into a sparse table: all rows count as stored, absent ones as missing."""
    n, mean, m2, y_mean, cross, gone, y_gone, y_gone_m2 = table.T
    merged = _Joint(n, mean, m2, y_mean, cross, np.zeros_like(n)).merged(other)
    table[:, :5] = np.stack(merged[:5], axis=1)
    absent = y[0] - other.weight
    y_sum = y[0] * y[1] - other.weight * other.y_mean
    y_absent = np.divide(y_sum, absent, out=np.zeros_like(n), where=absent > 0)
    between = np.divide(other.weight, y[0]) * absent * (other.y_mean - y_absent) ** 2
    y_absent_m2 = np.where(absent > 0, np.maximum(y[2] - other.y_m2 - between, 0.0), 0.0)
    lost = _Joint(gone, y_gone, y_gone_m2, y_gone, y_gone_m2, y_gone_m2)
    lost = lost.merged(_Joint(absent, y_absent, y_absent_m2, y_absent, y_absent_m2, y_absent_m2))
    table[:, 5], table[:, 6], table[:, 7] = lost.weight, lost.mean, lost.m2
