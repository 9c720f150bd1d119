"""Keep the features of largest weight in a linear model, among more features than fit into memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Self, cast

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve._frames import is_frame, names_of, take_named, zero_columns
from streamsieve._parameters import check_number
from streamsieve.base._unbounded import UnboundedVocabulary
from streamsieve.base.row_buffer import DictBuffer
from streamsieve.base.vocabulary import Arrival, HashedVocabulary, Vocabulary
from streamsieve.exceptions import MergeError, ParameterError, SchemaError, StateError
from streamsieve.ledger import Ledger
from streamsieve.protocols import CLASSIFICATION, BoolArray, FloatArray, IntArray, RowBatch, Traits
from streamsieve.rows._heavy_hitters import MOST
from streamsieve.rows._ranked import DEFAULT_K, RankedSelector
from streamsieve.rows._row_entries import row_entries
from streamsieve.rows._sketched_model import MOST_DEPTH, MOST_WIDTH, SketchedModel
from streamsieve.rows._top_features import Named, TopFeatures

#: Features scored at a time where somebody asks for all scores.
SCORED_AT_ONCE = 2**20
NOTHING = np.zeros(0, np.int64)


class MISSION(RankedSelector):
    """Keep the features of largest weight in a linear model, among more features than fit into memory.

    The weights of all features live in a count sketch of fixed size, and a heap holds the k largest.  So a
    billion columns, or a vocabulary that grows for ever, take the memory of the sketch, and a row takes time
    for its non-zeros alone.

    Parameters
    ----------
    k : int or None, default=None
        Features to keep, 1 <= k <= 2**24; None keeps 10, or all if fewer.  With dict rows k may exceed the
        features seen so far.
    width : int, default=2**18
        Buckets in a row of the sketch, 1 to 2**30.  Features in one bucket disturb each other's weights; the
        error of a weight is about the norm of all others divided by the root of ``width``.
    depth : int, default=3
        Rows of the sketch, odd, 1 to 31.  A weight is the median over the rows, so that a few bad buckets do
        no harm.  A feature that shares buckets with top features in most rows passes for one of them; where
        there are a billion features, a few do, and 5 rows put an end to it.
    learning_rate : float, default=0.5
        Length of a gradient step, above 0 and at most 1e6.  0.5 is right for rows of norm 1, such as texts;
        for p standardised columns about ``0.5 / sqrt(p)`` is.
    half_life : float or None, default=None
        Rows after which a step counts half, at least 1; None remembers all steps alike.
    random_state : int, default=0
        Seed of the hash functions, 0 to 2**32 - 1.  Only selectors with equal seeds merge.
    output : {"drop", "zero", "frozen"}, default="drop"
        What ``transform`` does as the best features change: "drop" the others, "zero" them so that the
        width stays, or keep to the selection "frozen" at the first transform.
    ledger : {"all", "none"}, default="all"
        Whether to remember which features entered and left the top set, when, and at what score.

    Attributes
    ----------
    selected_ : columns of the selected features, best first
    selected_scores_ : their scores: the absolute weight, summed over the models of more than two classes
    coef_ : their weights, one model a row.  For up to two classes one row, which speaks for ``classes_[-1]``;
        for more one row a class
    classes_ : the labels seen, in order
    mistakes_ : rows whose class was not clearly predicted before they were learnt
    scores_ : float64 array, one a feature, computed when asked for: mind the memory for very many columns
    ledger_ : which features entered and left, after how many rows, at what score

    Notes
    -----
    Every row is one step of logistic regression, on the features of the heap alone; the step moves the
    weights of all features in the row.  More than two classes have a model each against the rest, and share
    one heap by the sum of their absolute weights.  Memory is ``8 * width * depth`` bytes a model; a label may
    come at any time and brings its model along.

    With dict rows and dataframes (``learn_one``, ``learn_many``) names are hashed to 62 bits and forgotten,
    except those of the heap: these are ``feature_names_in_``, all of them selected.  A feature keeps its
    column there as long as it stays; a newcomer takes the column of the one that left.

    ``merge`` adds two models.  The sketch is linear, so the sum is the sketch of all gradient steps that both
    have taken, and its heap the best of both heaps under the summed weights.  It is not the model of one pass
    over all rows, because each part took its steps without knowing the other's, except where no feature is in
    rows of both.  Models of equal parts of one stream agree, and their sum is twice their mean: the ranking
    is that of the average, and later steps correct the length.

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

    def __init__(
        self,
        k: int | None = None,
        *,
        width: int = 2**18,
        depth: int = 3,
        learning_rate: float = 0.5,
        half_life: float | None = None,
        random_state: int = 0,
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

    def _start(self, batch: RowBatch) -> None:
        self._check_for_width(batch.X.shape[1])
        self._model_ = SketchedModel(
            width=self.width, depth=self.depth, capacity=self._capacity(batch.X.shape[1]),
            seed=self.random_state, half_life=self.half_life,
        )  # fmt: skip
        self._start_ranking()
        self._top_: Any = TopFeatures()

    def _check_for_width(self, n_features: int) -> None:
        self._check_k(n_features)
        if self.k is not None:
            check_number("k", self.k, high=MOST)
        check_number("width", self.width, low=1, high=MOST_WIDTH, integer=True)
        check_number("depth", self.depth, low=1, high=MOST_DEPTH, integer=True)
        if self.depth % 2 == 0:
            raise ParameterError(
                f"depth must be odd, so that there is a middle one among the estimates; got {self.depth}: "
                f"use {self.depth - 1} or {self.depth + 1}"
            )
        check_number("learning_rate", self.learning_rate, low=0, high=1e6, open_low=True)
        if self.half_life is not None:
            check_number("half_life", self.half_life, low=1)
        check_number("random_state", self.random_state, low=0, high=2**32 - 1, integer=True)

    def _capacity(self, n_features: int) -> int:
        wanted = DEFAULT_K if self.k is None else self.k
        return min(wanted, n_features) if self._fixed_ else wanted

    def _learn(self, batch: RowBatch) -> None:
        X, ids = batch.X, NOTHING
        if not self._fixed_:
            X, ids = _by_id(X, self._names_known.hashes)
        self._model_.learn(row_entries(X), ids, np.asarray(batch.y), self.learning_rate)
        if not self._fixed_:
            self._names_known.keep(self._model_.hitters.features)
            self.n_features_in_ = self._names_known.width
        self._cache_.clear()

    def _known_labels(self) -> Iterable[Any]:
        return self._model_.labels.values

    # ---------------------------------------------------------------- names that are not all remembered

    @property
    def _names_known(self) -> UnboundedVocabulary:
        return cast("UnboundedVocabulary", self._vocabulary_)

    def _vocabulary(self) -> Vocabulary | HashedVocabulary:
        self._flush_buffer()  # which forgets names
        return super()._vocabulary() if hasattr(self, "n_features_in_") else UnboundedVocabulary()

    def _meet(self, names: list[str]) -> tuple[Vocabulary | HashedVocabulary, Arrival]:
        self._flush_buffer()
        return super()._meet(names)

    def _buffer_dicts(self) -> None:
        # once the heap is full, rows that wait cannot change the number of features
        if self._fixed_ or not self._model_.hitters.is_full:
            return
        if not isinstance(self._buffer, DictBuffer):
            self._buffer = DictBuffer(self._names_known, numeric=False)
        self._buffer.known = frozenset(self._known_labels())

    def learn_one(self, x: Mapping[str, float], y: Any = None) -> None:
        """Learn one row given as ``{feature: value}``; new features are welcome, absent ones are 0."""
        super().learn_one(x, y)
        if not self._fixed_:
            self.n_features_in_ = len(self._model_.hitters.features)

    @property
    def feature_names_in_(self) -> npt.NDArray[Any]:
        """Names of the features; with dict rows, of those in the heap."""
        self._flush_buffer()
        return super().feature_names_in_

    @feature_names_in_.setter
    def feature_names_in_(self, names: npt.NDArray[Any]) -> None:
        self._names_in_ = names

    @feature_names_in_.deleter
    def feature_names_in_(self) -> None:
        del self._names_in_

    # ---------------------------------------------------------------- merging

    def merge(self, other: Self) -> Self:
        """Add another model: take the gradient steps of another selector into account.

        Parameters
        ----------
        other : a selector of the same class and parameters, which saw the same columns, or features by name
            as this one did

        Returns
        -------
        self

        Notes
        -----
        The sum is not the model of one pass over all rows; see the notes of the class.
        """
        self._check_same(other)
        self._flush_buffer()
        other._flush_buffer()
        if self._fixed_ is not other._fixed_:
            raise MergeError(
                "features are columns here and names there: only selectors that both began with learn_one or "
                "learn_many, or both with fit or partial_fit, merge"
            )
        if self._fixed_:
            self._check_same_features(other)
        model = self._model_.merged(other._model_)
        if not self._fixed_:
            names = dict.fromkeys([*self._vocabulary_, *other._vocabulary_])
            vocabulary = UnboundedVocabulary(names)
            vocabulary.keep(model.hitters.features)
            self._vocabulary_, self.n_features_in_ = vocabulary, vocabulary.width
            self._buffer = None
        self._model_ = model
        self.n_rows_seen_ += other.n_rows_seen_
        self._cache_.clear()
        return self

    # ---------------------------------------------------------------- choosing

    def _fitted(self, what: str) -> SketchedModel:
        if not hasattr(self, "_model_"):
            raise AttributeError(f"{what} is there after fit or partial_fit")
        self._flush_buffer()
        return self._model_

    @property
    def scores_(self) -> FloatArray:
        """One score a feature, larger is better."""
        model = self._fitted("scores_")
        if not self._fixed_:
            return _norms(model.weights(model.hitters.features))
        scores = np.empty(self.n_features_in_)
        for low in range(0, len(scores), SCORED_AT_ONCE):
            part = scores[low : low + SCORED_AT_ONCE]
            part[:] = model.norms(low, low + len(part))
        return scores

    def _ranked(self) -> tuple[IntArray, FloatArray]:
        """Return the slots of the heap, best first, and the weights of their features."""
        model = self._model_
        if "ranked" not in self._cache_:
            ids = model.hitters.features
            weights = model.weights(ids)
            order = np.lexsort((ids, -_norms(weights)))
            self._cache_["ranked"] = order, weights[order]
            self._note_changes()
        order, weights = self._cache_["ranked"]
        return order, weights

    def _note_changes(self) -> None:
        ids = self._model_.hitters.features
        if self._fixed_:
            ids = np.sort(ids)
        self._top_.change(
            ids, lambda: self._names_of(ids), lambda some: _norms(self._model_.weights(some)),
            self.n_rows_seen_, self._ledger_,
        )  # fmt: skip

    def _names_of(self, ids: IntArray) -> Sequence[str]:
        """Return the names of the features on top, in the order of ``transform``."""
        if not self._fixed_:
            return self._names_known.names
        names = getattr(self, "_names_in_", None)
        return [f"x{j}" if names is None else str(names[j]) for j in ids.tolist()]

    @property
    def ledger_(self) -> Ledger:
        """Which features entered and left the top set, up to now."""
        self._fitted("ledger_")
        self._ranked()
        return self._ledger_

    @property
    def selected_(self) -> IntArray:
        """Columns of the selected features, best first."""
        model = self._fitted("selected_")
        order, _ = self._ranked()
        return model.hitters.features[order] if self._fixed_ else order

    @property
    def selected_scores_(self) -> FloatArray:
        """The scores of the selected features, best first."""
        self._fitted("selected_scores_")
        return _norms(self._ranked()[1])

    @property
    def coef_(self) -> FloatArray:
        """The weights of the selected features, best first; one model a row."""
        model = self._fitted("coef_")
        rows: FloatArray = np.ascontiguousarray(self._ranked()[1].T)
        labels = model.labels.values
        if model.models > 1:
            return rows[np.argsort(np.array(labels), kind="stable")]
        return rows if labels[0] == max(labels) else -rows

    @property
    def classes_(self) -> npt.NDArray[Any]:
        """The labels seen, in order."""
        return np.sort(np.array(self._fitted("classes_").labels.values))

    @property
    def mistakes_(self) -> int:
        """Rows whose class was not clearly ahead before they were learnt."""
        return self._fitted("mistakes_").mistakes

    def _choose(self) -> BoolArray:
        mask = np.zeros(self.n_features_in_, bool)
        mask[self.selected_] = True
        return mask

    def _support(self) -> BoolArray:
        return self._choose()  # made when asked for: it may be larger than everything else

    # ---------------------------------------------------------------- output

    def _through(self) -> Named:
        """Return the features that ``transform`` lets through as they are, in its order."""
        self._fitted("transform")
        self._ranked()
        frozen: Named | None = self._top_.frozen
        return frozen if self.output == "frozen" and frozen is not None else self._top_.top

    def _columns(self) -> IntArray:
        return np.array(list(self._through()), np.int64)

    def _output(self, X: Any) -> Any:
        if not sp.issparse(X):
            return super()._output(X)
        # SciPy's own ways take memory for all columns
        columns = self._columns()
        place = np.searchsorted(columns, X.indices)
        place[place == len(columns)] = 0
        through = columns[place] == X.indices if len(columns) else np.zeros(len(place), bool)
        ends = np.concatenate([[0], np.cumsum(through)])[X.indptr]
        indices = X.indices if self.output == "zero" else place
        width = X.shape[1] if self.output == "zero" else len(columns)
        pieces = X.data[through], indices[through].astype(np.int32), ends.astype(np.int32)
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
        through = set(self._through().values())
        if self.output == "zero":
            return zero_columns(X, np.array([name not in through for name in names], bool))
        return take_named(X, list(self._through().values()))

    def transform_one(self, x: Mapping[str, float]) -> dict[str, float]:
        """Return the features of one row that ``transform`` would let through; others 0 or left out."""
        if not hasattr(self, "_model_") or self._fixed_:
            return super().transform_one(x)
        through = set(self._through().values())
        if self.output == "zero":
            return {name: v if str(name) in through else 0.0 for name, v in x.items()}
        return {name: v for name, v in x.items() if str(name) in through}

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[Any]:
        """Return the names of the columns that ``transform`` puts out.

        Parameters
        ----------
        input_features : names of all columns, where scikit-learn passes them on; must fit those known
        """
        named = hasattr(self, "_names_in_") or input_features is not None
        if not hasattr(self, "_model_") or (self._fixed_ and (named or self.output == "zero")):
            return super().get_feature_names_out(input_features)
        return np.array(list(self._through().values()), dtype=object)

    # ---------------------------------------------------------------- saving

    def _learnt(self) -> dict[str, Any]:
        learnt = super()._learnt()
        if "_vocabulary_" in learnt:
            learnt["_vocabulary_"] = Vocabulary(self._vocabulary_)
        return learnt

    def _restored(self) -> None:
        super(RankedSelector, self)._restored()  # past the ranked selector, whose top set is another one
        self._check_for_width(self.n_features_in_)
        model, top = self._model_, self._top_
        if not isinstance(model, SketchedModel) or not isinstance(top, TopFeatures):
            raise StateError("the state lacks its model or its top features")
        if model.shape != (self.depth, self.width) or model.seed != self.random_state:
            raise StateError("the state's sketch is not that of its parameters")
        if model.hitters.capacity != self._capacity(self.n_features_in_):
            raise StateError(
                f"the state's heap holds {model.hitters.capacity}, which does not fit k={self.k}"
            )
        if model.clock.half_life != self.half_life:
            raise StateError("the state fades otherwise than its parameters say")
        ids = [model.hitters.features, np.array([*top.top, *(top.frozen or ())], np.int64)]
        if self._fixed_ and any(np.any((some < 0) | (some >= self.n_features_in_)) for some in ids):
            raise StateError("the state's top features are not among its features")
        if not self._fixed_:
            self._vocabulary_ = UnboundedVocabulary(self._vocabulary_)
            if not np.array_equal(self._vocabulary_.hashes, model.hitters.features):
                raise StateError("the state's names are not those of its top features")
        self._cache_ = {}


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


def _norms(weights: FloatArray) -> FloatArray:
    """Return the sum of absolute weights of every feature."""
    norms: FloatArray = np.abs(weights).sum(axis=1)
    return norms
