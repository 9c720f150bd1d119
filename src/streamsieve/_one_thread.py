"""One object, one thread: a call that changes an object must be alone; reading it excludes changes only.

Kernels run without the GIL and trust the arrays they were given, so two threads in one object could end the
process.  Every public method is a door: it enters itself in the object's list of users, and is refused with
``ConcurrentUseError`` if the method of another thread that excludes it stands before it.  Nothing ever waits.
The order of the list decides, and a list appends and removes in one step of the interpreter.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Iterable
from functools import cache, update_wrapper
from threading import Lock, get_ident
from typing import Any, TypeVar

from streamsieve.exceptions import ConcurrentUseError

Method = TypeVar("Method", bound=Callable[..., Any])

#: Made from text, because passing on ``*args, **kwargs`` would cost more than all the rest.
_SOURCE = """
def make(_method):
    def door({parameters}):
        try:
            _users = {self}._users
        except AttributeError:
            _users = _first_use({self})
        _user = {sign}_get_ident()
        _users.append(_user)
        try:
            if _users[0] is not _user and _users[0] != _user:
                _refuse_others({self}, _users, _user)
            return _method({arguments})
        finally:
            _users.remove(_user)
    return door
"""
_creating = Lock()
if hasattr(os, "register_at_fork"):  # a child must not inherit it locked
    os.register_at_fork(
        before=_creating.acquire, after_in_parent=_creating.release, after_in_child=_creating.release
    )


def _first_use(instance: Any) -> list[int]:
    with _creating:
        if not hasattr(instance, "_users"):
            instance._users = []  # noqa: SLF001
        users: list[int] = instance._users  # noqa: SLF001
        return users


def _refuse_others(instance: Any, users: list[int], user: int) -> None:
    """Raise ``ConcurrentUseError`` if another thread came first and either of the two changes the object."""
    entered = users.copy()
    before = entered[: len(entered) - 1 - entered[::-1].index(user)]
    if abs(user) in before or (user < 0 and user in before):
        return  # within a call of its own that was let in; the later one is about to leave
    others = {other for other in before if abs(other) != abs(user) and (other > 0 or user > 0)}
    if user > 0 and all(other < 0 for other in others):
        alive = sys._current_frames()  # noqa: SLF001 - threads that were reading are gone after a fork
        others = {other for other in others if -other in alive}
    if others:
        name = type(instance).__name__
        merges = hasattr(instance, "merge") and getattr(getattr(instance, "traits", None), "merges", True)
        raise ConcurrentUseError(
            f"another thread is using this {name}: one object, one thread. Give each thread its own {name}"
            f"{' and merge them' if merges else ''}, or let threads take turns with a threading.Lock"
        )


def _door(method: Any, sign: str) -> Any:
    parameters = inspect.signature(method).parameters.values()
    door = _maker(tuple((p.name, p.kind, p.default is not p.empty) for p in parameters), sign)(method)
    door.__defaults__, door.__kwdefaults__ = method.__defaults__, method.__kwdefaults__
    update_wrapper(door, method)
    door.guarded = True
    return door


@cache
def _maker(parameters: tuple[tuple[str, Any, bool], ...], sign: str) -> Any:
    """Return a function that makes doors of methods with these parameters."""
    kinds = inspect.Parameter
    own, passed, named = [], [], False
    for name, kind, optional in parameters:
        if kind is kinds.KEYWORD_ONLY and not named:
            own.append("*")
        named |= kind in {kinds.KEYWORD_ONLY, kinds.VAR_POSITIONAL}
        stars = {kinds.VAR_POSITIONAL: "*", kinds.VAR_KEYWORD: "**"}.get(kind, "")
        own.append(stars + name + "=None" * optional)
        passed.append(f"{name}={name}" if kind is kinds.KEYWORD_ONLY else stars + name)
    text = _SOURCE.format(
        self=parameters[0][0], parameters=", ".join(own), arguments=", ".join(passed), sign=sign
    )
    space: dict[str, Any] = {
        "_get_ident": get_ident, "_first_use": _first_use, "_refuse_others": _refuse_others
    }  # fmt: skip
    exec(text, space)  # noqa: S102 - the names of parameters are all that varies
    return space["make"]


def changes(method: Method) -> Method:
    """Return a method that no other thread's calls on the same object may overlap."""
    door: Method = _door(method, "")
    return door


def reads(method: Method) -> Method:
    """Return a method that may overlap with other threads' reading, but not with their changes."""
    door: Method = _door(method, "-")
    return door


@changes
def alone(instance: Any, call: Callable[..., Any], *arguments: Any) -> Any:  # noqa: ARG001
    """Call something while no other thread uses an object."""
    return call(*arguments)


def guard(cls: type, changing: Iterable[str], reading: Iterable[str] = ()) -> None:
    """Make doors of a class's methods and fitted properties, its own and those of mixins.

    The class has a slot ``_users``, no attribute: then neither states nor copies have a part in it.
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
    """Return a ``merge`` that uses the other object alone as well."""

    def both(self: Any, other: Any, *more: Any) -> Any:
        if type(other) is not type(self):
            return merge(self, other, *more)
        return alone(other, merge, self, other, *more)

    return update_wrapper(both, merge)
