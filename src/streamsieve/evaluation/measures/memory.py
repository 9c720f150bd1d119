"""Memory that an object holds in arrays."""

from __future__ import annotations

from typing import Any

import numpy as np


def array_bytes(thing: Any, seen: set[int] | None = None, depth: int = 6) -> int:
    """Return the bytes of all arrays that an object holds, in its attributes and theirs."""
    seen = set() if seen is None else seen
    if id(thing) in seen or depth == 0:
        return 0
    seen.add(id(thing))
    if isinstance(thing, np.ndarray):
        return int(thing.nbytes)
    parts: list[Any] = []
    if isinstance(thing, dict):
        parts = list(thing.values())
    elif isinstance(thing, (list, tuple, set)):
        parts = list(thing)[:1000]  # long lists hold plain numbers, not arrays
    elif hasattr(thing, "__dict__") and not isinstance(thing, type):
        parts = list(vars(thing).values())
    return sum(
        array_bytes(part, seen, depth - 1) for part in parts if not isinstance(part, (str, int, float))
    )
