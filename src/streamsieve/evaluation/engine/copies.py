"""Unfitted copies of selectors and learners, with some parameters changed.

A fold takes hundreds of them.  scikit-learn's ``clone`` inspects signatures each time, which takes
longer than some learners learn; where all parameters are plain values, the class is called instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn.base import BaseEstimator, clone

#: Types of parameters that copies may share.
PLAIN = (bool, int, float, str, type(None))
#: Names of parameters by class, as scikit-learn finds them.
_NAMES: dict[type, tuple[str, ...]] = {}


def parameters_of(estimator: Any) -> dict[str, Any]:
    """Return the parameters of an estimator and of those inside it, as ``get_params(deep=True)`` does."""
    found = _plain(estimator)
    return estimator.get_params(deep=True) if found is None else found


def seeds_for(estimator: Any, seed: int) -> dict[str, Any]:
    """Return what to change so that every randomized estimator, nested ones included, has a seed."""
    return {
        name: seed
        for name, value in parameters_of(estimator).items()
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    }


def unfitted(estimator: Any, changed: Mapping[str, Any]) -> Any:
    """Return an unfitted copy with some parameters changed."""
    found = _plain(estimator)
    if found is not None:
        return type(estimator)(**(found | dict(changed)))
    copy = clone(estimator)
    return copy.set_params(**changed) if changed else copy


def _plain(estimator: Any) -> dict[str, Any] | None:
    """Return the parameters if all are plain values, and scikit-learn's rules hold."""
    kind = type(estimator)
    if kind.get_params is not BaseEstimator.get_params:
        return None
    if kind not in _NAMES:
        _NAMES[kind] = tuple(estimator.get_params(deep=False))
    found = {name: getattr(estimator, name) for name in _NAMES[kind]}
    return found if all(type(value) in PLAIN for value in found.values()) else None
