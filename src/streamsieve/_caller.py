"""Warnings that point to the line of the user's code behind a call."""

from __future__ import annotations

import sys
import warnings
from types import FrameType

#: Packages whose frames are skipped: ours, and what calls estimators on behalf of the user: scikit-learn's
#: pipelines and searches, and joblib, which runs those.
_INSIDE = (__name__.partition(".")[0], "sklearn", "joblib", "builtins")


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the innermost line outside the library and outside what calls estimators for the user."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - skip_file_prefixes needs Python 3.12
    level = 2
    while frame is not None and str(frame.f_globals.get("__name__")).partition(".")[0] in _INSIDE:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
