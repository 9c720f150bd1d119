"""B-ARDA: budgeted dual averaging with adaptive step sizes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from streamsieve.base import RowSelector
from streamsieve.base.choose import best
from streamsieve.base.fitted import fitted_property
from streamsieve.protocols import CLASSIFICATION, BoolArray, FloatArray, RowBatch, Statistic, Traits
from streamsieve.rows.linear.dual_averaging import Settings
from streamsieve.rows.linear.entries import row_entries
from streamsieve.rows.linear.one_vs_rest import OneVsRest
from streamsieve.state import Float, Nested


class BARDA(RowSelector):
    """Online feature selection by budgeted adaptive dual averaging (B-ARDA), for classification.

    For every feature the sums of the gradients of the squared hinge loss, and of their squares, are updated
    row by row.  The weights of a linear classifier follow from these sums, with an adaptive step size per
    feature, and only the k best weights are used to predict the next row.  Features outside the budget still
    accumulate gradients, and return when these are large enough.

    Parameters
    ----------
    k : int or None, default=None
        Number of features to keep, at least 1; the paper's B.  If None, 10, or all features if there are
        fewer.
    learning_rate : float, default=0.05
        Initial step size, in (0, 1000]; the paper's eta.  The result is not sensitive to it.
    l2 : float, default=0.01
        Strength of the L2 penalty, in [0, 1e6]; the paper's lambda.
    damping : float, default=0.01
        Constant added to the square root of the sum of squared gradients, in [1e-30, 1e6]; the paper's delta.
    output : {"drop", "zero", "frozen"}, default="drop"
        What ``transform`` does with features that are not selected: "drop" them, set them to "zero", or drop
        those outside the selection of the first call ("frozen").
    ledger : {"all", "kept", "none"}, default="all"
        Whether to record which features entered and left the selected set, when, and with what score; "kept"
        is the same as "all".

    Attributes
    ----------
    scores_ : float64 array, ``w**2 * H`` of every feature, with w before the budget is applied; with several
        classes, the largest over classes
    selected_ : columns of the selected features, in column order
    ranked_ : columns of the k largest scores, best first; fewer if fewer scores are above 0
    coef_ : float64 array (classes, features), the weights used for prediction, at most k per row; for two
        classes one row, positive for ``classes_[1]``
    classes_ : the labels seen, sorted
    mistakes_ : number of rows whose class was not predicted with a positive margin before they were learned
    ledger_ : which features entered and left the selected set, after how many rows, with what score

    Notes
    -----
    **Formula.** With labels -1 and 1, G the sum of the gradients ``g = -2 y (1 - y w'x) x`` over the rows
    with ``y w'x < 1``, H = ``damping + sqrt(sum g^2)`` and t rows: ``w = -learning_rate G / (l2 learning_rate
    t + H)``. The k weights of largest ``w^2 H`` are used for prediction, all others count as 0.

    **When it fails.** The model is linear: a feature that is informative only jointly with another, or whose
    effect is not monotone, accumulates no gradient.  Old rows count as much as new ones, so adapting to a
    drift is slow.  The ranking depends on the scale of the features.

    The cost of a row is proportional to its number of nonzero values, nearly independent of k and of the
    number of features, although all weights change with every row; see ``streamsieve._kernels.barda``.  All
    features are surveyed from time to time, with decreasing frequency.  Nevertheless the weights used for
    prediction are exactly the k best of all features at every row, and the result does not depend on the size
    of batches.  Memory is 24 bytes per feature and class.

    More than two classes are handled one-versus-rest, with a learner per class that starts with the first row
    of its class; the first two classes share one, which is mirrored when a third class appears.  With
    several classes, ``selected_`` are the k features of the largest scores in any of them, while every class
    predicts with k features of its own.

    There is no ``merge``: gradients depend on all rows before, so adding the sums of two states, as
    distributed dual averaging does, does not give the selection of one pass.

    The paper makes several passes over the rows with steps of 1e-4.  The default is for one pass over
    features of standard deviation 1: scale the features.  Gradients are clipped at 1e140 to avoid overflow.

    References
    ----------
    Zhai, Wang, Koriche, Gao, Online Feature Selection by Adaptive Sub-gradient Methods, ECML-PKDD 2018,
    algorithm B-ARDA.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve.rows.barda import BARDA
    >>> rng = np.random.default_rng(0)
    >>> selector = BARDA(k=2)
    >>> for _ in range(10):
    ...     X = rng.normal(size=(100, 8))
    ...     selector = selector.partial_fit(X, X[:, 3] - X[:, 5] > 0)
    >>> sorted(selector.selected_.tolist()), np.sign(selector.coef_[0, [3, 5]]).tolist()
    ([3, 5], [1.0, -1.0])
    """

    _traits: ClassVar[Traits] = Traits(tasks=CLASSIFICATION, size_parameter="k")
    _buffers_rows: ClassVar[bool] = True

    _statistic = Statistic("saliency")
    parameters = {
        "learning_rate": Float(0, 1e3, open_low=True),
        "l2": Float(0, 1e6),
        "damping": Float(1e-30, 1e6),
    }
    fields = {"_learners_": Nested(OneVsRest)}

    def __init__(
        self,
        k: int | None = None,
        *,
        learning_rate: float = 0.05,
        l2: float = 0.01,
        damping: float = 0.01,
        output: str = "drop",
        ledger: str = "all",
    ) -> None:
        self.k = k
        self.learning_rate = learning_rate
        self.l2 = l2
        self.damping = damping
        self.output = output
        self.ledger = ledger

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """Yield the defaults, the smallest k, and no L2 penalty with output of fixed width."""
        yield cls()
        yield cls(k=1, l2=0.5)
        yield cls(k=1, learning_rate=0.5, l2=0.0, damping=0.1, output="zero")

    @property
    def _settings(self) -> Settings:
        return Settings.of(
            min(self._most, 2**31), float(self.learning_rate), float(self.l2), float(self.damping)
        )

    def _start(self, batch: RowBatch) -> None:
        self._learners_ = OneVsRest(batch.X.shape[1])

    def _learn(self, batch: RowBatch) -> None:
        self._learners_.learn(row_entries(batch.X), np.asarray(batch.y), batch.X.shape[1], self._settings)

    def _known_labels(self) -> Iterable[Any]:
        return self._learners_.labels.values

    def _scores(self) -> FloatArray:
        return self._learners_.scores(self._settings)

    @fitted_property
    def coef_(self) -> FloatArray:
        """The weights used for prediction; 0 for features that are not kept."""
        return self._learners_.coefficients(self._settings)

    @fitted_property
    def classes_(self) -> npt.NDArray[Any]:
        """The labels seen, sorted."""
        return np.sort(np.array(self._learners_.labels.values))

    @fitted_property
    def mistakes_(self) -> int:
        """Number of rows whose class was not predicted with a positive margin before they were learned."""
        return self._learners_.mistakes

    def _choose(self) -> BoolArray:
        # features with score 0 are not selected, even if fewer than k are left
        return best(self.scores_, self._k) & (self.scores_ > 0)

    def _consistent(self) -> Iterator[str]:
        yield from super()._consistent()
        learners = self._learners_
        if learners.n_features != self.n_features_in_ or learners.models[0].n_rows != self.n_samples_seen_:
            yield "the learners saw other rows or features"
