"""Every selector there is, on one shared data set: a new one gets its row by its re-export alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.base import clone
from sklearn.feature_selection import f_classif

import streamsieve as ss
from benchmarks._cases import Race, Size, case
from benchmarks._data import dense

BATCH = 500


def _variants(_: Size) -> dict[str, Any]:
    found = (variant for cls in ss.registry.selectors().values() for variant in cls.variants())
    return {repr(variant): variant for variant in found}


@case(over=_variants)
def one_selector(size: Size, selector: Any) -> Race:
    X, labels = dense(size(2_000, 200), size(500, 20))
    y = labels if _takes_labels(selector) else labels + 0.5
    ours = _rows(selector, X, y) if isinstance(selector, ss.RowSelector) else _whole(selector, X, y)
    chosen: list[int] = []

    def timed() -> None:
        chosen[:] = [int(ours().sum())]

    def note() -> str:
        axis = ss.registry.axis(type(selector))
        return f"{axis} stream, {X.shape[0]:,} x {X.shape[1]:,}, {chosen[0]} selected"

    return Race(timed, lambda: f_classif(X, labels), "scikit-learn f_classif", X.size, "values", note)


def _takes_labels(selector: Any) -> bool:
    tasks = selector.traits.tasks
    return not tasks or "binary" in tasks


def _rows(selector: Any, X: Any, y: Any) -> Callable[[], Any]:
    def run() -> Any:
        fresh = clone(selector)
        for low in range(0, len(y), BATCH):
            fresh.partial_fit(X[low : low + BATCH], y[low : low + BATCH])
        return fresh.get_support()

    return run


def _whole(selector: Any, X: Any, y: Any) -> Callable[[], Any]:
    return lambda: clone(selector).fit(X, y).get_support()
