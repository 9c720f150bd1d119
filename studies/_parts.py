"""The parts of a study, stored one by one, so that a study can be interrupted and goes on."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from streamsieve.state import replacing


class Parts:
    """Results by name, in a JSON file that is complete after every part.

    A stored result counts as long as its settings are the same; ``fresh`` forgets them all.

    Parameters
    ----------
    path : the file
    fresh : compute everything anew
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
        wanted = json.loads(json.dumps(settings))  # as it comes back from the file: tuples are lists there
        stored = self._stored.get(name)
        if stored is None or stored["settings"] != wanted:
            started = time.perf_counter()
            result = json.loads(json.dumps(compute(*given)))
            seconds = time.perf_counter() - started
            self._stored[name] = {"settings": wanted, "seconds": round(seconds, 3), "result": result}
            self._write()
            self.say(f"{name}: {seconds:.1f} s")
        return self.result(name)

    def result(self, name: str) -> Any:
        """Return the result of a part that is there."""
        return self._stored[name]["result"]

    def _write(self) -> None:
        with replacing(self.path) as file:
            file.write(json.dumps(self._stored, indent=1, sort_keys=True) + "\n")
