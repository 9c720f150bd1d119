"""Settings of a report as JSON: methods, parameters, data, seeds, versions; and their differences."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import platform
import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve._version import __version__

#: Rows hashed at a time, so that a matrix is never copied as a whole.
ROWS_AT_ONCE = 4096
_LIBRARIES = ("numpy", "scipy", "scikit-learn")
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def settings_of(
    protocol: str, data: Any, methods: Mapping[str, Mapping[str, Any]], **more: Any
) -> dict[str, Any]:
    """Return everything the results of a run depend on, as JSON: data, methods, parameters, versions."""
    described_methods = {
        kind: {name: each if isinstance(each, str) else described(each) for name, each in named.items()}
        for kind, named in methods.items()
    }
    versions = {"streamsieve": __version__, "python": platform.python_version()}
    versions |= {name: importlib.metadata.version(name) for name in _LIBRARIES}
    return {"protocol": protocol, "data": data, **described_methods, **plain(more), "versions": versions}


def described(estimator: Any) -> Any:
    """Return a selector or learner as JSON: its class and its parameters."""
    if estimator is None:
        return None
    kind = type(estimator)
    name = f"{kind.__module__}.{kind.__qualname__}"
    if not hasattr(estimator, "get_params"):
        return {"class": name, "parameters": plain(vars(estimator)) if hasattr(estimator, "__dict__") else {}}
    parameters = estimator.get_params(deep=False)
    return {"class": name, "parameters": {key: plain(value) for key, value in sorted(parameters.items())}}


def plain(value: Any) -> Any:
    """Return a parameter as JSON that is the same in every process."""
    if value is None or isinstance(value, (bool, int, float, str, np.generic)):
        return value.item() if isinstance(value, np.generic) else value
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    return _as_text(value)


def _as_text(value: Any) -> Any:
    """Return a value that is neither a number nor a container as text: a digest, a description, or a name."""
    if isinstance(value, np.ndarray) or sp.issparse(value):
        return digest_of(value)
    if isinstance(value, (set, frozenset)):
        return sorted(str(plain(each)) for each in value)
    if hasattr(value, "get_params") and not isinstance(value, type):
        return described(value)
    return getattr(value, "__qualname__", None) or _ADDRESS.sub("", repr(value))


def fingerprint(X: Any, y: npt.NDArray[Any], names: list[str] | None) -> dict[str, Any]:
    """Return the identity of data: size, and digests of values, target and names."""
    return {
        "rows": int(X.shape[0]),
        "features": int(X.shape[1]),
        "sparse": bool(sp.issparse(X)),
        "X": digest_of(X),
        "y": digest_of(y),
        "names": None if names is None else digest_of(np.array(names, np.str_)),
    }


def digest_of(values: Any) -> str:
    """Return a hash of values as short text, independent of the memory layout."""
    found = hashlib.blake2b(digest_size=12)
    parts: tuple[Any, ...] = (values,)
    if sp.issparse(values):
        parts = (values.data, values.indices.astype(np.int64), values.indptr.astype(np.int64))
    for part in parts:
        found.update(f"{part.dtype.str}{part.shape}".encode())
        for low in range(0, len(part), ROWS_AT_ONCE):
            found.update(np.ascontiguousarray(part[low : low + ROWS_AT_ONCE]).tobytes())
    return found.hexdigest()


def seed_of(*parts: Any) -> int:
    """Return a seed that depends only on these parts."""
    text = "|".join(str(part) for part in parts)
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=4).digest(), "little")


def differences(was: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return the differences of two settings in words; a method that was added or removed is named once."""
    before, after = dict(_leaves(was)), dict(_leaves(now))
    gone, new = set(_methods(was)) - set(_methods(now)), set(_methods(now)) - set(_methods(was))
    found = []
    for key in dict.fromkeys([*before, *after]):
        method = next((each for each in (*gone, *new) if key == each or key.startswith(f"{each}.")), None)
        if method is not None:
            text = f"{method} was there and is not now" if method in gone else f"{method} is new"
        elif key not in after:
            text = f"{key} was {before[key]!r} and is absent now"
        elif key not in before:
            text = f"{key} was absent and is {after[key]!r} now"
        elif json.dumps(before[key]) != json.dumps(after[key]):  # as text, NaN is equal to NaN
            text = f"{key} was {before[key]!r} and is {after[key]!r} now"
        else:
            continue
        found.append(text)
    return list(dict.fromkeys(found))


def _methods(value: Any, path: str = "") -> Iterator[str]:
    """Yield the paths at which selectors and learners are described."""
    if isinstance(value, Mapping):
        if path and set(value) == {"class", "parameters"}:
            yield path
        else:
            for key, each in value.items():
                yield from _methods(each, f"{path}.{key}" if path else str(key))
    elif value is None and path.startswith("selectors."):  # keeps all features
        yield path


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping) and value:
        for key, each in value.items():
            yield from _leaves(each, f"{path}.{key}" if path else str(key))
    elif path:
        yield path, value
