"""What the README and the docs say is what the code does."""

import re
from pathlib import Path

import pytest

from streamsieve.cli import methods

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
README = (ROOT / "README.md").read_text()


def test_the_table_of_methods_is_the_registry():
    page = (ROOT / "docs" / "methods.md").read_text()
    written = page.split("-->\n", 1)[1].split("\n<!-- end of methods", 1)[0]
    assert written == methods.markdown(), (
        "run: streamsieve methods --markdown, and put it into docs/methods.md"
    )


def test_methods_named_in_the_readme_are_the_registry():
    section = README.split("## Methods\n", 1)[1].split("\n## ", 1)[0]
    for row in methods.rows():
        assert f"`{row['class']}`" in section, f"{row['class']} is missing under Methods"


def test_criteria_named_are_the_registry():
    from streamsieve import registry

    line = next(line for line in README.splitlines() if line.startswith("Criteria of `Screen`"))
    assert set(re.findall(r"`(\w+)`", line)) == {"Screen", *registry.criteria()}


@pytest.mark.parametrize("number", range(2))
def test_examples_print_what_their_comments_claim(number, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    code = re.findall(r"```python\n(.*?)```", README, re.DOTALL)[number]
    exec(compile(code, f"README example {number}", "exec"), {})  # noqa: S102 - our own text
    out = capsys.readouterr().out
    assert out
    for comment in re.findall(r"# (\['.*?'\])", code):
        assert comment in out


@pytest.mark.parametrize(
    "name",
    [
        "baselines_and_learners",
        "comparing",
        "false_discoveries",
        "running_a_stream",
        "streams_of_columns",
        "streams_of_rows",
    ],
)
def test_the_examples_of_a_page_run(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / f"{name}.md").read_text()
    scope = {}
    for code in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(compile(code, name, "exec"), scope)  # noqa: S102
        assert capsys.readouterr().out


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_goals_named_exist():
    makefile = (ROOT / "Makefile").read_text()
    for goal in re.findall(r"make ([a-z-]+)", README + (ROOT / "CONTRIBUTING.md").read_text()):
        assert f"\n{goal}:" in makefile, goal


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_paths_named_in_docs_exist(page):
    for path in re.findall(r"`((?:src|tests|docs|benchmarks)/[\w./]+)`", page.read_text()):
        assert (ROOT / path).exists(), f"{page.name} speaks of {path}"
