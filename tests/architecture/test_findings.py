"""Every finding has tests that exist, and none is forgotten."""

import inspect
import re
from collections import Counter
from pathlib import Path

import pytest

import streamsieve as ss
from tests.architecture.findings import attacks, first_hour, judged, promises
from tests.cli.messy import CASES
from tests.helpers.listed import assert_exist

ROOT = Path(__file__).parents[2]

#: The tables, and how many findings of each letter they hold.
TABLES = {
    "attacks": (attacks.FINDINGS, {"H": 3, "M": 5, "L": 10, "S": 4, "R": 14}),
    "first_hour": (first_hour.DEFECTS, {"A": 6, "B": 14, "C": 13, "D": 6, "E": 1, "M": 13}),
    "judged": (judged.DEFECTS, {"D": 14}),
    "promises": (promises.ERRORS, {"E": 9}),
}


@pytest.mark.parametrize("table", TABLES)
def test_all_are_here_once_and_in_order(table):
    findings, counts = TABLES[table]
    met = Counter()
    for finding in findings:
        met[finding[0]] += 1
        assert finding.partition(" ")[0] == f"{finding[0]}{met[finding[0]]}"
    assert met == counts


@pytest.mark.parametrize("table", TABLES)
def test_a_finding_has_tests_that_exist(table):
    """An id in brackets is a file of the corpus of messy files."""
    for finding, held in TABLES[table][0].items():
        files = re.findall(r"test_messy\.py\[(\S+)\]", held)
        assert [name for name in files if name not in CASES] == [], finding
        tests = [each for each in held.split() if not each.startswith("cli/test_messy.py[")]
        assert files or tests, finding
        if tests:
            assert_exist(tests)


def test_an_oracle_has_tests_that_exist():
    for held in promises.ORACLES.values():
        assert_exist(held.split())


def test_no_page_looks_for_the_table_of_methods_in_the_readme():
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    assert [page.name for page in pages if "table of the README" in page.read_text()] == []


def test_what_has_a_level_says_that_rows_must_be_independent():
    some = {name: getattr(ss, name) for name in dir(ss) if inspect.isclass(getattr(ss, name))}
    levels = [name for name in some if {"alpha", "p_value"} & {*inspect.signature(some[name]).parameters}]
    says = r"independent rows|rows (are|must be) independent"
    assert [name for name in levels if not re.search(says, " ".join(some[name].__doc__.split()))] == []
    assert len(levels) >= 15
