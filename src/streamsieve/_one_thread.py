"""Detection of concurrent use: a call that changes an object must be alone; reads may overlap with reads.

Kernels run without the GIL and do not check their arrays, so two threads in one object could crash the
process.  Every public method is therefore wrapped in a guard (a "door"): it checks whether another thread's
call excludes it, and then either records its own thread in the object or raises ``ConcurrentUseError``.  No
call ever waits for another.

The check and the record must be atomic.  They are one line of the guard without a call in between, and
CPython with a GIL switches threads only at calls, at backward jumps and where functions begin (a test
inspects the bytecode).  Without a GIL, the guard does both under a lock.
"""

from __future__ import annotations

import inspect
import linecache
import os
import sys
from collections.abc import Callable, Iterable
from functools import cache, update_wrapper
from threading import RLock, get_ident
from typing import Any, TypeVar

from streamsieve.exceptions import ConcurrentUseError

Method = TypeVar("Method", bound=Callable[..., Any])

#: Slots of a guarded class: the thread that changes the object, the first that reads it, and further readers.
SLOTS = ("_user", "_reader", "_readers")
#: Compiled from text, because forwarding ``*args, **kwargs`` would cost more than the check itself.
_CHANGING = """
def make(_method):
    def door({parameters}):
        _me, _inside = _get_ident(), False
        try:
            if {free} and not {self}._readers: {self}._user = _me
            else: _inside = _enter_change({self}, _me)
        except AttributeError:
            _inside = _enter_change({self}, _me)
        if _inside:
            return _method({arguments})
        try:
            return _method({arguments})
        finally:
            {self}._user = None
    return door
"""
_READING = """
def make(_method):
    def door({parameters}):
        _me, _readers = _get_ident(), None
        try:
            if {free}: {self}._reader = _me
            else: _readers = _enter_read({self}, _me)
        except AttributeError:
            _readers = _enter_read({self}, _me)
        if _readers is not None:
            try:
                return _method({arguments})
            finally:
                _readers.remove(_me)
        try:
            return _method({arguments})
        finally:
            {self}._reader = None
    return door
"""
#: Whether no thread is inside, by the GIL: checked and recorded in one line.  Without one, under a lock.
_FREE = {True: "{self}._user is None and {self}._reader is None", False: "False"}
_gate = RLock()
if hasattr(os, "register_at_fork"):  # a forked child must not inherit a locked lock
    os.register_at_fork(before=_gate.acquire, after_in_parent=_gate.release, after_in_child=_gate.release)


def _first_use(instance: Any) -> None:
    with _gate:
        if not hasattr(instance, "_readers"):
            instance._user = instance._reader = None  # noqa: SLF001
            instance._readers = []  # noqa: SLF001 - last: where it is, all are


def _enter_change(instance: Any, me: int) -> bool:
    """Return whether this thread is already changing the object; if not, enter, or raise if it is in use."""
    _first_use(instance)
    if instance._user == me:  # noqa: SLF001
        return True
    with _gate:
        if instance._user is None:  # noqa: SLF001
            instance._user = me  # noqa: SLF001
        if instance._user is not me:  # noqa: SLF001
            _refuse(instance)
        others = {instance._reader, *instance._readers.copy()} - {None, me}  # noqa: SLF001
        # threads that were reading are gone after a fork
        if others and not others.isdisjoint(sys._current_frames()):  # noqa: SLF001
            instance._user = None  # noqa: SLF001
            _refuse(instance)
    return False


def _enter_read(instance: Any, me: int) -> list[int]:
    """Enter as a further reader, or raise; return the list in which this is recorded.

    A thread that is inside already keeps changes of others out: it gets a list of its own.
    """
    _first_use(instance)
    if me in (instance._user, instance._reader):  # noqa: SLF001
        return [me]
    with _gate:
        if instance._user is not None:  # noqa: SLF001
            _refuse(instance)
        instance._readers.append(me)  # noqa: SLF001
        readers: list[int] = instance._readers  # noqa: SLF001
        return readers


def _refuse(instance: Any) -> None:
    name = type(instance).__name__
    merges = hasattr(instance, "merge") and getattr(getattr(instance, "traits", None), "merges", True)
    raise ConcurrentUseError(
        f"another thread is using this {name}: one object, one thread. Give each thread its own {name}"
        f"{' and merge them' if merges else ''}, or let threads take turns with a threading.Lock"
    )


def _door(method: Any, source: str) -> Any:
    parameters = inspect.signature(method).parameters.values()
    shapes = tuple((p.name, p.kind, p.default is not p.empty) for p in parameters)
    door = _maker(shapes, source, getattr(sys, "_is_gil_enabled", lambda: True)())(method)
    door.__defaults__, door.__kwdefaults__ = method.__defaults__, method.__kwdefaults__
    update_wrapper(door, method)
    door.guarded = True
    return door


@cache
def _maker(parameters: tuple[tuple[str, Any, bool], ...], source: str, gil: bool) -> Any:  # noqa: FBT001
    """Return a function that wraps methods with this signature."""
    kinds = inspect.Parameter
    own, passed, named = [], [], False
    for name, kind, optional in parameters:
        if kind is kinds.KEYWORD_ONLY and not named:
            own.append("*")
        named |= kind in {kinds.KEYWORD_ONLY, kinds.VAR_POSITIONAL}
        stars = {kinds.VAR_POSITIONAL: "*", kinds.VAR_KEYWORD: "**"}.get(kind, "")
        own.append(stars + name + "=None" * optional)
        passed.append(f"{name}={name}" if kind is kinds.KEYWORD_ONLY else stars + name)
    self = parameters[0][0]
    text = source.format(
        self=self, free=_FREE[gil].format(self=self), parameters=", ".join(own), arguments=", ".join(passed)
    )
    # tracebacks and debuggers find the text under this name; None: it is no file that may change
    name = f"<streamsieve guard of a {'change' if source is _CHANGING else 'read'}: ({', '.join(own)})>"
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    space: dict[str, Any] = {
        "__name__": __name__, "_get_ident": get_ident, "_enter_change": _enter_change,
        "_enter_read": _enter_read,
    }  # fmt: skip
    exec(compile(text, name, "exec"), space)  # noqa: S102 - the names of parameters are all that varies
    return space["make"]


def changes(method: Method) -> Method:
    """Wrap a method that changes its object: no other thread may use the object meanwhile."""
    door: Method = _door(method, _CHANGING)
    return door


def reads(method: Method) -> Method:
    """Wrap a method that reads its object: other threads may read it meanwhile, but not change it."""
    door: Method = _door(method, _READING)
    return door


@changes
def alone(instance: Any, call: Callable[..., Any], *arguments: Any) -> Any:  # noqa: ARG001
    """Call a function while no other thread uses an object."""
    return call(*arguments)


def guard(cls: type, changing: Iterable[str], reading: Iterable[str] = ()) -> None:
    """Guard the methods and fitted properties of a class, its own and those of mixins.

    The record is in `SLOTS`, not in the instance dictionary, so that states and copies do not contain it.
    """
    for name in [name for name in dir(cls) if name.endswith("_") and not name.startswith("_")]:
        fitted: Any = inspect.getattr_static(cls, name)
        if type(fitted) is property and not hasattr(fitted.fget, "guarded"):
            getter: Any = fitted.fget
            setattr(cls, name, property(reads(getter), fitted.fset, fitted.fdel, fitted.__doc__))
    for names, door in ((changing, changes), (reading, reads)):
        for name in names:
            method = getattr(cls, name, None)
            if inspect.isfunction(method) and not hasattr(method, "guarded"):
                setattr(cls, name, door(_with_other(method) if name == "merge" else method))


def _with_other(merge: Callable[..., Any]) -> Callable[..., Any]:
    """Return a ``merge`` that has exclusive use of the other object as well."""

    def both(self: Any, other: Any, *more: Any) -> Any:
        if type(other) is not type(self):
            return merge(self, other, *more)
        return alone(other, merge, self, other, *more)

    return update_wrapper(both, merge)
