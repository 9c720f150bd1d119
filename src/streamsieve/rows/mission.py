"""MISSION: ultra large-scale feature selection using count sketches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar, Self, cast

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve._frames import is_frame, names_of, take_named, zero_columns
from streamsieve.base import RowSelector
from streamsieve.base.fitted import fitted_property
from streamsieve.base.forgetful_vocabulary import ForgetfulVocabulary
from streamsieve.base.seeded import Seeded
from streamsieve.exceptions import MergeError, ParameterError, SchemaError
from streamsieve.protocols import CLASSIFICATION, FloatArray, IntArray, RowBatch, Statistic, Traits
from streamsieve.rows.linear.constant_columns import ConstantColumns
from streamsieve.rows.linear.entries import row_entries
from streamsieve.rows.linear.sketched_model import MOST_DEPTH, MOST_HITTERS, MOST_WIDTH, SketchedModel
from streamsieve.state import Float, Int, Nested

#: Features scored at a time by ``scores_``.
SCORED_AT_ONCE = 2**20
NOTHING = np.zeros(0, np.int64)


class MISSION(Seeded, RowSelector):
    """Ultra large-scale feature selection by a count sketch of a logistic model (MISSION).

    The weights of all features are stored in a count sketch of fixed size, and a heap holds the k largest.
    Memory is that of the sketch, for a billion columns or an unbounded vocabulary, and the cost of a row is
    proportional to its number of nonzero values.

    Parameters
    ----------
    k : int or None, default=None
        Number of features to keep, in [1, 2**20].  If None, 10, or all features if there are fewer.  With
        dict rows k may exceed the number of features seen so far.
    width : int, default=2**18
        Number of buckets per row of the sketch, in [1, 2**30].  Weights of features in the same bucket
        interfere; the error of a weight is about the norm of all others divided by ``sqrt(width)``.
    depth : int, default=3
        Number of rows of the sketch, odd, in [1, 31].  A weight is the median over the rows, so a few
        collisions do no harm.  A feature that collides with top features in most rows is mistaken for one of
        them; among a billion features a few are, unless the depth is 5 or more.
    learning_rate : float, default=0.5
        Size of a gradient step, in (0, 1e6]. 0.5 suits rows of norm 1, such as texts; for p standardized
        columns use about ``0.5 / sqrt(p)``.
    half_life : float or None, default=None
        Number of rows after which the weight of a gradient step is halved, at least 1.  If None, nothing is
        forgotten.
    random_state : int or None, default=0
        Seed of the hash functions, in [0, 2^32).  If None, a seed is drawn when a fit begins, and saved with
        the state.  Only selectors with equal seeds merge.
    output : {"drop", "zero", "frozen"}, default="drop"
        What ``transform`` does with features that are not selected: "drop" them, set them to "zero", or drop
        those outside the selection of the first call ("frozen").
    ledger : {"all", "kept", "none"}, default="all"
        Whether to record which features entered and left the selected set, when, and with what score; "kept"
        is the same as "all".

    Attributes
    ----------
    selected_ : columns of the selected features, in column order
    ranked_ : the same columns, best first
    selected_scores_ : their scores, in the order of ``ranked_``: the absolute weight, summed over the
        models of more than two classes
    coef_ : their weights, in the same order, one model per row.  For up to two classes one row, positive for
        ``classes_[-1]``; for more one row per class
    classes_ : the labels seen, sorted
    mistakes_ : number of rows whose class was not predicted with a positive margin before they were learned
    scores_ : float64 array, one per feature, computed on each access; needs memory for all columns
    ledger_ : which features entered and left the selected set, after how many rows, with what score

    Notes
    -----
    **Formula.** One step per row: ``w <- w + learning_rate (y - sigmoid(f)) x`` with y in {0, 1} and ``f =
    sum of w_j x_j`` over the features in the heap. A weight is the median over the ``depth`` rows of the
    sketch of ``sign * bucket``; the heap holds the k largest ``|w|``.

    **When it fails.** Weights of features that share buckets are confused: if the sketch is narrow relative
    to the number of features with a weight, noise enters the heap.  The model is linear, and oscillates if
    the learning rate is too large for the norm of the rows.

    Every row is one step of logistic regression; the prediction uses only the features in the heap, but the
    step updates the weights of all features in the row.  More than two classes are handled one-versus-rest,
    with a model per class and a common heap by the sum of absolute weights.  Memory is ``8 * width * depth``
    bytes per model; labels may appear at any time.

    With dict rows and dataframes (``learn_one``, ``learn_many``) names are hashed to 62 bits and forgotten,
    except those of the heap: these are ``feature_names_in_``, all of them selected unless constant.  A
    feature keeps its column there as long as it is in the heap; a new one takes the column of the one that
    left.

    ``merge`` adds two models.  The sketch is linear, so the sum is the sketch of all gradient steps that both
    have taken, and its heap the best of both heaps under the summed weights.  It is not the model of one pass
    over all rows, because each part took its steps without knowing the other's, except where no feature is in
    rows of both.  Models of equal parts of one stream are similar, and their sum is twice their mean: the
    ranking is that of the average, and later steps correct the norm.

    Deviations: weights are read from the sketch whenever they are used, and those of the heap again every k
    rows, because other features in the same buckets change them; the authors' code keeps stale ones, lets
    a feature in only if it is 5 % better, and starts from a sketch of which three quarters are not cleared.
    Ties go to the smaller column.

    References
    ----------
    Aghazadeh, Spring, LeJeune, Dasarathy, Shrivastava, Baraniuk, MISSION: Ultra Large-Scale Feature Selection
    using Count-Sketches, ICML 2018.

    Examples
    --------
    >>> import numpy as np, streamsieve as ss
    >>> rng = np.random.default_rng(0)
    >>> mission = ss.MISSION(k=2)
    >>> for _ in range(2000):
    ...     words = {f"word {i}": 0.3 for i in rng.integers(0, 1_000_000, 8)}
    ...     spam = bool(rng.integers(2))
    ...     mission.learn_one({**words, "prize" if spam else "minutes": 0.3}, spam)
    >>> sorted(mission.feature_names_in_)
    ['minutes', 'prize']
    """

    _buffers_rows: ClassVar[bool] = True
    _merges_approximately: ClassVar[bool] = True

    _statistic = Statistic("weight")
    parameters = {
        "k": Int(1, MOST_HITTERS, optional=True),
        "width": Int(1, MOST_WIDTH),
        "depth": Int(1, MOST_DEPTH),
        "learning_rate": Float(0, 1e6, open_low=True),
        "half_life": Float(1, optional=True),
    }
    fields = {
        "_vocabulary_": Nested(ForgetfulVocabulary, optional=True),
        "_model_": Nested(SketchedModel),
        "_constants_": Nested(ConstantColumns),
    }

    def __init__(
        self,
        k: int | None = None,
        *,
        width: int = 2**18,
        depth: int = 3,
        learning_rate: float = 0.5,
        half_life: float | None = None,
        random_state: int | None = 0,
        output: str = "drop",
        ledger: str = "all",
    ) -> None:
        self.k = k
        self.width = width
        self.depth = depth
        self.learning_rate = learning_rate
        self.half_life = half_life
        self.random_state = random_state
        self.output = output
        self.ledger = ledger

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """Yield plain, deep, fading and zeroing ones; sketches are small, because the labels are many."""
        yield cls(width=2**12)
        yield cls(width=1000, depth=5, learning_rate=0.1, random_state=1)
        yield cls(width=2**12, half_life=100)
        yield cls(width=2**12, output="zero")

    @property
    def traits(self) -> Traits:
        """What the selector can do; ``merge`` adds models, which is less than learning the whole."""
        return Traits(tasks=CLASSIFICATION, forgets=self.half_life is not None, size_parameter="k")

    # ---------------------------------------------------------------- learning

    def _check_together(self) -> None:
        if self.depth % 2 == 0:
            raise ParameterError(
                f"depth must be odd, so that there is a middle one among the estimates; got {self.depth}: "
                f"use {self.depth - 1} or {self.depth + 1}"
            )

    def _start(self, batch: RowBatch) -> None:  # noqa: ARG002 - the size of the sketch is a parameter
        self._model_ = SketchedModel(
            width=self.width, depth=self.depth, capacity=self._capacity, seed=self._seed,
            half_life=self.half_life,
        )  # fmt: skip
        self._constants_ = ConstantColumns()

    @property
    def _capacity(self) -> int:
        return self._k if self._fixed_ else self._most

    def _learn(self, batch: RowBatch) -> None:
        X, ids = batch.X, NOTHING
        if not self._fixed_:
            X, ids = _by_id(X, self._open_names.hashes)
        entries = row_entries(X)
        self._model_.learn(entries, ids, np.asarray(batch.y), self.learning_rate)
        self._constants_.update(entries, None if self._fixed_ else ids)
        if not self._fixed_:
            self._keep_names()

    def _known_labels(self) -> Iterable[Any]:
        return self._model_.labels.values

    def _merge(self, other: Self, columns: IntArray | None = None) -> None:  # noqa: ARG002 - ids are hashes
        if self._seed != other._seed:
            raise MergeError(
                "the two began with random_state=None and have other hash functions: give both the same seed"
            )
        self._model_ = self._model_.merged(other._model_)
        self._constants_.merge(other._constants_)
        if not self._fixed_:
            self._keep_names()

    # ---------------------------------------------------------------- names, of which few are remembered

    def _new_vocabulary(self) -> ForgetfulVocabulary:
        return ForgetfulVocabulary()

    @property
    def _open_names(self) -> ForgetfulVocabulary:
        return cast("ForgetfulVocabulary", self._vocabulary_)

    def _keep_names(self) -> None:
        """Forget all names except those in the heap."""
        hitters = self._model_.hitters
        self._open_names.keep(hitters.features, full=hitters.is_full)
        self.n_features_in_ = len(hitters.features)

    # ---------------------------------------------------------------- choosing

    @fitted_property
    def scores_(self) -> FloatArray:
        """One score per feature, larger is better; computed on each access."""
        if not self._fixed_:
            return self._scores_of(self._model_.hitters.features)
        scores = np.empty(self.n_features_in_)
        for low in range(0, len(scores), SCORED_AT_ONCE):
            part = scores[low : low + SCORED_AT_ONCE]
            part[:] = self._model_.norms(low, low + len(part))
        scores[self._constants_.columns] = 0.0
        return scores

    def _scores_of(self, features: IntArray) -> FloatArray:
        norms: FloatArray = np.abs(self._model_.weights(features)).sum(axis=1)
        norms[np.isin(features, self._constants_.columns)] = 0.0
        return norms

    def _select(self) -> IntArray:
        features = self._model_.hitters.features
        features = features[~np.isin(features, self._constants_.columns)]
        return np.sort(features) if self._fixed_ else features

    def _columns(self, features: IntArray) -> IntArray:
        return features if self._fixed_ else np.flatnonzero(np.isin(self._open_names.hashes, features))

    def _names_of(self, features: IntArray) -> Sequence[str]:
        if self._fixed_:
            return super()._names_of(features)
        names = self._open_names.names
        return [names[i] for i in self._columns(features).tolist()]

    def _best_first(self) -> IntArray:
        """Return the ids of the selected features, best first."""
        features = self._selection()
        return features[self._ranked(features)]

    @fitted_property
    def selected_scores_(self) -> FloatArray:
        """The scores of the selected features, best first."""
        return self._scores_of(self._best_first())

    @fitted_property
    def coef_(self) -> FloatArray:
        """The weights of the selected features, best first; one row per model."""
        model = self._model_
        rows: FloatArray = np.ascontiguousarray(model.weights(self._best_first()).T)
        labels = model.labels.values
        if model.models > 1 or not labels:  # no row yet
            return rows[np.argsort(np.array(labels), kind="stable")]
        return rows if labels[0] == max(labels) else -rows

    @fitted_property
    def classes_(self) -> npt.NDArray[Any]:
        """The labels seen, sorted."""
        return np.sort(np.array(self._model_.labels.values))

    @fitted_property
    def mistakes_(self) -> int:
        """Number of rows whose class was not predicted with a positive margin before they were learned."""
        return self._model_.mistakes

    # ---------------------------------------------------------------- output

    def _output(self, X: Any) -> Any:
        if not sp.issparse(X):
            return super()._output(X)
        # SciPy's own methods need memory for all columns
        columns = self._passed()
        place = np.searchsorted(columns, X.indices)
        place[place == len(columns)] = 0
        passed = columns[place] == X.indices if len(columns) else np.zeros(len(place), bool)
        ends = np.concatenate([[0], np.cumsum(passed)])[X.indptr]
        indices = X.indices if self.output == "zero" else place
        width = X.shape[1] if self.output == "zero" else len(columns)
        pieces = X.data[passed], indices[passed].astype(np.int32), ends.astype(np.int32)
        return type(X)(pieces, shape=(X.shape[0], width))

    def _transform_frame(self, X: Any) -> Any:
        if self._fixed_:
            return super()._transform_frame(X)
        names = names_of(X) if is_frame(X) else None
        if names is None:
            raise SchemaError(
                "features are known by name here (learn_one, learn_many): give a dataframe with the selected "
                "features among its columns"
            )
        self._passed()
        passed = self._passed_names()
        if self.output == "zero":
            known = {*passed}
            return zero_columns(X, np.array([name not in known for name in names], bool))
        return take_named(X, passed)

    # ---------------------------------------------------------------- saving

    def _consistent(self) -> Iterator[str]:
        yield from super()._consistent()
        model = self._model_
        if model.shape != (self.depth, self.width) or model.seed != self._seed:
            yield "the sketch is not that of the parameters"
        if model.hitters.capacity != self._capacity:
            yield f"a heap of {model.hitters.capacity} does not fit k={self.k}"
        if model.clock.half_life != self.half_life:
            yield f"the steps fade with half_life={model.clock.half_life}, not {self.half_life}"
        features = model.hitters.features
        widest = max([-1, *features.tolist(), *self._constants_.candidates.tolist()])
        if self._fixed_ and widest >= self.n_features_in_:
            yield "the features of the heap are not among the features"
        if not self._fixed_ and not np.array_equal(self._open_names.hashes, features):
            yield "the names are not those of the heap"


def _by_id(X: Any, ids: IntArray) -> tuple[Any, IntArray]:
    """Return CSR rows whose columns are in the order of their ids, and the ids.

    The columns of names depend on how rows came together; sums and slots must not.
    """
    order = np.argsort(ids, kind="stable")
    rank = np.empty(len(ids), np.int32)
    rank[order] = np.arange(len(ids), dtype=np.int32)
    X = sp.csr_array((X.data, rank[X.indices], X.indptr), shape=X.shape, copy=True)
    X.sort_indices()
    return X, ids[order]
