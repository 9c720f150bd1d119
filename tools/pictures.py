"""Pictures of the faces of the library for the docs: ``python -m tools.pictures`` (make docs-images).

The terminal is an SVG of what a command prints, and drift is drawn by the demonstration; the notebook and the
report of a comparison are photographed by headless Chromium.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from html import escape
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer

import streamsieve as ss

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
COMMAND = ("select", "patients.csv", "--target", "outcome", "--explain", "mean texture")
#: Size of a character and height of a line in the picture of a terminal, in pixels.
CHARACTER, LINE, MARGIN = 8.45, 20, 16
#: Sizes of the pictures of a notebook and of a report, in pixels.
NOTEBOOK, REPORT = (760, 490), (1180, 1180)
CELL = """<!doctype html><meta charset="utf-8"><style>
body {{ margin: 16px; font: 14px/1.45 system-ui, sans-serif; background: #fff; color: #1f2328 }}
.in {{ font: 13px/1.5 monospace; background: #f6f8fa; padding: 8px 12px; white-space: pre;
  border: 1px solid #d0d7de }}
.out {{ padding: 12px 2px }}
</style><div class="in">{code}</div><div class="out">{output}</div>"""
CODE = """data = load_breast_cancer(as_frame=True)
ss.FastOSFS().fit(data.data, data.target)"""


def terminal() -> str:
    """Return what a command prints, as an SVG in the colors of a terminal."""
    with tempfile.TemporaryDirectory() as folder:
        data = load_breast_cancer()
        names = ",".join([*data.feature_names, "outcome"])
        table = np.c_[data.data, data.target]
        np.savetxt(Path(folder) / "patients.csv", table, delimiter=",", header=names, comments="", fmt="%g")
        run(*COMMAND, folder=folder)  # the first run may compile kernels, and says so
        printed = run(*COMMAND, folder=folder)
    shown = " ".join(f'"{word}"' if " " in word else word for word in COMMAND)
    lines = [f"$ streamsieve {shown}", *printed.rstrip().splitlines()]
    width = round(max(map(len, lines)) * CHARACTER) + 2 * MARGIN
    height = len(lines) * LINE + 2 * MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img">',
        f"<title>{escape(lines[0])}</title>",
        '<rect width="100%" height="100%" rx="8" fill="#1e2228"/>',
        '<g font-family="monospace" font-size="14" fill="#e6e6e6" style="white-space: pre">',
    ]
    for number, line in enumerate(lines):
        color = ' fill="#6cc3e8"' if number == 0 else ""
        y = MARGIN + number * LINE + 14
        parts.append(f'<text x="{MARGIN}" y="{y}"{color}>{escape(line)}</text>')
    return "\n".join([*parts, "</g>", "</svg>", ""])


def notebook(browser: str, path: Path) -> None:
    """Photograph a cell that ends with a fitted selector."""
    data = load_breast_cancer(as_frame=True)
    output = ss.FastOSFS().fit(data.data, data.target)._repr_html_()
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "cell.html"
        page.write_text(CELL.format(code=escape(CODE), output=output))
        photograph(browser, page, path, NOTEBOOK)


def report(browser: str, path: Path) -> None:
    """Photograph the top of the report of a comparison."""
    with tempfile.TemporaryDirectory() as folder:
        run("compare", "breast_cancer", "--out", "report", folder=folder)
        photograph(browser, Path(folder) / "report" / "report.html", path, REPORT)


def drift(path: Path) -> None:
    """Take the picture of the demonstration."""
    with tempfile.TemporaryDirectory() as folder:
        run("demo", "--out", "demo", folder=folder)
        shutil.copyfile(Path(folder) / "demo" / "drift.png", path)


def run(*arguments: str, folder: str) -> str:
    """Run the command in a folder and return what it prints."""
    quiet = {**os.environ, "NO_COLOR": "1", "COLUMNS": "100"}
    done = subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-m", "streamsieve", *arguments],
        cwd=folder, capture_output=True, text=True, check=True, env=quiet,
    )  # fmt: skip
    return done.stdout


def photograph(browser: str, page: Path, path: Path, size: tuple[int, int]) -> None:
    """Photograph the top of a page."""
    width, height = size
    with tempfile.TemporaryDirectory() as folder:
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        flags += [f"--user-data-dir={folder}"]
        subprocess.run(  # noqa: S603 - the browser that was found
            [browser, *flags, f"--window-size={width},{height}", f"--screenshot={path}", page.as_uri()],
            check=True, capture_output=True, timeout=120,
        )  # fmt: skip


def main() -> int:
    """Write all pictures."""
    (IMAGES / "terminal.svg").write_text(terminal())
    drift(IMAGES / "drift.png")
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        sys.stderr.write(f"none of {', '.join(BROWSERS)} is on the path: no page was photographed\n")
        return 1
    notebook(browser, IMAGES / "notebook.png")
    report(browser, IMAGES / "report.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
