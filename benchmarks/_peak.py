"""Print the peak memory of one case: ``python -m benchmarks._peak SUITE CASE [--quick]``.

A process of its own, because only a fresh one has no freed memory to hide growth in.
"""

from __future__ import annotations

import sys

from benchmarks._cases import Case, Size, cases_of
from benchmarks._measure import peak_growth_mb


def _find(suite: str, name: str, size: Size) -> Case:
    return next(case for case in cases_of(suite, size) if case.name == name)


def main() -> None:
    suite, name, *flags = sys.argv[1:]
    size = Size(quick="--quick" in flags)
    # imports and compiled code are not the case's memory: a tiny run brings them in first
    _find(suite, name, size).build(Size(quick=True)).ours()
    race = _find(suite, name, size).build(size)
    print(peak_growth_mb(race.ours))


if __name__ == "__main__":
    main()
