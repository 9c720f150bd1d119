"""Extremal feature selection with a balanced Winnow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp

from streamsieve._kernels.winnow import learn_rows
from streamsieve._values import feature_label
from streamsieve.base import RowSelector
from streamsieve.base.choose import best
from streamsieve.exceptions import InputError
from streamsieve.protocols import BoolArray, FloatArray, RowBatch, Statistic, Task, Traits
from streamsieve.rows.linear.entries import RowEntries, grow_rows
from streamsieve.rows.linear.selector import LinearScores
from streamsieve.rows.linear.signed_labels import SignedLabels
from streamsieve.state import Array, Float, Nested, Part, register

#: Where logarithms of weights are cut off in learning.
LARGEST = 600.0


@register
class WinnowWeights(Part):
    """Weights u for the positive class and v for the negative one, as ``log(u / 2)`` and ``log(v)``."""

    fields = {
        "cells": Array("f8", "features", 2, high=LARGEST, finite=True),
        "bias": Array("f8", 2, high=LARGEST, finite=True),
    }

    def __init__(self) -> None:
        self.n_features = 0
        self._cells = np.zeros((0, 2))
        self._bias = np.zeros(2)

    def learn(
        self,
        entries: RowEntries,
        signs: FloatArray,
        n_features: int,
        *,
        promotion: float,
        demotion: float,
        threshold: float,
        margin: float,
    ) -> int:
        """Learn rows, and return the number of rows misclassified before."""
        self.n_features = n_features
        self._cells = grow_rows(self._cells, n_features)
        return int(
            learn_rows(
                entries.indptr, entries.indices, entries.data, signs, self._cells, self._bias,
                promotion, demotion, threshold, margin,
            )
        )  # fmt: skip

    def coefficients(self, n_features: int) -> FloatArray:
        """Return u - v, which is 1 where nothing was learned."""
        out = np.ones(n_features)
        u, v = np.exp(self._cells[: self.n_features].T)
        out[: self.n_features] = 2.0 * u - v
        return out

    def learned(self, n_features: int) -> BoolArray:
        """Return a mask of the features of which something was learned."""
        out = np.zeros(n_features, bool)
        out[: self.n_features] = self._cells[: self.n_features].any(axis=1)
        return out

    def scores(self, n_features: int) -> FloatArray:
        """Return |u - v|, and 0 where nothing was learned."""
        return np.where(self.learned(n_features), np.abs(self.coefficients(n_features)), 0.0)

    def _record(self) -> Mapping[str, Any]:
        return {"cells": self._cells[: self.n_features], "bias": self._bias}

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        model = cls()
        model._cells, model._bias = record["cells"], record["bias"]
        model.n_features = len(model._cells)
        return model

    def problems(self, n_features: int, most: int) -> Iterator[str]:  # noqa: ARG002 - all have weights
        """Yield the reasons why this is not a valid model of ``n_features`` features."""
        if self.n_features != n_features:
            yield "the model has weights for other features"


class WinnowEFS(LinearScores, RowSelector):
    """Extremal feature selection (EFS) by a modified balanced Winnow, for non-negative features.

    Each feature has two weights, u for the positive class and v for the negative one.  When a row is not
    classified with the margin, the weights of its features are updated multiplicatively: one grows, the other
    shrinks.  Features are ranked by abs(u - v).

    Parameters
    ----------
    k : int or None, default=None
        Number of features to keep, at least 1.  If None, 10, or all features if there are fewer.
    promotion : float, default=1.5
        Factor of the weight that grows, in (1, 100]; the paper's alpha.
    demotion : float, default=0.5
        Factor of the weight that shrinks, in [1e-6, 1); the paper's beta.
    theta : float, default=1.0
        Decision threshold: a row is positive if the sum of (u - v) x exceeds it; in [-1e6, 1e6].
    margin : float, default=1.0
        Rows classified with a larger margin are not learned from; in [0, 1e6].
    extremes : float, default=0.0
        Fraction of the k features to take from the lower end of the ranking, in [0, 0.5].
    output : {"drop", "zero", "frozen"}, default="drop"
        What ``transform`` does with features that are not selected: "drop" them, set them to "zero", or drop
        those outside the selection of the first call ("frozen").
    ledger : {"all", "kept", "none"}, default="all"
        Whether to record which features entered and left the selected set, when, and with what score; "kept"
        is the same as "all".

    Attributes
    ----------
    coef_ : float64 array, u - v of every feature, or v - u where the positive class is ``classes_[0]``, so
        that positive numbers are evidence for ``classes_[1]``; 1 or -1, the initial value, if nothing was
        learned
    scores_ : float64 array, abs(u - v), and 0 where nothing was learned
    selected_ : columns of the selected features, in column order
    ranked_ : the same columns, largest score first
    classes_ : the labels seen, sorted
    mistakes_ : number of rows misclassified, or not classified at all, before they were learned
    ledger_ : which features entered and left the selected set, after how many rows, with what score

    Notes
    -----
    **Formula.** Rows get a bias and are divided by their sum; with labels -1 and 1, if ``y ((u - v)'x -
    theta) <= margin``, every feature with x > 0 has u multiplied by ``promotion (1 + x)`` and v by ``demotion
    (1 - x)`` for y = 1, and the reverse for y = -1. Score: ``|u - v|``.

    **When it fails.** Weights of rare features are determined by a few rows, so that the ranking is noisy.
    Negative values are not supported, and the absence of a feature is never evidence.

    Rows get a bias feature of value 1 and are divided by their sum.  Only nonzero features are updated, so
    the cost of a row is proportional to its number of nonzero values, whatever the number of features.  A
    weight is never multiplied by less than 1e-6 times ``demotion``: otherwise a feature alone in its row
    would lose its weight permanently.  Weights are stored as logarithms and limited to exp(600).

    The classes are not symmetric initially (u = 2, v = 1).  The positive class is the label 1 or True;
    otherwise the label seen second.

    Features without any update are never selected; by the paper's formula their score would be abs(2 - 1) =
    1, better than that of many others.  The result does not depend on the size of batches.  Negative
    values are refused.

    References
    ----------
    Carvalho, Cohen, Single-Pass Online Learning: Performance, Voting Schemes and Online Feature Selection,
    KDD 2006.  Of the public versions, one updates features that are 0 in a row as well, and one exchanges
    1 + x and 1 - x for the negative class.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve.rows.winnow_efs import WinnowEFS
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 500)
    >>> counts = rng.poisson(0.1, (500, 50))  # 50 words, two of which separate the classes
    >>> counts[:, 7] += rng.poisson(2.0, 500) * y
    >>> counts[:, 9] += rng.poisson(2.0, 500) * (1 - y)
    >>> selector = WinnowEFS(k=3).fit(counts, y)
    >>> {7, 9} <= set(selector.selected_), np.sign(selector.coef_[[7, 9]]).tolist()
    (True, [1.0, -1.0])
    """

    _traits: ClassVar[Traits] = Traits(tasks=frozenset({Task.BINARY}), non_negative=True, size_parameter="k")

    _statistic = Statistic("weight")
    parameters = {
        "promotion": Float(1, 100, open_low=True),
        "demotion": Float(1e-6, 1, open_high=True),
        "theta": Float(-1e6, 1e6),
        "margin": Float(0, 1e6),
        "extremes": Float(0, 0.5),
    }
    fields = {"_model_": Nested(WinnowWeights)}
    _empty_model = WinnowWeights

    def __init__(
        self,
        k: int | None = None,
        *,
        promotion: float = 1.5,
        demotion: float = 0.5,
        theta: float = 1.0,
        margin: float = 1.0,
        extremes: float = 0.0,
        output: str = "drop",
        ledger: str = "all",
    ) -> None:
        self.k = k
        self.promotion = promotion
        self.demotion = demotion
        self.theta = theta
        self.margin = margin
        self.extremes = extremes
        self.output = output
        self.ledger = ledger

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """Yield the defaults, a share of the lowest, and the smallest budget with output of fixed width."""
        yield cls()
        yield cls(extremes=0.3)
        yield cls(k=1, output="zero")

    def _learn(self, batch: RowBatch) -> None:
        self._refuse_negative(batch.X)
        if not self._labels_.classes:
            # u begins at 2 and v at 1, so which class is positive matters, and names must not decide it
            for first in np.asarray(batch.y)[:1].tolist():
                self._labels_ = SignedLabels(positive=first) if first == 1 else SignedLabels(negative=first)
        super()._learn(batch)

    def _refuse_negative(self, X: Any) -> None:
        values = X.data if sp.issparse(X) else X
        if not values.size or values.min() >= 0:
            return
        place = int(np.flatnonzero(values < 0)[0])
        feature = int(X.indices[place]) if sp.issparse(X) else place % X.shape[1]
        names = self._names()
        label = feature_label(feature, None if names is None else names.tolist())
        raise InputError(
            f"Negative values in data passed to WinnowEFS: feature {label!r} holds {values.flat[place]:g}, "
            "but all values must be at least 0; shift it, split it into two features, or use OFS"
        )

    def _advance(self, entries: RowEntries, signs: FloatArray) -> int:
        mistakes: int = self._model_.learn(
            entries, signs, self.n_features_in_,
            promotion=float(self.promotion), demotion=float(self.demotion),
            threshold=float(self.theta), margin=float(self.margin),
        )  # fmt: skip
        return mistakes

    def _choose(self) -> BoolArray:
        learned, scores = self._model_.learned(self.n_features_in_).copy(), self.scores_
        learned[self._constants_.columns] = False
        budget = self._k
        if np.count_nonzero(learned) <= budget:
            return learned  # type: ignore[no-any-return]
        lowest = round(self.extremes * budget)
        chosen = best(np.where(learned, scores, -1.0), budget - lowest)
        if lowest:
            chosen |= best(np.where(learned & ~chosen, -scores, -np.inf), lowest)
        return chosen
