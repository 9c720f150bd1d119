"""Where a warning points to: the first line of the caller's own code."""

from __future__ import annotations

import sys


def outer_level() -> int:
    """Return the stack level, for a warning issued where this is called, of the first frame outside."""
    level, frame = 0, sys._getframe(1)  # noqa: SLF001
    # forwarding functions are of no module; scikit-learn wraps methods, and its pipelines call them
    inside = (__name__.partition(".")[0], "sklearn", "None", "builtins")
    while frame is not None and str(frame.f_globals.get("__name__")).partition(".")[0] in inside:
        level, frame = level + 1, frame.f_back  # type: ignore[assignment]
    return level + 1
