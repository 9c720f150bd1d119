"""Parameters that are more than one field of a state: a number or a word, a name or an object."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamsieve._parameters import brief, check_choice, did_you_mean
from streamsieve.exceptions import ParameterError
from streamsieve.state.fields import Float


class FloatOr(Float):
    """A parameter that is a number or one word, such as ``"auto"``."""

    def __init__(
        self, word: str, low: float | None = None, high: float | None = None, **bounds: bool
    ) -> None:
        super().__init__(low, high, **bounds)
        self.word = word

    def check_value(self, name: str, value: Any) -> None:
        """Raise ``ParameterError`` unless the value is the word or a legal number."""
        if isinstance(value, str):
            check_choice(name, value, (self.word, "a number"))
        else:
            super().check_value(name, value)


class NameOrObject:
    """A parameter that is one of some names, or an object with the methods of a public protocol.

    Parameters
    ----------
    *names : the names
    needs : for each method that an object must have, its signature
    """

    def __init__(self, *names: str, needs: Mapping[str, str]) -> None:
        self.names, self.needs = names, needs

    def check_value(self, name: str, value: Any) -> None:
        """Raise ``ParameterError`` unless the value is a name or has every method."""
        wanted = " and ".join(f"`{signature}`" for signature in self.needs.values())
        if isinstance(value, str):
            if value not in self.names:
                raise ParameterError(
                    f"{name} must be one of {', '.join(map(repr, self.names))}, or an object with {wanted}; "
                    f"got {brief(value)}{did_you_mean(value, self.names)}"
                )
            return
        if isinstance(value, type):
            raise ParameterError(
                f"{name} must be a name or an object; got the class {value.__name__}: make an object of it, "
                f"such as {value.__name__}()"
            )
        missing = [sign for method, sign in self.needs.items() if not callable(getattr(value, method, None))]
        if missing:
            raise ParameterError(
                f"{name}={brief(value)} has no `{missing[0]}`: an object for {name} needs {wanted}"
            )


class Instance:
    """A parameter that is an object of a class; one that has ``check_values`` checks its own."""

    def __init__(self, *kinds: type[Any], optional: bool = False) -> None:
        self.kinds, self.optional = kinds, optional

    def check_value(self, name: str, value: Any) -> None:
        """Raise ``ParameterError`` unless the value is of one of the classes."""
        if value is None and self.optional:
            return
        if not isinstance(value, self.kinds):
            wanted = " or ".join(kind.__name__ for kind in self.kinds)
            raise ParameterError(f"{name} must be a {wanted}{' or None' * self.optional}; got {brief(value)}")
        if hasattr(value, "check_values"):
            value.check_values()
