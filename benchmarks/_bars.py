"""Bars as data: what a case has to reach, written as one would say it.

``"speedup >= 6"``          the peer takes at least 6 times as long
``"ours <= 1.8x"``          ours takes at most 1.8 times as long as the peer
``"ours <= 0.6 s"``         an absolute figure, also in bytes
``"rate >= 60,000,000/s"``  units of work a second
``"... and ..."``           both
"""

from __future__ import annotations

import operator
import re

_BAR = re.compile(r"(speedup|ours|rate) (>=|<=) ([\d.,]+)(x| s| bytes|/s|)")
_COMPARE = {">=": operator.ge, "<=": operator.le}
#: Which figure a bar is about, by its first word and its unit.
_FIGURE = {
    ("speedup", ""): "speedup",
    ("ours", "x"): "ratio",
    ("ours", " s"): "value",
    ("ours", " bytes"): "value",
    ("rate", "/s"): "rate",
}


def reached(
    bar: str | None, *, seconds: float, peer_seconds: float | None = None, work: int = 0
) -> bool | None:
    """Return whether figures clear a bar; None if there is no bar."""
    if bar is None:
        return None
    figures = {"value": seconds, "rate": work / seconds}
    if peer_seconds is not None:
        figures |= {"speedup": peer_seconds / seconds, "ratio": seconds / peer_seconds}
    return all(_clears(part, figures) for part in bar.split(" and "))


def _clears(bar: str, figures: dict[str, float]) -> bool:
    match = _BAR.fullmatch(bar)
    figure = _FIGURE.get((match[1], match[4])) if match else None
    if match is None or figure not in figures:
        raise ValueError(f"the bar {bar!r} says nothing about {', '.join(figures)}: see benchmarks/_bars.py")
    return bool(_COMPARE[match[2]](figures[figure], float(match[3].replace(",", ""))))
