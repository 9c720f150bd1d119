"""What is compared on columns: functions that return the columns to keep, under a name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

#: Of a matrix, classes, and how many columns to return (None: the method decides), the columns, best first.
Select = Callable[[Any, Any, int | None], Any]


@dataclass(frozen=True)
class Entry:
    """A method that selects columns.

    Attributes
    ----------
    name : as tables have it
    select : the function
    kind : "ours", "peer", "baseline", or "entered"
    decides : whether it decides itself how many columns to keep, if asked for None
    most_values : rows times columns beyond which it takes minutes, and is skipped
    slow : whether a fit takes seconds at any size; left out of networks, and of all parts with --quick
    """

    name: str
    select: Select
    kind: str = "entered"
    decides: bool = False
    most_values: float = float("inf")
    slow: bool = False


ENTRIES: dict[str, Entry] = {}
#: Peers that are not installed, and how to get them.
ABSENT: dict[str, str] = {}


def enter(
    name: str,
    *,
    kind: str = "entered",
    decides: bool = False,
    most_values: float = float("inf"),
    slow: bool = False,
) -> Callable[[Select], Select]:
    """Enter a function ``(X, y, k) -> columns, best first`` under a name; use as a decorator.

    Parameters
    ----------
    name : as tables are to have it
    kind : {"entered", "ours", "peer", "baseline"}, default="entered"
        On whose side it is counted.
    decides : bool, default=False
        Whether it decides itself how many columns to keep where k is None.  If not, it is left out of the
        parts that ask for that: noise, and networks.
    most_values : float, default=inf
        Rows times columns beyond which it is skipped, aloud.
    slow : bool, default=False
        Whether a fit takes seconds at any size.
    """

    def entered(select: Select) -> Select:
        if name in ENTRIES:
            raise ValueError(f"there is an entry {name!r} already: choose another name")
        ENTRIES[name] = Entry(name, select, kind, decides, most_values, slow)
        return select

    return entered
