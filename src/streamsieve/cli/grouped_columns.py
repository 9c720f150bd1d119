"""Columns for methods that take groups: the indicators of one text column are a group."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any

import numpy as np

from streamsieve.base import ColumnSelector


def takes_groups(selector: ColumnSelector, source: Any) -> bool:
    """Whether there are groups, and the selector takes them; ``group_size`` cuts groups of its own."""
    parameters = selector.get_params(deep=False)
    own = parameters.get("group_size") is not None
    return bool(getattr(source, "encoded", {})) and hasattr(selector, "offer_group") and not own


def offer_groups(selector: Any, source: Any, block_size: int, progress: Callable[[int], Any]) -> None:
    """Offer every text column as a group, and every other column as one of its own."""
    origin = {feature: name for name, made in source.encoded.items() for feature in made}
    columns = _columns(source, block_size)
    for _, group in groupby(columns, key=lambda column: origin.get(column[0], column[0])):
        names, values = zip(*group, strict=True)
        selector.offer_group(np.column_stack(values), names=list(names))
        progress(len(names))
        if selector.stopped_ is not None:
            return


def _columns(source: Any, block_size: int) -> Iterator[tuple[str, Any]]:
    for block in source.columns(block_size):
        yield from zip(block.names, block.X.T, strict=True)
