"""What is published: extras that are tried, and a long description that stands alone."""

import re
import tomllib
from pathlib import Path

import pytest

from tools.release.__main__ import USES

ROOT = Path(__file__).parents[2]
#: Extras for those who work on the library itself.
OWN = {"all", "bench", "dev", "docs", "judges"}


def test_every_extra_is_tried_by_the_release_check():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert set(project["optional-dependencies"]) - OWN == set(USES) - {""}


def test_the_long_description_has_no_relative_link():
    pytest.importorskip("hatchling")
    from tools.release.readme import described

    text = described((ROOT / "README.md").read_text())
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert [link for link in links if "://" not in link] == []
    assert text.count("```python") == 3
    assert "Checkpoints and Kafka" in text
    assert "drift.png" not in text
    assert described("[a](b.md), [c](https://d.org/e)") == "a, [c](https://d.org/e)"
