"""Processes that die before or after each step of writing a checkpoint.

``python -m tests.running.crashing FOLDER`` prints what each of them left, as JSON.
"""

import errno
import json
import os
import sys
from pathlib import Path

import numpy as np
import safetensors.numpy

from streamsieve import state
from streamsieve.exceptions import StateError
from streamsieve.running.checkpoint import CheckpointFile

#: What is called, and the how-manieth call it is.
STEPS = {
    "make the temporary file": (Path, "open", 1),
    "write": (safetensors.numpy, "save_file", 1),
    "permissions": (Path, "chmod", 1),
    "flush the file": (os, "fsync", 1),
    "link": (os, "link", 1),
    "rename to the previous": (os, "replace", 1),
    "rename": (os, "replace", 2),
    "flush the folder": (os, "fsync", 2),
}
#: Generations that may be found under both names; with a second name of the same file, it is twice the same.
OUTCOMES = ([2, 1], [2, 2], [3, 2], [None, 2])


def write(file: CheckpointFile, number: int) -> None:
    """Write a generation."""
    file.write({"number": number}, {"a": np.full(1_000, float(number))})


def dying(owner, name, on_call, *, after, links):
    """Make this process die at a call."""
    if not links:

        def no_links(*_args):
            raise OSError(errno.EPERM, "no links here")

        os.link = no_links
    real, calls = getattr(owner, name), 0

    def call(*args, **kwargs):
        nonlocal calls
        calls += 1
        if calls == on_call and not after:
            os._exit(9)
        try:
            return real(*args, **kwargs)
        finally:
            if calls == on_call:
                os._exit(9)

    setattr(owner, name, call)


def left(path: Path) -> int | None:
    """Return the generation that a file holds, whole, or None if there is no file."""
    if not path.exists():
        return None
    try:
        header, arrays = state.read(path)
    except StateError:
        return -1
    return header["number"] if np.all(arrays["a"] == header["number"]) else -1


def main() -> None:
    """Let one process die at every step, and print what they left."""
    found = {}
    for step, (owner, name, on_call) in STEPS.items():
        for after in (False, True):
            for links in (True, False):
                folder = Path(sys.argv[1]) / str(len(found))
                folder.mkdir()
                file = CheckpointFile(folder / "run.sieve")
                for number in (1, 2):
                    write(file, number)
                child = os.fork()
                if child == 0:
                    dying(owner, name, on_call, after=after, links=links)
                    write(file, 3)
                    os._exit(0)
                if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 9:
                    raise RuntimeError(f"the process did not die at {step}")
                found[f"{step}, {'after' if after else 'before'}, {links}"] = [
                    left(file.path),
                    left(file.previous),
                ]
                state.sweep(file.path)
                write(file, 4)  # and the next run can write
                if left(file.path) != 4 or {p.name for p in folder.iterdir()} - {
                    "run.sieve",
                    "run.sieve.previous",
                }:
                    raise RuntimeError(f"after a crash at {step} the next checkpoint is not whole")
    print(json.dumps(found))


if __name__ == "__main__":
    main()
