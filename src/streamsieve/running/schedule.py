"""Schedule of checkpoints."""

from __future__ import annotations

import numbers
import re
import time
from typing import Any

from streamsieve.exceptions import ParameterError

_SECONDS = {"ms": 0.001, "s": 1.0, "min": 60.0, "h": 3600.0}


class Schedule:
    """Decides when a checkpoint is due.

    Parameters
    ----------
    every : a time ("500ms", "10s", "2min", "1h") or a number of rows
    rows : rows there are already
    """

    def __init__(self, every: str | int, rows: int = 0) -> None:
        self._seconds, self._step = _parsed(every)
        self.note(rows)

    def note(self, rows: int) -> None:
        """Note that a checkpoint was made after this number of rows."""
        self._rows, self._time = rows, time.monotonic()

    def due(self, rows: int) -> bool:
        """Whether a checkpoint is due after this number of rows; it stays due until it is made."""
        if self._step is not None:
            return rows - self._rows >= self._step
        return time.monotonic() - self._time >= self._seconds


def _parsed(every: Any) -> tuple[float, int | None]:
    """Return seconds and rows, one of which counts."""
    is_whole: bool = isinstance(every, numbers.Integral) and not isinstance(every, bool)
    if is_whole and every >= 1:
        return 0.0, int(every)
    if isinstance(every, str):
        found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*(ms|s|min|h)\s*", every)
        if found and float(found[1]) > 0:
            return float(found[1]) * _SECONDS[found[2]], None
    raise ParameterError(
        f"every must be a time such as '10s', '2min' or '1h', or a whole number of rows; got {every!r}"
    )
