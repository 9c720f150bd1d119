"""The runs: every screen and learner over a stream, and the errors block by block."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from streamsieve.evaluation import Report, prequential
from streamsieve.exceptions import SourceError
from studies._desk import Desk
from studies._parts import cores
from studies.adaptation._methods import EPOCHS, FIRST_STEP, STEP, learners, selectors
from studies.adaptation._streams import BLOCKS, LIVES, STREAMS, Stream, read

QUICK_ROWS, QUICK_BATCH = 200, 10


def compute(desk: Desk) -> list[str]:
    """Compute all parts; return the streams that are there."""
    done = []
    for name, stream in STREAMS.items():
        settings = {
            "form": 1, "batch": stream.batch, "k": stream.k, "scale": stream.scale, "lives": LIVES,
            "blocks": BLOCKS, "steps": [STEP, FIRST_STEP], "epochs": EPOCHS, "quick": desk.quick,
        }  # fmt: skip
        try:
            desk.part(name, settings, on_stream, stream, desk.quick)
        except SourceError as error:
            desk.skip(name, str(error))
        else:
            done.append(name)
    return done


def on_stream(stream: Stream, quick: bool) -> dict[str, Any]:  # noqa: FBT001 - as a part is called
    """Return the errors of each screen and learner in each block."""
    if quick:
        stream = replace(stream, batch=QUICK_BATCH)
    source = read(stream, QUICK_ROWS if quick else None)
    n, p = source.n_rows, source.n_columns
    k = min(stream.k, max(2, p // 2))
    every = stream.every(n)
    lives = {life: max(10.0, share * n) for life, share in LIVES.items()}
    window = int(2 * lives["fast"])
    report = prequential(
        source, selectors(k, lives), learners(max(1, k // 2), every, window), batch_size=stream.batch,
        every=every, scale=stream.scale, n_jobs=1 if quick else cores(),
    )  # fmt: skip
    return {
        "rows": n,
        "features": p,
        "k": k,
        "every": every,
        "lives": {life: round(rows) for life, rows in lives.items()},
        "window": window,
        "predicted": _predicted(report, stream.batch),
        "errors": _errors(report, stream.batch),
    }


def _predicted(report: Report, first: int) -> list[int]:
    """Return how many rows of each block were predicted: all but those of the first batch."""
    looks = np.array(sorted(report.table.unique("rows")))
    return np.diff(looks - min(first, looks[0]), prepend=0).tolist()


def _errors(report: Report, first: int) -> dict[str, dict[str, str]]:
    """Return wrong predictions in each block, by screen and learner, as text: one number a block."""
    found: dict[str, dict[str, str]] = {}
    for (selector, learner), rows in report.table.groups(["selector", "learner"]).items():
        part = report.table.take(rows)
        predicted = part["rows"] - first
        wrong = np.rint((1 - np.nan_to_num(part["accuracy"], nan=1.0)) * predicted).astype(np.int64)
        found.setdefault(selector, {})[learner] = " ".join(map(str, np.diff(wrong, prepend=0).tolist()))
    return found
