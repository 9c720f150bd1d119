"""Adaptation of a screen to drift: cuts batches into blocks, tests each for drift, and forgets old rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from streamsieve._values import refuse_non_finite
from streamsieve.base.choose import significant
from streamsieve.base.fitted import fitted_property
from streamsieve.exceptions import CapabilityError, ParameterError
from streamsieve.protocols import IntArray, RowBatch
from streamsieve.rows.drift.drift_monitor import DETECTORS, Drift, DriftMonitor
from streamsieve.rows.looks import next_look
from streamsieve.state import Choice, Int, Nested

if TYPE_CHECKING:
    from streamsieve.base import RowSelector

    MixinBase = RowSelector
else:
    MixinBase = object


class DriftAdaptation(MixinBase):
    """Mixin of ``Screen`` for ``on_drift``, ``review_every`` and ``looks``; precedes `RowSelector`."""

    parameters = {
        "on_drift": Choice(None, "reset", "reweigh"),
        "drift_every": Int(10, optional=True),
        "detector": Choice(*DETECTORS),
        "review_every": Int(1, optional=True),
    }
    fields = {"_monitor_": Nested(DriftMonitor, optional=True)}

    def _check_adaptation(self) -> None:
        if self.half_life is not None and self.window is not None:
            raise ParameterError(
                f"half_life={self.half_life} forgets slowly, window={self.window} at once: give one of them"
            )
        if self.on_drift == "reweigh" and self.window is not None:
            raise ParameterError(
                "on_drift='reweigh' has no meaning with a window, whose rows all count alike: "
                "use 'reset', or half_life"
            )
        if self.on_drift is not None and not self._criterion.has_p_values:
            raise CapabilityError(
                f"on_drift={self.on_drift!r} watches p-values; criterion={self._criterion.name!r} has none: "
                "use window, which forgets by itself, or criterion='mutual_info'"
            )
        for name in ("half_life", "window", "on_drift") if self.exact else ():
            if (value := getattr(self, name)) is not None:
                raise ParameterError(
                    f"exact=True keeps all rows, but {name}={value!r} forgets them: give only one of them"
                )

    def _learn_pieces(self, batch: RowBatch) -> None:
        """Learn a batch in pieces that end where the selection is reviewed or tested for drift."""
        if batch.X.dtype != object:
            refuse_non_finite(batch.X, missing=True)  # before the first piece is learned
        for piece, rows in self._pieces(batch):
            self._learn_piece(piece, rows)

    def _pieces(self, batch: RowBatch) -> Iterator[tuple[RowBatch, int]]:
        """Yield the pieces of a batch, and the number of rows seen by the end of each."""
        n, low = batch.X.shape[0], 0
        monitor: DriftMonitor | None = getattr(self, "_monitor_", None)
        while low < n:
            seen = self.n_samples_seen_ + low
            room = n - low if monitor is None else min(n - low, monitor.room)
            if self.review_every is not None:
                room = min(room, self.review_every - seen % self.review_every)
            if self.looks == "any":
                room = min(room, next_look(seen + 1).row - seen)
            part = slice(low, low + room)
            weight = None if batch.weight is None else batch.weight[part]
            yield RowBatch(batch.X[part], None if batch.y is None else batch.y[part], weight), seen + room
            low += room

    def _learn_piece(self, piece: RowBatch, rows: int) -> None:
        self._summary_.update(piece.X, piece.y, piece.weight)
        self._invalidate()
        if self.on_drift is not None:
            monitor = self._monitor_
            monitor.learn(piece.X, np.asarray(piece.y), piece.weight, self._new_block)
            if monitor.room == 0:
                self._adapt(monitor.judge(self._criterion))
        if self.looks == "any" and (look := next_look(rows)).row == rows:
            chosen = significant(self.pvalues_, look.level(self.alpha), self.correction)
            self._record_changes(np.flatnonzero(chosen), rows)
        if self.review_every is not None and rows % self.review_every == 0:
            self._record_changes(self._select(), rows)

    def _new_block(self) -> Any:
        """Return an empty summary for one block of the drift monitor."""
        target = "numeric" if self._regression_ else "classes"
        return self._criterion.new_summary(
            target=target, max_rank_error=self.max_rank_error, weight_kind=self.weight_kind
        )

    def _adapt(self, drifted: IntArray) -> None:
        """Restart the features that drifted, or reduce the weight of all past rows; see ``on_drift``."""
        if len(drifted) == 0:
            return
        if self.on_drift == "reset":
            self._summary_.forget(drifted)
        else:
            n_selected = max(1, int(np.count_nonzero(self._choose())))
            self._summary_.fade(1.0 - min(0.5, len(drifted) / n_selected))
        self._invalidate()

    @fitted_property
    def drift_(self) -> list[Drift]:
        """Detected changes of relevance, in order; empty without ``on_drift``."""
        return self._monitor_.events if self.on_drift is not None else []

    def _consistent(self) -> Iterator[str]:
        yield from super()._consistent()
        if hasattr(self, "_monitor_") is not (self.on_drift is not None):
            yield "the drift monitor is missing, or too many"
        elif self.on_drift and type(self._monitor_.block) not in (type(None), type(self._new_block())):
            yield "the drift monitor has a summary of another kind"
