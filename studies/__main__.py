"""Command line: ``python -m studies [STUDY ...] [--fresh] [--quick] [--out FOLDER]``."""

from __future__ import annotations

import argparse
import importlib
import sys
import tempfile
from pathlib import Path

from rich.console import Console

from studies import _overview
from studies._desk import HERE, Desk

STUDIES = (
    "drift",
    "screening",
    "learning",
    "screens_and_learners",
    "adaptation",
    "monitors",
    "ofs",
    "saola",
    "osfs",
    "order",
    "arrival",
    "ranking",
    "markov_blankets",
    "discovery",
    "dofs",
    "recovery",
    "interactions",
    "networks",
    "conditioning",
    "defaults",
)


def main(arguments: list[str] | None = None) -> int:
    """Run the studies asked for and write their pages, and the overview of all."""
    options = _options(arguments)
    console = Console(highlight=False, soft_wrap=True)

    def say(text: str) -> None:
        console.print(text, markup=False)

    folder = options.out or (Path(tempfile.mkdtemp(prefix="studies-")) if options.quick else HERE)
    for name in options.study or STUDIES:
        desk = Desk(name, folder, options.quick, options.fresh, say)
        page = importlib.import_module(f"studies.{name}").run(desk)
        say(f"{name}: nothing to write" if page is None else f"{name}: wrote {desk.write(page)}")
    (folder / _overview.PAGE).write_text(_overview.overview(folder), "utf-8")
    if not options.study:
        say(f"wrote {folder / _overview.PAGE}")
    return 0


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m studies", description=__doc__)
    parser.add_argument("study", nargs="*", help=f"which: {', '.join(STUDIES)}; all if none is named")
    parser.add_argument("--fresh", action="store_true", help="compute everything again")
    parser.add_argument(
        "--quick", action="store_true", help="tiny sizes: does it run? writes into a temporary folder"
    )
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="write there instead of studies/")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.study if name not in STUDIES]
    if unknown:
        parser.error(f"there is no study {unknown[0]!r}; there is {', '.join(STUDIES)}")
    return options


if __name__ == "__main__":
    sys.exit(main())
