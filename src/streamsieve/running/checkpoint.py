"""The file of a checkpoint (state and position in the stream), and that of the previous checkpoint."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple, Self

from streamsieve import state
from streamsieve._files import is_ours, refuse_special
from streamsieve.exceptions import ParameterError, StateError
from streamsieve.protocols import Arrays
from streamsieve.running.lock import lock_of


@dataclass(frozen=True)
class Stream:
    """Progress in a stream; the part "stream" of the header of a checkpoint.

    Attributes
    ----------
    identity : of the source
    batch_size : rows in a batch
    position : position in the source after the last batch learned; None at the beginning
    rows : number of rows of this stream learned
    number : number of checkpoints of this stream, including this one
    finished : whether the stream had ended
    digest : of all values learned, with ``verify="full"``
    """

    identity: dict[str, Any]
    batch_size: int
    position: dict[str, Any] | None = None
    rows: int = 0
    number: int = 0
    finished: bool = False
    digest: str | None = None

    def as_header(self) -> dict[str, Any]:
        """Return the fields, for a header."""
        return asdict(self)

    @classmethod
    def from_header(cls, header: Mapping[str, Any], path: Path) -> Self:
        """Read the fields from a header; refuse a header without them, or with invalid ones."""
        found = header.get("stream")
        if found is None:
            raise StateError(
                f"{path} holds a selector, but no place in a stream: it was written by save, not by run; "
                "load it, and give it to run with another checkpoint"
            )
        kinds: dict[str, Any] = {
            "identity": dict, "batch_size": int, "position": dict, "rows": int, "number": int,
            "finished": bool, "digest": str | None,
        }  # fmt: skip
        fits = isinstance(found, dict) and all(
            isinstance(found.get(key), kind) and (kind is not int or type(found[key]) is int)
            for key, kind in kinds.items()
        )
        if not fits or found["rows"] < 0 or found["number"] < 0 or found["batch_size"] < 1:
            raise StateError(f"{path} does not record its position in the stream: restore it from a copy")
        return cls(**{key: found.get(key) for key in kinds})


class Found(NamedTuple):
    """A checkpoint that was read."""

    path: Path
    header: dict[str, Any]
    arrays: Arrays


class CheckpointFile:
    """A checkpoint and the one before it, ``PATH`` and ``PATH.previous``.

    At any moment at least one of them is complete.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.previous = self.path.with_name(f"{self.path.name}.previous")
        if self.path.is_dir():
            raise ParameterError(f"checkpoint must be the name of a file; {self.path} is a folder")
        refuse_special(self.path)
        if not self.path.absolute().parent.is_dir():
            folder = self.path.absolute().parent
            raise ParameterError(f"the folder {folder} for the checkpoint does not exist: make it first")

    @property
    def files(self) -> tuple[Path, ...]:
        """All files that a run writes for this checkpoint."""
        return self.path, self.previous, lock_of(self.path)

    def refuse_existing(self) -> None:
        """Raise an error if a checkpoint would be overwritten."""
        there = [str(path) for path in (self.path, self.previous) if path.exists()]
        if there:
            raise StateError(
                f"{there[0]} is there already: resume (resume=True, --resume) to go on from it, "
                f"or delete {' and '.join(there)} to start again"
            )

    def read(self) -> Found | None:
        """Return the latest checkpoint, or None if there is none."""
        if self.path.exists():
            try:
                found = Found(self.path, *state.read(self.path))
            except StateError as error:
                raise StateError(f"{error}. {self._way_out()}") from error
            self._refuse_foreign_previous()
            return found
        if self.previous.exists():  # a run died between giving away one name and taking the other
            return Found(self.previous, *state.read(self.previous))
        return None

    def _refuse_foreign_previous(self) -> None:
        if self.previous.exists() and not is_ours(self.previous):
            raise StateError(
                f"{self.previous}, where the run would keep the previous checkpoint, was not written by "
                "streamsieve: move it away"
            )

    def write(self, header: Mapping[str, Any], arrays: Arrays) -> None:
        """Replace the checkpoint, which becomes the previous one."""
        state.write(self.path, header, arrays, previous=self.previous)

    def _way_out(self) -> str:
        if not self.previous.exists():
            return f"There is no {self.previous} either: delete it to start again"
        try:
            stream = Stream.from_header(state.read(self.previous)[0], self.previous)
        except StateError as error:
            return f"{self.previous} cannot be used either ({error})"
        return (
            f"{self.previous} holds the state after {stream.rows:,} rows; to go on from there, put it in "
            f"the place of the damaged one (mv '{self.previous}' '{self.path}') and resume"
        )
