"""Borders of the source tree: private parts stay private, hierarchies flat, copies equal, names unique."""

import difflib

import pytest

from tools.shape.figures import (
    intrinsics,
    private_imports,
    private_names,
    registered_classes,
    selector_chains,
)
from tools.shape.tree import Tree

#: Own base classes that a selector may have above it.
DEPTH = 3


def listed(title, offenders):
    """Fail with one offender per line, if there are any."""
    __tracebackhide__ = True
    if offenders:
        pytest.fail("\n  ".join([f"{title} ({len(offenders)}):", *offenders]), pytrace=False)


def test_no_import_of_another_packages_private_module(tree):
    listed("Imports of another package's private module", private_imports(tree))


def test_no_import_of_a_private_name(tree):
    listed("Imports of a _name of another module", private_names(tree))


def test_selectors_have_few_base_classes(tree):
    chains = selector_chains(tree)
    assert len(chains) > 30, "the public selectors were not found: is __all__ still a literal list?"
    deep = [f"{name} < {' < '.join(chain)}" for name, chain in chains.items() if len(chain) > DEPTH]
    listed(f"Selectors with more than {DEPTH} own base classes above them", deep)


def test_copies_of_intrinsics_are_equal(tree):
    """Compiled files stand alone, so each has its own copy."""
    copies = intrinsics(tree)
    assert copies, "no intrinsics were found in the kernels"
    unequal = [differences(name, texts) for name, texts in copies.items() if len(texts) > 1]
    listed("Intrinsics whose copies differ", unequal)


def differences(name, texts):
    (first, files), *others = sorted(texts.items(), key=lambda item: -len(item[1]))
    lines = [f"{name}, as in {', '.join(files)}"]
    for text, where in others:
        changes = list(difflib.unified_diff(first.splitlines(), text.splitlines(), lineterm="", n=0))[3:]
        lines += [f"  but in {', '.join(where)}:", *(f"    {change}" for change in changes)]
    return "\n  ".join(lines)


def test_registered_classes_have_unique_names(tree):
    """Moving a class to another file must not change the states that name it."""
    found = registered_classes(tree)
    assert len(found) > 50, "the registered classes were not found"
    repeated = [f"{name}: {', '.join(places)}" for name, places in sorted(found.items()) if len(places) > 1]
    listed("Names of several classes that a state may hold", repeated)


# ------------------------------------------------------------------------------------ what the checks see


@pytest.fixture
def crooked(tmp_path):
    """A package with one offender of each kind."""
    files = {
        "_base.py": "class Selector: ...\n",
        "state.py": "def register(cls): return cls\n",
        "rows/__init__.py": "from streamsieve.rows.a import A\n__all__ = ['A']\n",
        "rows/_ranked.py": "from streamsieve import _base\nclass Ranked(_base.Selector): ...\n",
        "rows/a.py": (
            "from ._ranked import Ranked as R, _secret\nfrom streamsieve.state import register\n"
            "class Twice(R): ...\nclass Thrice(Twice): ...\n@register\nclass A(Thrice): ...\n"
        ),
        "columns/b.py": (
            "import streamsieve.rows._ranked\nfrom streamsieve.rows import _ranked\n"
            "from streamsieve import state\n@state.register\nclass A: ...\n"
        ),
        "_kernels/one.py": "@intrinsic\ndef fetch(typing):\n    return 1\n",
        "_kernels/two.py": "@intrinsic\ndef fetch(typing):\n    return 2\n",
    }
    for name, text in files.items():
        path = tmp_path / "streamsieve" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return Tree(tmp_path)


def test_offenders_are_found(crooked):
    assert private_imports(crooked) == ["streamsieve/columns/b.py:1 imports streamsieve.rows._ranked"]
    assert private_names(crooked) == ["streamsieve/rows/a.py:1 imports _secret from streamsieve.rows._ranked"]
    assert selector_chains(crooked) == {"A": ["Thrice", "Twice", "Ranked", "Selector"]}
    assert registered_classes(crooked) == {"A": ["streamsieve/columns/b.py:5", "streamsieve/rows/a.py:6"]}
    assert len(intrinsics(crooked)["fetch"]) == 2
