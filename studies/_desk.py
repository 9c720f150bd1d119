"""Where a study is written: its folder, its size, its stored parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from streamsieve.evaluation import plots
from studies._parts import Part, Parts

HERE = Path(__file__).resolve().parent


@dataclass
class Desk:
    """What a study needs to know about its surroundings.

    Attributes
    ----------
    study : its name
    folder : where Markdown, images and stored results go
    quick : tiny sizes, to see that it runs
    fresh : compute everything again
    say : prints a line
    """

    study: str
    folder: Path = HERE
    quick: bool = False
    fresh: bool = False
    say: Callable[[str], None] = field(default=lambda _: None, repr=False)
    missing: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        (self.folder / "images").mkdir(parents=True, exist_ok=True)
        (self.folder / "results").mkdir(parents=True, exist_ok=True)
        stored = self.folder / "results" / f"{self.study}.json"
        self.part = Parts(stored, fresh=self.fresh, say=lambda text: self.say(f"{self.study}: {text}"))

    def ahead(self, *parts: Part) -> None:
        """Compute missing parts together, unless they are tiny; none of them may measure time."""
        if not self.quick:
            self.part.ahead(parts)

    def together(self, parts: Sequence[Part]) -> list[Any]:
        """Return the results of several parts, computed together."""
        self.ahead(*parts)
        return [self.part(*part) for part in parts]

    def skip(self, what: str, why: str) -> None:
        """Note, aloud and in the report, what could not be done."""
        self.missing.append(f"{what}: {why}")
        self.say(f"{self.study}: SKIPPED {what}: {why}")

    def picture(self, name: str, figure: Any, caption: str) -> str:
        """Write a picture and return the Markdown that shows it."""
        plots.save(figure, self.folder / "images" / f"{name}.png", overwrite=True)
        return f"![{caption}](images/{name}.png)\n\n*{caption}*\n"

    def write(self, markdown: str) -> Path:
        """Write the study's page."""
        path = self.folder / f"{self.study.upper()}.md"
        path.write_text(markdown, "utf-8")
        return path
