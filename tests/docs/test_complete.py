"""Nothing public is without words, newcomers' questions have answers, figures in prose stand in a file."""

import importlib
import inspect
import json
import pkgutil
import re
import sys
from pathlib import Path

import pytest

import streamsieve as ss
from streamsieve import registry
from streamsieve.protocols import Event, Reason
from tests.docs.checks import without_card, without_docstring

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
#: What newcomers ask, the page on which they would look, and words of the answer.
QUESTIONS = {
    "Which method for 50,000 genes and 80 patients?": ("faq", "ss.OnlineFDR(alpha=0.05)"),
    "How do I resume after a crash?": ("guides/checkpoints_and_kafka", "with `resume=True` goes on"),
    "What does 'redundant given' mean?": ("guides/the_ledger", "not any more once a and b are known"),
    "How do I read a semicolon CSV or a workbook?": ("guides/files_and_formats", "comma are detected"),
    "My columns have missing values.": ("guides/missing_values", 'missing="omit"'),
    "My rows are a time series.": ("guides/dependent_rows", "`begin(y, serial=True)`"),
    "How do I put it into a grid search?": ("guides/pipelines_and_grid_search", "GridSearchCV"),
    "Which false discovery rate do I get?": ("guides/false_discovery_control", "is at most `alpha` however"),
    "How do I use all cores, or a cluster?": ("guides/merging", 'engine="dask"'),
    "How do I follow drift?": ("guides/drift", "half_life"),
    "What do I install for Parquet, Kafka, Dask?": ("start/installation", "| `[parquet]` | pyarrow |"),
    "Can I trust a state file from a stranger?": ("guides/reliability_and_security", "data, never code"),
}


@pytest.fixture(autouse=True)
def _site_on_the_path(monkeypatch):
    pytest.importorskip("sphinx")
    monkeypatch.setattr(sys, "path", [str(DOCS), *sys.path])


def test_every_public_name_and_method_has_a_docstring():
    from _site import api

    for module in (*api.MODULES, *api.CARDED):
        found = importlib.import_module(f"streamsieve.{module}")
        assert without_docstring(found, api.names_of(module)) == [], module


def test_what_is_returned_has_a_type_and_a_description_below():
    for path in sorted((DOCS.parent / "src").rglob("*.py")):
        for text in re.findall(r"(?ms)^ *Returns\n *-------\n(.*?)(?:\n\n|\"\"\")", path.read_text()):
            indents = [len(line) - len(line.lstrip()) for line in text.rstrip().splitlines()]
            assert indents.count(indents[0]) == 1, (path.name, text)


def test_the_reference_has_every_public_name_of_every_module_and_no_private_one():
    from _site import api

    modules = {found.name for found in pkgutil.iter_modules(ss.__path__) if not found.name.startswith("_")}
    assert modules == {*api.MODULES, *api.CARDED, "cli"}  # the command line has a page of its own
    for module in api.MODULES:
        found = importlib.import_module(f"streamsieve.{module}")
        homes = {name: getattr(getattr(found, name), "__module__", None) or "" for name in dir(found)}
        own = {name for name, home in homes.items() if f"{home}.".startswith(f"{found.__name__}.")}
        listed = set(api.names_of(module))
        assert {name for name in own if not name.startswith("_")} <= listed <= set(dir(found)), module
        assert [name for name in listed if name.startswith("_")] == []


def test_every_method_has_a_card_and_a_line_in_the_bibliography():
    from _site import bibliography, cards

    from streamsieve import registry

    carded = [cls for _, _, cls in cards.card_names()]
    methods = {*registry.selectors().values(), *registry.learners(), *registry.criteria().values()}
    assert without_card(methods, carded) == []
    assert set(carded) == methods
    for cls in carded:
        assert len(bibliography.papers(cls)) > 10, (
            f"the docstring of {cls.__name__} needs a section References"
        )


def test_every_error_has_a_cause_and_a_way_out():
    from _site import errors

    page = errors.pages()["reference/errors.md"]
    rows = [line for line in page.splitlines() if line.startswith("| ") and not line.startswith("| what was")]
    assert len(rows) > 900
    assert [row for row in rows if len(re.split(r"(?<!\\)\|", row)) != 5 or "|  |" in row] == []
    assert set(errors.documented()) <= set(errors.WAYS_OUT)


def test_messages_are_read_off_raises_makers_lists_and_warnings(tmp_path):
    from _site.messages import messages

    (tmp_path / "part.py").write_text(
        """
def differs(what):
    return SourceError(f"another stream: {what}; start again")

def check(names, kind):
    found = []
    if names:
        found.append(f"columns {names} hold text, not numbers")
    if kind == "a":
        raise differs("its columns have changed since then")
    text = f"dates were read as {kind}"
    warnings.warn(text, DateWarning)
    raise InputError("; ".join(found))
"""
    )
    assert messages(tmp_path)[tmp_path / "part.py"] == {
        ("another stream: ...; start again", "SourceError"),
        ("another stream: its columns have changed since then; start again", "SourceError"),
        ("columns ... hold text, not numbers", "InputError"),
        ("dates were read as ...", "DateWarning"),
    }


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_of_a_newcomer_has_its_answer(question):
    page, words = QUESTIONS[question]
    assert words in (DOCS / f"{page}.md").read_text()
    index = (DOCS / Path(page).parent / "index.md").read_text()
    name = Path(page).name
    assert f"({name}.md)" in index or f":link: {name}\n" in index or page == "faq"


def test_every_guide_is_in_the_table_and_in_the_navigation():
    index = (DOCS / "guides" / "index.md").read_text()
    for page in (DOCS / "guides").glob("*.md"):
        assert page.name == "index.md" or f"({page.name})" in index, page.name
        assert page.name == "index.md" or f"\n{page.stem}\n" in index, page.name


def test_the_guide_to_the_ledger_explains_every_event_and_reason():
    guide = (DOCS / "guides" / "the_ledger.md").read_text()
    for word in (*Event, *Reason):
        assert re.search(rf"^\|.*\b{word}\b.*\|.*\|$", guide, re.MULTILINE), word


@pytest.mark.parametrize("name", sorted(registry.selectors()))
def test_a_selector_with_a_significance_level_says_that_rows_must_be_independent(name):
    selector = registry.selector(name)
    if not {"alpha", "fdr", "correction", "payout"} & {*inspect.signature(selector).parameters}:
        pytest.skip("no significance level")
    text = " ".join(selector.__doc__.split())
    promises_nothing = "no false discovery rate is bounded" in text
    assert promises_nothing or re.search(
        r"rows (must be|are) independent|independent rows", text, re.IGNORECASE
    )


def test_simulated_rates_in_prose_are_those_of_the_study():
    written = (DOCS / "evidence" / "online_rules.md").read_text()
    rows = re.findall(
        r'^\| `"\w+"`.*\|$', (DOCS / "guides" / "false_discovery_control.md").read_text(), re.MULTILINE
    )
    simulated = [row for row in rows if row.count("/") > 5]
    assert len(simulated) == 9
    assert [row for row in simulated if row not in written] == []


def test_speed_in_the_readme_is_that_of_the_benchmarks():
    readme = " ".join((ROOT / "README.md").read_text().split())
    suites = json.loads((ROOT / "benchmarks" / "results.json").read_text()).values()
    cases = {row["case"]: row for suite in suites for row in suite["results"]}
    million = [row["ours_seconds"] for case, row in cases.items() if "SAOLA" in case and "1,000,000" in case]
    assert "a million sparse columns are judged in a twentieth of a second" in readme
    assert million
    assert min(million) <= 0.06
