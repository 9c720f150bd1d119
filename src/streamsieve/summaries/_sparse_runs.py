"""Distribution of every (feature, class) over the non-zeros of CSR rows; the zeros are inferred.

Two stores.  The hot one has a slot a feature for the first non-zero value it ever had, which is all there is
to binary and one-hot columns; it is exact.  Every other non-zero becomes an entry (prefix, value, mass) of
the cold one, with ``prefix = feature << shift | class``.  STAGE entries make a sorted run of level 0; two
runs of level d - 1 make one of level d, like the carries of a binary counter.  No feature has an object.

Bound.  Merging adds masses at equal values, which is exact.  Thinning a (feature, class) of mass M to at most
``most`` values moves the mass up to any x by at most M / most (see the kernel).  A run of level d has been
thinned at most once at each of the depths 0 .. d: as a stage, and at each join.  With
``most = (d + 1)(d + 2) / epsilon`` at depth d the shares add up to at most epsilon, for any number of rows
and any tree of merges, because only runs of one level are ever joined.  M is the feature's own mass in that
class without zeros: rare features are far more exact, and up to 2 / epsilon values a class are exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from streamsieve._kernels import quantiles_sparse as kernel
from streamsieve._kernels.aligned import CACHE_LINE, aligned_zeros
from streamsieve._kernels.threads import over_features
from streamsieve.exceptions import StateError
from streamsieve.protocols import Arrays, BoolArray, FloatArray, IntArray
from streamsieve.state import expect
from streamsieve.summaries._entries import (
    EFFORT,
    Run,
    joined,
    renamed,
    run_renamed,
    sorted_run,
    with_classes_pooled,
)
from streamsieve.summaries._fading import remainder

#: Entries that make a run: cut by their number, never by batches.
STAGE = 2**20
#: Entries there is room for at first; the room doubles.
ROOM = 2**10
#: No machine holds the entries of so many levels.
LEVELS = 44

_UNIT = np.ones(1)
_NOTHING = np.zeros((0, 1))


class SparseRuns:
    """Masses of the non-zero values of every (feature, class), to a rank error of epsilon.

    Parameters
    ----------
    n_classes, n_features : what there is room for; see :meth:`grow`
    epsilon : the mass up to any x errs by at most this share of a feature's non-zero mass in a class

    Notes
    -----
    The owner knows the classes as wholes and passes them in: ``totals`` are the masses of all rows of each
    class, ``rows`` their numbers.
    """

    def __init__(self, n_classes: int, n_features: int, epsilon: float) -> None:
        self.n_classes, self.n_features, self.epsilon = n_classes, n_features, epsilon
        self._shift = _shift(n_classes)
        self._hot = aligned_zeros((n_features, _width(n_classes)))
        self._missing: FloatArray | None = None  # as long as nothing was
        self._prefix, self._value = np.empty(min(ROOM, STAGE), np.int64), np.empty(min(ROOM, STAGE))
        self._mass: FloatArray | None = None  # as long as all are 1
        self._fill = 0
        self._levels: dict[int, Run] = {}
        self._view: Run | None = None

    # ---------------------------------------------------------------- facts

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes, without what is kept only to answer the next question sooner."""
        hot = self._hot[: self.n_features].nbytes
        missing = 0 if self._missing is None else self._missing[: self.n_features].nbytes
        stage = self._prefix.nbytes + self._value.nbytes + (0 if self._mass is None else self._mass.nbytes)
        return hot + missing + stage + sum(run.nbytes for run in self._levels.values())

    @property
    def error(self) -> float:
        """Certified: how far the mass up to any x may be off, as a share of its (feature, class)."""
        return max((run.error for run in self._levels.values()), default=0.0)

    def masses(self, low: int, high: int, totals: FloatArray, rows: IntArray) -> FloatArray:
        """Return the mass that is not missing, (feature, class), of features low..high."""
        if self._missing is None:
            return np.repeat(totals[None, :], high - low, axis=0)
        return remainder(totals, self._missing[low:high, : self.n_classes], rows)

    def tables(
        self, low: int, high: int, bins: int, totals: FloatArray, rows: IntArray, whole: bool,  # noqa: FBT001
    ) -> FloatArray:  # fmt: skip
        """Return the mass of (feature, class, bin) for features low..high, in bins of about equal mass.

        ``whole`` says that all masses are whole numbers; a bin's share of the mass is then rounded down.
        """
        # sums of whole numbers are exact, so the rest of one is no rounding
        view, stored, zeros = self._stored(low, high, totals, np.zeros_like(rows) if whole else rows)
        hot, weight = self._hot[low:high], (stored + zeros).sum(axis=1)
        counts = np.zeros((high - low, self.n_classes, bins))

        def work(start: int, end: int) -> None:
            kernel.fill_tables(
                view.prefix, view.value, view.mass, self._shift, low,
                hot, zeros, weight, whole, start, end, counts,
            )  # fmt: skip

        over_features(high - low, EFFORT * counts.size, work)
        return counts

    def cdf(self, feature: int, x: FloatArray, totals: FloatArray, rows: IntArray) -> FloatArray:
        """Return the estimated mass of each class (first axis) at values <= x, zeros included."""
        view, _, zeros = self._stored(feature, feature + 1, totals, rows)
        edges = [kernel.first_of(view.prefix, self._shift, f) for f in (feature, feature + 1)]
        cold, hot = view.part(slice(*edges)), self._hot[feature, : 1 + self.n_classes]
        order = np.argsort(x)
        # the first x that a value counts for; after the last x there is a place for what counts for none
        places = np.searchsorted(x[order], np.append(cold.value, [0.0, hot[0]]))
        out = np.zeros((self.n_classes, len(x) + 1))
        np.add.at(out, (cold.prefix & ((1 << self._shift) - 1), places[:-2]), cold.mass)
        out[:, places[-2]] += zeros[0]
        out[:, places[-1]] += hot[1:]
        answer = np.empty((self.n_classes, len(x)))
        answer[:, order] = out.cumsum(axis=1)[:, :-1]
        return answer

    def _stored(
        self, low: int, high: int, totals: FloatArray, rows: IntArray
    ) -> tuple[Run, FloatArray, FloatArray]:
        """Return all entries, and the masses (feature, class) of values that are not 0 and that are."""
        view = self._pooled()
        stored = self._hot[low:high, 1 : 1 + self.n_classes].copy()
        kernel.add_stored(view.prefix, view.mass, self._shift, low, high, stored)
        return view, stored, remainder(self.masses(low, high, totals, rows), stored, rows)

    def _pooled(self) -> Run:
        """All entries by feature and value, classes together; made once a state."""
        if self._view is None:
            fill = self._fill
            mass = None if self._mass is None else self._mass[:fill].copy()
            staged = sorted_run(self._prefix[:fill].copy(), self._value[:fill].copy(), mass)
            view, *rest = sorted([staged, *self._levels.values()], key=len)
            for run in rest:
                view = joined(view, run)
            self._view = with_classes_pooled(view, self._shift)
        return self._view

    # ---------------------------------------------------------------- learning

    def grow(self, n_classes: int, n_features: int) -> None:
        """Make room for late labels and late features; rows so far count as zeros for the latter."""
        if (n_classes, n_features) == (self.n_classes, self.n_features):
            return
        if _shift(n_classes) != self._shift:
            self._rename(None, _shift(n_classes))
        length, width = len(self._hot), _width(n_classes)
        if n_features > length:  # with room to spare, because features may come one by one
            length = max(n_features, length + length // 4)
        if (length, width) != self._hot.shape:
            self._move(slice(self.n_features), length, width)
        self.n_classes, self.n_features, self._view = n_classes, n_features, None

    def update(self, X: Any, codes: IntArray, w: FloatArray | None) -> None:
        """Take CSR rows into account; values must have been checked, and room made for codes and columns."""
        self._view = None
        indptr = X.indptr.astype(np.int64, copy=False)
        rows = (indptr, X.indices, X.data, codes, _UNIT if w is None else w, w is not None)
        row, entry = 0, int(indptr[0])
        while row < len(codes):
            if w is not None:
                self._need_masses()
            row, entry, self._fill = kernel.ingest(
                *rows, self._hot, _NOTHING if self._missing is None else self._missing, self._shift,
                self._prefix, self._value, _UNIT if self._mass is None else self._mass,
                self._mass is not None, self._fill, row, entry,
            )  # fmt: skip
            if self._fill == len(self._value):
                self._make_room()
            elif row < len(codes):  # it stopped at the first missing value there ever was
                self._need_missing()

    def scale(self, factor: float) -> None:
        """Multiply every mass; what gets too small for a number is gone."""
        self._view = None
        self._hot[: self.n_features, 1:] *= factor
        if self._missing is not None:
            self._missing *= factor
        if self._fill:
            staged = self._need_masses()[: self._fill]
            staged *= factor
            self._keep_staged(staged > 0)
        runs = {d: Run(r.prefix, r.value, r.mass * factor, r.error) for d, r in self._levels.items()}
        self._keep_levels({d: run if run.mass.all() else run.part(run.mass > 0) for d, run in runs.items()})

    def forget(self, columns: IntArray, totals: FloatArray) -> None:
        """Let all rows so far, of masses ``totals``, count as missing for some features."""
        self._view = None
        stays = np.ones(self.n_features, bool)
        stays[columns] = False
        self._hot[columns] = 0.0
        self._need_missing()[columns, : self.n_classes] = totals
        self._keep_staged(stays[self._prefix[: self._fill] >> self._shift])
        self._keep_levels({d: run.part(stays[run.prefix >> self._shift]) for d, run in self._levels.items()})

    def renumber(self, columns: IntArray, n_features: int) -> None:
        """Let feature i be feature ``columns[i]`` of ``n_features`` from now on."""
        self._rename(columns, self._shift)
        self._move(columns, n_features, self._hot.shape[1])
        self.n_features, self._view = n_features, None

    def merge(self, other: Self, classes: IntArray) -> None:
        """Take in what another learnt about the first of our features; its class i is our ``classes[i]``."""
        if other is self:
            twin = type(self).from_state(self.state(), self.n_classes, self.n_features, self.epsilon)
            self.merge(twin, classes)
            return
        self._view = None
        p, fill, place = other.n_features, other._fill, 0
        if other._missing is not None:
            self._need_missing()[:p, classes] += other._missing[:p, : other.n_classes]
        while place < p * other.n_classes:
            place, self._fill = kernel.absorb_hot(
                other._hot[:p], classes, self._hot, self._shift,
                self._prefix, self._value, _UNIT[:0] if self._mass is None else self._mass, self._fill, place,
            )  # fmt: skip
            if self._fill == len(self._value):
                self._make_room()
            elif place < p * other.n_classes:  # it stopped at the first mass that may not be 1
                self._need_masses()
        places = (other._shift, self._shift, None, classes)
        mass = None if other._mass is None else other._mass[:fill]
        self._put(renamed(other._prefix[:fill], *places), other._value[:fill], mass)
        for d in sorted(other._levels):
            self._carry(d, run_renamed(other._levels[d], *places))

    # ---------------------------------------------------------------- the stage and the runs

    def _need_masses(self) -> FloatArray:
        if self._mass is None:
            self._mass = np.ones(len(self._value))
        return self._mass

    def _need_missing(self) -> FloatArray:
        if self._missing is None:
            self._missing = np.zeros((len(self._hot), self._hot.shape[1] - 1))
        return self._missing

    def _make_room(self) -> None:
        """The stage is full: double it, or turn it into a run."""
        if self._fill < STAGE:
            room = min(STAGE, 2 * self._fill)
            self._prefix, self._value = _extended(self._prefix, room), _extended(self._value, room)
            self._mass = None if self._mass is None else _extended(self._mass, room)
        else:
            run = sorted_run(self._prefix, self._value, self._mass, most=self._most(0))
            self._fill, self._mass = 0, None
            self._carry(0, run)

    def _put(self, prefix: IntArray, value: FloatArray, mass: FloatArray | None) -> None:
        """Stage entries, in their order."""
        done = 0
        while done < len(prefix):
            if mass is not None:
                self._need_masses()
            n = min(len(prefix) - done, len(self._value) - self._fill)
            there, here = slice(done, done + n), slice(self._fill, self._fill + n)
            self._prefix[here], self._value[here] = prefix[there], value[there]
            if self._mass is not None:
                self._mass[here] = 1.0 if mass is None else mass[there]
            done, self._fill = done + n, self._fill + n
            if self._fill == len(self._value):
                self._make_room()

    def _carry(self, level: int, run: Run) -> None:
        while level in self._levels:
            level += 1
            run = joined(self._levels.pop(level - 1), run, most=self._most(level))
        self._levels[level] = run

    def _most(self, depth: int) -> int:
        """How many values a (feature, class) may keep at some depth."""
        return int((depth + 1) * (depth + 2) / self.epsilon) + 1

    def _keep_staged(self, stays: BoolArray) -> None:
        fill, self._fill = self._fill, int(stays.sum())
        for array in (self._prefix, self._value, self._mass):
            if array is not None:
                array[: self._fill] = array[:fill][stays]

    def _keep_levels(self, levels: dict[int, Run]) -> None:
        self._levels = {d: run for d, run in levels.items() if len(run)}

    def _rename(self, columns: IntArray | None, shift: int) -> None:
        """Let all entries follow features that move, or classes that need more bits."""
        fill, places = self._fill, (self._shift, shift, columns, None)
        self._prefix[:fill] = renamed(self._prefix[:fill], *places)
        self._levels = {d: run_renamed(run, *places) for d, run in self._levels.items()}
        self._shift = shift

    def _move(self, columns: IntArray | slice, length: int, width: int) -> None:
        """Move the features' slots to other places of tables of another size."""
        hot = aligned_zeros((length, width))
        hot[columns, : self._hot.shape[1]] = self._hot[: self.n_features]
        if self._missing is not None:
            missing = np.zeros((length, width - 1))
            missing[columns, : self._missing.shape[1]] = self._missing[: self.n_features]
            self._missing = missing
        self._hot = hot

    # ---------------------------------------------------------------- state

    def state(self) -> Arrays:
        """Return everything as arrays; the names of a run's end with its level."""
        levels, fill = sorted(self._levels), self._fill
        arrays: Arrays = {
            "hot": self._hot[: self.n_features, : 1 + self.n_classes],
            "stage_prefix": self._prefix[:fill],
            "stage_value": self._value[:fill],
            "levels": np.array(levels, np.int64),
            "errors": np.array([self._levels[d].error for d in levels], np.float64),
        }
        for d in levels:
            run = self._levels[d]
            arrays |= {f"prefix_{d}": run.prefix, f"value_{d}": run.value, f"mass_{d}": run.mass}
        if self._mass is not None and np.any(self._mass[:fill] != 1):
            arrays["stage_mass"] = self._mass[:fill]
        if self._missing is not None:
            arrays["missing"] = self._missing[: self.n_features, : self.n_classes]
        return arrays

    @classmethod
    def from_state(
        cls, arrays: Mapping[str, npt.NDArray[Any]], n_classes: int, n_features: int, epsilon: float
    ) -> Self:
        """Rebuild, after checking that the arrays fit together."""
        hot = expect(arrays, "hot", np.float64, (n_features, 1 + n_classes))
        unseen = hot[:, 0] == 0
        sound = np.isfinite(hot[:, 0]).all() and _are_masses(hot[:, 1:]) and not hot[unseen, 1:].any()
        _refuse_unless(sound, "first values of features")
        runs = cls(n_classes, n_features, epsilon)
        runs._hot[:, : 1 + n_classes] = hot
        if "missing" in arrays:
            missing = expect(arrays, "missing", np.float64, (n_features, n_classes))
            _refuse_unless(_are_masses(missing), "missing masses")
            runs._need_missing()[:, :n_classes] = missing
        runs._restore_levels(arrays)
        prefix = expect(arrays, "stage_prefix", np.int64, (None,))
        value = expect(arrays, "stage_value", np.float64, prefix.shape)
        mass = expect(arrays, "stage_mass", np.float64, prefix.shape) if "stage_mass" in arrays else None
        _refuse_unless(len(prefix) < STAGE and runs._fits(prefix, value, mass, ordered=False), "stage")
        runs._put(prefix, value, mass)
        return runs

    def _restore_levels(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        levels = expect(arrays, "levels", np.int64, (None,))
        errors = expect(arrays, "errors", np.float64, levels.shape)
        rising = np.all((levels >= 0) & (levels < LEVELS)) and np.all(np.diff(levels) > 0)
        _refuse_unless(rising, "levels")
        for level, error in zip(levels.tolist(), errors.tolist(), strict=True):
            prefix = expect(arrays, f"prefix_{level}", np.int64, (None,))
            value = expect(arrays, f"value_{level}", np.float64, prefix.shape)
            mass = expect(arrays, f"mass_{level}", np.float64, prefix.shape)
            bound = sum(1 / self._most(depth) for depth in range(level + 1)) * (1 + 1e-9)
            sound = len(prefix) > 0 and 0 <= error <= bound and self._fits(prefix, value, mass, ordered=True)
            _refuse_unless(sound, f"run of level {level}")
            self._levels[level] = Run(prefix.copy(), value.copy(), mass.copy(), error)
        if self._levels:  # the stage was full once
            self._prefix, self._value = np.empty(STAGE, np.int64), np.empty(STAGE)

    def _fits(self, prefix: IntArray, value: FloatArray, mass: FloatArray | None, *, ordered: bool) -> bool:
        hot = self._hot[: self.n_features]
        return bool(kernel.is_sound(prefix, value, mass, self._shift, self.n_classes, hot, ordered))


def _are_masses(array: FloatArray) -> bool:
    return bool(np.all((array >= 0) & (array < np.inf)))


def _refuse_unless(sound: Any, what: str) -> None:
    if not sound:
        raise StateError(f"the state's {what} cannot have come from rows")


def _shift(n_classes: int) -> int:
    """Bits of a prefix that hold the class."""
    return max(n_classes - 1, 0).bit_length()


def _width(n_classes: int) -> int:
    """Numbers in a hot slot: few, but such that no slot straddles two cache lines that needs only one."""
    line = CACHE_LINE // 8
    return 1 << n_classes.bit_length() if n_classes < line else -(-(1 + n_classes) // line) * line


def _extended(array: npt.NDArray[Any], length: int) -> npt.NDArray[Any]:
    longer = np.ones(length, array.dtype)
    longer[: len(array)] = array
    return longer
