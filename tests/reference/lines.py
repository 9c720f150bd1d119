"""What happened to a feature, as slow twins say it."""

import math
from typing import NamedTuple


class Line(NamedTuple):
    """A decision in the words of the ledger, with numbers for features."""

    feature: int
    event: str
    reason: str
    by: tuple[int, ...]
    statistic: float
    p_value: float = math.nan
