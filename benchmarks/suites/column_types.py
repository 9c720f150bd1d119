"""Defaults that choose the test by the types of columns, against the same selector with one fixed test."""

from __future__ import annotations

from typing import Any

import streamsieve as ss
from benchmarks._cases import Race, Size, case
from benchmarks._data import real

#: What each selector calls the test for levels, which "auto" takes for columns of few whole numbers.
FIXED = {ss.FastOSFS: {"test": "g2"}, ss.SAOLA: {"measure": "su"}, ss.TopK: {"measure": "su"}}
SETS = ("gisette_valid", "dexter", "lymphoma_disc")


def _both(_: Size) -> dict[str, tuple[type[Any], str]]:
    # Fast-OSFS of lymphoma_disc, all levels, is the same search with either test
    return {
        f"{cls.__name__}, {name}": (cls, name)
        for cls in FIXED
        for name in SETS
        if (cls, name) != (ss.FastOSFS, "lymphoma_disc")
    }


@case("auto, ", bar="ours <= 2x", over=_both)
def auto_against_levels(size: Size, which: tuple[type[Any], str]) -> Race:
    cls, name = which
    X, y = real(name)
    X = X[:, : size(X.shape[1], 200)]
    last: list[Any] = []

    def ours() -> None:
        last[:] = [cls().fit(X, y)]

    def note() -> str:
        kinds = [*last[0].column_types_.values()]
        counts = ", ".join(f"{kinds.count(kind):,} {kind}" for kind in sorted({*kinds}))
        return f"{X.shape[0]:,} rows x {X.shape[1]:,} columns ({counts}), {len(last[0].selected_)} kept"

    (parameter, value), *_ = FIXED[cls].items()
    peer = f"{parameter}={value!r}"
    return Race(ours, lambda: cls(**FIXED[cls]).fit(X, y), peer, X.shape[1], "columns", note, rounds=5)
