"""Selection by scores that change as rows arrive: ranking, ledger, and output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from streamsieve._frames import take_columns, zero_columns
from streamsieve._one_thread import alone, changes
from streamsieve._validation import check_output
from streamsieve.base.choose import best, warn_if_beyond
from streamsieve.base.effects import decision_effect
from streamsieve.base.fitted import fitted_property
from streamsieve.base.showing import types_of
from streamsieve.base.top_set import TopSet
from streamsieve.base.vocabulary import Vocabulary, row_names
from streamsieve.ledger import Ledger
from streamsieve.protocols import BoolArray, FloatArray, IntArray

OUTPUTS = ("drop", "zero", "frozen")
#: Number of features to keep where ``k`` is None.
DEFAULT_K = 10
#: ``transform_one`` updates the selection after this number of rows, or 1 / SHARE of all rows, since the last
#: update.
REVIEW_EVERY, REVIEW_SHARE = 50, 8
TEXT = frozenset({str})


class RankedFeatures:
    """Mixin for row selectors that rank features, select the best, and transform rows.

    The hooks are :meth:`_scores` (required), :meth:`_choose`, :meth:`_select`, :meth:`_scores_of` and
    :meth:`_ranked`.  Their results are cached until rows are learned or merged.
    """

    #: Defaults of the parameters that not every row selector has.
    k: int | None = None
    output: str = "drop"
    ledger: str = "all"
    review_every: int | None = None
    #: The features that the latest ``transform_one`` passed on, by id, and their names.
    _passing: tuple[IntArray, frozenset[str]] | None = None

    # ---------------------------------------------------------------- hooks

    def _scores(self: Any) -> FloatArray:
        """Return one score per feature, larger is better."""
        raise TypeError(f"{type(self).__name__} must implement _scores or _select")

    def _choose(self: Any) -> BoolArray:
        """Return a mask of the selected features; by default the k best."""
        return best(self.scores_, self._k)

    def _select(self: Any) -> IntArray:
        """Return the ids of the selected features, in the order of ``transform``."""
        return np.flatnonzero(self._choose())

    def _scores_of(self: Any, features: IntArray) -> FloatArray:
        """Return the scores of some features."""
        scores: FloatArray = self.scores_[features]
        return scores

    def _ranked(self: Any, features: IntArray) -> IntArray:
        """Return positions of the features, best first; ties go to the first feature."""
        return np.lexsort((features, -self._scores_of(features)))

    # ---------------------------------------------------------------- how many

    @property
    def _most(self) -> int:
        """Number of features to keep, even if fewer have been seen so far."""
        return DEFAULT_K if self.k is None else self.k

    @property
    def _k(self: Any) -> int:
        """Number of features to keep, at most all."""
        return int(min(self.n_features_in_, self._most))

    def _check_k(self: Any) -> None:
        """Warn about a k above the number of features, which selects all of them."""
        if self._fixed_:
            warn_if_beyond(self.k, self.n_features_in_)

    # ---------------------------------------------------------------- choosing

    def _start_ranking(self: Any) -> None:
        self._ledger_ = Ledger(self.ledger)
        self._top_ = TopSet(named=self._forgets_names)
        self._cache_: dict[str, Any] = {}

    def _invalidate(self: Any) -> None:
        """Drop all cached results."""
        self._cache_.clear()

    @fitted_property
    def scores_(self: Any) -> FloatArray:
        """One score per feature, larger is better."""
        if "scores" not in self._cache_:
            scores = self._scores()
            scores.setflags(write=False)  # shared with every later access
            self._cache_["scores"] = scores
        cached: FloatArray = self._cache_["scores"]
        return cached

    @fitted_property
    def ledger_(self: Any) -> Ledger:
        """Which features entered and left the selected set, and when."""
        self._selection()
        ledger: Ledger = self._ledger_
        ledger.type_of, ledger.effect_of = types_of(self).get, partial(decision_effect, self)
        return ledger

    @fitted_property
    def selected_(self: Any) -> IntArray:
        """Columns of the selected features, in column order."""
        return np.sort(self._columns(self._selection()))

    @fitted_property
    def ranked_(self: Any) -> IntArray:
        """Columns of the selected features, best first."""
        features = self._selection()
        return self._columns(features)[self._ranked(features)]  # type: ignore[no-any-return]

    def _ranking(self: Any) -> tuple[list[str], list[float], list[float]]:
        """Return names, scores and p-values of the selected features, best first, as `ranking` shows them."""
        features = self._selection()
        order = self._ranked(features)
        names, scores = self._names_of(features), self._scores_of(features)[order].tolist()
        has_p_values = not self._forgets_names and hasattr(self, "pvalues_")
        p_values = self.pvalues_[features[order]].tolist() if has_p_values else [float("nan")] * len(order)
        return [str(names[i]) for i in order], scores, p_values

    def _progress(self: Any) -> str:
        n = self.n_samples_seen_  # counting the selected features would update the ledger
        return f"{n:,} row{'s' * (n != 1)} of {self.n_features_in_:,} features seen"

    def _selection(self: Any) -> IntArray:
        """Return the ids of the selected features, after recording what has changed."""
        self._refresh()
        cached: IntArray | None = self._cache_.get("selection")
        return self._selected_now() if cached is None else cached

    @changes
    def _selected_now(self: Any) -> IntArray:
        features: IntArray = self._select()
        self._record_changes(features, self.n_samples_seen_)
        self._cache_["selection"] = features
        return features

    def _record_changes(self: Any, features: IntArray, rows: int) -> None:
        self._top_.change(features, self._names_of, self._scores_of, rows, self._ledger_)

    def _support(self: Any) -> BoolArray:
        mask = np.zeros(self.n_features_in_, bool)
        mask[self._columns(self._selection())] = True
        return mask

    # ---------------------------------------------------------------- ids, columns, names

    @property
    def _forgets_names(self: Any) -> bool:
        """Whether ids are hashes of names of which only a few are remembered."""
        return getattr(self.__dict__.get("_vocabulary_"), "forgets", False)

    def _columns(self: Any, features: IntArray) -> IntArray:
        """Return the columns of selected features, given by id."""
        return np.arange(len(features)) if self._forgets_names else features

    def _names(self: Any) -> npt.NDArray[Any] | None:
        """Return the names of all features, or None if there are none."""
        return getattr(self, "feature_names_in_", None)

    def _names_of(self: Any, features: IntArray) -> Sequence[str]:
        """Return the names of some features; if names are forgotten, of the selected ones only."""
        if self._forgets_names:
            return self._vocabulary_.names  # type: ignore[no-any-return]
        known = self._names() if len(features) else None
        return [f"x{j}" if known is None else str(known[j]) for j in features.tolist()]

    # ---------------------------------------------------------------- output

    def _is_frozen(self: Any) -> bool:
        """Whether the output keeps to an earlier selection; if not, the selection is reviewed."""
        if self._unchecked:
            self._check_changed()
        if self.output == "frozen" and self._top_.frozen is not None:
            return True
        self._selection()
        return False

    def _passed(self: Any) -> IntArray:
        """Return the ids of the features that ``transform`` passes on unchanged, in its order."""
        passed: IntArray = self._top_.frozen if self._is_frozen() else self._top_.features
        return passed

    def _passed_names(self: Any) -> list[str]:
        """Return their names, for a vocabulary that forgets names."""
        names: list[str] = self._top_.frozen_names if self._is_frozen() else self._top_.names
        return names

    def transform(self: Any, X: Any) -> Any:
        """Reduce X to the selected features, or set the others to 0, depending on ``output``.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Rows with all features, in the order in which they were learned.

        Returns
        -------
        array, sparse matrix or dataframe
            The container that was given.
        """
        out = super().transform(X)  # type: ignore[misc]
        self._freeze()
        return out

    def _freeze(self: Any) -> None:
        if self._top_.frozen is None:
            alone(self, self._top_.freeze)

    def _output(self: Any, X: Any) -> Any:
        columns = self._passed()
        if self.output != "zero":
            return X[:, columns]
        passed = np.zeros(X.shape[1], bool)
        passed[columns] = True
        if not sp.issparse(X):
            return np.where(passed, X, X.dtype.type(0))
        X = X.copy()  # not by multiplication: 0 * NaN is NaN
        X.data[~passed[X.indices]] = 0
        X.eliminate_zeros()
        return X

    def _columns_out(self: Any, X: Any) -> Any:
        columns = self._passed()
        if self.output != "zero":
            return take_columns(X, columns)
        gone = np.ones(self.n_features_in_, bool)
        gone[columns] = False
        return zero_columns(X, gone)

    def inverse_transform(self: Any, X: Any) -> Any:
        """Put the columns returned by ``transform`` back in their places, with zeros elsewhere.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_selected)
            The result of ``transform``.
        """
        if self.output == "drop":
            return super().inverse_transform(X)  # type: ignore[misc]
        X = check_output(X, self.n_features_in_ if self.output == "zero" else len(self._passed()))
        X = X.toarray() if sp.issparse(X) else X
        return X if self.output == "zero" else self._put_back(X, self._passed())

    def transform_one(self: Any, x: Mapping[str, float]) -> dict[str, float]:
        """Return the selected features of one row; the others are 0 or left out.

        Ranking all features costs more than learning a row, so the selection is updated here only if it is
        ``review_every`` rows old (50 if that is None or not a parameter) or an eighth of all rows.  Any other
        access, such as ``selected_``, updates it at once.

        Parameters
        ----------
        x : dict
            The row, as ``{feature: value}``.
        """
        if "n_features_in_" not in self.__dict__:
            check_is_fitted(self)
        passed = self._passed_by_one()
        if self.output != "zero" and type(x) is dict and TEXT.issuperset(map(type, x)):
            names = self._names_passed_by_one(passed)
            if names is not None:
                return {name: value for name, value in x.items() if name in names}
        ids = self._known_names().lasting_ids(row_names(x, "transform_one"))
        row = [(name, value, i) for (name, value), i in zip(x.items(), ids, strict=True) if i is not None]
        chosen = {*passed.tolist()}
        if self.output == "zero":
            return {name: value if i in chosen else 0.0 for name, value, i in row}
        return {name: value for name, value, i in row if i in chosen}

    def _passed_by_one(self: Any) -> IntArray:
        """Return the ids of the features that ``transform_one`` passes on, after an update if one is due."""
        if self.output == "frozen":
            passed: IntArray = self._passed()
            self._freeze()
            return passed
        top, rows, most = self._top_, self.n_samples_seen_, self.review_every or REVIEW_EVERY
        due = rows - top.rows >= max(1, min(most, rows // REVIEW_SHARE))
        if due or self._unchecked or self._forgets_names:
            self._selection()
        return top.features  # type: ignore[no-any-return]

    def _known_names(self: Any) -> Any:
        """Return the vocabulary, without flushing the buffer if that would not change it."""
        known = None if self._forgets_names else self.__dict__.get("_vocabulary_")
        return self._vocabulary() if known is None else known

    def _names_passed_by_one(self: Any, passed: IntArray) -> frozenset[str] | None:
        """Return the names of these features, or None if several names may share an id."""
        passing: tuple[IntArray, frozenset[str]] | None = self._passing
        if passing is None or passing[0] is not passed:
            known = self._known_names()
            if type(known) is not Vocabulary:
                return None
            all_names = known.names
            passing = passed, frozenset(all_names[i] for i in passed.tolist() if all_names)
            self._passing = passing
        return passing[1]

    def get_feature_names_out(self: Any, input_features: Any = None) -> npt.NDArray[Any]:
        """Return the names of the columns that ``transform`` returns.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of all columns, as scikit-learn passes them; must equal the known names.
        """
        check_is_fitted(self)
        passed = self._passed()
        if self._forgets_names:
            return np.array(self._passed_names(), dtype=object)
        if self.output != "zero" and input_features is None and self._names() is None:
            return np.array(self._names_of(passed), dtype=object)  # names of all features may be too many
        names: npt.NDArray[Any] = _check_feature_names_in(self, input_features)
        return names if self.output == "zero" else names[passed]
