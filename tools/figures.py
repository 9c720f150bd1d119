"""Figures in prose that no file holds: ``python -m tools.figures [PAGE ...]``.

A figure is a number with a unit or with decimals.  It must stand, up to rounding, in a page of results that
the same paragraph links to, or the paragraph must name the command that prints it.  A paragraph without links
to results and without commands takes those of its section.  Settings and limits of the code stand in
backticks (`alpha = 0.05`, `64 KiB`) and are not figures.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
#: Pages beside others that the site writes.
PAGES = (
    "README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/contributing/index.md",
    "docs/contributing/measuring.md", "docs/reference/index.md", "docs/reference/state_files.md",
)  # fmt: skip
#: Folders whose pages are all written; results are elsewhere.
FOLDERS = ("docs", "docs/start", "docs/guides", "docs/extend")
#: Where results are written by commands.
RESULTS = ("studies/", "benchmarks/", "docs/evidence/")
UNITS = "%|x|points|times|AUC|ns|ms|s|min|seconds|minutes|kB|KiB|MB|GB|(?:million|billion) (?:values|rows)"
NUMBER = r"\d[\d,]*(?:\.\d+)?|\.\d+"
FIGURE = re.compile(rf"(?<![\w.,-])({NUMBER})(?:(\s?)({UNITS})(?!\w))?")
CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"`(?:python -m|make|streamsieve|--part)\b[^`]*`")
LINK = re.compile(r"\]\(([^)#]+\.md)[^)]*\)")


class Unheld(NamedTuple):
    """A figure that neither a linked page of results nor a command accounts for."""

    figure: str
    paragraph: str


def unheld(page: Path) -> list[Unheld]:
    """Return the figures of a page that nothing accounts for."""
    text = CODE.sub("", page.read_text(encoding="utf-8"))
    found = []
    for section in re.split(r"^#+ .*$", text, flags=re.MULTILINE):
        for paragraph in re.split(r"\n\s*\n|\n(?=- )", section):
            accounts = paragraph if _accounted(paragraph, page) else section
            if COMMAND.search(accounts):
                continue
            held = [number for path in _results(accounts, page) for number in _numbers(path)]
            found += [
                Unheld(figure, " ".join(paragraph.split()))
                for figure in _figures(paragraph)
                if not _is_held(figure, held)
            ]
    return found


def _accounted(text: str, page: Path) -> bool:
    return bool(COMMAND.search(text) or _results(text, page))


def _results(text: str, page: Path) -> list[Path]:
    """Return the pages of results to which a text links."""
    linked = [(page.parent / target).resolve() for target in LINK.findall(text)]
    # the site shows the benchmarks in another place
    linked = [ROOT / "benchmarks" / "RESULTS.md" if path.name == "benchmarks.md" else path for path in linked]
    return [path for path in linked if path.is_relative_to(ROOT) and path.exists()
            and path.relative_to(ROOT).as_posix().startswith(RESULTS)]  # fmt: skip


def _figures(paragraph: str) -> list[str]:
    """Return the figures of a paragraph: numbers with a unit or decimals, outside code and links."""
    prose = re.sub(r"`[^`]*`|\]\([^)]*\)|<[^>]*>|Python [\d.]+(?: to [\d.]+)?|arXiv [\d.]+", " ", paragraph)
    found = FIGURE.finditer(prose)
    return [match[0] for match in found if match[3] or "." in match[1]]


def _numbers(path: Path) -> list[float]:
    text = path.read_text(encoding="utf-8")
    return [float(number.replace(",", "")) for number in re.findall(rf"(?<![\w.])(?:{NUMBER})", text)]


def _is_held(figure: str, held: list[float]) -> bool:
    """Return whether a figure is a rounded number of a page, or 100 times one."""
    match = FIGURE.match(figure)
    number = match[1].replace(",", "") if match else figure
    value, half = float(number), 0.5001 * 10.0 ** -len(number.partition(".")[2])
    scales = (1.0, 100.0) if match and match[3] in ("%", "points") else (1.0,)
    return any(abs(scale * each - value) <= half for each in held for scale in scales)


def pages() -> list[str]:
    """Return the pages that are looked at: all that are written by hand."""
    written = [f"{folder}/{path.name}" for folder in FOLDERS for path in sorted((ROOT / folder).glob("*.md"))]
    return [*PAGES, *written]


def main(names: list[str]) -> int:
    """Print what nothing accounts for; return 1 if there is any."""
    wrong = [(name, found) for name in names or pages() for found in unheld(ROOT / name)]
    for name, found in wrong:
        sys.stdout.write(f"{name}: {found.figure!r} in: {found.paragraph[:160]}\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
