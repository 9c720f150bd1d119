"""The site, built once for the tests that look at it."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BESIDE = (
    "src", "studies", "benchmarks", "examples", "README.md", "CONTRIBUTING.md", "SECURITY.md", "CITATION.cff",
)  # fmt: skip


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """Return the site, built from a copy of the pages, without running the gallery."""
    pytest.importorskip("sphinx")
    folder = tmp_path_factory.mktemp("site")
    generated = shutil.ignore_patterns("_build", "_chart", "methods", "api", "gallery")
    shutil.copytree(ROOT / "docs", folder / "docs", ignore=generated)
    for name in BESIDE:
        (folder / name).symlink_to(ROOT / name)
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-D", "plot_gallery=0"]
    done = subprocess.run(
        [*command, "-b", "html", str(folder / "docs"), str(folder / "html")],
        capture_output=True, text=True, check=False, timeout=900,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-4000:]
    return folder / "html"
