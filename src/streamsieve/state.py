"""Save and load: one file, atomic, checked, and never code.

A ``.sieve`` file is a plain safetensors file.  Its metadata hold two strings:

``sieve``   a JSON header: format version, class, parameters, small attributes;
``sha256``  a digest over that header and over every array's name, type, shape and bytes.

So a flipped bit is noticed, wherever it is, and any safetensors tool can look inside.  Loading only
ever builds classes that were registered with :func:`register`; nothing in a file names code to run.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import inspect
import json
import os
import re
import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, is_dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, TypeVar

import numpy as np
import numpy.typing as npt

from streamsieve._version import __version__
from streamsieve.exceptions import StateError
from streamsieve.protocols import Arrays, Stateful

FORMAT = 1
#: What a file system answers that has no hard links.
NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EXDEV})
#: Levels of objects within objects; honest states have three at most.
DEEPEST = 12
T = TypeVar("T", bound=type)

_registered: dict[str, type] = {}
#: Selectors by class name: they may be parameters of other selectors.
_selectors: dict[str, type] = {}


def register(cls: T) -> T:
    """Class decorator: instances may stand in a state file under the class's name."""
    _registered[cls.__name__] = cls
    return cls


def register_selector(cls: type) -> None:
    """Let instances of a selector, unfitted, stand in a state file as a parameter of another one."""
    _selectors[cls.__name__] = cls


# ------------------------------------------------------------------------------------ the file


def write(
    path: str | os.PathLike[str],
    header: Mapping[str, Any],
    arrays: Arrays,
    *,
    previous: str | os.PathLike[str] | None = None,
) -> None:
    """Write a state file so that a crash at any moment leaves the old one or the new one.

    The bytes go to a temporary file in the same folder, reach the disk, and only then take the name;
    last, the folder's entry reaches the disk as well.  With ``previous``, the file that is replaced keeps
    this second name.
    """
    from safetensors.numpy import save_file  # noqa: PLC0415 - heavy imports happen on first use

    target = Path(path)
    stamp = {"format": FORMAT, "streamsieve": __version__, "written": _now()}
    temporary = _aside(target)
    try:
        text = json.dumps({**stamp, **header}, sort_keys=True)
        arrays = {name: np.ascontiguousarray(a) for name, a in arrays.items()}
        metadata = {"sieve": text, "sha256": _digest(text, arrays)}
        with temporary.open("xb") as file:
            mode = os.fstat(file.fileno()).st_mode  # what the process's mask allows
        save_file(arrays, temporary, metadata=metadata)
        temporary.chmod(mode & 0o777)
        _flush(temporary)
        if previous is not None:
            _keep(target, Path(previous))
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
    target = Path(path)
    with _opened(target) as (file, metadata):
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - no mapping
    if _digest(metadata["sieve"], arrays) != metadata["sha256"]:
        raise StateError(f"{target} is damaged: its checksum does not match; restore it from a copy")
    return _header(target, metadata["sieve"]), arrays


def read_header(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read the header alone; it is quick, and unlike :func:`read` does not notice all damage."""
    target = Path(path)
    with _opened(target) as (_, metadata):
        return _header(target, metadata["sieve"])


@contextlib.contextmanager
def _opened(target: Path) -> Iterator[tuple[Any, dict[str, str]]]:
    """Open a state file as safetensors; whatever that raises says why the file is no state."""
    from safetensors import SafetensorError, safe_open  # noqa: PLC0415

    try:
        with safe_open(target, framework="np", backend="pread") as file:
            metadata = file.metadata() or {}
            if not {"sieve", "sha256"} <= metadata.keys():
                raise StateError(f"{target} is a safetensors file, but not one of StreamSieve's")
            yield file, metadata
    except FileNotFoundError as error:
        raise StateError(f"there is no state file {target}") from error
    except (SafetensorError, OSError, ValueError, KeyError, OverflowError) as error:
        if isinstance(error, StateError):
            raise
        raise StateError(
            f"{target} is not a readable state file ({error}); restore it from a copy or fit again"
        ) from error


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


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _keep(target: Path, previous: Path) -> None:
    """Give a file that is about to be replaced a second name, with no moment at which it has none."""
    if not target.exists():
        return
    link = _aside(target)
    try:
        try:
            os.link(target, link)
        except OSError as error:
            if error.errno not in NO_LINKS:
                raise
            target.replace(previous)  # for a moment the second name is the only one
            return
        link.replace(previous)
    finally:
        # renaming does nothing if both names are of one file already, as after a crash at this place
        link.unlink(missing_ok=True)


def sweep(path: str | os.PathLike[str]) -> None:
    """Remove what processes left beside a file that were killed while they wrote it.

    Only for somebody who knows that nobody is writing it now.
    """
    target = Path(path)
    aside = re.compile(rf"\.{re.escape(target.name)}\.[0-9a-f]{{16}}")
    for beside in target.parent.iterdir():
        if aside.fullmatch(beside.name):
            beside.unlink(missing_ok=True)


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
    """Turn a parameter into JSON.

    A registered dataclass becomes its fields, a selector its parameters, and a function is left out.
    """
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (list, tuple)):
        return [encode(name, item) for item in value]
    if is_dataclass(value) and not isinstance(value, type):
        fields = {key: encode(key, item) for key, item in asdict(value).items()}
        return {"$object": _name_of(name, value), "fields": fields}
    if type(value).__name__ in _selectors:
        parameters = {key: encode(key, item) for key, item in value.get_params(deep=False).items()}
        return {"$selector": _name_of(name, value, _selectors), "parameters": parameters}
    if inspect.isroutine(value):
        return None  # a function cannot be saved, and its owner says what that means
    raise StateError(f"{name}={value!r} cannot be saved; numbers, text and registered objects can")


def decode(value: Any, depth: int = 0) -> Any:
    """Undo :func:`encode`."""
    if depth > DEEPEST:
        raise StateError("the state holds objects within objects, deeper than there are any")
    for tag, inside, known in (("$object", "fields", _registered), ("$selector", "parameters", _selectors)):
        if isinstance(value, dict) and tag in value:
            arguments = {key: decode(item, depth + 1) for key, item in value[inside].items()}
            try:
                return _lookup(value[tag], known)(**arguments)
            except TypeError as error:
                raise StateError(f"the state's {value[tag]} does not fit this version") from error
    if isinstance(value, list):
        return [decode(item, depth + 1) for item in value]
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
        try:
            with file:
                yield file
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


def _name_of(attribute: str, value: Any, known: Mapping[str, type] = _registered) -> str:
    name = type(value).__name__
    if known.get(name) is not type(value):
        raise StateError(f"{attribute} is a {name}, which is not registered with streamsieve.state")
    return name


def _lookup(name: Any, known: Mapping[str, type] = _registered) -> Callable[..., Any] | Any:
    try:
        return known[name]
    except (KeyError, TypeError) as error:
        raise StateError(f"the state names an unknown class {name!r}") from error
