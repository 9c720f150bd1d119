"""Quantiles of dense rows: one set of runs a class, and tables out of all of them together."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from streamsieve._kernels import quantiles_dense, quantiles_query
from streamsieve._kernels.threads import over_features
from streamsieve.exceptions import StateError
from streamsieve.protocols import Arrays, FloatArray, IntArray
from streamsieve.state import expect
from streamsieve.summaries._class_runs import BLOCK_BYTES, COST_OF_SORTING, ClassRuns
from streamsieve.summaries._equal_runs import EqualRuns
from streamsieve.summaries._few_values import FEW
from streamsieve.summaries._weighted_runs import WeightedRuns, ordered

#: Kinds of strands, as the query kernel knows them.
ROWS, RUN, TABLE = range(3)


class DenseRuns:
    """Runs of every class over the same features."""

    def __init__(self, n_classes: int, n_features: int, epsilon: float, *, weighted: bool) -> None:
        self.n_features, self.epsilon = n_features, epsilon
        self.dtype: np.dtype[Any] = np.dtype(np.float32)
        self._kind: type[EqualRuns | WeightedRuns] = WeightedRuns if weighted else EqualRuns
        self.classes: list[ClassRuns] = []
        self.grow(n_classes, n_features)

    @property
    def nbytes(self) -> int:
        return sum(runs.nbytes for runs in self.classes)

    @property
    def mass(self) -> FloatArray:
        """Mass of all rows, one a class."""
        return np.array([runs.mass for runs in self.classes])

    @property
    def error(self) -> FloatArray:
        """Certified error of a rank, relative to the mass of the class, one a class."""
        pairs = zip([runs.error for runs in self.classes], self.mass.tolist(), strict=True)
        return np.array([error / mass if mass > 0 else 0.0 for error, mass in pairs])

    # ---------------------------------------------------------------- learning

    def grow(self, n_classes: int, n_features: int) -> None:
        """Make room for late labels and late features, which were missing in all rows so far."""
        if n_features > self.n_features:
            for runs in self.classes:
                runs.grow(n_features)
            self.n_features = n_features
        while len(self.classes) < n_classes:
            self.classes.append(self._kind(self.n_features, self.epsilon, self.dtype))

    def take_weights(self) -> None:
        """Be ready for rows of unequal weight."""
        if self._kind is EqualRuns:
            self._kind = WeightedRuns
            self.classes = [WeightedRuns.of_equal(runs) for runs in self.classes]  # type: ignore[arg-type]

    def fit_type(self, dtype: np.dtype[Any]) -> None:
        """Store float64 as soon as such rows come; an untouched store takes the type of its first rows."""
        if dtype == np.float64 and self.dtype == np.float32:
            self.dtype = dtype
            for runs in self.classes:
                runs.astype(dtype)

    def update(self, X: npt.NDArray[Any], codes: IntArray, w: FloatArray | None) -> None:
        """Take rows into account; their values must have been checked."""
        self.fit_type(X.dtype)
        if X.shape[1] < self.n_features:  # features that vanished are missing here
            wider = np.full((X.shape[0], self.n_features), np.nan, X.dtype)
            wider[:, : X.shape[1]] = X
            X = wider
        if len(codes) == 1:
            self.classes[codes[0]].add(X, None, w)
            return
        n_classes = len(self.classes)
        order = np.argsort(codes.astype(np.int16) if n_classes < 2**15 else codes, kind="stable")
        edges = np.concatenate([[0], np.cumsum(np.bincount(codes, minlength=n_classes))])
        for c in np.flatnonzero(np.diff(edges)).tolist():
            self.classes[c].add(X, order[edges[c] : edges[c + 1]], w)

    def scale(self, factor: float) -> None:
        """Multiply every mass by a power of two."""
        for runs in self.classes:
            runs.scale(factor)

    def forget(self, columns: IntArray) -> None:
        """Let all rows so far count as missing for some features."""
        for runs in self.classes:
            runs.forget(columns)

    def renumber(self, columns: IntArray, n_features: int) -> None:
        """Move feature i to columns[i]; the others are missing in all rows so far."""
        for runs in self.classes:
            runs.renumber(columns, n_features)
        self.n_features = n_features

    def merge(self, other: DenseRuns, classes: IntArray) -> None:
        """Take the other's rows into account; its class i is ours ``classes[i]``.  The other is used up."""
        if self._kind is not other._kind:
            self.take_weights()
            other.take_weights()
        self.fit_type(other.dtype)
        other.fit_type(self.dtype)
        other.grow(len(other.classes), self.n_features)
        for c, theirs in zip(classes.tolist(), other.classes, strict=True):
            self.classes[c].merge(theirs)

    # ---------------------------------------------------------------- asking

    def tables(self, low: int, high: int, bins: int, *, whole: bool) -> tuple[FloatArray, FloatArray]:
        """Return counts (feature, class, bin) and cuts (feature, bins - 1) of features low..high."""
        counts = np.empty((high - low, len(self.classes), bins))
        cuts = np.empty((high - low, bins - 1))
        strands = _Strands(self.classes)
        width = max(1, int(strands.start[-1]))
        step = max(1, min(256, 2 * BLOCK_BYTES // (width * self.dtype.itemsize)))

        def work(first: int, last: int) -> None:
            for j in range(first, last, step):
                part = slice(j, min(last, j + step))
                strands.bins(low + part.start, low + part.stop, cuts[part], counts[part], whole=whole)

        over_features(high - low, (high - low) * width * COST_OF_SORTING, work)
        return counts, cuts

    def cdf(self, feature: int, x: FloatArray) -> FloatArray:
        """Return the estimated mass up to each x, one row a class."""
        out = np.zeros((len(self.classes), len(x)))
        for c, runs in enumerate(self.classes):
            column = runs.rows[: runs.filled, feature]
            weights = runs.weights[: runs.filled] if runs.weighted else np.ones(runs.filled)
            inside = ~np.isnan(column)
            order = np.argsort(column[inside])
            sums = np.concatenate([[0.0], np.cumsum(weights[inside][order])])
            out[c] = sums[np.searchsorted(column[inside][order], x, side="right")]
            size = int(runs.few.sizes[feature])
            present = runs.in_runs - runs.missing[feature]
            if size >= 0:
                sums = np.concatenate([[0.0], np.cumsum(runs.few.masses[feature : feature + 1, :size])])
                known = runs.few.values[feature, :size] if runs.few.useful else np.zeros(0)
                out[c] += sums[np.searchsorted(known, x, side="right")]
            else:
                below = np.full(len(x), runs.shift)
                for run in runs.runs:
                    below += run.weight * np.searchsorted(run.values[feature], x, side="right")
                out[c] += np.clip(below, 0.0, max(present, 0.0))
        return out

    # ---------------------------------------------------------------- state

    def state(self) -> Arrays:
        """Return everything as arrays."""
        return {
            "weighted": np.array([self._kind is WeightedRuns]),
            **{f"class{c}/{k}": a for c, runs in enumerate(self.classes) for k, a in runs.state().items()},
        }

    @classmethod
    def from_state(cls, arrays: Any, n_classes: int, n_features: int, epsilon: float) -> DenseRuns:
        """Rebuild."""
        weighted = bool(expect(arrays, "weighted", np.bool_, (1,))[0])
        made = cls(0, n_features, epsilon, weighted=weighted)
        for c in range(n_classes):
            prefix = f"class{c}/"
            own = {k[len(prefix) :]: a for k, a in arrays.items() if k.startswith(prefix)}
            made.classes.append(made._kind.from_state(own, n_features, epsilon))
        types = {runs.dtype for runs in made.classes}
        if len(types) > 1:
            raise StateError("the state's classes hold values of different types")
        made.dtype = types.pop() if types else made.dtype
        return made


class _Strands:
    """All sorted stretches of all classes, laid side by side for the query kernel.

    A strand is a run, the open buffer of a class (sorted for the occasion), or its tables of few values.
    """

    def __init__(self, classes: list[ClassRuns]) -> None:
        self.classes = classes
        kinds, widths, weights, of_class, u_starts = [], [], [], [], []
        u_width = 0
        for c, runs in enumerate(classes):
            parts = [(RUN, run.values.shape[1], run.weight) for run in runs.runs]
            if runs.filled:
                parts.append((ROWS, runs.filled, 0.0 if runs.weighted else 1.0))
            if runs.few.useful:
                parts.append((TABLE, FEW, 0.0))
            for kind, width, weight in parts:
                kinds.append(kind)
                widths.append(width)
                weights.append(weight)
                of_class.append(c)
                u_starts.append(u_width)
                u_width += 0 if weight else width
        self.kinds, self.of_class = np.array(kinds, np.int64), np.array(of_class, np.int64)
        self.start = np.concatenate([[0], np.cumsum(widths)]).astype(np.int64)
        self.weight, self.u_start = np.array(weights, np.float64), np.array(u_starts, np.int64)
        self.u_width = u_width
        self.mass = np.array([runs.mass for runs in classes])
        self.shift = np.array([runs.shift for runs in classes])

    def bins(self, low: int, high: int, cuts: FloatArray, counts: FloatArray, *, whole: bool) -> None:
        """Fill in cuts and counts of features low..high."""
        V = np.empty((high - low, int(self.start[-1])), self.classes[0].dtype if self.classes else np.float64)
        U = np.empty((high - low, max(1, self.u_width)))
        missing, sizes = np.empty((high - low, len(self.classes))), np.empty((high - low, len(self.classes)))
        strand = 0
        for c, runs in enumerate(self.classes):
            gone = runs.missing[low:high].copy()
            for run in runs.runs:
                V[:, self._at(strand)] = run.values[low:high]
                strand += 1
            if runs.filled:
                V[:, self._at(strand)] = self._sorted_rows(runs, low, high, strand, U, gone)
                strand += 1
            if runs.few.useful:
                V[:, self._at(strand)] = runs.few.values[low:high]
                U[:, self._u_at(strand)] = np.cumsum(runs.few.masses[low:high], axis=1)
                strand += 1
            missing[:, c] = gone
            sizes[:, c] = runs.few.sizes[low:high]
        quantiles_query.bins(
            V, U, self.start, self.u_start, self.weight, self.of_class, self.kinds, sizes.astype(np.int64),
            self.shift, self.mass, missing, whole, cuts, counts,
        )  # fmt: skip

    def _sorted_rows(
        self, runs: ClassRuns, low: int, high: int, strand: int, U: FloatArray, gone: FloatArray
    ) -> npt.NDArray[Any]:
        rows = runs.rows[: runs.filled, low:high]
        if runs.weighted:
            values, U[:, self._u_at(strand)] = ordered(rows, runs.weights[: runs.filled], gone)
            return values
        out = np.empty((high - low, runs.filled), runs.dtype)
        quantiles_dense.transpose(rows, out, gone)
        out.sort(axis=1)
        return out

    def _at(self, strand: int) -> slice:
        return slice(int(self.start[strand]), int(self.start[strand + 1]))

    def _u_at(self, strand: int) -> slice:
        first = int(self.u_start[strand])
        return slice(first, first + int(self.start[strand + 1] - self.start[strand]))
