"""BARDA: budgeted dual averaging with adaptive step sizes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from streamsieve.base import RowSelector
from streamsieve.base.choose import best
from streamsieve.base.fitted import fitted_property
from streamsieve.protocols import CLASSIFICATION, BoolArray, FloatArray, RowBatch, Traits
from streamsieve.rows.linear.dual_averaging import Settings
from streamsieve.rows.linear.entries import row_entries
from streamsieve.rows.linear.one_vs_rest import OneVsRest
from streamsieve.state import Float, Nested


class BARDA(RowSelector):
    """Keep the k best features of a linear classifier that never forgets what it dropped.

    For every feature there are two sums: of the gradients of the squared hinge loss, and of their squares.
    The weights follow from the sums after every row, with a step of its own for each feature, and only the k
    best of them predict the next row.  A feature that does not predict goes on gathering gradients, and comes
    back when they are large enough.

    Parameters
    ----------
    k : int or None, default=None
        Features to keep, k >= 1; the paper's B.  None: 10, or all features if there are fewer.
    learning_rate : float, default=0.05
        Length of the first steps, above 0 and at most 1000; the paper's eta.  It matters little.
    l2 : float, default=0.01
        Strength of the L2 penalty, between 0 and 1e6; the paper's lambda.
    damping : float, default=0.01
        What is added to the root of the sum of squares, between 1e-30 and 1e6; the paper's delta.
    output : {"drop", "zero", "frozen"}, default="drop"
        "drop" features that are not selected, set them to "zero", or keep the selection of the first output.
    ledger : {"all", "kept", "none"}, default="all"
        Record which features entered and left, when, and at what score; "kept" is the same as "all".

    Attributes
    ----------
    scores_ : float64 array, ``w**2 * H`` of every feature, its weight not yet set to 0; with several classes,
        the largest over them
    selected_ : columns of the selected features, in column order
    ranked_ : columns of the k largest scores, best first; fewer as long as fewer have a score above 0
    coef_ : float64 array (classes, features), the weights that predict, at most k a row; for two classes one
        row, which speaks for ``classes_[1]``
    classes_ : the labels seen, sorted
    mistakes_ : number of rows whose class was not clearly predicted before they were learnt
    ledger_ : which features entered and left, after how many rows, at what score

    Notes
    -----
    **Formula.** With labels -1 and 1, G the sum of the gradients ``g = -2 y (1 - y w'x) x`` over the rows
    with ``y w'x < 1``, H = ``damping + sqrt(sum g^2)`` and t rows: ``w = -learning_rate G / (l2 learning_rate
    t + H)``. The k largest ``w^2 H`` stay, all other weights predict as 0.

    **When it fails.** The model is linear: a feature that matters only jointly with another, or whose effect
    is not monotone, has no gradient to gather. Old rows count like new ones, so after a drift the sums must
    first be outweighed. Features of unequal scale are ranked by their scale as well.

    A row costs time for its own values, whatever the number of features and nearly whatever k, although all
    weights change with every row; see ``streamsieve._kernels.barda``.  All features are looked at now and
    then, less and less often.  Yet the weights that predict are the k best of all features at every row,
    exactly, and batches of any size give the same result.  Memory is 24 bytes per feature and class.

    More than two classes are compared each with the rest, and there is a learner for each.  It begins with
    the first row of its class; the first two classes share one, which is mirrored when a third comes.  With
    several classes, ``selected_`` are the k features of the largest scores in any of them, while every class
    predicts with k features of its own.

    Gradients are taken at weights that depend on all rows before.  So two states do not combine into the
    state of the whole stream, and do not merge: adding their sums, as distributed dual averaging does, gives
    another selection than one pass.

    The paper makes several passes over the rows with steps of 1e-4.  The default is made for one pass over
    features of standard deviation 1: scale the features.  Gradients are held within 1e140, so that no value
    makes them overflow.

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
        """The weights that predict; 0 for features that are not kept."""
        return self._learners_.coefficients(self._settings)

    @fitted_property
    def classes_(self) -> npt.NDArray[Any]:
        """The labels seen, sorted."""
        return np.sort(np.array(self._learners_.labels.values))

    @fitted_property
    def mistakes_(self) -> int:
        """Number of rows whose class was not clearly predicted before they were learnt."""
        return self._learners_.mistakes

    def _choose(self) -> BoolArray:
        # a feature of which nothing was learnt is not selected, even if fewer than k others are
        return best(self.scores_, self._k) & (self.scores_ > 0)

    def _consistent(self) -> Iterator[str]:
        yield from super()._consistent()
        learners = self._learners_
        if learners.n_features != self.n_features_in_ or learners.models[0].n_rows != self.n_samples_seen_:
            yield "the learners saw other rows or features"
