"""Parts of a source, and the tree of merges, which depends on their number only."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from streamsieve._parameters import check_number
from streamsieve.exceptions import CapabilityError
from streamsieve.sources.parts import SourcePart

#: Number of states merged at a node of the tree.
FAN = 8
#: Limits of the rows per part: small parts of dense quantiles have states as large as their rows.
FEWEST_ROWS, MOST_ROWS = 62_500, 1_000_000
#: Number of parts, within these limits.
PARTS = 16


@dataclass(frozen=True)
class Plan:
    """The parts of a stream, in order, and the name of the run by which states know them.

    It does not depend on the number of workers: the same parts give the same bits on one worker or a hundred.
    """

    run: str
    parts: Sequence[SourcePart]

    @property
    def tree(self) -> list[list[range]]:
        """The levels of merges, lowest first; each node joins consecutive nodes of the level below."""
        levels, n = [], len(self.parts)
        while n > 1:
            levels.append([range(low, min(low + FAN, n)) for low in range(0, n, FAN)])
            n = len(levels[-1])
        return levels


def plan_of(source: Any, rows_per_task: int | None = None) -> Plan:
    """Cut a source into parts.

    Parameters
    ----------
    source : source of rows that can be cut: files, arrays, dataframes and queries with a key
    rows_per_task : int or None, default=None
        Rows of a part, at least 1.  None: a sixteenth of all rows, but at least 62,500 and at most a million.
        Where a file does not say how many rows it has (CSV, svmlight), a part is a file.
    """
    cut = getattr(source, "parts", None)
    if not callable(cut):
        what = getattr(source, "shown", f"a {type(source).__name__}")
        raise CapabilityError(
            f"{what} cannot be cut into parts for an engine: write its rows to Parquet "
            "files and open those, give a query(..., partition_on=) a key, or leave out engine="
        )
    if rows_per_task is None:
        total = source.n_rows or 0
        rows_per_task = min(MOST_ROWS, max(FEWEST_ROWS, -(-total // PARTS)))
    check_number("rows_per_task", rows_per_task, low=1, integer=True)
    parts = cut(int(rows_per_task))
    # the same data cut in the same way are the same run, so that merging parts twice is detected
    cuts = [(part.shown.rpartition("/")[2], part.n_rows) for part in parts]
    return Plan(run_of([source.identity(), cuts]), parts)


def run_of(identity: Any) -> str:
    """Return the name of a run over data with this identity."""
    text = json.dumps(identity, sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
