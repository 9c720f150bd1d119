"""Properties that exist only on a fitted estimator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from streamsieve._one_thread import changes, reads

if TYPE_CHECKING:
    fitted_property = property
else:

    class fitted_property(property):  # noqa: N801 - used as ``@property`` is
        """A property of a fitted estimator, whose name ends in an underscore.

        Before fitting it raises ``AttributeError`` with the name in it, so that ``hasattr`` is False.
        Afterward it first calls ``_refresh``, which flushes the row buffer: the getter sees all rows learned.
        """

        name: str = ""

        def __init__(self, getter: Any) -> None:
            super().__init__(getter)
            self._changing, self._reading = changes(self._value), reads(self._value)

        def __set_name__(self, owner: type, name: str) -> None:
            self.name = name

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            if instance is None:
                return self
            return (self._changing if instance._lazy else self._reading)(instance)  # noqa: SLF001

        def _value(self, instance: Any) -> Any:
            if "n_features_in_" not in instance.__dict__:
                when = instance._fitted_by  # noqa: SLF001
                raise AttributeError(f"{type(instance).__name__}.{self.name} is available after {when}")
            instance._refresh()  # noqa: SLF001 - a hook of the base class
            return self.fget(instance)
