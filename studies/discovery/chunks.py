"""Does the selection depend on how the columns are cut into chunks?"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.stats

import streamsieve as ss
from streamsieve.independence.online_fdr import RULES
from streamsieve.protocols import FloatArray, IntArray
from studies import _report
from studies._desk import Desk
from studies.discovery._simulation import ALPHA, shares
from studies.discovery.columns import Columns, draw

OFFLINE = "Benjamini-Hochberg per chunk"
CHUNKS = (1, 10, 0)


def section(desk: Desk) -> str:
    """Compute and compare."""
    streams, data = (3, (200, 60, 6)) if desk.quick else (10, (900, 500, 25))
    settings = {"streams": streams, "data": data, "chunks": CHUNKS, "form": 2}
    found = desk.part("chunks", settings, _compute, streams, *data)
    n, p, causes = data
    rows = [
        [method, *(f"{kept:.1f}, {fdr:.3f}" for kept, fdr in by_chunk["means"]), by_chunk["same"]]
        for method, by_chunk in ((name, found[name]) for name in (*RULES, OFFLINE))
    ]
    heads = [
        "method",
        *(f"chunks of {size}" if size else "all at once" for size in CHUNKS),
        "the same columns",
    ]
    return f"""\
## Columns in chunks

{p} columns over {n} rows, of which {causes} cause y; {streams} streams. Cells are the mean number of columns
kept and the FDR. A rule's level belongs to a column, so the chunks in which columns happen to arrive change
nothing; the Benjamini-Hochberg procedure ranks the p-values of a chunk among each other, so that what is kept
depends on the chunks, and with chunks of one column it is a test at alpha
([tsfresh#484](https://github.com/blue-yonder/tsfresh/issues/484)). The last column says in how many streams
all three selections are the same.

{_report.table(heads, rows)}"""


def _compute(streams: int, n: int, p: int, causes: int) -> dict[str, Any]:
    cells: dict[str, list[list[tuple[float, float]]]] = {
        name: [[] for _ in CHUNKS] for name in (*RULES, OFFLINE)
    }
    same = dict.fromkeys(cells, 0)
    for seed in range(streams):
        data = draw(seed, n, p, causes)
        p_values = np.array(
            [d.p_value for d in ss.OnlineFDR(p_value="z", test="fisher_z").fit(data.X, data.y).ledger_]
        )
        for name, by_chunk in cells.items():
            kept = [_kept(name, data, p_values, size or p) for size in CHUNKS]
            same[name] += all(np.array_equal(some, kept[0]) for some in kept)
            for some, cell in zip(kept, by_chunk, strict=True):
                found = np.isin(np.arange(p), some)
                cell.append((float(len(some)), shares(found, data.cause)[0]))
    return {
        name: {
            "means": [np.mean(cell, axis=0).tolist() for cell in by_chunk],
            "same": f"{same[name]} of {streams}",
        }
        for name, by_chunk in cells.items()
    }


def _kept(name: str, data: Columns, p_values: FloatArray, size: int) -> IntArray:
    """Return what is kept of columns that arrive in chunks."""
    edges = range(0, len(p_values), size)
    if name == OFFLINE:
        adjusted = [scipy.stats.false_discovery_control(p_values[low : low + size]) for low in edges]
        return np.flatnonzero(np.concatenate(adjusted) <= ALPHA)
    sieve = ss.OnlineFDR(name, alpha=ALPHA, p_value="z", ledger="none", test="fisher_z").begin(data.y)
    for low in edges:
        sieve.offer(data.X[:, low : low + size])
    return sieve.selected_
