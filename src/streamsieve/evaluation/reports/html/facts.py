"""What a page says about a comparison that its report does not know."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True)
class Facts:
    """Where the data came from, and how the comparison was started.

    Attributes
    ----------
    data : name of the data, as in a heading
    origin : where it was read from
    target : name of the target, or nothing
    command : the command line, as it was typed
    seconds : how long it took
    finished : when
    resumed : whether some results were there before
    notes : further things a reader should know, such as columns that were left out
    """

    data: str
    origin: str = ""
    target: str = ""
    command: str = ""
    seconds: float = 0.0
    finished: datetime = field(default_factory=lambda: datetime.now().astimezone())
    resumed: bool = False
    notes: tuple[str, ...] = ()
