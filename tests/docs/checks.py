"""What is checked of pages and names, as functions, so that faults can be planted in front of them."""

import inspect
import re

import pytest

from tools.outputs import EXAMPLE, printed_by


def run_examples(page):
    """Run the Python blocks of a page; each prints something, and what the text below it says."""
    scope = {}
    for example in EXAMPLE.finditer(page.read_text()):
        printed = printed_by(example["code"], page.name, scope)
        assert printed.strip(), f"an example of {page.name} prints nothing"
        if example["text"] is not None:
            assert agree(printed, example["text"]), f"run: python -m tools.outputs {page}"


#: A number with a fraction; its last digits may depend on the versions of the libraries below.
FRACTION = re.compile(r"-?\d+\.\d+(?:e[-+]?\d+)?")


def agree(printed, text):
    """Say whether two texts are the same, with fractions within 2 %."""
    words = [FRACTION.sub("#", each).split() for each in (printed, text)]
    numbers = [[float(found) for found in FRACTION.findall(each)] for each in (printed, text)]
    return words[0] == words[1] and numbers[0] == pytest.approx(numbers[1], rel=0.02, abs=1e-12)


def dead_links(page, root, generated):
    """Return the relative links of a page that lead to no file; those to generated pages are skipped."""
    dead = []
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text()):
        if "://" not in target:
            folder = root / "docs" if target.startswith("/") else page.parent
            path = (folder / target.lstrip("/")).resolve()
            written = not path.relative_to(root).as_posix().startswith(generated)
            dead += [target] if written and not path.exists() else []
    return dead


def without_docstring(holder, names):
    """Return what has no docstring: the module, its names, and public methods of its classes.

    A method that overrides another may leave the words to it; a class may not.
    """
    bare = [] if holder.__doc__ else [holder.__name__]
    for name in names:
        value = getattr(holder, name)
        bare += [] if value.__doc__ else [name]
        own = vars(value) if inspect.isclass(value) else {}
        methods = {each: getattr(value, each) for each in own if not each.startswith("_")}
        bare += [
            f"{name}.{each}" for each, method in methods.items()
            if (inspect.isroutine(method) or isinstance(method, property)) and not inspect.getdoc(method)
        ]  # fmt: skip
    return bare


def without_card(methods, carded):
    """Return the names of methods that no card shows."""
    return sorted(method.__name__ for method in methods if method not in carded)
