"""Score every feature of a stream of rows, keep the best."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.validation import _check_feature_names_in

from streamsieve import criteria
from streamsieve._frames import take_columns, zero_columns
from streamsieve._parameters import check_choice, check_number
from streamsieve._validation import check_output
from streamsieve.base import RowSelector
from streamsieve.criteria._formula import Formula
from streamsieve.exceptions import CapabilityError, ParameterError, StateError, TargetError
from streamsieve.ledger import Ledger
from streamsieve.protocols import BoolArray, FloatArray, IntArray, RowBatch, Traits
from streamsieve.rows._top_set import TopSet

CORRECTIONS = ("none", "bonferroni", "bh")
OUTPUTS = ("drop", "zero", "frozen")
DEFAULT_K = 10

_BY_NAME: dict[str, type[Formula]] = {
    getattr(criteria, name).name: getattr(criteria, name) for name in criteria.__all__
}


class Screen(RowSelector):
    """Keep the features with the best scores, from one pass over rows that never ends.

    Any criterion becomes a streaming selector: rows go into a small mergeable summary, scores come out
    of it whenever asked for, and are those of the whole data so far (of the recent data with a half-life).

    Parameters
    ----------
    criterion : str or criterion, default="f"
        "t" (two classes), "fisher", "f" (any number of classes), "correlation" (numeric target), or an
        object from ``streamsieve.criteria``.
    k : int or None, default=None
        Keep the k best, k >= 1.  Without k, percentile and alpha: the 10 best, or all if fewer.
    percentile : float or None, default=None
        Keep this share of the features in percent, 0 < percentile <= 100.
    alpha : float or None, default=None
        Keep features whose p-value is at most alpha, 0 < alpha < 1.
    correction : {"none", "bonferroni", "bh"}, default="none"
        With alpha: what alpha bounds. "none" the error of each test, "bonferroni" the chance of any
        false feature, "bh" (Benjamini-Hochberg) the expected share of false ones among those kept.
    half_life : float or None, default=None
        Rows after which an observation weighs half, at least 1; None remembers all rows alike.
    output : {"drop", "zero", "frozen"}, default="drop"
        What ``transform`` does as the best features change: "drop" the others, "zero" them so that the
        width stays, or keep to the selection "frozen" at the first transform.
    ledger : {"all", "none"}, default="all"
        Whether to remember which features entered and left the top set.  Changes are noticed when the
        selection is computed, which is when somebody asks for it (or for the ledger).

    Attributes
    ----------
    scores_ : float64 array, one a feature; larger is better
    pvalues_ : float64 array, one a feature
    selected_ : columns of the selected features, best first
    summary_ : the summary behind the scores
    ledger_ : which features entered and left, after how many rows, at what score

    Notes
    -----
    Ties go to the feature that came first.  Batches of any size give the same result to rounding.  With
    ``sample_weight``, weight k is the same as k copies of a row; p-values count rows that way too.  Under
    a half-life, rows are counted by their information, (sum w)^2 / sum w^2.

    References
    ----------
    Wang, Online and Offline Feature Screening and Applications, FSU thesis, 2021, chapter 3; there, faded
    means lack their faded count, and scores are computed per batch of rows, not per row.

    Examples
    --------
    >>> import numpy as np, streamsieve as ss
    >>> rng = np.random.default_rng(0)
    >>> screen = ss.Screen("fisher", k=2)
    >>> for _ in range(5):
    ...     y = rng.integers(0, 2, 100)
    ...     X = rng.normal(size=(100, 6))
    ...     X[:, 4] += 2 * y
    ...     X[:, 1] -= y
    ...     screen = screen.partial_fit(X, y)
    >>> screen.selected_, screen.get_feature_names_out()
    (array([4, 1]), array(['x1', 'x4'], dtype=object))
    """

    _caches: ClassVar[frozenset[str]] = frozenset({"_cache_"})

    def __init__(
        self,
        criterion: str | Formula = "f",
        *,
        k: int | None = None,
        percentile: float | None = None,
        alpha: float | None = None,
        correction: str = "none",
        half_life: float | None = None,
        output: str = "drop",
        ledger: str = "all",
    ) -> None:
        self.criterion = criterion
        self.k = k
        self.percentile = percentile
        self.alpha = alpha
        self.correction = correction
        self.half_life = half_life
        self.output = output
        self.ledger = ledger

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """One screen for every criterion, and the other ways of choosing and putting out."""
        for name in _BY_NAME:
            yield cls(name)
        yield cls("f", alpha=0.1, correction="bh")
        yield cls("fisher", percentile=50, half_life=100)
        yield cls("f", output="zero")

    @property
    def _formula(self) -> Formula:
        if isinstance(self.criterion, str):
            check_choice("criterion", self.criterion, _BY_NAME)
            return _BY_NAME[self.criterion]()
        if not isinstance(self.criterion, Formula):
            raise ParameterError(
                f"criterion must be a name ({', '.join(map(repr, _BY_NAME))}) or an object of "
                f"streamsieve.criteria; got {self.criterion!r}"
            )
        return self.criterion

    @property
    def traits(self) -> Traits:
        """What the screen can do with its criterion."""
        known = isinstance(self.criterion, Formula) or self.criterion in _BY_NAME
        tasks = self._formula.tasks if known else frozenset()
        return Traits(tasks=tasks, missing=True, weights=True, merges=True)

    @property
    def _target(self) -> str:
        return str(self._formula.summary_type.target)

    # ---------------------------------------------------------------- learning

    def _start(self, batch: RowBatch) -> None:
        self._check_parameters(batch.X.shape[1])
        self.summary_ = self._formula.summary_type(self.half_life)
        self._ledger_ = Ledger(check_choice("ledger", self.ledger, ("all", "none")))
        self._top_ = TopSet()
        self._cache_: dict[str, Any] = {}

    def _check_parameters(self, n_features: int) -> None:
        formula = self._formula
        ways = {name: getattr(self, name) for name in ("k", "percentile", "alpha")}
        given = [f"{name}={value!r}" for name, value in ways.items() if value is not None]
        if len(given) > 1:
            raise ParameterError(f"give one of k, percentile and alpha, not {' and '.join(given)}")
        if self.k is not None:
            check_number("k", self.k, low=1, integer=True)
            if self._fixed_ and self.k > n_features:
                raise ParameterError(
                    f"k={self.k}, but the rows have {n_features} features: choose k <= {n_features}, "
                    "or percentile"
                )
        if self.percentile is not None:
            check_number("percentile", self.percentile, low=0, high=100, open_low=True)
        if self.alpha is not None:
            check_number("alpha", self.alpha, low=0, high=1, open_low=True, open_high=True)
            if not formula.has_p_values:
                able = [name for name, f in _BY_NAME.items() if f.has_p_values]
                raise CapabilityError(
                    f"criterion={formula.name!r} has no p-values, so alpha has no meaning: use k or "
                    f"percentile, or one of {', '.join(able)}"
                )
        check_choice("correction", self.correction, CORRECTIONS)
        if self.correction != "none" and self.alpha is None:
            raise ParameterError(
                f"correction={self.correction!r} corrects alpha, which was not given: give alpha"
            )
        check_choice("output", self.output, OUTPUTS)
        if self.half_life is not None:
            check_number("half_life", self.half_life, low=1)

    def _learn(self, batch: RowBatch) -> None:
        most = self._formula.most_classes
        if most is not None and batch.y is not None:
            labels = {*self.summary_.classes, *np.unique(batch.y).tolist()}
            if len(labels) > most:
                shown = ", ".join(map(repr, sorted(labels)[:4]))
                raise TargetError(
                    f"criterion={self._formula.name!r} compares {most} classes, but y holds {len(labels)} "
                    f"({shown}, ...): use criterion='f' or 'fisher'"
                )
        self.summary_.update(batch.X, batch.y, batch.weight)
        self._cache_.clear()

    def _merge(self, other: Self) -> None:
        self.summary_.merge(other.summary_)
        self._cache_.clear()

    # ---------------------------------------------------------------- choosing

    @property
    def scores_(self) -> FloatArray:
        """One score a feature, larger is better."""
        if not hasattr(self, "summary_"):
            raise AttributeError("scores_ is there after fit or partial_fit")
        if "scores" not in self._cache_:
            scores = self._padded(self._formula(self.summary_), 0.0)
            scores.setflags(write=False)  # shared with whoever asks next
            self._cache_["scores"] = scores
        cached: FloatArray = self._cache_["scores"]
        return cached

    @property
    def pvalues_(self) -> FloatArray:
        """One p-value a feature."""
        if not hasattr(self, "summary_"):
            raise AttributeError("pvalues_ is there after fit or partial_fit")
        return self._padded(self._formula.p_values(self.summary_), 1.0)

    @property
    def ledger_(self) -> Ledger:
        """Which features entered and left the top set, up to now."""
        if not hasattr(self, "_ledger_"):
            raise AttributeError("ledger_ is there after fit or partial_fit")
        self._support()
        return self._ledger_

    @property
    def selected_(self) -> IntArray:
        """Columns of the selected features, best first."""
        chosen = np.flatnonzero(self._support())
        return chosen[np.argsort(-self.scores_[chosen], kind="stable")]

    def _padded(self, values: FloatArray, worst: float) -> FloatArray:
        """Before the first row of positive weight the summary knows no features."""
        return np.pad(values, (0, self.n_features_in_ - len(values)), constant_values=worst)

    def _support(self) -> BoolArray:
        mask: BoolArray | None = self._cache_.get("mask")
        if mask is None:
            mask = self._choose()
            names = getattr(self, "feature_names_in_", None)
            self._top_.change(mask, self.scores_, names, self.n_rows_seen_, self._ledger_)
            self._cache_["mask"] = mask
        return mask

    def _choose(self) -> BoolArray:
        if self.alpha is not None:
            return _significant(self.pvalues_, self.alpha, self.correction)
        p = self.n_features_in_
        if self.percentile is not None:
            return _best(self.scores_, max(1, round(p * self.percentile / 100)))
        return _best(self.scores_, min(p, DEFAULT_K if self.k is None else self.k))

    # ---------------------------------------------------------------- output

    def _columns(self) -> IntArray:
        """Columns that ``transform`` lets through as they are."""
        mask = self.get_support()
        if self.output == "frozen" and self._top_.frozen is not None:
            return self._top_.frozen
        return np.flatnonzero(mask)

    def transform(self, X: Any) -> Any:
        """Reduce X to the selected features, or set the others to 0, as ``output`` says.

        Parameters
        ----------
        X : array, sparse matrix or dataframe with all features, in the order they were seen

        Returns
        -------
        The same kind of container; a dataframe stays a dataframe.
        """
        out = super().transform(X)
        self._top_.freeze()
        return out

    def _output(self, X: Any) -> Any:
        columns = self._columns()
        if self.output != "zero":
            return X[:, columns]
        through = np.zeros(X.shape[1], bool)
        through[columns] = True
        if not sp.issparse(X):
            return np.where(through, X, X.dtype.type(0))
        X = X.copy()  # not a product: 0 times a missing value would stay missing
        X.data[~through[X.indices]] = 0
        X.eliminate_zeros()
        return X

    def _columns_out(self, X: Any) -> Any:
        columns = self._columns()
        if self.output != "zero":
            return take_columns(X, columns)
        gone = np.ones(self.n_features_in_, bool)
        gone[columns] = False
        return zero_columns(X, gone)

    def inverse_transform(self, X: Any) -> Any:
        """Put the columns that ``transform`` let through back in their places, zeros elsewhere.

        Parameters
        ----------
        X : what ``transform`` returned
        """
        if self.output == "drop":
            return super().inverse_transform(X)
        X = check_output(X, self.n_features_in_ if self.output == "zero" else len(self._columns()))
        if self.output == "zero":
            return X
        out = np.zeros((X.shape[0], self.n_features_in_), X.dtype)
        out[:, self._columns()] = X
        return out

    def transform_one(self, x: Mapping[str, float]) -> dict[str, float]:
        """Return the features of one row that ``transform`` would let through; others 0 or left out."""
        ids, through = self._vocabulary(), {*self._columns().tolist()}
        if self.output == "zero":
            return {k: v if ids[str(k)] in through else 0.0 for k, v in x.items() if str(k) in ids}
        return {k: v for k, v in x.items() if ids.get(str(k)) in through}

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[Any]:
        """Return the names of the columns that ``transform`` puts out.

        Parameters
        ----------
        input_features : names of all columns, where scikit-learn passes them on; must fit those known
        """
        if self.output == "drop":
            names: npt.NDArray[Any] = super().get_feature_names_out(input_features)
            return names
        columns = self._columns()
        names = _check_feature_names_in(self, input_features)
        return names if self.output == "zero" else names[columns]

    def _restored(self) -> None:
        super()._restored()
        self._check_parameters(self.n_features_in_)
        if not isinstance(self.summary_, self._formula.summary_type):
            raise StateError(f"the state's summary does not serve criterion={self._formula.name!r}")
        if self.summary_.n_features not in (0, self.n_features_in_):
            raise StateError("the state's summary has another number of features")
        for columns in (self._top_.columns, self._top_.frozen):
            if columns is not None and np.any((columns < 0) | (columns >= self.n_features_in_)):
                raise StateError("the state's top features are not among its features")
        self._cache_ = {}


def _best(scores: FloatArray, k: int) -> BoolArray:
    """Mask of the k largest; among equals the first ones."""
    if k >= len(scores):
        return np.ones(len(scores), bool)
    threshold = np.partition(scores, len(scores) - k)[len(scores) - k]
    mask = np.asarray(scores > threshold)
    ties = np.flatnonzero(scores == threshold)
    mask[ties[: k - int(mask.sum())]] = True
    return mask


def _significant(p_values: FloatArray, alpha: float, correction: str) -> BoolArray:
    """Mask of the p-values at most alpha, after the correction."""
    m = len(p_values)
    if correction == "none" or m == 0:
        return np.asarray(p_values <= alpha)
    if correction == "bonferroni":
        return np.asarray(p_values <= alpha / m)
    ordered = np.sort(p_values)
    below = np.flatnonzero(ordered <= alpha * np.arange(1, m + 1) / m)
    return np.asarray(p_values <= (ordered[below[-1]] if len(below) else -1.0))
