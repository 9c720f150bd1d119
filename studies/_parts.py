"""The parts of a study, stored one by one, so that a study can be interrupted and goes on."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from joblib import Parallel, delayed

from streamsieve.state import replacing

#: Name, settings, the function, and what it is called with.
Part: TypeAlias = tuple[Any, ...]


class Parts:
    """Results by name, in a JSON file that is complete after every part.

    A stored result counts as long as its settings are the same; ``fresh`` forgets them all.

    Parameters
    ----------
    path : the file
    fresh : compute everything again
    say : told about every part that was computed
    """

    def __init__(
        self, path: Path, *, fresh: bool = False, say: Callable[[str], None] = lambda _: None
    ) -> None:
        self.path, self.say = path, say
        self._stored: dict[str, dict[str, Any]] = {}
        if path.exists() and not fresh:
            self._stored = json.loads(path.read_text("utf-8"))

    def __call__(
        self, name: str, settings: Mapping[str, Any], compute: Callable[..., Any], *given: Any
    ) -> Any:
        """Return a part's result, computing it if needed.

        Parameters
        ----------
        name : of the part
        settings : what the result depends on, as JSON
        compute : function that returns the result, made of numbers, text, lists and dicts
        given : what the function is called with
        """
        if self._lacks(name, settings):
            self._keep(name, settings, _timed(compute, given))
        return self.result(name)

    def ahead(self, parts: Iterable[Part]) -> None:
        """Compute the parts that are missing, as many at a time as there are processors.

        A part that fails is left: it fails again, and is heard of, when it is asked for.

        Parameters
        ----------
        parts : what a call would be given, for each of them
        """
        missing = [part for part in parts if self._lacks(part[0], part[1])]
        found = Parallel(n_jobs=cores(), return_as="generator_unordered")(
            delayed(_tried)(part) for part in missing
        )
        for part, timed in found:
            if timed is not None:
                self._keep(part[0], part[1], timed)

    def _lacks(self, name: str, settings: Mapping[str, Any]) -> bool:
        stored = self._stored.get(name)
        return stored is None or stored["settings"] != _as_stored(settings)

    def _keep(self, name: str, settings: Mapping[str, Any], timed: Mapping[str, Any]) -> None:
        self._stored[name] = {"settings": _as_stored(settings), **timed}
        self._write()
        self.say(f"{name}: {timed['seconds']:.1f} s")

    def result(self, name: str) -> Any:
        """Return the result of a part that is there."""
        return self._stored[name]["result"]

    def processor_seconds(self, name: str) -> float:
        """Return the processor time that a part took, with that of processes it started; NaN if unknown."""
        return float(self._stored[name].get("processor_seconds", "nan"))

    def _write(self) -> None:
        with replacing(self.path) as file:
            # parts by name; within a part the order is the study's own, as it is before it is stored
            file.write(json.dumps(dict(sorted(self._stored.items())), indent=1) + "\n")


def cores() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _as_stored(value: Any) -> Any:
    """Return what comes back from the file: tuples are lists there."""
    return json.loads(json.dumps(value))


def _timed(compute: Callable[..., Any], given: Sequence[Any]) -> dict[str, Any]:
    started, used = time.perf_counter(), sum(os.times()[:4])
    result = _as_stored(compute(*given))
    return {
        "seconds": round(time.perf_counter() - started, 3),
        "processor_seconds": round(sum(os.times()[:4]) - used, 3),
        "result": result,
    }


def _tried(part: Part) -> tuple[Part, dict[str, Any] | None]:
    _, _, compute, *given = part
    try:
        return part, _timed(compute, given)
    except Exception:  # noqa: BLE001 - whoever asks for the part gets it again
        return part, None
