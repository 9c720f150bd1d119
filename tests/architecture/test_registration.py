"""A method is one file, one re-export line and one slow twin; whatever is missing is named by its path."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("summaries", "criteria", "independence", "rows", "columns", "offline", "learners")


#: Modules that others derive from or call; they are no methods.
CONTRACTS = {"criterion", "summary_for"}


def missing(package: Path, twins: Path) -> list[str]:
    """What a newcomer forgot, as sentences that name the path.

    A module of these folders is a method, which its folder re-exports and which has a slow twin, or it is a
    helper, which another module imports.
    """
    complaints = []
    imports = "".join(path.read_text() for path in package.rglob("*.py") if path.name != "__init__.py")
    for folder in FOLDERS:
        init = package / folder / "__init__.py"
        exports = init.read_text()
        for module in sorted((package / folder).glob("[!_]*")):
            name = f"streamsieve.{folder}.{module.stem}"
            if f"from {name} import " not in exports:
                if f"{name} import " not in imports and f"{name}." not in imports:
                    complaints.append(f"{init} does not re-export {module}")
                continue
            wanted = [module.stem]
            if module.is_dir() and not (twins / f"{module.stem}.py").exists():
                parts = (module / "__init__.py").read_text()
                wanted = [
                    part.stem for part in module.glob("*.py") if f"from {name}.{part.stem} import" in parts
                ]
            complaints += [
                f"{twins / part}.py, the slow twin of {module}, is missing"
                for part in wanted
                if part not in CONTRACTS and not (twins / f"{part}.py").exists()
            ]
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
