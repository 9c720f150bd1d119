"""What is compared on streams of rows: selectors that learn batches and name k columns at any time."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

import streamsieve as ss
from benchmarks._peers_float import fires_class
from benchmarks.streaming_fs.entries import ABSENT


@dataclass(frozen=True)
class RowEntry:
    """A selector over rows: ``make(k, p)`` returns one with ``partial_fit(X, y)`` and ``get_support()``."""

    name: str
    make: Callable[[int, int], Any]
    kind: str = "entered"


ROW_ENTRIES: dict[str, RowEntry] = {}


def enter_rows(name: str, *, kind: str = "entered") -> Callable[[Callable[[int, int], Any]], Any]:
    """Enter a function ``(k, p) -> selector`` under a name; use as a decorator.

    The selector has ``partial_fit(X, y)`` and ``get_support()``, a mask of k of the p columns; classes are
    0 and 1.
    """

    def entered(make: Callable[[int, int], Any]) -> Callable[[int, int], Any]:
        if name in ROW_ENTRIES:
            raise ValueError(f"there is an entry {name!r} over rows already: choose another name")
        ROW_ENTRIES[name] = RowEntry(name, make, kind)
        return make

    return entered


class RowsEntered(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """An entry as a selector that can be copied before it has seen anything."""

    def __init__(self, name: str, k: int = 10) -> None:
        self.name = name
        self.k = k

    def partial_fit(self, X: Any, y: Any) -> Self:
        """Let the entry learn a batch."""
        if not hasattr(self, "selector_"):
            self.selector_ = ROW_ENTRIES[self.name].make(self.k, X.shape[1])
        self.selector_.partial_fit(X, y)
        return self

    fit = partial_fit

    def get_support(self) -> Any:
        """Return the mask of the columns that the entry names now."""
        return np.asarray(self.selector_.get_support(), bool)


_OURS: dict[str, Callable[[int, int], Any]] = {
    "Screen(f)": lambda k, _: ss.Screen("f", k=k, task="classification"),
    "Screen(f, half_life=200)": lambda k, _: ss.Screen("f", k=k, half_life=200, task="classification"),
    "Screen(f, on_drift=reset)": lambda k, _: ss.Screen("f", k=k, on_drift="reset", task="classification"),
    "VelocityScreen": lambda k, _: ss.VelocityScreen(k=k),
    "BARDA": lambda k, _: ss.BARDA(k=k),
    "FIRES": lambda k, _: ss.FIRES(k=k),
    "OFS": lambda k, _: ss.OFS(k=k),
}
for _name, _make in _OURS.items():
    enter_rows(_name, kind="ours")(_make)


class RiverBest:
    """river's SelectKBest by the absolute correlation, row by row."""

    def __init__(self, k: int, p: int) -> None:
        from river import feature_selection, stats  # noqa: PLC0415 - may be absent

        self._selector = feature_selection.SelectKBest(stats.PearsonCorr(), k=k, use_abs=True)
        self._k, self._p = k, p

    def partial_fit(self, X: Any, y: Any) -> None:
        """Learn rows, one dict after the other."""
        for row, label in zip(np.asarray(X).tolist(), np.asarray(y).tolist(), strict=True):
            self._selector.learn_one(dict(enumerate(row)), label)

    def get_support(self) -> Any:
        """Return the mask of the k best."""
        mask = np.zeros(self._p, bool)
        mask[[name for name, _ in self._selector.leaderboard.most_common(self._k)]] = True
        return mask


class FloatFires:
    """The FIRES of the package float."""

    def __init__(self, k: int, p: int) -> None:
        self._selector, self._k = fires_class()(p, k, [0, 1]), k

    def partial_fit(self, X: Any, y: Any) -> None:
        """Learn a batch."""
        self._selector.weight_features(np.asarray(X), np.asarray(y))

    def get_support(self) -> Any:
        """Return the mask of the k largest weights."""
        weights = np.asarray(self._selector.weights)
        mask = np.zeros(len(weights), bool)
        mask[np.argsort(-weights, kind="stable")[: self._k]] = True
        return mask


if importlib.util.find_spec("river") is not None:
    enter_rows("river SelectKBest", kind="peer")(RiverBest)
else:
    ABSENT["river"] = "river is not installed: pip install 'streamsieve[judges]'"
if fires_class() is not None:
    enter_rows("float FIRES", kind="peer")(FloatFires)
else:
    ABSENT["float"] = "float-evaluation is not installed: pip install --no-deps float-evaluation"
