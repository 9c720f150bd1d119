"""Sums of products of all pairs of features, and of every feature with the target."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve._parameters import check_choice
from streamsieve._validation import LIMIT, refuse_non_finite
from streamsieve.exceptions import CapabilityError, MergeError, StateError
from streamsieve.protocols import Arrays, FloatArray, IntArray
from streamsieve.state import expect, register, untouched_on_error
from streamsieve.summaries._fading import Fading
from streamsieve.summaries._labels import Labels
from streamsieve.summaries._products_sums import Sums, Targets, rows_at_a_time
from streamsieve.summaries.moments import checked_columns

if TYPE_CHECKING:
    from streamsieve.protocols import Matrix

#: The products of more features than these do not fit into the memory of an ordinary machine.
MOST_FEATURES = 20_000
TARGETS = ("classes", "numeric")


class JointMoments(NamedTuple):
    """First and second moments of all features and the target; covariances are those of a population.

    The target has one column for every class, 1 in its rows and 0 in others, in the order of
    ``Products.classes``; or it is the one numeric column.
    """

    #: Number of rows that carry as much information: (sum of weights)^2 / sum of squares under fading.
    n: float
    mean: FloatArray
    covariance: FloatArray
    target_mean: FloatArray
    target_variance: FloatArray
    #: (column of the target, feature)
    target_covariance: FloatArray


@register
class Products:
    """Remember how every two features, and every feature and the target, vary together.

    One exact pass gives the means and the full covariance matrix, from which any linear model follows without
    the rows: least squares, lasso, matching pursuit, t-tests.  Dense and sparse rows, weights, late labels
    and features, fading, and merging; all equal to recomputing from the whole data to rounding.  Sound at any
    offset: columns with mean 1e9 and variance 1 give their covariance to 1e-6.

    Parameters
    ----------
    half_life : float or None, default=None
        Rows after which an observation weighs half, at least 1.  None never forgets.
    target : {"classes", "numeric"}, default="classes"
        What ``y`` is.

    Notes
    -----
    Memory is 8 p^2 bytes for p features, whatever the number of rows: 2 MB for 500, 200 MB for 5,000.  More
    than 20,000 features are refused; screen them first.  A row costs O(p^2), by matrix products of batches,
    and a sparse row O(its non-zeros^2).

    The products of classes are pooled: all of them share one matrix, and each has its own sums of features.
    That is all it takes for the regression on any class against the rest.

    Chan, Golub and LeVeque (1983): dense rows are taken about their own mean, and the difference of two means
    is one more row of the matrix product.  Missing values are refused: a pair would need a count of its own.

    A feature that appears late was 0 before, one that vanishes is 0 from then on.  A merge reads as "then
    came the other's rows"; without fading the order is immaterial.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve.summaries import Products
    >>> products = Products(target="numeric")
    >>> X = np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 9.0]])
    >>> products.update(X, np.array([1.0, 0.0, 2.0]))
    >>> products.moments().covariance.round(3)
    array([[0.667, 2.333],
           [2.333, 8.667]])
    """

    def __init__(self, half_life: float | None = None, target: str = "classes") -> None:
        #: "classes" or "numeric": what :meth:`update` takes for ``y``.
        self.target = check_choice("target", target, TARGETS)
        self._labels = Labels()
        self._fading = Fading(half_life)
        self._n_rows = 0
        # sum of weights times their fading factors
        self._squares = 0.0
        # of a numeric target: what it is taken relative to, and its sum of squares about that
        self._y_origin, self._y_square = 0.0, 0.0
        self._sums = Sums(self._n_targets(0), 0)

    def _n_targets(self, n_labels: int) -> int:
        """Columns of the target, with the constant."""
        return 2 if self.target == "numeric" else 1 + n_labels

    # ---------------------------------------------------------------- facts

    @property
    def classes(self) -> list[Any]:
        """Labels seen, in the order of the target's columns; none if the target is numeric."""
        return self._labels.values

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
        return self._sums.n_features

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes."""
        return self._sums.nbytes

    def moments(self) -> JointMoments:
        """Return means and covariances of all features and the target."""
        sums = self._sums
        mass = sums.mass
        shares = sums.totals[1:] / mass if mass > 0 else np.zeros(sums.n_targets - 1)
        if self.target == "numeric":
            square = self._y_square / mass if mass > 0 else 0.0
            variance, target_mean = np.maximum(square - shares**2, 0.0), shares + self._y_origin
        else:
            # p (1 - p), but exactly 0 where all rows are of one class
            variance, target_mean = shares * ((mass - sums.totals[1:]) / mass if mass > 0 else 1.0), shares
        return JointMoments(
            mass * mass / self._squares if self._squares > 0 else 0.0,
            sums.mean(),
            sums.covariance(),
            target_mean,
            variance,
            sums.target_covariance(),
        )

    # ---------------------------------------------------------------- learning

    def update(self, X: Matrix, y: npt.NDArray[Any], weight: FloatArray | None = None) -> None:
        """Take rows into account, all of them or (on an error) none."""
        if weight is not None and not weight.all():
            present = np.flatnonzero(weight)
            X, y, weight = X[present], y[present], weight[present]
        n, width = X.shape
        if n == 0:
            return
        n_features = max(width, self.n_features)
        _refuse_many(n_features)
        _refuse_bad(X)
        if width < n_features:  # features that vanished are zeros here
            X = _widened(X, n_features)
        codes, new = (None, []) if self.target == "numeric" else self._labels.encode(y)
        with untouched_on_error(self, self._sums):
            self._sums.grow(self._n_targets(len(self._labels) + len(new)), n_features)
            step = self._step(X)
            for low in range(0, n, step):
                part = slice(low, min(n, low + step))
                rows = X if step >= n else X[part]  # a slice of a sparse row costs more than the row
                some = None if weight is None else weight[part]
                self._learn(rows, y[part] if codes is None else codes[part], some)
        self._labels.add(new)

    def _step(self, X: Matrix) -> int:
        """How many rows are learnt at a time."""
        n, p = X.shape
        step: int = n if sp.issparse(X) else rows_at_a_time(p)
        return min(step, self._fading.most_rows or step)

    def _learn(self, X: Matrix, y: npt.NDArray[Any], weight: FloatArray | None) -> None:
        """Learn rows; ``y`` are codes of classes or numbers."""
        n = X.shape[0]
        factors = self._fading.factors(n)
        w = np.ones(n) if weight is None else weight
        if factors is not None:
            w = w * factors
        targets = self._numeric(y, w) if self.target == "numeric" else Targets(w, y + 1, w)
        if sp.issparse(X):
            self._sums.add_sparse(X, targets)
        else:
            self._sums.add_dense(X, targets)
        self._squares += float(w.sum() if factors is None else w @ factors)
        self._n_rows += n
        factor = self._fading.advance(n)
        if factor is not None:
            self._scale(factor)

    def _numeric(self, y: FloatArray, w: FloatArray) -> Targets:
        """Return a numeric target about the mean it has with these rows."""
        mass = w.sum()
        mean = y[0] + w @ (y - y[0]) / mass
        self._move_target(mean, float(mass))
        about = y - self._y_origin
        self._y_square += float(w @ about**2)
        return Targets(w, np.ones(len(y), np.int64), w * about)

    def _move_target(self, mean: float, mass: float) -> None:
        """Take the target relative to the mean it has together with other rows."""
        have = self._sums.mass
        if not have > 0:
            self._y_origin = mean
            return
        by = (self._sums.totals[1] + (mean - self._y_origin) * mass) / (have + mass)
        self._y_square = max(0.0, self._y_square + by * (by * have - 2 * self._sums.totals[1]))
        self._y_origin += by
        self._sums.shift_target(by)

    def fade(self, factor: float) -> None:
        """Let all rows so far weigh so many times as much, 0 < factor <= 1."""
        self._scale(factor)

    def _scale(self, factor: float) -> None:
        self._squares *= factor * factor
        self._y_square *= factor
        self._sums.scale(factor)

    def merge(self, other: Self) -> None:
        """Become the summary of this stream followed by the other's."""
        if (
            not isinstance(other, Products)
            or other.half_life != self.half_life
            or other.target != self.target
        ):
            theirs = (
                f"{other.half_life} and {other.target!r}"
                if isinstance(other, Products)
                else f"{type(other).__name__}"
            )
            raise MergeError(
                f"only products of equal half_life and target merge: {self.half_life} and {self.target!r} "
                f"here, {theirs} there"
            )
        if other.n_rows == 0:
            return
        if self.n_rows == 0:
            self.__dict__.update(vars(type(self).from_state(other.state())))
            return
        places, new = np.array([0, 1]), list[Any]()
        if self.target == "classes":
            codes, new = self._labels.encode(np.array(other.classes))
            places = np.concatenate([[0], codes + 1])
        # copies, because the other may be this one
        sums, squares, n_rows = other._sums.copy(), other._squares, other.n_rows
        y_origin, y_square = other._y_origin, other._y_square
        factor = self._fading.precede(other._fading, n_rows)
        if factor != 1.0:
            self._scale(factor)
        self._sums.grow(self._n_targets(len(self._labels) + len(new)), sums.n_features)
        if self.target == "numeric":
            self._move_target(y_origin + sums.totals[1] / sums.mass, sums.mass)
            by = self._y_origin - y_origin
            self._y_square += max(0.0, y_square + by * (by * sums.mass - 2 * sums.totals[1]))
            sums.shift_target(by)
        self._sums.absorb(sums, places)
        self._squares += squares
        self._n_rows += n_rows
        self._labels.add(new)

    # ---------------------------------------------------------------- features

    def forget(self, columns: IntArray) -> None:
        """Let some features have been 0 in all rows so far, as if they appeared late.

        Parameters
        ----------
        columns : the features
        """
        self._sums.forget(checked_columns(columns, self.n_features))

    def renumbered(self, columns: IntArray, n_features: int) -> Self:
        """Return a copy whose features stand elsewhere, for merging with other features around them.

        Parameters
        ----------
        columns : feature i becomes feature ``columns[i]``
        n_features : how many features there are then; those never seen are 0 in all rows
        """
        columns = checked_columns(columns[: self.n_features], n_features)
        state = self.state()
        if self.n_rows:
            _refuse_many(n_features)
            state |= _arrays(self._sums.renumbered(columns, n_features))
        return type(self).from_state(state)

    # ---------------------------------------------------------------- state

    def state(self) -> Arrays:
        """Return everything as arrays; of the products, the upper triangle row by row."""
        sums = self._sums
        return {
            **(self._labels.state() if self.target == "classes" else {}),
            "fading": self._fading.state(),
            "flags": np.array([self.target == "numeric", sums.centred]),
            "n_rows": np.array([self._n_rows], np.int64),
            "squares": np.array([self._squares]),
            "y": np.array([self._y_origin, self._y_square]),
            **_arrays(sums),
        }

    @classmethod
    def from_state(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Rebuild, after checking that the arrays fit together."""
        numeric, centred = expect(arrays, "flags", np.bool_, (2,)).tolist()
        summary = cls(target="numeric" if numeric else "classes")
        if not numeric:
            summary._labels = Labels.from_state(arrays)
        summary._fading = Fading.from_state(expect(arrays, "fading", np.float64, (3,)))
        summary._n_rows = int(expect(arrays, "n_rows", np.int64, (1,))[0])
        summary._squares = float(expect(arrays, "squares", np.float64, (1,))[0])
        y = expect(arrays, "y", np.float64, (2,))
        summary._y_origin, summary._y_square = y.tolist()
        origin = expect(arrays, "origin", np.float64, (None,))
        m, p = summary._n_targets(len(summary._labels)), len(origin)
        if p > MOST_FEATURES:
            raise StateError(f"the state claims {p} features: products of at most {MOST_FEATURES} are kept")
        totals = expect(arrays, "totals", np.float64, (m,))
        cross = expect(arrays, "cross", np.float64, (m, p))
        triangle = expect(arrays, "products", np.float64, (p * (p + 1) // 2,))
        weights = np.array([summary._squares, summary._y_square, totals[0]])
        if not all(np.isfinite(a).all() for a in (y, totals, origin, cross, triangle, weights)):
            raise StateError("the state's sums are not finite")
        if weights.min() < 0 or summary._n_rows < 0 or (not numeric and totals.min() < 0):
            raise StateError("the state's weights are negative")
        if summary._n_rows == 0 and totals[0] > 0:
            raise StateError(f"the state claims {summary._n_rows} rows of weight {totals[0]:g}")
        summary._sums = Sums.rebuilt(totals, origin, cross, triangle, centred=centred)
        if np.any(np.diagonal(summary._sums.products) < 0):
            raise StateError("the state's sums of squares are negative")
        return summary


def _arrays(sums: Sums) -> Arrays:
    return {
        "totals": sums.totals,
        "origin": sums.origin,
        "cross": np.ascontiguousarray(sums.cross),
        "products": sums.triangle(),
    }


def _refuse_many(n_features: int) -> None:
    if n_features > MOST_FEATURES:
        raise CapabilityError(
            f"products of all pairs of {n_features:,} features take {8e-9 * n_features**2:.1f} GB (8 p^2 "
            f"bytes); at most {MOST_FEATURES:,} features are taken: screen first, for example with "
            "Screen(k=1000), and give what it selects"
        )


def _refuse_bad(X: Matrix) -> None:
    """Refuse missing, infinite and overflowing values."""
    values = X.data if sp.issparse(X) else X
    with np.errstate(over="ignore", invalid="ignore"):  # of squares, and of inf - inf
        if values.dtype == np.float64 and values.flags.c_contiguous:
            flat = values.reshape(-1)
            if flat @ flat < LIMIT**2:  # one fast pass that neither NaN nor anything too large gets through
                return
        refuse_non_finite(X, None)


def _widened(X: Matrix, n_features: int) -> Matrix:
    """Append features that are 0 in these rows."""
    if sp.issparse(X):
        return sp.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], n_features))
    return np.hstack([X, np.zeros((len(X), n_features - X.shape[1]), X.dtype)])
