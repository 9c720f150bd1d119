"""Methods of this library at their defaults."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import streamsieve as ss
from benchmarks.streaming_fs.entries import enter


def ranked(selector: Any) -> Any:
    """Return what a fitted selector keeps, best first."""
    found = getattr(selector, "ranked_", None)
    if found is not None:
        return np.asarray(found)
    names = selector.ranking("pyarrow")["feature"].to_pylist()
    return np.array([int(name[1:]) for name in names], np.int64)


def _classes(selector: Any) -> Any:
    """Return a selector that takes whole numbers for classes."""
    return selector.set_params(task="classification") if "task" in selector.get_params() else selector


def _fitted(make: Callable[[], Any]) -> Callable[[Any, Any, int | None], Any]:
    """Return an entry for a selector that decides itself; k cuts what it keeps."""
    return lambda X, y, k: ranked(_classes(make()).fit(X, y))[:k]


def _sized(make: Callable[[int], Any]) -> Callable[[Any, Any, int | None], Any]:
    """Return an entry for a selector of k columns."""
    return lambda X, y, k: ranked(_classes(make(min(k or 10, X.shape[1]))).fit(X, y))


def _auto(goal: str) -> Callable[[Any, Any, int | None], Any]:
    return lambda X, y, k: ranked(ss.select(X, y, goal=goal, task="classification"))[:k]


_DECIDE: dict[str, Callable[[], Any]] = {
    "Fast-OSFS": ss.FastOSFS,
    "OSFS": ss.OSFS,
    "SAOLA": ss.SAOLA,
    "OnlineFDR": ss.OnlineFDR,
    "HITON-PC": ss.HITONPC,
    "FCBF": ss.FCBF,
}
for _name, _make in _DECIDE.items():
    enter(_name, kind="ours", decides=True)(_fitted(_make))
enter("Fast-OSFS, spouses", kind="ours", decides=True)(_fitted(lambda: ss.FastOSFS(spouses="auto")))
enter("inter-IAMB", kind="ours", decides=True, most_values=1e6)(_fitted(ss.InterIAMB))
enter("InteractionScan", kind="ours", decides=True, most_values=3e6)(_fitted(ss.InteractionScan))
enter("auto", kind="ours", decides=True)(_auto("accurate"))
enter("auto, smallest", kind="ours", decides=True)(_auto("smallest"))
enter("auto, explain", kind="ours", decides=True, most_values=3e6)(_auto("explain"))
enter("TopK", kind="ours")(_sized(ss.TopK))
enter("MRMR", kind="ours")(_sized(ss.MRMR))
enter("ReliefF", kind="ours")(_sized(ss.ReliefF))
enter("Screen(f)", kind="ours")(_sized(lambda k: ss.Screen("f", k=k)))
