"""A folder for temporary files that goes away with its owner."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from streamsieve.exceptions import SourceError


def scratch_folder(owner: object) -> Path:
    """Make a folder (under ``TMPDIR``) that is removed with its owner, or at exit at the latest."""
    folder = Path(tempfile.mkdtemp(prefix="streamsieve-"))
    weakref.finalize(owner, _remove, folder, os.getpid())
    return folder


def _remove(folder: Path, maker: int) -> None:
    # A forked worker that drops its copy of the owner must not take the files from the parent.
    if os.getpid() == maker:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def full_disk_named(folder: Path) -> Iterator[None]:
    """Context: a failure to write temporary files says where they go, and how to put them elsewhere."""
    try:
        yield
    except OSError as error:
        raise SourceError(
            f"the temporary files in {folder} could not be written ({error}): make room there, or name a "
            "folder with room in the environment variable TMPDIR"
        ) from error
