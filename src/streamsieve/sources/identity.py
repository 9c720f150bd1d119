"""Identity of a stream, which a checkpoint stores and a resumed run compares.

Rows may have been appended since.  Rows that were read may not have been changed, moved or removed, and the
columns and the target must be the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from streamsieve.exceptions import SourceError
from streamsieve.sources.checks import some

#: Number of names stored in full, so that an error can say which one differs.
NAMES_IN_FULL = 20


def digest(*parts: bytes) -> str:
    """Return a hash of the parts as short text."""
    found = hashlib.blake2b(digest_size=16)
    for part in parts:
        found.update(len(part).to_bytes(8, "little") + part)
    return found.hexdigest()


def names_identity(names: Sequence[str] | None) -> dict[str, Any] | None:
    """Return names as stored in a checkpoint: all if they are few, else the first few and a digest."""
    if names is None:
        return None
    encoded = (name.encode("utf-8", "surrogatepass") for name in names)
    return {"count": len(names), "digest": digest(*encoded), "first": list(names[:NAMES_IN_FULL])}


def another_stream(why: str) -> SourceError:
    """Return the error for a stream that is not the one of the checkpoint."""
    return SourceError(
        f"this is not the stream of the checkpoint: {why}; resume with the data it came from, or start "
        "again with another checkpoint"
    )


@contextmanager
def comparing(owner: object, known: Mapping[str, Any]) -> Iterator[None]:
    """Context manager to compare with an identity; refuses a damaged one, or that of another kind."""
    kind = type(owner).__name__
    try:
        if known["kind"] != kind:
            raise another_stream(f"it came from {known['kind']}, but this is {kind}")
        yield
    except SourceError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise SourceError(
            f"what the checkpoint says about its source cannot be read ({type(error).__name__}: {error}): "
            "start again with another checkpoint"
        ) from error


def same(what: str, was: Any, now: Any) -> None:
    """Refuse two values that differ; the error names them."""
    if was != now:
        raise another_stream(f"{what} was {_shown(was)} and is {_shown(now)} now")


def not_fewer(what: str, was: int, now: int) -> None:
    """Refuse a stream that has become shorter."""
    if now < was:
        raise another_stream(f"it had {was:,} {what} and has {now:,} now")


def same_names(known: Mapping[str, Any] | None, names: Sequence[str] | None) -> None:
    """Refuse other columns; the error names those that differ if they are known."""
    now = names_identity(names)
    if known is None or now is None:
        if known is not now:
            had, has = ("names", "none") if now is None else ("no names", "names")
            raise another_stream(f"its columns had {had} and have {has} now")
        return
    if known["digest"] == now["digest"]:
        return
    was, first = list(known["first"]), now["first"]
    if max(known["count"], now["count"]) <= NAMES_IN_FULL:
        _refuse_sets(was, first)
    for place, (old, new) in enumerate(zip(was, first, strict=False), 1):
        if old != new:
            raise another_stream(f"column {place} was {old!r} and is {new!r} now")
    same("the number of columns", known["count"], now["count"])
    raise another_stream(f"the columns after the first {len(was)} differ")


def _refuse_sets(was: Sequence[str], now: Sequence[str]) -> None:
    gone = [name for name in was if name not in now]
    new = [name for name in now if name not in was]
    parts = [f"lacks the column {some(gone)}"] if gone else []
    parts += [f"has a new column {some(new)}"] if new else []
    if parts:
        raise another_stream(f"it {' and '.join(parts)}")


def _shown(value: Any) -> str:
    return "absent" if value is None else repr(value)
