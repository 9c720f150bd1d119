"""Build and time the benchmarks of the tree on ``PYTHONPATH``: a JSON command a line, a JSON answer a line.

``speed`` starts one for each tree, by its path, so that the old tree needs none.  Peers are not run.
"""

from __future__ import annotations

import functools
import gc
import inspect
import json
import os
import sys
import time
from typing import Any

from benchmarks._cases import Case, Race, Size, SkipCase, cases_of, suite_names

#: The p-values of the papers, by test or measure, for ``"papers"``.
PAPERS = {"fisher_z": "z", "g2": "chi2", "chi2": "chi2"}


class Timer:
    """Answers commands; one case is built at a time."""

    def __init__(self, *, cpu: bool, quick: bool) -> None:
        self._size = Size(quick)
        self._clock = time.process_time if cpu else time.perf_counter
        self._cases: dict[str, Case] = {}
        self._race: Race | None = None
        #: How many selectors were made with p-values of the papers instead of their default.
        self._changed = 0
        bytearray(31 * 2**20)  # the C library keeps freed memory from now on: see benchmarks._measure

    def answer(self, command: str, *rest: str) -> Any:
        """Return the answer to a command."""
        answer: Any = getattr(self, f"_do_{command}")(*rest)
        return answer

    def _do_suites(self) -> list[str]:
        return suite_names()

    def _do_cases(self, suite: str) -> list[str]:
        self._cases = {case.name: case for case in cases_of(suite, self._size)}
        return list(self._cases)

    def _do_build(self, name: str) -> int:
        self._race = None  # the data of the last case, before those of this one
        self._changed = 0
        race = self._cases[name].build(self._size)
        if race.measured is None and race.warm_up:
            race.ours()
        self._race = race
        return self._changed

    def _do_run(self) -> float:
        race: Any = self._race
        if race.measured is not None:
            return float(race.measured()[0])
        gc.collect()
        start = self._clock()
        result = race.ours()
        spent = self._clock() - start
        # a case that has timed itself returns Seconds, which each tree has a class for
        timed_itself = type(result).__name__ == "Seconds" and self._clock is time.perf_counter
        return float(result) if timed_itself else spent

    def _do_papers(self) -> None:
        """Make selectors that are given no ``p_value`` take that of the papers from now on."""
        from streamsieve import registry  # noqa: PLC0415 - the old tree is never asked

        for cls in registry.selectors().values():
            made, signature = cls.__init__, inspect.signature(cls.__init__)
            if "p_value" in signature.parameters:
                setattr(cls, "__init__", self._with_papers(made, signature))  # noqa: B010 - mypy

    def _with_papers(self, made: Any, signature: inspect.Signature) -> Any:
        @functools.wraps(made)
        def init(selector: Any, *arguments: Any, **named: Any) -> None:
            given = signature.bind(selector, *arguments, **named)
            given.apply_defaults()
            test = given.arguments.get("test", given.arguments.get("measure"))
            if given.arguments["p_value"] == "auto" and test in PAPERS:
                named["p_value"] = PAPERS[test]
                self._changed += 1
            made(selector, *arguments, **named)

        return init


def main() -> None:
    """Answer until there are no more commands."""
    answers, sys.stdout = os.fdopen(os.dup(1), "w"), sys.stderr
    timer = Timer(cpu="--cpu" in sys.argv, quick="--quick" in sys.argv)
    for line in sys.stdin:
        try:
            answer = timer.answer(*json.loads(line))
        except SkipCase as reason:
            answer = {"not run": str(reason)}
        except Exception as error:  # noqa: BLE001 - the error is the answer
            answer = {"not run": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
