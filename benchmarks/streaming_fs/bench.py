"""Where a run happens: its size, the half it sees, its stored results, and what it says."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from benchmarks.streaming_fs.entries import ENTRIES, Entry
from benchmarks.streaming_fs.version import VERSION
from studies import Desk, MissingDataError
from studies.defaults.sets import halves

HALVES = ("all", "public", "held-back")


@dataclass
class Bench:
    """A run of the benchmark.

    Attributes
    ----------
    desk : stores results one by one, so that a run can be interrupted
    half : "all", "public" or "held-back": which cases are run
    half_seed : the seed that halves the cases of every part
    used : cases that were run, and cases that were held back, by part
    took : processor seconds by what is measured, whether computed now or stored before
    """

    desk: Desk
    half: str = "all"
    half_seed: int = 0
    used: dict[str, tuple[list[str], list[str]]] = field(default_factory=dict)
    took: dict[str, float] = field(default_factory=dict)

    @property
    def quick(self) -> bool:
        """Whether sizes are small."""
        return self.desk.quick

    def cases(self, part: str, names: Iterable[str]) -> list[str]:
        """Return the cases of a part that this run may see; the others are named on the page."""
        listed = tuple(names)
        public, back = halves(listed, self.half_seed)
        seen = {"all": listed, "public": public, "held-back": back}[self.half]
        self.used[part] = ([n for n in listed if n in seen], [n for n in listed if n not in seen])
        return self.used[part][0]

    def able(self, case: str, values: int, *, decides: bool = False, slow: bool = True) -> list[Entry]:
        """Return the entries that take a case; the others are skipped, aloud.

        Parameters
        ----------
        case : its name, for what is said
        values : rows times columns
        decides : only entries that decide themselves how many columns to keep
        slow : whether slow entries are run, unless all is to be quick
        """
        found = []
        for entry in ENTRIES.values():
            if decides and not entry.decides:
                continue
            if entry.slow and (self.quick or not slow):
                self.desk.skip(f"{entry.name}, {case}", "it takes seconds per fit")
            elif values > entry.most_values:
                self.desk.skip(f"{entry.name}, {case}", f"{values:,} values take it too long")
            else:
                found.append(entry)
        return found

    def measure(
        self, name: str, settings: Mapping[str, Any], compute: Callable[..., Any], *given: Any
    ) -> Any:
        """Return a stored or computed result; None, aloud, if it fails."""
        try:
            found = self.desk.part(name, {"version": VERSION, **settings}, compute, *given)
        except Exception as error:  # noqa: BLE001 - one entry that fails must not cost the others their run
            self.desk.skip(name, f"{type(error).__name__}: {' '.join(str(error).split())[:200]}")
            return None
        self.took[name] = self.desk.part.processor_seconds(name)
        return found

    def loaded(self, what: str, load: Callable[..., Any], *given: Any) -> Any:
        """Return data; None, aloud, if they are not there."""
        try:
            return load(*given)
        except MissingDataError as error:
            self.desk.skip(what, str(error))
            return None
