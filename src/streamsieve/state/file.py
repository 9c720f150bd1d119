"""State files: atomic, checked, and never code.

A ``.sieve`` file is a plain safetensors file.  Its metadata hold two strings:

``sieve``   a JSON header: format number, class, parameters;
``sha256``  a digest over that header and over every array's name, type, shape and bytes.

Any flipped bit is detected, and any safetensors tool can read the file.  :func:`to_bytes` and
:func:`from_bytes` do the same in memory, for a queue, a database or a worker of another process.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import re
import secrets
import stat
import struct
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from streamsieve._files import refuse_special
from streamsieve._version import __version__
from streamsieve.exceptions import StateError
from streamsieve.protocols import Arrays

FORMAT = 2
#: Maximum number of files that a killed process may have left in its temporary folder.
MOST_LEFT = 2
#: Seconds without a change after which a file is considered no longer being written.
STALE = 3600.0
#: Error numbers of file systems without hard links.
NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EXDEV})


def write(
    path: str | os.PathLike[str],
    header: Mapping[str, Any],
    arrays: Arrays,
    *,
    previous: str | os.PathLike[str] | None = None,
) -> None:
    """Write a state file so that a crash at any moment leaves the old one or the new one.

    The bytes are written to a temporary file in the same folder, flushed to disk, read back and compared;
    then the file is renamed, and the folder is flushed as well.  With ``previous``, the replaced file keeps
    this second name.
    """
    from safetensors.numpy import save_file  # noqa: PLC0415 - heavy imports happen on first use

    target = Path(path)
    aside = _aside(target)  # a folder: safetensors writes a file of another name first
    temporary = aside / target.name
    try:
        arrays, metadata = _sealed(header, arrays)
        aside.mkdir()
        with temporary.open("xb") as file:
            mode = _mode(target, file)
        save_file(arrays, temporary, metadata=metadata)
        temporary.chmod(mode)
        _flush(temporary)
        _verify(temporary, metadata, arrays)
        if previous is not None:
            _keep(target, Path(previous))
        temporary.replace(target)
    except BaseException as error:
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise
        why = getattr(error, "strerror", None) or error
        kept = "; the previous file is untouched" if target.exists() else ""
        raise StateError(f"cannot write {target}: {why}{kept}") from error
    finally:
        try:
            _remove(aside)
        finally:  # it may have been interrupted by Ctrl-C
            _remove(aside)
    try:
        _flush(target.parent)
    except OSError as error:
        raise StateError(f"{target} is written, but its folder could not be flushed: {error}") from error


def _verify(path: Path, metadata: Mapping[str, str], arrays: Arrays) -> None:
    """Read the file back, and compare it byte by byte."""
    with _opened(path) as (file, found):
        if found != metadata or set(file.keys()) != arrays.keys():
            raise StateError("what was written differs from what is read back")
        for name, array in arrays.items():
            if not _same_bytes(array, file.get_tensor(name)):
                raise StateError(f"what was written of {name!r} differs from what is read back")


def _same_bytes(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> bool:
    if (one.dtype, one.shape) != (other.dtype, other.shape):
        return False
    a, b = (array.reshape(-1).view(np.uint8) for array in (one, other))
    step = 2**24  # the comparison allocates a byte per byte
    return all(np.array_equal(a[low : low + step], b[low : low + step]) for low in range(0, len(a), step))


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], Arrays]:
    """Read a state file; raise ``StateError`` with the reason if it is not valid."""
    if not isinstance(path, (str, os.PathLike)):
        raise StateError(f"a path is needed, got {type(path).__name__}; from_bytes reads bytes of a state")
    target = Path(path)
    with _opened(target) as (file, metadata):
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - no mapping
    return _checked(target, metadata, arrays)


def to_bytes(header: Mapping[str, Any], arrays: Arrays) -> bytes:
    """Return the content that :func:`write` would write, as bytes."""
    from safetensors.numpy import save  # noqa: PLC0415

    arrays, metadata = _sealed(header, arrays)
    return save(arrays, metadata=metadata)


def from_bytes(data: bytes, name: str = "the bytes") -> tuple[dict[str, Any], Arrays]:
    """Read the result of :func:`to_bytes`; ``name`` is used in errors."""
    from safetensors.numpy import load  # noqa: PLC0415

    try:
        arrays = load(data)
        (length,) = struct.unpack_from("<Q", data)
        metadata = json.loads(data[8 : 8 + length]).get("__metadata__") or {}
    except Exception as error:  # errors of safetensors, and any for types that NumPy lacks
        raise StateError(f"{name} are not a readable state ({error})") from error
    return _checked(name, metadata, arrays)


def _sealed(header: Mapping[str, Any], arrays: Arrays) -> tuple[Arrays, dict[str, str]]:
    """Return contiguous arrays, and the metadata with their checksum."""
    stamp = {"format": FORMAT, "streamsieve": __version__, "written": _now()}
    try:
        text = json.dumps({**stamp, **header}, sort_keys=True)
    except (TypeError, ValueError, RecursionError) as error:
        raise StateError(f"a value cannot be saved: {error}") from error
    arrays = {key: a if a.flags.c_contiguous else a.copy("C") for key, a in arrays.items()}
    return arrays, {"sieve": text, "sha256": _digest(text, arrays)}


def _checked(name: object, metadata: Mapping[str, str], arrays: Arrays) -> tuple[dict[str, Any], Arrays]:
    """Return header and arrays if they are a valid state and undamaged."""
    if not {"sieve", "sha256"} <= metadata.keys():
        raise StateError(f"{name} is safetensors, but not of StreamSieve")
    if _digest(metadata["sieve"], arrays) != metadata["sha256"]:
        raise StateError(f"{name} is damaged: its checksum does not match; restore it from a copy")
    return _header(name, metadata["sieve"]), arrays


def read_header(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read the header only; this is fast, but unlike :func:`read` does not detect all damage."""
    target = Path(path)
    with _opened(target) as (_, metadata):
        return _header(target, metadata["sieve"])


@contextlib.contextmanager
def _opened(target: Path) -> Iterator[tuple[Any, dict[str, str]]]:
    """Open a state file as safetensors; errors become a ``StateError`` with the reason."""
    from safetensors import safe_open  # noqa: PLC0415

    try:
        if target.exists() and not stat.S_ISREG(target.stat().st_mode):
            raise StateError(f"{target} is not a readable state file (it is no regular file)")  # noqa: TRY301
        with safe_open(target, framework="np", backend="pread") as file:
            metadata = file.metadata() or {}
            if not {"sieve", "sha256"} <= metadata.keys():
                raise StateError(f"{target} is a safetensors file, but not one of StreamSieve's")  # noqa: TRY301
            yield file, metadata
    except FileNotFoundError as error:
        raise StateError(f"there is no state file {target}") from error
    except Exception as error:
        if isinstance(error, StateError):
            raise
        raise StateError(
            f"{target} is not a readable state file ({error}); restore it from a copy or fit again"
        ) from error


def _header(path: object, text: str) -> dict[str, Any]:
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
    """Give a file that will be replaced a second name, so that it always has at least one name."""
    if not target.exists():
        return
    link = _aside(target)
    try:
        try:
            os.link(target, link)
        except OSError as error:
            if error.errno not in NO_LINKS:
                raise
            target.replace(previous)  # for a moment, the file has only the second name
            return
        link.replace(previous)
    finally:
        # renaming does nothing if both names refer to one file already, as after a crash at this point
        link.unlink(missing_ok=True)


def sweep(path: str | os.PathLike[str], *, older_than: float = 0.0) -> None:
    """Remove temporary files of processes that were killed while writing a file.

    Only files that were not changed for ``older_than`` seconds are removed, because another process may still
    be writing; 0 is for callers who know that none is.  Files not made by :func:`write` are left alone.
    """
    target = Path(path)
    aside = re.compile(rf"\.{re.escape(target.name)}\.[0-9a-f]{{16}}")
    for beside in target.parent.iterdir():
        if not aside.fullmatch(beside.name) or beside.is_symlink():
            continue
        files = list(beside.iterdir()) if beside.is_dir() else [beside]
        if len(files) > MOST_LEFT or not all(stat.S_ISREG(file.lstat().st_mode) for file in files):
            continue
        if time.time() - max(each.lstat().st_mtime for each in (beside, *files)) < older_than:
            continue
        if beside.is_dir():
            _remove(beside)
        else:
            beside.unlink(missing_ok=True)


def _remove(folder: Path) -> None:
    """Remove a folder of files, as far as the system allows it."""
    with contextlib.suppress(OSError):
        for file in folder.iterdir():
            file.unlink()
        folder.rmdir()


def _flush(path: str | Path) -> None:
    """Flush a file or folder to disk, to survive a power failure."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[str]]:
    """Open a text file that gets its name only when it is complete, with the permissions of the old one."""
    target = Path(path)
    temporary = _aside(target)
    try:
        with as_state_error(f"write {target}"):
            with temporary.open("x", encoding="utf-8", errors="backslashreplace", newline="") as file:
                temporary.chmod(_mode(target, file))
                yield file
            temporary.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


def _mode(target: Path, fresh: IO[Any]) -> int:
    """Return the permissions of the file to be replaced; for a new one, those that the umask allows."""
    try:
        return target.stat().st_mode & 0o777
    except OSError:
        return os.fstat(fresh.fileno()).st_mode & 0o777


@contextlib.contextmanager
def as_state_error(what: str) -> Iterator[None]:
    """Context manager that turns an ``OSError`` into a ``StateError`` that says what failed."""
    try:
        yield
    except OSError as error:
        raise StateError(f"cannot {what}: {error.strerror or error}") from error


def _aside(target: Path) -> Path:
    """Return an unused name beside the target; refuse an existing target that is no regular file."""
    refuse_special(target)
    return target.with_name(f".{target.name}.{secrets.token_hex(8)}")
