"""Second-order online feature selection for sparse text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Self

from streamsieve._parameters import check_number
from streamsieve.protocols import FloatArray
from streamsieve.rows._linear import LinearSelector
from streamsieve.rows._linear_confidence import SureWeights
from streamsieve.rows._row_entries import RowEntries


class SOFS(LinearSelector):
    """Keep the k features of whose weights a second-order linear classifier is surest, in sparse text.

    **For sparse text only.**  A weight becomes sure by the squares of its feature's values in the rows that
    were not classified with a margin of 1, whatever the labels of these rows: it is a rule of frequency.  In
    text the words that occur often are also those from which much is learnt.  In dense, standardised data all
    features are equally frequent, and the selection is worse than a random one: use
    :class:`~streamsieve.OFS` or :class:`~streamsieve.Screen` there.

    Parameters
    ----------
    k : int or None, default=None
        Weights to keep, k >= 1; the papers' B.  None: 10, or all features if there are fewer.
    regularization : float, default=1.0
        How slowly the model becomes sure, between 1e-6 and 1e6; the papers' gamma or r.
    output : {"drop", "zero", "frozen"}, default="drop"
        What ``transform`` does as the selection changes: "drop" the other features, "zero" them so that the
        width stays, or keep to the selection "frozen" at the first transform.
    ledger : {"all", "none"}, default="all"
        Whether to remember which features entered and left the selection, when, and at what score.

    Attributes
    ----------
    coef_ : float64 array, one weight a feature, 0 for all but k at most
    sigma_ : float64 array, how unsure the model is of each weight; 1 where nothing was learnt
    scores_ : float64 array, 1 / sigma_ - 1
    selected_ : columns of the k smallest sigma_, smallest first; none of which nothing was learnt
    classes_ : the labels seen, the negative one first
    mistakes_ : rows whose label the model had wrong, or no opinion of, before it learnt them
    ledger_ : which features entered and left, after how many rows, at what score

    Notes
    -----
    Every feature has its sigma for good; the weight is 0 outside the k smallest, and begins anew at 0 when a
    feature comes back.  Of equal sigmas, those of the first columns count as smaller.  A row costs
    time for its own values and a logarithm of k, whatever the number of features.  Batches of any size give
    the same result.

    References
    ----------
    Wu, Hoi, Mei, Yu, Large-scale Online Feature Selection for Ultra-high Dimensional Sparse Data, ACM TKDD 11
    (2017); the model is Crammer, Kulesza, Dredze, Adaptive Regularization of Weight Vectors, NIPS 2009, with
    a diagonal matrix.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from streamsieve.rows.sofs import SOFS
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 500)
    >>> counts = rng.poisson(0.1, (500, 50))  # 50 words, of which two tell the classes apart
    >>> counts[:, 7] += rng.poisson(1.0, 500) * y
    >>> counts[:, 9] += rng.poisson(1.0, 500) * (1 - y)
    >>> selector = SOFS(k=2).fit(sp.csr_array(counts), y)
    >>> selector.get_feature_names_out().tolist(), np.sign(selector.coef_[[7, 9]]).tolist()
    (['x7', 'x9'], [1.0, -1.0])
    """

    _gathers: ClassVar[bool] = True

    def __init__(
        self,
        k: int | None = None,
        *,
        regularization: float = 1.0,
        output: str = "drop",
        ledger: str = "all",
    ) -> None:
        self.k = k
        self.regularization = regularization
        self.output = output
        self.ledger = ledger

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """Yield the defaults, and the smallest budget with output of fixed width."""
        yield cls()
        yield cls(k=1, regularization=10.0, output="zero")

    def _check_parameters(self) -> None:
        check_number("regularization", self.regularization, low=1e-6, high=1e6)

    def _new_model(self) -> SureWeights:
        return SureWeights()

    def _advance(self, entries: RowEntries, signs: FloatArray) -> int:
        mistakes: int = self._model_.learn(
            entries, signs, self.n_features_in_, self._most, float(self.regularization)
        )
        return mistakes

    @property
    def sigma_(self) -> FloatArray:
        """How unsure the model is of each weight; 1 where nothing was learnt."""
        self._check_learnt("sigma_")
        return 1.0 / (1.0 + self.scores_)
