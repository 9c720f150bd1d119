"""Print the shape of a source tree; see ``tools.shape`` for what each figure means."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tools.shape.figures import Figure, figures
from tools.shape.tree import ROOT, Tree
from tools.shape.walk import walks


def table(rows: list[Figure]) -> str:
    """Return the figures as a table."""
    lines = [f"{'figure':<46} {'goal':>10} {'now':>8}      note", "-" * 100]
    for row in rows:
        goal = "-" if row.goal is None else "0" if row.goal == 0 else f"<= {row.goal:,}"
        mark = "" if row.goal is None else "ok" if row.met else "--"
        kind = f" [{row.kind}]" if row.kind else ""
        now = "failed" if row.now is None else f"{row.now:,}"
        lines.append(f"{row.what:<46} {goal:>10} {now:>8} {mark:<3}  {row.note}{kind}".rstrip())
    return "\n".join(lines)


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m tools.shape", description=__doc__)
    parser.add_argument("src", nargs="?", type=Path, default=ROOT / "src", help="a src folder")
    parser.add_argument("--trace", action="store_true", help="also run the package and count files")
    parser.add_argument("--list", metavar="KIND", help="list what makes up a figure: a [kind] of the table")
    options = parser.parse_args()
    tree = Tree(options.src.resolve())
    if not tree.modules:
        parser.error(f"{options.src} holds no package")
    rows = [*figures(tree), *(walks(tree) if options.trace else ())]
    if options.list:
        chosen = [row for row in rows if row.kind == options.list]
        if not chosen:
            parser.error(f"no list {options.list!r}: {', '.join(row.kind for row in rows if row.kind)}")
        text = "\n".join(item for row in chosen for item in row.items)
    else:
        text = table(rows)
    sys.stdout.write(text + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
