"""Online feature selection with a budget of weights."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Self

from streamsieve._kernels.ofs import learn_rows
from streamsieve._parameters import check_number
from streamsieve.exceptions import ParameterError
from streamsieve.protocols import FloatArray
from streamsieve.rows._linear import LinearSelector
from streamsieve.rows._linear_sparse import SparseWeights
from streamsieve.rows._row_entries import RowEntries


class OFS(LinearSelector):
    """Keep the k largest weights of a linear classifier that learns from one row after the other.

    Whenever a row is not classified with a margin of 1, the weights take a step towards it, are shortened to
    a length of 1 / sqrt(ridge), and all but the k largest become 0.

    Parameters
    ----------
    k : int or None, default=None
        Weights to keep, k >= 1; the papers' B.  None: 10, or all features if there are fewer.
    learning_rate : float, default=0.2
        Length of a step, above 0 and at most 1e6.
    ridge : float, default=0.01
        How strongly weights are pulled to 0, between 1e-12 and 1e6; learning_rate * ridge must be below 1.
    output : {"drop", "zero", "frozen"}, default="drop"
        What ``transform`` does as the selection changes: "drop" the other features, "zero" them so that the
        width stays, or keep to the selection "frozen" at the first transform.
    ledger : {"all", "none"}, default="all"
        Whether to remember which features entered and left the selection, when, and at what score.

    Attributes
    ----------
    coef_ : float64 array, one weight a feature, 0 for all but k at most
    scores_ : float64 array, the sizes of the weights
    selected_ : columns with a weight, largest first; never more than k, fewer as long as fewer have one
    classes_ : the labels seen, the negative one first
    mistakes_ : rows whose label the model had wrong, or no opinion of, before it learnt them
    ledger_ : which features entered and left, after how many rows, at what score

    Notes
    -----
    A row costs time for its own values and for the k weights, whatever the number of features.  Of weights
    of equal size at the edge of the budget, those of the first columns stay.  The labels are two; the first
    one seen is the positive one if it is a positive number.  Batches of any size give the same result.

    A feature that lost its weight is forgotten, so that in one pass weak features hardly ever gather
    strength, and the result depends on the learning rate: scale rows to a length of about 1, and compare with
    :class:`~streamsieve.Screen`.

    References
    ----------
    Wang, Zhao, Hoi, Jin, Online Feature Selection and Its Applications, IEEE TKDE 26 (2014), algorithm 2.
    Some public versions leave out the shrinking, or never truncate while they learn; this one does both.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve.rows.ofs import OFS
    >>> rng = np.random.default_rng(0)
    >>> selector = OFS(k=2)
    >>> for _ in range(10):
    ...     X = rng.normal(size=(100, 8))
    ...     selector = selector.partial_fit(X, X[:, 3] - X[:, 5] > 0)
    >>> selector.selected_.tolist(), np.sign(selector.coef_[[3, 5]]).tolist()
    ([5, 3], [1.0, -1.0])
    """

    _gathers: ClassVar[bool] = True

    def __init__(
        self,
        k: int | None = None,
        *,
        learning_rate: float = 0.2,
        ridge: float = 0.01,
        output: str = "drop",
        ledger: str = "all",
    ) -> None:
        self.k = k
        self.learning_rate = learning_rate
        self.ridge = ridge
        self.output = output
        self.ledger = ledger

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """Yield the defaults, and the smallest budget with output of fixed width."""
        yield cls()
        yield cls(k=1, learning_rate=0.05, ridge=0.1, output="zero")

    def _check_parameters(self) -> None:
        check_number("learning_rate", self.learning_rate, low=0, high=1e6, open_low=True)
        check_number("ridge", self.ridge, low=1e-12, high=1e6)
        if self.learning_rate * self.ridge >= 1:
            raise ParameterError(
                f"learning_rate * ridge must be below 1, or weights change their signs; got "
                f"{self.learning_rate!r} * {self.ridge!r}: choose a smaller one"
            )

    def _new_model(self) -> SparseWeights:
        return SparseWeights()

    def _advance(self, entries: RowEntries, signs: FloatArray) -> int:
        model = self._model_
        columns, values = model.with_room(min(self._budget, len(model.columns) + len(entries.data)))
        kept, scale, mistakes = learn_rows(
            entries.indptr, entries.indices, entries.data, signs, columns, values, len(model.columns),
            model.scale, self._budget, float(self.learning_rate), float(self.ridge),
        )  # fmt: skip
        self._model_ = SparseWeights(columns[:kept], values[:kept], scale)
        return int(mistakes)
