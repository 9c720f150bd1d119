"""The features on top right now, by id and name, where there may be more features than fit into memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from streamsieve.exceptions import StateError
from streamsieve.ledger import Ledger
from streamsieve.protocols import Arrays, Decision, Event, FloatArray, IntArray, Reason
from streamsieve.state import expect, pack_strings, register, unpack_strings

#: The ids of some features, and their names.
Named = dict[int, str]


@register
class TopFeatures:
    """What a changing selection holds, for the ledger and for output that must not change.

    Names are kept, because nobody else may remember that of a feature that has left.

    Parameters
    ----------
    top : the features on top when somebody last asked, in the order of ``transform``
    frozen : those that ``output="frozen"`` stays with, or None as long as nothing was put out
    """

    def __init__(self, top: Named | None = None, frozen: Named | None = None) -> None:
        self.top: Named = top or {}
        self.frozen = frozen

    def change(
        self,
        ids: IntArray,
        names: Callable[[], Sequence[str]],
        scores_of: Callable[[IntArray], FloatArray],
        rows: int,
        ledger: Ledger,
    ) -> None:
        """Take the present selection, and write to the ledger which features left and which entered.

        Names and scores are asked for only if there is something to write.
        """
        if ids.tolist() == list(self.top):
            return
        before, self.top = self.top, dict(zip(ids.tolist(), names(), strict=True))
        for event, reason, changed in (
            (Event.EVICTED, Reason.LEFT_TOP, {j: before[j] for j in before if j not in self.top}),
            (Event.KEPT, Reason.ENTERED_TOP, {j: self.top[j] for j in self.top if j not in before}),
        ):
            scores = scores_of(np.array(list(changed), np.int64)).tolist()
            for name, score in zip(changed.values(), scores, strict=True):
                ledger.note(Decision(rows, name, event, reason, score, float("nan")))

    def freeze(self) -> None:
        """Stay with the features that were on top when this was first called."""
        if self.frozen is None:
            self.frozen = dict(self.top)

    def state(self) -> Arrays:
        """Return ids and names."""
        return _packed("top", self.top) | ({} if self.frozen is None else _packed("frozen", self.frozen))

    @classmethod
    def from_state(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Rebuild."""
        return cls(_unpacked("top", arrays), _unpacked("frozen", arrays) if "frozen/ids" in arrays else None)


def _packed(what: str, features: Named) -> Arrays:
    names = {f"{what}/{key}": array for key, array in pack_strings(list(features.values())).items()}
    return {f"{what}/ids": np.array(list(features), np.int64), **names}


def _unpacked(what: str, arrays: Mapping[str, npt.NDArray[Any]]) -> Named:
    ids = expect(arrays, f"{what}/ids", np.int64, (None,)).tolist()
    parts = {key: arrays[f"{what}/{key}"] for key in ("text", "ends") if f"{what}/{key}" in arrays}
    names = unpack_strings(parts)
    if len(names) != len(ids) or len(set(ids)) != len(ids):
        raise StateError("the names of the state's top features do not fit them")
    return dict(zip(ids, names, strict=True))
