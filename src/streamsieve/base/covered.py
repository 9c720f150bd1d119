"""Record of which parts of which runs a state contains, so that no part is counted twice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple, Self

import numpy as np

from streamsieve.exceptions import MergeError
from streamsieve.protocols import IntArray
from streamsieve.state import Array, Part, Texts

#: Part numbers that an error lists.
LISTED = 5


class Span(NamedTuple):
    """Parts ``low`` to ``high - 1`` of a run."""

    run: str
    low: int
    high: int


class CoveredParts(Part):
    """Set of the parts whose rows were learned, as sorted spans that neither overlap nor touch.

    Parameters
    ----------
    spans : sequence of Span

    Examples
    --------
    >>> from streamsieve.base.covered import CoveredParts, Span
    >>> first, second = CoveredParts([Span("a", 0, 2)]), CoveredParts([Span("a", 2, 5)])
    >>> first.joined(second).spans
    [Span(run='a', low=0, high=5)]
    """

    fields = {"runs": Texts("spans"), "low": Array("i8", "spans", low=0), "high": Array("i8", "spans", low=1)}

    def __init__(self, spans: Sequence[Span]) -> None:
        self.runs = [span.run for span in spans]
        self.low: IntArray = np.array([span.low for span in spans], np.int64)
        self.high: IntArray = np.array([span.high for span in spans], np.int64)

    @property
    def spans(self) -> list[Span]:
        """The spans, by run and number."""
        return [Span(*each) for each in zip(self.runs, self.low.tolist(), self.high.tolist(), strict=True)]

    def joined(self, other: CoveredParts) -> CoveredParts:
        """Return the union of two disjoint sets of parts; ``MergeError`` if they overlap."""
        spans: list[Span] = []
        for span in sorted([*self.spans, *other.spans]):
            last = spans[-1] if spans else None
            if last is None or last.run != span.run or last.high < span.low:
                spans.append(span)
            elif last.high == span.low:
                spans[-1] = Span(span.run, last.low, span.high)
            else:
                twice = range(span.low, min(last.high, span.high))
                raise MergeError(
                    f"both states hold {_numbered(twice)} of the same run, whose rows would count twice: "
                    "merge each part once"
                )
        return CoveredParts(spans)

    def missing(self, run: str, n_parts: int) -> str:
        """Return the parts of a run that are not covered, as text; empty if all are."""
        held = {k for span in self.spans if span.run == run for k in range(span.low, min(span.high, n_parts))}
        gone = [k for k in range(n_parts) if k not in held]
        return f"{len(gone)} of {n_parts} parts are missing ({_numbered(gone)})" if gone else ""

    @classmethod
    def of(cls, run: str, part: int) -> Self:
        """Return one part of a run."""
        return cls([Span(run, part, part + 1)])

    def _consistent(self) -> Iterator[str]:
        spans = self.spans
        if any(span.high <= span.low for span in spans):
            yield "a span of parts is empty"
        if any(b <= a or (a.run == b.run and b.low <= a.high) for a, b in pairwise(spans)):
            yield "the spans of parts overlap, or are not in order"


def _numbered(parts: Sequence[int]) -> str:
    """Return part numbers as text: the first few, counted from 1 like the files of parts."""
    shown = ", ".join(str(part + 1) for part in parts[:LISTED])
    more = ", ..." if len(parts) > LISTED else ""
    return f"part {shown}{more}"
