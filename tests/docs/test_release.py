"""What is published: extras that are tried, and a long description that stands alone."""

import re
import sys
import tomllib
from pathlib import Path

import pytest

import streamsieve
from tools.release.__main__ import TRIALS, _missing, _run, disagreements

ROOT = Path(__file__).parents[2]
#: Extras for those who work on the library itself.
OWN = {"all", "bench", "dev", "docs", "judges"}


PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = {name: wanted for name, wanted in PROJECT["optional-dependencies"].items() if name not in OWN}


def brought(requirements):
    """Return the names of distributions, and of extras that an extra is made of."""
    for requirement in requirements:
        name, extras = re.match(r"([\w-]+)(?:\[([\w,]+)\])?", requirement).groups()
        yield from [f"[{extra}]" for extra in extras.split(",")] if name == "streamsieve" else [name]


def test_every_extra_is_tried_by_the_release_check():
    assert {trial.extra for trial in TRIALS.values()} == {"", "all", *EXTRAS}
    assert [name for name, trial in TRIALS.items() if trial.lowest] == ["lowest"]
    assert [name for name, trial in TRIALS.items() if trial.sdist] == ["sdist"]


def test_programs_see_what_is_installed_and_not_the_source(monkeypatch, capfd):
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "tools"))
    _run(sys.executable, "-c", "import sys; print(sys.path)")
    assert str(ROOT / "tools") not in capfd.readouterr().out


def test_the_table_of_extras_says_what_each_brings():
    page = (ROOT / "docs" / "start" / "installation.md").read_text()
    rows = dict(re.findall(r"^\| `\[(\w+)\]` \| ([^|]+) \|", page, re.MULTILINE))
    assert set(rows) == {"all", *EXTRAS}
    for extra, wanted in EXTRAS.items():
        for name in brought(wanted):
            assert re.search(rf"(?<!\w){re.escape(name)}(?![\w-])", rows[extra], re.IGNORECASE), (extra, name)


def test_all_is_every_extra_of_a_user():
    everything = {name.strip("[]") for name in brought(PROJECT["optional-dependencies"]["all"])}
    parts = {name.strip("[]") for extra in everything for name in brought(EXTRAS[extra])}
    assert set(EXTRAS) <= everything | parts


def test_versions_of_python_are_the_same_everywhere():
    kind = "Programming Language :: Python :: "
    versions = [each.removeprefix(kind) for each in PROJECT["classifiers"] if each.startswith(kind)]
    workflow = (ROOT / ".github" / "workflows" / "test.yml").read_text()
    assert re.search(r"python: \[(.*)\]", workflow)[1] == ", ".join(f'"{each}"' for each in versions)
    newest_first = " ".join(f"python{each}" for each in reversed(versions))
    assert f"for p in {newest_first} python3 python;" in (ROOT / "Makefile").read_text()
    page = (ROOT / "docs" / "start" / "installation.md").read_text()
    assert f"wheels for Python {versions[0]} to {versions[-1]}" in page
    assert PROJECT["requires-python"] == f">={versions[0]}"


def test_the_long_description_has_no_relative_link():
    pytest.importorskip("hatchling")
    from tools.release.metadata import described

    text = described((ROOT / "README.md").read_text())
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert [link for link in links if "://" not in link] == []
    assert text.count("```python") == 3
    assert "Checkpoints and Kafka" in text
    assert "drift.png" not in text
    assert described("[a](b.md), [c](https://d.org/e)") == "a, [c](https://d.org/e)"


def test_a_workflow_knows_the_addresses_of_its_repository():
    pytest.importorskip("hatchling")
    from tools.release.metadata import addresses

    known = addresses({"GITHUB_SERVER_URL": "https://github.com", "GITHUB_REPOSITORY": "someone/streamsieve"})
    assert known["Source"] == "https://github.com/someone/streamsieve"
    assert known["Documentation"] == "https://someone.github.io/streamsieve/"
    assert set(known) == {"Documentation", "Source", "Issues", "Changelog"}
    assert addresses({}) == {}


def test_a_file_that_an_sdist_lacks_is_found():
    members = ["streamsieve-0.1.0/conftest.py", "streamsieve-0.1.0/tests/README.md", "streamsieve/py.typed"]
    wanted = ["conftest.py", "tests/README.md", "README.md", "streamsieve/py.typed"]
    assert _missing(members, wanted) == ["README.md"]


def test_a_tag_agrees_with_version_changelog_and_citation(tmp_path):
    for name in ("src/streamsieve/_version.py", "CITATION.cff"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text((ROOT / name).read_text())
    (tmp_path / "changelog.d").mkdir()
    fragment = tmp_path / "changelog.d" / "new.added.md"
    fragment.write_text("Something new.\n")
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n")
    tag = f"v{streamsieve.__version__}"
    found = disagreements(tag, tmp_path)
    assert [line.split()[0] for line in found] == ["CHANGELOG.md", "changelog.d"]
    (tmp_path / "CHANGELOG.md").write_text(f"# Changelog\n\n## {streamsieve.__version__} (2026-11-18)\n")
    fragment.unlink()
    assert disagreements(tag, tmp_path) == []
    assert [line.split()[0] for line in disagreements("v9.9.9", tmp_path)] == [
        "the",
        "CHANGELOG.md",
        "CITATION.cff",
    ]


@pytest.mark.parametrize("name", ["Dockerfile", ".devcontainer/devcontainer.json"])
def test_containers_build_goals_that_exist_and_run_the_demo(name):
    goals = re.findall(r'make(?:", "| )([\w./-]+)', (ROOT / name).read_text())
    extras = {goal.removeprefix(".venv/with-") for goal in goals} - {"demo"}
    assert "demo" in goals
    assert extras
    assert extras <= set(PROJECT["optional-dependencies"])
