"""Source, tests and docs use none of the phrases that have a plain word in the field."""

import re
from pathlib import Path

import pytest

from tools.shape.prose import BANNED, banned, prose_files

#: Endings that differ: -our, -re, -ise, -t.
BRITISH = re.compile(
    r"(?:behaviour|centre|centring|colour|favour|judgement|learnt|neighbour|spelt)\w*|grey\b"
    r"|(?:actor|ard|cret|eneral|enal|erial|inim|itial|axim|mar|normal|optim|real|recogn)is(?:e[ds]?|ing|ation)\b",
    re.IGNORECASE,
)
HERE = Path(__file__).resolve().parents[2]
PARTS = prose_files(HERE)


def test_no_banned_phrase():
    assert not [found for files in PARTS.values() for found in banned(files)]


def test_the_source_is_in_american_spelling():
    found = [(path.name, word) for path in PARTS["src"] for word in BRITISH.findall(path.read_text())]
    assert not found


def test_pages_that_are_named_exist():
    named = re.compile(r"\b[A-Z][A-Z_]*\.md\b")
    files = [p for pattern in ("src/**/*.py", "tests/[!d]*/*.py", "docs/**/*.md") for p in HERE.glob(pattern)]
    known = {path.name for path in HERE.rglob("*.md") if ".venv" not in path.parts}
    assert not [(f.name, page) for f in files for page in named.findall(f.read_text()) if page not in known]


@pytest.mark.parametrize("phrase", [phrase for phrase in BANNED if re.fullmatch(r"\w+ \w+", phrase)])
def test_a_banned_phrase_is_found_where_it_crosses_lines(phrase, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"It is {phrase.replace(' ', chr(10))}.\n")
    assert [(line, found) for _, line, found in banned([page])] == [(1, phrase)]


def test_pages_that_the_site_writes_do_not_count(tmp_path):
    (tmp_path / ".gitignore").write_text("docs/methods/\n")
    for name in ("docs/methods/saola.md", "docs/written.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("Again.\n")
    assert prose_files(tmp_path)["docs"] == [tmp_path / "docs" / "written.md"]
