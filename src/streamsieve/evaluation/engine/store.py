"""The folder of a run: its settings, and its finished cells, one per line.

Each line is written by one call, before the next cell counts, and flushed to disk every second.  If the
process is killed, at most one incomplete line remains at the end, which is ignored; a power failure loses the
cells of the last second.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from streamsieve.evaluation.engine.settings import differences
from streamsieve.exceptions import StateError
from streamsieve.running.lock import exclusive_lock
from streamsieve.state import as_state_error, replacing

SETTINGS, CELLS = "settings.json", "cells.jsonl"
#: Suffixes of the report files in the folder.
REPORTED = (".csv", ".png")
#: Maximum number of differences that an error lists.
NAMED = 5
#: Seconds between two flushes to disk, which may take longer than a small cell.
SYNCED_EVERY = 1.0


class JobStore:
    """Results of cells by name, in a folder, with the settings they depend on."""

    def __init__(self, folder: str | os.PathLike[str], settings: Mapping[str, Any], *, resume: bool) -> None:
        self.folder = Path(folder)
        with as_state_error(f"make the folder {self.folder}"):
            self.folder.mkdir(parents=True, exist_ok=True)
        self._settings = json.loads(json.dumps(settings))  # as read back: tuples become lists
        self._resume = resume
        self._file: IO[bytes] | None = None
        self._synced = 0.0
        self.finished: dict[str, dict[str, Any]] = {}

    @contextmanager
    def opened(self) -> Iterator[JobStore]:
        """Context manager for exclusive writing; ``finished`` holds the cells so far."""
        path = self.folder / CELLS
        with exclusive_lock(path):
            self._settle_settings()
            with as_state_error(f"open {path}"):
                self.finished = _read(path)
                # unbuffered: a buffer would be written when the file is closed, even after the disk was full
                file = path.open("ab", buffering=0)
            with file as self._file:
                yield self
            self._file = None

    def add(self, name: str, result: Mapping[str, Any]) -> None:
        """Write the result of a cell."""
        if self._file is None:
            raise StateError(f"the results in {self.folder} are not open")
        line = json.dumps({"cell": name, **result}, separators=(",", ":")) + "\n"
        with as_state_error(f"write {self.folder / CELLS}"):
            left = line.encode()
            while left:  # a nearly full disk may accept only a part
                left = left[self._file.write(left) :]
            if time.monotonic() - self._synced >= SYNCED_EVERY:
                os.fsync(self._file.fileno())
                self._synced = time.monotonic()

    def _settle_settings(self) -> None:
        path = self.folder / SETTINGS
        if not path.exists():
            if (self.folder / CELLS).exists():
                raise StateError(
                    f"{self.folder} has results but no {SETTINGS} that made them: choose another folder"
                )
            for each in sorted(self.folder.iterdir()):
                if each.suffix in REPORTED or each.name == "report.json":
                    raise StateError(
                        f"{self.folder} holds {each.name}, which is not of a run and might be overwritten: "
                        "choose another folder"
                    )
            with replacing(path) as file:
                json.dump(self._settings, file, indent=1)
            return
        if not self._resume:
            raise StateError(
                f"{self.folder} holds a run already: resume (resume=True, --resume) to go on with it, or "
                "choose another folder"
            )
        try:
            known = json.loads(path.read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise StateError(f"{path} cannot be read ({error}): choose another folder") from error
        found = differences(known, self._settings)
        if found:
            more = f"; and {len(found) - NAMED} more" if len(found) > NAMED else ""
            raise StateError(
                f"{self.folder} holds a run with other settings: {'; '.join(found[:NAMED])}{more}. Resume "
                "with the settings it began with, or choose another folder"
            )


def _read(path: Path) -> dict[str, dict[str, Any]]:
    """Return the finished cells, and cut off an incomplete last line."""
    if not path.exists():
        return {}
    content = path.read_bytes()
    whole = content.rfind(b"\n") + 1
    if whole < len(content):
        with path.open("r+b") as file:
            file.truncate(whole)
    found: dict[str, dict[str, Any]] = {}
    for line in content[:whole].splitlines():
        try:
            entry = json.loads(line)
            found[str(entry.pop("cell"))] = entry
        except (ValueError, KeyError, TypeError, AttributeError):  # this cell is computed again
            continue
    return found
