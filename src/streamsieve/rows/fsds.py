"""FSDS: unsupervised feature selection from a sketch of the scatter matrix."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import isqrt
from typing import Self

import numpy as np

from streamsieve.base import RowSelector
from streamsieve.base.fitted import fitted_property
from streamsieve.exceptions import ParameterError
from streamsieve.protocols import FloatArray, RowBatch, Traits
from streamsieve.rows.covariance_models.frequent_directions import FrequentDirections, Sketch
from streamsieve.state import Bool, Float, Int, Nested

#: Rows compressed together, at least: for few features the call costs more than the work.
LEAST_BLOCK = 128
#: Largest block.
LARGEST_BLOCK = 2**20


class FSDS(RowSelector):
    """Unsupervised feature selection on data streams (FSDS), by a matrix sketch of the leading directions.

    A sketch of few rows (Frequent Directions) approximates the scatter of all rows seen.  Its leading
    singular directions separate the clusters of the rows; the score of a feature is its contribution to one
    of them.

    Parameters
    ----------
    k : int or None, default=None
        Number of features to keep, at least 1.  If None, 10, or all features if there are fewer.
    rank : int, default=2
        Number of leading directions to use, at least 1; about the expected number of clusters.
    sketch_size : int or None, default=None
        Number of rows of the sketch, above ``rank``.  If None, the square root of the number of features,
        rounded down, at least ``rank + 1``.  Memory is at least that of ``sketch_size + batch_size`` dense
        rows: use a small value for very many features.
    penalty : float, default=8.0
        Ridge penalty of the regression on a direction, in units of the last direction's length, at least
        1e-6.
    center : bool, default=True
        Whether to center rows at their running mean.  If False, rows are not centered.
    batch_size : int or None, default=None
        Number of rows that are compressed together, at least 1.  If None, the number of rows of the sketch,
        at least 128.  Larger batches lose less accuracy, and need more memory.
    output : {"drop", "zero", "frozen"}, default="drop"
        What ``transform`` does with features that are not selected: "drop" them, set them to "zero", or drop
        those outside the selection of the first call ("frozen").
    ledger : {"all", "kept", "none"}, default="all"
        Whether to record which features entered and left the selected set, when, and with what score; "kept"
        is the same as "all".

    Attributes
    ----------
    scores_ : float64 array, one per feature; larger is better
    selected_ : columns of the selected features, in column order
    ranked_ : the same columns, best first
    sketch_ : float64 array of fewer than ``sketch_size`` orthogonal rows, longest first
    sketch_error_ : bound on the spectral norm of (scatter of all rows - scatter of the sketch); at most the
        rows' sum of squares about their mean divided by ``sketch_size``
    mean_ : float64 array, the mean row
    ledger_ : which features entered and left the selected set, after how many rows, with what score

    Notes
    -----
    **Formula.** With the leading singular values s and directions u of the sketch, the score of feature j is
    the largest of ``|u_ij| s_i / (s_i^2 + penalty s_rank)``. The penalty has the units of the values, so the
    ranking depends on the scale of the data as a whole, as the paper's does; standardize features of
    different units.

    The paper assumes rows of mean zero and compresses every batch as it arrives.  Here the mean is tracked,
    and the sketch is that of the centered rows: the scatter of two parts of a stream is the sum of their
    scatters and that of one further row, the scaled difference of their means.  Rows are buffered until there
    are ``batch_size`` of them, so the result does not depend on the size of batches; attributes include the
    buffered rows.
    A direction of length 0 (constant or collinear features, few rows) is left out, and where none is left
    all scores are 0.

    Sketches of two parts could be merged within the same error bound, but not to the sketch of one pass over
    both, so there is no ``merge``.  Where features are open (``learn_one``), those not yet seen are 0, and a
    ``sketch_size`` of None grows with their number.

    **When it fails.** There is no target: features are kept because they vary together, whether or not this
    helps any prediction. A feature in large units dominates, and clusters that differ in no leading direction
    are not seen.

    References
    ----------
    Huang, Yoo and Kasiviswanathan, Unsupervised feature selection on data streams, CIKM 2015.
    Ghashami, Liberty, Phillips and Woodruff, Frequent Directions: simple and deterministic matrix
    sketching, SIAM Journal on Computing 45, 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve.rows.fsds import FSDS
    >>> rng = np.random.default_rng(0)
    >>> selector = FSDS(k=2)
    >>> for _ in range(5):
    ...     cluster = rng.integers(0, 3, 100)
    ...     X = rng.normal(size=(100, 20))
    ...     X[:, 4] += 9 * (cluster == 1)
    ...     X[:, 7] += 9 * (cluster == 2)
    ...     selector = selector.partial_fit(X)
    >>> selector.get_feature_names_out()
    array(['x4', 'x7'], dtype=object)
    """

    _traits = Traits(tasks=frozenset(), size_parameter="k", nested_sizes=True)

    parameters = {
        "rank": Int(1),
        "sketch_size": Int(2, optional=True),
        "penalty": Float(1e-6),
        "center": Bool(),
        "batch_size": Int(1, LARGEST_BLOCK, optional=True),
    }
    fields = {"_directions_": Nested(FrequentDirections)}

    def __init__(
        self,
        k: int | None = None,
        *,
        rank: int = 2,
        sketch_size: int | None = None,
        penalty: float = 8.0,
        center: bool = True,
        batch_size: int | None = None,
        output: str = "drop",
        ledger: str = "all",
    ) -> None:
        self.k = k
        self.rank = rank
        self.sketch_size = sketch_size
        self.penalty = penalty
        self.center = center
        self.batch_size = batch_size
        self.output = output
        self.ledger = ledger

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """Yield the defaults, a coarse sketch, and one without centering."""
        yield cls()
        yield cls(sketch_size=4, batch_size=5, rank=3)
        yield cls(center=False, output="zero")

    @property
    def _target(self) -> None:
        return None

    def _start(self, batch: RowBatch) -> None:  # noqa: ARG002 - the sketch grows with the features
        self._directions_ = FrequentDirections()

    def _check_together(self) -> None:
        if self.sketch_size is not None and self.sketch_size <= self.rank:
            raise ParameterError(
                f"sketch_size={self.sketch_size} must be above rank={self.rank}: the shortest row of "
                "the sketch is what it loses"
            )

    @property
    def _size(self) -> int:
        """Number of rows of the sketch, including the one that is dropped."""
        return self.sketch_size or max(self.rank + 1, isqrt(self.n_features_in_))

    @property
    def _block(self) -> int:
        return self.batch_size or max(LEAST_BLOCK, self._size)

    def _learn(self, batch: RowBatch) -> None:
        self._directions_.learn(batch.X, self._size, self._block, self.rank, center=self.center)

    def _sketch(self) -> Sketch:
        if "sketch" not in self._cache_:
            sketch = self._directions_.current(self.n_features_in_, self._size, self.rank, center=self.center)
            for array in (sketch.rows, sketch.mean):
                array.setflags(write=False)  # read-only, because later accesses share it
            self._cache_["sketch"] = sketch
        cached: Sketch = self._cache_["sketch"]
        return cached

    @fitted_property
    def sketch_(self) -> FloatArray:
        """Orthogonal rows, longest first, whose scatter is nearly that of all rows."""
        return self._sketch().rows

    @fitted_property
    def sketch_error_(self) -> float:
        """Bound on the spectral norm of the difference of the scatters of all rows and of the sketch."""
        return self._sketch().error

    @fitted_property
    def mean_(self) -> FloatArray:
        """The mean row; zeros if rows are not centered."""
        return self._sketch().mean

    def _scores(self) -> FloatArray:
        leading = self._sketch().rows[: self.rank]
        lengths = _lengths(leading)
        if len(lengths) == 0:
            return np.zeros(self.n_features_in_)
        # |u| s / (s^2 + penalty s_rank), in an order in which nothing overflows
        gains = 1.0 / (lengths + self.penalty * (lengths[-1] / lengths))
        scores: FloatArray = np.max(np.abs(leading / lengths[:, None]) * gains[:, None], axis=0)
        return scores

    def _consistent(self) -> Iterator[str]:
        yield from super()._consistent()
        directions = self._directions_
        fits = directions.buffer.fits(self.n_features_in_) and directions.n_features <= self.n_features_in_
        if directions.n_rows != self.n_samples_seen_ or not fits:
            yield "the sketch has another number of rows or features"
        if len(directions.sketch.rows) >= self._size or len(directions.buffer) >= self._block:
            yield f"the sketch has more rows than sketch_size={self._size} allows"
        lengths = _lengths(directions.sketch.rows)
        if np.any(lengths == 0) or np.any(np.diff(lengths) > 1e-6 * lengths[:1]):
            yield "the sketch has rows of no length, or not in order of length"
        yield from self._proven_features(directions.n_features)


def _lengths(rows: FloatArray) -> FloatArray:
    """Return the length of every row, without overflow or underflow."""
    largest = np.abs(rows).max(axis=1, initial=0.0)
    scale = np.where(largest > 0, largest, 1.0)
    lengths: FloatArray = scale * np.linalg.norm(rows / scale[:, None], axis=1)
    return lengths
