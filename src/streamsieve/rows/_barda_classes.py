"""Each class against the rest: as many learners as classes, but one for the first two."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from streamsieve.exceptions import StateError
from streamsieve.protocols import Arrays, FloatArray, IntArray
from streamsieve.rows._barda_model import BardaModel, Settings
from streamsieve.rows._row_entries import RowEntries
from streamsieve.state import expect, register
from streamsieve.summaries._labels import Labels

#: Rows are counted exactly as far as this.
MOST_ROWS = 2**53
#: Of gradients smaller than this the squares are 0.
FAINT = 1e-150


@register
class BardaClasses:
    """Learners for labels that may appear at any time, numbered in the order of their first rows.

    Up to two labels share one learner, which speaks for the second.  With the third label, its mirror image
    becomes the learner of the first; further learners begin with the first row of their label.

    Attributes
    ----------
    labels : the labels seen
    models : the learners
    mistakes : rows whose class was not clearly predicted before they were learnt
    """

    def __init__(self, n_features: int) -> None:
        self.labels = Labels()
        self.models = [BardaModel(n_features)]
        self.mistakes = 0

    @property
    def n_features(self) -> int:
        """Features known."""
        return self.models[0].n_features

    # ---------------------------------------------------------------- learning

    def learn(self, rows: RowEntries, y: npt.NDArray[Any], n_features: int, settings: Settings) -> None:
        """Learn rows, one after another."""
        codes, new, first = self._coded(y)
        n, known = len(y), len(self.labels)
        starts = [0] * known + first
        parted = n if len(starts) <= 2 else starts[2]  # the row from which on each class has its own learner
        # all memory is there before anything changes
        needed = 1 if len(starts) <= 2 else len(starts)
        late = [BardaModel(n_features) for _ in range(needed - len(self.models))]
        margins = np.empty(n)
        for model in self.models:
            model.grow(n_features)
        if parted > 0:
            pair = RowEntries(rows.data, rows.indices, rows.indptr[: parted + 1])
            signs = np.where(codes[:parted] == 1, 1.0, -1.0)
            self.models[0].learn(pair, signs, 0, settings, margins)
            self.mistakes += int(np.count_nonzero(signs * margins[:parted] <= 0))
        if len(self.models) == 1 < needed:
            late[0].mirror(self.models[0])
            self.models = [late[0], self.models[0], *late[1:]]
        else:
            self.models += late
        self.labels.add(new)
        if parted < n:
            self._learn_apart(rows, codes, parted, starts, settings, margins)
            # whatever was predicted for the first row of a label, it was not this label
            right = margins[parted:] > 0
            right[[start - parted for start in starts[known:] if start >= parted]] = False
            self.mistakes += int(np.count_nonzero(~right))

    def _coded(self, y: npt.NDArray[Any]) -> tuple[IntArray, list[Any], list[int]]:
        """Return the labels' numbers, the labels that are new, and their first rows."""
        codes, new = self.labels.encode(y)
        known = len(self.labels)
        if not new:
            return codes, [], []
        numbers, first = np.unique(codes, return_index=True)
        first = first[numbers >= known]
        order = np.argsort(first)
        renumbered = np.arange(known + len(new))
        renumbered[known + order] = np.arange(known, known + len(new))
        return renumbered[codes], [new[i] for i in order], first[order].tolist()

    def _learn_apart(
        self, rows: RowEntries, codes: IntArray, parted: int, starts: list[int], settings: Settings,
        margins: FloatArray,
    ) -> None:  # fmt: skip
        """Let every learner have its rows; ``margins`` takes by how much a row's own class was ahead."""
        own, others = np.zeros(len(codes)), np.full(len(codes), -np.inf)
        for c, (model, start) in enumerate(zip(self.models, starts, strict=True)):
            begin = max(parted, start)
            is_own = codes == c
            model.learn(rows, np.where(is_own, 1.0, -1.0), begin, settings, margins)
            there = slice(begin, None)
            own[there][is_own[there]] = margins[there][is_own[there]]
            others[there] = np.where(is_own[there], others[there], np.maximum(others[there], margins[there]))
        margins[:] = own - others

    # ---------------------------------------------------------------- what was learnt

    def scores(self, settings: Settings) -> FloatArray:
        """Return one score a feature, the largest over the learners."""
        scores = self.models[0].weights(settings)[1]
        for model in self.models[1:]:
            np.maximum(scores, model.weights(settings)[1], out=scores)
        return scores

    def coefficients(self, settings: Settings) -> FloatArray:
        """Return the weights of every class, in the order of labels; of two classes, those of the larger."""
        labels = self.labels.values
        kept = np.array([model.kept_weights(settings) for model in self.models])
        if len(labels) > 2:
            return kept[np.argsort(np.array(labels), kind="stable")]
        return -kept if labels[0] == max(labels) else kept

    # ---------------------------------------------------------------- saving

    def state(self) -> Arrays:
        """Return labels, sums, and numbers of rows; the learners' pools are made anew."""
        return {
            **self.labels.state(),
            "gradients": np.stack([model.gradients for model in self.models]),
            "squares": np.stack([model.squares for model in self.models]),
            "rows": np.array([model.n_rows for model in self.models]),
            "mistakes": np.array([self.mistakes]),
        }

    @classmethod
    def from_state(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Rebuild."""
        gradients = expect(arrays, "gradients", np.float64, (None, None))
        squares = expect(arrays, "squares", np.float64, gradients.shape)
        rows = expect(arrays, "rows", np.int64, gradients.shape[:1])
        mistakes = int(expect(arrays, "mistakes", np.int64, (1,))[0])
        labels = Labels.from_state(arrays)
        if len(rows) != (1 if len(labels) <= 2 else len(labels)) or len(set(labels.values)) != len(labels):
            raise StateError("the state's labels do not fit its learners")
        most = int(rows.max())
        if rows.min() < 0 or most > MOST_ROWS or not 0 <= mistakes <= most or (most > 0) != (len(labels) > 0):
            raise StateError("the state's numbers of rows do not fit together")
        if len(rows) > 1 and (rows[0] != most or rows[1] != most or rows.min() < 1):
            raise StateError("the state's first two classes did not begin with the first row")
        # a sum of n numbers is at most sqrt(n) times the root of the sum of their squares
        bound = np.sqrt(rows)[:, None] * np.sqrt(np.maximum(squares, 0.0)) * (1 + 1e-6) + FAINT
        if not np.all((squares >= 0) & (squares < np.inf) & (np.abs(gradients) <= bound)):
            raise StateError("the state holds sums of gradients that no rows can give")
        classes = cls(gradients.shape[1])
        classes.labels, classes.mistakes = labels, mistakes
        classes.models = [
            BardaModel.of(g, s, int(n)) for g, s, n in zip(gradients, squares, rows.tolist(), strict=True)
        ]
        return classes
