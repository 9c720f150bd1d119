"""FSDS: unsupervised selection from a sketch of the scatter matrix."""

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
    """Keep the features that span the main directions of the rows, without any target.

    A sketch of few rows (Frequent Directions) stands for the scatter of all rows seen.  Its leading
    directions separate the clusters of the rows; a feature's score is its contribution to one of them.

    Parameters
    ----------
    k : int or None, default=None
        Keep the k best, k >= 1.  None: the 10 best, or all if fewer.
    rank : int, default=2
        Leading directions looked at, at least 1; about the number of clusters expected.
    sketch_size : int or None, default=None
        Rows of the sketch, above ``rank``.  None: the square root of the number of features, rounded down,
        at least ``rank + 1``.  Memory is that of ``sketch_size + batch_size`` dense rows at least: give a
        small one for very many features.
    penalty : float, default=8.0
        Ridge penalty of the regression on a direction, in units of the last direction's length, at least
        1e-6.
    center : bool, default=True
        Look at rows about their mean, which is tracked; False takes the origin for the mean.
    batch_size : int or None, default=None
        Rows that are compressed together, at least 1.  None: as many as the sketch has, at least 128.  More
        of them lose less, and cost more memory.
    output : {"drop", "zero", "frozen"}, default="drop"
        "drop" features that are not selected, set them to "zero", or keep the selection of the first output.
    ledger : {"all", "kept", "none"}, default="all"
        Record which features entered and left, when, and at what score; "kept" is the same as "all".

    Attributes
    ----------
    scores_ : float64 array, one per feature; larger is better
    selected_ : columns of the selected features, in column order
    ranked_ : the same columns, best first
    sketch_ : float64 array of fewer than ``sketch_size`` orthogonal rows, longest first
    sketch_error_ : bound on the spectral norm of (scatter of all rows - scatter of the sketch); at most the
        rows' sum of squares about their mean divided by ``sketch_size``
    mean_ : float64 array, the mean row
    ledger_ : which features entered and left, after how many rows, at what score

    Notes
    -----
    **Formula.** With the leading singular values s and directions u of the sketch, feature j weighs the
    largest of ``|u_ij| s_i / (s_i^2 + penalty s_rank)``. The penalty has the units of the values, so the
    ranking depends on the scale of the data as a whole, as the paper's does; standardise features of
    different units.

    The paper assumes rows of mean zero and compresses every batch as it comes.  Here the mean is tracked,
    and the sketch is one of the rows about it: joining two parts of a stream adds to their scatters that
    of one further row, the difference of their means.  Rows wait until ``batch_size`` of them are there, so
    that the cutting into batches never changes the result; a question in between counts those that wait.
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
        """The usual one, one that loses much, and one that takes the origin for the mean."""
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
        """Rows of the sketch, the one that is lost included."""
        return self.sketch_size or max(self.rank + 1, isqrt(self.n_features_in_))

    @property
    def _block(self) -> int:
        return self.batch_size or max(LEAST_BLOCK, self._size)

    def _learn(self, batch: RowBatch) -> None:
        self._directions_.learn(batch.X, self._size, self._block, self.rank, centre=self.center)

    def _sketch(self) -> Sketch:
        if "sketch" not in self._cache_:
            sketch = self._directions_.current(self.n_features_in_, self._size, self.rank, centre=self.center)
            for array in (sketch.rows, sketch.mean):
                array.setflags(write=False)  # shared with every later access
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
        """The mean row; zeros if rows are not centred."""
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
    """Return the length of every row; squares of the largest and smallest values are no trouble."""
    largest = np.abs(rows).max(axis=1, initial=0.0)
    scale = np.where(largest > 0, largest, 1.0)
    lengths: FloatArray = scale * np.linalg.norm(rows / scale[:, None], axis=1)
    return lengths
