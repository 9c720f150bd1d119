"""Names of streaming columns, by arrival number."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Self

import numpy as np

from streamsieve.exceptions import SchemaError
from streamsieve.state import Array, Part, Texts, register

LONGEST_NAME = 65_536


@register
class FeatureNames(Part):
    """Names of streaming columns, by arrival number; columns without a name are called x0, x1, ..."""

    fields = {
        "ranges": Array("i8", "ranges", 2, low=0),
        "index": Array("i8", "names", low=0, unique=True),
        "names": Texts("names", unique=True),
    }

    def __init__(self) -> None:
        #: Names remembered, by arrival number.
        self.known: dict[int, str] = {}
        self._index: dict[str, int] = {}
        #: Arrival numbers of the columns with a given name, forgotten or not, as half-open ranges in order.
        self.named_ranges: list[list[int]] = []

    def __getitem__(self, index: int) -> str:
        generated = f"x{index}"
        # another column may have that name
        return self.known.get(index, f"column {index}" if generated in self._index else generated)

    def check(self, names: Sequence[str], start: int) -> None:
        """Refuse names that are not text, too long, or taken, for columns ``start, start + 1, ...``."""
        seen: set[str] = set()
        for name in names:
            if not isinstance(name, str):
                raise SchemaError(f"a feature name must be text, got {name!r}: pass names as strings")
            if len(name) > LONGEST_NAME:
                raise SchemaError(
                    f"the feature name {name[:40]!r}... has {len(name):,} characters; "
                    f"at most {LONGEST_NAME:,} are allowed: shorten it"
                )
            taken = self.index_of(name)
            if name in seen or (taken is not None and taken < start):
                raise SchemaError(
                    f"the feature name {name!r} occurs twice; names must be unique: rename or drop one"
                )
            seen.add(name)

    def claim(self, names: Sequence[str], start: int) -> None:
        """Register the names of columns ``start, start + 1, ...``; refuse all of them if one is taken."""
        self.check(names, start)
        self.restore(range(start, start + len(names)), names)
        if self.named_ranges and self.named_ranges[-1][1] == start:
            self.named_ranges[-1][1] = start + len(names)
        elif names:
            self.named_ranges.append([start, start + len(names)])

    def restore(self, indices: Iterable[int], names: Iterable[str]) -> None:
        """Register names without checking them."""
        for index, given in zip(indices, names, strict=True):
            name = str(given)  # elements of a NumPy array of names would print as np.str_('...')
            self.known[index] = name
            self._index[name] = index

    def forget(self, indices: Iterable[int], *, for_good: bool = False) -> None:
        """Drop names that are no longer needed; with ``for_good``, as if they had never been given."""
        indices = list(indices)
        for index in indices:
            name = self.known.pop(index, None)
            if name is not None:
                del self._index[name]
        if for_good and indices and self.named_ranges and self.named_ranges[-1][1] > indices[0]:
            self.named_ranges[-1][1] = max(indices[0], self.named_ranges[-1][0])

    def index_of(self, name: str) -> int | None:
        """Return the arrival number of a feature by its name, given or generated; None if there is none."""
        if name in self._index:
            return self._index[name]
        generated = re.fullmatch(r"(?:x|column )(0|[1-9][0-9]{0,17})", name)
        if not generated:
            return None
        index = int(generated[1])
        place = bisect_right(self.named_ranges, index, key=lambda stretch: stretch[0]) - 1
        return None if place >= 0 and index < self.named_ranges[place][1] else index

    def _record(self) -> Mapping[str, Any]:
        return {
            "ranges": np.array(self.named_ranges, np.int64).reshape(-1, 2),
            "index": np.fromiter(self.known, np.int64, len(self.known)),
            "names": list(self.known.values()),
        }

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        names = cls()
        names.restore(record["index"].tolist(), record["names"])
        names.named_ranges = record["ranges"].tolist()
        return names

    def _consistent(self) -> Iterator[str]:
        ends = [end for pair in self.named_ranges for end in pair]
        if ends != sorted(ends):
            yield "ranges of named columns overlap"
