"""A method is one file, one re-export line and one slow twin; whatever is missing is named by its path."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("summaries", "criteria", "independence", "rows", "columns", "offline", "learners")


def missing(package: Path, twins: Path) -> list[str]:
    """What a newcomer forgot, as sentences that name the path."""
    complaints = []
    for folder in FOLDERS:
        init = package / folder / "__init__.py"
        exports = init.read_text()
        for module in sorted((package / folder).glob("[!_]*.py")):
            if f"from streamsieve.{folder}.{module.stem} import " not in exports:
                complaints.append(f"{init} does not re-export {module}")
            if not (twins / module.name).exists():
                complaints.append(f"{twins / module.name}, the slow twin of {module}, is missing")
    return complaints


def test_every_method_is_exported_and_has_a_twin():
    assert missing(ROOT / "src/streamsieve", ROOT / "tests/reference") == []


@pytest.fixture
def tree(tmp_path):
    for folder in FOLDERS:
        (tmp_path / "package" / folder).mkdir(parents=True)
        (tmp_path / "package" / folder / "__init__.py").write_text("")
    (tmp_path / "reference").mkdir()
    return tmp_path


def test_a_file_without_its_line_is_named(tree):
    (tree / "package/columns/dummy.py").write_text("")
    (tree / "reference/dummy.py").write_text("")
    (complaint,) = missing(tree / "package", tree / "reference")
    assert complaint.endswith(f"does not re-export {tree / 'package/columns/dummy.py'}")
    assert str(tree / "package/columns/__init__.py") in complaint


def test_a_line_without_its_twin_is_named(tree):
    (tree / "package/columns/dummy.py").write_text("")
    line = "from streamsieve.columns.dummy import Dummy as Dummy\n"
    (tree / "package/columns/__init__.py").write_text(line)
    (complaint,) = missing(tree / "package", tree / "reference")
    assert complaint.startswith(str(tree / "reference/dummy.py"))
