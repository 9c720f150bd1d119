"""When a run over columns is enough."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from streamsieve._parameters import check_number
from streamsieve.exceptions import ParameterError
from streamsieve.state import register


@register
@dataclass(frozen=True, kw_only=True)
class Stop:
    """Rules that end a run over columns early; ``stopped_`` says which one was met first.

    Columns that come later are in the ledger as rejected, "stopped".  A callback is not saved with the
    selector: after loading, set it again with ``set_params(stop=...)``.

    Parameters
    ----------
    max_features : int or None, default=None
        Stop when so many features are kept.
    max_offers : int or None, default=None
        Stop after so many columns.
    seconds : float or None, default=None
        Stop at the end of the block in which so much time has passed since ``begin``.
    target : float or None, default=None
        Stop when ``callback`` returns at least this.
    callback : callable or None, default=None
        Called with the selector whenever a feature was kept; returns for example an accuracy.

    Examples
    --------
    >>> import streamsieve as ss
    >>> ss.SAOLA(stop=ss.Stop(max_features=5))
    SAOLA(stop=Stop(max_features=5))
    """

    max_features: int | None = None
    max_offers: int | None = None
    seconds: float | None = None
    target: float | None = None
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
        if (self.target is None) != (self.callback is None):
            raise ParameterError(f"stop.target and stop.callback belong together; got {self!r}")

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
        if self.target is not None and kept_one:
            if self.callback is None:
                raise ParameterError(
                    "stop.callback was not saved with the selector: set_params(stop=...) again"
                )
            value = self.callback(selector)
            if value >= self.target:
                return f"target={self.target:g}"
        return None
