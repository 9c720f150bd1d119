"""When a run over columns is enough."""

from __future__ import annotations

import math
import numbers
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from streamsieve._parameters import check_number
from streamsieve.exceptions import ParameterError
from streamsieve.protocols import FloatArray
from streamsieve.state import register


@register
@dataclass(frozen=True, kw_only=True)
class Stop:
    """Rules that end a run over columns early; ``stopped_`` says which one was met first.

    Columns that come later are in the ledger as rejected, "stopped"; where columns are computed on demand
    (:func:`streamsieve.features`, :func:`streamsieve.run`) they are not computed.  A function is not saved
    with the selector: after loading, set it again with ``set_params(stop=...)``.

    Parameters
    ----------
    max_features : int or None, default=None
        Stop when so many features are kept.
    max_offers : int or None, default=None
        Stop after so many columns.
    seconds : float or None, default=None
        Stop at the end of the block in which so much time has passed since ``begin``.
    target : float or None, default=None
        Stop when ``accuracy`` or ``callback`` returns at least this.
    accuracy : callable or None, default=None
        Called with the values of the kept columns, an array of rows x kept in order of arrival, whenever a
        feature was kept; returns how good they are.  For this the selector remembers these values.
    callback : callable or None, default=None
        Called with the selector whenever a feature was kept, in place of ``accuracy``.

    Examples
    --------
    >>> import numpy as np, streamsieve as ss
    >>> ss.SAOLA(stop=ss.Stop(max_features=5))
    SAOLA(stop=Stop(max_features=5))

    The rule of the OSFS paper, enough features for the accuracy that is wanted:

    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 50))
    >>> y = X[:, 3] + X[:, 7] + X[:, 30] > 0
    >>> stop = ss.Stop(
    ...     target=0.7, accuracy=lambda kept: cross_val_score(KNeighborsClassifier(), kept, y).mean()
    ... )
    >>> sieve = ss.FastOSFS(stop=stop).fit(X, y)
    >>> sieve.stopped_, sieve.selected_
    ('target=0.7', array([3, 7]))
    """

    max_features: int | None = None
    max_offers: int | None = None
    seconds: float | None = None
    target: float | None = None
    accuracy: Callable[[FloatArray], float] | None = None
    callback: Callable[[Any], float] | None = None

    def __repr__(self) -> str:
        given = ", ".join(f"{k}={v!r}" for k, v in self.__dict__.items() if v is not None)
        return f"Stop({given})"

    def check(self) -> None:
        """Refuse rules that cannot be met."""
        for name in ("max_features", "max_offers"):
            if getattr(self, name) is not None:
                check_number(f"stop.{name}", getattr(self, name), low=1, integer=True)
        if self.seconds is not None:
            check_number("stop.seconds", self.seconds, low=0, open_low=True)
        if self.target is not None:
            check_number("stop.target", self.target)
        asked = [name for name in ("accuracy", "callback") if getattr(self, name) is not None]
        if len(asked) != (self.target is not None):
            raise ParameterError(
                f"stop.target goes with stop.accuracy or stop.callback, and either goes with it; got {self!r}"
            )
        for name in asked:
            if not callable(getattr(self, name)):
                raise ParameterError(f"stop.{name} must be a function; got {getattr(self, name)!r}")

    @property
    def watches_features(self) -> bool:
        """Whether every single kept feature may end the run."""
        return self.max_features is not None or self.target is not None

    def reached(self, selector: Any, started: float, *, kept_one: bool) -> str | None:
        """Return which rule is met, or None."""
        if self.max_features is not None and len(selector.selected_) >= self.max_features:
            return f"max_features={self.max_features}"
        if self.max_offers is not None and selector.n_features_in_ >= self.max_offers:
            return f"max_offers={self.max_offers}"
        if self.seconds is not None and time.monotonic() - started >= self.seconds:
            return f"seconds={self.seconds:g}"
        if self.target is not None and kept_one and self._reading(selector) >= self.target:
            return f"target={self.target:g}"
        return None

    def _reading(self, selector: Any) -> float:
        """Ask how good the selection is."""
        value: Any
        if self.accuracy is not None:
            name, value = "accuracy", self.accuracy(selector._kept_values())  # noqa: SLF001 - its own stop
        elif self.callback is not None:
            name, value = "callback", self.callback(selector)
        else:
            raise ParameterError(
                "stop.accuracy or stop.callback was not saved with the selector: set_params(stop=...) again"
            )
        if not isinstance(value, numbers.Real) or math.isnan(value):
            raise ParameterError(f"stop.{name} must return a number to compare with target; got {value!r}")
        return float(value)
