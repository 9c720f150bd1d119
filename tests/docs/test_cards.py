"""Every method has what its card draws on: formula, limits, growth of cost, and a place in the index."""

import inspect
import json
import re
import sys
from pathlib import Path

import pytest

from streamsieve import registry
from streamsieve.independence.online_fdr import RULES

ROOT = Path(__file__).parents[2]
CARDED = [*registry.selectors().values(), *registry.learners(), *registry.criteria().values()]
MARKS = ("**Formula.**", "**When it fails.**")


@pytest.fixture(autouse=True)
def _site_on_the_path(monkeypatch):
    pytest.importorskip("sphinx")
    monkeypatch.setattr(sys, "path", [str(ROOT / "docs"), *sys.path])


def test_every_docstring_marks_formula_and_limits():
    from _site import docstrings

    for cls in CARDED:
        for mark in MARKS:
            assert len(docstrings.marked(cls, mark)) > 20, cls


def test_a_missing_formula_is_refused():
    from _site import docstrings

    class Bare:
        """Nothing to show."""

    with pytest.raises(ValueError, match=r"the docstring of Bare has no paragraph that begins with \*\*Form"):
        docstrings.marked(Bare, MARKS[0])


def test_a_formula_takes_its_block_and_its_where_along():
    from _site import docstrings

    text = docstrings.marked(registry.criteria()["ksg"], MARKS[0])
    assert "I = psi(N)" in text
    assert "where c, c_x and c_y count" in text
    assert "Ties" not in text


def test_a_card_shows_formula_and_limits_once():
    from _site import docstrings

    class Page:
        class env:  # noqa: N801 - Sphinx calls it so
            docname = "methods/any"

    for cls in CARDED:
        lines = docstrings.inspect.getdoc(cls).splitlines()
        docstrings._without_marked(Page, "class", cls.__name__, cls, None, lines)
        text = "\n".join(lines)
        assert not any(mark in text for mark in MARKS), cls
        assert not re.search(r"Notes\n-----\n+(\w+\n---|\Z)", text), cls


def test_a_description_beside_a_name_is_set_below_it():
    from _site import docstrings

    lines = [
        "Parameters", "---", "k : int, default=3", "    Number.", "names : one per column", "",
        "Returns", "---", "x : int",
    ]  # fmt: skip
    docstrings._described_below(lines)
    assert lines[4:6] == ["names", "    one per column"]
    assert lines[2] == "k : int, default=3"
    assert lines[-1] == "x : int"


def test_methods_are_listed_by_name_and_options_keep_their_hyphens():
    from _site import cards, commands

    for members in cards._families().values():
        titles = [cards._title(cls).lower() for cls in members.values()]
        assert titles == sorted(titles)
    assert "without `--scheduler`" in commands.pages()["reference/command_line.md"]


def test_every_method_has_slopes():
    from benchmarks import slopes

    written = json.loads(slopes.FILE.read_text())["methods"]
    names = {name for _, name, _ in slopes.methods()}
    missing = sorted(names - set(written))
    assert not missing, f"not measured: run python -m benchmarks.slopes --only {' '.join(missing)}"
    assert set(written) == names
    for figures in written.values():
        assert figures["seconds"] > 0
        assert set(figures["slopes"]["time"]) == set(figures["slopes"]["state"]) >= {"rows", "columns"}


def test_every_procedure_has_a_card():
    from _site import procedures

    cards = procedures.pages()
    assert set(cards) == {f"methods/fdr_{name}.md" for name in RULES}
    assert "| FDR (1) | mFDR (1) | nothing | nothing |" in cards["methods/fdr_addis.md"]
    assert "| FWER | FWER | FWER | FWER |" in cards["methods/fdr_alpha_spending.md"]
    for text in cards.values():
        assert text.count("informative |") >= 9


def test_a_card_has_all_its_parts():
    from _site import cards

    pages = {name: text for name, text in cards.pages().items() if not name.endswith("index.md")}
    assert len(pages) == len(CARDED) + len(RULES)
    for name, text in pages.items():
        simulated = name.startswith("methods/fdr_")
        parts = ("## Simulated", "## Paper", "```text\n[") if simulated else ("## Measured", "## Studied")
        for part in ("card-lead", "## Formula", "fails\n", "## How it streams", *parts):
            assert text.count(part) == 1, (name, part)
        assert simulated or "| time of a fit |" in text, name
    for cls in CARDED:
        headings = re.findall(r"^(\w+)\n-+$", inspect.getdoc(cls), re.MULTILINE)
        assert {"References", "Examples"} <= set(headings), cls


def test_a_criterion_has_its_own_rows_of_the_benchmarks():
    from _site import evidence

    rows = evidence.benchmarks(registry.criteria()["t"])
    assert "| Screen(criterion='t') |" in rows
    assert "output=" not in rows
    assert "No benchmark" in evidence.benchmarks(registry.criteria()["ksg"])


def test_steps_say_in_words_what_they_draw():
    from _site import steps

    assert len(steps.SHOWN) == 8
    drawn = steps.figure("fast_osfs")
    words = re.search(r"<desc[^>]*>(.*?)</desc>", drawn)[1]
    assert "3. dose arrives: kept; rough dose: evicted, redundant given dose. Kept: dose." in words
    assert drawn.count('class="step-head"') == 6
    assert steps.figure("mrmr") == ""


def test_rows_of_a_study_are_those_of_the_method():
    from _site import evidence

    names = {cls.__name__: evidence.first_cell(cls) for cls in CARDED}
    assert names["OSFS"].match("OSFS, paper's rule")
    assert not names["OSFS"].match("Fast-OSFS")
    assert names["FastOSFS"].match("Fast-OSFS + ADDIS")
    assert not names["Relief"].match("ReliefF")
    assert "| SAOLA |" in evidence.studies(registry.selector("saola"))
