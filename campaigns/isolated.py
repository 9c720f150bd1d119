"""Run cases in child processes: whatever dies or hangs is counted, and the campaign goes on."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import select
import signal
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from campaigns.outcome import Outcome

#: Cases that a child process runs before it is replaced.
BATCH = 200
#: Times its patience that a child may wait without computing.
IDLE = 8
Attempt = Callable[[Any], Outcome]


def outcomes(
    cases: Iterable[Any], attempt: Attempt, *, patience: float, deadline: float
) -> Iterator[tuple[Any, Outcome]]:
    """Yield each case with what came of it, until the cases or the time are over.

    Parameters
    ----------
    cases : what to try; each is handed to ``attempt`` in a child process
    attempt : tries a case
    patience : seconds of computing without an answer after which a case counts as hung; of waiting `IDLE`
        times as many, because other programs may want the processors
    deadline : ``time.monotonic()`` at which no further case begins
    """
    stream = iter(cases)
    while batch := list(itertools.islice(stream, BATCH)):
        while batch:
            if time.monotonic() > deadline:
                return
            done = 0
            for outcome in _in_child(batch, attempt, patience, deadline):
                yield batch[done], outcome
                done += 1
            if not done:
                return
            batch = batch[done:]


def _in_child(batch: list[Any], attempt: Attempt, patience: float, deadline: float) -> Iterator[Outcome]:
    """Yield the outcomes of a child process; the last of them may be its death."""
    readable, writable = os.pipe()
    child = os.fork()
    if not child:
        os.close(readable)
        _work(batch, attempt, writable, deadline)
    os.close(writable)
    ended = False
    try:
        with os.fdopen(readable, "rb") as pipe:
            while _answers(pipe, child, patience):
                line = pipe.readline()
                if not line:
                    ended = True
                    break
                yield Outcome(**json.loads(line))
    finally:
        if not ended:  # it hangs, or the rest is not needed
            os.kill(child, signal.SIGKILL)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if not ended:
        yield Outcome("hung", f"no answer in {patience:g} s of computing, or {IDLE * patience:g} s")
        return
    if status < 0:
        yield Outcome("crashed", signal.Signals(-status).name)
    elif status:
        yield Outcome("crashed", f"exit status {status}")


def _answers(pipe: IO[bytes], child: int, patience: float) -> bool:
    """Wait for a child; return whether it answers before its patience is over."""
    began = _computed(child)
    for _ in range(IDLE):
        if select.select([pipe], [], [], patience)[0]:
            return True
        if _computed(child) - began >= patience:
            return False
    return False


def _computed(child: int) -> float:
    """Return the seconds of computing that a process has taken; those of waiting where that is unknown."""
    try:
        fields = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return time.monotonic()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _work(batch: list[Any], attempt: Attempt, writable: int, deadline: float) -> None:
    """Try the cases and write their outcomes; does not return."""
    with os.fdopen(writable, "w") as pipe, open(os.devnull, "w") as nowhere:  # noqa: PTH123
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
        for case in batch:
            if time.monotonic() > deadline:
                break
            try:
                outcome = attempt(case)
            except BaseException as error:  # noqa: BLE001 - whatever it is, it is the outcome
                where = traceback.extract_tb(error.__traceback__)[-1]
                text = f"{type(error).__name__}: {error} ({os.path.basename(where.filename)}:{where.lineno})"  # noqa: PTH119
                outcome = Outcome("unclear", text[:500])
            with contextlib.suppress(BrokenPipeError):
                pipe.write(json.dumps(asdict(outcome)) + "\n")
                pipe.flush()
    os._exit(0)
