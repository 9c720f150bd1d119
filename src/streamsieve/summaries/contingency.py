"""Exact counts of every value of every feature in every class."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve._parameters import check_number
from streamsieve._validation import LIMIT, feature_label, refuse_infinite
from streamsieve.exceptions import (
    CapabilityError,
    InputError,
    MergeError,
    ParameterError,
    SchemaError,
    StateError,
)
from streamsieve.protocols import Arrays, BoolArray, FloatArray, IntArray
from streamsieve.state import expect, register
from streamsieve.summaries._alphabet import Alphabet
from streamsieve.summaries._fading import Fading
from streamsieve.summaries._labels import Labels
from streamsieve.summaries._level_tables import OTHERS, LevelTables
from streamsieve.summaries._tables import TableBlock, features_at_once, table_block
from streamsieve.summaries.moments import checked_columns

if TYPE_CHECKING:
    from streamsieve.protocols import Matrix

#: Values that get a level of their own, at most.
LARGEST_CAP = 65_000
_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


class Level(StrEnum):
    """A level that is not a value."""

    #: What stands last among the levels of a feature that had more values than the cap.
    OTHER = "other"


@register
class Contingency:
    """Count every value of every feature in every class, exactly, for categories and small numbers.

    Dense and sparse rows, text, weights, missing values (NaN and None, skipped feature by feature), labels,
    features and values that appear late, fading, merging, and taking rows out again.

    Parameters
    ----------
    half_life : float or None, default=None
        Rows after which an observation weighs half, at least 1.  None never forgets.
    cap : int, default=256
        Different values a feature may have, 1 <= cap <= 65,000, not counting 0.  Values that come later share
        one level, "other", which counts exactly any other value; ``overflowed`` tells for which features.

    Notes
    -----
    A value is a number or a text; 1 and "1" are two values.  The value 0 never counts as "other", so that
    sparse rows, whose zeros are inferred, give what dense rows give.  A dense row without a feature lacks its
    value, a sparse one holds a zero, whatever other rows of the stream are.

    A merge reads as "then came the other's rows", and equals that exactly, with one exception: if the other
    has overflowed, values that are levels here may be hidden among its "other".

    Counts are sums of weights, up to a common factor under fading, and exact for whole weights up to 2**53.
    A value that has faded to 2**-60 of its feature, which is below all rounding, is forgotten, and makes room
    for a new one: after a change, a feature that has overflowed recovers.

    Memory: 12 bytes a value, 8 a value and class, 24 a feature, and 8 a feature and class once sparse rows
    came; and room for up to three times as many values.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve.summaries import Contingency
    >>> table = Contingency()
    >>> X = np.array([["red", 1], ["blue", 1], ["red", None]], dtype=object)
    >>> table.update(X, np.array(["a", "b", "b"]))
    >>> table.classes, table.levels(0), table.levels(1)
    (['a', 'b'], ['blue', 'red'], [1.0])
    >>> table.counts(0)
    array([[0., 1.],
           [1., 1.]])
    >>> table.remove(X[:1], np.array(["a"]))
    >>> table.counts(1)
    array([[0.],
           [1.]])
    """

    target: ClassVar[str] = "classes"

    def __init__(self, half_life: float | None = None, cap: int = 256) -> None:
        check_number("cap", cap, low=1, high=LARGEST_CAP, integer=True)
        self._labels = Labels()
        self._alphabet = Alphabet()
        self._fading = Fading(half_life)
        self._rows = np.zeros(0, np.int64)
        self._mass = np.zeros(0)
        self._squares = np.zeros(0)
        #: Mass of the sparse rows: where a feature is not stored in these, it is 0.
        self._sparse_mass = np.zeros(0)
        self._tables = LevelTables(int(cap), fades=half_life is not None)

    # ---------------------------------------------------------------- facts

    @property
    def classes(self) -> list[Any]:
        """Labels seen, in the order of the arrays' class axis."""
        return self._labels.values

    @property
    def half_life(self) -> float | None:
        """Rows after which an observation weighs half."""
        return self._fading.half_life

    @property
    def cap(self) -> int:
        """Different values a feature may have, not counting 0."""
        return self._tables.cap

    @property
    def n_rows(self) -> int:
        """Rows seen, those of weight 0 and those taken out again excepted."""
        return int(self._rows.sum())

    @property
    def n_features(self) -> int:
        """Features seen."""
        return self._tables.n_features

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes."""
        return self._tables.nbytes + self._alphabet.nbytes

    @property
    def overflowed(self) -> BoolArray:
        """Whether a feature has values that are counted as "other"."""
        return np.asarray(self._tables.largest_keys == OTHERS)

    def levels(self, feature: int) -> list[Any]:
        """Return the values of a feature: numbers in order, then texts in order, then ``Level.OTHER``."""
        return self._table(feature)[0]

    def counts(self, feature: int) -> FloatArray:
        """Return the mass of every (class, level) of a feature, up to a common factor."""
        return self._table(feature)[1]

    def _table(self, feature: int) -> tuple[list[Any], FloatArray]:
        if not 0 <= feature < self.n_features:
            raise IndexError(f"there are {self.n_features} features, numbered from 0; got {feature}")
        keys, counts = self._tables.table(feature, self._zeros(feature, feature + 1))
        values = [Level.OTHER if key == OTHERS else self._alphabet.value(key) for key in keys.tolist()]
        order = np.arange(len(values))
        texts = np.flatnonzero((keys > LIMIT) & (keys < OTHERS))
        order[texts] = sorted(texts.tolist(), key=lambda i: str(values[i]))
        return [values[i] for i in order], counts[:, order]

    def _zeros(self, low: int, high: int) -> FloatArray:
        return self._tables.zeros(low, high, self._sparse_mass, self._rows)

    def tables(self, bins: int) -> Iterator[TableBlock]:  # noqa: ARG002 - a level is a bin
        """Yield the tables of all features, some at a time; every level is a bin.

        Features stand in one block only if the levels of all of them have an order, or of none.
        """
        ordered = self._tables.largest_keys < LIMIT
        for low, high in self._blocks(ordered):
            counts = self._tables.block(low, high, self._zeros(low, high))
            yield table_block(counts, self._mass, self._squares, ordered=bool(ordered[low]))

    def _blocks(self, kinds: BoolArray) -> Iterator[tuple[int, int]]:
        """Yield ranges of features of one kind, whose tables have a convenient size together."""
        levels, n_classes, low = self._tables.sizes + 1, len(self.classes), 0
        for end in np.flatnonzero(np.diff(kinds, append=~kinds[-1:])).tolist():
            while low <= end:
                high = min(end + 1, low + features_at_once(n_classes, 1))
                while high - low > features_at_once(n_classes, int(levels[low:high].max())):
                    high = low + (high - low) // 2
                yield low, high
                low = high

    # ---------------------------------------------------------------- learning

    def update(self, X: Matrix, y: npt.NDArray[Any], weight: FloatArray | None = None) -> None:
        """Take rows into account, all of them or (on an error) none.

        Parameters
        ----------
        X : float array (NaN is missing), CSR (absent is 0), or an array of text, numbers and None
        y : one label a row
        weight : one positive number a row; weight k is the same as k copies, and 0 is no row
        """
        X, y, weight = _existing(X, y, weight)
        if X.shape[0] == 0:
            return
        codes, new = self._labels.encode(y)
        X, texts = self._as_numbers(X)
        self._make_room(len(self._labels) + len(new), max(self.n_features, X.shape[1]), sparse=sp.issparse(X))
        self._labels.add(new)
        self._alphabet.add(texts)
        step = self._fading.most_rows or X.shape[0]
        if step >= X.shape[0]:  # a slice of sparse rows would be a copy
            self._learn(X, codes, weight)
        else:
            for low in range(0, X.shape[0], step):
                part = slice(low, low + step)
                self._learn(X[part], codes[part], None if weight is None else weight[part])
        self._tidy()

    def _as_numbers(self, X: Matrix) -> tuple[Matrix, list[str]]:
        """Return checked values as floats, and the texts among them that are new."""
        if not sp.issparse(X) and X.dtype.kind in "OUT":
            return self._alphabet.encode(X)
        if X.dtype not in _FLOATS:
            X = X.astype(np.float64)
        refuse_infinite(X)
        return X, []

    def _make_room(self, n_classes: int, n_features: int, *, sparse: bool) -> None:
        self._tables.grow(n_classes, n_features, sparse=sparse)
        extra = n_classes - len(self._mass)
        if extra:
            self._rows = np.pad(self._rows, (0, extra))
            self._mass, self._squares = np.pad(self._mass, (0, extra)), np.pad(self._squares, (0, extra))
            self._sparse_mass = np.pad(self._sparse_mass, (0, extra))

    def _learn(self, X: Matrix, codes: IntArray, weight: FloatArray | None) -> None:
        n_classes = len(self._mass)
        factors = self._fading.factors(len(codes))
        w = weight if factors is None else factors if weight is None else weight * factors
        mass = np.bincount(codes, w, minlength=n_classes).astype(np.float64)
        if sp.issparse(X):
            self._tables.count_sparse(X, codes, w)
            self._sparse_mass += mass
        else:
            self._tables.count_dense(X, codes, w)
        squares = w if factors is None or w is None else w * factors
        self._squares += np.bincount(codes, squares, minlength=n_classes)
        self._mass += mass
        self._rows += np.bincount(codes, minlength=n_classes)
        factor = self._fading.advance(len(codes))
        if factor is not None:
            self._scale(factor)

    def fade(self, factor: float) -> None:
        """Let all rows so far weigh so many times as much, 0 < factor <= 1."""
        self._scale(factor)

    def _scale(self, factor: float) -> None:
        self._mass *= factor
        self._squares *= factor * factor
        self._sparse_mass *= factor
        self._tables.scale(factor, self._sparse_mass, self._rows)

    def _tidy(self) -> None:
        if self._alphabet.is_full:
            self._alphabet.keep_only(self._tables.keys)

    def merge(self, other: Self) -> None:
        """Become the summary of this stream followed by the other's."""
        mine = self.half_life, self.cap
        theirs = (other.half_life, other.cap) if isinstance(other, Contingency) else type(other).__name__
        if theirs != mine:
            raise MergeError(
                f"only contingency tables of equal half_life and cap merge: {mine} here, {theirs} there"
            )
        if not other.classes:
            return
        if other is self:
            self.merge(type(self).from_state(self.state()))
            return
        if not self.classes:
            self.__dict__.update(vars(type(self).from_state(other.state())))
            return
        codes, new = self._labels.encode(np.array(other.classes))
        factor = self._fading.precede(other._fading, other.n_rows)
        if factor != 1.0:
            self._scale(factor)
        n_features = max(self.n_features, other.n_features)
        self._make_room(len(self._labels) + len(new), n_features, sparse=bool(other._sparse_mass.any()))
        self._labels.add(new)
        keys = self._alphabet.translated(other._tables.keys, other._alphabet)
        self._tables.absorb(other._tables, keys, codes)
        self._mass[codes] += other._mass
        self._squares[codes] += other._squares
        self._sparse_mass[codes] += other._sparse_mass
        self._rows[codes] += other._rows
        self._tidy()

    # ---------------------------------------------------------------- unlearning

    def remove(self, X: Matrix, y: npt.NDArray[Any], weight: FloatArray | None = None) -> None:
        """Take rows out again, as if they had never been added; exact for whole weights.

        A cell that has been forgotten since must be missing here.  On an error, nothing is changed.
        """
        if self.half_life is not None:
            raise CapabilityError(
                f"rows cannot be removed under half_life={self.half_life:g}, where they fade by themselves; "
                "for a sliding window use half_life=None"
            )
        X, y, weight = _existing(X, y, weight)
        if X.shape[0] == 0:
            return
        codes, new = self._labels.encode(y)
        if new:
            raise InputError(f"no row of class {new[0]!r} was ever added, so none can be removed")
        if X.shape[1] > self.n_features:
            raise InputError(
                f"rows with {X.shape[1]} features were never added, so none can be removed: "
                f"only {self.n_features} were seen"
            )
        values, _ = self._as_numbers(X)
        rows = self._rows - np.bincount(codes, minlength=len(self._rows))
        mass = np.bincount(codes, weight, minlength=len(self._rows)).astype(np.float64)
        kind = self._sparse_mass if sp.issparse(X) else self._mass - self._sparse_mass
        few = np.flatnonzero((rows < 0) | (mass > kind + 1e-9 * self._mass))
        if len(few):
            label = self.classes[few[0]]
            raise InputError(
                f"fewer rows of class {label!r} were added than are to be removed: remove only rows that "
                "were added before, dense as dense and sparse as sparse"
            )
        wrong = self._tables.subtract(values, codes, weight)
        if wrong >= 0:
            raise self._never_added(X, y, wrong)
        self._rows, before = rows, self._mass
        self._mass = np.maximum(before - mass, 0.0)
        # rows of one weight: the sum of squares goes with the mass (and is the mass, if nothing was faded)
        share = np.divide(self._mass, before, out=np.zeros_like(mass), where=before > 0)
        self._squares = np.where(self._squares == before, self._mass, self._squares * share)
        if sp.issparse(X):
            left = self._sparse_mass - mass
            dust = (left <= 1e-9 * mass) & (left != np.floor(left))
            self._sparse_mass = np.where(dust, 0.0, np.maximum(left, 0.0))
        self._clear_dust()

    def _clear_dust(self) -> None:
        """Where no row is left, set to 0 what rounding has left."""
        dust = (self._rows == 0) & ((self._mass > 0) | (self._sparse_mass > 0))
        if dust.any():
            self._mass[dust] = self._squares[dust] = self._sparse_mass[dust] = 0.0
            self._tables.clear_classes(dust)

    def _never_added(self, X: Matrix, y: npt.NDArray[Any], entry: int) -> InputError:
        if sp.issparse(X):
            row, column = int(np.searchsorted(X.indptr, entry, side="right")) - 1, int(X.indices[entry])
            value = X.data[entry]
        else:
            row, column = divmod(entry, X.shape[1])
            value = X[row, column]
        return InputError(
            f"feature {feature_label(column, None)!r} has no value {value!s} left in class {y[row]!s}: "
            "remove only rows that were added before, dense as dense and sparse as sparse"
        )

    # ---------------------------------------------------------------- features

    def forget(self, columns: IntArray) -> None:
        """Let all rows so far count as missing for some features, as if NaN had come.

        Parameters
        ----------
        columns : the features
        """
        self._tables.forget(checked_columns(columns, self.n_features), self._sparse_mass)

    def renumbered(self, columns: IntArray, n_features: int) -> Self:
        """Return a copy whose features stand elsewhere, for merging with other features around them.

        Parameters
        ----------
        columns : feature i becomes feature ``columns[i]``
        n_features : how many features there are then; of those never seen, a sparse row so far holds a zero,
            and a dense one lacks the value
        """
        columns = checked_columns(columns[: self.n_features], n_features)
        if len(columns) < self.n_features:
            raise SchemaError(
                f"each of {self.n_features} features needs a new place; got {len(columns)} columns"
            )
        copy = type(self).from_state(self.state())
        if self.classes:
            copy._tables.renumber(columns, n_features)  # noqa: SLF001 - nobody else has it yet
        return copy

    # ---------------------------------------------------------------- state

    def state(self) -> Arrays:
        """Return everything as arrays."""
        return {
            **self._labels.state(),
            **self._alphabet.state(),
            "fading": self._fading.state(),
            "cap": np.array([self.cap], np.int64),
            "rows": self._rows,
            "mass": self._mass,
            "squares": self._squares,
            "sparse_mass": self._sparse_mass,
            **self._tables.state(),
        }

    @classmethod
    def from_state(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Rebuild, after checking that the arrays fit together."""
        labels = Labels.from_state(arrays)
        clock = expect(arrays, "fading", np.float64, (3,))
        if not np.all(np.isfinite(clock[1:])):
            raise StateError("the state's rows are not counted in numbers")
        try:
            fading = Fading.from_state(clock)
            summary = cls(fading.half_life, int(expect(arrays, "cap", np.int64, (1,))[0]))
        except ParameterError as error:
            raise StateError(f"the state is of no summary there can be: {error}") from error
        summary._labels, summary._fading = labels, fading
        shape = (len(labels),)
        summary._rows = np.array(expect(arrays, "rows", np.int64, shape))
        for name in ("mass", "squares", "sparse_mass"):
            mass = np.array(expect(arrays, name, np.float64, shape))
            if not np.all((mass >= 0) & (mass < np.inf)):
                raise StateError("the state's weights are negative or not finite")
            setattr(summary, f"_{name}", mass)
        if np.any(summary._rows < 0):
            raise StateError("the state has seen fewer than 0 rows")
        fades = fading.half_life is not None
        summary._tables = LevelTables.from_state(arrays, len(labels), summary.cap, fades=fades)
        summary._alphabet = Alphabet.from_state(arrays, arrays["keys"])
        if summary._sparse_mass.any() and "stored" not in arrays:
            raise StateError("the state lacks the array 'stored'")
        return summary


def _existing(
    X: Matrix, y: npt.NDArray[Any], weight: FloatArray | None
) -> tuple[Matrix, npt.NDArray[Any], FloatArray | None]:
    """Return the rows whose weight is not 0."""
    if len(y) != X.shape[0] or (weight is not None and len(weight) != len(y)):
        raise InputError(
            f"X has {X.shape[0]} rows: one label a row is wanted, and one weight or none; got {len(y)}"
        )
    if weight is None or weight.all():
        return X, y, weight
    there = np.flatnonzero(weight)
    return X[there], y[there], weight[there]
