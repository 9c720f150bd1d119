"""Estimators that turn into one file and back: what selectors and learners need to be saved alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from streamsieve import state
from streamsieve.exceptions import StateError

if TYPE_CHECKING:
    import os


class Saved(BaseEstimator):
    """A scikit-learn estimator that turns into a ``.sieve`` file and back.

    A subclass stores its parameters in ``__init__`` and nothing else.  What it learns goes into attributes
    that end in an underscore and are of these kinds, so that saving and loading need no code of its own:
    numbers, text, arrays, and parts that turn into arrays (``Stateful`` and registered with
    ``streamsieve.state``).
    """

    #: Attributes that can be made anew and are therefore not saved.
    _caches: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        state.register_selector(cls)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything learnt to one ``.sieve`` file, atomically.

        Parameters
        ----------
        path : the file; an existing one is replaced only when the new one is complete.
        """
        check_is_fitted(self)
        parameters = self.get_params(deep=False)
        plain, arrays = state.pack(self._learnt())
        header = {
            "class": type(self).__name__,
            "parameters": {name: state.encode(name, value) for name, value in parameters.items()},
            "attributes": plain,
        }
        state.write(path, header, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read what :meth:`save` wrote; it continues as if it had never stopped.

        Raises
        ------
        StateError : the file is missing, damaged, too new, or holds another class.
        """
        return cls._from_state(path, *state.read(path))

    @classmethod
    def _from_state(
        cls, path: str | os.PathLike[str], header: dict[str, Any], arrays: dict[str, Any]
    ) -> Self:
        if header.get("class") != cls.__name__:
            raise StateError(
                f"{path} holds a {header.get('class')}, not a {cls.__name__}: load it with "
                f"{header.get('class')}.load or streamsieve.load"
            )
        try:
            estimator = cls(**{k: state.decode(v) for k, v in header["parameters"].items()})
            attributes = state.unpack(header["attributes"], arrays)
        except StateError:
            raise
        except (KeyError, TypeError, AttributeError, ValueError, IndexError) as error:
            raise StateError(f"the state of {cls.__name__} in {path} does not fit: {error}") from error
        estimator._restore(attributes, path)
        return estimator

    def _restore(self, attributes: Mapping[str, Any], path: object) -> None:
        """Take over what was learnt, or refuse what does not fit."""
        for name in attributes:
            if not _is_learnt_name(type(self), name):
                raise StateError(f"the state in {path} wants to set {name!r}, which is not learnt")
        self.__dict__.update(attributes)
        try:
            self._restored()
        except (KeyError, AttributeError, TypeError, ValueError, IndexError) as error:
            raise StateError(f"the state of {type(self).__name__} in {path} does not fit: {error}") from error

    def _learnt(self) -> dict[str, Any]:
        """Return the attributes to save: those that end in an underscore, as what is learnt does."""
        return {k: v for k, v in self.__dict__.items() if k.endswith("_") and k not in self._caches}

    def _forget(self) -> None:
        """Drop whatever was learnt."""
        for name in [name for name in self.__dict__ if name.endswith("_")]:
            del self.__dict__[name]

    def _restored(self) -> None:
        """Make caches anew and refuse attributes that do not fit together (``StateError``)."""


def _is_learnt_name(cls: type, name: str) -> bool:
    """Whether an attribute is one that a fit may set: never a method, never a dunder."""
    return name.isidentifier() and not name.startswith("__") and name.endswith("_") and not hasattr(cls, name)
