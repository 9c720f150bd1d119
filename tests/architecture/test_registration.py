"""A method is a class, one re-export line and one slow twin; whatever is missing is named by its path."""

import re
import subprocess
from pathlib import Path

import pytest

from tools import exports

ROOT = Path(__file__).parents[2]
FOLDERS = ("summaries", "criteria", "independence", "rows", "columns", "offline", "learners")
#: What folders re-export that is no method: contracts that others derive from or call, ...
CONTRACTS = {"Criterion", "Needs", "ratio", "summary_for"}
#: ... and summaries that hold rows or other summaries, whose twin is the inner summary of these rows.
HOLDERS = {"ByType", "RecentRows", "SortedColumns", "TargetBins", "Window"}


def missing(package: Path, twins: Path) -> list[str]:
    """What a newcomer forgot, as sentences that name the path.

    A class that one of these folders re-exports is a method and has a slow twin, named after the class or
    after the file or folder that holds it.  Every other file or folder is a helper that some module imports.
    """
    complaints = []
    imports = "".join(path.read_text() for path in package.rglob("*.py") if path.name != "__init__.py")
    for folder in FOLDERS:
        init = package / folder / "__init__.py"
        exports = init.read_text()
        for module in sorted((package / folder).glob("[!_]*")):
            name = f"streamsieve.{folder}.{module.stem}"
            if not any(f"{name}{end}" in text for end in (" import ", ".") for text in (exports, imports)):
                complaints.append(
                    f"nothing imports {module}: a method is a public class whose docstring has a paragraph "
                    f"**Formula.**, and `make exports` writes its import into {init}"
                )
        for stem, cls in re.findall(rf"from streamsieve\.{folder}\.([\w.]+) import (\w+)", exports):
            names = {stem.rpartition(".")[2], re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", cls).lower()}
            if cls not in CONTRACTS | HOLDERS and not any((twins / f"{name}.py").exists() for name in names):
                complaints.append(
                    f"{twins / stem.rpartition('.')[2]}.py is missing: the slow twin of {cls}, its "
                    "definition in plain Python"
                )
    return complaints


def test_every_method_is_exported_and_has_a_twin():
    complaints = missing(ROOT / "src/streamsieve", ROOT / "tests/reference")
    assert not complaints, "\n".join(complaints)


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
    assert complaint.startswith(f"nothing imports {tree / 'package/columns/dummy.py'}: ")
    assert str(tree / "package/columns/__init__.py") in complaint


def test_a_line_without_its_twin_is_named(tree):
    (tree / "package/columns/dummy.py").write_text("")
    line = "from streamsieve.columns.dummy import Dummy as Dummy\n"
    (tree / "package/columns/__init__.py").write_text(line)
    (complaint,) = missing(tree / "package", tree / "reference")
    assert complaint.startswith(str(tree / "reference/dummy.py"))


@pytest.mark.parametrize("folder", exports.METHODS)
def test_every_class_with_a_formula_is_exported(folder):
    package = exports.PACKAGE / folder
    text = (package / "__init__.py").read_text()
    assert len(list(exports.methods_in(package))) > 4
    assert exports.with_methods(package, text) == text, "run: make exports"


def test_a_new_method_gets_its_import_and_its_name(tmp_path, monkeypatch):
    monkeypatch.setattr(exports, "PACKAGE", tmp_path)
    folder = tmp_path / "rows"
    folder.mkdir()
    (folder / "newer.py").write_text('class Newer:\n    """Newer.\n\n    **Formula.** x.\n    """\n')
    (folder / "helper.py").write_text('class Helper:\n    """No method."""\n')
    text = '"""Rows."""\n\nfrom streamsieve.rows.old import Old as Old\n\n__all__ = ["Old"]\n'
    assert exports.with_methods(folder, text) == (
        '"""Rows."""\n\nfrom streamsieve.rows.old import Old as Old\n'
        'from streamsieve.rows.newer import Newer as Newer\n\n__all__ = ["Newer", "Old"]\n'
    )


def test_a_new_file_gets_a_row_of_the_table_and_a_long_name_widens_it(tmp_path):
    (tmp_path / "old.py").touch()
    (tmp_path / "much_newer.py").write_text('"""What is new.\n\nAt length.\n"""\n')
    text = '"""Rows.\n\n==== ===========\nold  what\n==== ===========\n"""\n'
    rule = "========== ==========="
    wider = f'"""Rows.\n\n{rule}\nold        what\nmuch_newer What is new\n{rule}\n"""\n'
    assert exports.with_files(tmp_path, text) == wider


def test_what_does_not_fit_into_a_column_goes_below():
    table = "==== ===== ==\nfile a     b\n==== ===== ==\nold  x     y\n==== ===== ==\n"
    grown = table.replace("y\n", "y\nnew  one\n     two\n")
    assert exports.with_row(table, "new", "one two") == grown


@pytest.mark.parametrize(
    "patch", sorted((ROOT / "tools/newcomer").glob("*.patch")), ids=lambda path: path.stem
)
def test_the_throwaway_parts_of_a_newcomer_still_apply(patch):
    command = ["git", "apply", "--check", str(patch)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert not done.returncode, f"{done.stderr}make the change by hand, and write it with `git diff -U1`"
