"""Scikit-learn estimators that can be saved to a file or to bytes, by declared fields."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from streamsieve import state
from streamsieve._files import refuse_foreign
from streamsieve._one_thread import SLOTS, guard
from streamsieve.exceptions import ParameterError, StateError
from streamsieve.protocols import Arrays
from streamsieve.state.fields import Field
from streamsieve.state.part import check_fields, written
from streamsieve.state.registry import name_of
from streamsieve.state.tree import Node, Place, check_sizes, flat, nested, text, untext

if TYPE_CHECKING:
    import os

#: Key of a nested estimator's parameters; those of the root are in the file's header.
PARAMETERS = "$parameters"
#: Methods that change an estimator, and methods that only read it: each excludes other threads while it runs.
CHANGING = (
    "begin", "declare", "fit", "learn", "learn_many", "learn_one", "learn_rows", "merge", "merge_many",
    "offer", "offer_group", "partial_fit", "review", "sample", "save", "set_params", "to_bytes",
)  # fmt: skip
READING = (
    "__getstate__", "confirm", "decision_function", "get_feature_names_out", "get_support",
    "inverse_transform", "measure_block", "predict", "same_rows", "score", "transform", "transform_one",
)  # fmt: skip


class Persistent(BaseEstimator):
    """A scikit-learn estimator with ``save``, ``load``, ``to_bytes`` and ``from_bytes``.

    A subclass only stores its parameters in ``__init__``, and declares ``parameters`` (checked by the same
    rules on the first data and on loading) and ``fields``, the attributes set by fitting.  Declarations are
    inherited.  Constraints between parameters belong in :meth:`_check_together`, those between fields in
    :meth:`_consistent`.
    """

    __slots__ = SLOTS  # the threads that use the object; see _one_thread

    parameters: ClassVar[Mapping[str, Any]] = {}
    fields: ClassVar[Mapping[str, Field]] = {}
    #: Methods after which fitted attributes are available, for errors.
    _fitted_by: ClassVar[str] = "fit or partial_fit"
    #: Whether fitted attributes are computed on access, which changes the object.
    _lazy: ClassVar[bool] = False
    #: Whether parameters were set since they were checked.
    _unchecked: bool = False
    #: Attributes that can be computed again and are therefore not saved.
    _caches: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for declared in ("parameters", "fields"):
            inherited: dict[str, Any] = {}
            for base in reversed(cls.__mro__):
                inherited |= base.__dict__.get(declared, {})
            setattr(cls, declared, inherited)
        guard(cls, CHANGING, READING)
        # classes of other packages use @streamsieve.state.register
        if cls.__module__.startswith("streamsieve."):
            state.register(cls)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__.copy()  # scikit-learn's __getstate__ refuses __slots__

    # ---------------------------------------------------------------- parameters

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters; they are checked before the next data are learned."""
        super().set_params(**parameters)
        self.__dict__["_unchecked"] = True
        return self

    def _check_changed(self) -> None:
        """Check the parameters, which were set since the last check: kernels trust them."""
        self._check_parameters()
        del self.__dict__["_unchecked"]

    @classmethod
    @cache  # scikit-learn inspects the signature at every call, which is slow
    def _get_param_names(cls) -> list[str]:
        names: list[str] = super()._get_param_names()
        return names

    def _check_parameters(self) -> None:
        """Raise ``ParameterError`` unless every parameter is valid."""
        self._check_values()
        self._check_together()

    def _check_values(self) -> None:
        """Raise ``ParameterError`` unless every parameter is valid alone; traits depend on them."""
        for name in self._get_param_names():
            if name in self.parameters:
                self.parameters[name].check_value(name, getattr(self, name))

    def _check_together(self) -> None:
        """Raise ``ParameterError`` for parameters that are valid alone, but not together."""

    # ---------------------------------------------------------------- files and bytes

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Save the estimator to one ``.sieve`` file, atomically.

        Parameters
        ----------
        path : str or path-like
            The file.  An existing state is replaced only once the new one is complete.
        overwrite : bool, default=False
            Whether a file that streamsieve did not write may be replaced as well.
        """
        refuse_foreign([path], overwrite=overwrite)
        state.write(path, *self._saved())
        with suppress(OSError):  # remove the temporary file of an earlier save that was killed
            state.sweep(path, older_than=state.STALE)

    def to_bytes(self) -> bytes:
        """Return what :meth:`save` would write, for a queue, a database or another process."""
        return state.to_bytes(*self._saved())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Load an estimator saved by :meth:`save`; it continues as if it had never been interrupted.

        Raises
        ------
        StateError
            If the file is missing, damaged, written by a newer version, or holds another class.
        """
        return cls._from_state(path, *state.read(path))

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Load an estimator from the result of :meth:`to_bytes`."""
        return cls._from_state("the bytes", *state.from_bytes(data))

    def _saved(self, ready: Mapping[str, Any] | None = None) -> tuple[dict[str, Any], Arrays]:
        """Return header and arrays to save, some of them views of live state; ``ready`` replaces values."""
        check_is_fitted(self)
        header = {"class": name_of(type(self)), "parameters": self._encoded_parameters()}
        return header, flat(written(self.fields, {**self._record(), **(ready or {})}))

    def _encoded_parameters(self) -> dict[str, Any]:
        return {name: state.encode(name, value) for name, value in self.get_params(deep=False).items()}

    @classmethod
    def _from_state(cls, path: object, header: Mapping[str, Any], arrays: Arrays) -> Self:
        if header.get("class") != name_of(cls):
            found = str(header.get("class")).rpartition(".")[2]
            raise StateError(
                f"{path} holds a {found}, not a {cls.__name__}: load it with {found}.load or streamsieve.load"
            )
        try:
            with Place(cls.__name__).loading():
                node, place = nested(arrays), Place()
                check_fields(cls.fields, node, place)
                check_sizes(place)
                return cls._restored_from(header["parameters"], node, "")
        except StateError as error:
            raise StateError(f"{path}: {error}") from error

    @classmethod
    def _restored_from(cls, parameters: Mapping[str, Any], node: dict[str, Node], path: str) -> Self:
        estimator = cls(**{name: state.decode(value) for name, value in parameters.items()})
        try:
            estimator._check_parameters()
        except ParameterError as error:
            raise StateError(f"the state's parameters of {cls.__name__} are not legal: {error}") from error
        for name, field in cls.fields.items():
            saved = state.saved_name(name)
            if saved in node:
                value = field.read(node[saved], f"{path}/{saved}".strip("/"))
                estimator.__dict__[name] = (
                    np.array(value, object) if isinstance(field, state.Texts) else value
                )
        estimator._restored()
        for problem in estimator._consistent():
            raise StateError(f"the state of {cls.__name__} does not fit together: {problem}")
        return estimator

    # ---------------------------------------------------------------- as a part of another state

    def tree(self, ready: Mapping[str, Any] | None = None) -> dict[str, Node]:
        """Return the fields and the parameters as a tree of arrays."""
        fields = written(self.fields, {**self._record(), **(ready or {})})
        return {PARAMETERS: text(json.dumps(self._encoded_parameters())), **fields}

    @classmethod
    def check_tree(cls, node: dict[str, Node], place: Place) -> None:
        """Check every field, and that the parameters are JSON."""
        parameters = node.get(PARAMETERS)
        if parameters is None:
            place.at(PARAMETERS).refuse("are missing")
        state.Json().check(parameters, place.at(PARAMETERS))
        own = {name: value for name, value in node.items() if name != PARAMETERS}
        check_fields(cls.fields, own, place)

    @classmethod
    def from_tree(cls, node: dict[str, Node], path: str) -> Self:
        """Build a fitted estimator from checked arrays."""
        with Place(path).loading():
            return cls._restored_from(json.loads(untext(node[PARAMETERS], Place(path))), node, path)

    # ---------------------------------------------------------------- attributes

    def _record(self) -> Mapping[str, Any]:
        fitted = self._fitted_attributes()
        extra = fitted.keys() - self.fields.keys()
        if extra:
            raise StateError(f"{type(self).__name__} sets {min(extra)!r}, which its fields do not declare")
        return fitted

    def _fitted_attributes(self) -> dict[str, Any]:
        """Return the fitted attributes, whose names end in an underscore."""
        return {k: v for k, v in self.__dict__.items() if k.endswith("_") and k not in self._caches}

    def _refresh(self) -> None:
        """Bring everything up to date, before a fitted attribute is read."""

    def _forget(self) -> None:
        """Drop everything learned."""
        for name in [name for name in self.__dict__ if name.endswith("_")]:
            del self.__dict__[name]

    def _restored(self) -> None:
        """Compute caches again after loading."""

    def _consistent(self) -> Iterator[str]:
        """Yield a sentence for each inconsistency between fields; called after loading."""
        yield from ()
