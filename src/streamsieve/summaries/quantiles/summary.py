"""Mergeable quantiles of every feature in every class, with a certified error."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve._kernels.quantiles_dense import beyond
from streamsieve._parameters import check_number
from streamsieve._validation import check_summary_rows
from streamsieve._values import LARGEST_VALUE, refuse_non_finite
from streamsieve.exceptions import MergeError
from streamsieve.protocols import FloatArray, IntArray, Matrix
from streamsieve.state import Bool, Float, Nested, register, untouched_on_error
from streamsieve.summaries.arrays import checked_columns, checked_places, widened
from streamsieve.summaries.class_totals import FREQUENCY, LARGEST, ClassTotals, check_alike
from streamsieve.summaries.quantiles.dense import DenseQuantiles
from streamsieve.summaries.quantiles.sketch import FADED_MASS
from streamsieve.summaries.quantiles.sparse import SparseQuantiles
from streamsieve.summaries.table_block import TableBlock, features_at_once, table_block

#: Values made dense at a time, for sparse rows in a dense stream.
DENSE_VALUES = 2**22
#: Share of the error that the rows of a part may use.
PART = 0.5
#: Rows of smaller weight count as rows of weight 0: their share of a mass would be lost to rounding.
LIGHTEST = 1e-280


@register
class Quantiles(ClassTotals):
    """Quantile sketches of every feature per class, in one pass and with a certified rank error.

    The number of values up to any x is known to within ``rank_error()`` times the rows of the class: always
    at most ``max_rank_error``, deterministically, for any number and order of rows and after any merges.
    Streams that fit the budget are exact: the first ``1 / max_rank_error`` rows of a class, dense columns of
    up to 64 different values a class, and sparse columns of up to ``2 / max_rank_error``.

    Dense and sparse rows, weights, missing values (NaN), labels and features that appear late, fading.

    Parameters
    ----------
    max_rank_error : float, default=1e-3
        Largest error of a rank, as a share of the rows, 1e-6 <= max_rank_error < 1.
    half_life : float or None, default=None
        Number of rows after which the weight of an observation is halved, at least 1.  If None, all rows
        count alike.
    weight_kind : {"frequency", "importance"}, default="frequency"
        "frequency": weight k is equivalent to k copies of a row. "importance": weights of single
        observations; the effective number of rows is then (sum w)^2 / sum w^2, as under fading.

    Notes
    -----
    Dense rows: sorted runs of equal weight, all features of a class in step.  Two runs collapse only if
    the certified error allows it, else runs double their width, which loses nothing; see
    ``equal_weight.py`` and, for weights and fading, ``weighted.py``.  Sparse rows: the first value of a
    feature is counted, others go into merging runs; the error is relative to the feature's own non-zeros;
    see ``sparse.py``.  Where values are missing, the bound is a share of all rows of the class.

    Wang (2021) prunes (value, weight) pairs and calls the weights exact; the total is, ranks are not.  There
    the block size and the number of levels define each other; here neither is needed in advance.

    A merge reads as "then came the other's rows"; without fading the order is immaterial.  Dense and sparse
    summaries do not merge with each other, although batches of both kinds may come in one stream.

    References
    ----------
    Munro and Paterson (1980); Manku, Rajagopalan and Lindsay (1998); Greenwald and Khanna (2001); Wang,
    Online and Offline Feature Screening and Applications, 2021, chapter 3.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve.summaries import Quantiles
    >>> q = Quantiles()
    >>> q.update(np.arange(10.0)[:, None], np.repeat(["a", "b"], 5))
    >>> next(q.tables(5)).counts[0]
    array([[2., 2., 1., 0., 0.],
           [0., 0., 1., 2., 2.]])
    >>> q.cdf(0, [3.5, 7.0])
    array([[4., 5.],
           [0., 3.]])
    >>> q.rank_error()
    array([0., 0.])
    """

    fields = {
        **ClassTotals.fields,
        "max_rank_error": Float(1e-6, 1, open_high=True),
        "_whole": Bool(),
        "_store": Nested(DenseQuantiles, SparseQuantiles, shares=("classes", "features"), optional=True),
    }

    #: Share of the error that learning may use; the rest is for merging.
    _share = 1.0

    def __init__(
        self, max_rank_error: float = 1e-3, *, half_life: float | None = None, weight_kind: str = FREQUENCY
    ) -> None:
        check_number("max_rank_error", max_rank_error, low=1e-6, high=1, open_high=True)
        super().__init__(half_life, weight_kind)
        #: Largest error of a rank, as a share of the rows.
        self.max_rank_error = float(max_rank_error)
        self._whole = half_life is None
        self._store: DenseQuantiles | SparseQuantiles | None = None

    @property
    def n_features(self) -> int:
        """Number of features seen."""
        return 0 if self._store is None else self._store.n_features

    @property
    def nbytes(self) -> int:
        """Memory used, in bytes."""
        return 0 if self._store is None else self._store.nbytes

    def rank_error(self) -> FloatArray:
        """Return the certified rank error per class, at most ``max_rank_error``.

        For dense rows it is a share of the rows of the class, for sparse rows of a feature's non-zeros in it.
        """
        if self._store is None:
            return np.zeros(0)
        return np.broadcast_to(self._store.error, len(self.classes)).copy()

    def tables(self, bins: int) -> Iterator[TableBlock]:
        """Yield contingency tables of all features over bins of equal frequency, some at a time.

        Parameters
        ----------
        bins : number of bins, at least 2.  Cut i is the smallest value whose mass reaches i of ``bins`` parts
            of the whole; a value is in the bin of the first cut it does not exceed.
        """
        check_number("bins", bins, low=2, integer=True)
        store = self._store
        if store is None:
            return
        step = features_at_once(len(self.classes), bins)
        for low in range(0, self.n_features, step):
            high = min(low + step, self.n_features)
            if isinstance(store, DenseQuantiles):
                counts, _ = store.tables(low, high, bins, self._rows, whole=self._whole)
            else:
                counts = store.tables(low, high, bins, self._mass, self._rows, self._whole)
            yield table_block(counts, self._mass, self._squares, ordered=True)

    def cdf(self, feature: int, x: Any) -> FloatArray:
        """Return the mass of a feature's values up to each of the numbers x, one row per class."""
        points = np.atleast_1d(np.asarray(x, np.float64))
        if self._store is None:
            return np.zeros((0, len(points)))
        if isinstance(self._store, DenseQuantiles):
            return self._store.cdf(feature, points)
        return self._store.cdf(feature, points, self._mass, self._rows)

    def update(self, X: Matrix, y: npt.NDArray[Any], weight: FloatArray | None = None) -> None:
        """Add rows, all of them or (on an error) none."""
        X, y, weight = check_summary_rows(X, y, weight)
        if weight is not None:
            if weight.min(initial=1.0) < LIGHTEST:
                present = np.flatnonzero(weight >= LIGHTEST)
                X, y, weight = X[present], y[present], weight[present]
            if np.all(weight == 1.0):
                weight = None
        if X.shape[0] == 0:
            return
        if sp.issparse(X):
            refuse_non_finite(X, missing=True)
        else:
            X = np.ascontiguousarray(X)
            if beyond(X, LARGEST_VALUE[X.dtype]):
                refuse_non_finite(X, missing=True)
        codes, new = self._labels.encode(y)
        if weight is not None:
            self._whole = self._whole and bool(np.all(weight == np.floor(weight)))
        self._make_room(len(self._labels) + len(new), max(self.n_features, X.shape[1]), sparse=sp.issparse(X))
        self._labels.add(new)
        # rows of weight 1 at the beginning are learned as such, so that results do not depend on batches
        low, plain = 0, 0 if weight is None else int(np.argmax(weight != 1.0))
        while low < X.shape[0]:
            high = min(X.shape[0] if low >= plain else plain, low + self._step(X))
            w = None if weight is None or low < plain else weight[low:high]
            self._learn(X[low:high], codes[low:high], w)
            low = high

    def _step(self, X: Matrix) -> int:
        """Return how many rows to take at once."""
        step, fading = int(X.shape[0]), self._fading
        if fading.half_life is not None:  # up to the row at which rescaling is due, wherever batches end
            step = max(1, int(min(step, (LARGEST - fading.exponent) * fading.half_life)))
        if sp.issparse(X) and isinstance(self._store, DenseQuantiles):
            step = min(step, max(1, DENSE_VALUES // max(1, self.n_features)))
        return step

    def _make_room(self, n_classes: int, n_features: int, *, sparse: bool) -> None:
        if self._store is None:
            if sparse:
                self._store = SparseQuantiles(n_classes, n_features, self.max_rank_error)
            else:
                weighted = self.half_life is not None
                error = self._share * self.max_rank_error
                self._store = DenseQuantiles(n_classes, n_features, error, weighted=weighted)
        if n_classes > len(self._mass):
            self._add_classes(n_classes)
        self._store.grow(n_classes, n_features)

    def _learn(self, X: Matrix, codes: IntArray, weight: FloatArray | None) -> None:
        store, n_classes = self._store, len(self._mass)
        w, squares = self._fading.weights(len(codes), weight)
        if isinstance(store, DenseQuantiles):
            if w is not None:
                store.take_weights()
            store.update(self._as_dense(X), codes, w)
        elif store is not None:
            store.update(self._as_sparse(X), codes, w)
        if len(codes) == 1 and w is None:
            c = codes[0]
            self._rows[c] += 1
            self._mass[c] += 1.0
            self._squares[c] += 1.0
            return
        rows = np.bincount(codes, minlength=n_classes)
        self._rows += rows
        if self._whole:
            self._mass += rows if w is None else np.bincount(codes, w, minlength=n_classes)
            self._squares += rows if squares is None else np.bincount(codes, squares, minlength=n_classes)
        else:  # one by one: sums of fractions must not depend on batches
            np.add.at(self._mass, codes, 1.0 if w is None else w)
            np.add.at(self._squares, codes, 1.0 if squares is None else squares)
        self._advance(len(codes))

    def _as_dense(self, X: Matrix) -> npt.NDArray[Any]:
        """Return rows for a dense store; values that sparse rows do not store are 0."""
        return np.asarray(widened(X, self.n_features, 0.0).toarray() if sp.issparse(X) else X)

    def _as_sparse(self, X: Matrix) -> Any:
        """Return rows for a sparse store; features absent from dense rows are missing."""
        if sp.issparse(X):
            return X
        return sp.csr_array(widened(X, self.n_features, np.nan))

    def fade(self, factor: float) -> None:
        """Multiply the weight of all rows so far by ``factor``, 0 < factor <= 1."""
        self._whole = False
        if isinstance(self._store, DenseQuantiles):
            self._store.take_weights()
        self._scale(factor)

    def _scale(self, factor: float) -> None:
        super()._scale(factor)
        if self._store is not None:
            self._store.scale(factor)

    def forget(self, columns: IntArray) -> None:
        """Treat all rows so far as missing for some features."""
        columns = checked_columns(columns, self.n_features)
        if len(columns) == 0:
            return
        if isinstance(self._store, DenseQuantiles):
            self._store.forget(columns)
        elif self._store is not None:
            self._store.forget(columns, self._mass)

    def reindexed(self, columns: IntArray, n_features: int) -> Self:
        """Return a copy with feature i at columns[i]; the others are missing (dense) or 0 (sparse) so far."""
        columns = checked_places(columns, self.n_features, n_features)
        twin: Self = self.copy()
        if twin._store is not None:
            twin._store.reindex(columns, n_features)
        return twin

    def merge(self, other: Self) -> None:
        """Merge another summary, as if its rows had been added after these."""
        check_alike(self, other, "quantiles", "max_rank_error")
        if other._store is None:
            return
        twin = other.copy()
        if self._store is None:
            self.__dict__.update(vars(twin))
            return
        if type(self._store) is not type(other._store):
            raise MergeError(
                "one summary began with dense rows, the other with sparse ones: begin both with the same kind"
            )
        with untouched_on_error(self):
            self._labels = self._labels.copy()
            codes, new = self._precede(twin)  # copies, because the other may be this one
            self._labels.add(new)
            n_features = max(self.n_features, twin.n_features)
            self._make_room(len(self._labels), n_features, sparse=False)
            self._store.merge(twin._store, codes)  # type: ignore[arg-type]  # noqa: SLF001
            self._add_totals(twin, codes)
            self._whole = self._whole and other._whole

    def compact(self, k: int | None = None) -> None:
        """Reduce dense quantiles to one sorted run per class, which is small to send and quick to merge.

        Parameters
        ----------
        k : int or None, default=None
            Values per feature and class, at least 32; rounded up to a power of two that keeps the certified
            error, which grows by 1 / (2k), within ``max_rank_error``.  None: the fewest that spend at most
            half of what is left up to it, so that later merges find some.

        Notes
        -----
        A class that holds no more than k values, or whose error has no room, is left as it is, and so are
        sparse quantiles.  Exact counts of columns with few values stay exact.
        """
        if k is not None:
            check_number("k", k, low=32, integer=True)
        if isinstance(self._store, DenseQuantiles):
            self._store.compact(k)

    def begin_part(self) -> None:
        """Use at most half of the error until :meth:`end_part`, because merging a part needs some as well.

        Before the first rows.  Sparse and fading quantiles are not changed by either.
        """
        if self.half_life is None:
            self._share = PART
            if isinstance(self._store, DenseQuantiles):  # features are declared, but there are no rows
                n_classes, n_features = len(self._store.classes), self._store.n_features
                self._store = None
                self._make_room(n_classes, n_features, sparse=False)

    def end_part(self) -> None:
        """Compact the sketches, and let merges use the other half of the error."""
        if self._share < 1.0:
            del self._share
            if isinstance(self._store, DenseQuantiles):
                self._store.allow(self.max_rank_error)
                self.compact()

    def merge_many(self, others: Sequence[Self], k: int | None = None) -> None:
        """Append the rows of several summaries, with the error of one reduction instead of many.

        Parameters
        ----------
        others : summaries of the same ``max_rank_error``; they are not changed
        k : as for :meth:`compact`

        Notes
        -----
        Merged one by one, compact parts have a larger certified error, and take longer.  Sparse and fading
        quantiles are merged one by one.
        """
        if k is not None:
            check_number("k", k, low=32, integer=True)
        for other in others:
            check_alike(self, other, "quantiles", "max_rank_error")
        others = [other for other in others if other._store is not None]  # noqa: SLF001 - twins
        dense = all(isinstance(each._store, DenseQuantiles) for each in (self, *others))  # noqa: SLF001
        if self.half_life is not None or not dense:
            with untouched_on_error(self):
                for other in others:
                    self.merge(other)
            return
        twin = self._borrowed()  # a failure on the way leaves this one unchanged
        twin._take_many([other._borrowed() for other in others], k)  # noqa: SLF001 - twins
        self.__dict__.update(vars(twin))

    def _borrowed(self) -> Self:
        """Return a copy that shares the values of this one, which must not be written to."""
        if not isinstance(self._store, DenseQuantiles):
            return self.copy()
        return deepcopy(self, {id(values): values for values in self._store.stored()})

    def _take_many(self, others: Sequence[Self], k: int | None) -> None:
        taken: list[Any] = []
        for other in others:
            codes, new = self._precede(other)
            self._labels.add(new)
            self._make_room(len(self._labels), max(self.n_features, other.n_features), sparse=False)
            self._add_totals(other, codes)
            self._whole = self._whole and other._whole  # noqa: SLF001
            taken.append((other._store, codes))  # noqa: SLF001
        if isinstance(self._store, DenseQuantiles):
            self._store.merge_many(taken, k)

    def _consistent(self) -> Iterator[str]:
        if self._store is None:
            if len(self._labels):
                yield "there are labels, but no rows"
        elif self._store.epsilon != self.max_rank_error:
            wanted = self.max_rank_error
            yield f"sketches with a rank error of {self._store.epsilon} do not go with one of {wanted}"
        elif isinstance(self._store, DenseQuantiles):
            off = np.abs(self._store.mass - self._mass)
            if np.any(off > 1e-6 * self._mass + FADED_MASS):  # sums of the same weights, up to rounding
                yield "the runs hold other rows than the classes"
