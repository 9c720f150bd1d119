"""Save and load: one file, atomic, checked, and never code.

A ``.sieve`` file is a plain safetensors file.  Its metadata hold two strings:

``sieve``   a JSON header: format version, class, parameters, small attributes;
``sha256``  a digest over that header and over every array's name, type, shape and bytes.

So a flipped bit is noticed, wherever it is, and any safetensors tool can look inside.  Loading only
ever builds classes that were registered with :func:`register`; nothing in a file names code to run.
"""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import json
import os
import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import IO, Any, TypeVar

import numpy as np
import numpy.typing as npt

from streamsieve._version import __version__
from streamsieve.exceptions import StateError
from streamsieve.protocols import Arrays, Stateful

FORMAT = 1
T = TypeVar("T", bound=type)

_registered: dict[str, type] = {}


def register(cls: T) -> T:
    """Class decorator: instances may stand in a state file under the class's name."""
    _registered[cls.__name__] = cls
    return cls


# ------------------------------------------------------------------------------------ the file


def write(path: str | os.PathLike[str], header: Mapping[str, Any], arrays: Arrays) -> None:
    """Write a state file so that a crash at any moment leaves the old one or the new one.

    The bytes go to a temporary file in the same folder, reach the disk, and only then take the name;
    last, the folder's entry reaches the disk as well.
    """
    from safetensors.numpy import save_file  # noqa: PLC0415 - heavy imports happen on first use

    target = Path(path)
    text = json.dumps({"format": FORMAT, "streamsieve": __version__, **header}, sort_keys=True)
    arrays = {name: np.ascontiguousarray(a) for name, a in arrays.items()}
    metadata = {"sieve": text, "sha256": _digest(text, arrays)}
    temporary = _aside(target)
    try:
        with temporary.open("xb") as file:
            mode = os.fstat(file.fileno()).st_mode  # what the process's mask allows
        save_file(arrays, temporary, metadata=metadata)
        temporary.chmod(mode & 0o777)
        _flush(temporary)
        temporary.replace(target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise
        why = getattr(error, "strerror", None) or error
        raise StateError(f"cannot write {target}: {why}; the previous file is untouched") from error
    try:
        _flush(target.parent)
    except OSError as error:
        raise StateError(f"{target} is written, but its folder could not be flushed: {error}") from error


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], Arrays]:
    """Read a state file, or refuse it with a sentence that says why."""
    from safetensors import SafetensorError, safe_open  # noqa: PLC0415

    target = Path(path)
    try:
        with safe_open(target, framework="np", backend="pread") as file:
            metadata = file.metadata() or {}
            if not {"sieve", "sha256"} <= metadata.keys():
                raise StateError(f"{target} is a safetensors file, but not one of StreamSieve's")
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - no mapping
    except FileNotFoundError as error:
        raise StateError(f"there is no state file {target}") from error
    except (SafetensorError, OSError, ValueError, KeyError, OverflowError) as error:
        if isinstance(error, StateError):
            raise
        raise StateError(
            f"{target} is not a readable state file ({error}); restore it from a copy or fit again"
        ) from error
    if _digest(metadata["sieve"], arrays) != metadata["sha256"]:
        raise StateError(f"{target} is damaged: its checksum does not match; restore it from a copy")
    return _header(target, metadata["sieve"]), arrays


def _header(path: Path, text: str) -> dict[str, Any]:
    try:
        header = json.loads(text)
        found = header["format"]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise StateError(f"{path} has no readable header") from error
    if found != FORMAT:
        raise StateError(
            f"{path} has format {found!r}, written by streamsieve {header.get('streamsieve')}; this is "
            f"streamsieve {__version__}, which reads format {FORMAT}: install a version that reads it"
        )
    return dict(header)


def _digest(text: str, arrays: Arrays) -> str:
    digest = hashlib.sha256(text.encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"\0{name}\0{array.dtype.str}\0{array.shape}\0".encode())
        digest.update(array.data.cast("B") if array.size else b"")
    return digest.hexdigest()


def _flush(path: str | Path) -> None:
    """Make what was written to a file or folder survive a power cut."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


# ------------------------------------------------------------------------------------ objects in it


def pack(attributes: Mapping[str, Any]) -> tuple[dict[str, Any], Arrays]:
    """Split attributes into JSON and arrays; :func:`unpack` puts them together again."""
    plain: dict[str, Any] = {}
    arrays: Arrays = {}
    for name, value in attributes.items():
        if isinstance(value, np.ndarray) and value.dtype != object:
            arrays[name] = value
        elif isinstance(value, np.ndarray):
            plain[name] = {"$strings": name}
            arrays |= _prefixed(name, pack_strings(value.tolist()))
        elif isinstance(value, Stateful):
            plain[name] = {"$part": _name_of(name, value)}
            arrays |= _prefixed(name, value.state())
        else:
            plain[name] = encode(name, value)
    return plain, arrays


def unpack(plain: Mapping[str, Any], arrays: Arrays) -> dict[str, Any]:
    """Undo :func:`pack`."""
    attributes: dict[str, Any] = {}
    for name, value in plain.items():
        if isinstance(value, dict) and "$part" in value:
            part = _lookup(value["$part"])
            if not hasattr(part, "from_state"):
                raise StateError(f"the state names {part.__name__}, which is not a part of a state")
            attributes[name] = part.from_state(_under(name, arrays))
        elif isinstance(value, dict) and "$strings" in value:
            strings = unpack_strings(_under(name, arrays))
            attributes[name] = np.array(strings, dtype=object)
        else:
            attributes[name] = decode(value)
    # np.array copies: what was read from a file may be read-only or unaligned
    unknown = [key for key in arrays if "/" in key and key.split("/")[0] not in attributes]
    if unknown:
        raise StateError(f"the state holds an array {unknown[0]!r} that belongs to nothing")
    attributes |= {name: np.array(a) for name, a in arrays.items() if "/" not in name}
    return attributes


def encode(name: str, value: Any) -> Any:
    """Turn a parameter into JSON; a registered dataclass becomes its fields, a function is left out."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (list, tuple)):
        return [encode(name, item) for item in value]
    if is_dataclass(value) and not isinstance(value, type):
        fields = {key: encode(key, item) for key, item in asdict(value).items()}
        return {"$object": _name_of(name, value), "fields": fields}
    if inspect.isroutine(value):
        return None  # a function cannot be saved, and its owner says what that means
    raise StateError(f"{name}={value!r} cannot be saved; numbers, text and registered objects can")


def decode(value: Any) -> Any:
    """Undo :func:`encode`."""
    if isinstance(value, dict) and "$object" in value:
        fields = {key: decode(item) for key, item in value["fields"].items()}
        try:
            return _lookup(value["$object"])(**fields)
        except TypeError as error:
            raise StateError(f"the state's {value['$object']} does not fit this version") from error
    if isinstance(value, list):
        return [decode(item) for item in value]
    return value


def pack_strings(strings: list[str]) -> Arrays:
    """Text as arrays: all characters in a row, and where each string ends."""
    encoded = [s.encode("utf-8", "surrogatepass") for s in strings]
    ends = np.cumsum([len(s) for s in encoded], dtype=np.int64)
    return {"text": np.frombuffer(b"".join(encoded), np.uint8), "ends": ends}


def unpack_strings(arrays: Mapping[str, npt.NDArray[Any]]) -> list[str]:
    """Undo :func:`pack_strings`."""
    text = expect(arrays, "text", np.uint8, (None,)).tobytes()
    ends = expect(arrays, "ends", np.int64, (None,))
    starts = np.concatenate([[0], ends[:-1]]) if len(ends) else ends
    if (len(ends) and int(ends[-1]) != len(text)) or np.any(ends < starts) or np.any(starts < 0):
        raise StateError("the names in the state do not fit together")
    try:
        return [text[a:b].decode("utf-8", "surrogatepass") for a, b in zip(starts, ends, strict=True)]
    except UnicodeDecodeError as error:
        raise StateError("the names in the state are not text") from error


def expect(
    arrays: Mapping[str, npt.NDArray[Any]], name: str, dtype: Any, shape: tuple[int | None, ...]
) -> npt.NDArray[Any]:
    """Return an array of a state if it has the type and shape it must have (None: any length)."""
    if name not in arrays:
        raise StateError(f"the state lacks the array {name!r}")
    array = arrays[name]
    fits = len(array.shape) == len(shape) and all(
        want is None or want == have for want, have in zip(shape, array.shape, strict=True)
    )
    if array.dtype != np.dtype(dtype) or not fits:
        raise StateError(
            f"the state's array {name!r} should be {np.dtype(dtype)} of shape {shape}, "
            f"but is {array.dtype} of shape {array.shape}"
        )
    return array


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[str]]:
    """Open a text file that takes its name only when it is complete: nothing is ever half-written."""
    target = Path(path)
    temporary = _aside(target)
    try:
        try:
            file = temporary.open("x", encoding="utf-8", errors="backslashreplace", newline="")
        except OSError as error:
            raise StateError(f"cannot write {target}: {error.strerror or error}") from error
        with file:
            yield file
        try:
            temporary.replace(target)
        except OSError as error:
            raise StateError(f"cannot write {target}: {error.strerror or error}") from error
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


@contextlib.contextmanager
def untouched_on_error(*instances: Any) -> Iterator[None]:
    """Put objects' attributes back if the body raises: a failed call changes nothing."""
    before = [(instance, dict(instance.__dict__)) for instance in instances if instance is not None]
    try:
        yield
    except BaseException:
        for instance, attributes in before:
            instance.__dict__.clear()
            instance.__dict__.update(attributes)
        raise


def _aside(target: Path) -> Path:
    """Return a name beside the target that nobody else uses."""
    return target.with_name(f".{target.name}.{secrets.token_hex(8)}")


def _prefixed(name: str, arrays: Arrays) -> Arrays:
    return {f"{name}/{key}": array for key, array in arrays.items()}


def _under(name: str, arrays: Arrays) -> Arrays:
    return {key[len(name) + 1 :]: a for key, a in arrays.items() if key.startswith(f"{name}/")}


def _name_of(attribute: str, value: Any) -> str:
    name = type(value).__name__
    if _registered.get(name) is not type(value):
        raise StateError(f"{attribute} is a {name}, which is not registered with streamsieve.state")
    return name


def _lookup(name: Any) -> Callable[..., Any] | Any:
    try:
        return _registered[name]
    except (KeyError, TypeError) as error:
        raise StateError(f"the state names an unknown class {name!r}") from error
