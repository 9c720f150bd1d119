"""Which of some columns make another one independent of the target: by correlations, by tables, or by type.

All keep the columns that are candidates for the target's neighbors, and answer two questions.  The first
two search with the kernels of the column selectors, so that one column and all sets cost one call.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve._kernels import partial, tables_search
from streamsieve.decisions import REASON_CODE
from streamsieve.dependence.blocks import dense_column, without_offsets
from streamsieve.independence import ChiSquareTest, FisherZ, GSquared
from streamsieve.independence.by_type import RelevanceByType
from streamsieve.independence.conditional_by_type import ConditionalByType
from streamsieve.independence.contingency_test import TableTest
from streamsieve.protocols import BoolArray, ColumnBlock, FloatArray, IntArray, Matrix, Reason

TABLE_TESTS: dict[str, type[TableTest]] = {"g2": GSquared, "chi2": ChiSquareTest}
#: Members that a set may have.
LARGEST_SET = 3
RELEVANT = REASON_CODE[Reason.RELEVANT]


class Alone(NamedTuple):
    """How every feature stands to the target on its own."""

    relevant: BoolArray
    statistic: FloatArray
    p_value: FloatArray
    #: Rises from the most associated feature to the least.
    rank: FloatArray


class Separation(ABC):
    """Candidates in order of arrival, and sets of them that separate one from the target."""

    alone: Alone
    _features: list[int]
    _left: BoolArray

    def features(self) -> list[int]:
        """Return the candidates that are left, in order of arrival."""
        return [f for f, left in zip(self._features, self._left, strict=True) if left]

    @abstractmethod
    def enter(self, feature: int) -> None:
        """Add a candidate, the newcomer."""

    @abstractmethod
    def separating(self, place: int) -> list[int] | None:
        """Return the first set that separates a candidate from the target, as places, or None.

        For the newcomer (the last place) any set of the others; for another one sets with the newcomer.
        """

    def leave(self, place: int) -> None:
        """Take a candidate out; the others keep their places until the next one enters."""
        self._left[place] = False


class ByCorrelation(Separation):
    """Candidates as standardized columns with their correlations, for `FisherZ`.

    ``most`` bounds the members of a set; ``skip`` passes over sets that the rows do not suffice to test,
    instead of calling the test independent.
    """

    def __init__(self, X: Matrix, test: FisherZ, *, most: int, skip: bool) -> None:
        X = sp.csc_array(X) if sp.issparse(X) else X
        measured = test.measure(X)
        # the p-values of correlations near 1 are rounding
        r = np.abs(measured.statistic)
        self.alone = Alone(measured.reason == RELEVANT, r, np.asarray(measured.p_value), -r)
        self._X = without_offsets(X) if sp.issparse(X) else X
        testable = sum(test.freedom(size) > 0 for size in range(1, most + 1))
        self._most = testable if skip else most
        self._share = np.array([test.share_left(size) for size in range(LARGEST_SET + 1)])
        self._basis, self._single = test.basis, test.n_contrasts == 1
        self._columns, self._total = np.zeros((0, test.n)), np.zeros((0, 0))
        self._loads = np.zeros((0, test.n_contrasts))
        self._features = []
        self._left = np.zeros(0, bool)

    def enter(self, feature: int) -> None:
        """Add a candidate: one product with every other."""
        column = self._X[:, [feature]]
        x = (column.toarray() if sp.issparse(column) else column)[:, 0].astype(np.float64)
        x = x - x[0]
        for _ in range(2):  # the second time takes out what rounding left
            x -= x.mean()
        x /= np.sqrt(x @ x)
        self._features = [*self.features(), feature]
        left, q = self._left, len(self._features)
        if not left.all():  # those that left since the last one came
            self._columns, self._loads = self._columns[left], self._loads[left]
            self._total = self._total[np.ix_(left, left)]
        total = np.ones((q, q))
        total[:-1, :-1] = self._total
        total[-1, :-1] = total[:-1, -1] = self._columns @ x
        self._total, self._left = total, np.ones(q, bool)
        self._columns = np.vstack([self._columns, x])
        self._loads = np.vstack([self._loads, x @ self._basis])
        self._within = total - self._loads @ self._loads.T
        self._variances = np.ones(q), self._within.diagonal().copy()
        # what is left of the others once the newcomer is known; made when an older column is asked for
        self._given: tuple[FloatArray, ...] | None = None

    def leave(self, place: int) -> None:
        """Take a candidate out: a column without variance takes no part in a search."""
        super().leave(place)
        self._variances[0][place] = 0.0
        if self._given is not None and place < len(self._features) - 1:
            self._given[1][place] = 0.0

    def separating(self, place: int) -> list[int] | None:
        """Search the correlations; of an older column, those given the newcomer."""
        q = len(self._features) - 1
        found = np.zeros(LARGEST_SET, np.int64)
        if place == q:
            size = self._search(self._total, self._within, *self._variances, place, q, 0, found)
            return found[:size].tolist() if size else None
        if self._most == 0:
            return None
        given_t, dt, given_w, dw = self._given = self._given or self._swept(q)
        t, w = float(dt[place]), float(dw[place])
        determined = self._single and self._within[q, q] <= 1e-10
        if w > self._share[1] * t or t <= 1e-10 or determined:
            return [q]
        size = self._search(given_t, given_w, dt, dw, place, q, 1, found)
        return [*found[: size - 1].tolist(), q] if size else None

    def _swept(self, q: int) -> tuple[FloatArray, ...]:
        out = []
        for matrix in (self._total, self._within):
            given, diagonal = np.zeros((q, q)), np.zeros(q)
            partial.sweep(matrix, q, given, diagonal)
            out += [given, diagonal]
        out[1][~self._left[:q]] = 0.0
        return tuple(out)

    def _search(
        self, total: FloatArray, within: FloatArray, dt: FloatArray, dw: FloatArray, place: int, q: int,
        known: int, found: IntArray,
    ) -> int:  # fmt: skip
        t, w = float(dt[place]), float(dw[place])
        dt = dt.copy()
        dt[place] = 0.0  # no column separates itself
        size = partial.separator(
            total, within, total[place], within[place], t, w, dt, dw, q, known, self._most, self._share,
            self._single, np.empty((4, max(1, q))), found,
        )  # fmt: skip
        return int(size)


class ByTables(Separation):
    """Candidates as levels row by row, for `GSquared` and `ChiSquareTest`; arguments as `ByCorrelation`."""

    def __init__(self, X: Matrix, test: TableTest, *, most: int, skip: bool) -> None:
        X = sp.csc_array(X) if sp.issparse(X) else X
        reason, statistic, tested, freedom, self._all_levels = test.relevance(X)
        p_value = test.p_values(tested, freedom)[:]
        self.alone = Alone(reason == RELEVANT, statistic, p_value, p_value)
        self._test, self._most, self._skip = test, most, skip
        self._pieces = test.pieces(X)
        relevant = self._all_levels[self.alone.relevant]
        widest = int(relevant.max(initial=2))
        self._room = test.room(widest)
        self._critical = test.bounds(widest, most)
        self._edges = np.zeros(test.n_classes + 1, np.int64)
        self._numbers = np.zeros((0, test.n), np.uint16)
        self._features = []
        self._left = np.zeros(0, bool)

    def enter(self, feature: int) -> None:
        """Add a candidate: its levels, row by row."""
        test = self._test
        new = test.encode(self._pieces, np.array([feature]), np.arange(test.n), test.n)
        self._features = [*self.features(), feature]
        self._numbers = np.vstack([self._numbers[self._left], new])
        self._levels: npt.NDArray[Any] = self._all_levels[self._features]
        self._left = np.ones(len(self._features), bool)

    def separating(self, place: int) -> list[int] | None:
        """Search the tables."""
        test, q = self._test, len(self._features) - 1
        others = np.flatnonzero(self._left[:q] & (np.arange(q) != place))
        ratio, occupied, *how = test.rules
        found = np.zeros(4, np.int64)
        size, *_ = tables_search.separate(
            None, self._numbers, self._levels, place, -1 if place == q else q, others,
            len(others), self._most, ratio, self._skip, occupied, *how,
            test.y, test.class_counts, self._edges, test.g, test.log, test.inverse,
            self._critical,
            None, None, None, *self._room, found,  # the search knows bits, too; here all are numbers
            np.empty(test.n, np.uint64), np.empty(64, np.uint64),
        )  # fmt: skip
        return found[:size].tolist() if size else None


class ByType(Separation):
    """Candidates of mixed types, for `RelevanceByType`; arguments as `ByCorrelation`, and the types."""

    def __init__(self, X: Matrix, types: IntArray, test: RelevanceByType, *, most: int, skip: bool) -> None:
        self._X = sp.csc_array(X) if sp.issparse(X) else X
        measured = test.measure_block(ColumnBlock(self._X, types=types))
        strength = np.abs(measured.statistic)
        self.alone = Alone(measured.reason == RELEVANT, strength, np.asarray(measured.p_value), -strength)
        self._types, self._most, self._skip = measured.columns[3], most, skip
        self._tests, self._level = ConditionalByType(test), test.correlation.level
        self._features = []
        self._left = np.zeros(0, bool)

    def enter(self, feature: int) -> None:
        """Add a candidate, and forget those that left."""
        self._features = [*self.features(), feature]
        self._left = np.ones(len(self._features), bool)
        self._tests.keep_only(self._features)
        self._tests.add(feature, dense_column(self._X, feature), int(self._types[feature]))

    def separating(self, place: int) -> list[int] | None:
        """Try the sets one after the other, the small ones first."""
        q = len(self._features) - 1
        always = () if place == q else (q,)
        others = [i for i in np.flatnonzero(self._left[:q]).tolist() if i != place]
        names, newcomer = [self._features[i] for i in others], self._features[q] if always else None
        for some in self._tests.open_sets(self._features[place], names, self._most, newcomer):
            places = [*(others[i] for i in some), *always]
            tested = self._tests.given(self._features[place], [self._features[i] for i in places])
            if tested.p_value > self._level if tested.reliable else not self._skip:
                return places
        return None
