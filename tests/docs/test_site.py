"""The site builds without a warning, offers every public name, and loads nothing from a network."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import streamsieve as ss
from streamsieve import registry

pytest.importorskip("sphinx")
ROOT = Path(__file__).parents[2]
BESIDE = ("src", "studies", "benchmarks", "examples", "README.md", "CONTRIBUTING.md", "SECURITY.md")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Return the site, built from a copy of the pages, without running the gallery."""
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


@pytest.mark.full
def test_every_method_has_a_card(site):
    cards = {page.stem for page in (site / "methods").glob("*.html")}
    assert set(registry.selectors()) <= cards
    assert {f"criterion_{name}" for name in registry.criteria()} <= cards


@pytest.mark.full
def test_every_public_name_is_in_the_reference(site):
    page = (site / "reference" / "api" / "index.html").read_text()
    for name in dir(ss):
        if not name.startswith("_") and not isinstance(getattr(ss, name), type(ss)):
            assert f"ss.{name}<" in page, name


@pytest.mark.full
def test_pages_load_nothing_from_a_network(site):
    for page in site.rglob("*.html"):
        loaded = re.findall(
            r"<(?:script|img|link rel=\"stylesheet\")[^>]*(?:src|href)=\"(https?:[^\"]+)", page.read_text()
        )
        assert not loaded, (page.name, loaded)
