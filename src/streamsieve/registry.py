"""What there is: selectors, criteria and sources, read off the folders' re-exports."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from streamsieve import state
from streamsieve._parameters import did_you_mean
from streamsieve.exceptions import ParameterError, StateError

if TYPE_CHECKING:
    import os

    from streamsieve.base import Selector

AXES = {"rows": "rows", "columns": "columns", "offline": "all at hand"}


def selectors() -> dict[str, type[Selector]]:
    """Return every selector by its method name, as ``{"saola": SAOLA, ...}``."""
    return {cls.method_name(): cls for folder in AXES for cls in _public(folder)}


def learners() -> list[type[Any]]:
    """Return every learner that can be saved."""
    return [cls for cls in _public("learners") if hasattr(cls, "save")]


def criteria() -> dict[str, type[Any]]:
    """Return every criterion by its name, as ``{"fisher": Fisher, ...}``."""
    return {cls.name: cls for cls in _public("criteria")}


def summaries() -> dict[str, type[Any]]:
    """Return every summary by its class name."""
    return {cls.__name__: cls for cls in _public("summaries")}


def sources() -> dict[str, type[Any]]:
    """Return every source by its class name."""
    return {cls.__name__: cls for cls in _public("sources")}


def selector(name: str) -> type[Selector]:
    """Return a selector by its method name, or say which name is nearest."""
    known = selectors()
    name = {cls.__name__.lower(): key for key, cls in known.items()}.get(name.lower(), name)
    name = name.lower().replace("-", "_")
    if name not in known:
        raise ParameterError(
            f"there is no method {name!r}{did_you_mean(name, known)} (streamsieve methods lists them)"
        )
    return known[name]


def axis(cls: type[Selector]) -> str:
    """Return what streams into a selector: "rows", "columns", or "all at hand"."""
    return AXES[cls.__module__.split(".")[1]]


def load(path: str | os.PathLike[str]) -> Any:
    """Read any selector or learner from a ``.sieve`` file.

    Parameters
    ----------
    path : a file written by ``save``

    Returns
    -------
    the selector or learner, ready to go on
    """
    header, arrays = state.read(path)
    by_class = {cls.__name__: cls for cls in (*selectors().values(), *learners())}
    name = header.get("class")
    if name not in by_class:
        raise StateError(
            f"{path} holds a {name!r}, which this version does not know; if it is your own, "
            "call load on its class"
        )
    return by_class[name]._from_state(path, header, arrays)  # noqa: SLF001 - read once, not twice


def _public(folder: str) -> list[type[Any]]:
    module = importlib.import_module(f"streamsieve.{folder}")
    exported = (getattr(module, name) for name in module.__all__)
    return [item for item in exported if isinstance(item, type)]
