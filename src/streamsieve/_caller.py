"""The line of the user's code behind a call, for warnings."""

from __future__ import annotations

import sys
from types import FrameType

#: Modules that are skipped: ours, generated forwarding functions (no module), and scikit-learn's pipelines.
_INSIDE = (__name__.partition(".")[0], "sklearn", "None", "builtins")


def caller_level() -> int:
    """Return the stack level, for a warning issued where this is called, of the first frame outside."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - skip_file_prefixes needs Python 3.12
    level = 0
    while frame is not None and str(frame.f_globals.get("__name__")).partition(".")[0] in _INSIDE:
        level, frame = level + 1, frame.f_back
    return level + 1
