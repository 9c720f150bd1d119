"""What the examples of a page print, written below them: ``python -m tools.outputs PAGE ...``.

Each Python block of a page that prints something is followed by a block of text with what it printed. The
tests run the blocks and compare (``tests/docs/test_readme.py``).
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

#: A Python block, and the text below it that says what it prints.
EXAMPLE = re.compile(r"```python\n(?P<code>.*?)```\n(?:\n?```text\n(?P<text>.*?)```\n)?", re.DOTALL)


def printed_by(code: str, name: str, scope: dict[str, Any]) -> str:
    """Run a block in the scope of those above it, and return what it prints."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(code, name, "exec"), scope)  # noqa: S102 - our own pages
    return "\n".join(line.rstrip() for line in printed.getvalue().splitlines()) + "\n"


def written(page: str, name: str) -> str:
    """Return a page with what its blocks print below them; a block that prints nothing has no text."""
    scope: dict[str, Any] = {}

    def example(match: re.Match[str]) -> str:
        shown = printed_by(match["code"], name, scope)
        block = f"```python\n{match['code']}```\n"
        return block + (f"\n```text\n{shown}```\n" if shown.strip() else "")

    return EXAMPLE.sub(example, page)


def main() -> int:
    """Run the pages named, each in an empty folder, and write them again."""
    for page in [Path(name).resolve() for name in sys.argv[1:]]:
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            page.write_text(written(page.read_text(), page.name))
        sys.stdout.write(f"{os.path.relpath(page)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
