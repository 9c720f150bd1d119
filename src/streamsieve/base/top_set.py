"""The selected set of a ranking that changes as rows arrive."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from streamsieve.ledger import Ledger
from streamsieve.protocols import BoolArray, Decision, Event, FloatArray, IntArray, Reason
from streamsieve.state import Array, Int, Part, Texts, register


@register
class TopSet(Part):
    """The features of a changing selection, for the ledger and for output that must not change.

    Parameters
    ----------
    named : whether to store the names of the features, which is needed if the vocabulary forgets names

    Attributes
    ----------
    features : ids of the features selected at the last review, in the order of ``transform``
    rows : number of rows at the last review
    frozen : ids of the features that ``output="frozen"`` keeps to, or None before the first output
    names, frozen_names : their names, or None if names are not stored
    """

    fields = {
        "features": Array("i8", "selected", low=0, unique=True),
        "frozen": Array("i8", "frozen", low=0, unique=True, optional=True),
        "names": Texts("selected", optional=True),
        "frozen_names": Texts("frozen", optional=True),
        "rows": Int(),
    }

    def __init__(self, *, named: bool = False) -> None:
        self.features: IntArray = np.zeros(0, np.int64)
        self.frozen: IntArray | None = None
        self.names: list[str] | None = [] if named else None
        self.frozen_names: list[str] | None = None
        self.rows = 0

    def change(
        self, features: IntArray, names_of: Callable[[IntArray], Sequence[str]],
        scores_of: Callable[[IntArray], FloatArray], rows: int, ledger: Ledger,
    ) -> None:  # fmt: skip
        """Replace the selection, and record in the ledger which features left and which entered.

        Names and scores are computed only if something has changed.
        """
        before, names = self.features, self.names
        self.rows = rows
        if np.array_equal(before, features):
            return
        left, entered = ~np.isin(before, features), ~np.isin(features, before)
        self.features = features
        if names is None:
            labels = names_of(before[left]), names_of(features[entered])
        else:
            self.names = list(names_of(features))
            labels = _where(left, names), _where(entered, self.names)
        evicted, kept = (Event.EVICTED, Reason.LEFT_TOP), (Event.KEPT, Reason.ENTERED_TOP)
        for (event, reason), changed, its_names in (
            (evicted, before[left], labels[0]),
            (kept, features[entered], labels[1]),
        ):
            for name, score in zip(its_names, scores_of(changed).tolist(), strict=True):
                ledger.note(Decision(rows, name, event, reason, score, float("nan")))

    def freeze(self) -> None:
        """Fix the output to the features selected at the first call."""
        if self.frozen is None:
            self.frozen, self.frozen_names = self.features, self.names

    def _consistent(self) -> Iterator[str]:
        frozen_named = self.names is not None and self.frozen is not None
        if (self.frozen_names is not None) is not frozen_named:
            yield "some of the features have names, others none"


def _where(mask: BoolArray, names: list[str]) -> list[str]:
    return [names[i] for i in np.flatnonzero(mask).tolist()]
