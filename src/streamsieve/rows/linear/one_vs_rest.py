"""One-versus-rest dual averaging: one learner per class, except that two classes share one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from streamsieve.protocols import FloatArray, IntArray
from streamsieve.rows.linear.dual_averaging import DualAveraging, Settings
from streamsieve.rows.linear.entries import RowEntries
from streamsieve.state import Array, Int, Nested, Part, mass, register
from streamsieve.summaries.class_totals import LabelEncoder

#: Largest number of rows that a float64 counts exactly.
MOST_ROWS = 2**53
#: Gradients below this have squares that underflow to 0.
UNDERFLOWING = 1e-150


@register
class OneVsRest(Part):
    """Learners for labels that may appear at any time, numbered in the order of their first rows.

    With up to two labels there is one learner, whose positive class is the second label.  When a third label
    appears, its mirror image becomes the learner of the first; each further learner begins with the first
    row of its label.

    Attributes
    ----------
    labels : the labels seen
    models : the learners
    mistakes : rows whose class was not predicted with a positive margin before they were learned
    """

    fields = {
        "labels": Nested(LabelEncoder),
        "gradients": Array("f8", "learners", "features", finite=True, copy=False),
        "squares": mass("learners", "features"),
        "rows": Array("i8", "learners", low=0, high=MOST_ROWS),
        "mistakes": Int(),
    }

    def __init__(self, n_features: int) -> None:
        self.labels = LabelEncoder()
        self.models = [DualAveraging(n_features)]
        self.mistakes = 0

    @property
    def n_features(self) -> int:
        """Features known."""
        return self.models[0].n_features

    def learn(self, rows: RowEntries, y: npt.NDArray[Any], n_features: int, settings: Settings) -> None:
        """Learn rows, one after another."""
        codes, new, first = self.labels.encode_by_row(y)
        n, known = len(y), len(self.labels)
        starts = [0] * known + first
        parted = n if len(starts) <= 2 else starts[2]  # the row from which on each class has its own learner
        # allocate all memory before anything changes
        needed = 1 if len(starts) <= 2 else len(starts)
        late = [DualAveraging(n_features) for _ in range(needed - len(self.models))]
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
            # the first row of a label is a mistake, as no learner could predict the label
            right = margins[parted:] > 0
            right[[start - parted for start in starts[known:] if start >= parted]] = False
            self.mistakes += int(np.count_nonzero(~right))

    def _learn_apart(
        self, rows: RowEntries, codes: IntArray, parted: int, starts: list[int], settings: Settings,
        margins: FloatArray,
    ) -> None:  # fmt: skip
        """Learn rows with one learner per class; the lead of each row's own class goes to ``margins``."""
        own, others = np.zeros(len(codes)), np.full(len(codes), -np.inf)
        for c, (model, start) in enumerate(zip(self.models, starts, strict=True)):
            begin = max(parted, start)
            is_own = codes == c
            model.learn(rows, np.where(is_own, 1.0, -1.0), begin, settings, margins)
            there = slice(begin, None)
            own[there][is_own[there]] = margins[there][is_own[there]]
            others[there] = np.where(is_own[there], others[there], np.maximum(others[there], margins[there]))
        margins[:] = own - others

    def scores(self, settings: Settings) -> FloatArray:
        """Return one score per feature, the largest over the learners."""
        scores = self.models[0].weights(settings)[1]
        for model in self.models[1:]:
            np.maximum(scores, model.weights(settings)[1], out=scores)
        return scores

    def coefficients(self, settings: Settings) -> FloatArray:
        """Return the weights of every class, in the order of labels; for two, those of the larger label."""
        labels = self.labels.values
        kept = np.array([model.kept_weights(settings) for model in self.models])
        if len(labels) > 2 or not labels:  # no row yet
            return kept[np.argsort(np.array(labels), kind="stable")]
        return -kept if labels[0] == max(labels) else kept

    def _record(self) -> Mapping[str, Any]:
        """Return labels, sums, and numbers of rows; the learners' candidate pools are rebuilt from them."""
        return {
            "labels": self.labels,
            "gradients": np.stack([model.gradients for model in self.models]),
            "squares": np.stack([model.squares for model in self.models]),
            "rows": np.array([model.n_rows for model in self.models]),
            "mistakes": self.mistakes,
        }

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        gradients, squares, rows = record["gradients"], record["squares"], record["rows"]
        classes = cls(gradients.shape[1])
        classes.labels, classes.mistakes = record["labels"], record["mistakes"]
        classes.models = [
            DualAveraging.of(g, s, int(n)) for g, s, n in zip(gradients, squares, rows.tolist(), strict=True)
        ]
        return classes

    def _consistent(self) -> Iterator[str]:
        rows, n_labels = [model.n_rows for model in self.models], len(self.labels)
        if len(rows) != (1 if n_labels <= 2 else n_labels):
            yield f"{n_labels} labels have {len(rows)} learners"
            return
        most = max(rows)
        if self.mistakes > most or (most > 0) != (n_labels > 0):
            yield f"{self.mistakes} mistakes in {most} rows of {n_labels} labels"
        if len(rows) > 1 and (rows[0] != most or rows[1] != most or min(rows) < 1):
            yield "the first two classes did not begin with the first row"
        for model in self.models:
            # a sum of n numbers is at most sqrt(n) times the root of the sum of their squares
            bound = np.sqrt(model.n_rows) * np.sqrt(model.squares) * (1 + 1e-6) + UNDERFLOWING
            if np.any(np.abs(model.gradients) > bound):
                yield "the sums of gradients are larger than those of their squares allow"
